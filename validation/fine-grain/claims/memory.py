"""Memory of processes and communicators (chapters 2 and 3)."""

from __future__ import annotations

from contend.studies.claims import about, claim
from contend.studies.evidence import Evidence

MAPS = "thesis, 3.1.1: example [1000;100;10]"
GB = 1e9


def of(e: Evidence, name: str, maps: str = "per-process") -> float:
    return e.counter("memory", name, maps=maps)


@claim(
    "process",
    source="thesis, 2.1.5",
    statement="a process: descriptor 1,328 B and stack 128 KB",
    expected=about(1328 + 131072, 0.001, "B"),
    calibrated=True,
)
def process(e: Evidence) -> float:
    return of(e, "memory_per_process_bytes")


@claim("map-process", source=MAPS, statement="a map of all: 2.5 MB in each process", expected=about(2.5e6, 0.01, "B"))
def map_process(e: Evidence) -> float:
    return of(e, "world_map_per_process_bytes")


@claim("map-node", source=MAPS, statement="a map of all: 250 GB on each node", expected=about(250, 0.01, "GB"))
def map_node(e: Evidence) -> float:
    return of(e, "world_map_per_node_bytes") / GB


@claim(
    "map-total", source=MAPS, statement="a map of all in each process: 2.5 TB in all", expected=about(2500, 0.01, "GB")
)
def map_total(e: Evidence) -> float:
    return of(e, "world_map_total_bytes") / GB


@claim("map-shared", source=MAPS, statement="2.5 GB in all when OS processes share it", expected=about(2.5, 0.01, "GB"))
def map_shared(e: Evidence) -> float:
    return of(e, "world_map_total_bytes", "shared") / GB
