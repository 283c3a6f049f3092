"""Many curves in small panels: what differs within a panel has colours and lines, what differs between them a title."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from contend.common.spelling import value_text
from contend.plots.curves import add_outside_legend, draw_curves, draw_study, is_wide, legend_height, set_scale
from contend.plots.measurements import draw_measurements

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import SubFigure

    from contend.plots.curves import ValueOf
    from contend.plots.panels import Panel, Panels
    from contend.plots.study import StudyPoint
    from contend.results.measures import Measure

# Of a row of panels, and of the titles above all and the name of the axis below, in inches.
_ROW, _AROUND = 1.9, 0.8
# Beside the last point of a panel, as a share of its width: a star stands to the right of it.
_STARS_MARGIN = 0.12
# Characters of the titles of a row.
_TITLES_WIDTH = 150


def small_panels_height(panels: Panels) -> float:
    """How high they are together, with their legend, in inches."""
    rows = -(-len(panels.shown) // panels.columns)
    return _ROW * rows + _AROUND + legend_height([curve.label for curve in panels.keys])


def draw_small_panels(
    figure: SubFigure,
    panels: Panels,
    axis: str,
    measure: Measure,
    value: ValueOf,
    *,
    measured: Sequence[StudyPoint] = (),
    with_stars: bool = False,
) -> None:
    """Curves of a measure, with equal axes in all panels and one legend.

    Args:
        figure: Where to draw.
        panels: What to draw.
        axis: The parameter on the horizontal axes.
        measure: On the vertical axes.
        value: What of it is drawn at a point; see draw_curves.
        measured: What the study behind the scenario reports.
        with_stars: Whether points have measurements to draw.
    """
    keys = panels.keys
    points = [point for panel in panels.shown for curve in panel.curves for point in curve.points]
    values = [value(point, measure.name)[0] for point in points]
    rows = -(-len(panels.shown) // panels.columns)
    places = figure.subplots(rows, panels.columns, squeeze=False, sharex=True, sharey=True).ravel()
    tops = []
    for axes, panel in zip(places, panels.shown, strict=False):
        draw_curves(axes, panel.curves, axis, measure.name, value, among=keys)
        draw_study(axes, measured, panel.curves, axis, among=keys)
        if with_stars:
            draw_measurements(axes, points, panel.curves, axis, among=keys)
            axes.margins(x=_STARS_MARGIN)
        set_scale(axes, values, measure.short_unit)
        tops.append(axes.get_ylim()[1])
        axes.set_xlabel("")
        axes.set_title(_title(panel, _TITLES_WIDTH // panels.columns), fontsize="small")
    for axes in places[len(panels.shown) :]:
        axes.set_visible(False)
    # The lowest panel of each column names the axis.
    for axes in places[max(0, len(panels.shown) - panels.columns) : len(panels.shown)]:
        axes.set_xlabel(axis.replace("_", " "))
        axes.tick_params(labelbottom=True)
    if not is_wide(values):
        places[0].set_ylim(0, max(tops))
    figure.supylabel(measure.axis_title, fontsize="medium")
    found = {line.get_label(): line for axes in places for line in axes.get_lines()}
    if len(keys) > 1:
        add_outside_legend(figure, [found[curve.label] for curve in keys])


def _title(panel: Panel, width: int) -> str:
    """What the curves of a panel have alike, in lines of so many characters; quantities stay in one line."""
    values = [f"{name}={value_text(value)}" for name, value in panel.parameters.items()]
    lines = textwrap.wrap(", ".join(value.replace(" ", "\N{NO-BREAK SPACE}") for value in values), width)
    return "\n".join(lines)
