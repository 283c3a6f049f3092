"""Whether a document is a trace as contend writes it (docs/tracing.md), before its events are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contend.common.errors import InputError

if TYPE_CHECKING:
    from contend.common.jsontypes import JsonObject

_NUMBER = (int, float)
_STEP: dict[str, Any] = {"id": (int, str), "tid": int, "ts": _NUMBER}
# What is read of the events of each phase, and what kinds of values it may be.
_FIELDS: dict[str, dict[str, Any]] = {
    "M": {"name": str, "pid": int, "args": dict},
    "X": {"name": str, "tid": int, "ts": _NUMBER, "dur": _NUMBER},
    "C": {"name": str, "pid": int, "ts": _NUMBER, "args": dict},
    "i": {"name": str, "ts": _NUMBER},
    "s": _STEP,
    "t": _STEP,
    "f": _STEP,
}
_OF_OTHERS: dict[str, Any] = {"ts": _NUMBER}
_NAMES = ("process_name", "thread_name")


def check_trace(document: Any, name: str) -> JsonObject:  # noqa: ANN401 - any JSON value
    """The document as it is, if it is a trace.

    Args:
        document: What a file holds.
        name: The file, for the message.

    Raises:
        InputError: It is something else, or an event lacks what is read of it.
    """
    if not isinstance(document, dict) or not isinstance(document.get("traceEvents"), list):
        raise InputError(f"{name}: not a trace: it has no list traceEvents")
    if not isinstance(document.get("otherData", {}), dict):
        raise InputError(f"{name}: not a trace that contend wrote: otherData is no object")
    events = document["traceEvents"]
    threads: set[int] = set()
    for index, event in enumerate(events):
        if problem := _problem(event):
            raise InputError(f"{name}: not a trace that contend wrote: /traceEvents/{index}: {problem}")
        if event["ph"] == "M" and event["name"] == "thread_name":
            threads.add(event["tid"])
    for index, event in enumerate(events):
        if event["ph"] in "Xstf" and event["tid"] not in threads:
            raise InputError(
                f"{name}: not a trace that contend wrote: /traceEvents/{index}: an event of the thread {event['tid']}, "
                "which has no thread_name"
            )
    return document


def _problem(event: Any) -> str:  # noqa: ANN401 - any JSON value
    """What an event lacks; empty if nothing."""
    if not isinstance(event, dict):
        return "an event that is no object"
    phase = event.get("ph")
    if not isinstance(phase, str):
        return "an event without 'ph'"
    lacking = _first_lack(event, _FIELDS.get(phase, _OF_OTHERS)) or _first_lack({"args": {}} | event, {"args": dict})
    if not lacking and phase == "C":
        lacking = _first_lack(event["args"], {"length": _NUMBER})
    if not lacking and phase == "M" and event["name"] in _NAMES:
        lacking = _first_lack(event["args"], {"name": str})
        if not lacking and event["name"] == "thread_name":
            lacking = _first_lack(event, {"tid": int})
    return f"an event of phase {phase!r} with {lacking}" if lacking else ""


def _first_lack(place: JsonObject, fields: dict[str, Any]) -> str:
    """The first of these fields that is not there, or is of another kind; empty if all are as they should be."""
    for key, kinds in fields.items():
        if not isinstance(place.get(key), kinds):
            return f"{key!r} of another kind" if key in place else f"no {key!r}"
    return ""
