"""The picture of a run: message rate over the first swept number, and where the time went."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING, Any

from matplotlib import rc_context
from matplotlib.ticker import NullFormatter

from contend.axes import axis_value, curves, x_axis
from contend.measures import ESTIMATED, RATE, main_measure
from contend.plots.budget import budget_points, draw_budgets, roles_of
from contend.plots.curves import (
    add_legend,
    draw_bars,
    draw_curves,
    draw_study,
    from_zero,
    legend_height,
    line_styles,
    only_point,
    set_scale,
    set_x_axis,
    study_label,
    value_of,
)
from contend.plots.measurements import (
    draw_measurements,
    has_measurements,
    measurements_label,
    predicted_value,
    predictions_label,
)
from contend.plots.samples import are_samples, draw_samples
from contend.plots.style import STYLE, Picture, figure_bytes
from contend.plots.ticks import tick_formatter
from contend.study import study_points
from contend.workload_words import words_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import SubFigure

    from contend.axes import Curve
    from contend.results import PointResult, Results
    from contend.study import StudyPoint

# Of the curves without their legend, in inches.
_RATE_HEIGHT = 4.2
# Characters of a line that says what was changed, and how high the small titles below it are, in points.
_CHANGES_WIDTH = 130
_SMALL_TITLE = 19


def _draw_counters(
    figure: SubFigure, measured: list[StudyPoint], names: list[str], all_curves: list[Curve], axis: str
) -> None:
    """Counters over messages received, with what the study reports, one panel each."""
    panels = figure.subplots(1, len(names), squeeze=False)[0]
    for panel, name in zip(panels, names, strict=True):
        for curve, style in zip(all_curves, line_styles(all_curves), strict=True):
            x = [axis_value(point, axis) for point in curve.points]
            values = [point.counters[name] / point.counters["messages_received"] for point in curve.points]
            panel.plot(x, values, markersize=4, **style)
            set_x_axis(panel, x)
        draw_study(panel, measured, all_curves, axis, name)
        from_zero(panel)
        panel.set_xlabel(axis.replace("_", " "))
        words = name.removesuffix("_ns").replace("_", " ")
        panel.set_ylabel(f"{words} (ns per message)" if name.endswith("_ns") else f"{words} (of all messages)")


def _set_title(axes: Axes, results: Results) -> None:
    """The name above the small titles at both sides, and between them what was changed in the scenario."""
    changes = textwrap.wrap(results.changes, _CHANGES_WIDTH)
    axes.set_title(results.title + "\n" * (1 + len(changes)), fontsize="large", fontweight="bold")
    if changes:
        axes.annotate(
            "\n".join(changes), (0.5, 1.0), xytext=(0, _SMALL_TITLE), xycoords="axes fraction",
            textcoords="offset points", ha="center", va="bottom", fontsize="small",
        )  # fmt: skip


def _add_bandwidth(axes: Axes, points: Sequence[PointResult]) -> None:
    """The bandwidth at the right of a rate's axis, where all messages have the same payload."""
    found = [(point.mean_of(RATE), point.mean_of("bandwidth")) for point in points]
    shares = [bandwidth / rate for rate, bandwidth in found if rate and bandwidth]
    if len(shares) < len(found) or not math.isclose(min(shares), max(shares)):
        return
    share = shares[0]

    def bandwidth_of(rate: Any) -> Any:  # noqa: ANN401 - a number or an array
        return rate * share

    def rate_of(bandwidth: Any) -> Any:  # noqa: ANN401 - a number or an array
        return bandwidth / share

    right = axes.secondary_yaxis("right", functions=(bandwidth_of, rate_of))
    if axes.get_yscale() == "log":
        right.yaxis.set_minor_formatter(NullFormatter())
    right.yaxis.set_major_formatter(tick_formatter(ESTIMATED["bandwidth"]))
    right.set_ylabel(f"bandwidth ({ESTIMATED['bandwidth']})")


def draw(results: Results) -> Picture:
    """Draws the picture of a run: curves, or where its points are samples of a space the measure over each parameter.

    Args:
        results: A run with at least one point.
    """
    points = results.points
    if are_samples(points):
        return draw_samples(results)
    axis = x_axis(points)
    all_curves = curves(points, axis)
    measure = main_measure(results)
    roles = roles_of(points)
    measured = [
        item for item in study_points(results.scenario) if any(item.is_of(point.parameters) for point in points)
    ]
    known = {name for item in measured for name in item.per_message}
    counters = [name for name in points[0].counters if name in known] if axis is not None else []
    bars = len(budget_points(all_curves, axis)[0])
    heights = {
        "rate": _RATE_HEIGHT + legend_height([curve.label for curve in all_curves]),
        "counters": 2.6 if counters else 0.0,
        "budgets": 1.5 + 0.18 * max(4, bars) if roles else 0.0,
    }
    heights = {name: height for name, height in heights.items() if height > 0}
    with rc_context(STYLE):
        figure = Picture(figsize=(10.4, sum(heights.values())), layout="constrained")
        parts = figure.subfigures(len(heights), 1, height_ratios=list(heights.values()), squeeze=False)[:, 0]
        part = dict(zip(heights, parts, strict=True))
        rate = part["rate"].subplots()
        is_measured = has_measurements(points, measure.short_unit)
        value = predicted_value if is_measured else value_of
        if axis is None:
            draw_bars(rate, points, measure.name, value, only_point(results))
        else:
            draw_curves(rate, all_curves, axis, measure.name, value)
            if measure.name == RATE:
                draw_study(rate, measured, all_curves, axis)
            add_legend(rate)
        if is_measured:
            draw_measurements(rate, points, all_curves, axis)
            rate.set_title(measurements_label(points), fontsize="small", loc="left")
        set_scale(rate, [value(point, measure.name)[0] for point in points], measure.short_unit)
        rate.set_ylabel(measure.axis_title)
        if measure.name == RATE:
            _add_bandwidth(rate, points)
        _set_title(rate, results)
        if measured and axis is not None:
            rate.set_title(study_label(measured), fontsize="small", loc="left")
        if is_measured:
            rate.set_title(predictions_label(points), fontsize="small", loc="right")
        elif any(point.replications > 1 for point in points):
            rate.set_title("mean, 95 % confidence interval", fontsize="small", loc="right")
        if counters and axis is not None:
            _draw_counters(part["counters"], measured, counters, all_curves, axis)
        if roles:
            draw_budgets(part["budgets"], all_curves, axis, roles, words_of(results.scenario.get("workload", {})))
        return figure


def picture_bytes(results: Results) -> dict[str, bytes]:
    """The picture in both formats: {"png": ..., "svg": ...}; the same results give the same bytes."""
    return figure_bytes(draw(results))
