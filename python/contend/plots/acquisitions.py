"""Pictures of the lock study: a panel for every kind of lock, measured and predicted by number of threads."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING

from matplotlib import rc_context
from matplotlib.ticker import NullFormatter

from contend.plots.curves import set_x_axis
from contend.plots.style import SERIES_COLOURS, STYLE, Picture, add_heading
from contend.plots.ticks import tick_formatter

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from contend.studies.locks import Row, SetResult

_COLUMNS = 4
_TITLE = 36  # characters
_PANEL = (2.5, 1.9)
_HEAD = 0.8
_LEAST_PANELS_WIDE = 2
_LEAST_RANGE = 12.0  # so that a decade is marked
_MEASURED, _PREDICTED = "black", SERIES_COLOURS[0]


def draw_lock_set(result: SetResult) -> Picture:
    """Measured and predicted values of a set; fitted points are hollow, and a line stands where cores run out."""
    kinds = list(dict.fromkeys(row.kind for row in result.rows))
    columns = max(_LEAST_PANELS_WIDE, min(_COLUMNS, len(kinds)))
    lines = max(1, math.ceil(len(kinds) / columns))
    with rc_context(STYLE):
        size = (_PANEL[0] * columns, _PANEL[1] * lines + _HEAD)
        picture = Picture(figsize=size, layout="constrained")
        panels = picture.subplots(lines, columns, squeeze=False, sharex=True)
        for axes in panels.flat[len(kinds) :]:
            axes.set_axis_off()
        for kind, axes in zip(kinds, panels.flat, strict=False):
            rows = [row for row in result.rows if row.kind == kind]
            counts = [row.threads for row in rows]
            axes.plot(counts, [row.measured for row in rows], "o-", color=_MEASURED, ms=3.5, lw=0.8, label="measured")
            axes.plot(
                counts, [row.predicted for row in rows], "s-", color=_PREDICTED, ms=3.5, lw=1.2, label="predicted"
            )
            fitted = [row for row in rows if row.fitted]
            axes.plot(
                [row.threads for row in fitted], [row.predicted for row in fitted], "s", color=_PREDICTED, ms=5.5,
                mfc="white", label="fitted", zorder=4,
            )  # fmt: skip
            _mark_the_end_of_cores(rows, axes)
            axes.set_yscale("log")
            low, high = axes.get_ylim()
            margin = max(1.0, math.sqrt(_LEAST_RANGE * low / high))
            axes.set_ylim(low / margin, high * margin)
            axes.yaxis.set_major_formatter(tick_formatter("", sep=""))
            axes.yaxis.set_minor_formatter(NullFormatter())
            axes.set_title(textwrap.shorten(kind or "all", _TITLE, placeholder=" ..."), fontsize="small", loc="left")
        for axes in panels.flat[max(0, len(kinds) - columns) : len(kinds)]:  # the lowest of each column
            axes.set_xlabel(result.set.axis)
            axes.tick_params(labelbottom=True)
        set_x_axis(panels.flat[0], [float(count) for count in sorted({row.threads for row in result.rows})])
        panels.flat[0].legend(fontsize="x-small")
        picture.supylabel(str(result.set.entry["measure"]), fontsize="small")
        add_heading(picture, f"{result.set.name} ({result.set.entry['profile']})")
    return picture


def _mark_the_end_of_cores(rows: list[Row], axes: Axes) -> None:
    alone = [row.threads for row in rows if not row.shared_cores]
    shared = [row.threads for row in rows if row.shared_cores]
    if alone and shared:
        axes.axvline((max(alone) + min(shared)) / 2, color="black", lw=0.8, ls=(0, (4, 3)))
