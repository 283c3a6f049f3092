"""The lock study: predictions of acquisition costs against published measurements, set by set.

validation/locks/sets.json says which scenario mirrors which row of which published set, published.json holds the sets.
The machine profiles are fitted to the points with the fewest threads (contend.studies.lock_fit); all others are
predictions.
"""

from __future__ import annotations

import itertools
import statistics
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from contend.common.errors import InputError, InterruptedRunError
from contend.common.reading import read_json
from contend.common.statistics import kendall_tau
from contend.engine.runner import run_points
from contend.scenarios.choice import check_parts, has_part
from contend.scenarios.resolution import Point, resolve_scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from contend.common.jsontypes import JsonObject
    from contend.engine.runner import Engine, PointRuns

# What the study asks for on sets of grade A.
MEDIAN_ERROR_LIMIT = 0.20
TAU_LIMIT = 0.8
# With fewer kinds a rank correlation says next to nothing.
LEAST_KINDS_TO_RANK = 3


def _elapsed_ns(result: JsonObject) -> float:
    return float(result["elapsed_s"]) * 1e9


def _operations(point: Point) -> int:
    workload = point.config["workload"]
    return int(workload["threads"]) * int(workload["acquisitions"])


# From a run to the number that a set reports.
MEASURES: dict[str, Callable[[JsonObject, Point], float]] = {
    "thread_ns": lambda result, point: 1e9 * point.config["workload"]["threads"] / float(result["message_rate"]),
    "interval_ns": lambda result, point: _elapsed_ns(result) / _operations(point),
    "elapsed_ms": lambda result, _: float(result["elapsed_s"]) * 1e3,
    "million_per_s": lambda result, _: float(result["message_rate"]) / 1e6,
    # A message is a push and a pop, each with an acquisition.
    "million_messages_per_s": lambda result, _: float(result["message_rate"]) / 2e6,
    "acquisitions_4s": lambda result, _: (
        float(result["lock_use"]["acquisitions_per_thread_mean"]) / float(result["elapsed_s"]) * 4
    ),
}


def scored_errors(
    grade: str, predicted: Iterable[tuple[str, float]], fitted: Sequence[tuple[str, float]]
) -> list[float]:
    """Absolute relative errors of predicted points; of ratios to the first fitted point, where the grade is B.

    Args:
        grade: Of the set.
        predicted: Kind and relative error of each predicted point.
        fitted: The same of the fitted points; a kind without one has no ratios.
    """
    if grade == "A" or not fitted:
        return [abs(error) for _, error in predicted]
    base = dict(reversed(fitted))
    return [abs((error + 1) / (base[kind] + 1) - 1) for kind, error in predicted if kind in base]


@dataclass(frozen=True)
class Row:
    """One measured number and what is predicted for it.

    `reference`: it has as few threads as points that a machine is fitted to. Such points are not scored, and ratios are
    to them. `fitted`: the machine was.
    """

    kind: str
    threads: int
    measured: float
    predicted: float
    reference: bool
    shared_cores: bool = False  # more threads than hardware threads
    spread_measured: float | None = None
    spread_predicted: float | None = None
    fitted: bool = False

    @property
    def error(self) -> float:
        """Relative to the measurement; positive: predicted too high."""
        return self.predicted / self.measured - 1

    def to_json(self) -> JsonObject:
        """As it is written to results.json."""
        row: JsonObject = {
            "kind": self.kind,
            "threads": self.threads,
            "measured": self.measured,
            "predicted": _rounded(self.predicted),
            "error": _rounded(self.error),
            "reference": self.reference,
            "fitted": self.fitted,
            "shared_cores": self.shared_cores,
        }
        if self.spread_measured is not None and self.spread_predicted is not None:
            row["spread_measured"] = _rounded(self.spread_measured)
            row["spread_predicted"] = _rounded(self.spread_predicted)
        return row


@dataclass(frozen=True)
class LockSet:
    """A published set with the scenarios that mirror it."""

    entry: JsonObject
    published: JsonObject
    scenarios: Path

    @property
    def name(self) -> str:
        """Identifier of the published set."""
        return str(self.entry["set"])

    @property
    def grade(self) -> str:
        """A: fully specified; B: score ratios between points."""
        return str(self.entry["grade"])

    @property
    def fit_threads(self) -> tuple[int, ...]:
        """Numbers of threads whose points the machine may be fitted to."""
        return tuple(self.entry["fit_threads"])

    def may_fit(self, kind: str, threads: int) -> bool:
        """Whether a fit may use a point: one with few threads, of a kind that is not left out."""
        return threads in self.fit_threads and kind not in self.entry.get("not_fitted", ())

    @property
    def axis(self) -> str:
        """What the points of the set differ in besides the kind of lock: `threads`, or `locks`."""
        return str(self.entry.get("axis", "threads"))

    def shares_cores(self, count: int) -> bool:
        """Whether the point has more threads than the machine has hardware threads."""
        return count >= int(self.entry["oversubscribed_from"])

    def measured(self, kind: str) -> dict[int, tuple[float, float | None]]:
        """Values that can be simulated, and their relative spread where the set has one, by number of threads."""
        key = self.entry.get("published_value", "value")
        placement = self.entry.get("placement")
        left_out = self.entry.get("left_out", {})
        values: dict[int, tuple[float, float | None]] = {}
        for point in self.published["points"]:
            count = int(point.get(self.axis, 0))
            if (
                point.get("config", "") != kind
                or count == 0
                or str(count) in left_out
                or (placement is not None and point.get("placement") != placement)
            ):
                continue
            spread = point["err"] / point["value"] if self.entry.get("spread") and "err" in point else None
            values[count] = (float(point[key]), spread)
        return values

    def point_of(self, kind: str, threads: int) -> Point:
        """The scenario point that mirrors a measured one.

        Raises:
            InputError: The scenario has no such point.
        """
        mirror = self.entry["kinds"][kind]
        wanted = dict(mirror["parameters"])
        renamed = self.entry.get("parameter_of_threads")
        if self.axis == "threads" and self.shares_cores(threads):
            wanted["threads"] = threads
            return self.point_at(f"{mirror['scenario']}_oversubscribed", wanted)
        if renamed is None:
            wanted[self.axis] = threads
        else:
            wanted[renamed["name"]] = renamed["values"][str(threads)]
        return self.point_at(mirror["scenario"], wanted)

    def point_at(self, scenario: str, parameters: Mapping[str, object]) -> Point:
        """The point of a scenario with these values of its parameters; those that are not swept do not matter.

        Raises:
            InputError: The scenario has no such point.
        """
        for point in self._points(scenario):
            if all(point.parameters.get(name, value) == value for name, value in parameters.items()):
                return point
        raise InputError(f"{self.name}: scenario {scenario} has no point {dict(parameters)}")

    def _points(self, scenario: str) -> tuple[Point, ...]:
        overrides = tuple((key, str(value)) for key, value in self.entry.get("overrides", {}).items())
        key = (str(self.scenarios / f"{scenario}.json"), overrides)
        if key not in _resolved:
            _resolved[key] = resolve_scenario(self.scenarios / f"{scenario}.json", overrides).points
        return _resolved[key]


_resolved: dict[tuple[str, tuple[tuple[str, str], ...]], tuple[Point, ...]] = {}


def load_sets(root: Path, only: Sequence[str] = ()) -> list[LockSet]:
    """The sets of validation/locks, or those whose name has one of the texts in `only`.

    Raises:
        InputError: A file is not usable, or a text is in no set's name.
    """
    folder = root / "validation" / "locks"
    study = read_json(folder / "sets.json", "study")
    published = {entry["id"]: entry for entry in read_json(folder / "published.json", "published sets")}
    _resolved.clear()
    check_parts(only, [entry["set"] for entry in study["sets"]], "published set of locks")
    return [
        LockSet(entry, published[entry["set"]], root / study["scenarios"])
        for entry in study["sets"]
        if has_part(entry["set"], only)
    ]


@dataclass
class SetResult:
    """What was predicted for a set."""

    set: LockSet
    rows: list[Row] = field(default_factory=list)

    def errors(self, *, shared_cores: bool | None = None) -> list[float]:
        """Absolute relative errors of the points that were not fitted; of ratios, where the grade is B.

        Of all points, or of those with more threads than hardware threads, or of the others.
        """
        predicted = [
            row for row in self.rows if not row.reference and (shared_cores is None or row.shared_cores == shared_cores)
        ]
        reference = [(row.kind, row.error) for row in self.rows if row.reference]
        return scored_errors(self.set.grade, [(row.kind, row.error) for row in predicted], reference)

    def median_error(self, *, shared_cores: bool | None = None) -> float | None:
        """None: nothing is predicted."""
        errors = self.errors(shared_cores=shared_cores)
        return statistics.median(errors) if errors else None

    def taus(self, *, shared_cores: bool | None = None) -> dict[int, float]:
        """Kendall's tau of the ranking of kinds, by number of threads, of points that were not fitted.

        It is 1 where there is no order that could be missed.
        """
        result: dict[int, float] = {}
        predicted = [row for row in self.rows if not row.reference]
        for threads in sorted({row.threads for row in predicted if shared_cores in (None, row.shared_cores)}):
            rows = [row for row in self.rows if row.threads == threads]
            if len(rows) >= LEAST_KINDS_TO_RANK:
                tau = kendall_tau(
                    (a.measured - b.measured, a.predicted - b.predicted) for a, b in itertools.combinations(rows, 2)
                )
                result[threads] = 1.0 if tau is None else tau
        return result

    def taus_of_told_apart(self) -> dict[int, float]:
        """The same of pairs that are measured further apart than repeats are; empty where that is not known."""
        noise = self.set.entry.get("noise")
        if noise is None:
            return {}
        result: dict[int, float] = {}
        for threads in self.taus():
            rows = [row for row in self.rows if row.threads == threads]
            apart = [
                (a.measured - b.measured, a.predicted - b.predicted)
                for a, b in itertools.combinations(rows, 2)
                if max(a.measured, b.measured) > (1 + noise) * min(a.measured, b.measured)
            ]
            if (tau := kendall_tau(apart)) is not None:
                result[threads] = tau
        return result

    def holds(self) -> bool | None:
        """Whether the targets are met; None where the study sets none."""
        median = self.median_error()
        if self.set.grade != "A" or median is None:
            return None
        return median <= MEDIAN_ERROR_LIMIT and all(tau >= TAU_LIMIT for tau in self.taus().values())

    def to_json(self) -> JsonObject:
        """As it is written to results.json."""
        median = self.median_error()
        return {
            "set": self.set.name,
            "grade": self.set.grade,
            "profile": self.set.entry["profile"],
            "measure": self.set.entry["measure"],
            "median_error": None if median is None else _rounded(median),
            "kendall_tau": {str(threads): _rounded(tau) for threads, tau in self.taus().items()},
            "kendall_tau_of_told_apart": {
                str(threads): _rounded(tau) for threads, tau in self.taus_of_told_apart().items()
            },
            "holds": self.holds(),
            "left_out": self.set.entry.get("left_out", {}),
            "not_simulated": self.set.entry["not_simulated"],
            "rows": [row.to_json() for row in self.rows],
        }


@dataclass(frozen=True)
class MeasuredPoint:
    """A measured number of a set, and the scenario point that mirrors it."""

    kind: str
    threads: int
    measured: float
    spread: float | None
    point: Point


def measured_points(lock_set: LockSet) -> list[MeasuredPoint]:
    """Those that can be simulated, kind by kind."""
    return [
        MeasuredPoint(kind, threads, value, spread, lock_set.point_of(kind, threads))
        for kind in lock_set.entry["kinds"]
        for threads, (value, spread) in sorted(lock_set.measured(kind).items())
    ] + _clusters(lock_set)


def predict(
    lock_set: LockSet,
    points: Sequence[MeasuredPoint],
    engine: Engine,
    jobs: int,
    *,
    progress: Callable[[float], None] | None = None,
) -> SetResult:
    """Simulates measured points of a set; `progress` as for run_points.

    Raises:
        InterruptedRunError: Ctrl-C; a part of a set says nothing.
    """
    outcome = run_points([entry.point for entry in points], engine, jobs=jobs, progress=progress)
    if outcome.interrupted:
        raise InterruptedRunError(f"interrupted in set {lock_set.name}: nothing was compared")
    result = SetResult(lock_set)
    for entry, runs in zip(points, outcome.runs, strict=True):
        result.rows.append(
            Row(
                kind=entry.kind,
                threads=entry.threads,
                measured=entry.measured,
                predicted=_mean_measure(lock_set.entry["value"], runs),
                reference=entry.threads in lock_set.fit_threads,
                fitted=lock_set.may_fit(entry.kind, entry.threads),
                shared_cores=lock_set.shares_cores(entry.threads),
                spread_measured=entry.spread,
                spread_predicted=None if entry.spread is None else _mean_spread(runs),
            )
        )
    return result


def _clusters(lock_set: LockSet) -> list[MeasuredPoint]:
    """The distances of one machine of a set of latencies."""
    entries: Mapping[str, JsonObject] = lock_set.entry.get("clusters", {})
    rows = []
    for point in lock_set.published["points"]:
        if entries and point.get("config") == lock_set.entry["config"] and str(point["cluster"]) in entries:
            mirror = entries[str(point["cluster"])]
            label = f"{lock_set.entry['config']}, distance {point['cluster']}"
            mirrored = lock_set.point_at(mirror["scenario"], mirror["parameters"])
            rows.append(MeasuredPoint(label, 2, float(point["value"]), None, mirrored))
    return rows


def _mean_measure(name: str, runs: PointRuns) -> float:
    return statistics.fmean(MEASURES[name](result, runs.point) for result in runs.results)


def _mean_spread(runs: PointRuns) -> float:
    use = [result["lock_use"] for result in runs.results]
    return statistics.fmean(u["acquisitions_per_thread_sd"] / u["acquisitions_per_thread_mean"] for u in use)


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")


def as_markdown(results: Sequence[SetResult]) -> str:
    """The report: a summary, then every set with its points."""
    lines = [
        "# Locks: predicted and measured",
        "",
        "Written by `./contend validate locks`. Points with the numbers of threads in the third column were fitted and",
        "do not count; the error is the median of |predicted / measured - 1| over all others (grade B: of ratios to",
        "the fitted point). Tau is Kendall's, of the ranking of lock kinds, least over numbers of threads. The last",
        "columns are those points whose threads share cores: more of them than the machine has hardware threads.",
        "",
        "| set | grade | fitted | points | median error | least tau | target | shared | median error | least tau |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for result in results:
        verdict = {True: "met", False: "missed", None: "none"}[result.holds()]
        fitted = ", ".join(map(str, result.set.fit_threads)) or "-"
        cells = (result.set.name, result.set.grade, fitted, *_figures(result), verdict, *_figures(result, shared=True))
        lines.append(f"| {' | '.join(map(str, cells))} |")
    for result in results:
        lines += ["", *_set_section(result)]
    return "\n".join(lines) + "\n"


def _figures(result: SetResult, *, shared: bool | None = None) -> tuple[str, str, str]:
    """Number of points, median error and least tau."""
    median = result.median_error(shared_cores=shared)
    taus = result.taus(shared_cores=shared)
    count = len(result.errors(shared_cores=shared))
    return (
        str(count) if count else "-",
        "-" if median is None else f"{median:.0%}",
        f"{min(taus.values()):.2f}" if taus else "-",
    )


def _set_section(result: SetResult) -> list[str]:
    entry = result.set.entry
    lines = [
        f"## {result.set.name}",
        "",
        f"{entry['measure']}; profile `{entry['profile']}`; measured / predicted.",
    ]
    if note := entry.get("fit_note"):
        lines += ["", f"{note[0].upper()}{note[1:]}."]
    threads = sorted({row.threads for row in result.rows})
    if threads:
        lines += [
            "",
            f"| kind by {result.set.axis} | {' | '.join(map(str, threads))} |",
            "|---" * (len(threads) + 1) + "|",
        ]
    rows = {(row.kind, row.threads): row for row in result.rows}
    for kind in dict.fromkeys(row.kind for row in result.rows):
        cells = []
        for count in threads:
            row = rows.get((kind, count))
            text = "" if row is None else f"{row.measured:.3g} / {row.predicted:.3g}"
            if row is not None and row.spread_measured is not None and row.spread_predicted is not None:
                text += f" (spread {row.spread_measured:.2f} / {row.spread_predicted:.2f})"
            cells.append(text)
        lines.append(f"| {kind or 'all'} | {' | '.join(cells)} |")
    if taus := result.taus():
        lines += [
            "",
            f"Tau by {result.set.axis}: " + ", ".join(f"{count}: {tau:.2f}" for count, tau in taus.items()) + ".",
        ]
    if apart := result.taus_of_told_apart():
        lines += [
            "",
            f"Of pairs that are measured more than {entry['noise']:.0%} apart: "
            + ", ".join(f"{count}: {tau:.2f}" for count, tau in apart.items())
            + ". Repeats differ by as much; the target is judged by all pairs.",
        ]
    for count, reason in entry.get("left_out", {}).items():
        lines += [""] if count == next(iter(entry["left_out"])) else []
        lines.append(f"- left out: {count} {result.set.axis}: {reason}")
    for kind, reason in entry["not_simulated"].items():
        lines += [""] if kind == next(iter(entry["not_simulated"])) else []
        lines.append(f"- not simulated: {kind}: {reason}")
    return lines
