"""Which costs of a machine and a route belong together: the groups of `contend explain`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

# Costs that make up one mechanism.
MECHANISMS: dict[str, tuple[str, ...]] = {
    "out-of-sequence fragments": (
        "machine.matching.fragment_allocate", "machine.matching.fragment_release", "machine.matching.range",
    ),
    "searching the queues": (
        "machine.matching.attempt", "machine.matching.element", "machine.matching.distant_element",
        "machine.matching.hash", "machine.matching.vector_step", "machine.matching.offload_command",
        "machine.matching.offload_latency", "machine.matching.offload_element",
    ),
    "cache line transfers": (
        "machine.cache.transfer_smt", "machine.cache.transfer_cluster", "machine.cache.transfer_socket",
        "machine.cache.transfer_remote",
    ),
    # What a lock costs besides the transfers of its line, which are as much those of everything else that is shared.
    # Counters take atomics, and waits without a lock sleep, for these prices as well.
    "locks: atomics, sleeping, spinning": (
        "machine.cache.atomic_hit", "machine.cache.atomic_arrival", "machine.cache.compare_hit",
        "machine.cache.lock_latency", "machine.cache.release", "machine.futex.wait_call", "machine.futex.wake_call",
        "machine.futex.empty_wake_call", "machine.futex.call_jitter", "machine.futex.wake_latency",
        "machine.futex.wake_jitter", "machine.futex.vain_call", "machine.futex.bucket_move",
        "machine.futex.bucket_turn", "machine.futex.wake_further", "machine.futex.yield_call",
        "machine.futex.shallow_latency", "machine.scheduler.wake_call", "machine.locks.pause",
    ),
    "posting work requests": (
        "machine.nic.post", "machine.nic.doorbell", "machine.rdma.store_post", "machine.rdma.offload_post",
    ),
    "from the doorbell to the wire": (
        "machine.nic.wqe_fetch", "machine.nic.payload_fetch", "machine.nic.bus_bandwidth", "machine.rdma.store_start",
        "machine.rdma.offload_start",
    ),
    "gaps of the interface": (
        "machine.nic.context_gap", "machine.nic.nic_gap", "machine.rdma.offload_gap", "machine.rdma.atomic_gap",
    ),
    "responses to gets and atomics": ("machine.rdma.read_response", "machine.rdma.atomic_response"),
    "completion queues": ("machine.nic.completion", "machine.nic.empty_poll", "machine.rdma.completion"),
    "registration of buffers": (
        "machine.nic.registration", "machine.nic.registration_page", "machine.nic.registration_hit",
    ),
    "polling of sockets": (
        "machine.tcp.poll_call", "machine.tcp.poll_event", "machine.tcp.poll_socket", "machine.tcp.dispatch",
        "machine.channels.socket_poll",
    ),
    "fast boxes": (
        "machine.shared_memory.box_write", "machine.shared_memory.box_read", "machine.shared_memory.poll_box",
    ),
    "queues of fragments": (
        "machine.shared_memory.queue_write", "machine.shared_memory.queue_read", "machine.shared_memory.poll_queue",
    ),
    "copies of payload": (
        "machine.software.copy_bandwidth", "machine.rdma.store_bandwidth", "machine.tcp.copy_bandwidth",
        "machine.shared_memory.copy_call", "machine.shared_memory.copy_bandwidth", "machine.memory.copy_start",
        "machine.memory.copy_bandwidth", "machine.memory.copy_bandwidth_l3", "machine.memory.copy_bandwidth_far",
    ),
    "switches between threads": (
        "machine.scheduler.context_switch", "machine.scheduler.process_switch", "machine.scheduler.switch_jitter",
        "machine.scheduler.cache_refill", "machine.scheduler.kin_refill",
    ),
    "switches between coroutines": (
        "machine.coroutines.light_switch", "machine.coroutines.portable_switch", "machine.coroutines.os_switch",
    ),
}  # fmt: skip
# Sections of a scenario, in words.
SECTIONS = {
    "machine.cache.": "all of the caches",
    "machine.futex.": "sleeping and waking",
    "machine.scheduler.": "sharing of cores",
    "machine.locks.": "all tunables of locks",
    "machine.nic.": "messages at the interface",
    "machine.rdma.": "one-sided operations at the interface",
    "machine.tcp.": "all of the sockets",
    "machine.shared_memory.": "all of shared memory",
    "machine.matching.": "all of matching",
    "machine.software.": "all of the library's own code",
    "machine.waiting.": "waiting and testing",
    "machine.datatype.": "packing",
    "machine.memory.": "all of main memory",
    "machine.compute.": "all of computing",
    "machine.coroutines.": "processes as coroutines",
    "machine.channels.": "channels between OS processes",
    "fabric.": "the wire",
}
_INTERFACE = ("machine.nic.", "machine.rdma.")


def section_of(path: str) -> str:
    """The section that a cost is in, with the dot: "machine.nic." of "machine.nic.post", "machine." of its own ones."""
    return path[: path.rindex(".") + 1]


def groups_of(paths: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Groups of two costs or more, by name: mechanisms, then sections. Of groups of the same costs only the first.

    Args:
        paths: The costs that there are.
    """
    groups = {name: tuple(path for path in costs if path in paths) for name, costs in MECHANISMS.items()}
    groups["all of the network interface"] = tuple(path for path in paths if section_of(path) in _INTERFACE)
    for section in dict.fromkeys(map(section_of, paths)):
        if section != "machine.":
            name = SECTIONS.get(section, f"all of {section.removeprefix('machine.').strip('.').replace('_', ' ')}")
            groups[name] = tuple(path for path in paths if section_of(path) == section)
    found: dict[frozenset[str], str] = {}
    for name, costs in groups.items():
        if len(costs) > 1:
            found.setdefault(frozenset(costs), name)
    return {name: groups[name] for name in found.values()}
