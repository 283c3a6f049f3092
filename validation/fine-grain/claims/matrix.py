"""Matrix products (chapter 4, tables 4.4 and 4.5)."""

from __future__ import annotations

from contend.studies.claims import about, at_least, between, claim
from contend.studies.evidence import Evidence

LOOPS = "thesis, table 4.4"
LIBRARY = "thesis, table 4.5"


def seconds(e: Evidence, size: int, processes: int, scenario: str = "table4_4") -> float:
    return 1.0 / e.rate(scenario, matrix_size=size, processes_per_os_process=processes)


def best(e: Evidence, size: int, scenario: str = "table4_4") -> int:
    """The number of processes in an OS process with the shortest time."""
    return min(e.axis(scenario, "processes_per_os_process"), key=lambda p: seconds(e, size, p, scenario))


def best_block(e: Evidence, size: int) -> float:
    """Rows of a block at the best number of processes, on 8 OS processes."""
    return size / (8 * best(e, size)) ** 0.5


@claim(
    "cannon-mpi",
    source=LOOPS,
    statement="plain MPI [1;16;1], S = 2048: 3.7 s",
    expected=about(3.7, 0.15, "s"),
    calibrated=True,
)
def cannon_mpi(e: Evidence) -> float:
    return 1.0 / e.rate("table4_4_mpi", matrix_size=2048)


@claim("cannon-128", source=LOOPS, statement="S = 2048, P = 128: 1.47 s", expected=about(1.47, 0.15, "s"))
def cannon_128(e: Evidence) -> float:
    return seconds(e, 2048, 128)


@claim("cannon-best", source=LOOPS, statement="S = 2048: the best P is 128", expected=between(127, 129, "processes"))
def cannon_best(e: Evidence) -> float:
    return best(e, 2048)


@claim(
    "cannon-block",
    source=LOOPS,
    statement="the best size of a block does not depend on the size of the matrix (8192 against 2048)",
    expected=between(0.99, 1.01, "x"),
)
def cannon_block(e: Evidence) -> float:
    return best_block(e, 8192) / best_block(e, 2048)


@claim(
    "cannon-best-moves",
    source=LOOPS,
    statement="the best P rises with the size of the matrix: 4096 has four times as many as 2048",
    expected=between(3.9, 4.1, "x"),
)
def cannon_moves(e: Evidence) -> float:
    return best(e, 4096) / best(e, 2048)


@claim(
    "kernel-2",
    source=LIBRARY,
    statement="tuned library, S = 2048, nfg 2: 0.31 s",
    expected=about(0.31, 0.15, "s"),
    calibrated=True,
)
def kernel_2(e: Evidence) -> float:
    return seconds(e, 2048, 2, "table4_5")


@claim(
    "kernel-8",
    source=LIBRARY,
    statement="tuned library, S = 2048, nfg 8: 0.31 s",
    expected=about(0.31, 0.15, "s"),
    calibrated=True,
)
def kernel_8(e: Evidence) -> float:
    return seconds(e, 2048, 8, "table4_5")


@claim(
    "kernel-32", source=LIBRARY, statement="tuned library, S = 2048, nfg 32: 0.44 s", expected=about(0.44, 0.15, "s")
)
def kernel_32(e: Evidence) -> float:
    return seconds(e, 2048, 32, "table4_5")


@claim(
    "kernel-128",
    source=LIBRARY,
    statement="tuned library, S = 2048, nfg 128: 0.73 s",
    expected=about(0.73, 0.15, "s"),
    calibrated=True,
)
def kernel_128(e: Evidence) -> float:
    return seconds(e, 2048, 128, "table4_5")


@claim(
    "kernel-best-moves",
    source=LIBRARY,
    statement="the best nfg rises with the size of the matrix (8192 against 2048)",
    expected=at_least(1.01, "x"),
)
def kernel_moves(e: Evidence) -> float:
    return best(e, 8192, "table4_5") / best(e, 2048, "table4_5")
