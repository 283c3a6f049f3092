"""A picture of a stretch of a trace: what each thread does, and who holds each lock, over time."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from contend.errors import InputError
from contend.files import read_json
from contend.plots import CATEGORY_COLOURS, STYLE, Picture, figure_bytes
from contend.trace_events import check_trace

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

    from contend.jsontypes import JsonObject

_CALL_COLOURS = {
    "MPI_Isend": "#9ecae9", "MPI_Irecv": "#c3e6cb", "MPI_Waitall": "#eeeeee", "MPI_Barrier": "#d7cfc8",
    "progress": "#dbe9c9", "deliver": "#fbe3c0",
}  # fmt: skip
_OTHER_CALL = "#e4e4f4"
_EXTRA_COLOURS = {"lock_release": "#c44e52", "message": "#76b7b2"}
_HOLDERS = (
    "#4e79a7",
    "#f28e2b",
    "#59a14f",
    "#b07aa1",
    "#edc948",
    "#76b7b2",
    "#9c755f",
    "#ff9da7",
    "#86bcb6",
    "#d37295",
)
_LEVEL_HEIGHT = 0.22
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


def _colour(name: str) -> str:
    return CATEGORY_COLOURS.get(name) or _EXTRA_COLOURS.get(name) or _CALL_COLOURS.get(name, _OTHER_CALL)


def _is_call(name: str) -> bool:
    return name not in CATEGORY_COLOURS and name not in _EXTRA_COLOURS


def _draw_track(axes: Axes, row: int, track: Track, shown: Stretch, colours: dict[str, str]) -> None:
    """Calls are nested boxes; inside them stands what the time went to. A lock's slices have the holder's colour."""
    groups: dict[tuple[str, int, bool], list[tuple[float, float]]] = {}
    least = (shown.end - shown.begin) / _PIXELS
    is_lock = track.process_name == "locks"
    for entry in track.slices:
        begin, end = max(entry.begin, shown.begin), min(entry.end, shown.end)
        call = _is_call(entry.name) and not is_lock
        colour = colours[entry.name] if is_lock else _colour(entry.name)
        groups.setdefault((colour, entry.level, call), []).append((begin, max(end - begin, least)))
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


def _draw_counters(axes: Axes, shown: Stretch) -> None:
    def largest(samples: list[tuple[float, float]]) -> float:
        return max((value for time, value in samples if time >= shown.begin), default=0.0)

    chosen = sorted(shown.counters.items(), key=lambda item: -largest(item[1]))[:_MAX_COUNTERS]
    chosen = [(key, samples) for key, samples in chosen if largest(samples) > 0]
    for (process, name), samples in chosen:
        before = [value for time, value in samples if time <= shown.begin]
        inside = [(time, value) for time, value in samples if shown.begin < time < shown.end]
        times = [shown.begin, *(time for time, _ in inside), shown.end]
        values = [before[-1] if before else 0.0, *(value for _, value in inside)]
        axes.step(times, [*values, values[-1]], where="post", linewidth=1.0, label=f"rank {process - 1}: {name}")
    axes.set_ylabel("queue length")
    axes.set_ylim(bottom=0)
    axes.legend(fontsize="x-small", loc="best", ncols=2)


def draw(shown: Stretch) -> Picture:
    """Draws a stretch of a trace.

    Raises:
        InputError: Nothing happens in it.
    """
    from matplotlib import rc_context
    from matplotlib.patches import Patch

    used = [index for index, track in enumerate(shown.tracks) if track.slices]
    if not used:
        raise InputError(
            f"nothing happens from {shown.begin:.15g} us to {shown.end:.15g} us; the trace ends at {shown.last:.15g} us"
        )
    rows = {index: row for row, index in enumerate(used)}
    holders = [
        track.name for track in shown.tracks if track.process_name != "locks" and track.process_name.startswith("rank")
    ]
    colours = {name: _HOLDERS[index % len(_HOLDERS)] for index, name in enumerate(holders)}
    with rc_context(STYLE):
        figure = Picture(figsize=(13.0, 2.6 + 0.30 * len(used)), layout="constrained")
        counters = 1.6 if shown.counters else 0.0
        grid = figure.add_gridspec(
            2 if counters else 1, 1, height_ratios=[0.30 * len(used), counters][: 2 if counters else 1]
        )
        axes = figure.add_subplot(grid[0, 0])
        for index, row in rows.items():
            track = shown.tracks[index]
            for entry in track.slices:
                colours.setdefault(entry.name, _HOLDERS[len(colours) % len(_HOLDERS)])
            _draw_track(axes, row, track, shown, colours)
        _draw_flows(axes, shown, rows, colours)
        axes.set_yticks(list(rows.values()), [_label(shown.tracks[index]) for index in rows], fontsize="x-small")
        for tick, index in zip(axes.get_yticklabels(), rows, strict=True):
            if shown.tracks[index].name in holders:
                tick.set_color(colours[shown.tracks[index].name])
        for upper, lower in itertools.pairwise(used):
            if shown.tracks[upper].process != shown.tracks[lower].process:
                axes.axhline(rows[lower] - 0.5, color="#444444", linewidth=0.8)
        axes.set_ylim(len(used) - 0.4, -0.6)
        axes.set_xlim(shown.begin, shown.end)
        axes.grid(visible=False)
        axes.set_title(shown.title, fontsize="medium", loc="left", fontweight="bold")
        names = {
            entry.name
            for index in used
            for entry in shown.tracks[index].slices
            if shown.tracks[index].process_name != "locks"
        }
        known = [name for name in (*CATEGORY_COLOURS, *_EXTRA_COLOURS, *_CALL_COLOURS) if name in names]
        handles = [
            Patch(
                facecolor=_colour(name),
                edgecolor="#aaaaaa",
                label=name if name.startswith("MPI_") else name.replace("_", " "),
            )
            for name in known
        ]
        figure.legend(handles=handles, loc="outside lower center", ncols=9, fontsize="x-small")
        last = axes
        if counters:
            last = figure.add_subplot(grid[1, 0], sharex=axes)
            _draw_counters(last, shown)
        last.set_xlabel("simulated time (us)")
        return figure


def _label(track: Track) -> str:
    return f"lock {track.name}" if track.process_name == "locks" else track.name


def picture(shown: Stretch, kind: str) -> bytes:
    """The picture as "png" or "svg"."""
    return figure_bytes(draw(shown), (kind,))[kind]
