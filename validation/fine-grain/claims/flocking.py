"""Flocking (chapter 5, section 1)."""

from __future__ import annotations

from contend.studies.claims import at_most, claim
from contend.studies.evidence import Evidence

STEPS = 1024


@claim(
    "flocking-bound",
    source="thesis, table 5.1",
    statement="messages, barriers and switches of 1024 steps take less than the whole program, 22.95 s",
    expected=at_most(22.95, "s"),
    remark="what a bird computes is not known: 48 us a step would make up for the difference",
)
def flocking_bound(e: Evidence) -> float:
    return STEPS / e.rate("table5_1", work="0 ns")
