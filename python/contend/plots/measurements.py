"""What was measured at the points of a run, upon its picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.transforms import ScaledTranslation

from contend.plots.curves import line_styles, value_of
from contend.scenarios.axes import axis_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from contend.results.results import PointResult
    from contend.scenarios.axes import Curve

_MARKER = "\N{BLACK STAR}"
# How far to the right of its point a star stands, in points.
_BESIDE = 9.0
_POINTS_PER_INCH = 72.0


def has_measurements(points: Sequence[PointResult], unit: str) -> bool:
    """Whether there is anything to draw on an axis with this unit."""
    return any(_median(point) is not None and (point.measured or {}).get("unit") == unit for point in points)


def predicted_value(point: PointResult, measure: str) -> tuple[float, float, float]:
    """What is predicted for a measured point, as the table has it, with the least and the largest simulated sample.

    A point that stands for nothing measured has its mean and interval.
    """
    predicted = (point.measured or {}).get("predicted")
    estimate = point.estimates.get(measure)
    if predicted is None or estimate is None:
        return value_of(point, measure)
    ends = (predicted, *estimate.samples)
    return predicted, min(ends), max(ends)


def draw_measurements(
    axes: Axes,
    points: Sequence[PointResult],
    all_curves: Sequence[Curve],
    axis: str | None,
    among: Sequence[Curve] = (),
) -> None:
    """A star at each measured median, in its curve's colour, with the interval of the median where it has one.

    It stands beside its point: upon it, the bar of the prediction would be taken for the interval of the measurement.

    Args:
        axes: Where to draw.
        points: The points, which stand side by side where there is no axis.
        all_curves: The curves that they make where there is one.
        axis: The parameter on the horizontal axis.
        among: See line_styles.
    """
    if axis is None:
        _draw_stars(axes, points, [float(index) for index in range(len(points))], "white")
        return
    for curve, style in zip(all_curves, line_styles(all_curves, among), strict=True):
        _draw_stars(axes, curve.points, [axis_value(point, axis) for point in curve.points], style["color"])


def measurements_label(points: Sequence[PointResult]) -> str:
    """What the stars mean."""
    return f"{_MARKER} measured{interval_words(points, 'its 95 % interval')}; drawn to the right of its point"


def predictions_label(points: Sequence[PointResult]) -> str:
    """What the curves or bars are."""
    several = any(point.replications > 1 for point in points)
    return "predicted: median of samples" + (", range of those simulated" if several else "")


def interval_words(points: Sequence[PointResult], interval: str) -> str:
    """Whether stars have an interval, as words after "measured".

    Args:
        points: Some of them measured.
        interval: What it is called.
    """
    known = [point.measured.get("interval") is not None for point in points if point.measured and _median(point)]
    if not any(known):
        return ""
    return f", with {interval}" + ("" if all(known) else " where that is known")


def _draw_stars(axes: Axes, points: Sequence[PointResult], places: Sequence[float], colour: str) -> None:
    figure = axes.get_figure(root=True)
    assert figure is not None  # noqa: S101 - it is being drawn
    beside = axes.transData + ScaledTranslation(_BESIDE / _POINTS_PER_INCH, 0.0, figure.dpi_scale_trans)
    for point, place in zip(points, places, strict=True):
        median = _median(point)
        if median is None or point.measured is None:
            continue
        interval = point.measured["interval"]
        if interval is not None:
            low, high = interval
            axes.errorbar(
                [place], [median], yerr=[[max(0.0, median - low)], [max(0.0, high - median)]], fmt="none",
                ecolor="black", elinewidth=1, capsize=3, zorder=5, transform=beside,
            )  # fmt: skip
        axes.plot(
            [place], [median], "*", markersize=12, markerfacecolor=colour, markeredgecolor="black", zorder=6,
            transform=beside,
        )  # fmt: skip
        # What is shifted does not count for the limits of its own accord.
        axes.update_datalim([(place, value) for value in (median, *(interval or ()))])


def _median(point: PointResult) -> float | None:
    return point.measured.get("median") if point.measured is not None else None
