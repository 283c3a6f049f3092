"""Checks a file against the Chrome trace event format, as far as viewers depend on it."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

Event = dict[str, Any]
KNOWN_PHASES = {"X", "M", "C", "i", "s", "t", "f", "b", "e"}


def read(path: Path) -> dict[str, Any]:
    """A trace whose times are whole nanoseconds, as numbers of them."""
    document: dict[str, Any] = json.loads(path.read_text())
    for event in document["traceEvents"]:
        for key in ("ts", "dur"):
            if key in event:
                nanoseconds = event[key] * 1000
                assert abs(nanoseconds - round(nanoseconds)) < 1e-3, event
                event[key] = round(nanoseconds)
    return document


def check(document: dict[str, Any]) -> dict[str, list[Event]]:
    """Fails unless the trace is valid; returns its events by phase."""
    events: list[Event] = document["traceEvents"]
    by_phase: dict[str, list[Event]] = defaultdict(list)
    for event in events:
        by_phase[event["ph"]].append(event)
    assert set(by_phase) <= KNOWN_PHASES
    named = {(e["pid"], e["tid"]) for e in by_phase["M"] if e["name"] == "thread_name"}
    processes = {e["pid"] for e in by_phase["M"] if e["name"] == "process_name"}
    assert len({tid for _, tid in named}) == len(named), "numbers of threads are unique in the file"
    for event in events:
        assert event["pid"] in processes
        if event["ph"] in "Xstfbe":
            assert (event["pid"], event["tid"]) in named
        if event["ph"] != "M":
            assert event["ts"] >= 0
    _check_slices(by_phase["X"])
    _check_counters(by_phase["C"])
    _check_flows(by_phase)
    _check_asynchronous(by_phase)
    return by_phase


def slices_of(events: list[Event]) -> dict[int, list[Event]]:
    """Slices by thread, parents before their children."""
    slices: dict[int, list[Event]] = defaultdict(list)
    for event in sorted(events, key=lambda e: (e["ts"], -e["dur"])):
        slices[event["tid"]].append(event)
    return slices


def _check_slices(events: list[Event]) -> None:
    for thread in slices_of(events).values():
        ends: list[int] = []
        for event in thread:
            assert event["dur"] > 0
            while ends and ends[-1] <= event["ts"]:
                ends.pop()
            end = event["ts"] + event["dur"]
            assert not ends or end <= ends[-1], f"{event} sticks out of what contains its begin"
            ends.append(end)


def _check_counters(events: list[Event]) -> None:
    last: dict[tuple[int, str], int] = {}
    for event in events:
        assert all(isinstance(value, int | float) and value >= 0 for value in event["args"].values())
        key = (event["pid"], event["name"])
        assert event["ts"] >= last.get(key, 0), "a counter's values come in order of time"
        last[key] = event["ts"]


def _check_flows(by_phase: dict[str, list[Event]]) -> None:
    flows: dict[int, list[Event]] = defaultdict(list)
    for phase in "stf":
        for event in by_phase[phase]:
            flows[event["id"]].append(event)
    slices = {tid: [(e["ts"], e["ts"] + e["dur"]) for e in events] for tid, events in slices_of(by_phase["X"]).items()}
    for steps in flows.values():
        phases = [step["ph"] for step in steps]
        assert phases[0] == "s"
        assert phases[-1] == "f"
        assert set(phases[1:-1]) <= {"t"}
        times = [step["ts"] for step in steps]
        assert times == sorted(times)
        for step in steps:
            assert step.get("bp") == ("e" if step["ph"] == "f" else None)
    # Every step lies in a slice of its thread, or a viewer has nothing to attach the arrow to.
    sample = [step for number in sorted(flows)[:: max(1, len(flows) // 200)] for step in flows[number]]
    for step in sample:
        assert any(begin <= step["ts"] < end for begin, end in slices[step["tid"]]), step


def _check_asynchronous(by_phase: dict[str, list[Event]]) -> None:
    begins = {(e["cat"], e["id"]): e["ts"] for e in by_phase["b"]}
    ends = {(e["cat"], e["id"]): e["ts"] for e in by_phase["e"]}
    assert len(begins) == len(by_phase["b"])
    assert begins.keys() == ends.keys()
    assert all(begins[key] <= ends[key] for key in begins)
