"""What was measured at the points of a run, upon its picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contend.axes import axis_value
from contend.plots.curves import line_styles

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from contend.axes import Curve
    from contend.results import PointResult

_MARKER = "\N{BLACK STAR}"


def has_measurements(points: Sequence[PointResult], unit: str) -> bool:
    """Whether there is anything to draw on an axis with this unit."""
    return any(_median(point) is not None and (point.measured or {}).get("unit") == unit for point in points)


def draw_measurements(axes: Axes, points: Sequence[PointResult], all_curves: Sequence[Curve], axis: str | None) -> None:
    """A star at each measured median, in its curve's colour, with the interval of the median where it has one."""
    if axis is None:
        _draw_stars(axes, points, [float(index) for index in range(len(points))], "white")
        return
    for curve, style in zip(all_curves, line_styles(list(all_curves)), strict=True):
        _draw_stars(axes, curve.points, [axis_value(point, axis) for point in curve.points], style["color"])


def measurements_label() -> str:
    """What the stars mean."""
    return f"{_MARKER} measured, with its 95 % interval"


def _draw_stars(axes: Axes, points: Sequence[PointResult], places: Sequence[float], colour: str) -> None:
    for point, place in zip(points, places, strict=True):
        median = _median(point)
        if median is None or point.measured is None:
            continue
        low, high = point.measured["interval"] or (median, median)
        axes.errorbar(
            [place], [median], yerr=[[max(0.0, median - low)], [max(0.0, high - median)]], fmt="*", markersize=12,
            markerfacecolor=colour, markeredgecolor="black", ecolor="black", elinewidth=1, capsize=2, zorder=5,
        )  # fmt: skip


def _median(point: PointResult) -> float | None:
    return point.measured.get("median") if point.measured is not None else None
