"""Neighbour message rate of multichannel MPICH2 (EuroMPI 2010)."""

from __future__ import annotations

from itertools import pairwise

from contend.studies.claims import Claim, at_least, at_most, between, claim
from contend.studies.evidence import Evidence

SOURCE = "EuroMPI 2010, multichannel MPICH2, neighbour message rate"
THREADS = (1, 2, 3, 4)


def rates(e: Evidence, scenario: str) -> list[float]:
    """Message rates of 1 to 4 threads."""
    return [e.rate(scenario, threads=n) for n in THREADS]


@claim(
    "default-falls",
    source=SOURCE,
    statement="default stack: the rate falls as threads are added, 4 threads against 1",
    expected=at_most(0.95, "x of 1 thread"),
)
def default_falls(e: Evidence) -> float:
    """The global lock is handed from thread to thread."""
    of = rates(e, "smp_default")
    return of[3] / of[0]


@claim(
    "default-falls-steadily",
    source=SOURCE,
    statement="default stack: no added thread raises the rate, highest ratio of neighbouring thread counts",
    expected=at_most(1.02, "x"),
)
def default_never_rises(e: Evidence) -> float:
    """Step by step."""
    of = rates(e, "smp_default")
    return max(after / before for before, after in pairwise(of))


@claim(
    "new-rises",
    source=SOURCE,
    statement="new stack: the rate rises close to linearly, 4 threads against 4 times 1 thread",
    expected=between(0.8, 1.02, "x of linear"),
)
def new_is_linear(e: Evidence) -> float:
    """Four channels, four threads."""
    of = rates(e, "smp_channels")
    return of[3] / of[0] / 4


@claim(
    "new-rises-steadily",
    source=SOURCE,
    statement="new stack: every added thread raises the rate, lowest ratio of neighbouring thread counts",
    expected=at_least(1.15, "x"),
)
def new_always_rises(e: Evidence) -> float:
    """Step by step."""
    of = rates(e, "smp_channels")
    return min(after / before for before, after in pairwise(of))


def _direct_above(stack: str) -> Claim:
    @claim(
        f"direct-above-mpi-{stack}",
        source=SOURCE,
        statement=f"{stack}: the transport called directly is much faster than MPI, lowest ratio of 1 to 4 threads",
        expected=at_least(1.5, "x"),
    )
    def direct(e: Evidence) -> float:
        pairs = zip(rates(e, f"smp_direct_{stack}"), rates(e, f"smp_{stack}"), strict=True)
        return min(alone / mpi for alone, mpi in pairs)

    return direct


direct_above_default = _direct_above("default")
direct_above_channels = _direct_above("channels")


@claim(
    "direct-channels-rise",
    source=SOURCE,
    statement="the transport alone, 4 channels: rises with threads, 4 against 1",
    expected=at_least(3, "x"),
)
def direct_rises(e: Evidence) -> float:
    """The channels scale without MPI on top of them too."""
    of = rates(e, "smp_direct_channels")
    return of[3] / of[0]


@claim(
    "new-above-default-at-4",
    source=SOURCE,
    statement="4 threads: the new stack is above the default one",
    expected=at_least(2, "x"),
    remark="the study's ratio is kept as a blind check; see predictions.json",
)
def new_above_default(e: Evidence) -> float:
    """What the channels are for."""
    return e.rate("smp_channels", threads=4) / e.rate("smp_default", threads=4)


@claim(
    "one-thread-costs",
    source=SOURCE,
    statement="one thread: MPI_THREAD_MULTIPLE costs both stacks something against MPI_THREAD_SINGLE (0 threads), "
    "smaller loss of the two",
    expected=between(0.02, 0.6, "of the rate"),
)
def multiple_costs(e: Evidence) -> float:
    """Locks and atomics cost hundreds of cycles even uncontended."""
    losses = []
    for stack, preset in (("default", "mpich-dcmf-global"), ("channels", "mpich-dcmf-channels")):
        losses.append(1 - e.rate(f"smp_{stack}", threads=1) / e.rate("smp_single", preset=preset))
    return min(losses)


@claim(
    "dual-new-rises",
    source=SOURCE,
    statement="dual mode, new stack with 2 channels per process: 2 threads against 1",
    expected=at_least(1.6, "x"),
)
def dual_rises(e: Evidence) -> float:
    """Two processes, each with two channels."""
    return e.rate("dual_channels", threads=2) / e.rate("dual_channels", threads=1)


@claim(
    "dual-default-falls",
    source=SOURCE,
    statement="dual mode, default stack: a second thread lowers the rate",
    expected=at_most(1, "x"),
)
def dual_falls(e: Evidence) -> float:
    """Each process has its own lock, for two threads."""
    return e.rate("dual_default", threads=2) / e.rate("dual_default", threads=1)


@claim(
    "progress-n-does-not-matter",
    source=SOURCE,
    statement="new stack, 4 busy threads: how often a thread tries the other channels makes little difference from "
    "n = 4 on, lowest "
    "against highest rate",
    expected=at_least(0.9, "x"),
)
def n_does_not_matter(e: Evidence) -> float:
    """Every channel has a thread of its own."""
    of = [e.rate("progress_every", global_every=n) for n in (4, 16, 256)]
    return min(of) / max(of)


@claim(
    "wildcards-cost",
    source=SOURCE,
    statement="receives from any source take the wildcard queue and its lock, and all channels' locks: one thread, "
    "against receives "
    "from the neighbour",
    expected=between(0.1, 0.95, "x"),
)
def wildcards_cost(e: Evidence) -> float:
    """Order is kept, at a price."""
    return e.rate("any_source", any_source=True) / e.rate("any_source", any_source=False)
