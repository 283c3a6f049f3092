"""Where the time of one point goes, and what would help: exact virtual speed-ups by simulating again."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from contend.core import core
from contend.errors import InputError, InterruptedRunError, SimulationFailedError
from contend.paths import version
from contend.runner import CoreEngine, PointRuns, run_points, weight
from contend.scenario import Point
from contend.statistics import Estimate, estimate, exact_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import polars as pl

    from contend.jsontypes import JsonObject
    from contend.plots.style import Picture
    from contend.scenario import ResolvedScenario

MEASURES = ("message_rate", "perceived_bandwidth")

# Costs that make up one mechanism; sections of the machine are groups as well.
MECHANISMS: dict[str, tuple[str, ...]] = {
    "out-of-sequence fragments": (
        "machine.matching.fragment_allocate",
        "machine.matching.fragment_release",
        "machine.matching.range",
    ),
    "searching the queues": ("machine.matching.attempt", "machine.matching.element"),
    "cache line transfers": (
        "machine.cache.transfer_smt",
        "machine.cache.transfer_socket",
        "machine.cache.transfer_remote",
    ),
    "posting work requests": ("machine.nic.post", "machine.nic.doorbell"),
    "gaps of the interface": ("machine.nic.context_gap", "machine.nic.nic_gap"),
    "completion queues": ("machine.nic.completion", "machine.nic.empty_poll"),
}
SECTIONS = {
    "machine.cache.": "all of the caches",
    "machine.futex.": "sleeping and waking",
    "machine.locks.": "all tunables of locks",
    "machine.nic.": "all of the network interface",
    "machine.matching.": "all of matching",
    "machine.software.": "all of the library's own code",
    "fabric.": "the wire",
}
HALVED, REMOVED = 0.5, 0.0


@dataclass(frozen=True)
class Change:
    """Some costs times a factor."""

    name: str
    paths: tuple[str, ...]
    factor: float
    config: JsonObject
    at_bound: tuple[str, ...]
    """Costs that could not be lowered that far: a bound of the scenario format keeps them."""


@dataclass
class Speedup:
    """What lowering one cost, or a group of costs, does to the rate: rate with the change / rate without it.

    The intervals are over replications that share their random streams with the unchanged runs.
    """

    name: str
    paths: tuple[str, ...]
    value: str
    """What the cost is now; empty for groups."""
    doc: str
    halved: Estimate | None = None
    removed: Estimate | None = None
    bounded: tuple[str, ...] = ()
    """Costs that "removed" leaves at the lowest value that a scenario may have, because zero is not allowed."""
    failures: dict[str, str] = field(default_factory=dict)
    """Changes ("halved", "removed") under which the simulation failed, with the reason."""

    @property
    def is_group(self) -> bool:
        """Whether it lowers several costs at once."""
        return not self.value

    @property
    def effect(self) -> float:
        """By what the list is ranked: how far the larger change moves the rate."""
        best = self.removed or self.halved
        return 0.0 if best is None else best.mean - 1.0

    def to_json(self) -> JsonObject:
        """The entry in explain.json."""
        entry: JsonObject = {"name": self.name, "costs": list(self.paths), "value": self.value or None}
        for name, ratio in (("halved", self.halved), ("removed", self.removed)):
            entry[name] = ratio and {"rate_ratio": ratio.mean, "ci95": [ratio.low, ratio.high]}
        entry["not_removable"] = list(self.bounded)
        if self.failures:
            entry["failures"] = self.failures
        return entry


@dataclass(repr=False)
class Explanation:
    """Everything about one point; sums over the timed part, means over replications."""

    name: str
    scenario: JsonObject
    parameters: JsonObject
    measure: str
    rate: Estimate
    replications: int
    elapsed_ns: float
    time_by_category_ns: dict[str, dict[str, float]]
    threads: dict[str, int]
    locks: list[JsonObject]
    queues: list[JsonObject]
    stages: list[JsonObject]
    speedups: list[Speedup] = field(default_factory=list)

    def to_json(self) -> JsonObject:
        """The content of explain.json."""
        return {
            "contend_version": version(),
            "scenario": self.scenario,
            "parameters": self.parameters,
            self.measure: {
                "mean": self.rate.mean,
                "ci95": [self.rate.low, self.rate.high],
                "replications": self.replications,
                "samples": list(self.rate.samples),
            },
            "elapsed_ns": self.elapsed_ns,
            "threads": self.threads,
            "time_by_category_ns": self.time_by_category_ns,
            "locks": self.locks,
            "queues": self.queues,
            "interface_stages": self.stages,
            "speedups": [speedup.to_json() for speedup in self.speedups],
        }

    def json_bytes(self) -> bytes:
        """explain.json."""
        return (json.dumps(self.to_json(), indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()

    def csv_bytes(self) -> bytes:
        """speedups.csv."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        ratios = [f"{name}{column}" for name in ("halved", "removed") for column in ("", "_ci95_low", "_ci95_high")]
        writer.writerow(["name", "value", *ratios, "not_removable", "costs"])
        for entry in self.speedups:
            cells: list[object] = []
            for ratio in (entry.halved, entry.removed):
                cells += ["", "", ""] if ratio is None else [ratio.mean, ratio.low, ratio.high]
            writer.writerow([entry.name, entry.value, *cells, " ".join(entry.bounded), " ".join(entry.paths)])
        return text.getvalue().encode()

    def __repr__(self) -> str:
        at = f" at {label}" if (label := " ".join(f"{name}={value}" for name, value in self.parameters.items())) else ""
        longest = f"; longest waits at {self.locks[0]['name']}" if self.locks else ""
        return f"<Explanation of {self.name}{at}: {self.measure} {self.rate.mean:.4g}{longest}>"

    def draw(self) -> Picture:
        """Where the time goes, and what would help."""
        from contend.explain_output import draw

        return draw(self)

    def times(self) -> pl.DataFrame:
        """Where the time goes: role, category, time_ns (all threads of the role), share of the role's time (0 to 1)."""
        from contend.frames import times_frame

        return times_frame([({}, self.time_by_category_ns)])

    def lock_frame(self) -> pl.DataFrame:
        """Locks, longest wait first: how often taken, contended, refused; three times in ns; held (0 to 1)."""
        from contend.frames import frame_of

        numbers = [{key: value for key, value in lock.items() if key != "waits"} for lock in self.locks]
        return frame_of([{**lock, "held": lock["hold_ns"] / self.elapsed_ns} for lock in numbers])

    def wait_frame(self) -> pl.DataFrame:
        """Who waits for whom: lock, waiter, holder ("" for nobody: hand-over, waking up, cache lines), time_ns."""
        from contend.frames import frame_of

        return frame_of([{"lock": lock["name"], **entry} for lock in self.locks for entry in lock["waits"]])

    def queue_frame(self) -> pl.DataFrame:
        """Queues: mean length over time, and the largest."""
        from contend.frames import frame_of

        return frame_of(self.queues)

    def stage_frame(self) -> pl.DataFrame:
        """Stages of the network interfaces: messages, busy_ns, queueing_ns, on_wire_ns; busy (0 to 1)."""
        from contend.frames import frame_of

        return frame_of([{**stage, "busy": stage["busy_ns"] / self.elapsed_ns} for stage in self.stages])

    def speedup_frame(self) -> pl.DataFrame:
        """Virtual speed-ups, largest first: rate with the cost halved or removed over the rate as it is."""
        from contend.frames import frame_of

        rows = []
        for entry in self.speedups:
            row: JsonObject = {"cost": entry.name, "value": entry.value or None, "group": entry.is_group}
            for name, ratio in (("halved", entry.halved), ("removed", entry.removed)):
                row[name] = None if ratio is None else ratio.mean
                row[f"{name}_ci95_low"] = None if ratio is None else ratio.low
                row[f"{name}_ci95_high"] = None if ratio is None else ratio.high
            rows.append({**row, "what": entry.doc})
        return frame_of(rows)

    def _repr_html_(self) -> str:
        from contend.notebook_html import explanation_html

        return explanation_html(self)


class _Explaining(CoreEngine):
    """Runs every point with its account of who waits for whom."""

    def run_point(self, point: Point, replication: int, *, trace_hash: bool) -> str:
        del trace_hash
        return self.explain_point(point, replication)


class _Tolerant(CoreEngine):
    """A simulation that fails gives a result that says so: a change may make a design impossible."""

    def run_point(self, point: Point, replication: int, *, trace_hash: bool) -> str:
        try:
            return super().run_point(point, replication, trace_hash=trace_hash)
        except (SimulationFailedError, InputError) as error:
            return json.dumps({"failed": str(error).splitlines()[0]})


def changes(point: Point) -> list[tuple[Speedup, list[Change]]]:
    """Every cost of a point that can be lowered, and every group of them, halved and removed."""
    module = core()
    costs: list[JsonObject] = [cost for cost in json.loads(module.costs(point.config_json)) if not cost["free"]]
    known = {str(cost["path"]): cost for cost in costs}
    wanted: list[tuple[str, tuple[str, ...], str, str]] = [
        (_short(path), (path,), str(cost["value"]), str(cost["doc"])) for path, cost in known.items()
    ]
    groups = dict(MECHANISMS)
    groups |= {name: tuple(path for path in known if path.startswith(prefix)) for prefix, name in SECTIONS.items()}
    for name, paths in groups.items():
        present = tuple(path for path in paths if path in known)
        if len(present) > 1:
            wanted.append((name, present, "", ", ".join(_short(path) for path in present)))
    result = []
    for name, paths, value, doc in wanted:
        variants = []
        for factor in (HALVED, REMOVED):
            answer: JsonObject = json.loads(module.scale_costs(point.config_json, list(paths), factor))
            variants.append(Change(name, paths, factor, answer["config"], tuple(answer["at_bound"])))
        result.append((Speedup(name, paths, value, doc), variants))
    return result


def _short(path: str) -> str:
    return path.removeprefix("machine.")


def explain(
    scenario: ResolvedScenario,
    point: Point,
    *,
    jobs: int,
    speedups: bool = True,
    progress: Callable[[float], None] | None = None,
) -> Explanation:
    """Explains one point.

    Args:
        scenario: Where the point is from.
        point: The point; its replications give the intervals.
        jobs: How many simulations run at once.
        speedups: Whether to simulate the point again with every cost lowered.
        progress: Called with the weight of each replication that finishes; see total_weight().

    Raises:
        SimulationFailedError: The unchanged point failed.
        InputError: It has no rate to explain.
        InterruptedRunError: Ctrl-C.
    """
    outcome = run_points([point], _Explaining(), jobs=jobs, progress=progress)
    if outcome.interrupted:
        raise InterruptedRunError("interrupted")
    explanation = _summarise(scenario, outcome.runs[0])
    if speedups:
        explanation.speedups = _speedups(point, explanation, jobs, progress)
    return explanation


def total_weight(point: Point, *, speedups: bool) -> float:
    """Sum of what explain() tells `progress`."""
    variants = sum(len(entries) for _, entries in changes(point)) if speedups else 0
    return weight(point) * point.replications * (1 + variants)


def _summarise(scenario: ResolvedScenario, runs: PointRuns) -> Explanation:
    results = runs.results
    measure = next((name for name in MEASURES if name in results[0]), None)
    if measure is None or not results[0][measure]:
        raise InputError("this workload has no message rate to explain")
    accounts = [result["explain"] for result in results]
    return Explanation(
        name=scenario.name,
        scenario=scenario.document,
        parameters=dict(runs.point.parameters),
        measure=measure,
        rate=estimate([result[measure] for result in results]),
        replications=len(results),
        elapsed_ns=exact_mean([account["elapsed_ns"] for account in accounts]),
        time_by_category_ns={
            role: {
                category: exact_mean([result["time_by_category_ns"][role][category] for result in results])
                for category in results[0]["time_by_category_ns"][role]
            }
            for role in results[0]["time_by_category_ns"]
        },
        threads=results[0].get("threads", {}),
        locks=sorted(_means([a["locks"] for a in accounts]), key=lambda lock: -lock["wait_ns"]),
        queues=_means([account["queues"] for account in accounts]),
        stages=_means([account["interface_stages"] for account in accounts]),
    )


def _means(replications: Sequence[Sequence[JsonObject]]) -> list[JsonObject]:
    """Means over replications of lists of entries that have a name; an entry that is missing counts as zeros."""
    names = list(dict.fromkeys(entry["name"] for entries in replications for entry in entries))
    by_name = [{entry["name"]: entry for entry in entries} for entries in replications]
    result: list[JsonObject] = []
    for name in names:
        some = next(entries[name] for entries in by_name if name in entries)
        mean: JsonObject = {"name": name}
        for key, value in some.items():
            if key == "waits":
                mean[key] = _mean_waits([entries.get(name, {}).get(key, []) for entries in by_name])
            elif key == "maximum":
                mean[key] = max(entries.get(name, {}).get(key, 0) for entries in by_name)
            elif isinstance(value, int | float):
                mean[key] = exact_mean([entries.get(name, {}).get(key, 0) for entries in by_name])
        result.append(mean)
    return result


def _mean_waits(replications: Sequence[Sequence[JsonObject]]) -> list[JsonObject]:
    sums: dict[tuple[str, str], float] = {}
    for entries in replications:
        for entry in entries:
            key = (entry["waiter"], entry["holder"])
            sums[key] = sums.get(key, 0.0) + entry["time_ns"]
    means = [{"waiter": w, "holder": h, "time_ns": total / len(replications)} for (w, h), total in sums.items()]
    return sorted(means, key=lambda entry: -entry["time_ns"])


def _speedups(point: Point, base: Explanation, jobs: int, progress: Callable[[float], None] | None) -> list[Speedup]:
    wanted = changes(point)
    points = [
        Point({"cost": change.name, "factor": change.factor}, change.config) for _, pair in wanted for change in pair
    ]
    outcome = run_points(points, _Tolerant(), jobs=jobs, progress=progress)
    if outcome.interrupted:
        raise InterruptedRunError("interrupted")
    runs = iter(outcome.runs)
    for speedup, pair in wanted:
        for change in pair:
            name = "halved" if change.factor == HALVED else "removed"
            results = next(runs).results
            failed = next((result["failed"] for result in results if "failed" in result), None)
            if failed is not None:
                speedup.failures[name] = failed
            else:
                # Replication by replication: equal seeds, so what is left is the effect of the change.
                ratios = [r[base.measure] / b for r, b in zip(results, base.rate.samples, strict=True)]
                setattr(speedup, name, estimate(ratios))
            if change.factor == REMOVED:
                speedup.bounded = change.at_bound
    return sorted((speedup for speedup, _ in wanted), key=lambda speedup: -speedup.effect)
