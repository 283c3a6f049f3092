"""A short stretch of a run in all detail: what each thread does, who holds each lock and who waits for it."""

from __future__ import annotations

import math
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from contend.common.errors import InputError
from contend.traces.picture import Stretch, load, stretch
from contend.traces.tracing import write_trace

if TYPE_CHECKING:
    import polars as pl

    from contend.common.jsontypes import JsonObject
    from contend.plots.style import Picture
    from contend.scenarios.resolution import ResolvedScenario

_LOCKS = "locks"
# What a trace calls the moment at which warm-up ends (sim/core/chrome_trace.cpp).
_TIMED = "timed part begins"


@dataclass(frozen=True)
class LockSpan:
    """A thread holds a lock, or waits for it (`waits`); times in us."""

    lock: str
    thread: str
    begin: float
    end: float
    waits: bool


@dataclass(frozen=True)
class Timeline:
    """What happened between two moments of simulated time."""

    shown: Stretch

    @property
    def begin_us(self) -> float:
        """Where it begins, in us of simulated time."""
        return self.shown.begin

    @property
    def end_us(self) -> float:
        """Where it ends, in us of simulated time."""
        return self.shown.end

    def lock_spans(self) -> list[LockSpan]:
        """Who holds and who waits for each lock, in order of time."""
        spans = []
        for track in self.shown.tracks:
            for part in track.slices:
                begin, end = max(part.begin, self.begin_us), min(part.end, self.end_us)
                if track.process_name == _LOCKS:
                    spans.append(LockSpan(track.name, part.name, begin, end, waits=False))
                elif part.name == "lock_wait" and "lock" in part.arguments:
                    spans.append(LockSpan(part.arguments["lock"], track.name, begin, end, waits=True))
        return sorted(spans, key=lambda span: (span.begin, span.end))

    def frame(self) -> pl.DataFrame:
        """One row per span: track, kind ("lock" or the process), what, begin_us, end_us, level (depth of calls)."""
        import polars as pl

        columns = ("track", "kind", "what", "begin_us", "end_us", "level")
        types = (pl.String, pl.String, pl.String, pl.Float64, pl.Float64, pl.Int64)
        rows = []
        for track in self.shown.tracks:
            kind = "lock" if track.process_name == _LOCKS else track.process_name
            rows += [(track.name, kind, part.name, part.begin, part.end, part.level) for part in track.slices]
        schema = dict(zip(columns, types, strict=True))
        return pl.DataFrame(rows, schema=schema, orient="row").sort("begin_us", "level")

    def draw(self) -> Picture:
        """Everything: threads, locks, interfaces, messages and queue lengths."""
        from contend.traces.picture import draw

        return draw(self.shown)

    def __repr__(self) -> str:
        spans = sum(len(track.slices) for track in self.shown.tracks)
        return f"<Timeline of {self.shown.title}: {self.begin_us:.1f} to {self.end_us:.1f} us, {spans} spans>"


def busiest_begin(document: JsonObject, length_us: float) -> float:
    """Where the stretch begins in which threads wait most for locks (us).

    It is in the timed part, unless the trace has less of that than a stretch, and at its begin where nobody waits.
    """
    import numpy as np

    events = document["traceEvents"]
    shown = [event for event in events if event["ph"] == "X"]
    timed = max((event["ts"] for event in events if event["ph"] == "i" and event["name"] == _TIMED), default=0.0)
    last = max((event["ts"] + event["dur"] for event in shown), default=timed)
    if last - timed < length_us:
        timed = min((event["ts"] for event in shown), default=timed)
    waits = [(event["ts"], event["ts"] + event["dur"]) for event in shown if event["name"] == "lock_wait"]
    begins, ends = np.clip(np.array(waits).reshape(-1, 2), timed, last).T
    if not (ends > begins).any():
        return float(timed)
    # How many threads wait changes at these moments, and what they have waited together grows by it in between.
    moments, places = np.unique(np.concatenate([begins, ends]), return_inverse=True)
    waiting = np.cumsum(np.bincount(places, np.repeat([1.0, -1.0], len(begins))))
    waited = np.concatenate([[0.0], np.cumsum(np.diff(moments) * waiting[:-1])])
    # A stretch with the most of it begins or ends at one of them.
    candidates = np.unique(np.clip(np.concatenate([moments, moments - length_us]), timed, max(timed, last - length_us)))
    inside = np.interp(candidates + length_us, moments, waited) - np.interp(candidates, moments, waited)
    return float(candidates[int(np.argmax(inside > inside.max() * (1 - 1e-9)))])


def from_document(document: JsonObject, begin_us: float | None, length_us: float) -> Timeline:
    """A stretch of a trace.

    Raises:
        InputError: Nothing happens in it.
    """
    if not 0 < length_us < math.inf:
        raise InputError(f"a stretch of {length_us:g} us cannot be shown; allowed: a length above 0")
    begin = busiest_begin(document, length_us) if begin_us is None else begin_us
    if not math.isfinite(begin):
        raise InputError(f"a stretch cannot begin at {begin:g} us")
    shown = stretch(document, begin, begin + length_us)
    if not any(track.slices for track in shown.tracks):
        raise InputError(f"nothing happens from {begin:.15g} us to {begin + length_us:.15g} us")
    return Timeline(shown)


def from_file(path: Path, begin_us: float | None, length_us: float) -> Timeline:
    """A stretch of a trace file; see from_document."""
    return from_document(load(path), begin_us, length_us)


def from_scenario(scenario: ResolvedScenario, begin_us: float | None, length_us: float, limit_mb: float) -> Timeline:
    """Runs one replication of a scenario's last point and shows a stretch of it; see from_document."""
    point, _ = scenario.one_point()
    with tempfile.TemporaryDirectory(prefix="contend-") as folder:
        path = Path(folder) / "trace.json"
        write_trace(point, path, limit_mb=limit_mb, scenario=scenario)
        return from_file(path, begin_us, length_us)
