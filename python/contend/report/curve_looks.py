"""How curves look: names, colours and dashes, and the axis that they stand above."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

import altair as alt

from contend.common.spelling import value_text
from contend.plots.curves import tick_labels
from contend.plots.ticks import are_whole, tick_expression

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contend.results.results import PointResult
    from contend.scenarios.axes import Curve

SERIES = 8
"""Colours of the page."""
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])
"""The first is a whole line."""
_FEW_TICKS = 8


def curve_name(curve: Curve) -> str:
    """What tells a curve from the others; the parameter's name is left away where there is only one."""
    if len(curve.parameters) == 1:
        return value_text(next(iter(curve.parameters.values())))
    return curve.label or "rate"


def curve_styles(shown: Sequence[Curve]) -> list[tuple[str, list[int]]]:
    """A colour for each value of the first parameter that tells curves apart, dashes for the others."""
    names = list(shown[0].parameters) if shown else []
    firsts = [str(curve.parameters.get(names[0])) if names else "" for curve in shown]
    rests = [str([curve.parameters.get(name) for name in names[1:]]) for curve in shown]
    colours, dashes = list(dict.fromkeys(firsts)), list(dict.fromkeys(rests))
    return [
        (f"var(--series-{colours.index(first) % SERIES})", DASHES[dashes.index(rest) % len(DASHES)])
        for first, rest in zip(firsts, rests, strict=True)
    ]


def _is_geometric(values: Sequence[float]) -> bool:
    """Whether values double (or more) from one to the next, as window sizes do; zero may be the first."""
    rising = values[1:] if values[:1] == [0] else values
    doubling = all(a > 0 and b / a >= 2 for a, b in itertools.pairwise(rising))  # noqa: PLR2004
    return len(values) > 2 and doubling  # noqa: PLR2004


def x_of(axis: str, points: Sequence[PointResult]) -> alt.X:
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
        step = {"tickMinStep": 1} if are_whole(ticks) else {}
        return alt.X("x:Q", title=title, scale=scale, axis=alt.Axis(**look, **step))
    return alt.X("x:Q", title=title, scale=scale, axis=alt.Axis(**look, values=ticks, labelExpr=texts))


def curve_colour(labels: Sequence[str], styles: Sequence[tuple[str, list[int]]]) -> alt.Color:
    """The colours of curves by their names; the page has the legend."""
    return alt.Color("curve:N", scale=alt.Scale(domain=list(labels), range=[c for c, _ in styles]), legend=None)


def curve_dash(labels: Sequence[str], styles: Sequence[tuple[str, list[int]]]) -> alt.StrokeDash:
    """The dashes of curves by their names."""
    return alt.StrokeDash("curve:N", scale=alt.Scale(domain=list(labels), range=[d for _, d in styles]), legend=None)
