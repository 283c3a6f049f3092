"""The charts of a report, as Vega-Lite with their data.

Colours are CSS variables of the page (page.css): a chart is drawn once and follows the theme, on paper too. Names of
parameters, curves and categories come from files, so they are data only, never part of field names or expressions.
"""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import altair as alt

from contend.amounts import quantity
from contend.axes import Curve, axis_value, curves, x_axis
from contend.measures import main_measure
from contend.plots.curves import tick_labels, tick_text, value_of
from contend.plots.style import CATEGORY_COLOURS, OTHER_COLOURS
from contend.plots.ticks import tick_expression
from contend.price_bases import UNCERTAIN_MARK
from contend.report.reference_layers import measured_layers, measured_rows, study_layers, study_rows
from contend.report.texts import label
from contend.spelling import value_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contend.jsontypes import JsonObject, Scalar
    from contend.report.source import ExplanationFile, RatioEntry, SpeedupEntry
    from contend.results import PointResult, Results
    from contend.trace_plot import Stretch

Row: TypeAlias = "dict[str, Scalar]"

# A page draws so many curves; more would be unreadable.
MOST_CURVES = 24
SERIES = 8
_DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])
_IDLE = ("poll_idle", "blocked", "barrier")
_LOG_ABOVE = 50.0
_MOST_ABOVE = 1.6
_FEW_TICKS = 8
# Of the time of a role; what takes less is not shown.
SMALLEST_SHARE = 0.0005
_MOST_SPEEDUPS = 18
# The names of costs are cut on a phone only.
_COST_PIXELS = "windowSize()[0] < 700 ? 170 : 300"
_FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif'

CONFIG: JsonObject = {
    "background": "transparent",
    "font": _FONT,
    "view": {"stroke": None},
    "axis": {
        "labelColor": "var(--muted)", "titleColor": "var(--ink)", "gridColor": "var(--grid)",
        "domainColor": "var(--line)", "tickColor": "var(--line)", "labelFontSize": 12, "titleFontSize": 12,
        "titleFontWeight": 500, "titlePadding": 8, "labelPadding": 5,
    },
    "text": {"fill": "var(--ink)"},
    "autosize": {"type": "fit-x", "contains": "padding"},
}  # fmt: skip


@dataclass(frozen=True)
class Key:
    """One entry of a legend, which shows or hides what it names."""

    name: str
    title: str
    colour: str
    dashed: bool = False


@dataclass
class Charts:
    """Specifications by name, the data they use, and what the page needs beside them."""

    specifications: dict[str, JsonObject] = field(default_factory=dict)
    data: dict[str, list[Row]] = field(default_factory=dict)
    curve_keys: list[Key] = field(default_factory=list)
    category_keys: list[Key] = field(default_factory=list)
    slice_keys: list[Key] = field(default_factory=list)
    axis: str | None = None
    """The swept parameter on the x axis, if one is a number."""
    roles: list[str] = field(default_factory=list)
    curve_labels: list[str] = field(default_factory=list)
    chosen_curve: str = ""
    """The curve with the point that the report explains."""
    curves_differ_in: str = ""
    """The parameter that tells curves apart, if it is a single one."""
    queue_keys: list[Key] = field(default_factory=list)
    counters: list[tuple[str, str]] = field(default_factory=list)
    """Counters that can be chosen: name, and what it is in words."""
    has_study: bool = False
    has_measurements: bool = False
    left_out: int = 0
    """Curves beyond the limit."""

    def add(self, name: str, chart: alt.Chart | alt.LayerChart) -> None:
        """Adds a specification."""
        self.specifications[name] = chart.to_dict(format="vega-lite") | {"config": CONFIG}


def make_charts(
    results: Results, chosen: PointResult, explanation: ExplanationFile | None, stretch: Stretch | None
) -> Charts:
    """All charts of a report; where only one curve fits, that of the chosen point is shown first."""
    charts = Charts()
    axis = charts.axis = x_axis(results.points)
    every = curves(results.points, axis)
    shown = every[:MOST_CURVES]
    charts.left_out = len(every) - len(shown)
    named = [(_curve_name(curve), curve) for curve in shown]
    charts.curves_differ_in = next(iter(shown[0].parameters), "") if shown and len(shown[0].parameters) == 1 else ""
    charts.curve_labels = [name for name, _ in named]
    # Of very many curves the chosen one may be left out.
    with_chosen = (name for name, curve in named if chosen in curve.points)
    charts.chosen_curve = next(with_chosen, next(iter(charts.curve_labels), ""))
    styles = _curve_styles([curve for _, curve in named])
    charts.curve_keys = [
        Key(name, name, colour, dashed=dash != _DASHES[0])
        for name, (colour, dash) in zip(charts.curve_labels, styles, strict=True)
    ]
    _add_rates(charts, results, named, axis, styles)
    _add_budgets(charts, results, named, axis)
    if axis is not None:
        _add_counters(charts, named, axis, styles)
    if explanation is not None and explanation.speedups:
        _add_speedups(charts, explanation)
    if stretch is not None:
        from contend.report.timeline_charts import add_timeline

        add_timeline(charts, stretch)
    return charts


def _curve_name(curve: Curve) -> str:
    """What tells a curve from the others; the parameter's name is left away where there is only one."""
    if len(curve.parameters) == 1:
        return value_text(next(iter(curve.parameters.values())))
    return curve.label or "rate"


def _curve_styles(shown: Sequence[Curve]) -> list[tuple[str, list[int]]]:
    """A colour for each value of the first parameter that tells curves apart, dashes for the others."""
    names = list(shown[0].parameters) if shown else []
    firsts = [str(curve.parameters.get(names[0])) if names else "" for curve in shown]
    rests = [str([curve.parameters.get(name) for name in names[1:]]) for curve in shown]
    colours, dashes = list(dict.fromkeys(firsts)), list(dict.fromkeys(rests))
    return [
        (f"var(--series-{colours.index(first) % SERIES})", _DASHES[dashes.index(rest) % len(_DASHES)])
        for first, rest in zip(firsts, rests, strict=True)
    ]


def _is_geometric(values: Sequence[float]) -> bool:
    """Whether values double (or more) from one to the next, as window sizes do; zero may be the first."""
    rising = values[1:] if values[:1] == [0] else values
    doubling = all(a > 0 and b / a >= 2 for a, b in itertools.pairwise(rising))  # noqa: PLR2004
    return len(values) > 2 and doubling  # noqa: PLR2004


def _x(axis: str, points: Sequence[PointResult]) -> alt.X:
    """Ticks stand at the values of a sweep that doubles from one to the next, of which zero may be the first."""
    labels = tick_labels(points, axis)
    ticks = list(labels)
    title = axis.replace("_", " ").replace(".", " ")
    has_unit = any(isinstance(point.parameters[axis], str) for point in points)
    # A number is what it is; of a quantity the unit is said. Texts are quoted as JSON is.
    texts = (
        f"{json.dumps(list(labels.values()))}[indexof({json.dumps(ticks)}, datum.value)]"
        if has_unit
        else tick_expression("")
    )
    look: dict[str, Any] = {"grid": False, "labelOverlap": True, "labelFlush": False}
    scale = alt.Scale(zero=False, nice=False, padding=8)
    if _is_geometric(ticks):
        step_for_zero = alt.Scale(type="symlog", constant=ticks[1], nice=False)
        scale = step_for_zero if ticks[0] == 0 else alt.Scale(type="log", base=2, nice=False)
    elif not has_unit and len(ticks) > _FEW_TICKS:
        whole = all(float(tick).is_integer() for tick in ticks)
        return alt.X("x:Q", title=title, scale=scale, axis=alt.Axis(**look, **({"tickMinStep": 1} if whole else {})))
    return alt.X("x:Q", title=title, scale=scale, axis=alt.Axis(**look, values=ticks, labelExpr=texts))


def _curve_colour(labels: Sequence[str], styles: Sequence[tuple[str, list[int]]]) -> alt.Color:
    return alt.Color("curve:N", scale=alt.Scale(domain=list(labels), range=[c for c, _ in styles]), legend=None)


def _curve_dash(labels: Sequence[str], styles: Sequence[tuple[str, list[int]]]) -> alt.StrokeDash:
    return alt.StrokeDash("curve:N", scale=alt.Scale(domain=list(labels), range=[d for _, d in styles]), legend=None)


def _hidden(*names: str) -> list[Any]:
    """Parameters that the page sets: what its legends have switched off."""
    return [alt.param(name=name, value=[]) for name in names]


def _add_rates(
    charts: Charts,
    results: Results,
    named: Sequence[tuple[str, Curve]],
    axis: str | None,
    styles: Sequence[tuple[str, list[int]]],
) -> None:
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
        "x": _x(axis, [point for _, curve in named for point in curve.points]),
        "color": _curve_colour(labels, styles),
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
            base.mark_line(strokeWidth=2).encode(y=y, strokeDash=_curve_dash(labels, styles)),
            base.mark_point(filled=True, size=34, opacity=1).encode(y=y),
            # What a pointer or a finger can hit.
            base.mark_point(filled=True, size=420, opacity=0).encode(y=y, tooltip=tooltip),
        ]
        if study:
            layers += study_layers(common, y)
        if measured:
            layers += measured_layers(common, alt.Y, y_title, scale)
        charts.add(name, alt.layer(*layers).add_params(*_hidden("hidden")).properties(width="container", height=340))


def category_colour(name: str, unknown: list[str]) -> str:
    """The colour of a category, the same in every picture of contend; idle ones are darker in the dark."""
    if name in _IDLE:
        return f"var(--idle-{_IDLE.index(name)})"
    if name in CATEGORY_COLOURS:
        return CATEGORY_COLOURS[name]
    if name not in unknown:
        unknown.append(name)
    return OTHER_COLOURS[unknown.index(name) % len(OTHER_COLOURS)]


def _add_budgets(charts: Charts, results: Results, named: Sequence[tuple[str, Curve]], axis: str | None) -> None:
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
        chart = chart.add_params(*_hidden("hidden")).properties(
            width="container", height=34 * len(charts.data["points"])
        )
    else:
        x_axis_look = alt.Axis(labelAngle=0, labelOverlap=True, ticks=False)
        x = alt.X("x:O", sort=None, title=axis.replace("_", " "), axis=x_axis_look, scale=alt.Scale(paddingInner=0.12))
        chart = base.transform_filter("datum.curve == curve").mark_bar().encode(x=x, y=alt.Y("share:Q", **share))
        chosen = alt.param(name="curve", value=charts.chosen_curve)
        chart = chart.add_params(*_hidden("hidden"), chosen).properties(width="container", height=230)
    charts.add(f"budget-{index}", chart)


def _add_counters(
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
            x=_x(axis, [point for _, curve in named for point in curve.points]),
            y=alt.Y("y:Q", title=None, scale=alt.Scale(zero=True), axis=alt.Axis(labelExpr=ticks, tickCount=5)),
            color=_curve_colour(labels, styles),
        )
    )
    tooltip = [
        alt.Tooltip("point:N", title="point"),
        alt.Tooltip("y:Q", title="shown", format=".4~s"),
        alt.Tooltip("total:N", title="counter"),
    ]
    chart = alt.layer(
        base.mark_line(strokeWidth=2).encode(strokeDash=_curve_dash(labels, styles)),
        base.mark_point(filled=True, size=30, opacity=1),
        base.mark_point(filled=True, size=420, opacity=0).encode(tooltip=tooltip),
    )
    counter = alt.param(name="counter", value=order[0])
    # Which counter it is changes, so that what the axis shows stands above it: a title beside it cannot change.
    words = alt.param(name="words", value=dict(charts.counters))
    heading = alt.TitleParams(
        text=alt.expr("words[counter]"), anchor="start", fontSize=12, fontWeight=500, color="var(--ink)"
    )  # fmt: skip
    chart = chart.add_params(*_hidden("hidden"), counter, words)
    charts.add("counters", chart.properties(width="container", height=240, title=heading))


def _cost_name(entry: SpeedupEntry) -> str:
    """A cost or group, marked where its price may be far off."""
    return f"{entry.name} {UNCERTAIN_MARK}" if entry.uncertain else entry.name


def _add_speedups(charts: Charts, explanation: ExplanationFile) -> None:
    shown = [entry for entry in explanation.speedups if entry.removed or entry.halved][:_MOST_SPEEDUPS]
    rows: list[Row] = []
    for entry in shown:
        ratios: tuple[tuple[str, RatioEntry | None], ...] = (("removed", entry.removed), ("halved", entry.halved))
        for change, ratio in ratios:
            if ratio is not None:
                low, high = ratio.ci95
                mean = ratio.rate_ratio
                rows.append(
                    {
                        "cost": _cost_name(entry),
                        "change": change,
                        "gain": mean - 1,
                        "low": (mean if low is None else low) - 1,
                        "high": (mean if high is None else high) - 1,
                        "is": entry.value or f"{len(entry.costs)} costs together",
                        "ratio": f"x {mean:.3f}",
                        "basis": entry.basis or "-",
                    }
                )
    if not rows:
        return
    charts.data["speedups"] = rows
    groups = [_cost_name(entry) for entry in shown if not entry.value]
    names = list(map(_cost_name, shown))
    bold = alt.param(name="groups", value=groups)
    weight: Any = {"condition": {"test": "indexof(groups, datum.value) >= 0", "value": "bold"}, "value": "normal"}
    tooltip = [
        alt.Tooltip("cost:N", title="cost"),
        alt.Tooltip("is:N", title="now"),
        alt.Tooltip("change:N", title="change"),
        alt.Tooltip("ratio:N", title="rate with it / without"),
        alt.Tooltip("basis:N", title="price known from"),
    ]
    base = alt.Chart(alt.NamedData("speedups")).encode(
        y=alt.Y(
            "cost:N", sort=names, title=None,
            axis=alt.Axis(
                labelFontWeight=weight, labelColor="var(--ink)", labelLimit=alt.expr(_COST_PIXELS),
                ticks=False, domain=False,
            ),
            scale=alt.Scale(paddingInner=0.3),
        ),
        yOffset=alt.YOffset("change:N", sort=["removed", "halved"]),
        tooltip=tooltip,
    )  # fmt: skip
    colour = alt.Color(
        "change:N", legend=None,
        scale=alt.Scale(domain=["removed", "halved"], range=["var(--series-0)", "var(--series-0-soft)"]),
    )  # fmt: skip
    # Wide intervals are cut where they would make the bars short.
    gains = [float(row["gain"] or 0) for row in rows]
    room = 0.3 * (max(*gains, 0.0) - min(*gains, 0.0)) or 0.1
    scale = alt.Scale(domain=[min(*gains, 0.0) - room / 2, max(*gains, 0.0) + room], nice=False)
    look = alt.Axis(format="+.0%", tickCount=5)
    title = "change of the rate"
    chart = alt.layer(
        base.mark_bar().encode(x=alt.X("gain:Q", title=title, axis=look, scale=scale), color=colour),
        base.mark_rule(color="var(--ink)", strokeWidth=1, clip=True).encode(
            x=alt.X("low:Q", title=title, axis=look, scale=scale), x2="high"
        ),
    )
    charts.add("speedups", chart.add_params(bold).properties(width="container", height=26 * len(shown)))
