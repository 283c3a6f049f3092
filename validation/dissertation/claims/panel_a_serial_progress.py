"""Serial progress with communication resource instances (panel a)."""

from __future__ import annotations

from contend.studies.claims import about, at_least, at_most, between, claim
from contend.studies.evidence import Evidence

PANEL = "fig5_2a"
SOURCE = "dissertation ch. 5, two-sided, panel a"


def base(e: Evidence, pairs: int) -> float:
    """One instance."""
    return e.rate(PANEL, instances=1, assignment="dedicated", pairs=pairs)


@claim(
    "a-base-rate-20",
    source="dissertation, listing in the user guide",
    statement="the base library exchanges 140,199 msg/s at 20 thread pairs, 0 B, window 128",
    expected=about(140199, 0.10, "msg/s"),
    remark="how the listing's run was bound is not said: mpirun binds each of two processes to one core unless told "
    "otherwise (docs/decisions/0053-where-overtaking-is-allowed.md)",
)
def base_rate_20(e: Evidence) -> float:
    return base(e, 20)


@claim(
    "a-base-rate-20-one-core",
    source="dissertation, listing in the user guide; binding: Open MPI 4.0's mpirun, where nothing is said",
    statement="the same with all threads of a process on one core: 140,199 msg/s",
    expected=about(140199, 0.10, "msg/s"),
    remark="a conjecture, chosen among several by the listing's number "
    "(docs/decisions/0053-where-overtaking-is-allowed.md)",
)
def base_rate_20_one_core(e: Evidence) -> float:
    return e.rate("fig5_2a_base_one_core", pairs=20)


@claim(
    "a-contention-from-2",
    source=SOURCE,
    statement="with one instance contention is visible from 2 threads: two pairs are slower than one",
    expected=at_most(1.0, "x of 1 pair"),
)
def contention_from_2(e: Evidence) -> float:
    return base(e, 2) / base(e, 1)


@claim(
    "a-dedicated-20",
    source=SOURCE,
    statement="20 dedicated instances reach up to 2 times the base at 20 pairs",
    expected=between(1.6, 2.4, "x"),
    remark="a miss was expected: what was found to keep the base busy keeps 20 instances busy as well "
    "(docs/decisions/0033-how-probable-prices-are.md)",
)
def dedicated_20(e: Evidence) -> float:
    return e.rate(PANEL, instances=20, assignment="dedicated", pairs=20) / base(e, 20)


@claim(
    "a-dedicated-10-falls-off",
    source=SOURCE,
    statement="10 dedicated instances fall off past 10 threads, where instances are shared: 12 pairs against 10",
    expected=at_most(0.98, "x of 10 pairs"),
)
def dedicated_10_falls_off(e: Evidence) -> float:
    curve = e.curve(PANEL, "pairs", instances=10, assignment="dedicated")
    return curve[12] / curve[10]


@claim(
    "a-dedicated-20-does-not-share",
    source=SOURCE,
    statement="at 20 pairs 20 dedicated instances are faster than 10, which are shared",
    expected=at_least(1.0, "x"),
)
def dedicated_20_does_not_share(e: Evidence) -> float:
    at = {"assignment": "dedicated", "pairs": 20}
    return e.rate(PANEL, instances=20, **at) / e.rate(PANEL, instances=10, **at)


@claim(
    "a-round-robin-between",
    source=SOURCE,
    statement="round-robin lies between the base (0) and dedicated (1), 20 instances at 20 pairs",
    expected=between(0.0, 1.0, "of the way"),
)
def round_robin_between(e: Evidence) -> float:
    dedicated = e.rate(PANEL, instances=20, assignment="dedicated", pairs=20)
    robin = e.rate(PANEL, instances=20, assignment="round-robin", pairs=20)
    return (robin - base(e, 20)) / (dedicated - base(e, 20))


@claim(
    "a-round-robin-soft",
    source=SOURCE,
    statement="round-robin degrades softly: from 5 pairs on no further pair takes a fifth of the rate (20 instances)",
    expected=at_least(0.8, "x of one pair fewer"),
)
def round_robin_soft(e: Evidence) -> float:
    curve = e.curve(PANEL, "pairs", instances=20, assignment="round-robin")
    return min(curve[pairs + 1] / curve[pairs] for pairs in range(5, 20))


@claim(
    "process-above-threads",
    source="dissertation ch. 5, two-sided, all panels",
    statement="process mode beats the best threaded curve at every number of pairs",
    expected=at_least(1.0, "x of the best threaded curve, worst point"),
)
def process_above_threads(e: Evidence) -> float:
    panels = [PANEL, "fig5_2b", "fig5_2c"]
    process = e.curve("fig5_2a_process_mode", "pairs")
    return min(
        rate
        / max(
            e.rate(panel, instances=instances, assignment=assignment, pairs=pairs)
            for panel in panels
            for instances in (1, 10, 20)
            for assignment in ("round-robin", "dedicated")
        )
        for pairs, rate in process.items()
    )
