"""Points relative to others of their curve."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from contend.accuracy.curves import count_of
from contend.accuracy.interval import interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contend.accuracy.predicted import Predicted
    from contend.datasets.dataset import MeasuredPoint

_NORMAL_95 = 1.959964


def as_ratios(points: Sequence[Predicted], seed: int = 1) -> list[Predicted]:
    """Points relative to the first one of their curve, which is left out: for machines that are not fully known.

    A curve is over threads, from the fewest, in whatever order the dataset has them, without threads over requests or
    partitions; or over whatever else the points differ in that are of one "series" by their parameters, in that order.
    A draw of a ratio is a ratio of equal draws. The measured interval of a ratio has the errors of both medians; it has
    none where one of them has none.
    """
    curves: dict[tuple[str, ...], list[Predicted]] = {}
    for point in points:
        series = point.point.parameters.get("series")
        named = (point.dataset.machine_id, point.dataset.name, str(series))
        curves.setdefault(point.curve if series is None else named, []).append(point)
    found = []
    for curve in curves.values():
        is_series = "series" in curve[0].point.parameters
        first = curve[0] if is_series else min(curve, key=_count)
        for point in (one for one in curve if one is not first):
            error = math.hypot(point.point.log_error, first.point.log_error)
            median = point.median / first.median
            drawn = np.array(point.draws) / np.array(first.draws) if point.draws else np.empty(0)
            low, high = interval(median, drawn, [math.sqrt(2) * one for one in point.discrepancy], error, seed)
            relative = _relative(point.point, first.point, error)
            found.append(replace(point, point=relative, median=median, low=low, high=high, draws=tuple(drawn)))
    return found


def _count(point: Predicted) -> int:
    """Where on its curve a point is."""
    return count_of({"threads": point.threads, "parameters": point.point.parameters})


def _relative(point: MeasuredPoint, first: MeasuredPoint, error: float) -> MeasuredPoint:
    """A measured point over the first one of its curve. `error`: of the ratio's logarithm."""
    spread, reference = point.spread, first.median
    assert spread is not None  # noqa: S101 - for the type checker
    ratio = spread.median / reference
    beyond = math.exp(_NORMAL_95 * error)
    scaled = replace(
        spread,
        median=ratio,
        quartiles=(spread.quartiles[0] / reference, spread.quartiles[1] / reference),
        ci95=None if None in {point.interval, first.interval} else (ratio / beyond, ratio * beyond),
    )
    samples = tuple(sample / reference for sample in point.samples)
    return replace(point, unit="ratio to the first point", samples=samples, spread=scaled)
