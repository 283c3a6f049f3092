"""Compares two designs point by point, with paired replications.

Replication i of both sides draws from the same random streams (common random numbers): streams are named per model
object, so that what both designs have in common, such as the jitter of a thread's library calls, sees the same numbers.
Differences are then taken per replication, and chance that hits both sides alike drops out.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from contend.documents import dotted, leaves
from contend.errors import InputError, InterruptedRunError
from contend.measures import RATE, Measure, check_known, choose, measure_named, measures_in, unknown
from contend.runner import make_engine, run_points, total_weight
from contend.spelling import counted, value_text
from contend.statistics import Estimate, estimate
from contend.workload_words import words_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import polars as pl

    from contend.jsontypes import JsonObject, Scalar
    from contend.runner import Outcome, PointRuns
    from contend.scenario import Point, ResolvedScenario

_BOOTSTRAP_RESAMPLES = 9999
_BOOTSTRAP_SEED = 1

Key: TypeAlias = tuple[tuple[str, "Scalar"], ...]
IntervalMethod: TypeAlias = "Callable[[Sequence[float]], Estimate]"
_MESSAGE_RATE = measure_named(RATE, {})


@dataclass(frozen=True)
class Ratio:
    """B over A with its interval; without ends when one replication says nothing or a value is not positive."""

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Difference:
    """One measure of both sides at one point.

    `difference` is B - A over pairs of replications. `variance_reduction` is what pairing gains: the variance that the
    difference would have if both sides were independent, over the variance it has; None where that is not defined.
    """

    measure: str
    a: Estimate
    b: Estimate
    difference: Estimate
    ratio: Ratio
    variance_reduction: float | None

    @property
    def verdict(self) -> str:
        """Whether B is higher or lower than A at 95 % confidence.

        "higher", "lower", "no difference", or "undecided" when a single replication gives no interval.
        """
        if self.difference.low is None or self.difference.high is None:
            return "undecided"
        if self.difference.low > 0:
            return "higher"
        return "lower" if self.difference.high < 0 else "no difference"

    def to_json(self) -> JsonObject:
        """The measure as it stands in compare.json."""

        def side(value: Estimate) -> JsonObject:
            return {"mean": value.mean, "ci95": [value.low, value.high], "samples": list(value.samples)}

        return {
            "a": side(self.a),
            "b": side(self.b),
            "difference": {"mean": self.difference.mean, "ci95": [self.difference.low, self.difference.high]},
            "ratio": {"value": self.ratio.value, "ci95": [self.ratio.low, self.ratio.high]},
            "variance_reduction": self.variance_reduction,
            "verdict": self.verdict,
        }


@dataclass(frozen=True)
class PointComparison:
    """All measures and counters of one point of both sweeps."""

    parameters: dict[str, Scalar]
    measures: dict[str, Difference]
    main: Measure = _MESSAGE_RATE
    """The measure that the verdict is about."""

    @property
    def rate(self) -> Difference:
        """The main measure."""
        return self.measures[self.main.name]

    @property
    def verdict(self) -> str:
        """What the main measure says of B: "faster", "slower", "no difference", "undecided"."""
        better, worse = ("lower", "higher") if self.main.is_time else ("higher", "lower")
        return {better: "faster", worse: "slower"}.get(self.rate.verdict, self.rate.verdict)


@dataclass(frozen=True, repr=False)
class Comparison:
    """Two designs over the points that both have; at least one."""

    name_a: str
    name_b: str
    seed: int
    interval: str
    points: tuple[PointComparison, ...]
    workload: JsonObject = field(default_factory=dict)
    """What both sides simulate; empty where they differ in what they count."""
    only_a: int = 0
    only_b: int = 0
    measured_reduction: float | None = None
    workload_differences: dict[str, tuple[object, object]] = field(default_factory=dict)
    """What is not alike in what the sides have to do, by name: A's value and B's where that is first so."""

    @property
    def measure(self) -> Measure:
        """The measure that verdicts are about."""
        return self.points[0].main

    @property
    def workload_remark(self) -> str:
        """What a reader has to know where the sides do not do the same; nothing where they do."""
        if not self.workload_differences:
            return ""
        apart = [f"{name} ({value_text(a)}, {value_text(b)})" for name, (a, b) in self.workload_differences.items()]
        return f"The workloads differ, so this is not about the designs alone: {', '.join(apart)}."

    @property
    def variance_reduction(self) -> float | None:
        """What pairing gains over all points, estimated from the paired runs: see `pooled_reduction`."""
        rates = [found for point in self.points if (found := point.rate).a.mean and found.b.mean]
        return pooled_reduction(
            [sum(sample_variance(side.samples) / side.mean**2 for side in (rate.a, rate.b)) for rate in rates],
            [sample_variance(_relative(rate.a, rate.b)) for rate in rates],
        )

    def to_json(self) -> JsonObject:
        """The content of compare.json."""
        return {
            "a": self.name_a,
            "b": self.name_b,
            "seed": self.seed,
            "confidence": 0.95,
            "interval": self.interval,
            "measure": self.measure.name,
            "points_only_in_a": self.only_a,
            "points_only_in_b": self.only_b,
            "workload_differences": {name: list(values) for name, values in self.workload_differences.items()},
            "variance_reduction": {
                "estimated_from_pairs": self.variance_reduction,
                "measured_against_independent_seeds": self.measured_reduction,
            },
            "points": [
                {
                    "parameters": point.parameters,
                    "verdict": point.verdict,
                    **{name: measure.to_json() for name, measure in point.measures.items()},
                }
                for point in self.points
            ],
        }

    def __repr__(self) -> str:
        verdicts = Counter(point.verdict for point in self.points)
        said = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items())
        return f"<Comparison of {self.name_a} with {self.name_b}: {counted(len(self.points), 'point')}; {said}>"

    def frame(self, measure: str | None = None) -> pl.DataFrame:
        """One row per point: parameters, both means, B - A and B / A with 95 % intervals, and the verdict.

        Args:
            measure: The name of a measure or counter; points that do not have it are left out. What was compared
                (`measure`) if not given.

        Raises:
            InputError: No point has it; the message says what there is.
        """
        from contend.frames import frame_of

        main = self.measure.name
        measure = measure or main
        known = list(dict.fromkeys(name for point in self.points for name in point.measures))
        if measure not in known:
            raise unknown(f"there is no measure {measure!r}", measure, known)
        rows: list[dict[str, Scalar]] = []
        for point in self.points:
            if measure not in point.measures:
                continue
            found = point.measures[measure]
            rows.append({
                **point.parameters,
                "a": found.a.mean,
                "b": found.b.mean,
                "difference": found.difference.mean,
                "difference_ci95_low": found.difference.low,
                "difference_ci95_high": found.difference.high,
                "ratio": found.ratio.value,
                "ratio_ci95_low": found.ratio.low,
                "ratio_ci95_high": found.ratio.high,
                "b_is": point.verdict if measure == main else found.verdict,
            })  # fmt: skip
        return frame_of(rows)

    def _repr_html_(self) -> str:
        from contend.notebook_html import comparison_html

        return comparison_html(self)


def sample_variance(samples: Sequence[float]) -> float:
    """The unbiased variance of at least two samples; 0 for fewer."""
    if len(samples) < 2:  # noqa: PLR2004
        return 0.0
    mean = math.fsum(samples) / len(samples)
    return math.fsum((sample - mean) ** 2 for sample in samples) / (len(samples) - 1)


def pooled_reduction(independent: Iterable[float], paired: Iterable[float]) -> float | None:
    """Ratio of summed relative variances: independent over paired. None if nothing varies.

    Relative to the means, points of small and large rates count alike; sums, because a ratio of two variances of a few
    samples each says little.
    """
    total = math.fsum(paired)
    return math.fsum(independent) / total if total > 0 else None


def _relative(a: Estimate, b: Estimate) -> list[float]:
    return [y / b.mean - x / a.mean for x, y in zip(a.samples, b.samples, strict=True)]


def bootstrap(samples: Sequence[float]) -> Estimate:
    """Mean with a bias-corrected accelerated bootstrap interval; the same samples give the same interval."""
    import numpy as np
    from scipy import stats

    plain = estimate(samples)
    if plain.low is None or plain.low == plain.high:
        return plain
    found = stats.bootstrap(
        (np.asarray(samples, dtype=float),), np.mean, n_resamples=_BOOTSTRAP_RESAMPLES, confidence_level=0.95,
        method="BCa", rng=np.random.default_rng(_BOOTSTRAP_SEED),
    ).confidence_interval  # fmt: skip
    return Estimate(plain.mean, float(found.low), float(found.high), plain.samples)


INTERVALS: dict[str, IntervalMethod] = {"t": estimate, "bootstrap": bootstrap}


def compare_samples(measure: str, a: Sequence[float], b: Sequence[float], interval: str = "t") -> Difference:
    """Compares paired samples.

    Args:
        measure: What they are of.
        a: One side, a value per replication.
        b: The other side, in the same order.
        interval: "t" for Student's t on the differences, "bootstrap" for a bootstrap over them.

    Raises:
        InputError: There is no such interval, or the sides differ in their number of replications.
    """
    if interval not in INTERVALS:
        raise InputError(f"no interval {interval!r}; there are: {', '.join(INTERVALS)}")
    if len(a) != len(b) or not a:
        raise InputError(f"{measure}: {len(a)} and {len(b)} replications cannot be paired")
    method = INTERVALS[interval]
    differences = [y - x for x, y in zip(a, b, strict=True)]
    paired = sample_variance(differences)
    return Difference(
        measure=measure,
        a=estimate(a),
        b=estimate(b),
        difference=method(differences),
        ratio=_ratio(a, b, method),
        variance_reduction=(sample_variance(a) + sample_variance(b)) / paired if paired > 0 else None,
    )


def _ratio(a: Sequence[float], b: Sequence[float], method: IntervalMethod) -> Ratio:
    """The ratio of geometric means, so that B/A and A/B tell the same.

    Its interval is that of the paired differences of logarithms.
    """
    if min(a) <= 0 or min(b) <= 0:
        mean_a = math.fsum(a) / len(a)
        return Ratio(math.fsum(b) / len(b) / mean_a) if mean_a else Ratio(None)
    logs = method([math.log(y / x) for x, y in zip(a, b, strict=True)])
    return Ratio(
        math.exp(logs.mean),
        None if logs.low is None else math.exp(logs.low),
        None if logs.high is None else math.exp(logs.high),
    )


@dataclass(frozen=True)
class Pairing:
    """The points that two sweeps have in common, in the order of the first, and how many only one of them has."""

    a: tuple[Point, ...]
    b: tuple[Point, ...]
    only_a: int
    only_b: int


def _key(point: Point) -> Key:
    return tuple(sorted(point.parameters.items()))


def _check_axes(a: Sequence[Point], b: Sequence[Point]) -> None:
    names_a, names_b = (sorted(side[0].parameters) for side in (a, b))
    if names_a == names_b:
        return
    words = []
    for label, own, other in (("A", names_a, names_b), ("B", names_b, names_a)):
        if extra := [name for name in own if name not in other]:
            words.append(f"{label} alone sweeps {', '.join(extra)}")
    raise InputError(f"the sweeps differ: {'; '.join(words)}. Fix those values with --set-a or --set-b")


def pair_points(a: Sequence[Point], b: Sequence[Point]) -> Pairing:
    """Finds the points that both sides have.

    Raises:
        InputError: The sweeps have other axes or no point in common.
    """
    _check_axes(a, b)
    keyed_a, keyed_b = ({_key(point): point for point in side} for side in (a, b))
    common = [key for key in keyed_a if key in keyed_b]
    if not common:
        raise InputError("the sweeps have no point in common")
    return Pairing(
        tuple(keyed_a[key] for key in common),
        tuple(keyed_b[key] for key in common),
        len(keyed_a) - len(common),
        len(keyed_b) - len(common),
    )


def _samples(runs: PointRuns) -> dict[str, list[float]]:
    """All measures that every replication has, and all counters."""
    samples = {name: [float(result[name]) for result in runs.results] for name in measures_in(runs.results)}
    counters = [result.get("counters", {}) for result in runs.results]
    for name in dict.fromkeys(name for entry in counters for name in entry):
        samples[name] = [float(entry.get(name, 0)) for entry in counters]
    return samples


def _common_measures(*sides: Sequence[PointRuns]) -> list[str]:
    """The measures that all points of all sides have."""
    return measures_in(result for side in sides for runs in side for result in runs.results)


def _common_workload(a: ResolvedScenario, b: ResolvedScenario) -> JsonObject:
    """A's workload where both sides count the same; else nothing, so that words are those of no one in particular."""
    own, other = (side.document.get("workload", {}) for side in (a, b))
    return dict(own) if words_of(own) == words_of(other) else {}


def workload_differences(pairing: Pairing) -> dict[str, tuple[object, object]]:
    """The values of the workload in which paired points differ: verdicts are then about more than the design.

    Returns:
        By dotted name below `workload`, A's value and B's at the first pair that differs; None where a side has none.
    """
    found: dict[str, tuple[object, object]] = {}
    for a, b in zip(pairing.a, pairing.b, strict=True):
        own, other = (dict(leaves(point.config["workload"])) for point in (a, b))
        for pointer in own | other:
            if own.get(pointer) != other.get(pointer):
                found.setdefault(dotted(pointer), (own.get(pointer), other.get(pointer)))
    return found


def compare_runs(
    a: Sequence[PointRuns], b: Sequence[PointRuns], main: Measure, interval: str = "t"
) -> list[PointComparison]:
    """Compares points pair by pair.

    Args:
        a: One side; every point has the main measure.
        b: The other side, with its points in the same order, the same seed and number of replications.
        main: The measure that verdicts are about.
        interval: See compare_samples.
    """
    compared = []
    for runs, other in zip(a, b, strict=True):
        left, right = _samples(runs), _samples(other)
        measures = {
            name: compare_samples(name, left[name], right[name], interval)
            for name in left
            if name in right and (name == main.name or any(left[name]) or any(right[name]))
        }
        compared.append(PointComparison(dict(runs.point.parameters), measures, main))
    return compared


def measured_reduction(a: Outcome, b: Outcome, b_independent: Outcome, *, measure: str) -> float | None:
    """What common random numbers gain, measured with runs of B that have other seeds.

    Returns:
        The variance of differences between A and those, over the variance of the paired differences. Both are relative
        to the means and summed over points.
    """

    def variances(other: Outcome) -> list[float]:
        found = []
        for runs, match in zip(a.runs, other.runs, strict=True):
            left, right = estimate(_samples(runs)[measure]), estimate(_samples(match)[measure])
            if left.mean and right.mean:
                found.append(sample_variance(_relative(left, right)))
        return found

    return pooled_reduction(variances(b_independent), variances(b))


@dataclass(frozen=True)
class Contest:
    """Two designs that can be compared, before anything is simulated."""

    a: ResolvedScenario
    b: ResolvedScenario
    pairing: Pairing
    independent: tuple[Point, ...] = ()
    """B's points with another seed, to measure what pairing gains."""

    @property
    def weight(self) -> float:
        """What `progress` of compare_scenarios adds up to."""
        return total_weight([*self.pairing.a, *self.pairing.b, *self.independent])


def prepare(
    a: ResolvedScenario, b: ResolvedScenario, independent: ResolvedScenario | None = None, measure: str | None = None
) -> Contest:
    """Finds out what there is to compare.

    Args:
        a: One side.
        b: The other side, with the same seed and number of replications.
        independent: B with another seed, to measure what pairing gains.
        measure: The measure that verdicts will be about.

    Raises:
        InputError: The sweeps have other axes or no point in common, or no result has such a measure.
    """
    check_known(measure)
    pairing = pair_points(a.points, b.points)
    others = () if independent is None else pair_points(a.points, independent.points).b
    return Contest(a, b, pairing, others)


def compare_scenarios(
    contest: Contest,
    *,
    names: tuple[str, str],
    interval: str = "t",
    measure: str | None = None,
    jobs: int,
    progress: Callable[[float], None] | None = None,
) -> Comparison:
    """Simulates two designs at the points that both have, and compares them.

    Args:
        contest: What `prepare` found.
        names: What the sides are called.
        interval: See compare_samples.
        measure: The measure that verdicts are about; what the workload is about if not given.
        jobs: How many simulations run at once.
        progress: Called with the weight of each replication that finishes.

    Raises:
        InputError: A side does not have the measure.
        SimulationFailedError: A simulation ended with an error.
        InterruptedRunError: Ctrl-C.
    """
    engine = make_engine("contend")
    pairing = contest.pairing
    outcomes: list[Outcome] = []
    for points in (pairing.a, pairing.b, *([contest.independent] if contest.independent else [])):
        outcome = run_points(points, engine, jobs=jobs, progress=progress)
        if outcome.interrupted:
            raise InterruptedRunError("interrupted: nothing was compared")
        outcomes.append(outcome)
        if measure is not None:
            choose(_common_measures(outcome.runs), measure, "to compare")
    a, b = outcomes[0].runs, outcomes[1].runs
    workload = _common_workload(contest.a, contest.b)
    main = measure_named(choose(_common_measures(a, b), measure, "to compare"), workload)
    return Comparison(
        name_a=names[0],
        name_b=names[1],
        seed=contest.a.seed,
        interval=interval,
        points=tuple(compare_runs(a, b, main, interval)),
        workload=workload,
        only_a=pairing.only_a,
        only_b=pairing.only_b,
        workload_differences=workload_differences(pairing),
        measured_reduction=measured_reduction(*outcomes, measure=main.name) if contest.independent else None,
    )
