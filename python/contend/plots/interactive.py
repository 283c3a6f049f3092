"""The same pictures with Altair: to zoom, pan and point at in a notebook or browser.

Each function takes what its namesake in contend.plots takes and returns an Altair chart.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from contend.common.errors import InputError
from contend.common.spelling import parameters_text, value_text
from contend.plots.agreement import checked_rows
from contend.plots.curves import is_geometric, name_and_words, tick_labels, tick_text, value_of
from contend.plots.heat import cells, ordered
from contend.plots.locks import busiest
from contend.plots.style import CATEGORY_COLOURS, OTHER_COLOURS
from contend.plots.ticks import are_whole, axis_title, tick_expression
from contend.scenarios.axes import axis_value, curves, is_number, x_axis

if TYPE_CHECKING:
    from collections.abc import Sequence

    import altair as alt
    import polars as pl

    from contend.results.results import PointResult, Results
    from contend.traces.timelines import Timeline

_WIDTH, _HEIGHT = 480, 280


def _data(rows: list[dict[str, Any]]) -> Any:  # noqa: ANN401
    import altair as alt

    return alt.InlineData(values=rows)


def rate(results: Results, *, x: str | None = None, measure: str | None = None) -> alt.LayerChart:
    """As plots.rate: curves with bands; a click in the legend shows one alone, the wheel zooms.

    Raises:
        InputError: Nothing is swept, or the parameter or measure is not there.
    """
    import altair as alt

    from contend.plots.notebook_charts import steady

    axis = x or x_axis(results.points)
    if axis is None or any(axis not in point.parameters for point in results.points):
        raise InputError(f"{axis or 'no number'} is swept to draw a rate over")
    name, words, unit = name_and_words(results, measure)
    label = axis_title(words, unit)
    rows = []
    for curve in curves(results.points, axis):
        for point in curve.points:
            mean, low, high = value_of(point, name)
            rows.append({"curve": curve.label or "all", "x": axis_value(point, axis),
                         "at": tick_text(point.parameters[axis]), "mean": mean, "low": low, "high": high})  # fmt: skip
    chosen = alt.selection_point(fields=["curve"], bind="legend")
    shade = alt.condition(chosen, alt.value(1.0), alt.value(0.1))
    base = alt.Chart(_data(rows)).encode(
        x=_x(axis, results.points),
        color=alt.Color("curve:N", title=None, sort=None, legend=alt.Legend(labelLimit=320)),
    )
    band = base.mark_area().encode(
        y=alt.Y("low:Q", title=label), y2="high:Q", opacity=alt.condition(chosen, alt.value(0.25), alt.value(0.03))
    )
    line = base.mark_line(point=True).encode(
        y=alt.Y("mean:Q", title=label, axis=alt.Axis(labelExpr=tick_expression(unit))), opacity=shade,
        tooltip=["curve:N", alt.Tooltip("at:N", title=axis), alt.Tooltip("mean:Q", format=",.4s"),
                 alt.Tooltip("low:Q", format=",.4s"), alt.Tooltip("high:Q", format=",.4s")],
    )  # fmt: skip
    chart = alt.layer(band, line).add_params(chosen).properties(width=_WIDTH, height=_HEIGHT, title=results.name)
    return steady(chart.interactive())


def _x(axis: str, points: Sequence[PointResult]) -> alt.X:
    """Numbers have the ticks of any axis, whole ones if all are whole; quantities ("1 KiB") theirs, as written."""
    import altair as alt

    title = axis.replace("_", " ").replace(".", " ")
    if all(is_number(point.parameters[axis]) for point in points):
        whole = are_whole(axis_value(point, axis) for point in points)
        return alt.X("x:Q", title=title, axis=alt.Axis(tickMinStep=1) if whole else alt.Undefined)
    labels = tick_labels(points, axis)
    ticks = list(labels)
    scale = alt.Scale(type="log", base=2, nice=False) if is_geometric(ticks) else alt.Scale(zero=False)
    if ticks[0] == 0 and is_geometric(ticks[1:]):  # zero is one step before what follows
        scale = alt.Scale(type="symlog", constant=ticks[1], nice=False)
    # Texts are quoted as JSON is.
    texts = f"{json.dumps(list(labels.values()))}[indexof({json.dumps(ticks)}, datum.value)]"
    return alt.X("x:Q", title=title, scale=scale, axis=alt.Axis(values=ticks, labelExpr=texts, labelOverlap=True))


def time_budget(results: Results, *, role: str | None = None) -> alt.Chart:
    """As plots.time_budget, for all points; one chart for each role."""
    import altair as alt

    from contend.plots.notebook_charts import steady

    rows = []
    words = results.words
    for point in results.points:
        label = point_label(point.parameters)
        for own, times in point.time_by_category_ns.items():
            total = sum(times.values())
            if total <= 0 or (role is not None and own != role):
                continue
            rows += [
                {"point": label, "role": words.role(own), "category": category.replace("_", " "), "share": time / total}
                for category, time in times.items()
                if time > 0
            ]
    if not rows:
        raise InputError(f"no threads with the role {role!r}" if role else "there are no times to draw")
    categories = list(dict.fromkeys(row["category"] for row in rows))
    known: dict[object, str] = {name.replace("_", " "): colour for name, colour in CATEGORY_COLOURS.items()}
    extra = iter(OTHER_COLOURS * len(categories))
    colours = [known.get(category) or next(extra) for category in categories]
    return steady(
        alt.Chart(_data(rows))
        .mark_bar()
        .encode(
            x=alt.X("share:Q", title="share of thread time", axis=alt.Axis(format="%")),
            y=alt.Y("point:N", sort=None, title=None),
            color=alt.Color("category:N", scale=alt.Scale(domain=categories, range=colours), title=None),
            row=alt.Row("role:N", title=None),
            tooltip=["point:N", "role:N", "category:N", alt.Tooltip("share:Q", format=".1%")],
        )
        .properties(width=_WIDTH, title=results.name)
    )


def point_label(parameters: dict[str, Any]) -> str:
    """What a point is called."""
    return parameters_text(parameters, ", ") or "the only point"


def heat_map(results: Results, x: str, y: str, *, value: str | None = None) -> alt.Chart:
    """As plots.heat_map."""
    import altair as alt

    from contend.plots.notebook_charts import steady

    name, words, unit = name_and_words(results, value)
    label = axis_title(words, unit)
    columns, rows, table = cells(results, x, y, name)
    data = [
        {x: value_text(column), y: value_text(row), "value": number}
        for row, line in zip(rows, table, strict=True)
        for column, number in zip(columns, line, strict=True)
        if number == number  # noqa: PLR0124 - not a number where there is no point
    ]
    return steady(
        alt.Chart(_data(data))
        .mark_rect()
        .encode(
            x=alt.X(f"{x}:N", sort=[value_text(column) for column in columns], title=x.replace("_", " ")),
            y=alt.Y(f"{y}:N", sort=[value_text(row) for row in reversed(rows)], title=y.replace("_", " ")),
            color=alt.Color("value:Q", title=label, scale=alt.Scale(scheme="cividis")),
            tooltip=[f"{x}:N", f"{y}:N", alt.Tooltip("value:Q", format=",.4s", title=label)],
        )
        .properties(width=max(200, 44 * len(columns)), height=max(120, 26 * len(rows)), title=results.name)
    )


def measured_against_predicted(
    data: pl.DataFrame | list[dict[str, Any]], *, unit: str = "msg/s", title: str = ""
) -> alt.LayerChart:
    """As plots.measured_against_predicted; all columns of a row show when one points at it."""
    import altair as alt

    from contend.plots.notebook_charts import steady

    rows = checked_rows(data)
    ends = [value for row in rows for value in (row["measured"], row["predicted"])]
    diagonal = [{"measured": end, "predicted": end} for end in (min(ends), max(ends))]
    scale = alt.Scale(type="log", nice=False, padding=10)
    x = alt.X("measured:Q", title=f"measured ({unit})", scale=scale, axis=alt.Axis(labelExpr=tick_expression(unit)))
    y = alt.Y("predicted:Q", title=f"predicted ({unit})", scale=scale, axis=alt.Axis(labelExpr=tick_expression(unit)))
    line = alt.Chart(_data(diagonal)).mark_line(color="black", strokeWidth=1).encode(x=x, y=y)
    dots = (
        alt.Chart(_data(rows))
        .mark_point(filled=True, size=50)
        .encode(
            x=x, y=y, color=alt.Color("group:N", title=None),
            tooltip=[alt.Tooltip(f"{name}:{'Q' if isinstance(value, int | float) else 'N'}")
                     for name, value in rows[0].items()],
        )
    )  # fmt: skip
    chart = alt.layer(line, dots).properties(width=_HEIGHT + 40, height=_HEIGHT + 40, title=title)
    return steady(chart.interactive())


def lock_timeline(timeline: Timeline, *, most: int = 10) -> alt.Chart:
    """As plots.lock_timeline; the wheel zooms into time."""
    import altair as alt

    from contend.plots.notebook_charts import steady

    spans = timeline.lock_spans()
    locks = busiest(spans, most)
    if not locks:
        raise InputError("no lock is taken in this stretch")
    rows = [
        {"lock": span.lock, "thread": span.thread, "begin": span.begin, "end": span.end,
         "what": "waits for it" if span.waits else "holds it"}
        for span in spans
        if span.lock in locks
    ]  # fmt: skip
    chart = (
        alt.Chart(_data(rows))
        .mark_bar()
        .encode(
            x=alt.X("begin:Q", title="simulated time (us)", scale=alt.Scale(zero=False)),
            x2="end:Q",
            y=alt.Y("lock:N", sort=locks, title=None, axis=alt.Axis(labelLimit=260)),
            yOffset=alt.YOffset("what:N", sort=["waits for it", "holds it"]),
            color=alt.Color("thread:N", sort=ordered(sorted({row["thread"] for row in rows})), title=None),
            opacity=alt.Opacity("what:N", scale=alt.Scale(domain=["holds it", "waits for it"], range=[1.0, 0.45])),
            tooltip=["lock:N", "thread:N", "what:N", "begin:Q", "end:Q"],
        )
        .properties(width=_WIDTH + 120, height=max(80, 44 * len(locks)), title=timeline.shown.title)
    )
    return steady(chart.interactive(bind_y=False))
