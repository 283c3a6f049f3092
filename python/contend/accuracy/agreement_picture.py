"""The picture of a validation that has each point's prediction over its measurement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matplotlib import rc_context

from contend.accuracy.point_groups import by_unit, held_out_words, point_groups
from contend.plots.curves import add_outside_legend, legend_height
from contend.plots.style import STYLE, Picture
from contend.plots.ticks import axis_title, set_logarithmic_ticks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

    from contend.accuracy.point_groups import PointGroup
    from contend.common.jsontypes import JsonObject

# Of the axes of one unit, which are about square, without the legend, in inches.
_WIDTH, _HEIGHT = 6.0, 6.1
_WITHIN = 0.15
_MARGIN = 1.2
# An interval that reaches farther beyond all points goes on outside of the axes.
_FARTHEST_INTERVAL = 10.0


def agreement_picture(points: Sequence[JsonObject]) -> Picture:
    """Measured medians and predictions with their intervals; on the diagonal both agree, within the band by 15 %.

    Args:
        points: At least one, as `contend validate --json` writes them; points of another unit have axes of their own.
    """
    groups = point_groups(points)
    units = by_unit(points)
    width = _WIDTH * len(units)
    with rc_context(STYLE):
        height = _HEIGHT + legend_height([group.name for group in groups], width)
        picture = Picture(figsize=(width, height), layout="constrained")
        for axes, (unit, some) in zip(picture.subplots(1, len(units), squeeze=False)[0], units.items(), strict=True):
            _draw(axes, some, unit, groups)
        add_outside_legend(picture, [group.key() for group in groups])
        return picture


def _draw(axes: Axes, points: Sequence[JsonObject], unit: str, groups: Sequence[PointGroup]) -> None:
    """The points of one unit; a group looks the same in all axes."""
    for group in groups:
        for held_out, members in group.parts(points):
            _draw_part(axes, members, group.look(held_out=held_out))
    low, high = _ends(points)
    axes.plot((low, high), (low, high), color="black", lw=0.8, zorder=1)
    band = [(1 - _WITHIN) * low, (1 - _WITHIN) * high], [(1 + _WITHIN) * low, (1 + _WITHIN) * high]
    axes.fill_between((low, high), *band, color="black", alpha=0.08, lw=0)
    axes.set(xscale="log", yscale="log", xlim=(low, high), ylim=(low, high))
    for side in (axes.xaxis, axes.yaxis):
        set_logarithmic_ticks(side, unit)
    axes.set_xlabel(axis_title("measured median", unit))
    axes.set_ylabel(axis_title("predicted, 95 % interval", unit))
    axes.set_title(f"{held_out_words(points)}; the band is {100 * _WITHIN:g} %", loc="left", fontsize="medium")


def _draw_part(axes: Axes, members: Sequence[JsonObject], look: Mapping[str, Any]) -> None:
    predicted = [point["predicted"] for point in members]
    middles = [one["median"] for one in predicted]
    below = [max(0.0, one["median"] - one["ci95"][0]) for one in predicted]
    above = [max(0.0, one["ci95"][1] - one["median"]) for one in predicted]
    measured = [point["measured"]["median"] for point in members]
    axes.errorbar(measured, middles, yerr=[below, above], elinewidth=0.7, **look)


def _ends(points: Sequence[JsonObject]) -> tuple[float, float]:
    """From where to where both axes go: all points, and their intervals unless these are very wide."""
    values = [point[kind]["median"] for point in points for kind in ("measured", "predicted")]
    reached = [*values, *(end for point in points for end in point["predicted"]["ci95"] if end > 0)]
    low = max(min(reached), min(values) / _FARTHEST_INTERVAL)
    high = min(max(reached), max(values) * _FARTHEST_INTERVAL)
    return low / _MARGIN, high * _MARGIN
