"""Intervals of identified parameters: how the errors of what was measured come through a rule's formula."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calibrating import MACHINE, dataset, metric, time_of, write
from contend.calibrate.identification import Identified, identify
from contend.common.documents import get_path
from contend.datasets.reading import read_datasets
from contend.profiles.catalogs import PROFILES
from contend.profiles.prices import parse_price

# Of a median of one sample nobody knows the spread: its logarithm has this standard error by definition.
OF_ONE_SAMPLE = 0.1
NORMAL_95 = 1.959964


def identified(folder: Path, *documents: dict[str, Any]) -> dict[str, Identified]:
    """What some datasets give upon a profile that has every section, by path."""
    for document in documents:
        write(folder, document)
    found, _ = identify(read_datasets([folder]), PROFILES.load("vm-2core")[1])
    return {one.rule.path: one for one in found}


def of_machine(*points: dict[str, Any]) -> dict[str, Any]:
    return dataset("machine", {"kind": "machine"}, list(points), transport="none", machine=MACHINE)


def atomics(*times: float) -> dict[str, Any]:
    return of_machine(
        *(time_of(time, probe="atomic", operation="fetch_add", state="owned", core=core)
          for core, time in enumerate(times))
    )  # fmt: skip


def relative_error(one: Identified) -> float:
    """The standard error that an interval was made of, as a share of the value."""
    assert one.value / one.low == pytest.approx(one.high / one.value)
    return (one.high / one.value - 1) / NORMAL_95


def test_points_that_agree_are_known_as_well_as_the_mean_of_their_errors(tmp_path: Path) -> None:
    one = identified(tmp_path, atomics(5e-9, 5e-9, 5e-9, 5e-9))["machine.cache.atomic_hit"]
    assert (one.value, one.points) == (pytest.approx(5e-9), 4)
    assert relative_error(one) == pytest.approx(OF_ONE_SAMPLE / math.sqrt(4))


def test_points_that_differ_more_than_their_errors_say_by_how_much(tmp_path: Path) -> None:
    one = identified(tmp_path, atomics(4e-9, 4e-9, 6e-9, 6e-9))["machine.cache.atomic_hit"]
    assert one.value == pytest.approx(5e-9)
    # Each is 1 ns off their mean: a standard deviation of 2 / sqrt(3) ns, and half of that for the mean of four.
    assert relative_error(one) == pytest.approx(1 / math.sqrt(3) / 5)


def test_a_factor_of_a_formula_does_not_change_how_well_its_value_is_known(tmp_path: Path) -> None:
    points = [time_of(2e-5, primitive="team_begin", part="first_call")]
    one = identified(tmp_path, dataset("beginning", {"kind": "primitives"}, points))["machine.scheduler.thread_begin"]
    assert one.value == pytest.approx(2e-5 / math.log(2))
    assert relative_error(one) == pytest.approx(OF_ONE_SAMPLE)


def test_a_rate_is_known_as_well_as_its_time(tmp_path: Path) -> None:
    document = of_machine(time_of(4e-7, probe="memcpy", message_size=4096, memory="cold"))
    one = identified(tmp_path, document)["machine.software.copy_bandwidth"]
    assert (one.value, one.kind) == (pytest.approx(4096 / 4e-7), "rate")
    assert relative_error(one) == pytest.approx(OF_ONE_SAMPLE)


def test_a_time_is_known_as_well_as_the_rate_that_it_is_read_from(tmp_path: Path) -> None:
    point = {"parameters": {"threads": 1, "operation": "put", "message_size": 8}, "message_rate": metric(1e6)}
    one = identified(tmp_path, dataset("puts", {"kind": "rma-mt"}, [point], transport="shm"))[
        "machine.software.one_sided_call"
    ]
    noise = parse_price(get_path(PROFILES.load("vm-2core")[1], "noise")["value"]).value
    assert one.value == pytest.approx(1e-6 - noise)
    assert relative_error(one) == pytest.approx(OF_ONE_SAMPLE * 1e-6 / one.value)


def test_a_difference_has_the_errors_of_both_sides(tmp_path: Path) -> None:
    document = of_machine(
        time_of(1.1e-6, probe="socket", from_core=0, to_core=0, part="send"),
        time_of(2.1e-6, probe="socket", from_core=0, to_core=1, part="send"),
    )
    one = identified(tmp_path, document)["machine.tcp.contended_send"]
    assert one.value == pytest.approx(1e-6)
    assert relative_error(one) == pytest.approx(OF_ONE_SAMPLE * math.hypot(1.1, 2.1))


def test_a_slope_is_that_of_weighted_least_squares(tmp_path: Path) -> None:
    times = {0: 1e-6, 64: 2e-6, 1024: 5e-6}  # on no straight line, so that the weights tell
    points = [time_of(time, primitive="match_posted", depth=depth) for depth, time in times.items()]
    one = identified(tmp_path, dataset("queues", {"kind": "primitives"}, points, transport="shm"))[
        "machine.matching.element"
    ]
    y = np.array(list(times.values()))
    (slope, _), covariance = np.polyfit(list(times), y, 1, w=1 / (OF_ONE_SAMPLE * y), cov="unscaled")
    assert one.value == pytest.approx(slope)
    assert relative_error(one) == pytest.approx(math.sqrt(covariance[0, 0]) / slope)


def test_a_step_is_a_time_that_grows_to_five_times_as_much(tmp_path: Path) -> None:
    def has_step(factor: float) -> bool:
        times = {300: 2e-5, 2000: factor * 2e-5}
        points = [time_of(time, probe="busy_wake", from_core=1, to_core=0, slept_us=at) for at, time in times.items()]
        return "machine.scheduler.short_sleep" in identified(tmp_path, of_machine(*points))

    assert not has_step(4.9)
    assert has_step(5.1)


def test_a_step_is_over_the_middle_of_logarithms(tmp_path: Path) -> None:
    times = {300: 2e-5, 700: 1.5e-4, 2000: 1e-3}  # 141 us lie in the middle of the ends, or 510 us of their sum
    points = [time_of(time, probe="busy_wake", from_core=1, to_core=0, slept_us=at) for at, time in times.items()]
    one = identified(tmp_path, of_machine(*points))["machine.scheduler.short_sleep"]
    assert (one.low, one.high) == (pytest.approx(300e-6), pytest.approx(700e-6))


def streams(*ranges_s: float) -> dict[str, Any]:
    """Rates of one pair with the interquartile ranges of the times of iterations in each of several points."""
    points = [
        {
            "parameters": {"pairs": 1, "message_size": 8 * (index + 1)},
            "message_rate": metric(4e5, 4.1e5),
            "per_launch": [{"iterations": [1000], "iteration_s": {"p25": 3e-4, "p75": 3e-4 + one}}],
        }
        for index, one in enumerate(ranges_s)
    ]
    return dataset("streams", {"kind": "multirate", "window": 64}, points)


def returned() -> float:
    """What each of these sends costs more besides (of the base profile)."""
    return parse_price(get_path(PROFILES.load("vm-2core")[1], "tcp.returned_send.value")).value


def test_the_spread_of_messages_from_one_point_may_be_half_as_wrong_as_it_is_large(tmp_path: Path) -> None:
    one = identified(tmp_path, streams(1e-5))["machine.tcp.contended_send"]
    assert relative_error(one) * one.value == pytest.approx(0.5 * (one.value - returned()))


def test_the_spread_of_messages_from_several_points_is_known_by_how_they_differ(tmp_path: Path) -> None:
    one = identified(tmp_path, streams(0.9e-5, 1e-5, 1.1e-5))["machine.tcp.contended_send"]
    delay = 1e-5 / 1.34898 / 8 / math.sqrt(0.75)
    assert (one.value, one.points) == (pytest.approx(delay + returned()), 3)
    assert relative_error(one) * one.value == pytest.approx(0.1 / math.sqrt(3) * delay)


def test_a_guide_that_is_known_worse_than_to_a_factor_of_three_says_so(tmp_path: Path) -> None:
    calls = {"shm": 1e-6, "tcp": 1.1e-6}
    documents = [
        dataset(key, {"kind": "primitives"}, [time_of(time, primitive="isend", message_size=0)], transport=key)
        for key, time in calls.items()
    ]
    one = identified(tmp_path, *documents)["machine.nic.post"]
    assert one.value == pytest.approx(1e-7)
    assert relative_error(one) == pytest.approx(OF_ONE_SAMPLE * math.hypot(1.0, 1.1) / 0.1)
    assert one.high / one.value > 3


def test_a_point_without_a_sample_is_no_measurement(tmp_path: Path) -> None:
    document = atomics(5e-9, 5e-9)
    document["points"][0] = {"parameters": document["points"][0]["parameters"], "outcome": "crashed"}
    one = identified(tmp_path, document)["machine.cache.atomic_hit"]
    assert (one.value, one.points) == (pytest.approx(5e-9), 1)
