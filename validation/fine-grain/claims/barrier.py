"""Barriers (chapter 4, table 4.2)."""

from __future__ import annotations

from contend.studies.claims import about, at_most, between, claim
from contend.studies.evidence import Evidence

SOURCE = "thesis, table 4.2"


def microseconds(e: Evidence, processes: int, os_processes: int, nodes: int) -> float:
    """A barrier of [processes; os_processes; nodes]."""
    rate = e.rate("table4_2", processes_per_os_process=processes, os_processes_per_node=os_processes, nodes=nodes)
    return 1e6 / rate


def layered(e: Evidence, processes: int) -> float:
    return 1e6 / e.rate("barrier_layered", processes_per_os_process=processes)


@claim(
    "barrier-1-8-1",
    source=SOURCE,
    statement="a barrier of [1;8;1] takes 1 us",
    expected=about(1.0, 0.15, "us"),
    calibrated=True,
    remark="channels.meet; cache lines at the prices of the literature explain 0.74 us",
)
def barrier_node(e: Evidence) -> float:
    return microseconds(e, 1, 8, 1)


@claim(
    "barrier-64-1-1",
    source=SOURCE,
    statement="a barrier of [64;1;1] takes 10 us",
    expected=about(10, 0.15, "us"),
    calibrated=True,
)
def barrier_os_process(e: Evidence) -> float:
    return microseconds(e, 64, 1, 1)


@claim(
    "barrier-64-8-1",
    source=SOURCE,
    statement="a barrier of [64;8;1] takes 20 us",
    expected=about(20, 0.15, "us"),
    remark="not calibrated: with round robin the leaders' meeting costs a second round of the run queue",
)
def barrier_both(e: Evidence) -> float:
    return microseconds(e, 64, 8, 1)


@claim(
    "barrier-1-8-16",
    source=SOURCE,
    statement="a barrier of [1;8;16] takes 122 us",
    expected=about(122, 0.15, "us"),
    calibrated=True,
)
def barrier_nodes(e: Evidence) -> float:
    return microseconds(e, 1, 8, 16)


@claim(
    "barrier-linear",
    source=SOURCE,
    statement="inside an OS process the barrier grows in proportion to its processes (256 against 64)",
    expected=about(4, 0.15, "x"),
)
def barrier_linear(e: Evidence) -> float:
    return microseconds(e, 256, 1, 1) / microseconds(e, 64, 1, 1)


@claim(
    "barrier-policy",
    source=SOURCE,
    statement="the blocking scheduler does not explain [64;8;1]: at least a quarter below 20 us",
    expected=at_most(15, "us"),
    remark="which is why round robin is taken for the policy of the experiments",
)
def barrier_policy(e: Evidence) -> float:
    return 1e6 / e.rate("table4_2_block", processes_per_os_process=64, scheduler="block")


@claim(
    "barrier-layered-1",
    source="thesis, 4.1.3",
    statement="layered runtime, [1;8;1]: 18 us",
    expected=about(18, 0.15, "us"),
    calibrated=True,
)
def barrier_layered(e: Evidence) -> float:
    return layered(e, 1)


@claim(
    "barrier-layered-grows",
    source="thesis, 4.1.3: growth, from 18 us at P = 1",
    statement="the barrier by place stays below the layered one up to 256 processes in an OS process",
    expected=at_most(1.0, "x"),
)
def barrier_layered_above(e: Evidence) -> float:
    return max(microseconds(e, p, 8, 1) / layered(e, p) for p in (1, 2, 4, 8, 16, 32, 64, 128, 256))


@claim(
    "barrier-shares-network",
    source=SOURCE,
    statement="one process of a node uses the network: [8;8;16] costs less than four barriers of [1;8;16] would",
    expected=between(0.9, 4.0, "x"),
)
def barrier_network(e: Evidence) -> float:
    return microseconds(e, 8, 8, 16) / microseconds(e, 1, 8, 16)
