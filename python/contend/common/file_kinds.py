"""What a JSON file of this program is, by its keys: for who was given one of another kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contend.common.errors import InputError
from contend.common.reading import json_object, keys_of

if TYPE_CHECKING:
    from pathlib import Path

    from contend.common.jsontypes import JsonObject

# Keys that each file of a kind has, and no file of another kind has together.
DATASET = frozenset({"dataset", "points"})
PROFILE = frozenset({"cpu", "topology"})
PRESET = frozenset({"models", "library"})
MEASURED_DATASET, MACHINE_PROFILE, SCENARIO = "measured dataset", "machine profile", "scenario"
RESULT_OF_EXPLAIN, RESULT_OF_VALIDATE, TRACE = "result of `contend explain`", "result of `contend validate`", "trace"
RESULT_OF_RUN = "result of `contend run`"
LINE_COUNTS, BENCHMARK_FIGURES = "file of counted lines", "file of benchmark figures"
_MAPPING = frozenset({"libraries", "transports", "layers"})
_RUN = frozenset({"contend_version", "scenario", "seed", "points"})
_COMPARISON = frozenset({"a", "b", "confidence", "interval"})
_SUMMARY = frozenset({"scenarios", "wall_s"})
_TRACE = frozenset({"traceEvents"})
# What runs, comparisons and batches write, and traces.
_WRITTEN = (frozenset({"contend_version"}), _COMPARISON, _SUMMARY, _TRACE)
# The first whose keys are all there counts.
_KINDS = (
    (MEASURED_DATASET, DATASET),
    (MACHINE_PROFILE, PROFILE),
    ("library preset", PRESET),
    ("mapping", _MAPPING),
    (RESULT_OF_EXPLAIN, frozenset({"contend_version", "elapsed_ns", "locks"})),
    ("result of `contend compare`", _COMPARISON),
    (RESULT_OF_VALIDATE, frozenset({"profile", "summary", "points", "not_predicted"})),
    ("summary of several runs", _SUMMARY),
    (TRACE, _TRACE),
    ("summary of a sweep", _RUN | {"simulated", "reused"}),
    (RESULT_OF_RUN, _RUN),
)
# Any of these makes a scenario of what is none of the others and has no points, as a damaged dataset has.
_SCENARIO = frozenset({"workload", "machine", "extends"})


def is_dataset(file: Path) -> bool:
    """Whether a file looks like a measured dataset, sound or not."""
    return keys_of(file) >= DATASET


def kind_of(document: JsonObject) -> str:
    """What a document looks like, "measured dataset", "scenario" or "trace"; empty if like nothing known."""
    keys = document.keys()
    for kind, marks in _KINDS:
        if keys >= marks:
            return kind
    return SCENARIO if keys & _SCENARIO and "points" not in keys else ""


def refuse_other_kind(option: str, output: Path, kind: str) -> None:
    """Refuses an output that would take the place of a file of another kind: that may be hours of work.

    Args:
        option: That names the output, as it was given: "-o d.json".
        output: The file that will be written.
        kind: Of what will be written, as kind_of names it.

    Raises:
        InputError: The file is there and of another kind.
    """
    if (found := kind_of(json_object(output) or {})) not in ("", kind):
        raise InputError(f"{option} is a {found}, not a {kind}, and would be lost; name another file")


def is_written(keys: frozenset[str]) -> bool:
    """Whether a document with these keys is something that commands write beside scenarios, such as results."""
    return any(keys >= marks for marks in _WRITTEN)
