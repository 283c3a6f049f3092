"""Compares two designs point by point, with paired replications.

Replication i of both sides draws from the same random streams (common random numbers): streams are named per model
object, so that what both designs have in common, such as the jitter of a thread's library calls, sees the same numbers.
Differences are then taken per replication, and chance that hits both sides alike drops out.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from contend.errors import InputError, InterruptedRunError
from contend.runner import make_engine, run_points
from contend.spelling import counted
from contend.statistics import Estimate, estimate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import polars as pl

    from contend.jsontypes import JsonObject, Scalar
    from contend.runner import Outcome, PointRuns
    from contend.scenario import ResolvedScenario

RATE = "message_rate"
UNITS = {RATE: "msg/s"}
_BOOTSTRAP_RESAMPLES = 9999
_BOOTSTRAP_SEED = 1

Key: TypeAlias = tuple[tuple[str, "Scalar"], ...]
IntervalMethod: TypeAlias = "Callable[[Sequence[float]], Estimate]"


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
    """All measures of one point of both sweeps."""

    parameters: dict[str, Scalar]
    measures: dict[str, Difference]

    @property
    def rate(self) -> Difference:
        """The message rate."""
        return self.measures[RATE]

    @property
    def verdict(self) -> str:
        """What the message rate says of B: "faster", "slower", "no difference", "undecided"."""
        return {"higher": "faster", "lower": "slower"}.get(self.rate.verdict, self.rate.verdict)


@dataclass(frozen=True, repr=False)
class Comparison:
    """Two designs over the points that both have."""

    name_a: str
    name_b: str
    seed: int
    interval: str
    points: tuple[PointComparison, ...]
    only_a: int = 0
    only_b: int = 0
    measured_reduction: float | None = None

    @property
    def variance_reduction(self) -> float | None:
        """What pairing gains over all points, estimated from the paired runs: see `pooled_reduction`."""
        rates = [point.rate for point in self.points]
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
            "points_only_in_a": self.only_a,
            "points_only_in_b": self.only_b,
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

    def frame(self, measure: str = RATE) -> pl.DataFrame:
        """One row per point: parameters, both means, B - A and B / A with 95 % intervals, and the verdict.

        Args:
            measure: "message_rate" (msg/s) or the name of a counter; points that do not have it are left out.
        """
        from contend.frames import frame_of

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
                "b_is": point.verdict if measure == RATE else found.verdict,
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


def _key(runs: PointRuns) -> Key:
    return tuple(sorted(runs.point.parameters.items()))


def _check_axes(a: Sequence[PointRuns], b: Sequence[PointRuns]) -> None:
    names_a, names_b = (sorted(side[0].point.parameters) for side in (a, b))
    if names_a == names_b:
        return
    words = []
    for label, own, other in (("A", names_a, names_b), ("B", names_b, names_a)):
        if extra := [name for name in own if name not in other]:
            words.append(f"{label} alone sweeps {', '.join(extra)}")
    raise InputError(f"the sweeps differ: {'; '.join(words)}. Fix those values with --set-a or --set-b")


def _measures(runs: PointRuns) -> dict[str, list[float]]:
    """All measures that every replication has."""
    names = [RATE] if all(RATE in result for result in runs.results) else []
    samples = {name: [float(result[name]) for result in runs.results] for name in names}
    counters = [result.get("counters", {}) for result in runs.results]
    for name in dict.fromkeys(name for entry in counters for name in entry):
        samples[name] = [float(entry.get(name, 0)) for entry in counters]
    return samples


def compare_runs(
    a: Sequence[PointRuns], b: Sequence[PointRuns], interval: str = "t"
) -> tuple[list[PointComparison], int, int]:
    """Compares the points that both sides have.

    Args:
        a: One side.
        b: The other side; the same seed and number of replications.
        interval: See compare_samples.

    Returns:
        The compared points in A's order, and how many points only A and only B have.

    Raises:
        InputError: The sweeps have other axes or no point in common, or there are no message rates.
    """
    _check_axes(a, b)
    others = {_key(runs): runs for runs in b}
    compared = []
    for runs in a:
        other = others.get(_key(runs))
        if other is None:
            continue
        left, right = _measures(runs), _measures(other)
        if RATE not in left or RATE not in right:
            raise InputError(f"{runs.point.label()}: this workload has no message rate to compare")
        measures = {
            name: compare_samples(name, left[name], right[name], interval)
            for name in left
            if name in right and (any(left[name]) or any(right[name]))
        }
        compared.append(PointComparison(dict(runs.point.parameters), measures))
    if not compared:
        raise InputError("the sweeps have no point in common")
    return compared, len(a) - len(compared), len(b) - len(compared)


def measured_reduction(a: Outcome, b: Outcome, b_independent: Outcome) -> float | None:
    """What common random numbers gain, measured with runs of B that have other seeds.

    Returns:
        The variance of differences between A and those, over the variance of the paired differences. Both are relative
        to the means and summed over points.
    """

    def variances(other: Outcome) -> list[float]:
        keyed = {_key(runs): runs for runs in other.runs}
        found = []
        for runs in a.runs:
            if (match := keyed.get(_key(runs))) is not None:
                left, right = estimate(_measures(runs)[RATE]), estimate(_measures(match)[RATE])
                found.append(sample_variance(_relative(left, right)))
        return found

    return pooled_reduction(variances(b_independent), variances(b))


def compare_scenarios(
    a: ResolvedScenario,
    b: ResolvedScenario,
    *,
    names: tuple[str, str],
    interval: str = "t",
    jobs: int,
    progress: Callable[[float], None] | None = None,
    independent: ResolvedScenario | None = None,
) -> Comparison:
    """Simulates two designs and compares them.

    Args:
        a: One side.
        b: The other side, with the same seed and number of replications.
        names: What the sides are called.
        interval: See compare_samples.
        jobs: How many simulations run at once.
        progress: Called with the weight of each replication that finishes.
        independent: B with another seed, to measure what pairing gains.

    Raises:
        InputError: The sweeps have other axes or no point in common, or there are no message rates.
        SimulationFailedError: A simulation ended with an error.
        InterruptedRunError: Ctrl-C.
    """
    engine = make_engine("contend")
    outcomes = []
    for side in (a, b, *([independent] if independent is not None else [])):
        outcome = run_points(side.points, engine, jobs=jobs, progress=progress)
        if outcome.interrupted:
            raise InterruptedRunError("interrupted: nothing was compared")
        outcomes.append(outcome)
    points, only_a, only_b = compare_runs(outcomes[0].runs, outcomes[1].runs, interval)
    return Comparison(
        name_a=names[0],
        name_b=names[1],
        seed=a.seed,
        interval=interval,
        points=tuple(points),
        only_a=only_a,
        only_b=only_b,
        measured_reduction=measured_reduction(*outcomes) if independent is not None else None,
    )
