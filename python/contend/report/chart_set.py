"""What the charts of a report are: specifications by name, their data, and the legends of the page beside them.

Colours are CSS variables of the page (page.css): a chart is drawn once and follows the theme, on paper too. Names of
parameters, curves and categories come from files, so they are data only, never part of field names or expressions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import altair as alt

if TYPE_CHECKING:
    from contend.common.jsontypes import JsonObject, Scalar

Row: TypeAlias = "dict[str, Scalar]"

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


def hidden(*names: str) -> list[Any]:
    """Parameters that the page sets: what its legends have switched off."""
    return [alt.param(name=name, value=[]) for name in names]
