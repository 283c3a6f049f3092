"""Whose messages a tag tells apart (workload.tags)."""

from typing import Any

import pytest

import contend
from contend.common.errors import SimulationFailedError

pytestmark = pytest.mark.core


def test_threads_gain_from_interfaces_by_tag_when_tags_are_their_own() -> None:
    """The point of such a design: no communicator for each thread."""

    def rate(tags: str) -> float:
        changes = {"workload.tags": tags, "workload.pairs": 8, "workload.iterations": 3}
        results = contend.run(contend.load("interfaces_by_tag").with_(changes), replications=1)
        return float(results.points[0].estimates["message_rate"].mean)

    assert rate("pair") > 2 * rate("window")


def test_pairs_that_never_meet_do_not_wait_for_each_others_messages() -> None:
    """Where tags are alike, receivers that drift apart can share a sender's last window, and both wait for ever."""
    scenario: dict[str, Any] = {
        "library.preset": "ch4-global",
        "library.matching.engine": "hash-bins",
        "machine.software.send_call": "30 ns",
        "machine.software.receive_call": "30 ns",
        "machine.software.deliver": "15 ns",
        "machine.software.complete": "15 ns",
        "machine.software.progress_call": "40 ns",
        "machine.futex.wait_call": "500 ns",
        "machine.futex.wake_latency": "40 us",
        "machine.futex.wake_jitter": "2 us",
        "workload.barrier_every_iteration": False,
        "workload.iterations": 800,
        "workload.pairs": 8,
        "run.steps_without_operation": 1_000_000,
        "run.seed": 15,  # one of six comes to it
    }
    base = contend.load("fig5_2a_base").with_(scenario)
    assert contend.run(base.with_({"workload.tags": "pair"}), replications=2).points
    with pytest.raises(SimulationFailedError, match="no operation has completed"):
        contend.run(base.with_({"workload.tags": "window"}), replications=2)


def test_only_pairs_have_tags_of_their_own() -> None:
    changes = {"workload.pattern": "many-to-many", "workload.tags": "pair", "workload.pairs": 1}
    with pytest.raises(contend.InputError, match="only the pairwise pattern has pairs"):
        contend.run(contend.load("fig5_2a_base").with_(changes | {"workload.senders": 2}))
