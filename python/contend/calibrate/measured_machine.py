"""What datasets say of the machine that they are of: the topology, which is no price and nothing to fit."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contend.datasets import Dataset
    from contend.jsontypes import JsonObject


def topology_of(dataset: Dataset) -> dict[str, int] | None:
    """A profile's topology, in hardware threads that simulated threads can have; None where a dataset does not say it.

    Datasets count cores and hardware threads of the whole machine. A machine whose sockets are not alike has no such
    topology.
    """
    said = dataset.machine.get("topology")
    if not isinstance(said, dict):
        return None
    counts = [said.get(key) for key in ("sockets", "cores", "hardware_threads")]
    known = [count for count in counts if isinstance(count, int) and not isinstance(count, bool) and count > 0]
    if len(known) < len(counts):
        return None
    sockets, cores, threads = known
    if cores % sockets or threads % cores:
        return None
    return {"sockets": sockets, "cores_per_socket": cores // sockets, "threads_per_core": threads // cores}


def on_measured_machine(base: JsonObject, datasets: Sequence[Dataset]) -> JsonObject:
    """A base profile with the topology of the measured machine, where all datasets that name one name the same.

    Without it a profile of a node with 128 cores, made upon one of a node with 20, would put 64 threads on 20 cores.
    """
    found = [topology for topology in map(topology_of, datasets) if topology is not None]
    if not found or any(topology != found[0] for topology in found) or base.get("topology") == found[0]:
        return base
    result = copy.deepcopy(base)
    result["topology"] = found[0]
    names = {str(dataset.machine["cpu"]) for dataset in datasets if dataset.machine.get("cpu")}
    if len(names) == 1:
        (result["cpu"],) = names
    return result
