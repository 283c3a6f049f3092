"""Pictures of a validation: measured against predicted, curves with bands, residuals."""

from __future__ import annotations

import io
import json
import math
import textwrap
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from contend.accuracy.along import along
from contend.plots import STYLE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

    from contend.accuracy.along import Along
    from contend.accuracy.curves import Curve
    from contend.jsontypes import JsonObject

_COLOURS = ("#4e79a7", "#e15759", "#59a14f", "#f28e2b", "#b07aa1", "#499894", "#d37295", "#9d7660")
_MARKERS = "osD^vP*X"
_COLUMNS = 4
_MOST_CURVES = 32
# Room for the legend.
_LEAST_WIDTH = 6.4
# Letters in a line above a curve.
_TITLE = 46
_RESIDUAL_LIMIT = 3.0
# An interval that reaches farther beyond all points is cut off.
_FARTHEST_INTERVAL = 10.0
# Up to how many times the lowest value an axis has three labels in each decade, and then one.
_SHORT_AXIS = 200.0
# Of places along one curve.
_MOST_LABELS = 8


def pictures(result: JsonObject) -> dict[str, bytes]:
    """All pictures of a validation result, by file name, as PNG and SVG."""
    import matplotlib as mpl

    found: dict[str, bytes] = {}
    points = result["points"]
    if not points:
        return found
    with mpl.rc_context(STYLE):
        for name, figure in (
            ("agreement", _agreement(points)),
            ("curves", _curves(points)),
            ("residuals", _residuals(points)),
        ):
            for kind in ("png", "svg"):
                buffer = io.BytesIO()
                figure.savefig(buffer, format=kind, metadata={"Date": None} if kind == "svg" else {"Software": None})
                found[f"{name}.{kind}"] = buffer.getvalue()
    return found


def _groups(points: Sequence[JsonObject]) -> dict[str, dict[str, Any]]:
    """Colour and marker of each group of points."""
    names = list(dict.fromkeys(_group_of(point) for point in points))
    return {
        name: {"color": _COLOURS[i % len(_COLOURS)], "marker": _MARKERS[(i // len(_COLOURS) + i) % len(_MARKERS)]}
        for i, name in enumerate(names)
    }


def _group_of(point: JsonObject) -> str:
    """Library and transport; the lock where none was measured."""
    if point["library"] == "none":
        return str(point["parameters"].get("lock", point["dataset"]))
    return f"{point['library']}, {point['transport']}"


def _by_unit(points: Sequence[JsonObject]) -> dict[str, list[JsonObject]]:
    """The points of each unit."""
    found: dict[str, list[JsonObject]] = {}
    for point in points:
        found.setdefault(str(point["unit"] or "value"), []).append(point)
    return found


def _agreement(points: Sequence[JsonObject]) -> Figure:
    from matplotlib.figure import Figure

    groups = _groups(points)
    parts = _by_unit(points)
    figure = Figure(figsize=(6.4 * len(parts), 6.0), layout="constrained")
    for axes, (unit, some) in zip(figure.subplots(1, len(parts), squeeze=False)[0], parts.items(), strict=True):
        _draw_agreement(axes, some, groups, unit)
    return figure


def _draw_agreement(axes: Axes, points: Sequence[JsonObject], groups: Mapping[str, Any], unit: str) -> None:
    for name, style in groups.items():
        for held_out in (False, True):
            chosen = [p for p in points if _group_of(p) == name and p["held_out"] == held_out]
            if not chosen:
                continue
            x = [p["measured"]["median"] for p in chosen]
            y = [p["predicted"]["median"] for p in chosen]
            low = [m - p["predicted"]["ci95"][0] for m, p in zip(y, chosen, strict=True)]
            high = [p["predicted"]["ci95"][1] - m for m, p in zip(y, chosen, strict=True)]
            axes.errorbar(
                x, y, yerr=[low, high], fmt=style["marker"], color=style["color"], markersize=5, elinewidth=0.7,
                markerfacecolor=style["color"] if held_out else "white", linestyle="none",
                label=f"{name}{'' if held_out else ' (fitted)'}",
            )  # fmt: skip
    values = [p["measured"]["median"] for p in points] + [p["predicted"]["median"] for p in points]
    intervals = [end for p in points for end in p["predicted"]["ci95"] if end > 0]
    ends = np.array(
        [
            max(min([*values, *intervals]), min(values) / _FARTHEST_INTERVAL) / 1.2,
            min(max([*values, *intervals]), max(values) * _FARTHEST_INTERVAL) * 1.2,
        ]
    )
    axes.plot(ends, ends, color="black", lw=0.8)
    axes.fill_between(ends, ends / 1.15, ends * 1.15, color="black", alpha=0.08, lw=0)
    axes.set(xscale="log", yscale="log", xlim=ends, ylim=ends)
    _label(axes.xaxis)
    _label(axes.yaxis)
    axes.set_xlabel(f"measured median ({unit})")
    axes.set_ylabel("predicted, 95 % interval")
    axes.set_title("measured against predicted; the band is 15 %", loc="left", fontsize=9)
    axes.legend(fontsize=7, loc="lower right")


def _short(value: float, _position: int | None = None) -> str:
    for unit, name in ((1e9, " G"), (1e6, " M"), (1e3, " k"), (1, ""), (1e-3, " m"), (1e-6, " µ"), (1e-9, " n")):
        if value >= unit * (1 - 1e-9):  # 1e-6 / 1e-6 is less than one
            return f"{value / unit:g}{name}"
    return f"{value:g}"


def _label(axis: Axis) -> None:
    """Labels a logarithmic axis so that values can be read, and none stands in another's place."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = axis.get_view_interval()
    axis.set_major_locator(LogLocator(10, subs=(1, 2, 5) if high < low * _SHORT_AXIS else (1,)))
    axis.set_major_formatter(FuncFormatter(_short))
    axis.set_minor_formatter(NullFormatter())


def _title(curve: Curve, *, has_machine: bool) -> str:
    """Dataset, machine where it is not clear, and what is the same at all points of a curve."""
    first = curve.first
    name = f"{first['dataset']} on {first['machine']}" if has_machine else str(first["dataset"])
    label = ", ".join(f"{key.removeprefix('options.')}={json.dumps(value)}" for key, value in curve.others.items())
    return "\n".join((name, *textwrap.wrap(label, _TITLE)))


def _curves(points: Sequence[JsonObject]) -> Figure:
    from matplotlib.figure import Figure

    run_over = along(points)
    found = run_over.curves(points)
    shown = [curve for curve in found if len(curve.points) > 1][:_MOST_CURVES] or found[:_MOST_CURVES]
    machines = {(point["dataset"], point["machine"]) for point in points}
    on_several = {name for name, count in Counter(name for name, _ in machines).items() if count > 1}
    columns = min(_COLUMNS, len(shown))
    rows = math.ceil(len(shown) / columns)
    figure = Figure(figsize=(max(3.2 * columns, _LEAST_WIDTH), 2.5 * rows + 0.6), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False)
    for index, axes in enumerate(grid.flat):
        if index >= len(shown):
            axes.set_visible(False)
            continue
        curve = shown[index]
        _draw_curve(axes, curve.points, run_over)
        title = _title(curve, has_machine=curve.first["dataset"] in on_several)
        axes.set_title(title, loc="left", fontsize=7)
    handles, labels = grid.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper left", ncols=4, fontsize=8)
    figure.supxlabel(run_over.title, fontsize=9)
    figure.supylabel(" or ".join(_by_unit(points)), fontsize=9)
    return figure


def _draw_curve(axes: Axes, members: Sequence[JsonObject], run_over: Along) -> None:
    places = sorted({run_over.place(point) for point in members})
    at = {place: index if run_over.by_order else place for index, place in enumerate(places)}
    x = [at[run_over.place(point)] for point in members]
    predicted = [point["predicted"]["median"] for point in members]
    low = [point["predicted"]["ci95"][0] for point in members]
    high = [point["predicted"]["ci95"][1] for point in members]
    if len(places) > 1:
        axes.fill_between(x, low, high, color="#4e79a7", alpha=0.2, lw=0, label="95 %")
    else:  # neither a band nor a line would have a width
        axes.vlines(x, low, high, color="#4e79a7", alpha=0.2, lw=8, label="95 %")
    axes.plot(x, predicted, color="#4e79a7", lw=1.4, marker=None if len(places) > 1 else "_", ms=14, label="predicted")
    for held_out, face, label in ((True, "#e15759", "measured, held out"), (False, "white", "measured, fitted")):
        chosen = [point for point in members if point["held_out"] == held_out]
        where = [at[run_over.place(point)] for point in chosen]
        median = [point["measured"]["median"] for point in chosen]
        spread = np.array([point["measured"]["iqr"] for point in chosen]).reshape(-1, 2).T
        errors = np.abs(spread - np.array(median)) if chosen else None
        axes.errorbar(
            where, median, yerr=errors, fmt="o", markersize=4.5, color="#e15759", markerfacecolor=face, elinewidth=0.9,
            label=label,
        )  # fmt: skip
    axes.set_yscale("log")
    _label(axes.yaxis)
    if len(places) > 1 and not run_over.by_order:
        axes.set_xscale("log", base=2)
    step = math.ceil(len(places) / _MOST_LABELS) if run_over.by_order else 1
    axes.set_xticks([at[place] for place in places[::step]], [run_over.label(place) for place in places[::step]])
    axes.minorticks_off()
    axes.tick_params(labelsize=7)


def _residuals(points: Sequence[JsonObject]) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 3.8), layout="constrained")
    axes = figure.add_subplot()
    run_over = along(points)
    places = sorted({run_over.place(point) for point in points})
    order = {place: index for index, place in enumerate(places)}
    groups = _groups(points)
    for number, (name, style) in enumerate(groups.items()):
        offset = (number - (len(groups) - 1) / 2) * 0.7 / max(len(groups), 1)
        for held_out in (False, True):
            chosen = [p for p in points if _group_of(p) == name and p["held_out"] == held_out]
            y = [
                float(
                    np.clip(
                        math.log2(p["predicted"]["median"] / p["measured"]["median"]), -_RESIDUAL_LIMIT, _RESIDUAL_LIMIT
                    )
                )
                for p in chosen
            ]
            axes.plot(
                [order[run_over.place(p)] + offset for p in chosen], y, linestyle="none", markersize=5, **style,
                markerfacecolor=style["color"] if held_out else "white",
                label=name if held_out or not any(p["held_out"] for p in points if _group_of(p) == name) else None,
            )  # fmt: skip
    axes.axhline(0, color="black", lw=0.8)
    axes.axhspan(-math.log2(1.15), math.log2(1.15), color="black", alpha=0.08, lw=0)
    axes.set_xticks(range(len(places)), [run_over.label(place) for place in places])
    axes.set_xlim(-0.6, len(places) - 0.4)
    ticks = [-3, -2, -1, 0, 1, 2, 3]
    axes.set_yticks(ticks, [f"1/{2**-t}" if t < 0 else str(2**t) for t in ticks])
    axes.set_ylim(-_RESIDUAL_LIMIT - 0.2, _RESIDUAL_LIMIT + 0.2)
    axes.set_xlabel(run_over.title)
    axes.set_ylabel("predicted / measured")
    axes.set_title("residuals; filled: held out, hollow: fitted; the band is 15 %", loc="left", fontsize=9)
    axes.legend(fontsize=7, ncols=2)
    return figure
