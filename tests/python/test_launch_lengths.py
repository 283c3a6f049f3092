"""How many iterations the launches of a point made."""

from typing import Any

import pytest

from contend.datasets.launch_lengths import LaunchLengths, launch_lengths

LAUNCHES = [{"iterations": [40, 40]}, {"iterations": [60, 60]}]


def point(**changes: Any) -> dict[str, Any]:
    """Two launches of two repetitions, with five messages an iteration, ten of warm-up and thirty of trials each."""
    timed = [40, 40, 60, 60]
    return {
        "message_rate": {"samples": [5 * count / 2.0 for count in timed]},
        "elapsed": {"samples": [2.0] * 4},
        "counters": {"messages_sent": 5 * (sum(timed) + 2 * (10 + 30))},
    } | changes


def test_what_counters_say_of_trials() -> None:
    lengths = launch_lengths(point(), LAUNCHES)
    assert lengths == LaunchLengths(repetitions=2, timed=50, in_all=140)
    assert lengths.before_repetitions(warmup=10) == 30
    assert lengths.before_repetitions(warmup=50) == 0  # never less than nothing


def test_the_rate_of_round_trips_counts_both_messages() -> None:
    alone = point(latency={"samples": [1.0] * 4}, counters={"messages_sent": 280})
    alone["message_rate"] = {"samples": [2 * count / 2.0 for count in (40, 40, 60, 60)]}
    assert launch_lengths(alone, LAUNCHES) == LaunchLengths(repetitions=2, timed=50, in_all=140)


@pytest.mark.parametrize(
    "changes",
    [
        {"counters": None},
        {"counters": {"messages_sent": "many"}},
        {"counters": {"messages_sent": True}},
        {"counters": {"messages_sent": 5 * 100}},  # of one launch
        {"elapsed": {"samples": [2.0]}},
        {"elapsed": {"samples": [2.0, 2.0, 2.0, "two"]}},
        {"elapsed": {"samples": [2.0, 2.0, 2.0, True]}},
        {"elapsed": {"samples": [2.0, 2.0, 2.0, float("nan")]}},
        {"elapsed": {"samples": [2.0, 2.0, 2.0, 1e308]}, "message_rate": {"samples": [1e308] * 4}},
        {"message_rate": 7},
        {"counters": {"messages_sent": 10**400}},
        {"elapsed": {"samples": [2.0, 2.0, 2.0, 10**400]}},
    ],
)
def test_nothing_is_known_of_trials_where_counts_are_missing_or_odd(changes: dict[str, Any]) -> None:
    assert launch_lengths(point(**changes), LAUNCHES) == LaunchLengths(repetitions=2, timed=50, in_all=None)


def test_nothing_is_known_where_a_launch_does_not_say_its_iterations() -> None:
    assert launch_lengths(point(), [*LAUNCHES, {}]) is None
    assert launch_lengths(point(), []) is None
