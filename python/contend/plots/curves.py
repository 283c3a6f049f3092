"""Curves of rates over an axis of a sweep, with their confidence bands."""

from __future__ import annotations

import itertools
import math
import textwrap
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from matplotlib import rc_context

from contend.common.errors import InputError
from contend.common.spelling import parameters_text, value_text
from contend.plots.study import study_points
from contend.plots.style import MARKERS, STYLE, Picture, add_heading, draw_interval, single
from contend.plots.ticks import axis_title, tick_formatter
from contend.results.measures import main_measure, measure_named
from contend.results.results import Results
from contend.scenarios.axes import Curve, axis_value, curves, x_axis
from contend.scenarios.changes import named_changes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import SubFigure

    from contend.common.jsontypes import Scalar
    from contend.plots.study import StudyPoint
    from contend.results.results import PointResult
    from contend.scenarios.axes import Located

# About how many characters of a legend fit side by side, for a picture 10.4 inches wide.
_LEGEND_WIDTH = 150
# A key beside a label is as wide as so many of them, and a line of a legend so high, in inches.
_LEGEND_KEY = 5
_LEGEND_LINE = 0.17
_FULL_WIDTH = 10.4
# Of a picture of curves alone, without the legend, in inches.
_WIDTH, _HEIGHT = 6.4, 4.0
# The same of the labels of an axis.
_TICKS_WIDTH = 105
_MAX_TICKS, _TICKS_OF_ROW = 10, 24
# There is room for so many bars at least.
_FEWEST_BARS = 6
# Characters of the name of an only point, and of a line of it.
_ALONE_LENGTH, _ALONE_WIDTH = 120, 40
_STUDY_MARKER = "\N{BLACK STAR}"
_LINES = ("-", "--", ":", "-.")
# A rate axis is logarithmic when its largest value is more than so many times the smallest.
_LOG_ABOVE = 50.0
_MOST_ABOVE = 1.6


def value_of(point: PointResult, measure: str) -> tuple[float, float, float]:
    """A measure of a point: its mean and both ends of its interval, which are the mean where there is none."""
    estimate = point.estimates.get(measure)
    if estimate is None:
        value = float(point.scalars.get(measure, point.counters.get(measure, 0.0)))
        return value, value, value
    low = estimate.mean if estimate.low is None else estimate.low
    high = estimate.mean if estimate.high is None else estimate.high
    return estimate.mean, low, high


ValueOf: TypeAlias = "Callable[[PointResult, str], tuple[float, float, float]]"


def parameters_in_common(points: Sequence[Located]) -> dict[str, Scalar]:
    """What several points have alike, where they differ in something else: no name of a point has to repeat it."""
    first: Mapping[str, Scalar] = points[0].parameters if len(points) > 1 else {}
    alike = {name: value for name, value in first.items() if all(p.parameters.get(name) == value for p in points)}
    return alike if len(alike) < len(first) else {}


def common_text(points: Sequence[Located]) -> str:
    """Where all points are, for the title of an axis: "at preset=ob1-cri"; empty if they have nothing in common."""
    text = parameters_text(parameters_in_common(points), ", ")
    return f"at {text}" if text else ""


def point_labels(points: Sequence[Located], alone: str = "the point") -> list[str]:
    """Parameters in which points differ with their values, one a line.

    Args:
        points: The points.
        alone: What the only point is called, which has no parameters.
    """
    common = parameters_in_common(points)
    apart = [{name: value for name, value in point.parameters.items() if name not in common} for point in points]
    return [parameters_text(parameters, "\n") or alone for parameters in apart]


def only_point(results: Results) -> str:
    """What a point without parameters is called: what was set for it, else the scenario's name; in lines."""
    changes = named_changes(results.overrides)
    text = parameters_text(changes, ", ") or results.name
    return textwrap.fill(textwrap.shorten(text, _ALONE_LENGTH, placeholder=" ..."), _ALONE_WIDTH)


def line_styles(all_curves: Sequence[Curve], among: Sequence[Curve] = ()) -> list[dict[str, Any]]:
    """A colour for each value of the first parameter that tells curves apart, line and marker for the others.

    Args:
        all_curves: What is drawn.
        among: All that has to be told apart, where these are only some of it.
    """
    known = among or all_curves
    names = list(known[0].parameters)
    colours = list(dict.fromkeys(str(curve.parameters.get(names[0])) if names else "" for curve in known))
    rests = list(dict.fromkeys(str([curve.parameters.get(name) for name in names[1:]]) for curve in known))
    styles = []
    for curve in all_curves:
        colour = colours.index(str(curve.parameters.get(names[0])) if names else "")
        rest = rests.index(str([curve.parameters.get(name) for name in names[1:]]))
        marker = MARKERS[(rest if len(rests) > 1 else colour) % len(MARKERS)]
        styles.append({"color": f"C{colour % 10}", "linestyle": _LINES[rest % len(_LINES)], "marker": marker})
    return styles


def draw_curves(
    axes: Axes,
    all_curves: Sequence[Curve],
    axis: str,
    measure: str,
    value: ValueOf = value_of,
    *,
    among: Sequence[Curve] = (),
) -> None:
    """Lines with markers and bands.

    Args:
        axes: Where to draw.
        all_curves: What to draw.
        axis: The parameter on the horizontal axis.
        measure: The name of a measure or counter.
        value: What of it is drawn at a point: the middle, and both ends of the band.
        among: See line_styles.
    """
    for curve, style in zip(all_curves, line_styles(all_curves, among), strict=True):
        x = [axis_value(point, axis) for point in curve.points]
        values = [value(point, measure) for point in curve.points]
        (line,) = axes.plot(x, [v[0] for v in values], markersize=4, label=curve.label, **style)
        low, high = [max(0.0, v[1]) for v in values], [v[2] for v in values]
        draw_interval(axes, x, low, high, line.get_color())
    axes.set_xlabel(axis.replace("_", " "))
    labels = tick_labels([point for curve in all_curves for point in curve.points], axis)
    set_x_axis(axes, list(labels), labels)


def tick_labels(points: Sequence[Located], axis: str) -> dict[float, str]:
    """What stands at ticks, by where they are: "1 KiB" at 1024."""
    found = {axis_value(point, axis): tick_text(point.parameters[axis]) for point in points}
    return dict(sorted(found.items()))


def tick_text(value: object) -> str:
    """A number without the zeros after it, or a quantity as it is written."""
    return f"{value:g}" if isinstance(value, int | float) and not isinstance(value, bool) else value_text(value)


def set_x_axis(axes: Axes, values: list[float], labels: Mapping[float, str] | None = None) -> None:
    """Ticks at values of the sweep, the last one included; the values themselves unless there are labels."""
    texts = labels or {value: f"{value:g}" for value in values}
    has_zero = values[:1] == [0.0]  # one step before what follows
    if is_geometric(values[1:] if has_zero else values):
        if has_zero:
            axes.set_xscale("symlog", base=2, linthresh=values[1], linscale=0.5)
        else:
            axes.set_xscale("log", base=2)
        places = [math.log2(value) if value else math.log2(values[1]) - 1 for value in values]
        ticks = [(place, texts[value]) for place, value in zip(places, values, strict=True)]
        shown = _apart(ticks, _share_of_width(axes) * _TICKS_WIDTH / _columns_of(axes))
        axes.set_xticks(values, [texts[value] if fits else "" for value, fits in zip(values, shown, strict=True)])
        axes.minorticks_off()
    else:
        most = min(_MAX_TICKS, _TICKS_OF_ROW // _columns_of(axes))
        some = values[:: -math.ceil(len(values) / most)]
        axes.set_xticks(some, [texts[value] for value in some])


def _apart(ticks: Sequence[tuple[float, str]], room: float) -> list[bool]:
    """Which labels do not lie upon another one, the last first; room in characters."""
    begin, end = ticks[0][0], ticks[-1][0]
    shown: list[bool] = []
    free = math.inf
    for place, text in reversed(ticks):
        middle = room * (place - begin) / (end - begin)
        fits = middle + len(text) / 2 <= free
        shown.insert(0, fits)
        if fits:
            free = middle - len(text) / 2 - 1
    return shown


def _share_of_width(axes: Axes) -> float:
    """How much of the widest pictures is there."""
    figure = axes.get_figure(root=True)
    return 1.0 if figure is None else min(1.0, figure.get_figwidth() / _FULL_WIDTH)


def _columns_of(axes: Axes) -> int:
    """How many axes stand side by side."""
    place = axes.get_subplotspec()
    return 1 if place is None else place.get_gridspec().ncols


def is_geometric(ticks: list[float]) -> bool:
    """Whether values double (or more) from one to the next, as window sizes do."""
    return len(ticks) > 2 and ticks[0] > 0 and all(b / a >= 2 for a, b in itertools.pairwise(ticks))  # noqa: PLR2004


def draw_study(
    axes: Axes,
    measured: Sequence[StudyPoint],
    all_curves: Sequence[Curve],
    axis: str,
    *,
    counter: str | None = None,
    among: Sequence[Curve] = (),
) -> None:
    """Published measurements: a star, or a line between two where one number stands for a range.

    Args:
        axes: Where to draw.
        measured: The measurements.
        all_curves: Which of them are drawn: those of these curves, in their colours.
        axis: The parameter on the horizontal axis.
        counter: The counter that was reported; the rate if not given.
        among: See line_styles.
    """
    for item in measured:
        value = item.message_rate if counter is None else item.per_message.get(counter)
        if value is None or axis not in item.parameters:
            continue
        for curve, style in zip(all_curves, line_styles(all_curves, among), strict=True):
            at = [axis_value(point, axis) for point in curve.points if item.is_of(point.parameters)]
            if at:
                star = {"marker": "*", "markersize": 12, "markerfacecolor": style["color"], "markeredgecolor": "black"}
                ends = sorted({at[0], at[-1]})
                axes.plot(ends, [value] * len(ends), color="black", lw=1, ls=(0, (6, 4)), zorder=5, **star)
                break


def study_label(measured: Sequence[StudyPoint]) -> str:
    """What the stars mean."""
    if not measured:
        return ""
    targets = sum(item.calibrated for item in measured)
    how = {0: "", len(measured): ", a target of calibration"}.get(targets, ", some of it targets of calibration")
    return f"{_STUDY_MARKER} reported by the study{how}"


def is_wide(values: Sequence[float]) -> bool:
    """Whether values need a logarithmic axis."""
    return min(values, default=0.0) > 0 and max(values) / min(values) > _LOG_ABOVE


def set_scale(axes: Axes, values: list[float], unit: str) -> None:
    """From zero where that shows everything, else logarithmic."""
    from matplotlib.container import ErrorbarContainer
    from matplotlib.ticker import NullFormatter

    if is_wide(values):
        axes.set_yscale("log")
        axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        from_zero(axes)
        # An interval of few samples may be wider than everything else; curves and stars are what the picture is about.
        ends = {cap for bar in axes.containers if isinstance(bar, ErrorbarContainer) for cap in bar.lines[1]}
        drawn: list[Any] = [y for line in axes.lines if line not in ends for y in np.ravel(line.get_ydata())]
        heights = [*(value for value in values if value > 0), *map(float, drawn)]
        axes.set_ylim(top=min(axes.get_ylim()[1], _MOST_ABOVE * max(heights, default=1.0)))
    axes.yaxis.set_major_formatter(tick_formatter(unit))


def from_zero(axes: Axes) -> None:
    """A linear axis that begins at zero."""
    axes.set_ylim(0, 1.08 * axes.dataLim.y1 or 1.0)


def add_legend(axes: Axes) -> None:
    """Below the axes: it hides nothing, and the curves have the whole width. `legend_height` is the room it needs."""
    handles, labels = axes.get_legend_handles_labels()
    if len(handles) > 1:
        width = _share_of_width(axes)
        axes.legend(
            handles, _wrapped(labels, width), fontsize="small", loc="upper center", bbox_to_anchor=(0.5, 0.0),
            borderaxespad=4.4, ncols=_legend_columns(labels, width),
        )  # fmt: skip


def add_outside_legend(picture: Picture | SubFigure, keys: Sequence[Artist]) -> None:
    """Below all axes of a picture; `legend_height` is the room it needs.

    Args:
        picture: With constrained layout, or a part of it as wide as the picture.
        keys: What stands in it, with their labels.
    """
    labels = [str(key.get_label()) for key in keys]
    width = min(1.0, picture.figure.get_figwidth() / _FULL_WIDTH)
    picture.legend(
        keys, _wrapped(labels, width), fontsize="small", loc="outside lower center",
        ncols=_legend_columns(labels, width),
    )  # fmt: skip


def legend_height(labels: Sequence[str], width: float = _FULL_WIDTH) -> float:
    """How high a legend below the axes is, in inches: a picture is so much higher, or its curves would be flat."""
    if len(labels) < 2:  # noqa: PLR2004 - one curve needs none
        return 0.0
    share = min(1.0, width / _FULL_WIDTH)
    lines = [text.count("\n") + 1 for text in _wrapped(labels, share)]
    rows = math.ceil(len(labels) / _legend_columns(labels, share))
    return _LEGEND_LINE * max(sum(lines[start : start + rows]) for start in range(0, len(lines), rows))


def _wrapped(labels: Sequence[str], width: float) -> list[str]:
    """Labels in lines that fit upon the picture."""
    return [textwrap.fill(label, int(width * _LEGEND_WIDTH) - _LEGEND_KEY) for label in labels]


def _legend_columns(labels: Sequence[str], width: float) -> int:
    columns = max(1, min(4, int(width * _LEGEND_WIDTH) // (max(map(len, labels)) + _LEGEND_KEY)))
    if len(labels) > columns:  # rows of equal length keep what belongs together in one column
        columns = min(columns, math.ceil(len(labels) / math.ceil(len(labels) / columns)))
    return columns


def draw_bars(
    axes: Axes, points: tuple[PointResult, ...], measure: str, value: ValueOf = value_of, alone: str = "the point"
) -> None:
    """A bar for each point, with its interval; see draw_curves and point_labels. Few bars are no wider than many.

    Where the axis will be logarithmic there are marks without bars, as the length of a bar says nothing there.
    """
    values = [value(point, measure) for point in points]
    middles = [v[0] for v in values]
    errors = [[v[0] - v[1] for v in values], [v[2] - v[0] for v in values]]
    places, colour = range(len(points)), "#4e79a7"
    if is_wide(middles):
        axes.errorbar(places, middles, yerr=errors, fmt="o", markersize=5, capsize=6, color=colour, ecolor="black")
    else:
        axes.bar(places, middles, yerr=errors, capsize=3, color=colour, width=0.6)
    name_points(axes, point_labels(points, alone))
    axes.set_xlabel(common_text(points))
    beside = 0.5 + max(0.0, (_FEWEST_BARS - len(points)) / 2)
    axes.set_xlim(-beside, len(points) - 1 + beside)


def name_points(axes: Axes, labels: Sequence[str]) -> None:
    """Ticks at 0, 1, ... with the names of points, slanted where they would lie upon each other."""
    widest = max(len(line) for label in labels for line in label.splitlines())
    if widest * len(labels) <= _TICKS_WIDTH:
        axes.set_xticks(range(len(labels)), labels)
    else:
        texts = [", ".join(label.splitlines()) for label in labels]
        axes.set_xticks(range(len(labels)), texts, rotation=30, ha="right", rotation_mode="anchor", fontsize="small")


def rate(
    results: Results | Mapping[str, Results],
    *,
    x: str | None = None,
    measure: str | None = None,
    title: str | None = None,
    study: bool = True,
) -> Picture:
    """Message rate (or another measure) over threads or another swept number, a curve for each design, with 95 % bands.

    Args:
        results: A run or sweep; or several by the name of their curve.
        x: The parameter on the horizontal axis; the first swept number if not given. Quantities ("1 KiB") count.
        measure: "message_rate" (msg/s), "bandwidth" (MiB/s), or the name of a counter; what the run is about if not
            given.
        title: Of the picture; the scenario's name if not given, "" for none.
        study: Whether to mark what the study behind a shipped scenario reports.

    Raises:
        InputError: Nothing is swept, or the parameter or measure is not there.
    """
    if not isinstance(results, Results | Mapping):
        raise InputError(f"a rate is drawn of Results, or of several by name; found: {type(results).__name__}")
    shown = list(results.items()) if not isinstance(results, Results) else [("", results)]
    if not shown or not all(entry.points for _, entry in shown):
        raise InputError("there are no results to draw")
    first = shown[0][1]
    axis = x or x_axis(first.points)
    if axis is None or any(axis not in point.parameters for _, entry in shown for point in entry.points):
        swept = ", ".join(first.points[0].parameters) or "nothing"
        raise InputError(f"{axis or 'no number'} is swept to draw a rate over; swept: {swept}")
    name, words, unit = name_and_words(first, measure, *(entry for _, entry in shown[1:]))
    all_curves = [
        Curve(", ".join(filter(None, (prefix, curve.label))), curve.points, {"": prefix, **curve.parameters})
        if prefix
        else curve
        for prefix, entry in shown
        for curve in curves(entry.points, axis)
    ]
    with rc_context(STYLE):
        picture, axes = single(_WIDTH, _HEIGHT + legend_height([curve.label for curve in all_curves], _WIDTH))
        draw_curves(axes, all_curves, axis, name)
        measured = study_points(first.scenario) if study and name == "message_rate" and len(shown) == 1 else []
        measured = [item for item in measured if any(item.is_of(point.parameters) for point in first.points)]
        draw_study(axes, measured, all_curves, axis)
        add_legend(axes)
        set_scale(axes, [value_of(point, name)[0] for curve in all_curves for point in curve.points], unit)
        axes.set_ylabel(axis_title(words, unit))
        if measured:
            axes.set_title(study_label(measured), fontsize="small", loc="left")
        add_heading(picture, first.name if title is None else title)
        return picture


def name_and_words(results: Results, measure: str | None, *others: Results) -> tuple[str, str, str]:
    """A measure or counter, what it is in words, and its unit; what the results are about if no measure is given.

    Args:
        results: Which have it.
        measure: Its name.
        others: What stands in the same picture, and may count something else.

    Raises:
        InputError: The points do not have it.
    """
    main = main_measure(results, *others)
    if measure is None or measure == main.name:
        return main.name, main.title, main.short_unit
    point = results.points[0]
    known = [*point.estimates, *point.scalars, *point.counters]
    if measure not in known:
        raise InputError(f"there is no measure {measure!r}; there are: {', '.join(known)}")
    return measure, measure_named(measure).title, results.units.get(measure, "")
