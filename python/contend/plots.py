"""The picture of a run: message rate over the first swept number, and where the time went."""

from __future__ import annotations

import io
import itertools
import math
from typing import TYPE_CHECKING, Any

from contend.axes import Curve, axis_value, curves, x_axis
from contend.study import study_points

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from contend.compare import Comparison, PointComparison
    from contend.results import PointResult, Results
    from contend.study import StudyPoint

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
    "compute": "#9c755f",
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
# About how many characters of a legend fit side by side.
_LEGEND_WIDTH = 140
_SMALLEST_SHARE_PERCENT = 0.05
_MAX_TICKS = 10
_STUDY_MARKER = "\N{BLACK STAR}"
_MARKERS = "osD^vP*X"
_LINES = ("-", "--", ":", "-.")
# A rate axis is logarithmic when its largest value is more than so many times the smallest.
_LOG_ABOVE = 50.0


def _measure(results: Results) -> tuple[str, str]:
    points = results.points
    if points[0].message_rate is not None:
        operation = results.scenario.get("workload", {}).get("operation")  # of one-sided workloads
        return "message_rate", "message rate (msg/s)" if operation is None else f"{operation} rate (operations/s)"
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
    values_on_axis = []
    for curve, style in zip(all_curves, _styles(all_curves), strict=True):
        x = [axis_value(point, axis) for point in curve.points]
        values = [_value(point, measure) for point in curve.points]
        (line,) = axes.plot(x, [v[0] for v in values], markersize=4, label=curve.label, **style)
        values_on_axis += x
        axes.fill_between(x, [v[1] for v in values], [v[2] for v in values], color=line.get_color(), alpha=0.2, lw=0)
    axes.set_xlabel(axis.replace("_", " "))
    _set_x_axis(axes, sorted(set(values_on_axis)))


def _set_x_axis(axes: Axes, values: list[float]) -> None:
    """Ticks at values of the sweep, the last one included."""
    if _is_geometric(values):
        axes.set_xscale("log", base=2)
        axes.set_xticks(values, [f"{value:g}" for value in values])
        axes.minorticks_off()
    else:
        ticks = values[:: -math.ceil(len(values) / _MAX_TICKS)]
        axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])


def _is_geometric(ticks: list[float]) -> bool:
    """Whether values double (or more) from one to the next, as window sizes do."""
    return len(ticks) > 2 and ticks[0] > 0 and all(b / a >= 2 for a, b in itertools.pairwise(ticks))  # noqa: PLR2004


def _draw_study(
    axes: Axes, measured: list[StudyPoint], all_curves: list[Curve], axis: str, counter: str | None = None
) -> None:
    """Published measurements: a star, or a line between two where one number stands for a range."""
    for item in measured:
        value = item.message_rate if counter is None else item.per_message.get(counter)
        if value is None or axis not in item.parameters:
            continue
        for curve, style in zip(all_curves, _styles(all_curves), strict=True):
            at = [axis_value(point, axis) for point in curve.points if item.is_of(point.parameters)]
            if at:
                star = {"marker": "*", "markersize": 12, "markerfacecolor": style["color"], "markeredgecolor": "black"}
                ends = sorted({at[0], at[-1]})
                axes.plot(ends, [value] * len(ends), color="black", lw=1, ls=(0, (6, 4)), zorder=5, **star)
                break


def _study_label(measured: list[StudyPoint]) -> str:
    """What the stars mean."""
    if not measured:
        return ""
    targets = sum(item.calibrated for item in measured)
    how = {0: "", len(measured): ", a target of calibration"}.get(targets, ", some of it targets of calibration")
    return f"{_STUDY_MARKER} reported by the study{how}"


def _draw_counters(
    figure: SubFigure, measured: list[StudyPoint], names: list[str], all_curves: list[Curve], axis: str
) -> None:
    """Counters over messages received, with what the study reports, one panel each."""
    panels = figure.subplots(1, len(names), squeeze=False)[0]
    for panel, name in zip(panels, names, strict=True):
        for curve, style in zip(all_curves, _styles(all_curves), strict=True):
            x = [axis_value(point, axis) for point in curve.points]
            values = [point.counters[name] / point.counters["messages_received"] for point in curve.points]
            panel.plot(x, values, markersize=4, **style)
            _set_x_axis(panel, x)
        _draw_study(panel, measured, all_curves, axis, name)
        _from_zero(panel)
        panel.set_xlabel(axis.replace("_", " "))
        words = name.removesuffix("_ns").replace("_", " ")
        panel.set_ylabel(f"{words} (ns per message)" if name.endswith("_ns") else f"{words} (of all messages)")


def _set_scale(axes: Axes, values: list[float]) -> None:
    """From zero where that shows everything, else logarithmic."""
    from matplotlib.ticker import EngFormatter, NullFormatter

    positive = [value for value in values if value > 0]
    if len(positive) == len(values) and max(positive) / min(positive) > _LOG_ABOVE:
        axes.set_yscale("log")
        axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        _from_zero(axes)
    axes.yaxis.set_major_formatter(EngFormatter())


def _from_zero(axes: Axes) -> None:
    axes.set_ylim(0, 1.08 * axes.dataLim.y1 or 1.0)


def _add_legend(axes: Axes) -> None:
    """Below the axes: it hides nothing, and the curves have the whole width."""
    handles, labels = axes.get_legend_handles_labels()
    if len(handles) > 1:
        columns = max(2, min(4, _LEGEND_WIDTH // (max(map(len, labels)) + 8)))
        if len(handles) > columns:  # rows of equal length keep what belongs together in one column
            columns = min(columns, math.ceil(len(handles) / math.ceil(len(handles) / columns)))
        axes.legend(fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=columns)


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


def _draw_budgets(figure: SubFigure, all_curves: list[Curve], axis: str | None, roles: list[str]) -> None:
    """One panel a role, side by side, with one legend for all."""
    shown, labels, what = _budget_points(all_curves, axis)
    panels = figure.subplots(1, len(roles), squeeze=False)[0]
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
    measure, measure_label = _measure(results)
    roles = list(dict.fromkeys(role for point in points for role in point.time_by_category_ns))
    # The receiver is where it usually hurts: it comes first.
    roles.sort(key=lambda role: (role != "receiver", role != "sender"))
    measured = [item for item in study_points(results.name) if any(item.is_of(point.parameters) for point in points)]
    known = {name for item in measured for name in item.per_message}
    counters = [name for name in points[0].counters if name in known] if axis is not None else []
    bars = len(_budget_points(all_curves, axis)[0])
    heights = {
        "rate": 4.2 + 0.15 * math.ceil(len(all_curves) / 3),
        "counters": 2.6 if counters else 0.0,
        "budgets": 1.5 + 0.18 * max(4, bars) if roles else 0.0,
    }
    heights = {name: height for name, height in heights.items() if height > 0}
    with rc_context(STYLE):
        figure = Figure(figsize=(10.4, sum(heights.values())), layout="constrained")
        parts = figure.subfigures(len(heights), 1, height_ratios=list(heights.values()), squeeze=False)[:, 0]
        part = dict(zip(heights, parts, strict=True))
        rate = part["rate"].subplots()
        if axis is None:
            _draw_bars(rate, points, measure)
        else:
            _draw_curves(rate, all_curves, axis, measure)
            if measure == "message_rate":
                _draw_study(rate, measured, all_curves, axis)
            _add_legend(rate)
        _set_scale(rate, [_value(point, measure)[0] for point in points])
        rate.set_ylabel(measure_label)
        rate.set_title(f"{results.name}\n", fontsize="large", fontweight="bold")
        rate.set_title(_study_label(measured) if axis is not None else "", fontsize="small", loc="left")
        if any(point.replications > 1 for point in points):
            rate.set_title("mean, 95 % confidence interval", fontsize="small", loc="right")
        if counters and axis is not None:
            _draw_counters(part["counters"], measured, counters, all_curves, axis)
        if roles:
            _draw_budgets(part["budgets"], all_curves, axis, roles)
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
