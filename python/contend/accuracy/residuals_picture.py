"""The picture of a validation that has how many times its measurement each prediction is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from matplotlib import rc_context

from contend.accuracy.along import along
from contend.accuracy.point_groups import MARKER_SIZE, held_out_words, point_groups
from contend.plots.curves import add_outside_legend, legend_height
from contend.plots.style import STYLE, single

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes

    from contend.accuracy.point_groups import PointGroup
    from contend.common.jsontypes import JsonObject
    from contend.plots.style import Picture

# The axis is the same in all pictures, so that they compare: from 1/8 to 8, in powers of two.
_LIMIT = 3
_WITHIN = 0.15
# In inches: the least width, a place of the axis, a power of two, and what else there is beside and below them.
_LEAST_WIDTH, _PLACE, _POWER, _BESIDE, _BELOW = 7.0, 0.55, 0.46, 0.9, 1.1
# Groups share so much of a place.
_SHARE = 0.8
# Of marks of a group at a place, side by side as far as there is room: how far apart, in inches.
_APART = 0.09
# Of points beyond the axis: where their strip begins and what a row of it takes, in powers of two; and what a mark with
# its arrow and factor takes, in inches.
_STRIP, _ROW, _ROOM = _LIMIT + 0.15, 0.42, 0.75
_UP, _DOWN = "\N{UPWARDS ARROW}", "\N{DOWNWARDS ARROW}"


@dataclass(frozen=True)
class _Mark:
    """A point of the picture: `x` in places from the left, `y` in powers of two."""

    x: float
    y: float
    ratio: float
    group: PointGroup
    held_out: bool


def factor_text(ratio: float) -> str:
    """A ratio as so many times, or one over so many times.

    Examples:
        >>> [factor_text(ratio) for ratio in (1 / 218.3, 0.5, 1, 9.12, 3950)]
        ['1/218', '1/2', '1', '9.1', '3,950']
    """
    if ratio < 1:
        return f"1/{factor_text(1 / ratio)}"
    return f"{ratio:.2g}" if ratio < 10 else f"{ratio:,.0f}"  # noqa: PLR2004 - two digits are enough


def residuals_picture(points: Sequence[JsonObject]) -> Picture:
    """Predicted over measured medians along what curves run over, in powers of two; within the band by 15 %.

    Points beyond the axis are in strips at its ends, each with an arrow and its factor.

    Args:
        points: At least one, as `contend validate --json` writes them.
    """
    run_over = along(points)
    places = sorted({run_over.place(point) for point in points})
    groups = point_groups(points)
    width = max(_LEAST_WIDTH, _PLACE * len(places) + _BESIDE)
    inch = len(places) / (width - _BESIDE)
    marks = _marks(points, groups, lambda point: places.index(run_over.place(point)), _APART * inch)
    apart = _ROOM * inch
    above = _rows([mark for mark in marks if mark.y > _LIMIT], apart)
    below = _rows([mark for mark in marks if mark.y < -_LIMIT], apart)
    ends = [-_end(below), _end(above)]
    with rc_context(STYLE):
        height = _POWER * (ends[1] - ends[0]) + _BELOW + legend_height([group.name for group in groups], width)
        picture, axes = single(width, height)
        axes.axhspan(math.log2(1 - _WITHIN), math.log2(1 + _WITHIN), color="black", alpha=0.08, lw=0)
        axes.axhline(0, color="black", lw=0.8)
        for place in range(1, len(places)):
            axes.axvline(place - 0.5, color="#d8d8d8", lw=0.7, zorder=0)
        for mark in marks:
            if abs(mark.y) <= _LIMIT:
                axes.plot([mark.x], [mark.y], **mark.group.look(held_out=mark.held_out))
        for rows, side in ((above, 1), (below, -1)):
            _draw_beyond(axes, rows, side)
        axes.set_xticks(range(len(places)), [run_over.label(place) for place in places])
        axes.set_xlim(-0.5, max([len(places) - 0.5, *(mark.x + apart for _, mark in (*above, *below))]))
        axes.tick_params(axis="x", length=0)
        axes.grid(visible=False, axis="x")
        powers = range(-_LIMIT, _LIMIT + 1)
        axes.set_yticks(powers, [factor_text(2.0**power) for power in powers])
        axes.set_ylim(*ends)
        axes.set_xlabel(run_over.title)
        axes.set_ylabel("predicted / measured")
        axes.set_title("\n".join(_words(points, len(above) + len(below))), loc="left", fontsize="medium")
        add_outside_legend(picture, [group.key() for group in groups])
        return picture


def _marks(
    points: Sequence[JsonObject], groups: Sequence[PointGroup], place: Callable[[JsonObject], int], apart: float
) -> list[_Mark]:
    """All points; at each place the groups stand side by side, and so do the points of one, so far apart at most."""
    slot = _SHARE / len(groups)
    found = []
    for number, group in enumerate(groups):
        at: dict[int, list[tuple[bool, JsonObject]]] = {}
        for held_out, members in group.parts(points):
            for point in members:
                at.setdefault(place(point), []).append((held_out, point))
        for index, own in at.items():
            step = min(apart, slot / len(own))
            for rank, (held_out, point) in enumerate(own):
                ratio = point["predicted"]["median"] / point["measured"]["median"]
                x = index + slot * (number - (len(groups) - 1) / 2) + step * (rank - (len(own) - 1) / 2)
                found.append(_Mark(x, math.log2(ratio), ratio, group, held_out))
    return found


def _rows(marks: Sequence[_Mark], apart: float) -> list[tuple[int, _Mark]]:
    """Marks beyond an end of the axis, each with its row, so that those of a row are so many places apart at least."""
    found: list[tuple[int, _Mark]] = []
    for mark in sorted(marks, key=lambda one: (one.x, abs(one.y))):
        taken = {row for row, other in found if mark.x - other.x < apart}
        found.append((next(row for row in range(len(marks)) if row not in taken), mark))
    return found


def _end(rows: Sequence[tuple[int, _Mark]]) -> float:
    """Where the axis ends, in powers of two from its middle."""
    return _STRIP + _ROW * (1 + max((row for row, _ in rows), default=-1))


def _draw_beyond(axes: Axes, rows: Sequence[tuple[int, _Mark]], side: int) -> None:
    """Marks with arrows in a strip beyond the end of the axis: the upper one with side 1, the lower one with -1."""
    if not rows:
        return
    axes.axhspan(side * _STRIP, side * _end(rows), color="#f1f1f1", lw=0, zorder=0)
    for row, mark in rows:
        at = (mark.x, side * (_STRIP + _ROW * (row + 0.5)))
        axes.plot([at[0]], [at[1]], **mark.group.look(held_out=mark.held_out))
        axes.annotate(
            f"{_UP if side > 0 else _DOWN} {factor_text(mark.ratio)}", at, (MARKER_SIZE, 0),
            textcoords="offset points", va="center_baseline", fontsize="small",
        )  # fmt: skip


def _words(points: Sequence[JsonObject], beyond: int) -> list[str]:
    """What the marks mean, in lines."""
    first = f"{held_out_words(points)}; the band is {100 * _WITHIN:g} %"
    if not beyond:
        return [first]
    arrows = "an arrow with its factor: a point" if beyond == 1 else f"arrows with their factors: {beyond} points"
    ends = f"{factor_text(2.0**-_LIMIT)} and {factor_text(2.0**_LIMIT)}"
    return [first, f"{arrows} beyond the axis, which ends at {ends}"]
