"""What the order of the run queue, the queues of messages and the mapping do."""

from __future__ import annotations

from contend.studies.claims import at_least, at_most, between, claim
from contend.studies.evidence import Evidence


def switches(e: Evidence, direction: str, processes: int, scheduler: str = "round-robin") -> float:
    """Switches of a whole run of the ring."""
    return e.counter(
        "ring",
        "coroutine_switches",
        direction=direction,
        processes_per_os_process=processes,
        scheduler=scheduler,
    )


def exponent(e: Evidence, direction: str, scheduler: str = "round-robin") -> float:
    """By which power of the number of processes switches grow."""
    return _log2(switches(e, direction, 512, scheduler) / switches(e, direction, 64, scheduler)) / 3


def _log2(value: float) -> float:
    from math import log2

    return log2(value)


@claim(
    "ring-forward",
    source="thesis, 2.2: round robin",
    statement="with the order of the queue one round moves a token through all processes: switches grow as P",
    expected=between(0.9, 1.1, "power"),
)
def ring_forward(e: Evidence) -> float:
    return exponent(e, "forward")


@claim(
    "ring-backward",
    source="thesis, 2.2: round robin",
    statement="against the order of the queue P rounds do: switches grow as P^2",
    expected=between(1.9, 2.1, "power"),
)
def ring_backward(e: Evidence) -> float:
    return exponent(e, "backward")


@claim(
    "ring-blocking",
    source="thesis, 2.2: blocking",
    statement="with the blocking scheduler the direction does not matter",
    expected=between(0.9, 1.1, "x"),
)
def ring_blocking(e: Evidence) -> float:
    return switches(e, "backward", 512, "block") / switches(e, "forward", 512, "block")


def visited(e: Evidence, queues: str, processes: int) -> float:
    """Elements of both queues that a message's searches compare."""
    where = {"queues": queues, "processes_per_os_process": processes}
    both = sum(e.counter("matching", name, **where) for name in ("posted_visited", "unexpected_visited"))
    return both / e.counter("matching", "messages_received", **where)


@claim(
    "matching-independent",
    source="thesis, 3.2",
    statement="with a list for each receiver a search does not depend on how many processes share the OS process",
    expected=between(0.8, 1.25, "x"),
)
def matching_independent(e: Evidence) -> float:
    return visited(e, "array-by-receiver", 512) / visited(e, "array-by-receiver", 8)


@claim(
    "matching-shared",
    source="thesis, 3.2",
    statement="with one list it visits more than twice as many elements, 32 processes",
    expected=at_least(2, "x"),
)
def matching_shared(e: Evidence) -> float:
    return visited(e, "single-list", 32) / visited(e, "array-by-receiver", 32)


def exchange(e: Evidence, processes: int, scheduler: str = "round-robin") -> float:
    """Time of one exchange of 4 MB."""
    return 1.0 / e.rate("fig4_1", volume="4 MiB", processes_per_os_process=processes, scheduler=scheduler)


@claim(
    "small-beat-large",
    source="thesis, figure 4.1",
    statement="many messages below 64 KB beat one large message of the same volume: 4 MB, 128 processes against 1",
    expected=at_most(0.9, "x"),
)
def small_beat_large(e: Evidence) -> float:
    return exchange(e, 128) / exchange(e, 1)


@claim(
    "small-beat-large-block",
    source="thesis, figure 4.1",
    statement="the same with the blocking scheduler",
    expected=at_most(0.9, "x"),
)
def small_beat_large_block(e: Evidence) -> float:
    return exchange(e, 128, "block") / exchange(e, 1, "block")


@claim(
    "small-beat-few",
    source="thesis, figure 4.1",
    statement="and also 4 messages of 1 MB",
    expected=at_most(0.999, "x"),
)
def small_beat_few(e: Evidence) -> float:
    return exchange(e, 128) / exchange(e, 4)


@claim(
    "no-rendezvous-below-64",
    source="thesis, 3.2 and figure 4.1",
    statement="halving messages of 64 KB, which are announced, to 32 KB, which are not, saves time",
    expected=at_most(0.98, "x"),
)
def no_rendezvous(e: Evidence) -> float:
    return exchange(e, 128) / exchange(e, 64)


@claim(
    "waitany-equal-at-first",
    source="thesis, 5.2",
    statement="one process that waits for any message is as fast as a process for each, 8 processes",
    expected=between(0.7, 1.4, "x"),
)
def waitany_equal(e: Evidence) -> float:
    return _waitany(e, 8)


@claim(
    "waitany-behind-later",
    source="thesis, 5.2",
    statement="with many messages processes are ahead: 1024",
    expected=at_least(1.2, "x"),
)
def waitany_behind(e: Evidence) -> float:
    return _waitany(e, 1024)


def _waitany(e: Evidence, processes: int) -> float:
    def time(receivers: str) -> float:
        return 1.0 / e.rate("waitany", receivers=receivers, processes_per_os_process=processes)

    return time("waitany") / time("processes")


@claim(
    "pipeline-shuffled",
    source="thesis, app. B",
    statement="dealing the places of the pipeline to the OS processes balances: faster than in sequence",
    expected=at_most(0.9, "x"),
)
def pipeline_shuffled(e: Evidence) -> float:
    def time(mapping: str) -> float:
        return 1.0 / e.rate("pipeline", mapping=mapping, processes_per_os_process=64)

    return time("shuffled") / time("sequential")
