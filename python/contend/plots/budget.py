"""Where the time of threads went, as stacked bars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from matplotlib import rc_context

from contend.common.errors import InputError
from contend.common.spelling import value_text
from contend.plots.curves import common_text, point_labels, value_of
from contend.plots.panels import MOST_CURVES
from contend.plots.style import CATEGORY_COLOURS, OTHER_COLOURS, STYLE, Picture, add_heading
from contend.scenarios.axes import curves, x_axis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from contend.results.measures import Measure
    from contend.results.results import PointResult, Results
    from contend.results.workload_words import WorkloadWords
    from contend.scenarios.axes import Curve

_SMALLEST_SHARE_PERCENT = 0.05
_MOST_BARS = 40
# So many of the best and of the worst, where all are too many.
_ENDS = 10


def draw_budget(axes: Axes, role: str, points: tuple[PointResult, ...], word: str) -> None:
    """A horizontal bar per point, the first on top."""
    categories = list(CATEGORY_COLOURS)
    for point in points:
        categories += [c for c in point.time_by_category_ns.get(role, {}) if c not in categories]
    totals = [sum(point.time_by_category_ns.get(role, {}).values()) or 1.0 for point in points]
    base = [0.0] * len(points)
    unknown = iter(OTHER_COLOURS * len(categories))
    for category in categories:
        colour = CATEGORY_COLOURS.get(category) or next(unknown)
        shares = [
            100 * point.time_by_category_ns.get(role, {}).get(category, 0.0) / total
            for point, total in zip(points, totals, strict=True)
        ]
        if max(shares) >= _SMALLEST_SHARE_PERCENT:
            axes.barh(range(len(points)), shares, left=base, color=colour, height=0.8, label=category.replace("_", " "))
            base = [b + s for b, s in zip(base, shares, strict=True)]
    axes.set_yticks(range(len(points)), [""] * len(points))
    axes.invert_yaxis()
    axes.set_xlim(0, 100)
    axes.set_xlabel("% of thread time")
    axes.grid(visible=False)
    axes.set_title(f"{word}: where the time went", fontsize="medium")


def budget_points(all_curves: list[Curve], axis: str | None) -> tuple[tuple[PointResult, ...], list[str], str]:
    """Which points the budget shows, their labels, and what they are: one curve entirely, or the end of each."""
    if axis is None:
        points = all_curves[0].points if len(all_curves) == 1 else tuple(c.points[-1] for c in all_curves)
        return points, [label.replace("\n", ", ") for label in point_labels(points, "")], common_text(points)
    if len(all_curves) == 1:
        points = all_curves[0].points
        return points, [value_text(point.parameters[axis]) for point in points], axis.replace("_", " ")
    points = tuple(curve.points[-1] for curve in all_curves)
    name = axis.replace("_", " ")
    ends = {value_text(point.parameters[axis]) for point in points}
    where = f"at {name}={ends.pop()}" if len(ends) == 1 else f"at the last {name}"
    return points, [curve.label for curve in all_curves], where


def few_curves(all_curves: list[Curve], measure: Measure) -> tuple[list[Curve], str]:
    """The curves whose bars are shown where those of all are too many to read: the best and the worst at their ends.

    Args:
        all_curves: All of them.
        measure: What they are ordered by.

    Returns:
        The curves, and which ones they are, in words; nothing where they are all.
    """
    if len(all_curves) <= MOST_CURVES:
        return all_curves, ""
    ranked = sorted(all_curves, key=lambda curve: value_of(curve.points[-1], measure.name)[0], reverse=True)
    return ranked[:_ENDS] + ranked[-_ENDS:], f"{_ENDS} highest and {_ENDS} lowest of {len(ranked)} in {measure.title}"


def draw_budgets(
    figure: Figure | SubFigure,
    all_curves: list[Curve],
    axis: str | None,
    roles: list[str],
    words: WorkloadWords,
    *,
    which: str = "",
) -> None:
    """One panel a role, side by side, with one legend for all.

    Args:
        figure: Where to draw.
        all_curves: Whose bars; see budget_points.
        axis: The parameter on the horizontal axis of the curves.
        roles: Of threads.
        words: What the roles are called.
        which: Which curves of more they are, in words; empty where they are all.
    """
    shown, labels, what = budget_points(all_curves, axis)
    what = "\n".join(filter(None, (which, what)))
    panels = figure.subplots(1, len(roles), squeeze=False)[0]
    for panel, role in zip(panels, roles, strict=True):
        draw_budget(panel, role, shown, words.role(role))
        if which:
            panel.axhline(len(shown) / 2 - 0.5, color="black", lw=0.8)
    panels[0].set_yticks(range(len(shown)), labels, fontsize="small")
    panels[0].set_ylabel(what)
    handles: dict[str, Any] = {}
    for panel in panels:
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    figure.legend(
        handles.values(), handles.keys(), loc="outside lower center", ncols=min(6, len(handles)), fontsize="small"
    )


def roles_of(points: tuple[PointResult, ...]) -> list[str]:
    """Roles of threads that spent time, the receiver first: it is where it usually hurts."""
    roles = dict.fromkeys(
        role for point in points for role, times in point.time_by_category_ns.items() if sum(times.values()) > 0
    )
    return sorted(roles, key=lambda role: (role != "receiver", role != "sender"))


def time_budget(results: Results, *, role: str | None = None, title: str | None = None) -> Picture:
    """Where the time of all threads went: a stacked bar for each point, in percent.

    Args:
        results: A run or sweep: all points of one curve, or the end of each curve where there are several.
        role: "sender" or "receiver"; both side by side if not given.
        title: Of the picture; the scenario's name if not given, "" for none.

    Raises:
        InputError: There are no points, or no such role.
    """
    if not results.points:
        raise InputError("there are no results to draw")
    roles = roles_of(results.points)
    if role is not None:
        if role not in roles:
            raise InputError(f"no threads with the role {role!r}; there are: {', '.join(roles)}")
        roles = [role]
    axis = x_axis(results.points)
    all_curves = curves(results.points, axis)
    bars = len(budget_points(all_curves, axis)[0])
    if bars > _MOST_BARS:
        raise InputError(f"{bars} bars are too many to read; choose points with results.select(...)")
    with rc_context(STYLE):
        picture = Picture(figsize=(3.2 + 3.6 * len(roles), 1.7 + 0.2 * max(4, bars)), layout="constrained")
        draw_budgets(picture, all_curves, axis, roles, results.words)
        add_heading(picture, results.name if title is None else title)
        return picture
