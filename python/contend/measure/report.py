"""What a campaign shows at its end: a table for the terminal, and a picture."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from contend.common.amounts import quantity
from contend.datasets.programs import BENCHMARKS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure
    from rich.table import Table

    from contend.common.jsontypes import JsonObject

_BAR_CELLS = 16
_EIGHTHS = " ▏▎▍▌▋▊▉█"
_NOISY = 0.10
_MAX_PANELS = 36
_MAX_CURVES = 8
_MAX_COLUMNS = 5
_MAX_INNER_LEGEND = 4
_LINES = ("o-", "s--", "^:")
_LEGEND_ROWS = 24
_COLUMNS = 3
_LOG_ABOVE = 50.0


def benchmark_of(dataset: JsonObject) -> str:
    """Name of the benchmark that made a dataset."""
    return str(dataset["benchmark"]["program"]).removeprefix("contend-")


def metric_of(dataset: JsonObject) -> str:
    """The metric that stands for a dataset."""
    return BENCHMARKS[benchmark_of(dataset)].metric


def table(dataset: JsonObject) -> Table:
    """A dataset as a table: every point with its median, interval and spread."""
    from contend.results.tables import titled_table

    metric = metric_of(dataset)
    points = dataset["points"]
    library = dataset["library"]
    title = f"{dataset['dataset']}: {library['name']} {library.get('version', '')}".rstrip()
    result = titled_table(title if library["name"] != "none" else dataset["dataset"])
    names = list(dict.fromkeys(name for point in points for name in point["parameters"]))
    is_wide = len(names) > _MAX_COLUMNS
    for name in ["what"] if is_wide else names:
        result.add_column(name, justify="left" if is_wide else "right", no_wrap=True)
    for heading in ("median", "95 % CI", "CoV", "samples", "launches"):
        result.add_column(heading, justify="right", style="bold" if heading == "median" else "")
    result.add_column("")
    result.add_column("remarks")
    medians = [point.get(metric, {}).get("median") or 0.0 for point in points]
    largest = max(medians, default=0.0)
    for point, median in zip(points, medians, strict=True):
        cells = [_plain(point["parameters"].get(name, "-")) for name in names]
        if is_wide:
            cells = [", ".join(f"{name} {_plain(value)}" for name, value in point["parameters"].items())]
        bar = "" if is_wide else _bar(median, largest)
        result.add_row(*cells, *_cells(point.get(metric, {})), bar, _remarks(point, metric))
    return result


def _plain(value: object) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _cells(metric: JsonObject) -> list[str]:
    if metric.get("median") is None:
        return ["-", "-", "-", "0", "0"]
    interval = metric["median_ci95"]
    half = "-" if interval is None else f"± {(interval[1] - interval[0]) / 2 / (abs(metric['median']) or 1):.1%}"
    cov = "-" if metric["cov"] is None else f"{metric['cov']:.1%}"
    return [quantity(metric["median"], metric["unit"]), half, cov, str(metric["count"]), str(metric["launches"])]


def _bar(value: float, largest: float) -> str:
    if largest <= 0:
        return ""
    eighths = round(value / largest * _BAR_CELLS * 8)
    full, rest = divmod(eighths, 8)
    return "█" * full + (_EIGHTHS[rest] if rest else "")


def _remarks(point: JsonObject, metric: str) -> str:
    said = [f"{count} {outcome}" for outcome, count in point["outcomes"].items() if outcome != "ok"]
    if point.get("detail"):
        said.append(str(point["detail"])[:60])
    values = point.get(metric, {})
    marked = sum(not clean for clean in values.get("clean", []))
    if marked:
        said.append(f"{marked} samples marked")
    if values.get("spread_of") == "all":
        said.append("all disturbed")
    if (values.get("cov") or 0) > _NOISY:
        said.append("noisy")
    return ", ".join(said)


def picture_bytes(datasets: Mapping[str, JsonObject]) -> dict[str, bytes]:
    """The picture as PNG and SVG; empty if nothing has an axis."""
    import matplotlib as mpl

    from contend.plots import STYLE

    with mpl.rc_context(STYLE):
        figure = _draw(datasets)
        if figure is None:
            return {}
        found = {}
        for kind in ("png", "svg"):
            stream = io.BytesIO()
            figure.savefig(stream, format=kind, bbox_inches="tight", metadata={"Date": None} if kind == "svg" else None)
            found[kind] = stream.getvalue()
        return found


def _panels(datasets: Mapping[str, JsonObject]) -> dict[str, list[JsonObject]]:
    """Datasets that belong in one panel: of one benchmark and transport, or of one experiment too if they are many."""
    together: dict[str, list[JsonObject]] = {}
    apart: dict[str, dict[str, list[JsonObject]]] = {}
    for dataset in datasets.values():
        axis = BENCHMARKS[benchmark_of(dataset)].axis
        if axis and len({str(point["parameters"].get(axis)) for point in dataset["points"]}) > 1:
            transport = "" if dataset["transport"] == "none" else f", {dataset['transport']}"
            title = benchmark_of(dataset) + transport
            together.setdefault(title, []).append(dataset)
            experiment = _experiment(dataset)
            whole = title if experiment == title else f"{title}, {experiment}"
            apart.setdefault(title, {}).setdefault(whole, []).append(dataset)
    found: dict[str, list[JsonObject]] = {}
    for title, group in together.items():
        curves = sum(len(_curves(dataset)) for dataset in group)
        found |= {title: group} if curves <= _MAX_CURVES else apart[title]
    return found


def _draw(datasets: Mapping[str, JsonObject]) -> Figure | None:
    from matplotlib.figure import Figure

    panels = list(_panels(datasets).items())[:_MAX_PANELS]
    if not panels:
        return None
    columns = min(len(panels), _COLUMNS)
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(7.0 * columns, 3.6 * rows), layout="constrained")
    for index, (title, group) in enumerate(panels):
        axes = figure.add_subplot(rows, columns, index + 1)
        _draw_panel(axes, group)
        axes.set_title(title, loc="left", fontsize="medium")
    return figure


def _curves(dataset: JsonObject) -> dict[str, list[tuple[float, JsonObject]]]:
    """Curves of a dataset by label: points that differ in the axis only."""
    axis = BENCHMARKS[benchmark_of(dataset)].axis
    metric = metric_of(dataset)
    names = {name for point in dataset["points"] for name in point["parameters"]} - {axis}
    varying = {name for name in names if len({str(p["parameters"].get(name)) for p in dataset["points"]}) > 1}
    found: dict[str, list[tuple[float, JsonObject]]] = {}
    for point in dataset["points"]:
        values = point.get(metric, {})
        where = point["parameters"].get(axis)
        if values.get("median") is None or not isinstance(where, int | float):
            continue
        extra = ", ".join(
            f"{name.replace('_', ' ')} {_plain(point['parameters'].get(name))}"
            for name in sorted(varying, reverse=True)
        )
        is_said = bool(extra) and dataset["library"]["name"] == "none"
        label = ", ".join(filter(None, ("" if is_said else _label(dataset), extra)))
        found.setdefault(label, []).append((float(where), values))
    return found


def _label(dataset: JsonObject) -> str:
    library = dataset["library"]
    name = _experiment(dataset)
    return name if library["name"] == "none" else f"{library['name']} {library['version']}, {name}"


def _experiment(dataset: JsonObject) -> str:
    return str(dataset["dataset"]).rpartition("_")[2]


def _draw_panel(axes: Any, group: Sequence[JsonObject]) -> None:  # noqa: ANN401 - matplotlib's
    from matplotlib import rcParams

    from contend.plots.style import draw_interval
    from contend.plots.ticks import axis_title, tick_formatter

    colours = len(rcParams["axes.prop_cycle"])
    medians: list[float] = []
    ticks: set[float] = set()
    unit = ""
    for dataset in group:
        for label, points in _curves(dataset).items():
            points.sort(key=lambda entry: entry[0])
            x = [where for where, _ in points]
            y = [values["median"] for _, values in points]
            intervals = [values["median_ci95"] or (values["median"], values["median"]) for _, values in points]
            # Curves beyond the colours that there are differ in their lines.
            style = _LINES[len(axes.get_lines()) // colours % len(_LINES)]
            (line,) = axes.plot(x, y, style, markersize=3.5, label=label)
            draw_interval(axes, x, [i[0] for i in intervals], [i[1] for i in intervals], line.get_color())
            medians += y
            ticks.update(x)
            unit = points[0][1]["unit"]
    positive = [value for value in medians if value > 0]
    if positive and max(positive) / min(positive) > _LOG_ABOVE:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    if ticks and min(ticks) > 0:
        axes.set_xscale("log", base=2)
        axes.set_xticks(sorted(ticks), [f"{tick:g}" for tick in sorted(ticks)])
        axes.minorticks_off()
    axes.yaxis.set_major_formatter(tick_formatter(unit))
    axes.set_ylabel(axis_title(metric_of(group[0]).replace("_", " "), unit))
    axes.set_xlabel(BENCHMARKS[benchmark_of(group[0])].axis.replace("_", " "))
    if len(axes.get_lines()) > _MAX_INNER_LEGEND:
        columns = 1 + len(axes.get_lines()) // _LEGEND_ROWS
        axes.legend(fontsize="xx-small", loc="center left", bbox_to_anchor=(1.0, 0.5), ncols=columns)
    else:
        axes.legend(fontsize="x-small")
