"""What a chart of predicted rates is laid against: what a dataset measured, and what the study reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from contend.common.amounts import quantity
from contend.plots.study import study_points
from contend.report.texts import label
from contend.scenarios.axes import axis_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contend.report.chart_set import Row
    from contend.results.results import Results
    from contend.scenarios.axes import Curve


def measured_rows(named: Sequence[tuple[str, Curve]], axis: str | None, unit: str) -> list[Row]:
    """What was measured at points of a dataset, with its interval and what the prediction is off by."""
    rows: list[Row] = []
    for name, curve in named:
        for point in curve.points:
            found = point.measured
            if found is None or found["median"] is None:
                continue
            interval = found["interval"]
            low, high = interval or (found["median"], found["median"])
            error = found.get("abs_error_pct")
            rows.append(
                {
                    "x": axis_value(point, axis) if axis is not None else label(point.parameters),
                    "curve": name,
                    "mean": found["median"],
                    "low": low,
                    "high": high,
                    "point": label(point.parameters),
                    "value": quantity(found["median"], unit),
                    "interval": f"{quantity(low, unit)} to {quantity(high, unit)}" if interval else "-",
                    "error": "-" if error is None else f"{error:.0f} %",
                    "role": "of the fit" if found.get("fitted") else "not used in the fit",
                }
            )
    return rows


def measured_layers(
    common: dict[str, Any], channel: type[alt.X | alt.Y], title: str, scale: alt.Scale | None = None
) -> list[alt.Chart]:
    """A star at each median, and a line over its interval, along `channel`."""
    base = alt.Chart(alt.NamedData("measured")).encode(**common)
    if "color" in common:
        base = base.transform_filter("indexof(hidden, datum.curve) < 0")
    tooltip = [
        alt.Tooltip("point:N", title="point"),
        alt.Tooltip("value:N", title="measured"),
        alt.Tooltip("interval:N", title="95 % interval"),
        alt.Tooltip("error:N", title="prediction is off by"),
        alt.Tooltip("role:N", title="this point is"),
    ]
    along = "x" if channel is alt.X else "y"
    place = {"title": title} if scale is None else {"title": title, "scale": scale}
    ends = {along: channel("low:Q", **place), f"{along}2": "high"}
    return [
        base.mark_rule(strokeWidth=1.5).encode(**ends),
        base.mark_text(text="\N{BLACK STAR}", fontSize=18, dy=1, stroke="var(--paper)", strokeWidth=0.6).encode(
            **{along: channel("mean:Q", **place)}, tooltip=tooltip
        ),
    ]


def study_rows(results: Results, named: Sequence[tuple[str, Curve]], axis: str) -> list[Row]:
    """Published rates, each at both ends of what it stands for."""
    rows: list[Row] = []
    for item in study_points(results.scenario):
        if item.message_rate is None or axis not in item.parameters:
            continue
        for name, curve in named:
            at = [axis_value(point, axis) for point in curve.points if item.is_of(point.parameters)]
            rows += [
                {
                    "x": x,
                    "curve": name,
                    "mean": item.message_rate,
                    "value": quantity(item.message_rate, "msg/s"),
                    "source": item.source,
                    "role": "a target of calibration" if item.calibrated else "not used in calibration",
                    "item": f"{item.source} {item.parameters}",
                }
                for x in sorted({at[0], at[-1]} if at else ())
            ]
            if at:
                break
    return rows


def study_layers(common: dict[str, Any], y: alt.Y) -> list[alt.Chart]:
    """A star at each published rate, and a dashed line where one number stands for a range."""
    base = alt.Chart(alt.NamedData("study")).transform_filter("indexof(hidden, datum.curve) < 0")
    tooltip = [
        alt.Tooltip("source:N", title="reported by"),
        alt.Tooltip("value:N", title="rate"),
        alt.Tooltip("role:N", title="used as"),
    ]
    line = base.mark_line(strokeDash=[5, 4], strokeWidth=1, color="var(--ink)")
    star = base.mark_text(text="\N{BLACK STAR}", fontSize=18, dy=1, stroke="var(--paper)", strokeWidth=0.6)
    return [
        line.encode(x=common["x"], y=y, detail="item:N"),
        star.encode(x=common["x"], y=y, color=common["color"], tooltip=tooltip),
    ]
