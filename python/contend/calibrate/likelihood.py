"""How well predictions agree with measurements.

A residual is the difference of logarithms over what it may be: the standard error of the measured median, the noise of
the simulation, and the model's own discrepancy, a share by which any model of this kind is off. Residuals follow
Student's t distribution with few degrees of freedom, so that one point that the model gets wrong for good (a mechanism
that it does not have) does not pull every parameter away.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import special

if TYPE_CHECKING:
    from contend.calibrate.problem import Vector

DEGREES_OF_FREEDOM = 4.0
# A usual discrepancy, as a standard deviation of logarithms: what effects are compared with.
DISCREPANCY = 0.05
# Scale of its prior, half of Student's t: most models are off by some percent, one that lacks a mechanism by factors.
DISCREPANCY_PRIOR = 0.1
LEAST_DISCREPANCY, LARGEST_DISCREPANCY = 1e-3, 3.0
_GRID = np.geomspace(LEAST_DISCREPANCY, LARGEST_DISCREPANCY, 33)
# What a simulation that failed counts as: an impossible miss, but a finite one.
_FAILED = 5.0


def log_prior(discrepancy: Vector) -> Vector:
    """Logarithm of the prior of the discrepancy, up to a constant."""
    half = (DEGREES_OF_FREEDOM + 1) / 2
    return np.asarray(-half * np.log1p((discrepancy / DISCREPANCY_PRIOR) ** 2 / DEGREES_OF_FREEDOM), dtype=float)


def misfit(predicted: Vector, measured: Vector, noise: Vector) -> Vector:
    """Minus the logarithm of the posterior density at the likeliest discrepancy, for each row of predictions.

    Args:
        predicted: Logarithms of predictions, [place, target].
        measured: Logarithms of measured medians.
        noise: Standard errors, of the measurement and of the simulation together.
    """
    best = np.full(len(predicted), -np.inf)
    for width in _GRID:
        widths = np.full(len(predicted), width)
        best = np.maximum(best, log_likelihood(predicted, measured, noise, widths) + log_prior(widths))
    return np.asarray(-best, dtype=float)


def log_likelihood(predicted: Vector, measured: Vector, noise: Vector, discrepancy: Vector) -> Vector:
    """Logarithm of the likelihood for each row of predictions, with its own discrepancy."""
    scale = np.sqrt(noise[None, :] ** 2 + discrepancy[:, None] ** 2)
    residual = np.nan_to_num(predicted - measured[None, :], nan=_FAILED, posinf=_FAILED, neginf=-_FAILED) / scale
    half = (DEGREES_OF_FREEDOM + 1) / 2
    constant = special.gammaln(half) - special.gammaln(DEGREES_OF_FREEDOM / 2) - np.log(np.pi * DEGREES_OF_FREEDOM) / 2
    terms = constant - np.log(scale) - half * np.log1p(residual**2 / DEGREES_OF_FREEDOM)
    return np.asarray(terms.sum(axis=1), dtype=float)
