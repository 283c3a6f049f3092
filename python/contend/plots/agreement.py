"""Measured values against predicted ones."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from matplotlib import rc_context

from contend.common.documents import misfit
from contend.common.errors import InputError
from contend.common.spelling import shortened
from contend.plots.curves import add_legend, legend_height
from contend.plots.style import MARKERS, STYLE, Picture, add_heading, single
from contend.plots.ticks import axis_title, set_logarithmic_ticks, tick_formatter

if TYPE_CHECKING:
    import polars as pl

    from contend.common.jsontypes import JsonObject

_COLUMNS = ("predicted_low", "predicted_high", "measured_low", "measured_high")
_LOG_ABOVE = 10.0
_WITHIN = 0.2
_BAND = "within 20 %"
# Without the legend, in inches.
_WIDTH, _HEIGHT = 5.4, 5.4


def validation_frame(document: JsonObject) -> pl.DataFrame:
    """The points of a validation result (docs/validation.md) as measured_against_predicted takes them.

    Args:
        document: The JSON that `contend validate` writes, with "points".

    Raises:
        InputError: It is something else.
    """
    from contend.results.frames import frame_of

    try:
        return frame_of({
            "group": point["dataset"], **point["parameters"],
            "measured": point["measured"]["median"],
            "measured_low": point["measured"]["iqr"][0], "measured_high": point["measured"]["iqr"][1],
            "predicted": point["predicted"]["median"],
            "predicted_low": point["predicted"]["ci95"][0], "predicted_high": point["predicted"]["ci95"][1],
        } for point in document["points"])  # fmt: skip
    except (KeyError, TypeError, IndexError) as error:
        raise InputError(f"this is not the content of a validation result: {misfit(error)}") from error


def checked_rows(data: pl.DataFrame | list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows with positive "measured" and "predicted"; missing ends of intervals are the values themselves.

    Raises:
        InputError: These are no rows, or there are none; a column is missing, or a value is no finite number.
    """
    rows: Any = data.to_dicts() if hasattr(data, "to_dicts") else data
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        raise InputError(f"rows are a data frame or a list of mappings, not {shortened(repr(data))}")
    if not rows:
        raise InputError("there are no points to draw")
    return [_checked(row) for row in rows]


def _checked(row: Mapping[str, Any]) -> dict[str, Any]:
    if not all(_is_finite(row.get(name)) and row[name] > 0 for name in ("measured", "predicted")):
        raise InputError(f"each row needs positive finite numbers under 'measured' and 'predicted'; one is {row}")
    ends = {name: row[name.partition("_")[0]] if _is_missing(row.get(name)) else row[name] for name in _COLUMNS}
    for name, end in ends.items():
        if not _is_finite(end):
            raise InputError(f"{name!r} is {end!r} in a row; allowed: a finite number, or nothing")
    return {"group": "", **row, **ends}


def _is_missing(value: object) -> bool:
    """Whether a row has nothing there: data frames have NaN where they have nothing."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def _is_finite(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def measured_against_predicted(
    data: pl.DataFrame | list[dict[str, Any]], *, unit: str = "msg/s", title: str = ""
) -> Picture:
    """Each point's prediction over its measurement; on the diagonal both agree, within the band by 20 %.

    Args:
        data: Rows with "measured" and "predicted", and if known "measured_low", "measured_high", "predicted_low",
            "predicted_high" (ends of intervals) and "group" (one colour each).
        unit: Of both.
        title: Of the picture.

    Raises:
        InputError: These are no rows, a column is missing, or a value is not positive and finite.
    """
    rows = checked_rows(data)
    ends = [value for row in rows for value in (row["measured"], row["predicted"])]
    low, high = min(ends), max(ends)
    logarithmic = high / low > _LOG_ABOVE
    margin = 1.5 if logarithmic else 1.1
    limits = (low / margin, high * margin) if logarithmic else (0.0, high * margin)
    with rc_context(STYLE):
        groups = list(dict.fromkeys(row["group"] for row in rows))
        picture, axes = single(_WIDTH, _HEIGHT + legend_height([_BAND, *map(str, groups)], _WIDTH))
        if logarithmic:
            axes.set(xscale="log", yscale="log")
        axes.plot(limits, limits, color="black", lw=0.8, zorder=1)
        band = [(1 - _WITHIN) * end for end in limits], [(1 + _WITHIN) * end for end in limits]
        axes.fill_between(limits, *band, color="black", alpha=0.07, lw=0, label=_BAND)
        for index, group in enumerate(groups):
            own = [row for row in rows if row["group"] == group]
            measured, predicted = ([row[name] for row in own] for name in ("measured", "predicted"))
            axes.errorbar(
                measured, predicted, xerr=_bars(own, "measured"), yerr=_bars(own, "predicted"),
                fmt=MARKERS[index % len(MARKERS)], color=f"C{index % 10}", ms=5, elinewidth=0.8, alpha=0.9,
                label=str(group) or None, zorder=3,
            )  # fmt: skip
        axes.set_xlim(*limits)
        axes.set_ylim(*limits)
        axes.set_aspect("equal", anchor="N")  # the legend is below
        for side in (axes.xaxis, axes.yaxis):
            if logarithmic:
                set_logarithmic_ticks(side, unit)
            else:
                side.set_major_formatter(tick_formatter(unit, sep=""))
        axes.set_xlabel(axis_title("measured", unit))
        axes.set_ylabel(axis_title("predicted", unit))
        add_legend(axes)
        add_heading(picture, title)
        return picture


def _bars(rows: list[dict[str, Any]], name: str) -> list[list[float]]:
    """How far intervals reach below and above their values."""
    below = [max(0.0, row[name] - row[f"{name}_low"]) for row in rows]
    return [below, [max(0.0, row[f"{name}_high"] - row[name]) for row in rows]]
