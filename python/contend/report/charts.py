"""The charts of a report, as Vega-Lite with their data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contend.report.budget_chart import add_budgets
from contend.report.chart_set import Charts, Key
from contend.report.counter_chart import add_counters
from contend.report.curve_looks import DASHES, curve_name, curve_styles
from contend.report.provenance import explained_measure
from contend.report.rate_chart import add_rates
from contend.report.speedup_chart import add_speedups
from contend.scenarios.axes import curves, x_axis

if TYPE_CHECKING:
    from contend.report.source import ExplanationFile
    from contend.results.results import PointResult, Results
    from contend.traces.picture import Stretch

# A page draws so many curves; more would be unreadable.
MOST_CURVES = 24


def make_charts(
    results: Results, chosen: PointResult, explanation: ExplanationFile | None, stretch: Stretch | None
) -> Charts:
    """All charts of a report; where only one curve fits, that of the chosen point is shown first."""
    charts = Charts()
    axis = charts.axis = x_axis(results.points)
    every = curves(results.points, axis)
    shown = every[:MOST_CURVES]
    charts.left_out = len(every) - len(shown)
    named = [(curve_name(curve), curve) for curve in shown]
    charts.curves_differ_in = next(iter(shown[0].parameters), "") if shown and len(shown[0].parameters) == 1 else ""
    charts.curve_labels = [name for name, _ in named]
    # Of very many curves the chosen one may be left out.
    with_chosen = (name for name, curve in named if chosen in curve.points)
    charts.chosen_curve = next(with_chosen, next(iter(charts.curve_labels), ""))
    styles = curve_styles([curve for _, curve in named])
    charts.curve_keys = [
        Key(name, name, colour, dashed=dash != DASHES[0])
        for name, (colour, dash) in zip(charts.curve_labels, styles, strict=True)
    ]
    add_rates(charts, results, named, axis, styles)
    add_budgets(charts, results, named, axis)
    if axis is not None:
        add_counters(charts, named, axis, styles)
    if explanation is not None and explanation.speedups:
        add_speedups(charts, explanation, explained_measure(results, explanation))
    if stretch is not None:
        from contend.report.timeline_charts import add_timeline

        add_timeline(charts, stretch)
    return charts
