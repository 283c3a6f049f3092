"""Measured datasets and mappings for tests."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from contend.calibrate.mapping import Mapping, Unknown

if TYPE_CHECKING:
    from pathlib import Path

MACHINE = {"id": "box", "cpu": "a processor", "topology": {"sockets": 1, "cores": 2}}


def metric(*samples: float, unit: str = "msg/s", launches: int = 1) -> dict[str, Any]:
    size = max(1, len(samples) // launches)
    return {"samples": list(samples), "unit": unit, "launch": [i // size for i in range(len(samples))]}


def time_of(*samples: float, **parameters: object) -> dict[str, Any]:
    return {"parameters": parameters, "time_per_operation": metric(*samples, unit="s")}


def dataset(name: str, workload: dict[str, Any], points: list[dict[str, Any]], **other: Any) -> dict[str, Any]:
    return {
        "dataset": name,
        "format": 1,
        "machine": MACHINE,
        "library": {"name": "A library", "key": "alib", "options": {}},
        "transport": "tcp",
        "workload": workload,
        "points": points,
        **other,
    }


def rates(name: str, values: dict[int, list[float]], **workload: Any) -> dict[str, Any]:
    points = [{"parameters": {"pairs": pairs}, "message_rate": metric(*samples)} for pairs, samples in values.items()]
    return dataset(name, {"kind": "multirate", "window": 128, "iterations": 100, **workload}, points)


def launched_each(document: dict[str, Any]) -> dict[str, Any]:
    """A dataset with each sample from a launch of its own, so that medians have intervals."""
    for point in document["points"]:
        for entry in point.values():
            entry.pop("launch", None)
    return document


def write(folder: Path, document: dict[str, Any]) -> Path:
    path = folder / f"{document['dataset']}.json"
    path.write_text(json.dumps(document))
    return path


def mapping(**changes: Any) -> Mapping:
    document: dict[str, Any] = {
        "schema_version": 1,
        "name": "alib",
        "description": "for tests",
        "libraries": ["alib"],
        "transports": ["tcp"],
        "layers": {"library": {"preset": "ob1-base"}, "fabric": {"latency": "1 us", "bandwidth": "10 GB/s"}},
        "unknowns": [Unknown(path="machine.software.receive_call", range=("100 ns", "1.2 us"))],
        **changes,
    }
    return Mapping(**document)
