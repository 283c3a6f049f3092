"""What a JSON file of this program is, by its keys: for who was given one of another kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from contend.jsontypes import JsonObject

# Keys that each file of a kind has, and no file of another kind has together.
DATASET = frozenset({"dataset", "points"})
PROFILE = frozenset({"cpu", "topology"})
PRESET = frozenset({"models", "library"})
RESULT_OF_RUN = "result of `contend run`"
_RUN = frozenset({"contend_version", "scenario", "seed", "points"})
_COMPARISON = frozenset({"a", "b", "confidence", "interval"})
_SUMMARY = frozenset({"scenarios", "wall_s"})
_TRACE = frozenset({"traceEvents"})
# What runs, comparisons and batches write, and traces.
_WRITTEN = (frozenset({"contend_version"}), _COMPARISON, _SUMMARY, _TRACE)
# The first whose keys are all there counts.
_KINDS = (
    ("measured dataset", DATASET),
    ("machine profile", PROFILE),
    ("library preset", PRESET),
    ("result of `contend explain`", frozenset({"contend_version", "elapsed_ns", "locks"})),
    ("result of `contend compare`", _COMPARISON),
    ("result of `contend validate`", frozenset({"profile", "summary", "points", "not_predicted"})),
    ("summary of several runs", _SUMMARY),
    ("trace", _TRACE),
    ("summary of a sweep", _RUN | {"simulated", "reused"}),
    (RESULT_OF_RUN, _RUN),
)
# Any of these makes a scenario of what is none of the others and has no points, as a damaged dataset has.
_SCENARIO = frozenset({"workload", "machine", "extends"})


def kind_of(document: JsonObject) -> str:
    """What a document looks like, "measured dataset", "scenario" or "trace"; empty if like nothing known."""
    keys = document.keys()
    for kind, marks in _KINDS:
        if keys >= marks:
            return kind
    return "scenario" if keys & _SCENARIO and "points" not in keys else ""


def is_written(keys: frozenset[str]) -> bool:
    """Whether a document with these keys is something that commands write beside scenarios, such as results."""
    return any(keys >= marks for marks in _WRITTEN)
