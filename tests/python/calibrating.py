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


def iterations(quartiles: list[tuple[float, float]], pairs: int = 1) -> dict[str, Any]:
    """Streams of each launch whose times of iterations have these quartiles."""
    point = {"parameters": {"pairs": pairs}, "message_rate": metric(4e5, 4.1e5), "per_launch": [
        {"iterations": [1000, 900], "iteration_s": {"p25": low, "p75": high}} for low, high in quartiles
    ]}  # fmt: skip
    return dataset("streams", {"kind": "multirate", "window": 64, "iterations": 3}, [point])


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


def machine_points() -> list[dict[str, Any]]:
    return [
        time_of(5e-9, 5.2e-9, 4.8e-9, probe="atomic", operation="fetch_add", state="owned", threads=1),
        time_of(2e-8, probe="atomic", operation="fetch_add", state="contended", threads=2),
        time_of(6e-8, 6.2e-8, probe="cache_line", from_core=0, to_core=1),
        time_of(1e-5, 1.1e-5, probe="futex_wake", from_core=0, to_core=1, part="call"),
        time_of(4e-5, 4.1e-5, probe="futex_wake", from_core=0, to_core=1, part="wakeup"),
        time_of(6e-7, 6.1e-7, probe="futex_wake", from_core=0, to_core=0, part="call"),
        time_of(8e-7, 8.1e-7, probe="context_switch", core=0),
        time_of(1.6e-7, probe="yield", core=0, threads=1),
        time_of(4e-7, 4.1e-7, probe="memcpy", message_size=4096, memory="cold"),
    ]
