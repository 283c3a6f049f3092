"""The picture of a run: message rate over the first swept number, and where the time went."""

from __future__ import annotations

import io
import itertools
from typing import TYPE_CHECKING, Any

from contend.axes import Curve, axis_value, curves, x_axis
from contend.study import study_points

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.gridspec import GridSpec

    from contend.compare import Comparison, PointComparison
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
_MAX_INNER_LEGEND = 3
_MARKERS = "osD^vP*X"
_LINES = ("-", "--", ":", "-.")
# A rate axis is logarithmic when its largest value is more than so many times the smallest.
_LOG_ABOVE = 50.0


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


def _styles(all_curves: list[Curve]) -> list[dict[str, Any]]:
    """A colour for each value of the first parameter that tells curves apart, line and marker for the others."""
    names = list(all_curves[0].parameters)
    colours = list(dict.fromkeys(str(curve.parameters.get(names[0])) if names else "" for curve in all_curves))
    rests = list(dict.fromkeys(str([curve.parameters.get(name) for name in names[1:]]) for curve in all_curves))
    styles = []
    for curve in all_curves:
        colour = colours.index(str(curve.parameters.get(names[0])) if names else "")
        rest = rests.index(str([curve.parameters.get(name) for name in names[1:]]))
        marker = _MARKERS[(rest if len(rests) > 1 else colour) % len(_MARKERS)]
        styles.append({"color": f"C{colour % 10}", "linestyle": _LINES[rest % len(_LINES)], "marker": marker})
    return styles


def _draw_curves(axes: Axes, all_curves: list[Curve], axis: str, measure: str) -> None:
    from matplotlib.ticker import MaxNLocator

    values_on_axis = []
    for curve, style in zip(all_curves, _styles(all_curves), strict=True):
        x = [axis_value(point, axis) for point in curve.points]
        values = [_value(point, measure) for point in curve.points]
        (line,) = axes.plot(x, [v[0] for v in values], markersize=4, label=curve.label, **style)
        values_on_axis += x
        axes.fill_between(x, [v[1] for v in values], [v[2] for v in values], color=line.get_color(), alpha=0.2, lw=0)
    axes.set_xlabel(axis.replace("_", " "))
    ticks = sorted(set(values_on_axis))
    if _is_geometric(ticks):
        axes.set_xscale("log", base=2)
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.minorticks_off()
    elif all(float(value).is_integer() for value in values_on_axis):
        axes.xaxis.set_major_locator(MaxNLocator(nbins=10, integer=True))


def _is_geometric(ticks: list[float]) -> bool:
    """Whether values double (or more) from one to the next, as window sizes do."""
    return len(ticks) > 2 and ticks[0] > 0 and all(b / a >= 2 for a, b in itertools.pairwise(ticks))  # noqa: PLR2004


def _draw_study(axes: Axes, results: Results, all_curves: list[Curve], axis: str) -> None:
    """Published measurements of the same thing."""
    label: str | None = "measured by the study"
    for measured in study_points(results.name):
        for curve in all_curves:
            at = [point for point in curve.points if measured.is_of(point.parameters)]
            if at and axis in measured.parameters:
                x = axis_value(at[0], axis)
                axes.plot([x], [measured.message_rate], "k*", markersize=9, zorder=5, label=label)
                label = None
                break


def _set_scale(axes: Axes, values: list[float]) -> None:
    """From zero where that shows everything, else logarithmic."""
    from matplotlib.ticker import EngFormatter, NullFormatter

    positive = [value for value in values if value > 0]
    if len(positive) == len(values) and max(positive) / min(positive) > _LOG_ABOVE:
        axes.set_yscale("log")
        axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter(EngFormatter())


def _add_legend(axes: Axes) -> None:
    handles, labels = axes.get_legend_handles_labels()
    if len(labels) > _MAX_INNER_LEGEND:
        columns = 1 + len(labels) // _MAX_LEGEND_ENTRIES
        axes.legend(fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5), ncols=columns)
    elif len(handles) > 1:
        axes.legend(fontsize="small")


def _draw_bars(axes: Axes, points: tuple[PointResult, ...], measure: str) -> None:
    values = [_value(point, measure) for point in points]
    errors = [[v[0] - v[1] for v in values], [v[2] - v[0] for v in values]]
    axes.bar(range(len(points)), [v[0] for v in values], yerr=errors, capsize=3, color="#4e79a7", width=0.6)
    axes.set_xticks(range(len(points)), _point_labels(points))


def _draw_budget(axes: Axes, role: str, points: tuple[PointResult, ...]) -> None:
    """A horizontal bar per point, the first on top."""
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
            axes.barh(range(len(points)), shares, left=base, color=colour, height=0.8, label=category.replace("_", " "))
            base = [b + s for b, s in zip(base, shares, strict=True)]
    axes.set_yticks(range(len(points)), [""] * len(points))
    axes.invert_yaxis()
    axes.set_xlim(0, 100)
    axes.set_xlabel("% of thread time")
    axes.grid(visible=False)
    axes.set_title(f"{role}: where the time went", fontsize="medium")


def _budget_points(all_curves: list[Curve], axis: str | None) -> tuple[tuple[PointResult, ...], list[str], str]:
    """Which points the budget shows, their labels, and what they are: one curve entirely, or the end of each."""
    if axis is None:
        points = all_curves[0].points if len(all_curves) == 1 else tuple(c.points[-1] for c in all_curves)
        return points, [label.replace("\n", ", ") for label in _point_labels(points)], ""
    if len(all_curves) == 1:
        points = all_curves[0].points
        return points, [str(point.parameters[axis]) for point in points], axis.replace("_", " ")
    points = tuple(curve.points[-1] for curve in all_curves)
    return points, [curve.label for curve in all_curves], f"at the largest {axis.replace('_', ' ')}"


def _draw_budgets(figure: Figure, grid: GridSpec, results: Results, roles: list[str]) -> None:
    """One panel a role, side by side, with one legend for all."""
    axis = x_axis(results.points)
    shown, labels, what = _budget_points(curves(results.points, axis), axis)
    panels = [figure.add_subplot(grid[1, column]) for column in range(len(roles))]
    for panel, role in zip(panels, roles, strict=True):
        _draw_budget(panel, role, shown)
    panels[0].set_yticks(range(len(shown)), labels, fontsize="small")
    panels[0].set_ylabel(what)
    handles: dict[str, Any] = {}
    for panel in panels:
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    figure.legend(
        handles.values(), handles.keys(), loc="outside lower center", ncols=min(6, len(handles)), fontsize="small"
    )


def draw(results: Results) -> Figure:
    """Draws the picture of a run.

    Args:
        results: A run with at least one point.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    points = results.points
    axis = x_axis(points)
    all_curves = curves(points, axis)
    measure, measure_label = _measure(points)
    roles = list(dict.fromkeys(role for point in points for role in point.time_by_category_ns))
    # The receiver is where it usually hurts: it comes first.
    roles.sort(key=lambda role: (role != "receiver", role != "sender"))
    with rc_context(STYLE):
        bars = len(_budget_points(all_curves, axis)[0]) if roles else 0
        heights = [4.2, 0.9 + 0.18 * max(4, bars)] if roles else [4.2]
        figure = Figure(figsize=(10.4, sum(heights) + (0.6 if roles else 0.0)), layout="constrained")
        grid = figure.add_gridspec(len(heights), max(1, len(roles)), height_ratios=heights)
        rate = figure.add_subplot(grid[0, :])
        if axis is None:
            _draw_bars(rate, points, measure)
        else:
            _draw_curves(rate, all_curves, axis, measure)
            if measure == "message_rate":
                _draw_study(rate, results, all_curves, axis)
            _add_legend(rate)
        _set_scale(rate, [_value(point, measure)[0] for point in points])
        rate.set_ylabel(measure_label)
        rate.set_title(f"{results.name}\n", fontsize="large", fontweight="bold")
        if any(point.replications > 1 for point in points):
            rate.set_title("mean, 95 % confidence interval", fontsize="small", loc="right")
        if roles:
            _draw_budgets(figure, grid, results, roles)
        return figure


def _comparison_curves(comparison: Comparison) -> tuple[str | None, dict[str, list[PointComparison]]]:
    """The x axis, and points by the label of their curve."""
    points = comparison.points
    axis = x_axis(points)
    names = [name for name in points[0].parameters if name != axis]
    groups: dict[str, list[PointComparison]] = {}
    for point in points:
        groups.setdefault(", ".join(f"{name}={point.parameters[name]}" for name in names), []).append(point)
    for group in groups.values():
        if axis is not None:
            group.sort(key=lambda point: axis_value(point, axis))
    return axis, groups


def draw_comparison(comparison: Comparison) -> Figure:
    """Draws both sides' rates above their ratio.

    Args:
        comparison: At least one point.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    axis, groups = _comparison_curves(comparison)
    with rc_context(STYLE):
        figure = Figure(figsize=(10.4, 7.0), layout="constrained")
        rates, ratios = figure.subplots(2, 1, sharex=True, height_ratios=[3, 2])
        for index, (label, points) in enumerate(groups.items()):
            x = list(range(len(points))) if axis is None else [axis_value(point, axis) for point in points]
            colour = f"C{index % 10}"
            for side, line, marker in (("A", "-", "o"), ("B", "--", "s")):
                values = [point.rate.a if side == "A" else point.rate.b for point in points]
                name = f"{side}, {label}" if label else side
                rates.plot(x, [v.mean for v in values], line, marker=marker, color=colour, markersize=4, label=name)
            centre = [point.rate.ratio.value or 0.0 for point in points]
            low = [point.rate.ratio.low or value for point, value in zip(points, centre, strict=True)]
            high = [point.rate.ratio.high or value for point, value in zip(points, centre, strict=True)]
            ratios.plot(x, centre, "-", marker="o", color=colour, markersize=4)
            ratios.fill_between(x, low, high, color=colour, alpha=0.2, lw=0)
        ratios.axhline(1.0, color="black", lw=0.8)
        _set_scale(rates, [side.mean for point in comparison.points for side in (point.rate.a, point.rate.b)])
        rates.set_ylabel("message rate (msg/s)")
        rates.set_title(f"A = {comparison.name_a}\nB = {comparison.name_b}", fontsize="medium", loc="left")
        _add_legend(rates)
        ratios.set_ylabel("B / A, 95 % interval")
        ratios.set_xlabel("" if axis is None else axis.replace("_", " "))
        if axis is None:
            ratios.set_xticks([0], ["the point"])
        return figure


def comparison_picture_bytes(comparison: Comparison) -> dict[str, bytes]:
    """The picture of a comparison in both formats: {"png": ..., "svg": ...}."""
    return figure_bytes(draw_comparison(comparison))


def picture_bytes(results: Results) -> dict[str, bytes]:
    """The picture in both formats: {"png": ..., "svg": ...}; the same results give the same bytes."""
    return figure_bytes(draw(results))


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
