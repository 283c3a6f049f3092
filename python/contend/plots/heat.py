"""A measure over two knobs, as colours."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from matplotlib import rc_context

from contend.common.errors import InputError
from contend.common.quantities import parse_quantity
from contend.common.spelling import value_text
from contend.plots.curves import name_and_words, value_of
from contend.plots.style import STYLE, Picture, add_heading, single
from contend.plots.ticks import axis_title, number_text, tick_formatter
from contend.scenarios.axes import is_number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contend.common.jsontypes import Scalar
    from contend.results.results import PointResult, Results

_DARK = 0.55
_MOST_NUMBERS = 240
_LEAST_SPREAD = 0.005


def ordered(values: Sequence[Scalar]) -> list[Scalar]:
    """Distinct values of a parameter: numbers and quantities by size, words as they come."""
    distinct = list(dict.fromkeys(values))
    if all(is_number(value) for value in distinct):
        return sorted(distinct, key=lambda value: float(value or 0))
    sizes = {str(value): quantity.value for value in distinct if (quantity := parse_quantity(value)) is not None}
    if len(sizes) == len(distinct):
        return sorted(distinct, key=lambda value: sizes[str(value)])
    return distinct


def cells(results: Results, x: str, y: str, value: str) -> tuple[list[Scalar], list[Scalar], list[list[float]]]:
    """The values of both knobs and the measure at each pair, rows by y; NaN where there is no point.

    Raises:
        InputError: A knob is not swept, or points differ in something else, too.
    """
    for name in (x, y):
        if not all(name in point.parameters for point in results.points):
            swept = ", ".join(results.points[0].parameters) if results.points else "nothing"
            raise InputError(f"{name} is not swept; swept: {swept or 'nothing'}")
    columns = ordered([point.parameters[x] for point in results.points])
    rows = ordered([point.parameters[y] for point in results.points])
    found: dict[tuple[str, str], PointResult] = {}
    for point in results.points:
        place = (value_text(point.parameters[y]), value_text(point.parameters[x]))
        if place in found:
            others = [name for name in point.parameters if name not in (x, y)]
            raise InputError(
                f"several points have {x}={place[1]}, {y}={place[0]}: choose among {', '.join(others)} with "
                "results.select(...)"
            )
        found[place] = point
    table = [
        [
            value_of(found[row, column], value)[0] if (row, column) in found else math.nan
            for column in map(value_text, columns)
        ]
        for row in map(value_text, rows)
    ]
    return columns, rows, table


def _spread_text(point: PointResult, measure: str) -> str:
    """Half of the 95 % interval in percent of the mean, for the line below a number; empty where that is little."""
    middle, low, high = value_of(point, measure)
    share = (high - low) / 2 / abs(middle) if middle else 0.0
    return f"\n±{share:.0%}" if share >= _LEAST_SPREAD else ""


def heat_map(results: Results, x: str, y: str, *, value: str | None = None, title: str | None = None) -> Picture:
    """A measure over two swept parameters, as colours with the numbers in them.

    Below a number stands half of its 95 % interval in percent, where that is 0.5 % or more.

    Args:
        results: A run or sweep that has one point for each pair of values.
        x: The parameter along the horizontal axis.
        y: The parameter along the vertical axis.
        value: "message_rate" (msg/s), "bandwidth" (MiB/s), or the name of a counter; what the run is about if not
            given.
        title: Of the picture; the scenario's name if not given, "" for none.

    Raises:
        InputError: A parameter is not swept, points differ in others too, or the measure is not there.
    """
    if not results.points:
        raise InputError("there are no results to draw")
    name, words, unit = name_and_words(results, value)
    columns, rows, table = cells(results, x, y, name)
    numbers = [number for line in table for number in line if not math.isnan(number)]
    points = {(value_text(point.parameters[y]), value_text(point.parameters[x])): point for point in results.points}
    low, high = min(numbers), max(numbers)
    with rc_context(STYLE):
        picture, axes = single(2.2 + 0.62 * max(4, len(columns)), 1.6 + 0.36 * max(4, len(rows)))
        image = axes.imshow(table, aspect="auto", origin="lower", cmap="cividis", vmin=low, vmax=high)
        axes.set_xticks(range(len(columns)), [value_text(column) for column in columns])
        axes.set_yticks(range(len(rows)), [value_text(row) for row in rows])
        axes.set_xlabel(x.replace("_", " "))
        axes.set_ylabel(y.replace("_", " "))
        axes.grid(visible=False)
        axes.spines[:].set_visible(False)
        if len(numbers) <= _MOST_NUMBERS:
            for row, line in enumerate(table):
                for column, number in enumerate(line):
                    if not math.isnan(number):
                        bright = number - low > _DARK * (high - low)
                        colour = "black" if bright else "white"
                        spread = _spread_text(points[value_text(rows[row]), value_text(columns[column])], name)
                        axes.text(
                            column,
                            row,
                            number_text(number, unit, places=1, sep="") + spread,
                            ha="center",
                            va="center",
                            fontsize="x-small",
                            color=colour,
                        )
        picture.colorbar(image, ax=axes, label=axis_title(words, unit), format=tick_formatter(unit, sep=""), shrink=0.9)
        add_heading(picture, results.name if title is None else title)
        return picture
