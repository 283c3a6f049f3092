"""Two designs side by side: their rates, and the ratio with what it says of them."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from matplotlib import rc_context
from matplotlib.lines import Line2D
from matplotlib.transforms import ScaledTranslation, blended_transform_factory

from contend.common.spelling import parameters_text
from contend.plots.curves import (
    add_legend,
    common_text,
    legend_height,
    name_points,
    point_labels,
    set_scale,
    set_x_axis,
    tick_labels,
)
from contend.plots.style import STYLE, Picture, figure_bytes
from contend.scenarios.axes import axis_value, x_axis

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.transforms import Transform
    from matplotlib.typing import ColorType

    from contend.comparisons.comparison import Comparison, PointComparison
    from contend.comparisons.paired import Difference

# The panel of ratios goes so many times beyond the ratios.
_ROOM = 2.0
# Characters of a line above the picture, and of the name of a side.
_NAME_WIDTH = 110
_NAME_LENGTH = 400
# The same of a name below a mark.
_MARK_WIDTH, _MARK_LENGTH = 36, 100
# The mark of each verdict, its colour where colours do not tell curves apart, and whether it is filled.
_VERDICTS = {
    "faster": ("^", "#2e7d32", True),
    "slower": ("v", "#bd1f01", True),
    "no difference": ("s", "#717581", True),
    "undecided": ("o", "#717581", False),
}
# Intervals of several curves at one place lie beside each other: points between two of them, and between all at most.
_STEP, _SPREAD = 4.0, 20.0
# Room for the names of verdicts between both panels, in inches.
_VERDICTS_HEIGHT = 0.3
# How an interval without ends is drawn: over the whole height of the axes.
_UNBOUNDED: Any = {"linestyle": (0, (4, 3)), "lw": 1.2}
_UNBOUNDED_WORDS = "interval without bounds"


def _comparison_curves(comparison: Comparison) -> tuple[str | None, dict[str, list[PointComparison]]]:
    """The x axis, and points by the label of their curve."""
    points = comparison.points
    axis = x_axis(points)
    if axis is None:  # side by side
        return axis, {"": list(points)}
    names = [name for name in points[0].parameters if name != axis]
    groups: dict[str, list[PointComparison]] = {}
    for point in points:
        groups.setdefault(parameters_text({name: point.parameters[name] for name in names}, ", "), []).append(point)
    for group in groups.values():
        group.sort(key=lambda point: axis_value(point, axis))
    return axis, groups


def _limit(axes: Axes, ratios: list[float]) -> None:
    """Intervals of few replications may be wider than everything else; the ratios are what the picture is about."""
    if ratios:
        axes.autoscale_view()
        low, high = axes.get_ylim()
        axes.set_ylim(max(low, min(*ratios, 1.0) / _ROOM), min(high, max(*ratios, 1.0) * _ROOM))


def draw_comparison(comparison: Comparison) -> Picture:
    """Draws both sides' rates above their ratio.

    Args:
        comparison: At least one point.
    """
    if len(comparison.points) == 1:
        return _draw_one_point(comparison)
    axis, groups = _comparison_curves(comparison)
    with rc_context(STYLE):
        keys = [f"A, {label}" for label in groups for _ in "AB"]
        figure = Picture(figsize=(10.4, 6.8 + legend_height(keys) + _VERDICTS_HEIGHT), layout="constrained")
        rates, ratios = figure.subplots(2, 1, sharex=True, height_ratios=[3, 2])
        for index, (label, points) in enumerate(groups.items()):
            x = list(range(len(points))) if axis is None else [axis_value(point, axis) for point in points]
            colour = f"C{index % 10}"
            # One curve has two colours to give; of several each has its own, and the lines tell the sides apart.
            colours = (colour, colour) if len(groups) > 1 else ("C0", "C1")
            for side, line, marker, side_colour in (("A", "-", "o", colours[0]), ("B", "--", "s", colours[1])):
                values = [point.rate.a if side == "A" else point.rate.b for point in points]
                name = f"{side}, {label}" if label else side
                rates.plot(
                    x, [v.mean for v in values], linestyle="none" if axis is None else line, marker=marker,
                    color=side_colour, markersize=4, label=name,
                )  # fmt: skip
            _draw_ratios(
                ratios, x, points, line="none" if axis is None else "-", of_curve=colour if len(groups) > 1 else None,
                shift=_shift(index, len(groups)),
            )  # fmt: skip
        ratios.axhline(1.0, color="black", lw=0.8)
        _limit(ratios, [point.rate.ratio.value for point in comparison.points if point.rate.ratio.value])
        set_scale(
            rates,
            [side.mean for point in comparison.points for side in (point.rate.a, point.rate.b)],
            comparison.measure.short_unit,
        )
        rates.set_ylabel(comparison.measure.axis_title)
        rates.set_title(_side_names(comparison), fontsize="medium", loc="left")
        add_legend(rates)
        _name_verdicts(ratios, comparison)
        ratios.set_ylabel(_ratio_title(comparison))
        if axis is None:
            name_points(ratios, point_labels(comparison.points))
            ratios.set_xlabel(common_text(comparison.points))
        else:
            ratios.set_xlabel(axis.replace("_", " "))
            labels = tick_labels(comparison.points, axis)
            set_x_axis(ratios, list(labels), labels)
        return figure


def _shift(index: int, count: int) -> float:
    """How far beside its place a curve's interval stands, in points."""
    step = min(_STEP, _SPREAD / max(1, count - 1))
    return (index - (count - 1) / 2) * step


def _draw_ratios(
    axes: Axes, x: Sequence[float], points: list[PointComparison], *, line: str, of_curve: str | None, shift: float
) -> None:
    """The ratio of each point with its interval, by a mark that says the verdict.

    Args:
        axes: Where.
        x: The place of each point.
        points: In that order.
        line: How marks are joined.
        of_curve: The colour of the curve; that of each verdict if there is none.
        shift: How far to the right of its place everything stands, in points.
    """
    scale = axes.figure.dpi_scale_trans
    beside = axes.transData + ScaledTranslation(shift / 72, 0, scale)
    known = [(place, point) for place, point in zip(x, points, strict=True) if point.rate.ratio.value is not None]
    axes.plot(
        [place for place, _ in known], [point.rate.ratio.value or 0.0 for _, point in known], linestyle=line, lw=0.8,
        color=of_curve or "#94a4a2", transform=beside, zorder=2,
    )  # fmt: skip
    for place, point in known:
        ratio = point.rate.ratio
        mean = ratio.value or 0.0
        marker, colour, filled = _VERDICTS[point.verdict]
        axes.errorbar(
            [place], [mean], yerr=_ends(mean, ratio.low, ratio.high), fmt=marker, color=of_curve or colour,
            markersize=6, markerfacecolor=of_curve or colour if filled else "white", capsize=2.5, elinewidth=1.2,
            transform=beside,
        )  # fmt: skip
        if _is_unbounded(point.rate):
            _draw_unbounded(axes, place, of_curve or colour, beside)
        # What is shifted does not count for the limits of its own accord.
        axes.update_datalim([(place, end) for end in (mean, ratio.low or mean, ratio.high or mean)])


def _is_unbounded(found: Difference) -> bool:
    """Whether nothing bounds the ratio, although several replications have one."""
    return found.ratio.value is not None and found.ratio.low is None and len(found.a.samples) > 1


def _draw_unbounded(axes: Axes, place: float, colour: ColorType, beside: Transform) -> None:
    """A dashed bar over the whole height of the axes: without any, the ratio known worst would look exact."""
    axes.plot(
        [place, place], [0.0, 1.0], color=colour, zorder=1, **_UNBOUNDED,
        transform=blended_transform_factory(beside, axes.transAxes),
    )  # fmt: skip


def _name_verdicts(axes: Axes, comparison: Comparison) -> None:
    """Says above the ratios what the marks mean, of verdicts that there are."""
    found = [verdict for verdict in _VERDICTS if any(point.verdict == verdict for point in comparison.points)]
    coloured = len(_comparison_curves(comparison)[1]) == 1
    handles = []
    for verdict in found:
        marker, colour, filled = _VERDICTS[verdict]
        shown = colour if coloured else "#404040"
        handles.append(
            Line2D(
                [], [], linestyle="none", marker=marker, color=shown, markerfacecolor=shown if filled else "white",
                label=_verdict_text(verdict),
            )
        )  # fmt: skip
    if any(_is_unbounded(point.rate) for point in comparison.points):
        handles.append(Line2D([], [], color="#717581" if coloured else "#404040", label=_UNBOUNDED_WORDS, **_UNBOUNDED))
    axes.legend(
        handles=handles, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=len(handles), fontsize="small",
        borderaxespad=0.2, handletextpad=0.2,
    )  # fmt: skip


def _verdict_text(verdict: str) -> str:
    return f"B is {verdict}" if verdict in ("faster", "slower") else verdict


def _ratio_title(comparison: Comparison) -> str:
    """What the ratios are, with their intervals if there are any, and which are good where less is better."""
    several = any(len(point.rate.a.samples) > 1 for point in comparison.points)
    direction = "\n(below 1: B is faster)" if comparison.measure.less_is_better else ""
    return "B / A" + (", 95 % interval" if several else "") + direction


def _draw_one_point(comparison: Comparison) -> Picture:
    """Both sides of an only point beside each other, and the ratio beside them."""
    (point,) = comparison.points
    found = point.rate
    with rc_context(STYLE):
        figure = Picture(figsize=(10.4, 4.6), layout="constrained")
        rates, ratio = figure.subplots(1, 2, width_ratios=[2, 1])
        for place, (side, marker) in enumerate(((found.a, "o"), (found.b, "s"))):
            _draw_mark(rates, place, side.mean, (side.low, side.high), colour=f"C{place}", marker=marker)
        set_scale(rates, [found.a.mean, found.b.mean], comparison.measure.short_unit)
        names = [
            textwrap.fill(textwrap.shorten(f"{side} = {name}", _MARK_LENGTH, placeholder=" ..."), _MARK_WIDTH)
            for side, name in (("A", comparison.name_a), ("B", comparison.name_b))
        ]
        rates.set_xticks([0, 1], names)
        rates.set_xlim(-0.7, 1.7)
        rates.set_ylabel(comparison.measure.axis_title)
        rates.set_xlabel(parameters_text(point.parameters, ", "))
        if found.a.low is not None:
            rates.set_title("mean, 95 % confidence interval", fontsize="small", loc="right")
        ratio.axhline(1.0, color="black", lw=0.8)
        if found.ratio.value is not None:
            marker, colour, filled = _VERDICTS[point.verdict]
            _draw_mark(
                ratio, 0, found.ratio.value, (found.ratio.low, found.ratio.high), colour=colour, marker=marker,
                filled=filled,
            )  # fmt: skip
            if _is_unbounded(found):
                _draw_unbounded(ratio, 0, colour, ratio.transData)
            _limit(ratio, [found.ratio.value])
        ratio.set_xticks([])
        ratio.set_xlim(-1, 1)
        ratio.set_ylabel(_ratio_title(comparison))
        words = [_verdict_text(point.verdict), *([_UNBOUNDED_WORDS] if _is_unbounded(found) else [])]
        ratio.set_title(", ".join(words), fontsize="small", loc="right")
        figure.suptitle(_side_names(comparison), x=0.01, ha="left", fontsize="medium")
        return figure


def _draw_mark(
    axes: Axes,
    place: float,
    mean: float,
    ends: tuple[float | None, float | None],
    *,
    colour: str,
    marker: str,
    filled: bool = True,
) -> None:
    axes.errorbar(
        [place], [mean], yerr=_ends(mean, *ends), fmt=marker, color=colour, markersize=7,
        markerfacecolor=colour if filled else "white", capsize=4,
    )  # fmt: skip


def _ends(mean: float, low: float | None, high: float | None) -> list[list[float]]:
    """How far an interval goes below and above the mean; nowhere if there is none."""
    bottom, top = (mean if end is None else end for end in (low, high))
    return [[max(0.0, mean - bottom)], [max(0.0, top - mean)]]


def _side_names(comparison: Comparison) -> str:
    return "\n".join((_lines(f"A = {comparison.name_a}"), _lines(f"B = {comparison.name_b}")))


def _lines(name: str) -> str:
    """The name of a side with the changes that it has, in lines that fit upon the picture."""
    return textwrap.fill(
        textwrap.shorten(name, _NAME_LENGTH, placeholder=" ..."), _NAME_WIDTH, subsequent_indent="      "
    )


def comparison_picture_bytes(comparison: Comparison) -> dict[str, bytes]:
    """The picture of a comparison in both formats: {"png": ..., "svg": ...}."""
    return figure_bytes(draw_comparison(comparison))
