"""Statistics of paired samples: what two designs gave in replications that had the same random numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from contend.common.errors import InputError
from contend.common.spelling import counted
from contend.common.statistics import Estimate, estimate, exact_mean, student_t_quantile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from contend.common.jsontypes import JsonObject

_BOOTSTRAP_RESAMPLES = 9999
_BOOTSTRAP_SEED = 1

# The mean of resamples never leaves the range of n samples, and all of these are on one side of the true value with a
# probability of 2^(1 - n): below this number no bootstrap covers 95 %.
LEAST_FOR_BOOTSTRAP = 6
# From here on it nearly does. Of normal samples it covers 87 % with 6, 89 % with 10, and 92 % with 20.
ENOUGH_FOR_BOOTSTRAP = 20

# Two designs make no difference where the whole interval of B - A is within this share of A's mean.
ALIKE = 0.05
# However sure its sign is, so small a difference is none that anybody could measure.
NEGLIGIBLE = 0.005
_NORMAL_95 = 1.96

IntervalMethod: TypeAlias = "Callable[[Sequence[float]], Estimate]"


@dataclass(frozen=True)
class Ratio:
    """Mean of B over mean of A with its interval.

    Without ends where one replication says nothing, a value is not positive, or A's mean may be zero.
    """

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

        "higher", "lower", or "no difference" when the whole interval lies within NEGLIGIBLE of A, or has both signs and
        lies within ALIKE of it; else "undecided": it is too wide to say so, or a single replication gives none.
        """
        low, high = self.difference.low, self.difference.high
        if low is None or high is None:
            return "undecided"
        if self._is_within(NEGLIGIBLE):
            return "no difference"
        if low > 0:
            return "higher"
        if high < 0:
            return "lower"
        return "no difference" if self._is_within(ALIKE) else "undecided"

    def _is_within(self, share: float) -> bool:
        """Whether the whole interval of the difference is within this share of A's mean."""
        low, high = self.difference.low, self.difference.high
        most = share * abs(self.a.mean)
        return low is not None and high is not None and -most <= low and high <= most

    @property
    def replications_to_decide(self) -> int | None:
        """About how many replications narrow the interval to ALIKE of A; None where these ones do not tell.

        The fewest for which Student's t, with as many degrees of freedom as they leave, does so if differences spread
        as they do now.
        """
        if len(self.a.samples) < 2 or not self.a.mean:  # noqa: PLR2004
            return None
        differences = [y - x for x, y in zip(self.a.samples, self.b.samples, strict=True)]
        over = sample_variance(differences) / (ALIKE * self.a.mean) ** 2
        # Student's quantile is above the normal one, and falls with their number.
        count = max(2, math.ceil(over * _NORMAL_95**2))
        while student_t_quantile(0.975, count - 1) ** 2 * over > count:
            count += 1
        return count

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


def relative_differences(a: Estimate, b: Estimate) -> list[float]:
    """B less A of each pair, each side in units of its own mean."""
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


def check_interval(interval: str, replications: int) -> None:
    """Refuses an interval that does not exist, or that so few samples cannot give.

    Raises:
        InputError: As said.
    """
    if interval not in INTERVALS:
        raise InputError(f"no interval {interval!r}; there are: {', '.join(INTERVALS)}")
    if replications < 1:
        raise InputError("there are no replications to compare")
    if interval == "bootstrap" and replications < LEAST_FOR_BOOTSTRAP:
        covered = f"{1 - 2.0 ** (1 - replications):.0%}"
        raise InputError(
            f"a bootstrap over {counted(replications, 'replication')} covers {covered} at most, not 95 %: "
            f"at least {LEAST_FOR_BOOTSTRAP} are needed, or interval t"
        )


def bootstrap_remark(interval: str, replications: int) -> str:
    """What a reader of intervals has to know where they are of a bootstrap over few replications; else nothing."""
    if interval != "bootstrap" or replications >= ENOUGH_FOR_BOOTSTRAP:
        return ""
    return (
        f"A bootstrap over {counted(replications, 'replication')} covers less than 95 %: of samples of a normal "
        "distribution 87 % with 6, 89 % with 10 and 92 % with 20, so that too many points are called faster or slower. "
        "Interval t covers 95 % of these."
    )


def compare_samples(measure: str, a: Sequence[float], b: Sequence[float], interval: str = "t") -> Difference:
    """Compares paired samples.

    Args:
        measure: What they are of.
        a: One side, a value per replication.
        b: The other side, in the same order.
        interval: "t" for Student's t on the differences, "bootstrap" for a bootstrap over them.

    Raises:
        InputError: There is no such interval, the sides differ in their number of replications, or there are too few
            for a bootstrap.
    """
    check_interval(interval, len(a))
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
        ratio=_ratio(a, b, interval),
        variance_reduction=(sample_variance(a) + sample_variance(b)) / paired if paired > 0 else None,
    )


def _ratio(a: Sequence[float], b: Sequence[float], interval: str) -> Ratio:
    """The ratio of the means that the sides are shown by.

    Fieller's interval excludes 1 where Student's t of B - A excludes 0. A bootstrap's may not do so.
    """
    mean_a, mean_b = exact_mean(a), exact_mean(b)
    if mean_a == 0:
        return Ratio(None)
    value = mean_b / mean_a
    if min(a) <= 0 or min(b) <= 0 or len(a) == 1:
        return Ratio(value)
    low, high = _bootstrap_of_ratio(a, b) if interval == "bootstrap" else _fieller(a, b)
    return Ratio(value, low, high)


def _fieller(a: Sequence[float], b: Sequence[float]) -> tuple[float | None, float | None]:
    """The ratios r for which the paired differences B - r A may have the mean zero.

    Fieller, Some problems in interval estimation, 1954, at 95 %. Where A's mean may be zero nothing bounds them: None.
    """
    count = len(a)
    mean_a, mean_b = exact_mean(a), exact_mean(b)
    square = student_t_quantile(0.975, count - 1) ** 2 / count
    both = math.fsum((x - mean_a) * (y - mean_b) for x, y in zip(a, b, strict=True)) / (count - 1)
    # Of the roots of p r^2 - 2 q r + s, between which it is not above zero.
    p = mean_a**2 - square * sample_variance(a)
    q = mean_a * mean_b - square * both
    s = mean_b**2 - square * sample_variance(b)
    if p <= 0:
        return None, None
    root = math.sqrt(max(0.0, q**2 - p * s))
    return max(0.0, (q - root) / p), (q + root) / p


def _bootstrap_of_ratio(a: Sequence[float], b: Sequence[float]) -> tuple[float, float]:
    """Of the ratio of means over pairs; see bootstrap()."""
    import numpy as np
    from scipy import stats

    sides = (np.asarray(a, dtype=float), np.asarray(b, dtype=float))
    ratios = sides[1] / sides[0]
    if np.all(ratios == ratios[0]):
        return float(ratios[0]), float(ratios[0])
    found = stats.bootstrap(
        sides, lambda x, y, axis: np.mean(y, axis=axis) / np.mean(x, axis=axis), paired=True, vectorized=True,
        n_resamples=_BOOTSTRAP_RESAMPLES, confidence_level=0.95, method="BCa",
        rng=np.random.default_rng(_BOOTSTRAP_SEED),
    ).confidence_interval  # fmt: skip
    return float(found.low), float(found.high)
