"""What datasets say of the machine that they are of: which one it is, and its topology, which is nothing to fit."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from contend.calibrate.slow_cores import cores_were_asked, with_cores_alike
from contend.common.spelling import counted, listed, shortened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contend.common.jsontypes import JsonObject
    from contend.datasets.dataset import Dataset


# So many datasets of a machine are named.
_MOST_NAMED = 3


def several_machines(datasets: Sequence[Dataset]) -> str:
    """What a user has to know where datasets are of several machines; empty where they are of one.

    Those that do not name their machine may be of any of them.

    Args:
        datasets: Those that a calibration uses.
    """
    of_machines: dict[str, list[Dataset]] = {}
    for dataset in (one for one in datasets if one.names_machine):
        of_machines.setdefault(dataset.machine_id, []).append(dataset)
    if len(of_machines) < 2:  # noqa: PLR2004 - several
        return ""
    each = "; ".join(f"{_names(found)} of {_machine_text(found[0])}" for found in of_machines.values())
    return (
        f"the datasets are of {counted(len(of_machines), 'machine')} ({each}): nothing is identified directly, and one "
        "price is fitted where each may have its own; a calibration for each machine, or --exclude DATASET, keeps them "
        "apart"
    )


def unnamed_machines(datasets: Sequence[Dataset]) -> str:
    """That datasets do not name their machine, and what does; empty where all do.

    Args:
        datasets: Those that a calibration uses.
    """
    unnamed = [dataset for dataset in datasets if not dataset.names_machine]
    if not unnamed:
        return ""
    do, their = ("does", "its") if len(unnamed) == 1 else ("do", "their")
    return (
        f"{_names(unnamed)} {do} not name {their} machine: all are taken to be of one, and the profile is not known to "
        "be of the machine of any other dataset; `contend import --machine TEXT` names it"
    )


def _names(datasets: Sequence[Dataset]) -> str:
    names = [dataset.name for dataset in datasets]
    more = len(names) - _MOST_NAMED
    return listed([*names[:_MOST_NAMED], *([f"{more} more"] if more > 0 else [])])


def _machine_text(dataset: Dataset) -> str:
    cpu, known = dataset.machine.get("cpu"), dataset.machine.get("id")
    text = shortened(str(cpu)) if cpu else "a processor that is not known"
    return f"{text}, id {known}" if known else text


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
    It has no slow cores where the measured machine's cores were asked: these tell themselves whether some are.
    """
    if any(cores_were_asked(dataset) for dataset in datasets):
        base = with_cores_alike(base)
    found = [topology for topology in map(topology_of, datasets) if topology is not None]
    if not found or any(topology != found[0] for topology in found) or base.get("topology") == found[0]:
        return base
    result = copy.deepcopy(base)
    result["topology"] = found[0]
    names = {str(dataset.machine["cpu"]) for dataset in datasets if dataset.machine.get("cpu")}
    if len(names) == 1:
        (result["cpu"],) = names
    return result
