"""When the spread of a cell is known well enough, and what is said about it.

Samples of one launch have its luck in common (addresses, placement, which side came first), so launches are the
independent units: the interval of the median comes from resampling launches first and samples within them second.
"""

from __future__ import annotations

import random
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_RESAMPLES = 400
_MIN_LAUNCHES_FOR_INTERVAL = 2
# The median lies within n independent values with a probability of 1 - 2^(1 - n): 94 % of five, 88 % of four.
_MIN_SAMPLES_FOR_INTERVAL = 5


@dataclass(frozen=True)
class Spread:
    """Location and spread of a cell's samples, in their unit; None where the samples do not tell."""

    count: int
    launches: int
    median: float
    quartiles: tuple[float, float]
    cov: float | None
    ci95: tuple[float, float] | None

    @property
    def precision(self) -> float | None:
        """Half the interval of the median, as a share of the median."""
        if self.ci95 is None or self.median == 0:
            return None
        return (self.ci95[1] - self.ci95[0]) / 2 / abs(self.median)


def spread(launches: Sequence[Sequence[float]]) -> Spread | None:
    """Sums up samples, grouped by launch; None if there are none."""
    groups = [list(group) for group in launches if group]
    samples = sorted(sample for group in groups for sample in group)
    if not samples:
        return None
    mean = statistics.fmean(samples)
    return Spread(
        count=len(samples),
        launches=len(groups),
        median=statistics.median(samples),
        quartiles=_quartiles(samples),
        cov=statistics.stdev(samples) / mean if len(samples) > 1 and mean else None,
        ci95=_interval(groups) if _tell_an_interval(groups) else None,
    )


def _tell_an_interval(groups: list[list[float]]) -> bool:
    return len(groups) >= _MIN_LAUNCHES_FOR_INTERVAL and sum(map(len, groups)) >= _MIN_SAMPLES_FOR_INTERVAL


def _quartiles(samples: list[float]) -> tuple[float, float]:
    if len(samples) == 1:
        return samples[0], samples[0]
    low, _, high = statistics.quantiles(samples, n=4, method="inclusive")
    return low, high


def _interval(groups: list[list[float]]) -> tuple[float, float]:
    """95 % bootstrap interval of the median over launches, from a stream of random numbers of its own."""
    stream = random.Random(1)  # noqa: S311 - resampling, no secret
    medians = []
    for _ in range(_RESAMPLES):
        drawn: list[float] = []
        for group in stream.choices(groups, k=len(groups)):
            drawn += stream.choices(group, k=len(group))
        medians.append(statistics.median(drawn))
    medians.sort()
    return medians[round(0.025 * (_RESAMPLES - 1))], medians[round(0.975 * (_RESAMPLES - 1))]
