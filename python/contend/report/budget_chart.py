"""Where the time of each role goes, by category."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from contend.plots.curves import tick_text
from contend.plots.style import CATEGORY_COLOURS, OTHER_COLOURS
from contend.report.chart_set import Key, hidden
from contend.report.texts import label

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contend.report.chart_set import Charts, Row
    from contend.results.results import Results
    from contend.scenarios.axes import Curve

_IDLE = ("poll_idle", "blocked", "barrier")
# Of the time of a role; what takes less is not shown.
SMALLEST_SHARE = 0.0005


def category_colour(name: str, unknown: list[str]) -> str:
    """The colour of a category, the same in every picture of contend; idle ones are darker in the dark."""
    if name in _IDLE:
        return f"var(--idle-{_IDLE.index(name)})"
    if name in CATEGORY_COLOURS:
        return CATEGORY_COLOURS[name]
    if name not in unknown:
        unknown.append(name)
    return OTHER_COLOURS[unknown.index(name) % len(OTHER_COLOURS)]


def add_budgets(charts: Charts, results: Results, named: Sequence[tuple[str, Curve]], axis: str | None) -> None:
    """Adds a chart for each role that has times, and the categories of all of them."""
    points = results.points
    # A workload that has no such threads reports a role without time.
    times_by_role = (entry for point in points for entry in point.time_by_category_ns.items())
    roles = list(dict.fromkeys(role for role, times in times_by_role if any(times.values())))
    # The receiver is where it usually hurts: it comes first.
    roles.sort(key=lambda role: (role != "receiver", role != "sender"))
    categories: dict[str, float] = dict.fromkeys(CATEGORY_COLOURS, 0.0)
    charts.roles = roles
    for index, role in enumerate(roles):
        rows: list[Row] = []
        for name, curve in named:
            for point in curve.points:
                times = point.time_by_category_ns.get(role, {})
                total = sum(times.values())
                for category, time in times.items():
                    share = time / total if total else 0.0
                    categories[category] = max(categories.get(category, 0.0), share)
                    if share >= SMALLEST_SHARE:
                        rows.append(
                            {
                                "x": tick_text(point.parameters[axis]) if axis is not None else label(point.parameters),
                                "curve": name,
                                "point": label(point.parameters),
                                "category": category,
                                "title": category.replace("_", " "),
                                "share": share,
                                "rank": list(categories).index(category),
                            }
                        )
        charts.data[f"budget-{index}"] = rows
    unknown: list[str] = []
    present = [category for category, share in categories.items() if share >= SMALLEST_SHARE]
    charts.category_keys = [
        Key(category, category.replace("_", " "), category_colour(category, unknown)) for category in present
    ]
    for index in range(len(roles)):
        _add_budget(charts, index, axis)


def _add_budget(charts: Charts, index: int, axis: str | None) -> None:
    keys = charts.category_keys
    colour = alt.Color(
        "category:N", legend=None, scale=alt.Scale(domain=[k.name for k in keys], range=[k.colour for k in keys])
    )
    share = {"title": "share of thread time", "scale": alt.Scale(domain=[0, 1], nice=False),
             "axis": alt.Axis(format="%", tickCount=5), "stack": "zero"}  # fmt: skip
    tooltip = [
        alt.Tooltip("point:N", title="point"),
        alt.Tooltip("title:N", title="category"),
        alt.Tooltip("share:Q", title="share", format=".1%"),
    ]
    base = alt.Chart(alt.NamedData(f"budget-{index}")).encode(color=colour, order=alt.Order("rank:Q"), tooltip=tooltip)
    base = base.transform_filter("indexof(hidden, datum.category) < 0")
    if axis is None:
        chart = base.mark_bar().encode(
            y=alt.Y("x:N", sort=None, title=None, axis=alt.Axis(labelLimit=180)), x=alt.X("share:Q", **share)
        )
        chart = chart.add_params(*hidden("hidden")).properties(
            width="container", height=34 * len(charts.data["points"])
        )
    else:
        x_axis_look = alt.Axis(labelAngle=0, labelOverlap=True, ticks=False)
        x = alt.X("x:O", sort=None, title=axis.replace("_", " "), axis=x_axis_look, scale=alt.Scale(paddingInner=0.12))
        chart = base.transform_filter("datum.curve == curve").mark_bar().encode(x=x, y=alt.Y("share:Q", **share))
        chosen = alt.param(name="curve", value=charts.chosen_curve)
        chart = chart.add_params(*hidden("hidden"), chosen).properties(width="container", height=230)
    charts.add(f"budget-{index}", chart)
