"""A picture of a stretch of a trace: what each thread does, and who holds each lock, over time."""

from __future__ import annotations

import itertools
import re
from colorsys import hsv_to_rgb
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from contend.common.errors import InputError
from contend.common.nearest import nearest_names
from contend.common.reading import read_json
from contend.plots import CATEGORY_COLOURS, STYLE, Picture, figure_bytes
from contend.traces.events import check_trace

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes

    from contend.common.jsontypes import JsonObject

_CALL_COLOURS = {
    "MPI_Isend": "#9ecae9", "MPI_Irecv": "#c3e6cb", "MPI_Waitall": "#eeeeee", "MPI_Barrier": "#d7cfc8",
    "progress": "#dbe9c9", "deliver": "#fbe3c0",
}  # fmt: skip
# Calls that have no colour of their own take the next of these: boxes around the colours of what the time goes to.
_OTHER_CALLS = ("#e4e4f4", "#cfe8e6", "#f4d9e6", "#e9e3b8", "#d5d0ee", "#f6d5c8", "#d3e0f5", "#e0e0cf")
_EXTRA_COLOURS = {"lock_release": "#c44e52", "message": "#5c4b8a"}
# Threads have stronger colours than what their time goes to: hues around the circle, darker and lighter in turns.
_SATURATION, _DARKER, _LIGHTER = 1.0, 0.55, 0.85
_LEVEL_HEIGHT = 0.22
# A row is so high, in inches; of many rows each is lower, down to what its label needs.
_ROW, _LEAST_ROW, _ROWS_HEIGHT = 0.30, 0.15, 12.0
_MAX_ARROWS = 60
_STUB = 0.004  # of the width
_MAX_COUNTERS = 4
_PIXELS = 3000


@dataclass
class Slice:
    """A complete event; times in us. `level` is how many slices of its track contain it."""

    name: str
    begin: float
    end: float
    level: int = 0
    arguments: JsonObject = field(default_factory=dict)


@dataclass
class Track:
    """What has a line of its own: a thread, a lock, a part of a network interface."""

    process: int
    name: str
    process_name: str
    slices: list[Slice] = field(default_factory=list)


@dataclass
class Stretch:
    """What a trace shows between two times, in us."""

    title: str
    begin: float
    end: float
    tracks: list[Track]
    flows: list[list[tuple[int, float]]]
    """By message: (track, time) of each step."""
    counters: dict[tuple[int, str], list[tuple[float, float]]]
    complete: bool
    last: float
    """When the trace ends."""


def load(path: Path) -> JsonObject:
    """Reads a trace file.

    Raises:
        ContendError: It cannot be read, or is no trace.
    """
    return check_trace(read_json(path, "trace"), str(path))


# How much is shown where nobody says how much, in us.
LENGTH_US = 100.0


def stretch(document: JsonObject, begin: float, end: float | None) -> Stretch:
    """What happened from `begin` to `end` (us; None: 100 us later), or to the end of the trace where that is before."""
    events: list[JsonObject] = document["traceEvents"]
    end = begin + LENGTH_US if end is None else end
    last = max((event["ts"] + event.get("dur", 0.0) for event in events if event["ph"] != "M"), default=begin)
    if last > begin:
        end = min(end, last)
    processes = {e["pid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "process_name"}
    tracks = {
        e["tid"]: Track(e["pid"], e["args"]["name"], processes.get(e["pid"], ""))
        for e in events
        if e["ph"] == "M" and e["name"] == "thread_name"
    }
    order = {tid: index for index, tid in enumerate(sorted(tracks, key=lambda tid: (tracks[tid].process, tid)))}
    flows: dict[int, list[tuple[int, float]]] = {}
    counters: dict[tuple[int, str], list[tuple[float, float]]] = {}
    for event in events:
        phase = event["ph"]
        if phase == "X" and event["ts"] < end and event["ts"] + event["dur"] > begin:
            tracks[event["tid"]].slices.append(
                Slice(event["name"], event["ts"], event["ts"] + event["dur"], 0, event.get("args", {}))
            )
        elif phase in ("s", "t", "f"):
            flows.setdefault(event["id"], []).append((order[event["tid"]], event["ts"]))
        elif phase == "C" and event["ts"] < end:
            counters.setdefault((event["pid"], event["name"]), []).append((event["ts"], event["args"]["length"]))
    for track in tracks.values():
        _set_levels(track.slices)
    inside = [steps for steps in flows.values() if any(begin <= time < end for _, time in steps)]
    information = document.get("otherData", {})
    return Stretch(
        title=str(information.get("title", "")),
        begin=begin,
        end=end,
        tracks=[tracks[tid] for tid in sorted(tracks, key=lambda tid: order[tid])],
        flows=inside,
        counters=counters,
        complete=bool(information.get("complete", True)),
        last=last,
    )


def _set_levels(slices: list[Slice]) -> None:
    slices.sort(key=lambda entry: (entry.begin, -entry.end))
    open_ends: list[float] = []
    for entry in slices:
        while open_ends and open_ends[-1] <= entry.begin + 1e-9:
            open_ends.pop()
        entry.level = len(open_ends)
        open_ends.append(entry.end)


def _colours_of_names(names: Iterable[str]) -> dict[str, str]:
    """The colours of what stands in rows of threads and interfaces, in the order of the legend."""
    known = {**CATEGORY_COLOURS, **_EXTRA_COLOURS, **_CALL_COLOURS}
    present = set(names)
    others = zip(sorted(present - set(known)), itertools.cycle(_OTHER_CALLS))
    return {name: colour for name, colour in known.items() if name in present} | dict(others)


def _colours_of_threads(names: Sequence[str]) -> dict[str, str]:
    """A colour for each thread, which no category has."""
    from matplotlib.colors import to_hex

    count = max(1, len(names))
    return {
        name: to_hex(hsv_to_rgb(index / count, _SATURATION, _LIGHTER if index % 2 else _DARKER))
        for index, name in enumerate(names)
    }


def _is_call(name: str) -> bool:
    return name not in CATEGORY_COLOURS and name not in _EXTRA_COLOURS


def _draw_track(axes: Axes, row: int, track: Track, shown: Stretch, colours: dict[str, str]) -> None:
    """Calls are nested boxes; inside them stands what the time went to. A lock's slices have the holder's colour."""
    groups: dict[tuple[str, int, bool], list[tuple[float, float]]] = {}
    least = (shown.end - shown.begin) / _PIXELS
    is_lock = _is_lock(track)
    for entry in track.slices:
        begin, end = max(entry.begin, shown.begin), min(entry.end, shown.end)
        call = _is_call(entry.name) and not is_lock
        groups.setdefault((colours[entry.name], entry.level, call), []).append((begin, max(end - begin, least)))
    for (colour, level, call), spans in sorted(groups.items(), key=lambda item: (not item[0][2], item[0][1])):
        inset = min(level, 3) * _LEVEL_HEIGHT / 2 if call else 0.33
        height = 0.92 - inset if call else 0.55
        bottom = row - 0.46 if call else row - 0.30
        axes.broken_barh(
            spans, (bottom, 0.8 if is_lock else height), facecolors=colour,
            edgecolors="#aaaaaa" if call else "none", linewidth=0.3 if call else 0.0, zorder=2 if call else 3,
        )  # fmt: skip


def _draw_flows(axes: Axes, shown: Stretch, rows: dict[int, int], colours: dict[str, str]) -> None:
    """Draws messages from step to step, each with a dot in its sender's colour where it ends.

    What comes from before the stretch, or goes on after it, has a stub: whole lines of messages that wait long would
    lie on one another, and show nothing.
    """
    stub = _STUB * (shown.end - shown.begin)
    for steps in shown.flows[:: max(1, -(-len(shown.flows) // _MAX_ARROWS))]:
        points = [(time, rows[track]) for track, time in steps if track in rows]
        for (departure, source), (arrival, target) in itertools.pairwise(points):
            way = 0.4 if source < target else -0.4
            begins, ends = shown.begin <= departure < shown.end, shown.begin <= arrival < shown.end
            if not begins and not ends:
                continue
            times = (departure if begins else arrival - stub, arrival if ends else departure + stub)
            heights = (source if begins else target - way, target if ends else source + way)
            axes.plot(times, heights, color="#333333", linewidth=0.5, alpha=0.55, zorder=4)
        if points and shown.begin <= points[-1][0] < shown.end:
            sender = colours.get(shown.tracks[steps[0][0]].name, "#333333")
            axes.plot(
                *points[-1],
                marker=".",
                markersize=5,
                color=sender,
                markeredgecolor="#333333",
                markeredgewidth=0.4,
                zorder=5,
            )


def _queues(shown: Stretch, only: Sequence[str]) -> list[tuple[str, list[tuple[float, float]]]]:
    """The queues that get longest, with their names."""

    def largest(samples: list[tuple[float, float]]) -> float:
        return max((value for time, value in samples if time >= shown.begin), default=0.0)

    named = [(f"rank {process - 1}: {name}", samples) for (process, name), samples in shown.counters.items()]
    used = [item for item in named if largest(item[1]) > 0 and _is_wanted(item[0], only)]
    return sorted(used, key=lambda item: -largest(item[1]))[:_MAX_COUNTERS]


def _draw_queues(axes: Axes, shown: Stretch, queues: list[tuple[str, list[tuple[float, float]]]]) -> None:
    from matplotlib.ticker import MaxNLocator

    for name, samples in queues:
        before = [value for time, value in samples if time <= shown.begin]
        inside = [(time, value) for time, value in samples if shown.begin < time < shown.end]
        times = [shown.begin, *(time for time, _ in inside), shown.end]
        values = [before[-1] if before else 0.0, *(value for _, value in inside)]
        axes.step(times, [*values, values[-1]], where="post", linewidth=1.0, label=name)
    axes.set_ylabel("queue length")
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.legend(fontsize="x-small", loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.2, ncols=_MAX_COUNTERS)


def _is_wanted(name: str, only: Sequence[str]) -> bool:
    return not only or any(text in name for text in only)


def _used_rows(shown: Stretch, only: Sequence[str]) -> list[int]:
    """The tracks that have a row.

    Raises:
        InputError: Nothing happens in them, or there are none with such a name.
    """
    if not shown.tracks:
        raise InputError("the trace holds no events of threads, locks or network interfaces")
    wanted = [index for index, track in enumerate(shown.tracks) if _is_wanted(_label(track), only)]
    if not wanted:
        labels = [_label(track) for track in shown.tracks]
        near = [name for text in only for name in nearest_names(text, labels)]
        hint = f"did you mean {near[0]!r}? There" if near else "there"
        kinds = dict.fromkeys(re.sub(r"\d+", "N", label) for label in labels)  # threads and locks may be hundreds
        raise InputError(f"no row has {' or '.join(map(repr, only))} in its name; {hint} are: {', '.join(kinds)}")
    used = [index for index in wanted if shown.tracks[index].slices]
    if not used:
        where = " in these rows" if only else ""
        raise InputError(
            f"nothing happens{where} from {shown.begin:.15g} us to {shown.end:.15g} us; "
            f"the trace ends at {shown.last:.15g} us"
        )
    return used


def draw(shown: Stretch, only: Sequence[str] = ()) -> Picture:
    """Draws a stretch of a trace.

    Args:
        shown: The stretch.
        only: Only rows and queues whose name has one of these texts; all if there are none.

    Raises:
        InputError: Nothing happens in it, or there are no such rows.
    """
    from matplotlib import rc_context

    used = _used_rows(shown, only)
    rows = {index: row for row, index in enumerate(used)}
    queues = _queues(shown, only)
    heights = [len(used) * max(_LEAST_ROW, min(_ROW, _ROWS_HEIGHT / len(used))), *([1.8] if queues else [])]
    with rc_context(STYLE):
        figure = Picture(figsize=(13.0, 1.0 + sum(heights)), layout="constrained")
        panels = figure.subplots(len(heights), 1, height_ratios=heights, sharex=True, squeeze=False)[:, 0]
        _draw_rows(panels[0], shown, rows)
        if queues:
            panels[0].tick_params(labelbottom=True)
            _draw_queues(panels[1], shown, queues)
        panels[-1].set_xlabel("simulated time (us)")
        return figure


def _draw_rows(axes: Axes, shown: Stretch, rows: dict[int, int]) -> None:
    """Rows of tracks, messages between them, and what the colours mean."""
    tracks = {index: shown.tracks[index] for index in rows}
    names = _colours_of_names(entry.name for track in tracks.values() if not _is_lock(track) for entry in track.slices)
    holders = [track.name for track in shown.tracks if track.process_name.startswith("rank")]
    holders += [entry.name for track in tracks.values() if _is_lock(track) for entry in track.slices]
    threads = _colours_of_threads(list(dict.fromkeys(holders)))
    for index, row in rows.items():
        _draw_track(axes, row, tracks[index], shown, threads if _is_lock(tracks[index]) else names)
    _draw_flows(axes, shown, rows, threads)
    axes.set_yticks(list(rows.values()), [_label(track) for track in tracks.values()], fontsize="x-small")
    for tick, track in zip(axes.get_yticklabels(), tracks.values(), strict=True):
        tick.set_color(threads.get(track.name, "black"))
    for upper, lower in itertools.pairwise(rows):
        if shown.tracks[upper].process != shown.tracks[lower].process:
            axes.axhline(rows[lower] - 0.5, color="#444444", linewidth=0.8)
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlim(shown.begin, shown.end)
    axes.grid(visible=False)
    axes.set_title(shown.title, fontsize="medium", loc="left", fontweight="bold")
    holding = dict.fromkeys(entry.name for track in tracks.values() if _is_lock(track) for entry in track.slices)
    rowless = {name: threads[name] for name in holding if name not in {track.name for track in tracks.values()}}
    words = ["rows of locks: who holds it"] if holding else []
    words += ["in the colour of the thread's name"] if len(rowless) < len(holding) else []
    _add_legend(axes, names | rowless, ", ".join(words))


def _add_legend(axes: Axes, names: dict[str, str], title: str) -> None:
    """What colours in rows of threads and interfaces mean, those of threads without a row, too, below the picture."""
    from matplotlib.patches import Patch

    handles = [
        Patch(
            facecolor=colour, edgecolor="#aaaaaa", label=name if name.startswith("MPI") else name.replace("_", " ")
        )
        for name, colour in names.items()
    ]  # fmt: skip
    if (figure := axes.get_figure(root=True)) is not None:
        figure.legend(
            handles=handles, loc="outside lower center", ncols=9, fontsize="x-small", title_fontsize="x-small",
            title=title or None,
        )  # fmt: skip


def _is_lock(track: Track) -> bool:
    return track.process_name == "locks"


def _label(track: Track) -> str:
    return f"lock {track.name}" if _is_lock(track) else track.name


def picture(shown: Stretch, kind: str, only: Sequence[str] = ()) -> bytes:
    """The picture as "png" or "svg"; see draw."""
    return figure_bytes(draw(shown, only), (kind,))[kind]
