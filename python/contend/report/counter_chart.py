"""Counters of the library, one at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from contend.common.amounts import quantity
from contend.plots.ticks import tick_expression
from contend.report.chart_set import hidden
from contend.report.curve_looks import curve_colour, curve_dash, x_of
from contend.report.texts import label
from contend.scenarios.axes import axis_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contend.report.chart_set import Charts, Row
    from contend.scenarios.axes import Curve


def add_counters(
    charts: Charts, named: Sequence[tuple[str, Curve]], axis: str, styles: Sequence[tuple[str, list[int]]]
) -> None:
    """Every counter that is not always zero; sums as shares of the messages received."""
    rows: list[Row] = []
    chosen: dict[str, str] = {}
    for name, curve in named:
        for point in curve.points:
            received = point.counters.get("messages_received", 0)
            for counter, value in point.counters.items():
                per_message = bool(received) and not counter.endswith("_max")
                shown = value / received if per_message else float(value)
                if shown:
                    words = counter.removesuffix("_ns").replace("_", " ")
                    unit = " (ns)" if counter.endswith("_ns") else ""
                    chosen.setdefault(counter, f"{words}{unit}{', per message received' if per_message else ''}")
                rows.append(
                    {
                        "x": axis_value(point, axis),
                        "curve": name,
                        "counter": counter,
                        "y": shown,
                        "point": label(point.parameters),
                        "total": quantity(float(value), ""),
                    }
                )
    if not chosen:
        return
    first = ("match_time_ns", "out_of_sequence", "unexpected")
    order = sorted(chosen, key=lambda name: first.index(name) if name in first else len(first))
    charts.counters = [(name, chosen[name]) for name in order]
    charts.data["counters"] = [row for row in rows if row["counter"] in chosen]
    labels = [name for name, _ in named]
    times, numbers = tick_expression("ns"), tick_expression("")
    ticks = f"indexof(counter, '_ns') < 0 ? ({numbers}) : ({times})"
    base = (
        alt.Chart(alt.NamedData("counters"))
        .transform_filter("datum.counter == counter && indexof(hidden, datum.curve) < 0")
        .encode(
            x=x_of(axis, [point for _, curve in named for point in curve.points]),
            y=alt.Y("y:Q", title=None, scale=alt.Scale(zero=True), axis=alt.Axis(labelExpr=ticks, tickCount=5)),
            color=curve_colour(labels, styles),
        )
    )
    tooltip = [
        alt.Tooltip("point:N", title="point"),
        alt.Tooltip("y:Q", title="shown", format=".4~s"),
        alt.Tooltip("total:N", title="counter"),
    ]
    chart = alt.layer(
        base.mark_line(strokeWidth=2).encode(strokeDash=curve_dash(labels, styles)),
        base.mark_point(filled=True, size=30, opacity=1),
        base.mark_point(filled=True, size=420, opacity=0).encode(tooltip=tooltip),
    )
    counter = alt.param(name="counter", value=order[0])
    # Which counter it is changes, so that what the axis shows stands above it: a title beside it cannot change.
    words = alt.param(name="words", value=dict(charts.counters))
    heading = alt.TitleParams(
        text=alt.expr("words[counter]"), anchor="start", fontSize=12, fontWeight=500, color="var(--ink)"
    )  # fmt: skip
    chart = chart.add_params(*hidden("hidden"), counter, words)
    charts.add("counters", chart.properties(width="container", height=240, title=heading))
