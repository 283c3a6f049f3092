"""Results as tables for the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from contend.common.amounts import bare, count_text, interval_text, quantity
from contend.common.fitting_table import FittingTable
from contend.common.spelling import counted, parameters_text, value_text
from contend.results.counted import count_of
from contend.results.measures import ESTIMATED, measure_named
from contend.scenarios.axes import representative

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from rich.console import RenderableType

    from contend.common.jsontypes import JsonObject
    from contend.results.results import PointResult, Results

# Open MPI's software performance counters: name, our counter, what its value is divided by.
SPC: tuple[tuple[str, str, float], ...] = (
    ("OMPI_SPC_ISEND", "messages_sent", 1),
    ("OMPI_SPC_IRECV", "receives_posted", 1),
    ("OMPI_SPC_PUT", "puts", 1),
    ("OMPI_SPC_GET", "gets", 1),
    ("OMPI_SPC_UNEXPECTED", "unexpected", 1),
    ("OMPI_SPC_UNEXPECTED_IN_QUEUE", "unexpected_in_queue", 1),
    ("OMPI_SPC_MAX_UNEXPECTED_IN_QUEUE", "unexpected_in_queue_max", 1),
    ("OMPI_SPC_OUT_OF_SEQUENCE", "out_of_sequence", 1),
    ("OMPI_SPC_OOS_IN_QUEUE", "oos_in_queue", 1),
    ("OMPI_SPC_MAX_OOS_IN_QUEUE", "oos_in_queue_max", 1),
    ("OMPI_SPC_MATCH_TIME (us)", "match_time_ns", 1000),
)
_MAX_SPC_POINTS = 6
# Measures with a column and their interval; the bandwidth follows from the rate, with the same interval.
_SHOWN = ("message_rate", "perceived_bandwidth", "latency")
_SMALLEST_SHARE = 0.0005
_OF_THE_FIT, _HELD_OUT = "of the fit", "held out"
_ROLES_IN_FIT = {
    _OF_THE_FIT: "of the fit: the profile was calibrated on this point",
    _HELD_OUT: "held out: the profile was calibrated on other points, so this one tests it",
}


def titled_table(title: str, caption: str | None = None) -> Table:
    """A table in the style of all tables, without columns yet."""
    return Table(
        title=title, caption=caption, box=box.SIMPLE_HEAD, title_justify="left", caption_justify="left",
        title_style="bold", pad_edge=False,
    )  # fmt: skip


def _share(part: float | None, whole: float | None) -> str:
    return "-" if part is None or not whole else f"{part / whole:.1%}"


def _parameter_names(points: tuple[PointResult, ...]) -> list[str]:
    return list(dict.fromkeys(name for point in points for name in point.parameters))


def _titled(title: str, results: Results) -> str:
    """A title, and below it what was changed in the scenario."""
    return "\n".join(filter(None, (title, results.changes)))


def _main_table(results: Results, most: int | None = None) -> FittingTable:
    """A row for each point, or for so many of the first."""
    names = _parameter_names(results.points)
    measures = [name for name in _SHOWN if any(point.estimates.get(name) for point in results.points)]
    words = results.words
    titles = {"message_rate": words.unit, "perceived_bandwidth": "MiB/s"}
    # Points of a sweep over what the workload does need not measure the same.
    told = dict.fromkeys(name for point in results.points for name in point.scalars)
    scalars = [name for name in told if name != "elapsed_s"]
    shown = results.points[:most]
    left = len(results.points) - len(shown)
    table = FittingTable(
        _titled(results.name, results),
        f"{counted(left, 'more point')}; all {len(results.points)} are in results.parquet" if left else "",
    )
    for name in names:
        table.add_column(name, justify="right", is_name=True)
    for name in measures:
        table.add_column(titles.get(name, name), justify="right", style="bold")
        table.add_column("95 % CI", justify="right")
    matching = _matching_columns(results.points) if words.is_of_messages else {}
    with_bandwidth = "perceived_bandwidth" not in measures and has_bandwidth(results.points)
    if with_bandwidth:
        table.add_column(ESTIMATED["bandwidth"], justify="right", left_out=2)
    for name in scalars:
        table.add_column(measure_named(name).title, justify="right", left_out=1)
    for number, title in enumerate((*matching, "events", "wall")):
        table.add_column(title, justify="right", left_out=-number)
    for point in shown:
        cells = [value_text(point.parameters.get(name, "-")) for name in names]
        for name in measures:
            value = point.estimates.get(name)
            cells += [bare(value.mean, ESTIMATED[name]), interval_text(value, ESTIMATED[name])] if value else ["-", "-"]
        if with_bandwidth:
            bandwidth = point.mean_of("bandwidth")
            cells.append(bare(bandwidth, ESTIMATED["bandwidth"]) if bandwidth else "-")
        cells += [
            quantity(point.scalars[name], measure_named(name).unit) if name in point.scalars else "-"
            for name in scalars
        ]
        cells += [cell(point) for cell in matching.values()]
        cells += [count_text(round(point.events)), f"{point.wall_s:.2f} s"]
        table.add_row(*cells)
    return table


def has_bandwidth(points: Iterable[PointResult]) -> bool:
    """Whether one of the points moves payload, which its rate does not tell."""
    return any(point.mean_of("bandwidth") for point in points)


def _matching_columns(points: Sequence[PointResult]) -> dict[str, Callable[[PointResult], str]]:
    """Columns about messages and how they are matched: those that one of the points counts."""

    def out_of_sequence(point: PointResult) -> str:
        return _share(count_of(point.counters, "out_of_sequence"), point.counters.get("messages_received"))

    def unexpected(point: PointResult) -> str:
        return count_text(count_of(point.counters, "unexpected"))

    def match_time(point: PointResult) -> str:
        received, match_ns = point.counters.get("messages_received"), count_of(point.counters, "match_time_ns")
        return f"{match_ns / received:.0f} ns" if match_ns is not None and received else "-"

    columns = {
        "out of seq.": ("out_of_sequence", out_of_sequence),
        "unexpected": ("unexpected", unexpected),
        "match/msg": ("match_time_ns", match_time),
    }
    return {
        title: cell
        for title, (counter, cell) in columns.items()
        if any(count_of(point.counters, counter) is not None for point in points)
    }


def _measured_table(results: Results) -> FittingTable:
    """What was measured beside what is predicted, for points of a dataset."""
    points = [(point, point.measured) for point in results.points if point.measured is not None]
    fits = {_role_in_fit(found) for _, found in points} - {""}
    units = {str(found["unit"]) for _, found in points if found["median"] is not None}
    unit = units.pop() if len(units) == 1 else ""
    is_noisy = any(found.get("scored_against_interval") for _, found in points)
    caption = "medians of samples; the table below has means over replications, which rare fast or slow samples move"
    if is_noisy:
        caption += "\n* samples spread by more than 20 %: the error is that from the measured interval"
    if fits:
        caption += "\n" + "; ".join(words for role, words in _ROLES_IN_FIT.items() if role in fits)
    in_title = unit and unit != "s"  # texts of times have their unit
    table = FittingTable(_titled("measured and predicted" + (f", {unit}" if in_title else ""), results), caption)
    names = [name for name in _parameter_names(results.points) if name != "iterations"]
    for name in names:
        table.add_column(name, justify="right", is_name=True)
    table.add_column("measured", justify="right", style="bold")
    table.add_column("95 % interval", justify="right", left_out=1)
    table.add_column("CoV", justify="right", left_out=0)
    table.add_column("predicted", justify="right", style="bold")
    table.add_column("error", justify="right")
    table.add_column("", is_name=True)
    for point, found in points:
        cells = [value_text(point.parameters.get(name, "-")) for name in names]
        predicted = "-" if found["predicted"] is None else bare(found["predicted"], found["unit"])
        if found["median"] is None:
            table.add_row(*cells, "-", "-", "-", predicted, "-", str(found["outcome"]))
            continue
        table.add_row(
            *cells,
            (bare if unit else quantity)(found["median"], found["unit"]),
            "-" if found["interval"] is None else " to ".join(bare(end, found["unit"]) for end in found["interval"]),
            "-" if found["cov"] is None else f"{found['cov']:.0%}",
            predicted,
            _error_text(found),
            _role_in_fit(found),
        )
    return table


# What the operating system counts, and what it is called in a table.
_COUNTED = {
    "processor_s": "processor time",
    "voluntary_switches": "fell asleep",
    "involuntary_switches": "lost the core",
}


def _use_table(results: Results) -> FittingTable:
    """What the operating system counted beside what it counts in the simulation, for points of a dataset."""
    points = [(point, found["usage"]) for point in results.points if (found := point.measured) and found.get("usage")]
    caption = (
        "for each message, of all threads of a role; measured: of whole launches, warm-up included; lost the core: to "
        "another thread, also in sched_yield()"
    )
    table = FittingTable(_titled("what the operating system counts, measured / predicted", results), caption)
    names = [name for name in _parameter_names(results.points) if name != "iterations"]
    for name in names:
        table.add_column(name, justify="right", is_name=True)
    table.add_column("role")
    for title in _COUNTED.values():
        table.add_column(title, justify="right")
    for point, use in points:
        cells = [value_text(point.parameters.get(name, "-")) for name in names]
        for side, both in use.items():
            table.add_row(*cells, results.words.role(side), *(_use_text(name, both[name]) for name in _COUNTED))
    return table


def _use_text(name: str, both: JsonObject) -> str:
    measured, predicted = both["measured"], both["predicted"]
    if name == "processor_s":
        return f"{quantity(measured, 's')} / {quantity(predicted, 's')}"
    return f"{measured:.2f} / {predicted:.2f}"


def _role_in_fit(found: JsonObject) -> str:
    """What the calibration of the profile made of a measured point; nothing where it was fitted to none."""
    return _OF_THE_FIT if found.get("fitted") else _HELD_OUT if found.get("held_out") else ""


def _error_text(found: JsonObject) -> str:
    """How far a prediction is off, with its direction."""
    if found.get("abs_error_pct") is None:
        return "-"
    sign = "-" if found["predicted"] < found["median"] else "+"
    return f"{sign}{found['abs_error_pct']:.0f} %" + ("*" if found.get("scored_against_interval") else "")


def _of_all(chosen: Sequence[PointResult], results: Results) -> str:
    """What a caption says where a table has some points only."""
    if len(chosen) == len(results.points):
        return ""
    return f"; {len(chosen)} of {len(results.points)} points, all are in the files"


def _where_table(results: Results) -> FittingTable:
    chosen = representative(results.points)
    categories: dict[str, float] = {}
    for point in chosen:
        for times in point.time_by_category_ns.values():
            total = sum(times.values()) or 1
            for category, time in times.items():
                categories[category] = max(categories.get(category, 0.0), time / total)
    shown = sorted((c for c, share in categories.items() if share >= _SMALLEST_SHARE), key=lambda c: -categories[c])
    names = _parameter_names(results.points)
    words = results.words
    table = FittingTable("where the time went", f"share of the time of all threads of a role{_of_all(chosen, results)}")
    for name in names:
        table.add_column(name, justify="right", is_name=True)
    table.add_column("role")
    for number, category in enumerate(shown):
        table.add_column(category.replace("_", " "), justify="right", left_out=-number if number else None)
    for point in chosen:
        for role, times in point.time_by_category_ns.items():
            total = sum(times.values())
            if not total:
                continue
            cells = [value_text(point.parameters.get(name, "-")) for name in names]
            table.add_row(*cells, words.role(role), *(_share(times.get(category, 0.0), total) for category in shown))
    return table


def _spc_table(results: Results) -> FittingTable:
    chosen = representative(results.points, _MAX_SPC_POINTS)
    caption = f"mean of one replication, warm-up included{_of_all(chosen, results)}"
    table = FittingTable("counters, under Open MPI's names", caption)
    table.add_column("counter")
    for number, point in enumerate(chosen):
        label = parameters_text(point.parameters, "\n") or "value"
        is_end = number in {0, len(chosen) - 1}
        table.add_column(label, justify="right", left_out=None if is_end else 1 - number % 2)
    for title, counter, divisor in SPC:
        values = [count_of(point.counters, counter) for point in chosen]
        if any(value is not None for value in values):
            table.add_row(title, *(count_text(None if v is None else v / divisor) for v in values))
    return table


def render_points(results: Results, most: int | None = None) -> RenderableType:
    """A row for each point: its parameters, what was measured, and what it took.

    Args:
        results: Of a sweep, whose files have all points.
        most: How many rows there may be; the caption says how many were left out. All if not given.
    """
    return _main_table(results, most) if results.points else Text("no replication finished")


def render(results: Results) -> RenderableType:
    """Everything that `contend run` shows after a run."""
    if not results.points:
        return Text("no replication finished")
    parts: list[RenderableType] = []
    if any(point.measured is not None for point in results.points):
        parts.append(_measured_table(results))
    if any((point.measured or {}).get("usage") for point in results.points):
        parts.append(_use_table(results))
    parts.append(_main_table(results))
    if any(point.time_by_category_ns for point in results.points):
        parts.append(_where_table(results))
    if any(count_of(point.counters, counter) for point in results.points for _, counter, _ in SPC):
        parts.append(_spc_table(results))
    return Group(*parts)
