"""The picture of a validation that has its curves, measured and predicted, and the points that are alone on theirs."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
from matplotlib import rc_context

from contend.accuracy.along import along
from contend.accuracy.point_groups import by_unit
from contend.common.spelling import counted, listed, parameters_text
from contend.plots.style import SERIES_COLOURS, STYLE, Picture, draw_interval
from contend.plots.ticks import axis_title, set_logarithmic_ticks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import SubFigure

    from contend.accuracy.along import Along
    from contend.accuracy.curves import Curve
    from contend.common.jsontypes import JsonObject

_COLUMNS = 4
_MOST_CURVES, _MOST_ALONE = 32, 60
# Inches: a panel; and below them a line of a point that is alone on its curve, and what else these need.
_PANEL_WIDTH, _PANEL_HEIGHT = 3.2, 2.5
_LINE, _BESIDE_LINES = 0.19, 0.75
_TOP = 0.6
# Room for the legend, and for names beside points.
_LEAST_WIDTH, _LEAST_WIDTH_NAMES = 7.4, 9.6
# Letters in a line above a curve, and in the name of a point.
_TITLE, _NAME = 46, 72
# Letters in a line of the title of an axis, for each inch beside it.
_AXIS_TITLE = 12
# Labels of places along one curve.
_MOST_LABELS = 8
# The ends of an axis are so many times apart at least: what does not change looks flat.
_LEAST_RANGE = 1.5
_PREDICTED, _MEASURED, _HOLLOW = SERIES_COLOURS[0], SERIES_COLOURS[2], "white"
_INTERVAL_LABEL, _PREDICTED_LABEL = "95 % interval", "predicted"


def curves_picture(points: Sequence[JsonObject]) -> Picture:
    """Curves side by side, predictions with their 95 % intervals and measured medians with their quartiles.

    Curves with held-out points come first. Points that are alone on their curves are in lines below. What there is no
    room for is counted.

    Args:
        points: At least one, as `contend validate --json` writes them.
    """
    run_over = along(points)
    curves: list[Curve] = []
    alone: list[JsonObject] = []
    for curve in run_over.curves(points):
        if len({run_over.place(point) for point in curve.points}) > 1:
            curves.append(curve)
        else:
            alone += curve.points
    curves.sort(key=lambda curve: not any(point["held_out"] for point in curve.points))
    drawn, in_lines = curves[:_MOST_CURVES], alone[:_MOST_ALONE]
    names = _Names(points)
    heights = {}
    columns = min(_COLUMNS, max(1, len(drawn)))
    if drawn:
        heights["curves"] = _PANEL_HEIGHT * math.ceil(len(drawn) / columns)
    if alone:
        heights["alone"] = _BESIDE_LINES * len(by_unit(in_lines)) + _LINE * sum(
            names.of_point(point).count("\n") + 1 for point in in_lines
        )
    width = max(_PANEL_WIDTH * columns, _LEAST_WIDTH_NAMES if alone else _LEAST_WIDTH)
    with rc_context(STYLE):
        picture = Picture(figsize=(width, sum(heights.values()) + _TOP), layout="constrained")
        parts = picture.subfigures(len(heights), 1, height_ratios=list(heights.values()), squeeze=False)[:, 0]
        for name, part in zip(heights, parts, strict=True):
            if name == "curves":
                _draw_curves(part, drawn, run_over, names, columns)
            else:
                _draw_alone(part, in_lines, names)
        keys = _keys(picture)
        picture.legend(
            keys, [str(key.get_label()) for key in keys], loc="outside upper left", ncols=4, fontsize="small"
        )
        if missing := _left_out(curves[_MOST_CURVES:], alone[_MOST_ALONE:]):
            picture.text(0.99, 0.995, missing, ha="right", va="top", fontsize="small")
        return picture


class _Names:
    """What curves and points are called: by their dataset, with the machine where that is not clear."""

    def __init__(self, points: Sequence[JsonObject]) -> None:
        machines = {(point["dataset"], point["machine"]) for point in points}
        self._on_several = {name for name, count in Counter(name for name, _ in machines).items() if count > 1}

    def of_curve(self, curve: Curve) -> str:
        """Its dataset, and what is the same at all of its points, in lines."""
        return "\n".join((self._dataset(curve.first), *textwrap.wrap(_parameters(curve.others), _TITLE)))

    def of_point(self, point: JsonObject) -> str:
        """Its dataset and all of its parameters, in lines."""
        return textwrap.fill(f"{self._dataset(point)}: {_parameters(point['parameters'])}", _NAME)

    def _dataset(self, point: JsonObject) -> str:
        name = str(point["dataset"])
        return f"{name} on {point['machine']}" if name in self._on_several else name


def _parameters(values: JsonObject) -> str:
    return parameters_text({name.removeprefix("options."): value for name, value in values.items()}, ", ")


def _axis_title(unit: str) -> str:
    return axis_title("measured and predicted", unit)


def _left_out(curves: Sequence[Curve], alone: Sequence[JsonObject]) -> str:
    """What is not in the picture; empty if everything is."""
    count = sum(len(curve.points) for curve in curves)
    parts = [f"{counted(len(curves), 'curve')} with {counted(count, 'point')}"] if curves else []
    parts += [f"{counted(len(alone), 'point')} alone on a curve"] if alone else []
    return f"left out: {listed(parts)}" if parts else ""


def _keys(picture: Picture) -> list[Artist]:
    """One key for each label of all axes: predictions first, then what was measured."""
    found: dict[str, Artist] = {}
    for axes in picture.get_axes():
        for key, label in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(label, key)
    return [found[label] for label in sorted(found, key=lambda one: one.startswith("measured"))]


def _draw_curves(part: SubFigure, drawn: Sequence[Curve], run_over: Along, names: _Names, columns: int) -> None:
    grid = part.subplots(math.ceil(len(drawn) / columns), columns, squeeze=False)
    for axes in grid.flat[len(drawn) :]:
        axes.set_visible(False)
    for axes, curve in zip(grid.flat, drawn, strict=False):
        _draw_curve(axes, curve.points, run_over)
        axes.set_title(names.of_curve(curve), loc="left", fontsize="small")
    part.supxlabel(run_over.title, fontsize="medium")
    rows = len(grid)
    title = " or ".join(_axis_title(unit) for unit in by_unit([point for curve in drawn for point in curve.points]))
    part.supylabel(textwrap.fill(title, int(_AXIS_TITLE * _PANEL_HEIGHT * rows)), fontsize="medium")


def _draw_curve(axes: Axes, members: Sequence[JsonObject], run_over: Along) -> None:
    places = sorted({run_over.place(point) for point in members})
    at = {place: index if run_over.by_order else place for index, place in enumerate(places)}
    x = [at[run_over.place(point)] for point in members]
    predicted = [point["predicted"] for point in members]
    low, high = ([one["ci95"][end] for one in predicted] for end in (0, 1))
    axes.plot(x, [one["median"] for one in predicted], color=_PREDICTED, lw=1.4, label=_PREDICTED_LABEL)
    draw_interval(axes, x, low, high, _PREDICTED, label=_INTERVAL_LABEL)
    _draw_measured(axes, members, x, "y")
    axes.set_yscale("log")
    axes.set_ylim(_at_least_apart(*axes.get_ylim()))
    set_logarithmic_ticks(axes.yaxis, str(members[0]["unit"] or ""))
    if not run_over.by_order:
        axes.set_xscale("log", base=2)
    step = math.ceil(len(places) / _MOST_LABELS) if run_over.by_order else 1
    axes.set_xticks([at[place] for place in places[::step]], [run_over.label(place) for place in places[::step]])
    axes.minorticks_off()
    axes.tick_params(labelsize="small")


def _at_least_apart(low: float, high: float) -> tuple[float, float]:
    more = max(1.0, math.sqrt(_LEAST_RANGE * low / high))
    return low / more, high * more


def _draw_measured(axes: Axes, members: Sequence[JsonObject], where: Sequence[float], along_axis: str) -> None:
    """Measured medians with their quartiles, along the vertical axis ("y") or the horizontal one ("x")."""
    for held_out, face, kind in ((True, _MEASURED, "held out"), (False, _HOLLOW, "fitted")):
        own = [(point, at) for point, at in zip(members, where, strict=True) if point["held_out"] == held_out]
        if not own:
            continue
        places = [at for _, at in own]
        medians = [point["measured"]["median"] for point, _ in own]
        spread = np.abs(np.array([point["measured"]["iqr"] for point, _ in own]).T - np.array(medians))
        x, y = (places, medians) if along_axis == "y" else (medians, places)
        axes.errorbar(
            x, y, fmt="o", markersize=4.5, color=_MEASURED, markerfacecolor=face, elinewidth=0.9,
            label=f"measured, with quartiles, {kind}",
            **{f"{along_axis}err": spread},
        )  # fmt: skip


def _draw_alone(part: SubFigure, points: Sequence[JsonObject], names: _Names) -> None:
    """Points that are on no curve: a line for each, with its name; axes for each unit."""
    units = by_unit(points)
    panels = part.subplots(len(units), 1, squeeze=False, height_ratios=[len(own) + 2 for own in units.values()])[:, 0]
    for axes, (unit, own) in zip(panels, units.items(), strict=True):
        lines = list(range(len(own)))
        predicted = [point["predicted"] for point in own]
        low, high = ([one["ci95"][end] for one in predicted] for end in (0, 1))
        axes.hlines(lines, low, high, color=_PREDICTED, alpha=0.3, lw=6, label=_INTERVAL_LABEL)
        axes.plot(
            [one["median"] for one in predicted], lines, "|", color=_PREDICTED, ms=9, mew=2, label=_PREDICTED_LABEL
        )
        _draw_measured(axes, own, lines, "x")
        axes.set_xscale("log")
        axes.set_xlim(_at_least_apart(*axes.get_xlim()))
        set_logarithmic_ticks(axes.xaxis, unit)
        axes.set_yticks(lines, [names.of_point(point) for point in own])
        axes.set_ylim(len(own) - 0.4, -0.6)
        axes.tick_params(labelsize="small")
        axes.tick_params(axis="y", length=0)
        axes.set_xlabel(_axis_title(unit))
    panels[0].set_title("points that are alone on their curves", loc="left", fontsize="medium")
