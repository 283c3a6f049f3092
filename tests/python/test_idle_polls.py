"""What is left out of a simulation because it finds nothing must not be missed (run.coalesce_idle_polls)."""

from typing import Any

import pytest

import contend

pytestmark = pytest.mark.core

THREADS = {
    "schema_version": 1,
    "name": "threads",
    "machine": {"profile": "bluegene-p"},
    "fabric": {"latency": "1 us", "bandwidth": "10 GB/s"},
    "workload": {"kind": "multirate", "pattern": "pairwise", "mode": "thread", "iterations": 2, "warmup_iterations": 0},
    "run": {"replications": 2},
}
COROUTINES = {
    "schema_version": 1,
    "name": "coroutines",
    "machine": {"profile": "x5550-10gige"},
    "fabric": {"latency": "22 us", "bandwidth": "1.25 GB/s"},
    "library": {"preset": "fg-mpi"},
    "workload": {
        "kind": "ring",
        "processes_per_os_process": 2,
        "message_size": "8 B",
        "iterations": 5,
        "warmup_iterations": 1,
    },
    "run": {"replications": 1},
}


def elapsed(scenario: contend.Scenario) -> list[float]:
    """Of a run without and one with every poll."""
    runs = [contend.run(scenario.with_({"run.coalesce_idle_polls": skip}), progress=False) for skip in (True, False)]
    return [float(results.points[0].scalars["elapsed_s"]) for results in runs]


@pytest.mark.parametrize(("processes", "os_processes", "nodes"), [(4, 8, 1), (1, 8, 1), (2, 2, 2)])
@pytest.mark.parametrize("kind", ["ring", "collective"])
def test_leaders_of_a_barrier_see_the_flag_when_they_would_have(
    kind: str, processes: int, os_processes: int, nodes: int
) -> None:
    """Who looks while the line is on its way waits for it; a look begun later would see it later."""
    changes: dict[str, Any] = {
        "workload.kind": kind,
        "workload.processes_per_os_process": processes,
        "workload.os_processes_per_node": os_processes,
        "workload.nodes": nodes,
    }
    skipping, looking = elapsed(contend.load(COROUTINES).with_(changes))
    assert skipping == looking


@pytest.mark.parametrize("seed", [0, 5, 58])
def test_a_poller_whose_turn_another_thread_has_followed_looks_again(seed: int) -> None:
    """Who posts at an instance that a poller has just left takes the lines of its lock along."""
    changes = {
        "sweep": {},
        "library.instances.count": 20,
        "library.instances.assignment": "round-robin",
        "workload.pairs": 11,
        "workload.window": 3,
        "workload.iterations": 5,
        "workload.warmup_iterations": 1,
        "run.replications": 1,
        "run.seed": seed,
    }
    skipping, looking = elapsed(contend.load("fig5_2b_overtaking").with_(changes))
    assert skipping == looking


@pytest.mark.parametrize("seed", [7, 8, 9732])
def test_a_lock_that_is_tested_before_it_is_set_is_not_had_in_between(seed: int) -> None:
    """Who tries it between a poller's test and its set may win."""
    changes = {
        "sweep": {},
        "library.instances.count": 3,
        "library.instances.assignment": "round-robin",
        "library.instances.lock": "ttas",
        "library.progress.engine": "concurrent",
        "workload.pairs": 12,
        "workload.iterations": 3,
        "workload.warmup_iterations": 1,
        "run.replications": 1,
        "run.seed": seed,
    }
    skipping, looking = elapsed(contend.load("fig5_2c").with_(changes))
    assert skipping == looking


@pytest.mark.parametrize("seed", [3, 7])
def test_a_fast_box_is_looked_at_when_the_copy_is_over(seed: int) -> None:
    """Another process empties it while what is owed for the copy passes."""
    changes = {
        "sweep": {},
        "workload.matrix_size": 6144,
        "workload.processes_per_os_process": 32,
        "run.replications": 1,
        "run.seed": seed,
    }
    skipping, looking = elapsed(contend.load("fine-grain/table4_5").with_(changes))
    assert skipping == looking


def test_threads_that_share_many_interfaces() -> None:
    """A poller that finds a lock's line gone pays for fetching it, however long it has been on its way to the lock."""
    changes = {"workload.pairs": 8, "workload.tags": "window", "workload.iterations": 2, "run.replications": 2}
    skipping, looking = elapsed(contend.load("interfaces_by_tag").with_(changes))
    assert skipping == looking


def test_a_progress_thread_sees_commands_when_it_would_have() -> None:
    changes = {
        "library.preset": "osc-rdma-ugni",
        "library.progress.engine": "offload-thread",
        "library.flow_control.kind": "grants",
        "workload.message_size": "1 B",
        "workload.window": 7,
    }
    skipping, looking = elapsed(contend.load(THREADS).with_(changes))
    assert skipping == looking


def test_room_that_comes_while_a_delayed_send_waits_for_its_lock_is_used() -> None:
    changes = {
        "library.preset": "partitioned-rma-ugni",
        "library.flow_control.kind": "mailbox",
        "library.flow_control.mailbox.slots": 2,
        "library.flow_control.mailbox.returned_at_once": 2,
        "library.protocol.pending_order": "reversing",
        "workload.mode": "process",
        "workload.message_size": "1000 B",
        "workload.window": 40,
    }
    skipping, looking = elapsed(contend.load(THREADS).with_(changes))
    assert skipping == looking


@pytest.mark.parametrize("kind", ["grants", "mailbox"])
def test_a_process_with_one_thread_sees_what_comes_as_its_look_ends(kind: str) -> None:
    """No lock is given back behind the look, and what an interface does in a round time often falls on that date."""
    changes = {
        "machine.profile": "vm-2core",
        "machine.topology.cores_per_socket": 4,
        "machine.nic.send_queue_depth": 2,
        "machine.nic.send_completion_batch": 2,
        "machine.nic.flow_control_window": 9,
        "library.thread_level": "single",
        "library.flow_control.kind": kind,
        "library.protocol.pending_order": "fifo",
        "library.protocol.eager_limit": "256 B",
        "library.protocol.header": "0 B",
        "library.protocol.rendezvous": "send",
        "library.protocol.pieces_under_way": 1,
        "workload.mode": "process",
        "workload.pairs": 2,
        "workload.window": 40,
        "workload.message_size": "300 B",
        "placement.hosts": 1,
    }
    if kind == "mailbox":
        changes |= {"library.flow_control.mailbox.slots": 5, "library.flow_control.mailbox.returned_at_once": 2}
    skipping, looking = elapsed(contend.load(THREADS).with_(changes))
    assert skipping == looking
