"""An emulator of the simulator near the best fit: a Gaussian process upon a linear trend, for each group of targets.

Targets that depend on the same parameters, and that the simulator could give at the same places, share a process. One
that it could give nowhere has none, and no prediction. Its error is measured, not believed: on places that it
was not trained on, simulated for this.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from contend.calibrate.problem import Problem, Vector

# Cubic cost: more training places than this make the fit slow and the emulator no better near the best fit.
MOST_TRAINING = 300


@dataclass
class _Group:
    """Targets with the same parameters: their columns, the parameters, trend and process."""

    columns: list[int]
    inputs: list[int]
    trend: Vector
    variance: float
    lengths: Vector
    training: Vector
    weights: Vector

    def predict(self, places: Vector) -> Vector:
        """The process' mean upon the trend. A chain asks millions of times, so the kernel is written out."""
        inputs = places[:, self.inputs]
        scaled = inputs / self.lengths
        square = (scaled**2).sum(axis=1)[:, None] + (self.training**2).sum(axis=1)[None, :]
        kernel = self.variance * np.exp(np.minimum(scaled @ self.training.T - square / 2, 0.0))
        return np.asarray(_design(inputs) @ self.trend + kernel @ self.weights, dtype=float)


def _design(inputs: Vector) -> Vector:
    return np.hstack([np.ones((len(inputs), 1)), inputs])


class Emulator:
    """Predicts logarithms of rates at places of the cube, with a standard error for each target."""

    def __init__(self, problem: Problem, places: Vector, predictions: Vector, seed: int = 0) -> None:
        """Trains.

        Args:
            problem: Says which parameters each target depends on.
            places: Places in the cube, [place, parameter].
            predictions: What the simulator gave there, [place, target]; NaN where it failed.
            seed: Of the optimiser of the processes.
        """
        usable = np.isfinite(predictions)
        # Of the target with the fewest.
        self.training_places = int(usable.sum(axis=0).min())
        self._targets = len(problem.targets)
        self._groups = []
        for (inputs, _), columns in _grouped(problem, usable).items():
            rows = usable[:, columns[0]]
            if rows.any():
                self._groups.append(_train(columns, list(inputs), places[rows], predictions[rows], seed))
        self.errors: Vector = np.zeros(self._targets)

    def predict(self, places: Vector) -> Vector:
        """Logarithms of predictions, [place, target]; NaN for a target that the simulator could give nowhere."""
        found = np.full((len(places), self._targets), np.nan)
        for group in self._groups:
            found[:, group.columns] = group.predict(places)
        return found

    def check(self, places: Vector, predictions: Vector) -> Vector:
        """Measures the error on places that it was not trained on, and keeps it as each target's standard error.

        Returns:
            The root of the mean squared error of each target; infinite where the simulator gave nothing to compare.
        """
        squares = (self.predict(places) - predictions) ** 2
        usable = np.isfinite(squares)
        means = np.where(usable, squares, 0.0).sum(axis=0) / np.maximum(usable.sum(axis=0), 1)
        self.errors = np.asarray(np.where(usable.any(axis=0), np.sqrt(means), np.inf), dtype=float)
        return self.errors


def _grouped(problem: Problem, usable: Vector) -> dict[tuple[tuple[int, ...], bytes], list[int]]:
    groups: dict[tuple[tuple[int, ...], bytes], list[int]] = {}
    for column, target in enumerate(problem.targets):
        key = (tuple(sorted(target.unknowns)), usable[:, column].tobytes())
        groups.setdefault(key, []).append(column)
    return groups


def _train(columns: list[int], inputs: list[int], places: Vector, predictions: Vector, seed: int) -> _Group:
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    x = places[:, inputs]
    y = predictions[:, columns]
    if not inputs:  # nothing that is fitted acts on these targets
        x = np.zeros((len(places), 1))
    trend: Vector = np.asarray(np.linalg.lstsq(_design(x), y, rcond=None)[0], dtype=float)
    rest = y - _design(x) @ trend
    scale = np.maximum(rest.std(axis=0), 1e-9)
    kernel = ConstantKernel(1.0, (1e-3, 1e4)) * RBF(np.full(x.shape[1], 0.5), (0.02, 30.0)) + WhiteKernel(
        1e-2, (1e-7, 1.0)
    )
    process = GaussianProcessRegressor(kernel, random_state=seed, n_restarts_optimizer=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a length scale at its bound is an answer: the target does not depend on it
        process.fit(x, rest / scale)
    weights = np.asarray(process.alpha_, dtype=float).reshape(len(x), -1) * scale
    smooth = process.kernel_.k1
    lengths = np.full(x.shape[1], 1.0) * np.asarray(smooth.k2.length_scale, dtype=float)
    return _Group(columns, inputs or [0], trend, float(smooth.k1.constant_value), lengths, x / lengths, weights)
