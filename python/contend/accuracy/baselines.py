"""Simpler models that a simulation has to beat: fitted per curve to the same points that the calibration had.

- The universal scalability law (Gunther): rate(n) = l n / (1 + s (n - 1) + k n (n - 1)).
- One serial lock: n threads with work of their own and one serial part, in the limit of a closed queue:
  rate(n) = min(n / (z + d), 1 / d).

A law is fitted to no curve with fewer numbers of threads than say what its parameters are: with one to none; with two
the universal law is Amdahl's (k = 0), and with three it has all of them. A curve that no law is fitted to takes the
parameters of the nearest one of the same machine, library, transport and design: by window and size of the messages.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np
from scipy.optimize import least_squares

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contend.calibrate.problem import Vector

Model: TypeAlias = Callable[["Vector", "Vector"], "Vector"]


class CurvePoint(Protocol):
    """What a baseline looks at: a measured median at a number of threads, and where its curve belongs."""

    @property
    def threads(self) -> int:
        """Pairs or threads; 0 where there is no such thing."""

    @property
    def measured(self) -> float:
        """The median, in the metric's unit."""

    @property
    def is_time(self) -> bool:
        """Whether the metric is a time, whose reciprocal is a rate of each thread."""

    @property
    def held_out(self) -> bool:
        """Whether the calibration did not use it."""

    @property
    def curve(self) -> tuple[str, ...]:
        """What the points of a curve have in common."""

    @property
    def family(self) -> tuple[str, ...]:
        """What curves have in common that may lend each other their parameters."""

    @property
    def messages(self) -> tuple[float, float]:
        """Window and size of the messages, as logarithms to base 2: by these curves of a family are near or far."""


def usl(n: Vector, logs: Vector) -> Vector:
    """Logarithm of the rate by the universal scalability law; `logs` are logarithms of l, s and k."""
    rate, contention, coherence = np.exp(logs)
    return np.asarray(np.log(rate * n) - np.log1p(contention * (n - 1) + coherence * n * (n - 1)), dtype=float)


def serial_lock(n: Vector, logs: Vector) -> Vector:
    """Logarithm of the rate with one lock; `logs` are logarithms of d and z."""
    serial, own = np.exp(logs)
    return np.asarray(np.log(np.minimum(n / (own + serial), 1 / serial)), dtype=float)


MODELS: dict[str, Model] = {"usl": usl, "serial_lock": serial_lock}


# Numbers of threads that a law needs: two parameters of either are told apart by two.
_FEWEST = 2
_NO_COHERENCE = -math.inf


def fit_curve(model: Model, n: Sequence[float], rate: Sequence[float]) -> Vector | None:
    """The least squares of logarithms, the best of several starts; None where there are too few numbers of threads."""
    counts = len(set(n))
    if counts < _FEWEST:
        return None
    x, y = np.asarray(n, dtype=float), np.log(np.asarray(rate, dtype=float))
    first = math.exp(float(y[0])) / x[0]
    is_amdahl = model is usl and counts == _FEWEST
    if is_amdahl:
        starts = [[math.log(first), s] for s in (-5.0, -1.0, 1.0)]
        low, high = np.array([-np.inf, -25.0]), np.array([np.inf, 12.0])
    elif model is usl:
        starts = [[math.log(first), s, k] for s in (-5.0, -1.0, 1.0) for k in (-9.0, -4.0, -1.0)]
        low, high = np.array([-np.inf, -25.0, -25.0]), np.array([np.inf, 12.0, 12.0])
    else:
        starts = [[-math.log(first) - a, -math.log(first)] for a in (-1.0, 0.5, 2.0)]
        low, high = np.full(2, -60.0), np.full(2, 60.0)

    def of(p: Vector) -> Vector:
        return np.append(p, _NO_COHERENCE) if is_amdahl else p

    best: tuple[float, Vector] | None = None
    for start in starts:
        # A weak pull to the start settles what points on a straight line leave open.
        found = least_squares(
            lambda p, s=start: np.concatenate([model(x, of(p)) - y, 1e-3 * (p - s)]), start, bounds=(low, high)
        )
        if best is None or found.cost < best[0]:
            best = (float(found.cost), of(np.asarray(found.x, dtype=float)))
    assert best is not None  # noqa: S101 - for the type checker
    return best[1]


def baseline(model: Model, points: Sequence[CurvePoint]) -> dict[int, float]:
    """Predictions of one model for held-out points, by their index. Points that no fitted curve is near have none."""
    curves: dict[tuple[str, ...], list[int]] = {}
    for index, point in enumerate(points):
        curves.setdefault(point.curve, []).append(index)
    fits: dict[tuple[str, ...], Vector] = {}
    for key, members in curves.items():
        known = [points[i] for i in members if not points[i].held_out and points[i].threads > 0]
        fit = fit_curve(model, [p.threads for p in known], [_as_rate(p, p.measured) for p in known])
        if fit is not None:
            fits[key] = fit
    fitted = [(points[curves[key][0]], fit) for key, fit in fits.items()]
    predictions = {}
    for key, members in curves.items():
        nearest = fits[key] if key in fits else _nearest(points[members[0]], fitted)
        if nearest is None:
            continue
        for index in members:
            if points[index].held_out and points[index].threads > 0:
                rate = float(np.exp(model(np.array([float(points[index].threads)]), nearest))[0])
                predictions[index] = _as_rate(points[index], rate)
    return predictions


def _as_rate(point: CurvePoint, value: float) -> float:
    """The laws are of all threads' rate. A time is that of each thread's turn: n of them in it are the rate."""
    return point.threads / value if point.is_time else value


def _nearest(point: CurvePoint, fitted: Sequence[tuple[CurvePoint, Vector]]) -> Vector | None:
    """The parameters of the nearest curve of a point's family; None if it has none."""
    family = [(math.dist(point.messages, other.messages), fit) for other, fit in fitted if other.family == point.family]
    return min(family, key=lambda one: one[0])[1] if family else None
