"""From imported values to a measured dataset."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from contend.calibrate.process_layouts import LAYOUT, PROCESS_PAIRS
from contend.datasets.dataset import UNKNOWN_MACHINE
from contend.datasets.reading import FORMAT
from contend.datasets.spread import spread

if TYPE_CHECKING:
    from pathlib import Path

    from contend.common.jsontypes import JsonObject, Scalar
    from contend.importers.formats import Imported, Value


def imported_dataset(
    name: str,
    source: Path,
    found: Imported,
    *,
    machine: str,
    library: str,
    transport: str,
    workload: JsonObject,
) -> JsonObject:
    """The dataset of a file.

    Args:
        name: Its name.
        source: The file.
        found: What was in it.
        machine: What it was measured on.
        library: Key or name of the MPI library.
        transport: Over what.
        workload: What the file does not say; wins over what was assumed in its place.
    """
    groups: dict[str, list[Value]] = {}
    for value in _with_layouts(found):
        # What was assumed in its place does not make another point.
        said = {key: workload.get(key, assumed) for key, assumed in value.parameters.items()}
        value = replace(value, parameters=said)  # noqa: PLW2901
        if workload.get("pattern") == "many-to-many":
            value = replace(value, parameters=_sides(value.parameters))  # noqa: PLW2901
        groups.setdefault(json.dumps(value.parameters, sort_keys=True), []).append(value)
    common = _common([group[0].parameters for group in groups.values()])
    points: list[JsonObject] = []
    for group in groups.values():
        parameters = {k: v for k, v in group[0].parameters.items() if k not in common and k not in workload}
        metrics = {metric: _metric([one for one in group if one.metric == metric]) for metric in _metrics(group)}
        points.append({"parameters": parameters, **metrics, "counters": {}, "outcome": "ok"})
    return {
        "dataset": name,
        "format": FORMAT,
        "description": f"imported from {source.name}, output of {found.program}",
        "machine": _machine(machine),
        "library": {"name": library, "key": library, "how_obtained": "imported", "options": {}},
        "transport": transport,
        "network": {"hosts": None, "netem": ""},
        "benchmark": {"program": found.program, **found.about},
        "campaign": {"imported": source.name},
        "workload": {**found.workload, **common, **workload},
        "placement": {},
        "points": points,
        "not_measured": [],
        "launches": [],
    }


def _machine(text: str) -> JsonObject:
    """The machine by its name in words; nothing where that is not known: two of these need not be the same one."""
    if text == UNKNOWN_MACHINE:
        return {}
    return {"id": hashlib.sha256(text.encode()).hexdigest()[:12], "cpu": text}


def _with_layouts(found: Imported) -> list[Value]:
    """The values, with one pair of processes said where others have several: points are chosen by what they say."""
    if not any(PROCESS_PAIRS in one.parameters for one in found.values):
        return found.values
    return [
        replace(one, parameters=one.parameters | {PROCESS_PAIRS: 1})
        if not one.parameters.keys() & LAYOUT and (found.workload | one.parameters).get("mode", "thread") == "thread"
        else one
        for one in found.values
    ]


def _sides(parameters: dict[str, Scalar]) -> dict[str, Scalar]:
    """Senders and receivers of what was taken for pairs."""
    others = {key: value for key, value in parameters.items() if key != "pairs"}
    return others | (dict.fromkeys(("senders", "receivers"), parameters["pairs"]) if "pairs" in parameters else {})


def _common(parameters: list[dict[str, Any]]) -> dict[str, Any]:
    """What all points have in common, where there are several: it belongs to the workload."""
    if len(parameters) < 2:  # noqa: PLR2004 - as the comment says
        return {}
    first = parameters[0]
    return {key: value for key, value in first.items() if all(other.get(key) == value for other in parameters)}


def _metrics(group: list[Value]) -> list[str]:
    return list(dict.fromkeys(one.metric for one in group))


def _metric(values: list[Value]) -> JsonObject:
    runs: dict[int, list[float]] = {}
    for one in values:
        runs.setdefault(one.run, []).append(one.value)
    found = spread(list(runs.values()))
    assert found is not None  # noqa: S101 - for the type checker
    return {
        "samples": [one.value for one in values],
        "unit": values[0].unit,
        "launch": [one.run for one in values],
        "clean": [True] * len(values),
        "median": found.median,
        "iqr": list(found.quartiles),
        "cov": found.cov,
        "median_ci95": None if found.ci95 is None else list(found.ci95),
        "spread_of": "clean",
        "count": found.count,
        "launches": found.launches,
    }
