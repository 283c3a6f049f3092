"""The picture of samples of a space of designs: the measure over each parameter that was drawn, one panel each."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING

from matplotlib import rc_context

from contend.common.quantities import parse_quantity
from contend.common.spelling import value_text
from contend.plots.curves import set_scale, value_of
from contend.plots.style import STYLE, Picture
from contend.plots.ticks import are_whole, tick_formatter
from contend.results.measures import main_measure
from contend.scenarios.axes import axis_value, curves, is_number, x_axis

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from contend.results.results import PointResult, Results
    from contend.scenarios.axes import Located

# As many points alone could be a grid of one value each; more of them are a cloud.
_FEWEST = 5
_IN_A_ROW = 3
_LOG_ABOVE = 10.0
_FEW_POWERS = 1000.0
_TITLE_WIDTH = 100  # characters


def _varying(points: Sequence[Located]) -> list[str]:
    return [name for name in points[0].parameters if len({str(point.parameters[name]) for point in points}) > 1]


def _is_measured(points: Sequence[Located], name: str) -> bool:
    values = [point.parameters[name] for point in points]
    return all(is_number(value) or parse_quantity(value) is not None for value in values)


def are_samples(points: Sequence[PointResult]) -> bool:
    """Whether points differ in several numbers at once, so that no two of them make a curve."""
    if len(points) < _FEWEST:
        return False
    numbers = [name for name in _varying(points) if _is_measured(points, name)]
    return len(numbers) > 1 and all(len(curve.points) == 1 for curve in curves(points, x_axis(points)))


def _draw_panel(axes: Axes, points: Sequence[PointResult], name: str, measure: str, group: str | None) -> None:
    """One parameter; what is not a number has its values side by side."""
    from matplotlib.ticker import EngFormatter, LogLocator, MaxNLocator, NullFormatter

    words = list(dict.fromkeys(value_text(point.parameters[name]) for point in points))
    is_measured = _is_measured(points, name)
    kinds = list(dict.fromkeys(value_text(point.parameters[group]) for point in points)) if group else [""]
    for number, kind in enumerate(kinds):
        chosen = [point for point in points if group is None or value_text(point.parameters[group]) == kind]
        x = [
            axis_value(point, name) if is_measured else words.index(value_text(point.parameters[name]))
            for point in chosen
        ]
        values = [value_of(point, measure) for point in chosen]
        colour = f"C{number % 10}"
        axes.vlines(x, [max(0.0, v[1]) for v in values], [v[2] for v in values], color=colour, alpha=0.35, lw=1.5)
        axes.plot(x, [v[0] for v in values], "o", color=colour, markersize=4, label=kind)
    axes.set_xlabel(name.replace("_", " "))
    if not is_measured:
        axes.set_xticks(range(len(words)), words)
        axes.set_xlim(-0.5, len(words) - 0.5)
        return
    every = [axis_value(point, name) for point in points]
    if min(every) > 0 and max(every) / min(every) > _LOG_ABOVE:
        axes.set_xscale("log")
        axes.xaxis.set_minor_formatter(NullFormatter())
        if max(every) / min(every) < _FEW_POWERS:  # else a label or two for the whole axis
            axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            axes.xaxis.set_minor_locator(LogLocator(subs="all"))
    elif are_whole(every):
        axes.xaxis.set_major_locator(MaxNLocator("auto", steps=[1, 2, 5, 10], integer=True))
    quantity = parse_quantity(points[0].parameters[name])
    axes.xaxis.set_major_formatter(EngFormatter(quantity.unit) if quantity is not None else tick_formatter(""))


def draw_samples(results: Results) -> Picture:
    """Draws the measure over each parameter.

    Colours tell the values of the first parameter that is no number apart.

    Args:
        results: A run whose points are samples; see are_samples.
    """
    points = results.points
    names = _varying(points)
    measure = main_measure(results)
    group = next((name for name in names if not _is_measured(points, name)), None)
    rows = math.ceil(len(names) / _IN_A_ROW)
    columns = min(len(names), _IN_A_ROW)
    with rc_context(STYLE):
        figure = Picture(figsize=(10.4, 0.9 + 3.2 * rows), layout="constrained")
        panels = figure.subplots(rows, columns, squeeze=False, sharey=True).ravel()
        for axes, name in zip(panels, names, strict=False):
            _draw_panel(axes, points, name, measure.name, group)
        for axes in panels[len(names) :]:
            axes.set_visible(False)
        for axes in panels[::columns]:
            axes.set_ylabel(measure.axis_title)
        set_scale(panels[0], [value_of(point, measure.name)[0] for point in points], measure.short_unit)
        interval = ", mean and 95 % confidence interval" if any(point.replications > 1 for point in points) else ""
        title = [f"{results.title}: {len(points)} samples{interval}", *textwrap.wrap(results.changes, _TITLE_WIDTH)]
        figure.suptitle("\n".join(title), fontsize="large", fontweight="bold")
        if group is not None:
            figure.legend(
                *panels[0].get_legend_handles_labels(), title=group.replace("_", " "), fontsize="small", ncols=4,
                loc="outside lower center",
            )  # fmt: skip
        return figure
