"""An explanation as tables for the terminal, and as a picture."""

from __future__ import annotations

import textwrap
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, TypeAlias

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from contend.common.amounts import count_text, measured_text, quantity
from contend.common.fitting_table import FittingTable
from contend.common.spelling import counted, parameters_text, plural
from contend.explanations.interface_stages import verdict
from contend.explanations.price_bases import UNCERTAIN_MARK, UNCERTAIN_WORDS, known_from_text
from contend.explanations.speedups import BOUNDED_MARK, BOUNDED_WORDS
from contend.explanations.waiting_rows import WAITING_WORDS, coverage_text, waiting_rows
from contend.scenarios.changes import named_changes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from rich.console import RenderableType

    from contend.common.jsontypes import JsonObject
    from contend.common.statistics import Estimate
    from contend.explanations.explanation import Explanation
    from contend.explanations.speedups import Speedup
    from contend.explanations.waiting_rows import Part
    from contend.plots import Picture
    from contend.results.measures import Measure
    from contend.results.workload_words import WorkloadWords

Interval: TypeAlias = tuple[float, float, float]
_SMALLEST_SHARE = 0.0005
_SMALLEST_WAIT = 0.01
_MOST_LOCKS = 8
_MOST_PLACES = 8
_MOST_QUEUES = 8
_MOST_SPEEDUPS = 24
_MOST_BARS = 24
_COLOURS = {"removed": "#4e79a7", "halved": "#a0cbe8"}
# How far an axis of gains goes beyond them where their intervals do: as far as they lie apart, and so many per cent at
# least; and what it leaves free at the ends of intervals, as a share of both.
_LEAST_ROOM, _MARGIN = 5.0, 0.03
_BEYOND_WORDS = (
    "\N{BLACK LEFT-POINTING SMALL TRIANGLE} \N{BLACK RIGHT-POINTING SMALL TRIANGLE} "
    "the 95 % interval goes beyond the picture"
)
# Of remarks below an axis that has ticks and a label, in points.
_BELOW_LABEL = 38
_TITLE_WIDTH = 90  # characters
# Where what a table leaves out is to be had, whether or not this call wrote it.
_ELSEWHERE = ": --json FILE or --out DIR writes all"


def _table(title: str, caption: str | None = None) -> Table:
    return Table(
        title=title, caption=caption, box=box.SIMPLE_HEAD, title_justify="left", caption_justify="left",
        title_style="bold", pad_edge=False,
    )  # fmt: skip


def _percent(share: float) -> str:
    return f"{share:.1%}"


def _time_table(explanation: Explanation) -> Table:
    table = _table("where the time goes", "share of the time of all threads of a role, timed part")
    table.add_column("category")
    roles = [role for role, times in explanation.time_by_category_ns.items() if sum(times.values()) > 0]
    for role in roles:
        threads = explanation.threads.get(role)
        word = explanation.words.role(role)
        table.add_column(f"{plural(word)} ({threads})" if threads else word, justify="right")
    totals = {role: sum(explanation.time_by_category_ns[role].values()) for role in roles}
    categories = dict.fromkeys(c for role in roles for c in explanation.time_by_category_ns[role])
    shares = {
        category: [explanation.time_by_category_ns[role].get(category, 0.0) / totals[role] for role in roles]
        for category in categories
    }
    for category, row in sorted(shares.items(), key=lambda item: -max(item[1])):
        if max(row) >= _SMALLEST_SHARE:
            table.add_row(category.replace("_", " "), *(_percent(share) for share in row))
    return table


def _waits_text(lock: JsonObject, words: WorkloadWords) -> str:
    total = lock["wait_ns"] or 1.0
    parts = []
    for entry in lock["waits"]:
        share = entry["time_ns"] / total
        if share >= _SMALLEST_WAIT:
            holder = f"for {words.role(entry['holder'])}" if entry["holder"] else "nobody holds it"
            who = f"{words.role(entry['waiter'])}, {holder}"
            parts.append(f"{who} {share:.0%}")
    return "; ".join(parts)


def _lock_table(explanation: Explanation) -> FittingTable:
    more = len(explanation.locks) - _MOST_LOCKS
    table = FittingTable(
        "locks, longest wait first",
        "waiting: time in calls that take the lock, contended or not, of all threads, without polls that find it free; "
        "nobody holds it: hand-over, waking up, cache lines" + (f"; {more} more{_ELSEWHERE}" if more > 0 else ""),
    )
    table.add_column("lock", is_name=True)
    for title, left_out in (("taken", 3), ("contended", None), ("refused", 1), ("waiting", None), ("per request", 2)):
        table.add_column(title, justify="right", left_out=left_out)
    table.add_column("held", justify="right", left_out=4)
    delegates = any(lock["delegated"] for lock in explanation.locks)
    if delegates:
        table.add_column("delegated", justify="right", left_out=5)
    table.add_column("who waits for whom", is_name=True)
    for lock in explanation.locks[:_MOST_LOCKS]:
        requests = lock["acquisitions"] + lock["delegated"]
        table.add_row(
            lock["name"],
            count_text(round(lock["acquisitions"])),
            _percent(lock["contended"] / requests) if requests else "-",
            count_text(round(lock["refused"])),
            f"{lock['wait_ns'] / 1e3:,.0f} us",
            f"{lock['wait_ns'] / requests:,.0f} ns" if requests else "-",
            _percent(lock["hold_ns"] / explanation.elapsed_ns),
            *([count_text(round(lock["delegated"]))] if delegates else []),
            _waits_text(lock, explanation.words),
        )
    return table


def _place_table(explanation: Explanation) -> FittingTable:
    rows = waiting_rows(explanation.places, explanation.time_by_category_ns, explanation.words)
    covered = coverage_text(explanation.places, explanation.time_by_category_ns)
    caption = f"these are {covered} above; {WAITING_WORDS}"
    if (more := len(rows) - _MOST_PLACES) > 0:
        caption += f"; {more} more{_ELSEWHERE}"
    table = FittingTable("waiting for other threads without a lock, longest first", caption)
    table.add_column("where", is_name=True)
    for title, left_out in (("waits", 2), ("waiting", 4), ("per wait", 1), ("share", None)):
        table.add_column(title, justify="right", left_out=left_out)
    table.add_column("who waits")
    table.add_column("for whom")
    table.add_column("which", left_out=5)
    table.add_column("longest for", left_out=3)
    table.add_column("meanwhile")
    for row in rows[:_MOST_PLACES]:
        numbers: tuple[str, ...] = (
            row.place,
            count_text(round(row.waits)) if row.waits else "-",
            f"{row.wait_ns / 1e3:,.0f} us",
            f"{row.wait_ns / row.waits:,.0f} ns" if row.waits else "-",
            _percent(row.share),
            row.waiter,
        )
        for whom, thread, meanwhile in zip_longest(row.whom, row.threads, row.meanwhile):
            awaited = (f"{whom.share:4.0%} {whom.role}", whom.how) if whom else ("", "")
            table.add_row(*numbers, *awaited, _part_text(thread), _part_text(meanwhile))
            numbers = ("",) * len(numbers)
    return table


def _part_text(part: Part | None) -> str:
    return "" if part is None else f"{part.share:4.0%} {part.words}"


def _queue_table(explanation: Explanation) -> Table:
    used = [queue for queue in explanation.queues if queue["maximum"] > 0]
    shown = sorted(used, key=lambda queue: -queue["mean"])[:_MOST_QUEUES]
    caption = "length over time, timed part; largest of all replications"
    if (more := len(used) - len(shown)) > 0:
        caption += f"; {more} more{_ELSEWHERE}"
    table = _table("queues", caption)
    table.add_column("queue")
    table.add_column("mean", justify="right")
    table.add_column("largest", justify="right")
    for queue in shown:
        table.add_row(queue["name"], f"{queue['mean']:,.2f}", count_text(queue["maximum"]))
    return table


def _stage_table(explanation: Explanation) -> Table:
    busiest = max(explanation.stages, key=lambda stage: stage["busy_ns"], default=None)
    caption = ""
    if busiest is not None:
        share = busiest["busy_ns"] / explanation.elapsed_ns
        what_follows = verdict(share, counts_large_transfers=explanation.counts_large_transfers)
        caption = f"busiest: {busiest['name']}, {_percent(share)}: {what_follows}"
    if (more := len(explanation.stages) - _MOST_LOCKS) > 0:
        caption += f"; {more} more{_ELSEWHERE}"
    table = _table("network interfaces", caption)
    for title in ("stage", "messages", "busy", "on the wire", "waiting per message"):
        table.add_column(title, justify="left" if title == "stage" else "right")
    for stage in sorted(explanation.stages, key=lambda entry: -entry["busy_ns"])[:_MOST_LOCKS]:
        messages = stage["messages"]
        table.add_row(
            stage["name"],
            count_text(round(messages)),
            _percent(stage["busy_ns"] / explanation.elapsed_ns),
            _percent(stage["on_wire_ns"] / explanation.elapsed_ns) if stage["on_wire_ns"] else "-",
            f"{stage['queueing_ns'] / messages:,.0f} ns" if messages else "-",
        )
    return table


def _ratio_text(ratio: Estimate | None, failure: str | None) -> str:
    if ratio is None:
        return f"fails: {failure}" if failure else "-"
    half = ratio.half_width
    return f"x {ratio.mean:.3f}" + ("" if half is None else f" ± {half:.3f}")


def _speedup_table(explanation: Explanation, *, everything: bool) -> Table:
    shown = explanation.speedups if everything else explanation.speedups[:_MOST_SPEEDUPS]
    left = len(explanation.speedups) - len(shown)
    measure = explanation.measure
    ratio = "without the change / with it" if measure.less_is_better else "with the change / without it"
    caption = f"{measure.title} {ratio}, 95 % CI over replications with equal random numbers"
    if left:
        caption += f"; {left} more with --all"
    if any(entry.bounded for entry in shown):
        caption += f"\n{BOUNDED_MARK} zero is not allowed: {BOUNDED_WORDS}"
    if any(entry.uncertain for entry in shown):
        caption += f"\n{UNCERTAIN_WORDS}"
    table = _table(measure.speedups_title, caption)
    table.add_column("cost")
    table.add_column("is", justify="right")
    table.add_column("halved", justify="right")
    table.add_column("removed", justify="right")
    table.add_column("known from")
    table.add_column("what it is", overflow="fold")
    for entry in shown:
        table.add_row(
            Text(entry.name, style="bold" if entry.is_group else ""),
            entry.value or f"{len(entry.paths)} costs",
            _ratio_text(entry.halved, entry.failures.get("halved")),
            _ratio_text(entry.removed, entry.failures.get("removed")) + (BOUNDED_MARK if entry.bounded else ""),
            known_from_text(entry.known_from, entry.uncertain),
            entry.doc,
        )
    return table


def _title(explanation: Explanation) -> str:
    """The scenario, its point, and what else was changed in it; the number of replications stands elsewhere."""
    parameters = explanation.parameters
    named = named_changes(explanation.overrides, parameters, without=["run.replications"])
    return " ".join(filter(None, (explanation.name, parameters_text(parameters), parameters_text(named))))


def _rate_text(explanation: Explanation) -> str:
    return quantity(explanation.rate.mean, explanation.measure.unit)


def render(explanation: Explanation, *, everything: bool = False) -> RenderableType:
    """Everything that `contend explain` shows."""
    rate = measured_text(explanation.rate, explanation.measure.unit)
    head = Text(f"{_title(explanation)}: {rate}, {counted(explanation.replications, 'replication')}")
    parts: list[RenderableType] = [head, Text(), _time_table(explanation), Text()]
    if (places := _place_table(explanation)).row_count:
        parts.append(places)
    if explanation.locks:
        parts.append(_lock_table(explanation))
    for table in (_queue_table(explanation), _stage_table(explanation)):
        if table.row_count:
            parts += [table, Text()]
    if explanation.speedups:
        parts += [_speedup_table(explanation, everything=everything), Text()]
    parts += [Text(f"note: {remark}") for remark in explanation.remarks]
    return Group(*parts)


def _draw_gains(axes: Axes, rows: Sequence[float], ratios: Sequence[Estimate | None], label: str) -> list[Interval]:
    """Bars of what a change gains, in percent, and the intervals that they have: height, least and largest gain."""
    axes.barh(rows, [_gain(ratio.mean) if ratio else 0.0 for ratio in ratios], 0.36, color=_COLOURS[label], label=label)
    return [
        (row, _gain(max(0.0, ratio.low)), _gain(ratio.high))  # nothing becomes less than zero
        for row, ratio in zip(rows, ratios, strict=True)
        if ratio is not None and ratio.low is not None and ratio.high is not None
    ]


def _gain(ratio: float) -> float:
    return 100 * (ratio - 1)


def _draw_intervals(axes: Axes, gains: Sequence[float], intervals: Sequence[Interval]) -> bool:
    """Intervals of gains, on an axis that follows the gains: whether any goes beyond it, where it has an arrow."""
    least, most = min(0.0, *gains), max(0.0, *gains)
    room = max(_LEAST_ROOM, most - least)
    margin = _MARGIN * (most - least + room)
    left = max(min([least, *(low for _, low, _ in intervals)]) - margin, least - room)
    right = min(max([most, *(high for _, _, high in intervals)]) + margin, most + room)
    axes.set_xlim(left, right)
    mark: Any = {"linestyle": "none", "color": "black", "markersize": 4, "clip_on": False, "zorder": 5}
    beyond = False
    for row, low, high in intervals:
        axes.plot([max(low, left), min(high, right)], [row, row], color="black", linewidth=0.8)
        for end, edge, marker, is_beyond in ((low, left, "<", low < left), (high, right, ">", high > right)):
            axes.plot([edge if is_beyond else end], [row], marker=marker if is_beyond else "|", **mark)
            beyond = beyond or is_beyond
    return beyond


def _draw_speedups(axes: Axes, entries: list[Speedup], measure: Measure) -> None:
    names = [
        entry.name + (f" {BOUNDED_MARK}" if entry.bounded else "") + (f" {UNCERTAIN_MARK}" if entry.uncertain else "")
        for entry in entries
    ]
    rows = range(len(entries))
    intervals: list[Interval] = []
    for offset, label in ((-0.19, "removed"), (0.19, "halved")):
        ratios = [getattr(entry, label) for entry in entries]
        intervals += _draw_gains(axes, [row + offset for row in rows], ratios, label)
    gains = [_gain(ratio.mean) for entry in entries for ratio in (entry.removed, entry.halved) if ratio is not None]
    beyond = _draw_intervals(axes, gains, intervals)
    axes.set_yticks(list(rows), names)
    for tick, entry in zip(axes.get_yticklabels(), entries, strict=True):
        tick.set_fontweight("bold" if entry.is_group else "normal")
    axes.set_ylim(len(entries) - 0.4, -0.6)
    axes.axvline(0.0, color="#444444", linewidth=0.8)
    axes.set_xlabel(f"{measure.speedup} (%)")
    axes.set_title("virtual speed-ups", fontsize="medium", loc="left")
    axes.legend(loc="lower right")
    remarks = [f"{BOUNDED_MARK} {BOUNDED_WORDS}"] if any(entry.bounded for entry in entries) else []
    remarks += [UNCERTAIN_WORDS] if any(entry.uncertain for entry in entries) else []
    remarks += [_BEYOND_WORDS] if beyond else []
    if remarks:
        axes.annotate(
            "\n".join(remarks), (1.0, 0.0), xytext=(0, -_BELOW_LABEL), xycoords="axes fraction",
            textcoords="offset points", ha="right", va="top", fontsize="x-small",
        )  # fmt: skip


def _draw_times(axes: Axes, explanation: Explanation) -> None:
    from contend.plots import CATEGORY_COLOURS

    roles = [role for role, times in explanation.time_by_category_ns.items() if sum(times.values()) > 0]
    left = [0.0] * len(roles)
    for category in dict.fromkeys(c for role in roles for c in explanation.time_by_category_ns[role]):
        shares = []
        for role in roles:
            times = explanation.time_by_category_ns[role]
            shares.append(100 * times.get(category, 0.0) / sum(times.values()))
        if max(shares, default=0.0) >= 100 * _SMALLEST_SHARE:
            label = category.replace("_", " ")
            axes.barh(
                [explanation.words.role(role) for role in roles],
                shares,
                left=left,
                color=CATEGORY_COLOURS.get(category, "#499894"),
                label=label,
                height=0.6,
            )
            left = [a + b for a, b in zip(left, shares, strict=True)]
    axes.set_xlim(0, 100)
    axes.set_xlabel("% of thread time")
    axes.set_title("where the time goes", fontsize="medium", loc="left")
    axes.grid(visible=False)
    axes.legend(fontsize="x-small", loc="upper left", bbox_to_anchor=(0.0, 0.0), borderaxespad=5.0, ncols=6)


def draw(explanation: Explanation) -> Picture:
    """The picture of an explanation: where the time goes, and what would help."""
    from matplotlib import rc_context

    from contend.plots import STYLE, Picture

    entries = [entry for entry in explanation.speedups if entry.removed or entry.halved][:_MOST_BARS]
    with rc_context(STYLE):
        figure = Picture(figsize=(9.6, 3.0 + 0.26 * len(entries)), layout="constrained")
        ratios: Any = [2.0, max(2.0, 0.26 * len(entries))][: 2 if entries else 1]
        grid = figure.add_gridspec(2 if entries else 1, 1, height_ratios=ratios)
        _draw_times(figure.add_subplot(grid[0, 0]), explanation)
        if entries:
            _draw_speedups(figure.add_subplot(grid[1, 0]), entries, explanation.measure)
        title = textwrap.fill(f"{_title(explanation)}: {_rate_text(explanation)}", _TITLE_WIDTH, break_on_hyphens=False)
        figure.suptitle(title, fontsize="large", fontweight="bold")
    return figure


def picture_bytes(explanation: Explanation) -> dict[str, bytes]:
    """The picture of an explanation: {"png": ..., "svg": ...}."""
    from contend.plots import figure_bytes

    return figure_bytes(draw(explanation))
