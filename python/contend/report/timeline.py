"""The stretch of a trace that a report shows: short enough to be drawn in a page, long enough to tell something."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from contend.common.errors import InputError
from contend.traces.picture import Stretch, stretch

if TYPE_CHECKING:
    from contend.common.jsontypes import JsonObject

# A browser draws so many boxes without delay.
_MOST_SLICES = 2500
_TOO_MANY_SLICES = 20_000
_LEAST_SLICES = 250
_FIRST_LENGTH_US = 100.0
_SHORTEST_US = 1.0
_LONGEST_US = 2000.0
# How far into what the trace has of the timed part one looks first: behind the burst in which it begins.
_SHARE = 0.4
# Phases of trace events that follow a message: it starts, moves on, ends.
_MESSAGE_STEPS = frozenset("stf")
_ROUNDING_US = 1e-6
_QUARTERS = 4
# A stretch is good enough with this share of the messages of the liveliest one.
_LIVELY = 0.5


@dataclass(frozen=True)
class Window:
    """From when to when, in simulated us; None: chosen from the trace."""

    begin: float | None = None
    end: float | None = None


def choose_window(document: JsonObject, window: Window) -> Stretch:
    """A stretch of the timed part in which messages are under way, or of the warm-up where the trace ends before.

    Args:
        document: A trace.
        window: What the user asked for.

    Raises:
        InputError: Nothing happens in it.
    """
    begins = [event["ts"] for event in document["traceEvents"] if event["ph"] == "i" and "timed" in event["name"]]
    spans = [(event["ts"], event["ts"] + event["dur"]) for event in document["traceEvents"] if event["ph"] == "X"]
    if not spans:
        raise InputError("nothing happens in the trace")
    last = max(end for _, end in spans)
    first = max(begins, default=0.0)
    if first >= last:
        first = 0.0
    if window.begin is None:
        steps = [event["ts"] for event in document["traceEvents"] if event["ph"] in _MESSAGE_STEPS]
        begin = _begin(spans, steps, first + _SHARE * (last - first), last)
    else:
        begin = window.begin
    shown = stretch(document, begin, begin + _length(spans, begin) if window.end is None else window.end)
    count = sum(len(track.slices) for track in shown.tracks)
    if count > _TOO_MANY_SLICES:
        raise InputError(
            f"{shown.begin:g} us to {shown.end:g} us has {count:,} slices: too many for a page, choose less"
        )
    if not count:
        raise InputError(f"nothing happens in the trace from {shown.begin:.15g} us to {shown.end:.15g} us")
    return shown


def _begin(spans: list[tuple[float, float]], steps: list[float], usual: float, last: float) -> float:
    """Where messages are under way, as near as possible to the usual place: large designs spend much time in barriers.

    That may be in the warm-up, where a trace ends soon after it.

    Args:
        spans: When something begins and ends.
        steps: When a message is sent, moves on, or arrives.
        usual: Where one would look.
        last: The end of the trace.
    """
    begin, length, share = usual, _FIRST_LENGTH_US, _LIVELY
    low, high = 0.0, last
    while True:
        # Windows begin at every quarter of their length.
        counts: Counter[int] = Counter()
        for time in steps:
            newest = int(_QUARTERS * (time - begin) // length)
            counts.update(range(newest - _QUARTERS + 1, newest + 1))
        places = {number: begin + number * length / _QUARTERS for number in counts}
        counts = Counter({n: counts[n] for n, at in places.items() if low <= at <= high - length + _ROUNDING_US})
        if not counts:
            return begin
        enough = share * max(counts.values())
        begin = places[min((n for n, count in counts.items() if count >= enough), key=lambda n: (abs(n), n))]
        # As much as a page can show is shorter where much happens: its liveliest part, then.
        fitting = _length(spans, begin)
        if fitting >= length:
            return begin
        low, high, length, share = begin, begin + length, fitting, 1.0


def _length(spans: list[tuple[float, float]], begin: float) -> float:
    def inside(length: float) -> int:
        return sum(1 for low, high in spans if low < begin + length and high > begin)

    length = _FIRST_LENGTH_US
    while length < _LONGEST_US and inside(length) < _LEAST_SLICES:
        length *= 2
    while length > _SHORTEST_US and inside(length) > _MOST_SLICES:
        length /= 2
    return length
