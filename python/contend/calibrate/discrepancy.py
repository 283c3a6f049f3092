"""How far off the model is where it was not fitted: a scale for each library and transport.

It is told by residuals of fits that did not see their points.

A residual follows Student's t distribution, as everywhere in a calibration; its scale is that of its noise and of the
discrepancy of its library over its transport. A library has a dozen such points, or three, so that scales of all are
estimated together (a hierarchical model): their logarithms are normal about a common one, whose prior is that of a
model of which nothing is known. Many points speak for themselves; few are drawn to what all others say; and a library
over a transport that has none gets what a new one would have. Everything is on grids: nothing has to converge.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from contend.calibrate.likelihood import (
    LARGEST_DISCREPANCY,
    LEAST_DISCREPANCY,
    log_likelihood,
    log_prior,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from contend.calibrate.cross_validation import Residual
    from contend.calibrate.problem import Vector

# Scales of two libraries differ by a factor of about its exponential, before anything is known of them.
_SPREAD_OF_SCALES = 0.5
_SPREADS = np.linspace(0.05, 2.0, 24)
_SCALES = np.geomspace(LEAST_DISCREPANCY, LARGEST_DISCREPANCY, 161)
# So many quantiles of a scale stand for its distribution: one for each draw of noise of an interval.
QUANTILES = 64


@dataclass(frozen=True)
class Discrepancy:
    """The scale of one group, as quantiles at equal distances of probability; of how many points it is."""

    points: int
    draws: tuple[float, ...]

    @property
    def median(self) -> float:
        """The middle of the draws."""
        return float(np.median(self.draws))

    @property
    def interval(self) -> tuple[float, float]:
        """95 % of them."""
        low, high = np.quantile(self.draws, [0.025, 0.975])
        return float(low), float(high)


@dataclass(frozen=True)
class Discrepancies:
    """Those of all groups, and of one that has no points."""

    groups: dict[tuple[str, str], Discrepancy]
    others: Discrepancy


def estimate(residuals: Sequence[Residual]) -> Discrepancies | None:
    """The scales of all libraries and transports that have residuals; None if there are none."""
    if not residuals:
        return None
    groups: dict[tuple[str, str], list[Residual]] = {}
    for one in residuals:
        groups.setdefault(one.group, []).append(one)
    found = scales({
        key: (np.array([one.value for one in members]), np.array([one.noise for one in members]))
        for key, members in groups.items()
    })  # fmt: skip
    others = found.pop(None)
    return Discrepancies(
        {key: Discrepancy(len(groups[key]), tuple(draws)) for key, draws in found.items() if key is not None},
        Discrepancy(0, tuple(others)),
    )


def scales(groups: Mapping[tuple[str, str], tuple[Vector, Vector]]) -> dict[tuple[str, str] | None, list[float]]:
    """Quantiles of the scale of each group, from its residuals and their noise; under None those of a new group."""
    logs = np.log(_SCALES)
    conditional = _conditional()
    # The common scale is on a grid of logarithms, hence the Jacobian.
    log_weight = (log_prior(_SCALES) + logs)[:, None] - 0.5 * (_SPREADS / _SPREAD_OF_SCALES)[None, :] ** 2
    likelihoods, evidences = {}, {}
    for key, (values, noise) in groups.items():
        likelihood = _likelihood(values, noise)
        likelihoods[key] = likelihood
        evidences[key] = conditional @ likelihood
        log_weight = log_weight + np.log(np.maximum(evidences[key], 1e-300))
    weight = np.exp(log_weight - log_weight.max())
    found: dict[tuple[str, str] | None, list[float]] = {
        key: _quantiles(np.einsum("ms,msd->d", weight / np.maximum(evidences[key], 1e-300), conditional) * likelihood)
        for key, likelihood in likelihoods.items()
    }
    found[None] = _quantiles(np.einsum("ms,msd->d", weight, conditional))
    return found


@functools.cache
def _conditional() -> Vector:
    """Probability of a group's scale, [common scale, spread of scales, scale of a group]."""
    logs = np.log(_SCALES)
    density = stats.norm.pdf(logs[None, None, :], logs[:, None, None], _SPREADS[None, :, None])
    return np.asarray(density / density.sum(axis=2, keepdims=True), dtype=float)


def _likelihood(values: Vector, noise: Vector) -> Vector:
    """Of each scale, up to a factor."""
    rows = np.tile(values, (len(_SCALES), 1))
    logs = log_likelihood(rows, np.zeros(len(values)), noise, _SCALES)
    return np.asarray(np.exp(logs - logs.max()), dtype=float)


def _quantiles(density: Vector) -> list[float]:
    below = np.cumsum(density)
    middle = (below - density / 2) / below[-1]
    wanted = (np.arange(QUANTILES) + 0.5) / QUANTILES
    return [float(value) for value in np.exp(np.interp(wanted, middle, np.log(_SCALES)))]
