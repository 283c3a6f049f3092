"""The picture of a run: message rate over the first swept number, and where the time went."""

from __future__ import annotations

import math
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from matplotlib import rc_context
from matplotlib.ticker import NullFormatter

from contend.plots.budget import budget_points, draw_budgets, few_curves, roles_of
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
from contend.plots.panels import arranged
from contend.plots.samples import are_samples, draw_samples
from contend.plots.small import draw_small_panels, small_panels_height
from contend.plots.study import study_points
from contend.plots.style import STYLE, Picture, figure_bytes
from contend.plots.ticks import tick_formatter
from contend.results.measures import ESTIMATED, RATE, main_measure
from contend.scenarios.axes import axis_value, curves, x_axis

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import SubFigure

    from contend.plots.curves import ValueOf
    from contend.plots.panels import Panels
    from contend.plots.study import StudyPoint
    from contend.results.measures import Measure
    from contend.results.results import PointResult, Results
    from contend.scenarios.axes import Curve

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
        draw_study(panel, measured, all_curves, axis, counter=name)
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


@dataclass(frozen=True)
class _Content:
    """What the picture of a run shows."""

    results: Results
    axis: str | None
    all_curves: list[Curve]
    measure: Measure
    measured: list[StudyPoint]
    """What the study behind the scenario reports."""
    has_stars: bool
    """Whether points have measurements."""

    @property
    def value(self) -> ValueOf:
        """What is drawn of a measure at a point."""
        return predicted_value if self.has_stars else value_of

    @property
    def left_words(self) -> str:
        """What stars mean; empty if there are none."""
        if self.measured and self.axis is not None:
            return study_label(self.measured)
        return measurements_label(self.results.points) if self.has_stars else ""

    @property
    def right_words(self) -> str:
        """What curves or bars are."""
        if self.has_stars:
            return predictions_label(self.results.points)
        several = any(point.replications > 1 for point in self.results.points)
        return "mean, 95 % confidence interval" if several else ""


def _content(results: Results) -> _Content:
    points = results.points
    axis = x_axis(points)
    measure = main_measure(results)
    measured = [
        item for item in study_points(results.scenario) if any(item.is_of(point.parameters) for point in points)
    ]
    has_stars = has_measurements(points, measure.short_unit)
    return _Content(results, axis, curves(points, axis), measure, measured, has_stars)


def _draw_rate(figure: SubFigure, content: _Content) -> None:
    """All curves in one panel, or all points side by side."""
    points, axis, measure = content.results.points, content.axis, content.measure
    rate = figure.subplots()
    if axis is None:
        draw_bars(rate, points, measure.name, content.value, only_point(content.results))
    else:
        draw_curves(rate, content.all_curves, axis, measure.name, content.value)
        if measure.name == RATE:
            draw_study(rate, content.measured, content.all_curves, axis)
        add_legend(rate)
    if content.has_stars:
        draw_measurements(rate, points, content.all_curves, axis)
    set_scale(rate, [content.value(point, measure.name)[0] for point in points], measure.short_unit)
    rate.set_ylabel(measure.axis_title)
    if measure.name == RATE:
        _add_bandwidth(rate, points)
    _set_title(rate, content.results)
    if content.left_words:
        rate.set_title(content.left_words, fontsize="small", loc="left")
    if content.right_words:
        rate.set_title(content.right_words, fontsize="small", loc="right")


def _draw_small_rates(picture: Picture, figure: SubFigure, content: _Content, panels: Panels) -> None:
    """Many curves, in panels."""
    assert content.axis is not None  # noqa: S101 - there are curves
    draw_small_panels(
        figure, panels, content.axis, content.measure, content.value,
        measured=content.measured if content.measure.name == RATE else (), with_stars=content.has_stars,
    )  # fmt: skip
    picture.suptitle(content.results.title, fontsize="large", fontweight="bold")
    changes = textwrap.wrap(content.results.changes, _CHANGES_WIDTH)
    words = "; ".join(filter(None, (panels.extent, content.right_words, content.left_words)))
    figure.suptitle("\n".join([*changes, words]), fontsize="small")


def draw(results: Results) -> Picture:
    """Draws the picture of a run: curves, or where its points are samples of a space the measure over each parameter.

    Too many curves for one panel are in several; see `contend.plots.panels`.

    Args:
        results: A run with at least one point.
    """
    points = results.points
    if are_samples(points):
        return draw_samples(results)
    content = _content(results)
    axis, all_curves = content.axis, content.all_curves
    roles = roles_of(points)
    panels = arranged(all_curves) if axis is not None else None
    known = {name for item in content.measured for name in item.per_message}
    has_counters = axis is not None and panels is None
    counters = [name for name in points[0].counters if name in known] if has_counters else []
    with_bars, which = few_curves(all_curves, content.measure)
    bars = len(budget_points(with_bars, axis)[0])
    one_panel = _RATE_HEIGHT + legend_height([curve.label for curve in all_curves])
    heights = {
        "rate": one_panel if panels is None else small_panels_height(panels),
        "counters": 2.6 if counters else 0.0,
        "budgets": 1.5 + 0.18 * max(4, bars) if roles else 0.0,
    }
    heights = {name: height for name, height in heights.items() if height > 0}
    with rc_context(STYLE):
        figure = Picture(figsize=(10.4, sum(heights.values())), layout="constrained")
        parts = figure.subfigures(len(heights), 1, height_ratios=list(heights.values()), squeeze=False)[:, 0]
        part = dict(zip(heights, parts, strict=True))
        if panels is None:
            _draw_rate(part["rate"], content)
        else:
            _draw_small_rates(figure, part["rate"], content, panels)
        if counters and axis is not None:
            _draw_counters(part["counters"], content.measured, counters, all_curves, axis)
        if roles:
            words = results.words
            draw_budgets(part["budgets"], with_bars, axis, roles, words, which=which)
        return figure


def left_out(results: Results) -> list[str]:
    """What a reader of the picture of a run has to know where it does not show all curves, in sentences."""
    points = results.points
    axis = x_axis(points)
    if axis is None or are_samples(points):
        return []
    panels = arranged(curves(points, axis))
    return [f"the picture shows {panels.extent}"] if panels is not None and panels.drawn < panels.total else []


def picture_bytes(results: Results) -> dict[str, bytes]:
    """The picture in both formats: {"png": ..., "svg": ...}; the same results give the same bytes."""
    return figure_bytes(draw(results))
