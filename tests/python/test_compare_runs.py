"""Comparisons of results made by hand: what counts as a sample, as the same simulation, and what pairing gains."""

from typing import Any

import pytest

from contend.comparisons.comparison import Comparison, PointComparison
from contend.comparisons.contest import compare_runs, measured_reduction
from contend.comparisons.paired import compare_samples
from contend.engine.runner import Outcome, PointRuns
from contend.results.measures import measure_named
from contend.scenarios.resolution import Point

RATE = measure_named("message_rate")


def runs(*results: dict[str, Any]) -> PointRuns:
    return PointRuns(Point({"workload.pairs": 2}, {}), list(results))


def rates(*values: float) -> PointRuns:
    return runs(*({"message_rate": value} for value in values))


def test_a_counter_that_a_replication_lacks_is_zero_there() -> None:
    a = runs(
        {"message_rate": 1.0, "counters": {"tries": 4, "never": 0}}, {"message_rate": 1.0, "counters": {"never": 0}}
    )
    b = runs({"message_rate": 1.0, "counters": {"tries": 6}}, {"message_rate": 1.0, "counters": {"tries": 2}})
    (found,) = compare_runs([a], [b], RATE)
    assert found.measures["tries"].a.samples == (4.0, 0.0)
    assert found.measures["tries"].b.samples == (6.0, 2.0)


@pytest.mark.parametrize("turned", [False, True])
def test_what_only_one_side_counts_is_compared_and_what_neither_does_is_not(*, turned: bool) -> None:
    none, some = ({"message_rate": 1.0, "counters": {"steals": count, "never": 0}} for count in (0, 3))
    sides = (runs(some), runs(none)) if turned else (runs(none), runs(some))
    (found,) = compare_runs([sides[0]], [sides[1]], RATE)
    assert set(found.measures) == {"message_rate", "steals"}
    (idle,) = compare_runs([rates(0.0, 0.0)], [rates(0.0, 0.0)], RATE)
    assert set(idle.measures) == {"message_rate"}  # what verdicts are about


def test_notes_on_a_design_make_no_other_simulation() -> None:
    a, b = runs({"message_rate": 1.0, "notes": ["a"]}), runs({"message_rate": 1.0, "notes": ["b"]})
    assert compare_runs([a], [b], RATE)[0].same_simulation
    assert not compare_runs([a], [rates(2.0)], RATE)[0].same_simulation


def test_what_pairing_gains_is_the_same_in_every_unit() -> None:
    """Relative variances are 1/2 and 18/25 at the one point, and so they are of a million times as much at the other.

    Relative differences are -0.1 and 0.1, which have a variance of 0.02.
    """
    points = tuple(
        PointComparison({"n": unit}, {"message_rate": compare_samples("x", [unit, 3 * unit], [2 * unit, 8 * unit])})
        for unit in (1.0, 1e6)
    )
    assert Comparison("a", "b", 1, "t", points).variance_reduction == pytest.approx((1 / 2 + 18 / 25) / 0.02)


def test_the_measured_gain_is_the_variance_with_other_seeds_over_that_with_the_same() -> None:
    a = Outcome([rates(9.0, 11.0)], 0.0)
    paired = Outcome([rates(18.0, 22.4)], 0.0)
    independent = Outcome([rates(22.0, 18.0)], 0.0)
    # Over its mean of 10, A is 0.9 and 1.1. B is that but for 0.18 of 20.2, with other seeds but for 0.2.
    expected = 0.2**2 / (0.18 / 20.2) ** 2
    assert measured_reduction(a, paired, independent, measure="message_rate") == pytest.approx(expected)


def test_the_verdict_on_a_time_is_no_verdict_on_another_measure() -> None:
    """Less of a time is faster; of any other measure in the frame it is said whether it is higher or lower."""
    time = measure_named("latency")
    measures = {
        "latency": compare_samples("latency", [2.0, 2.0], [1.0, 1.0]),
        "tries": compare_samples("tries", [1.0, 1.0], [5.0, 5.0]),
    }
    found = Comparison("a", "b", 1, "t", (PointComparison({"n": 1}, measures, time),))
    assert found.frame()["b_is"].to_list() == ["faster"]
    assert found.frame("tries")["b_is"].to_list() == ["higher"]


def test_as_many_replications_as_there_are_narrow_nothing_further() -> None:
    rate = next(
        found
        for spread in (each / 100 for each in range(400, 1000))
        if (found := compare_samples("x", [100.0] * 6, [102 + spread * sign for sign in (-1, 1) * 3])).verdict
        == "undecided" and found.replications_to_decide == 6
    )  # fmt: skip
    remark = Comparison("a", "b", 1, "t", (PointComparison({}, {"message_rate": rate}),)).undecided_remark
    assert "it is no wider than ±5% now, with 6 replications" in remark
