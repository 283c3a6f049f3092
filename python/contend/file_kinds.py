"""What a JSON file of this program is, by its keys: for who was given one of another kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from contend.jsontypes import JsonObject

# Keys that each file of a kind has, and no file of another kind has together.
DATASET = frozenset({"dataset", "points"})
PROFILE = frozenset({"cpu", "topology"})
PRESET = frozenset({"models", "library"})
# What runs, comparisons and batches write, and traces.
_WRITTEN = (
    frozenset({"contend_version"}), frozenset({"a", "b", "confidence", "interval"}), frozenset({"scenarios", "wall_s"}),
    frozenset({"traceEvents"}),
)  # fmt: skip
# Any of these makes a scenario of what is none of the others and has no points, as a damaged dataset has.
_SCENARIO = frozenset({"workload", "machine", "extends"})


def kind_of(document: JsonObject) -> str:
    """What a document looks like, "measured dataset" or "scenario"; empty if like nothing known."""
    keys = document.keys()
    for kind, marks in (("measured dataset", DATASET), ("machine profile", PROFILE), ("library preset", PRESET)):
        if keys >= marks:
            return kind
    return "scenario" if keys & _SCENARIO and "points" not in keys else ""


def is_written(keys: frozenset[str]) -> bool:
    """Whether a document with these keys is something that commands write beside scenarios, such as results."""
    return any(keys >= marks for marks in _WRITTEN)
