"""Concurrent progress and one communicator per pair (panel c)."""

from __future__ import annotations

from contend.studies.claims import at_least, at_most, between, claim
from contend.studies.evidence import Evidence

SERIAL = "fig5_2a"
PANEL = "fig5_2c"
SOURCE = "dissertation ch. 5, two-sided, panel c"
CURVES = [(instances, assignment) for instances in (1, 10, 20) for assignment in ("round-robin", "dedicated")]


def best_over_base(e: Evidence, panel: str = PANEL) -> float:
    """The best curve over the base at equal pairs, at its best point."""
    return max(
        e.rate(panel, instances=instances, assignment=assignment, pairs=pairs)
        / e.rate(SERIAL, instances=1, assignment="dedicated", pairs=pairs)
        for instances, assignment in CURVES
        for pairs in e.axis(panel, "pairs")
    )


@claim(
    "c-best-over-base",
    source=SOURCE,
    statement="the best design is up to about 10 times the base at equal pairs",
    expected=at_least(8.0, "x"),
)
def best(e: Evidence) -> float:
    return best_over_base(e)


@claim(
    "two-sided-up-to-22",
    source="dissertation, abstract",
    statement="two-sided communication gains up to 22 times overall",
    expected=between(16.0, 28.0, "x"),
)
def up_to_22(e: Evidence) -> float:
    return max(best_over_base(e), best_over_base(e, "fig5_2c_overtaking"))


@claim(
    "c-dedicated-10-drops",
    source=SOURCE,
    statement="10 dedicated instances drop at 11 and more threads: 12 pairs against 10",
    expected=at_most(0.98, "x of 10 pairs"),
)
def dedicated_10_drops(e: Evidence) -> float:
    curve = e.curve(PANEL, "pairs", instances=10, assignment="dedicated")
    return curve[12] / curve[10]


@claim(
    "c-round-robin-rises",
    source=SOURCE,
    statement="round-robin rises with threads: 20 pairs against 2, 20 instances",
    expected=at_least(1.2, "x"),
)
def round_robin_rises(e: Evidence) -> float:
    curve = e.curve(PANEL, "pairs", instances=20, assignment="round-robin")
    return curve[20] / curve[2]


@claim(
    "c-dedicated-best",
    source=SOURCE,
    statement="the best dedicated rate is above the best round-robin rate",
    expected=at_least(1.0, "x"),
)
def dedicated_best(e: Evidence) -> float:
    def top(wanted: str) -> float:
        return max(
            max(e.curve(PANEL, "pairs", instances=instances, assignment=assignment).values())
            for instances, assignment in CURVES
            if assignment == wanted
        )

    return top("dedicated") / top("round-robin")


@claim(
    "c-one-to-one-rises",
    source=SOURCE,
    statement="one-to-one (thread, instance, communicator) rises with threads: its peak against 2 pairs",
    expected=at_least(1.5, "x"),
)
def one_to_one_rises(e: Evidence) -> float:
    curve = e.curve(PANEL, "pairs", instances=20, assignment="dedicated")
    return max(curve.values()) / curve[2]


@claim(
    "c-one-to-one-drops",
    source=SOURCE,
    statement="one-to-one drops at large thread counts: 20 pairs against its peak",
    expected=at_most(0.97, "x of the peak"),
)
def one_to_one_drops(e: Evidence) -> float:
    curve = e.curve(PANEL, "pairs", instances=20, assignment="dedicated")
    return curve[20] / max(curve.values())
