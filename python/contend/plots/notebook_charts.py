"""Altair charts that show themselves in notebooks by the same bytes each time.

Altair gives the element that a chart is drawn into a random name at every display: a notebook that is executed again
would differ from itself. Here the name follows from what is shown. Only the renderer for HTML has such an element;
what other renderers give is left as it is.
The classes are called as Altair's are, because charts say in texts what they are.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any, TypeVar

import altair as alt

_ELEMENT = re.compile(r"altair-viz-[0-9a-f]{32}")


def _steady(bundle: Any) -> Any:  # noqa: ANN401 - what Altair's renderers return
    """A bundle with the name of its element by the rest of it; of several forms of a chart only HTML has one."""
    html = bundle.get("text/html") if isinstance(bundle, dict) else None
    if html is None or (found := _ELEMENT.search(html)) is None:
        return bundle
    digest = hashlib.sha256(html.replace(found[0], "").encode()).hexdigest()[:32]
    return {**bundle, "text/html": html.replace(found[0], f"altair-viz-{digest}")}


class Chart(alt.Chart):  # type: ignore[misc]  # Altair is typed in part only
    """A chart of one view."""

    def _repr_mimebundle_(self, *args: Any, **keywords: Any) -> Any:  # noqa: ANN401 - as Altair has it
        return _steady(super()._repr_mimebundle_(*args, **keywords))


class LayerChart(alt.LayerChart):  # type: ignore[misc]
    """A chart of several layers."""

    def _repr_mimebundle_(self, *args: Any, **keywords: Any) -> Any:  # noqa: ANN401 - as Altair has it
        return _steady(super()._repr_mimebundle_(*args, **keywords))


_Any = TypeVar("_Any", alt.Chart, alt.LayerChart)


def steady(chart: _Any) -> _Any:
    """The chart, as one that shows itself by the same bytes each time; so do those that are made from it."""
    # Its class is all that differs: Altair has no other place for how a single chart shows itself. What is set as usual
    # becomes a part of the chart's description.
    object.__setattr__(chart, "__class__", LayerChart if isinstance(chart, alt.LayerChart) else Chart)
    return chart
