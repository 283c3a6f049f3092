"""The picture of a run: message rate over the first swept number, and where the time went."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from contend.axes import Curve, axis_value, curves, x_axis

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from contend.results import PointResult, Results

# Fixed colours: a category looks the same in every picture.
CATEGORY_COLOURS = {
    "software": "#4e79a7",
    "lock_wait": "#e15759",
    "line_transfer": "#ff9d9a",
    "matching": "#f28e2b",
    "out_of_sequence": "#ffbe7d",
    "nic_post": "#59a14f",
    "completion": "#8cd17d",
    "poll_idle": "#d4d4d4",
    "blocked": "#bab0ac",
    "barrier": "#79706e",
    "copy": "#b07aa1",
}
_OTHER_COLOURS = ("#edc948", "#b6992d", "#499894", "#86bcb6", "#d37295", "#9d7660")
STYLE: Any = {
    # The same bytes for the same results: no random identifiers.
    "svg.hashsalt": "contend",
    "font.size": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "figure.dpi": 110,
    "legend.frameon": False,
}
_MAX_LEGEND_ENTRIES = 12
_SMALLEST_SHARE_PERCENT = 0.05
_MARKERS = "osD^vP*X"


def _measure(points: tuple[PointResult, ...]) -> tuple[str, str]:
    if points[0].message_rate is not None:
        return "message_rate", "message rate (msg/s)"
    if "perceived_bandwidth" in points[0].estimates:
        return "perceived_bandwidth", "perceived bandwidth (MiB/s)"
    return "time_per_operation_s", "time per operation (s)"


def _value(point: PointResult, measure: str) -> tuple[float, float, float]:
    estimate = point.estimates.get(measure)
    if estimate is None:
        value = point.scalars.get(measure, 0.0)
        return value, value, value
    low = estimate.mean if estimate.low is None else estimate.low
    high = estimate.mean if estimate.high is None else estimate.high
    return estimate.mean, low, high


def _point_labels(points: tuple[PointResult, ...]) -> list[str]:
    return ["\n".join(f"{k}={v}" for k, v in point.parameters.items()) or "the point" for point in points]


def _draw_curves(axes: Axes, all_curves: list[Curve], axis: str, measure: str) -> None:
    from matplotlib.ticker import MaxNLocator

    values_on_axis = []
    for index, curve in enumerate(all_curves):
        x = [axis_value(point, axis) for point in curve.points]
        values = [_value(point, measure) for point in curve.points]
        (line,) = axes.plot(
            x, [v[0] for v in values], marker=_MARKERS[index % len(_MARKERS)], markersize=4, label=curve.label
        )
        values_on_axis += x
        axes.fill_between(x, [v[1] for v in values], [v[2] for v in values], color=line.get_color(), alpha=0.2, lw=0)
    axes.set_xlabel(axis.replace("_", " "))
    if all(float(value).is_integer() for value in values_on_axis):
        axes.xaxis.set_major_locator(MaxNLocator(nbins=10, integer=True))
    if len(all_curves) > 1:
        axes.legend(fontsize="small", ncols=1 + len(all_curves) // _MAX_LEGEND_ENTRIES)


def _draw_bars(axes: Axes, points: tuple[PointResult, ...], measure: str) -> None:
    values = [_value(point, measure) for point in points]
    errors = [[v[0] - v[1] for v in values], [v[2] - v[0] for v in values]]
    axes.bar(range(len(points)), [v[0] for v in values], yerr=errors, capsize=3, color="#4e79a7", width=0.6)
    axes.set_xticks(range(len(points)), _point_labels(points))


def _draw_budget(axes: Axes, role: str, points: tuple[PointResult, ...], labels: list[str]) -> None:
    categories = list(CATEGORY_COLOURS)
    for point in points:
        categories += [c for c in point.time_by_category_ns.get(role, {}) if c not in categories]
    totals = [sum(point.time_by_category_ns.get(role, {}).values()) or 1.0 for point in points]
    base = [0.0] * len(points)
    unknown = iter(_OTHER_COLOURS * len(categories))
    for category in categories:
        colour = CATEGORY_COLOURS.get(category) or next(unknown)
        shares = [
            100 * point.time_by_category_ns.get(role, {}).get(category, 0.0) / total
            for point, total in zip(points, totals, strict=True)
        ]
        if max(shares) >= _SMALLEST_SHARE_PERCENT:
            axes.bar(range(len(points)), shares, bottom=base, color=colour, width=0.8, label=category.replace("_", " "))
            base = [b + s for b, s in zip(base, shares, strict=True)]
    axes.set_xticks(range(len(points)), labels)
    axes.set_ylim(0, 100)
    axes.grid(visible=False)
    axes.set_title(f"{role}: where the time went", fontsize="medium")


def _budget_points(all_curves: list[Curve], axis: str | None) -> tuple[tuple[PointResult, ...], list[str], str]:
    """Which points the budget shows, their labels, and what they are: one curve entirely, or the end of each."""
    if axis is None:
        points = all_curves[0].points if len(all_curves) == 1 else tuple(c.points[-1] for c in all_curves)
        return points, _point_labels(points), ""
    if len(all_curves) == 1:
        points = all_curves[0].points
        return points, [str(point.parameters[axis]) for point in points], axis.replace("_", " ")
    points = tuple(curve.points[-1] for curve in all_curves)
    labels = [curve.label.replace(", ", "\n") for curve in all_curves]
    return points, labels, f"at the largest {axis.replace('_', ' ')}"


def draw(results: Results) -> Figure:
    """Draws the picture of a run.

    Args:
        results: A run with at least one point.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure
    from matplotlib.ticker import EngFormatter

    points = results.points
    axis = x_axis(points)
    all_curves = curves(points, axis)
    measure, measure_label = _measure(points)
    roles = list(dict.fromkeys(role for point in points for role in point.time_by_category_ns))
    # The receiver is where it usually hurts: it comes first.
    roles.sort(key=lambda role: (role != "receiver", role != "sender"))
    with rc_context(STYLE):
        figure = Figure(figsize=(9.6, 7.2 if roles else 4.2), layout="constrained")
        grid = figure.add_gridspec(2 if roles else 1, max(1, len(roles)))
        rate = figure.add_subplot(grid[0, :])
        if axis is None:
            _draw_bars(rate, points, measure)
        else:
            _draw_curves(rate, all_curves, axis, measure)
        rate.set_ylim(bottom=0)
        rate.yaxis.set_major_formatter(EngFormatter())
        rate.set_ylabel(measure_label)
        rate.set_title(f"{results.name}\n", fontsize="large", fontweight="bold")
        several = any(point.replications > 1 for point in points)
        if several:
            rate.set_title("mean, 95 % confidence interval", fontsize="small", loc="right")
        shown, labels, x_label = _budget_points(all_curves, axis)
        for column, role in enumerate(roles):
            panel = figure.add_subplot(grid[1, column])
            _draw_budget(panel, role, shown, labels)
            panel.set_xlabel(x_label)
            if column == 0:
                panel.set_ylabel("% of thread time")
        if roles:
            handles: dict[str, Any] = {}
            for panel in figure.axes[1:]:
                for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
                    handles.setdefault(label, handle)
            figure.legend(
                handles.values(), handles.keys(), loc="outside lower center", ncols=min(6, len(handles)),
                fontsize="small",
            )  # fmt: skip
        return figure


def picture_bytes(results: Results) -> dict[str, bytes]:
    """The picture in both formats: {"png": ..., "svg": ...}; the same results give the same bytes."""
    from matplotlib import rc_context

    with rc_context(STYLE):
        figure = draw(results)
    return figure_bytes(figure)


def figure_bytes(figure: Figure, kinds: Sequence[str] = ("png", "svg")) -> dict[str, bytes]:
    """A figure in some formats ("png", "svg"), by format; the same figure gives the same bytes."""
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    metadata: dict[str, dict[str, Any]] = {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}
    pictures = {}
    with rc_context(STYLE):
        FigureCanvasAgg(figure)
        for kind in kinds:
            buffer = io.BytesIO()
            figure.savefig(buffer, format=kind, dpi=150, metadata=metadata[kind])
            pictures[kind] = buffer.getvalue()
    return pictures
