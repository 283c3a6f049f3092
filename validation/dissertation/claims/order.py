"""Where order is lost, and where it is not looked at (the send and receive path of ob1)."""

from __future__ import annotations

from contend.studies.claims import at_least, at_most, claim
from contend.studies.evidence import Evidence

PANEL = "fig5_2a"
OVERTAKING = "fig5_2a_overtaking"
CURVES = [(instances, assignment) for instances in (1, 10, 20) for assignment in ("round-robin", "dedicated")]


def largest(e: Evidence, panel: str, counter: str) -> float:
    """Of a counter, over all points of a panel, per message."""
    return max(
        e.per_message(panel, counter, instances=instances, assignment=assignment, pairs=pairs)
        for instances, assignment in CURVES
        for pairs in e.axis(panel, "pairs")
    )


@claim(
    "order-lost-with-one-instance",
    source="Open MPI 4.0 sources, send path of ob1; dissertation alg. 3",
    statement="numbers are taken before the instance's lock: even with one instance most messages of 20 threads arrive "
    "out of sequence",
    expected=at_least(50, "%"),
)
def lost_with_one_instance(e: Evidence) -> float:
    return 100 * e.per_message(PANEL, "out_of_sequence", instances=1, assignment="dedicated", pairs=20)


@claim(
    "order-kept-by-one-thread",
    source="Open MPI 4.0 sources, send path of ob1; dissertation alg. 3",
    statement="it takes threads that pass each other: one pair over one instance loses no order",
    expected=at_most(0, "%"),
)
def kept_by_one_thread(e: Evidence) -> float:
    return 100 * e.per_message(PANEL, "out_of_sequence", instances=1, assignment="dedicated", pairs=1)


@claim(
    "order-ignored-with-overtaking",
    source="dissertation app. A and ch. 5, overtaking",
    statement="with overtaking allowed nothing is out of sequence at any point of panel a'",
    expected=at_most(0, "of all messages"),
)
def ignored_with_overtaking(e: Evidence) -> float:
    return largest(e, OVERTAKING, "out_of_sequence")


@claim(
    "receives-posted-first",
    source="Multirate sources, pairwise loop",
    statement="receivers say when they are ready: no message is unexpected at any point of panel a",
    expected=at_most(0, "of all messages"),
)
def posted_first(e: Evidence) -> float:
    return largest(e, PANEL, "unexpected")
