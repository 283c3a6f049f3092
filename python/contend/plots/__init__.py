"""Pictures, one call each, in a style for publications.

Every function returns a Matplotlib figure that shows itself in a notebook; `.save("figure.pdf")` writes it. The
namesakes in `contend.plots.interactive` return Altair charts, to zoom and point at::

    results = contend.run("fig5_2a")
    contend.plots.rate(results)                          # rate against threads, with bands
    contend.plots.time_budget(results.select(instances=20))
    contend.plots.heat_map(results.select(assignment="dedicated"), x="pairs", y="instances")
    contend.plots.lock_timeline(contend.timeline("fig5_2a_base"))
"""

from __future__ import annotations

from contend.plots import interactive
from contend.plots.agreement import measured_against_predicted, validation_frame
from contend.plots.budget import time_budget
from contend.plots.contest import comparison_picture_bytes, draw_comparison
from contend.plots.curves import rate
from contend.plots.heat import heat_map
from contend.plots.locks import lock_timeline
from contend.plots.overview import draw, picture_bytes
from contend.plots.style import CATEGORY_COLOURS, STYLE, Picture, figure_bytes

# The picture of a run as `contend run` writes it, and that of a comparison.
overview = draw
comparison = draw_comparison

__all__ = [
    "CATEGORY_COLOURS", "STYLE", "Picture", "comparison", "comparison_picture_bytes", "draw", "draw_comparison",
    "figure_bytes", "heat_map", "interactive", "lock_timeline", "measured_against_predicted", "overview",
    "picture_bytes", "rate", "time_budget", "validation_frame",
]  # fmt: skip
