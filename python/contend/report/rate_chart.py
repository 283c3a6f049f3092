"""The main measure of a sweep: curves above an axis or bars, with intervals, and what was measured or published."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from contend.common.amounts import quantity
from contend.plots.curves import value_of
from contend.plots.ticks import tick_expression
from contend.report.chart_set import hidden
from contend.report.curve_looks import curve_colour, curve_dash, x_of
from contend.report.reference_layers import measured_layers, measured_rows, study_layers, study_rows
from contend.report.texts import label
from contend.results.measures import main_measure
from contend.scenarios.axes import axis_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contend.report.chart_set import Charts, Row
    from contend.results.results import Results
    from contend.scenarios.axes import Curve

_LOG_ABOVE = 50.0
_MOST_ABOVE = 1.6


def add_rates(
    charts: Charts,
    results: Results,
    named: Sequence[tuple[str, Curve]],
    axis: str | None,
    styles: Sequence[tuple[str, list[int]]],
) -> None:
    """Adds the chart, and where all values are positive a second one with the other scale."""
    measure = main_measure(results)
    rows: list[Row] = []
    for name, curve in named:
        for point in curve.points:
            mean, low, high = value_of(point, measure.name)
            rows.append(
                {
                    "x": axis_value(point, axis) if axis is not None else label(point.parameters),
                    "curve": name,
                    "mean": mean,
                    "low": low,
                    "high": high,
                    "low_above_zero": max(low, mean / 10),  # for a logarithmic scale
                    "point": label(point.parameters),
                    "value": quantity(mean, measure.short_unit),
                    "interval": f"{quantity(low, measure.short_unit)} to {quantity(high, measure.short_unit)}"
                    if low < high
                    else "-",
                    "replications": point.replications,
                }
            )
    charts.data["points"] = rows
    measured = measured_rows(named, axis, measure.short_unit)
    charts.has_measurements = bool(measured)
    if measured:
        charts.data["measured"] = measured
    y_title = measure.axis_title
    ticks = tick_expression(measure.short_unit)
    tooltip = [
        alt.Tooltip("point:N", title="point"),
        alt.Tooltip("value:N", title=measure.title),
        alt.Tooltip("interval:N", title="95 % interval"),
        alt.Tooltip("replications:Q", title="replications"),
    ]
    data = alt.NamedData("points")
    if axis is None:
        y = alt.Y("x:N", sort=None, title=None, axis=alt.Axis(labelLimit=180))
        base = alt.Chart(data).encode(y=y, tooltip=tooltip)
        bars = base.mark_bar(color="var(--series-0)", height={"band": 0.65}).encode(
            x=alt.X("mean:Q", title=y_title, axis=alt.Axis(labelExpr=ticks, tickCount=6))
        )
        errors = base.mark_rule(color="var(--ink)").encode(x=alt.X("low:Q", title=y_title), x2="high")
        layers = [bars, errors]
        if charts.has_measurements:
            layers += measured_layers({"y": y}, alt.X, y_title)
        charts.add("rate", alt.layer(*layers).properties(width="container", height=30 * len(rows)))
        return
    values = [float(row["mean"] or 0) for row in [*rows, *measured]]
    positive = min(values) > 0
    logarithmic = positive and max(values) / min(values) > _LOG_ABOVE
    labels = [name for name, _ in named]
    common = {
        "x": x_of(axis, [point for _, curve in named for point in curve.points]),
        "color": curve_colour(labels, styles),
    }
    study = study_rows(results, named, axis)
    charts.data["study"] = study
    charts.has_study = bool(study)
    for name, is_log in (("rate", logarithmic), ("rate-other", not logarithmic)):
        if is_log and not positive:
            continue
        # Wide intervals are cut where they would make the curves flat.
        top = min(max(float(row["high"] or 0) for row in [*rows, *measured]), _MOST_ABOVE * max(values))
        scale = alt.Scale(type="log") if is_log else alt.Scale(domainMin=min(0.0, *values), domainMax=top or 1.0)
        lower_end = "low_above_zero:Q" if is_log else "low:Q"
        y = alt.Y("mean:Q", title=y_title, scale=scale, axis=alt.Axis(labelExpr=ticks, tickCount=6))
        base = alt.Chart(data).transform_filter("indexof(hidden, datum.curve) < 0").encode(**common)
        layers = [
            base.mark_area(opacity=0.2, clip=True).encode(y=alt.Y(lower_end, title=y_title, scale=scale), y2="high"),
            base.mark_line(strokeWidth=2).encode(y=y, strokeDash=curve_dash(labels, styles)),
            base.mark_point(filled=True, size=34, opacity=1).encode(y=y),
            # What a pointer or a finger can hit.
            base.mark_point(filled=True, size=420, opacity=0).encode(y=y, tooltip=tooltip),
        ]
        if study:
            layers += study_layers(common, y)
        if measured:
            layers += measured_layers(common, alt.Y, y_title, scale)
        charts.add(name, alt.layer(*layers).add_params(*hidden("hidden")).properties(width="container", height=340))
