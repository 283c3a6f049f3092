"""Means and confidence intervals over replications."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np
    import numpy.typing as npt


@dataclass(frozen=True)
class Estimate:
    """A mean over replications with its confidence interval, in the unit of the samples.

    `low` and `high` are None for a single sample: it says nothing about the spread.
    """

    mean: float
    low: float | None
    high: float | None
    samples: tuple[float, ...]

    @property
    def half_width(self) -> float | None:
        """Half the width of the interval; None for a single sample."""
        return None if self.high is None else self.high - self.mean


@dataclass(frozen=True)
class Central:
    """What draws say of a number: their median, and the ends of their central 95 %."""

    median: float
    low: float
    high: float


def central(draws: Sequence[float] | npt.NDArray[np.float64]) -> Central:
    """Median and central 95 % of draws from a distribution."""
    import numpy as np

    median, low, high = np.quantile(np.asarray(draws, dtype=float), (0.5, 0.025, 0.975))
    return Central(float(median), float(low), float(high))


def kendall_tau(differences: Iterable[tuple[float, float]]) -> float | None:
    """How well an order is predicted: pairs in the right order minus those in the wrong one, over all pairs.

    Kendall, A new measure of rank correlation, 1938, over the pairs that have a measured order. One that is predicted
    to be equal is neither right nor wrong.

    Args:
        differences: Of each pair, measured and predicted.

    Returns:
        None where no pair has a measured order.
    """
    signs = [_sign(measured) * _sign(predicted) for measured, predicted in differences if measured]
    return sum(signs) / len(signs) if signs else None


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)


def student_t_quantile(probability: float, degrees_of_freedom: int) -> float:
    """The quantile of Student's t distribution."""
    from scipy import special

    return float(special.stdtrit(degrees_of_freedom, probability))


def estimate(samples: Sequence[float], confidence: float = 0.95) -> Estimate:
    """Mean and Student-t confidence interval of independent samples.

    Args:
        samples: At least one value.
        confidence: Probability that the interval covers the true mean.

    Raises:
        ValueError: No samples.
    """
    count = len(samples)
    if count == 0:
        raise ValueError("an estimate needs at least one sample")
    mean = exact_mean(samples)
    values = tuple(float(sample) for sample in samples)
    if count == 1:
        return Estimate(mean, None, None, values)
    variance = math.fsum((value - mean) ** 2 for value in values) / (count - 1)
    if variance == 0.0:
        return Estimate(mean, mean, mean, values)
    half = student_t_quantile(0.5 + confidence / 2, count - 1) * math.sqrt(variance / count)
    return Estimate(mean, mean - half, mean + half, values)


def exact_mean(samples: Sequence[float]) -> float:
    """The mean, rounded once: it does not depend on the order of the samples."""
    first = samples[0]
    if all(sample == first for sample in samples):
        return float(first)
    return math.fsum(samples) / len(samples)


def mean_number(samples: Sequence[float]) -> int | float:
    """The mean for a results file: an int stays an int when all samples are the same."""
    first = samples[0]
    if all(sample == first for sample in samples):
        return first
    return math.fsum(samples) / len(samples)
