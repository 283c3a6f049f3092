"""Which of the counters a run counts: results have all of them, with a 0 where nothing is counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

# A counter that only runs of processes as coroutines have.
_OF_COROUTINES = "processes"
# What their library does not count. Their order and their receives are not accounted for as those of threads are.
_NOT_OF_COROUTINES = frozenset({
    "receives_posted", "out_of_sequence", "oos_in_queue", "oos_in_queue_max", "oos_ranges_visited",
    "unexpected_in_queue", "unexpected_in_queue_max", "match_time_ns", "delayed_sends",
})  # fmt: skip


def count_of(counters: Mapping[str, float], name: str) -> float | None:
    """A counter; None where the design does not count it.

    Examples:
        >>> count_of({"match_time_ns": 0, "processes": 8}, "match_time_ns") is None
        True
    """
    return None if name in _NOT_OF_COROUTINES and _OF_COROUTINES in counters else counters.get(name)
