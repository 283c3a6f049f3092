"""The virtual speed-ups of an explanation: what a lower cost would bring."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt

from contend.explanations.price_bases import UNCERTAIN_MARK
from contend.explanations.speedups import BOUNDED_MARK, BOUNDED_WORDS

if TYPE_CHECKING:
    from contend.report.chart_set import Charts, Row
    from contend.report.source import ExplanationFile, RatioEntry, SpeedupEntry
    from contend.results.measures import Measure

_MOST_SPEEDUPS = 18
# The names of costs are cut on a phone only.
_COST_PIXELS = "windowSize()[0] < 700 ? 170 : 300"


def _cost_name(entry: SpeedupEntry) -> str:
    """A cost or group, marked where it cannot be removed altogether, and where its price may be far off."""
    marks = [f" {BOUNDED_MARK}"] if entry.not_removable else []
    return "".join([entry.name, *marks, *([f" {UNCERTAIN_MARK}"] if entry.uncertain else [])])


def add_speedups(charts: Charts, explanation: ExplanationFile, measure: Measure) -> None:
    """Adds bars for each cost, halved and removed, largest gain first as the explanation has them.

    Args:
        charts: Where they go.
        explanation: What has the speed-ups.
        measure: What they are of.
    """
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
                        "how": BOUNDED_WORDS if change == "removed" and entry.not_removable else change,
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
        alt.Tooltip("how:N", title="change"),
        alt.Tooltip("ratio:N", title="speed-up"),
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
    title = measure.speedup
    chart = alt.layer(
        base.mark_bar().encode(x=alt.X("gain:Q", title=title, axis=look, scale=scale), color=colour),
        base.mark_rule(color="var(--ink)", strokeWidth=1, clip=True).encode(
            x=alt.X("low:Q", title=title, axis=look, scale=scale), x2="high"
        ),
    )
    charts.add("speedups", chart.add_params(bold).properties(width="container", height=26 * len(shown)))
