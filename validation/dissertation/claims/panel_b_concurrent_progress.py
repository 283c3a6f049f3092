"""Concurrent progress added to the instances (panel b)."""

from __future__ import annotations

from contend.studies.claims import Claim, at_most, between, claim
from contend.studies.evidence import Evidence

SERIAL = "fig5_2a"
PANEL = "fig5_2b"
SOURCE = "dissertation ch. 5, two-sided, panel b"
CURVES = [(instances, assignment) for instances in (1, 10, 20) for assignment in ("round-robin", "dedicated")]


@claim(
    "b-below-a",
    source=SOURCE,
    statement="concurrent progress alone is slower than serial progress from 4 pairs on, on every curve",
    expected=at_most(1.0, "x of panel a, worst point"),
)
def below_a(e: Evidence) -> float:
    return max(
        e.rate(PANEL, instances=instances, assignment=assignment, pairs=pairs)
        / e.rate(SERIAL, instances=instances, assignment=assignment, pairs=pairs)
        for instances, assignment in CURVES
        for pairs in range(4, 21)
    )


def _below_with(instances: int) -> Claim:
    words = "1 instance" if instances == 1 else f"{instances} instances"

    @claim(
        f"b-below-a-{instances}",
        source=SOURCE,
        statement=f"the same, looked at by number of instances: {words}, both assignments, from 4 pairs on",
        expected=at_most(1.0, "x of panel a, worst point"),
    )
    def below(e: Evidence) -> float:
        return max(
            e.rate(PANEL, instances=instances, assignment=assignment, pairs=pairs)
            / e.rate(SERIAL, instances=instances, assignment=assignment, pairs=pairs)
            for assignment in ("round-robin", "dedicated")
            for pairs in range(4, 21)
        )

    return below


below_a_1 = _below_with(1)
below_a_10 = _below_with(10)
below_a_20 = _below_with(20)


@claim(
    "b-below-a-at-20",
    source=SOURCE,
    statement="concurrent progress alone is slower than serial progress at 20 pairs with 20 dedicated instances",
    expected=at_most(1.0, "x of panel a"),
)
def below_a_at_20(e: Evidence) -> float:
    at = {"instances": 20, "assignment": "dedicated", "pairs": 20}
    return e.rate(PANEL, **at) / e.rate(SERIAL, **at)


@claim(
    "b-match-time",
    source=SOURCE,
    statement="the match time grows up to about 3 times (largest ratio to panel a at 20 pairs)",
    expected=between(2.0, 4.0, "x"),
)
def match_time(e: Evidence) -> float:
    return max(
        e.per_message(PANEL, "match_time_ns", instances=instances, assignment=assignment, pairs=20)
        / e.per_message(SERIAL, "match_time_ns", instances=instances, assignment=assignment, pairs=20)
        for instances, assignment in CURVES
    )
