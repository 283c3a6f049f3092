"""A stretch of a trace as charts: who does what, who holds which lock, where messages are, how long queues are."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import altair as alt

from contend.plots.style import CATEGORY_COLOURS
from contend.report.budget_chart import category_colour
from contend.report.chart_set import Charts, Key, Row
from contend.report.curve_looks import SERIES

if TYPE_CHECKING:
    from contend.traces.picture import Stretch, Track

_MOST_MESSAGES = 80
_MOST_QUEUES = 5
# What stands beside rows: cut on a phone, else as long as the longest name, up to a limit.
_PHONE_LABEL_PIXELS, _MOST_LABEL_PIXELS = 125, 280
_CHARACTER_PIXELS = 6.5
# Boxes are at least one of so many parts of the stretch wide.
_PIXELS = 4000
_ROW_PIXELS = 20
_CALLS = {
    "MPI_Isend": "var(--call-send)",
    "MPI_Irecv": "var(--call-receive)",
    "MPI_Waitall": "var(--call-wait)",
    "MPI_Barrier": "var(--call-barrier)",
    "progress": "var(--call-progress)",
    "deliver": "var(--call-deliver)",
}
_OTHER_CALL = "var(--call-other)"
_EXTRA = {"lock_release": "#c44e52", "message": "#5c4b8a"}


def add_timeline(charts: Charts, shown: Stretch) -> None:
    """Adds a chart of threads, interfaces and locks over time, and one of the queues' lengths."""
    used = [index for index, track in enumerate(shown.tracks) if track.slices]
    rows_of = {index: row for row, index in enumerate(used)}
    unknown: list[str] = []
    boxes: list[Row] = []
    names: dict[str, str] = {}
    for index, row in rows_of.items():
        boxes += _boxes(shown, shown.tracks[index], row, names, unknown)
    charts.data["slices"] = boxes
    charts.data["messages"] = _messages(shown, rows_of)
    charts.slice_keys = [Key(name, name.replace("_", " "), colour) for name, colour in names.items()]
    titles = [_track_title(shown.tracks[index]) for index in used]
    charts.data["borders"] = [
        {"y": rows_of[lower]}
        for upper, lower in itertools.pairwise(used)
        if shown.tracks[upper].process != shown.tracks[lower].process
    ]
    parameters = [*_window(shown), alt.param(name="tracks", value=titles), alt.param(name="with_messages", value=True)]
    room = _room(titles)
    y_look = alt.Axis(
        values=[row + 0.5 for row in range(len(used))], labelExpr="tracks[floor(datum.value)]", title=None,
        grid=False, ticks=False, domain=False, labelLimit=room, labelFontSize=11, minExtent=room, maxExtent=room,
    )  # fmt: skip
    y_scale = alt.Scale(domain=[0, len(used)], reverse=True, nice=False, zero=False)

    def y(name: str) -> alt.Y:
        return alt.Y(f"{name}:Q", scale=y_scale, axis=y_look)

    boxes_base = alt.Chart(alt.NamedData("slices")).encode(
        x=_time("begin", orient="top"),
        x2="end",
        y=y("top"),
        y2="bottom",
        color=alt.Color("colour:N", scale=None),
        tooltip=[
            alt.Tooltip("title:N", title="what"),
            alt.Tooltip("track:N", title="where"),
            alt.Tooltip("text:N", title="when"),
            alt.Tooltip("more:N", title="more"),
        ],
    )
    calls = boxes_base.transform_filter("datum.call").mark_rect(
        clip=True, stroke="var(--line)", strokeWidth=0.4, aria=False
    )
    times = boxes_base.transform_filter("!datum.call").mark_rect(clip=True, aria=False)
    borders = alt.Chart(alt.NamedData("borders")).mark_rule(color="var(--line)", aria=False).encode(y=y("y"))
    messages = (
        alt.Chart(alt.NamedData("messages"))
        .transform_filter("with_messages")
        .mark_line(clip=True, strokeWidth=0.7, opacity=0.35, color="var(--ink)", aria=False)
        .encode(x=_time("time", orient="top"), y=y("y"), detail="message:N", order="step:Q")
    )
    chart = alt.layer(calls, times, borders, messages).add_params(*parameters)
    charts.add("timeline", chart.properties(width="container", height=_ROW_PIXELS * len(used)))
    _add_queues(charts, shown, room)


def _window(shown: Stretch) -> list[Any]:
    """Parameters that the page's buttons change: begin and end of what is shown, in simulated us."""
    return [alt.param(name="time_begin", value=shown.begin), alt.param(name="time_end", value=shown.end)]


def _time(name: str, *, orient: str) -> alt.X:
    domain: Any = [{"expr": "time_begin"}, {"expr": "time_end"}]
    look: Any = alt.Axis(title="simulated time (us)", format="~f", tickCount=5, grid=False, orient=orient)
    return alt.X(f"{name}:Q", scale=alt.Scale(domain=domain, nice=False, zero=False), axis=look)


def _boxes(shown: Stretch, track: Track, row: int, names: dict[str, str], unknown: list[str]) -> list[Row]:
    """Calls are nested boxes; what the time goes to stands inside them. A lock's boxes say who holds it."""
    least = (shown.end - shown.begin) / _PIXELS
    is_lock = track.process_name == "locks"
    where = _track_title(track)
    rows: list[Row] = []
    for entry in track.slices:
        is_call = entry.name not in CATEGORY_COLOURS and entry.name not in _EXTRA and not is_lock
        if is_lock:
            colour = f"var(--series-{_number_in(entry.name) % SERIES})"
        elif is_call:
            colour = _CALLS.get(entry.name, _OTHER_CALL)
        else:
            colour = _EXTRA.get(entry.name) or category_colour(entry.name, unknown)
        if not is_lock:
            names.setdefault(entry.name, colour)
        inset = 0.06 + min(entry.level, 3) * 0.08 if is_call else (0.14 if is_lock else 0.3)
        begin, end = max(entry.begin, shown.begin), min(entry.end, shown.end)
        rows.append(
            {
                "begin": round(begin, 4),
                "end": round(max(end, begin + least), 4),
                "top": round(row + inset, 3),
                "bottom": round(row + 1 - inset, 3),
                "call": is_call,
                "colour": colour,
                "title": f"held by {entry.name}" if is_lock else entry.name.replace("_", " "),
                "track": where,
                "text": f"{entry.begin:.3f} us, for {1000 * (entry.end - entry.begin):,.0f} ns",
                "more": ", ".join(f"{key}: {value}" for key, value in entry.arguments.items()) or "-",
            }
        )
    # Longer boxes first: shorter ones lie upon them.
    rows.sort(key=lambda box: float(box["top"] or 0))
    return rows


def _room(titles: list[str]) -> Any:  # noqa: ANN401 - what Altair takes
    """Pixels beside the rows."""
    wanted = round(min(_MOST_LABEL_PIXELS, max(map(len, titles)) * _CHARACTER_PIXELS))
    return alt.expr(f"windowSize()[0] < 700 ? {_PHONE_LABEL_PIXELS} : {max(_PHONE_LABEL_PIXELS, wanted)}")


def _number_in(name: str) -> int:
    """A number for a name, so that neighbours differ: the one it ends with, else one from its letters."""
    digits = "".join(itertools.takewhile(str.isdigit, reversed(name)))[::-1]
    return int(digits[-6:]) if digits else sum(name.encode())


def _track_title(track: Track) -> str:
    return f"lock {track.name}" if track.process_name == "locks" else track.name


def _messages(shown: Stretch, rows_of: dict[int, int]) -> list[Row]:
    step = max(1, -(-len(shown.flows) // _MOST_MESSAGES))
    return [
        {"message": number, "step": order, "time": round(time, 4), "y": rows_of[track] + 0.5}
        for number, steps in enumerate(shown.flows[::step])
        for order, (track, time) in enumerate(steps)
        if track in rows_of
    ]


def _add_queues(charts: Charts, shown: Stretch, room: Any) -> None:  # noqa: ANN401 - what Altair takes
    """Lengths of the queues that are longest in the stretch; `room` is left of it as of the rows above."""

    def largest(samples: list[tuple[float, float]]) -> float:
        return max((value for time, value in samples if time >= shown.begin), default=0.0)

    chosen = sorted(shown.counters.items(), key=lambda item: -largest(item[1]))[:_MOST_QUEUES]
    rows: list[Row] = []
    keys: list[str] = []
    for (process, name), samples in chosen:
        if largest(samples) <= 0:
            continue
        title = f"rank {process - 1}: {name}"
        keys.append(title)
        before = [value for time, value in samples if time <= shown.begin]
        inside = [(time, value) for time, value in samples if shown.begin < time < shown.end]
        steps = [(shown.begin, before[-1] if before else 0.0), *inside]
        rows += [{"time": time, "length": value, "queue": title} for time, value in [*steps, (shown.end, steps[-1][1])]]
    if not rows:
        return
    charts.data["queues"] = rows
    charts.queue_keys = [Key(name, name, f"var(--series-{index})") for index, name in enumerate(keys)]
    colours = [f"var(--series-{index})" for index in range(len(keys))]
    chart = (
        alt.Chart(alt.NamedData("queues"))
        .mark_line(interpolate="step-after", strokeWidth=1.5, clip=True)
        .encode(
            x=_time("time", orient="bottom"),
            y=alt.Y(
                "length:Q", title=None,
                axis=alt.Axis(tickMinStep=1, tickCount=4, minExtent=room, maxExtent=room),
            ),
            color=alt.Color("queue:N", scale=alt.Scale(domain=keys, range=colours), legend=None),
        )
        .add_params(*_window(shown))
    )  # fmt: skip
    charts.add("queues", chart.properties(width="container", height=130))
