"""Slow cores: read from single cores, laid upon fits, drawn again and again by predictions."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest

from calibrating import dataset, mapping, rates, time_of, write
from contend.accuracy.predict import predict
from contend.calibrate.evaluations import Evaluator
from contend.calibrate.identification import identify
from contend.calibrate.inputs import Inputs
from contend.calibrate.measured_machine import on_measured_machine
from contend.calibrate.options import Options
from contend.calibrate.pipeline import calibrate, with_identified
from contend.calibrate.problem import Builder
from contend.calibrate.profile import calibrated_profile, profile_bytes
from contend.calibrate.recovery import MemoryLog, Silence
from contend.calibrate.slow_cores import (
    lay_slow_cores_upon,
    simulations_of_slow_cores,
    slow_cores,
    slow_cores_of,
    with_cores_alike,
)
from contend.calibrate.split import choose_split
from contend.common.errors import InputError
from contend.datasets.reading import read_dataset, read_datasets
from contend.engine.runner import make_engine
from contend.profiles.catalogs import PROFILES
from contend.profiles.prices import parse_price
from contend.scenarios.resolution import resolve_scenario

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from contend.calibrate.evaluations import Task
    from contend.calibrate.problem import Problem
    from contend.common.jsontypes import JsonObject
    from contend.datasets.dataset import Dataset

QUICK, SLOW = 1.0e-6, 1.5e-6
SAID = {"source": "a test", "uncertainty": "none", "basis": "measured"}
SECTION: JsonObject = {"share": {"value": 0.5, **SAID}, "slowdown": {"value": 1.5, **SAID}}
VALUES = {"machine.slow_cores.share": 0.5, "machine.slow_cores.slowdown": 1.5}


def switches(slow: set[tuple[int, int]], cores: int = 8) -> list[JsonObject]:
    """Switches between two threads of each core in two launches, slow in some; samples of a launch differ by 1 %."""
    points = []
    for core in range(cores):
        means = [SLOW if (core, launch) in slow else QUICK for launch in (0, 1)]
        samples = [mean * factor for mean in means for factor in (0.99, 1.0, 1.01)]
        point = time_of(*samples, probe="context_switch", core=core)
        point["time_per_operation"]["launch"] = [0, 0, 0, 1, 1, 1]
        points.append(point)
    return points


def of_machine(folder: Path, points: list[JsonObject]) -> Dataset:
    return read_dataset(write(folder, dataset("machine", {"kind": "machine"}, points, transport="none")))


def base() -> JsonObject:
    return PROFILES.load("alembert")[1]


def test_two_groups_of_times_say_how_many_are_slow_and_how_slow() -> None:
    found = slow_cores([QUICK, QUICK * 1.02, QUICK * 0.98] * 4 + [SLOW, SLOW * 1.02, SLOW * 0.98] * 2)
    assert found.share.value == pytest.approx(1 / 3)
    # Wilson's interval of 6 in 18.
    assert (found.share.low, found.share.high) == (pytest.approx(0.1628, abs=1e-4), pytest.approx(0.5625, abs=1e-4))
    assert found.slowdown.value == pytest.approx(1.5)
    # Deviations within the groups are 0.0163, which says less than what no such value is known better than.
    assert found.slowdown.high == pytest.approx(1.5 * 1.05)
    assert found.slowdown.low == pytest.approx(1.5 / 1.05)


def test_the_slowdown_is_known_as_well_as_the_groups_spread_lets_it() -> None:
    quick, slow = (
        [QUICK * factor for factor in (0.92, 1.0, 1.08)] * 4,
        [SLOW * factor for factor in (0.92, 1.0, 1.08)] * 4,
    )
    found = slow_cores(quick + slow).slowdown
    logs = [math.log(factor) for factor in (0.92, 1.0, 1.08)] * 8
    pooled = math.sqrt(sum((log - sum(logs) / 24) ** 2 for log in logs) / 22)
    assert math.log(found.high / found.value) == pytest.approx(1.96 * pooled * math.sqrt(2 / 12), rel=1e-4)
    assert math.log(found.value / found.low) == pytest.approx(1.96 * pooled * math.sqrt(2 / 12), rel=1e-4)


def share_taken_for_two_groups(sample: Callable[[np.random.Generator], Any], trials: int = 300) -> float:
    random, found = np.random.default_rng(1), 0
    for _ in range(trials):
        try:
            slow_cores([float(time) for time in QUICK * np.exp(sample(random))])
        except InputError:
            continue
        found += 1
    return found / trials


@pytest.mark.parametrize("count", [8, 12, 16, 32, 64])
def test_times_of_one_kind_are_of_cores_that_are_alike(count: int) -> None:
    assert share_taken_for_two_groups(lambda random: random.normal(0, 0.2, count)) < 0.03
    assert share_taken_for_two_groups(lambda random: random.uniform(-0.3, 0.3, count)) < 0.04
    assert share_taken_for_two_groups(lambda random: random.exponential(0.15, count)) < 0.12


@pytest.mark.parametrize("others", [1, 2])
def test_a_few_outliers_are_no_group(others: int) -> None:
    with pytest.raises(InputError, match="the cores are alike"):
        slow_cores([QUICK * (1 + 0.001 * number) for number in range(30)] + [QUICK * 5] * others)
    slow_cores([QUICK * (1 + 0.001 * number) for number in range(16)] + [QUICK * 5] * 3)


def test_groups_that_hardly_differ_and_few_times_are_no_slow_cores() -> None:
    with pytest.raises(InputError, match="the cores are alike"):
        slow_cores([QUICK] * 8 + [QUICK * 1.1] * 8)
    with pytest.raises(InputError, match="7 times of cores in launches do not tell quick from slow"):
        slow_cores([QUICK] * 4 + [SLOW] * 3)
    assert slow_cores([QUICK] * 4 + [SLOW] * 4).share.value == 0.5


def test_samples_that_say_no_launch_are_of_none(tmp_path: Path) -> None:
    points = switches({(0, 0), (1, 1), (2, 0), (2, 1)})
    for point in points:
        del point["time_per_operation"]["launch"]
    measured = of_machine(tmp_path, points)
    assert [point.launch_medians for point in measured.points] == [()] * 8
    _, skipped = identify([measured], base())
    reasons = {one.rule.path: one.reason for one in skipped}
    assert reasons["machine.slow_cores.share"].startswith("0 times of cores in launches")


@pytest.mark.parametrize("section", [{}, {"share": SECTION["share"]}, {"slowdown": SECTION["slowdown"]},
                                     SECTION | {"share": {"value": 0, **SAID}},
                                     SECTION | {"share": {"value": 1.0, **SAID}},
                                     SECTION | {"slowdown": {"value": 1.0, **SAID}}])  # fmt: skip
def test_a_section_without_effect_is_none(section: JsonObject) -> None:
    assert slow_cores_of({"slow_cores": section}) is None
    assert slow_cores_of({"slow_cores": SECTION}) == VALUES


def test_what_several_cores_take_is_a_mean_where_some_are_slow(tmp_path: Path) -> None:
    """As prices are in the simulation; a median would be that of the larger group."""

    def wait_call(folder: str, slow: set[tuple[int, int]]) -> float:
        (tmp_path / folder).mkdir()
        points = [*switches(slow), time_of(6e-7, 6.1e-7, probe="futex_wake", from_core=0, to_core=0, part="call")]
        found = {one.rule.path: one.value for one in identify([of_machine(tmp_path / folder, points)], base())[0]}
        return found["machine.futex.wait_call"] + 6.05e-7

    three = {(core, launch) for core in range(3) for launch in (0, 1)}
    assert wait_call("slow", three) == pytest.approx((5 * QUICK + 3 * SLOW) / 8)
    assert wait_call("alike", set()) == pytest.approx(QUICK)


def test_a_core_may_be_slow_in_one_launch_and_quick_in_the_other(tmp_path: Path) -> None:
    measured = of_machine(tmp_path, switches({(0, 0), (1, 1), (2, 0), (2, 1)}))
    found = {one.rule.path: one for one in identify([measured], base())[0]}
    share, slowdown = found["machine.slow_cores.share"], found["machine.slow_cores.slowdown"]
    assert share.value == 4 / 16
    assert slowdown.value == pytest.approx(1.5)
    assert share.low < share.value < share.high
    # A base that has no such section gets one, and a scenario has what it says.
    profile = with_identified(base(), [share, slowdown])
    file, scenario = tmp_path / "profile.json", tmp_path / "scenario.json"
    file.write_text(json.dumps(profile))
    scenario.write_text(json.dumps({
        "schema_version": 1, "name": "slow", "machine": {"profile": str(file)}, "library": {"preset": "ob1-base"},
        "fabric": {"latency": "1 us", "bandwidth": "10 GB/s"},
        "workload": {"kind": "multirate", "pairs": 1, "window": 1},
    }))  # fmt: skip
    (point,) = resolve_scenario(scenario).points
    assert point.config["machine"]["slow_cores"] == {"share": 0.25, "slowdown": pytest.approx(1.5)}


def test_cores_that_are_alike_are_said_to_be(tmp_path: Path) -> None:
    found, skipped = identify([of_machine(tmp_path, switches(set()))], base())
    assert not [one for one in found if "slow_cores" in one.rule.path]
    reasons = {one.rule.path: one.reason for one in skipped}
    assert reasons["machine.slow_cores.share"].startswith("the cores are alike")


def test_slow_cores_of_another_machine_are_none_of_one_whose_cores_were_asked(tmp_path: Path) -> None:
    other = base() | {"slow_cores": SECTION}
    asked = of_machine(tmp_path, switches(set()))
    assert "slow_cores" not in on_measured_machine(other, [asked])
    not_asked = replace(asked, points=tuple(read_dataset(write(tmp_path, rates("r", {1: [1e6]}))).points))
    assert on_measured_machine(other, [not_asked])["slow_cores"] == SECTION


class TwoPaces:
    """A simulator in which a message takes a third longer where the machine has slow cores."""

    def __init__(self, failing: int = 0) -> None:
        self.failing = failing
        self.tasks: list[Task] = []

    def run(self, tasks: list[Task]) -> list[float]:
        self.tasks += tasks
        return [self._rate(json.loads(task.config)) for task in tasks]

    def _rate(self, config: JsonObject) -> float:
        if config["workload"]["pairs"] == self.failing:
            return math.nan
        share = config["machine"]["slow_cores"]["share"]
        assert share in {0.0, 0.5}
        return 1e6 * (0.75 if share > 0 else 1.0)


def problem_of(folder: Path, profile: JsonObject) -> Problem:
    one = read_dataset(write(folder, rates("a", {1: [5e5], 2: [4e5]})))
    return Builder(with_cores_alike(profile), [mapping()], messages=200).build([(one, p) for p in one.points])


def test_a_fit_sees_what_slow_cores_do_on_average(tmp_path: Path) -> None:
    problem, simulator = problem_of(tmp_path, base() | {"slow_cores": SECTION}), TwoPaces()
    evaluator = cast("Evaluator", simulator)
    expected = simulations_of_slow_cores(problem, VALUES)
    lay_slow_cores_upon(problem, VALUES, evaluator)
    assert [target.offset for target in problem.targets] == [pytest.approx(math.log(0.75))] * 2
    assert len(simulator.tasks) == expected
    # Both sides have the same random numbers, and none that a fit or a prediction has.
    with_slow = [t.replication for t in simulator.tasks if json.loads(t.config)["machine"]["slow_cores"]["share"] > 0]
    without = {task.replication for task in simulator.tasks} - set(with_slow)
    assert not without
    assert min(with_slow) >= 300
    # The fit's own simulations have none.
    assert np.exp(problem.simulate(evaluator, [problem.base])[0]) == pytest.approx([7.5e5, 7.5e5])
    assert all(json.loads(t.config)["machine"]["slow_cores"]["share"] == 0 for t in simulator.tasks[expected:])


def test_a_point_that_fails_on_slow_cores_is_none_of_the_fit(tmp_path: Path) -> None:
    problem = problem_of(tmp_path, base())
    (failed,) = lay_slow_cores_upon(problem, VALUES, cast("Evaluator", TwoPaces(failing=2)))
    assert failed.point.parameters == {"pairs": 2}
    assert [target.point.parameters["pairs"] for target in problem.targets] == [1]
    assert problem.targets[0].offset == pytest.approx(math.log(0.75))


def test_a_replication_that_fails_does_not_count(tmp_path: Path) -> None:
    class FailingNowAndThen(TwoPaces):
        def run(self, tasks: list[Task]) -> list[float]:
            rates = super().run(tasks)
            return [math.nan if task.replication % 5 == 0 else rate for task, rate in zip(tasks, rates, strict=True)]

    problem = problem_of(tmp_path, base())
    assert lay_slow_cores_upon(problem, VALUES, cast("Evaluator", FailingNowAndThen())) == []
    assert [target.offset for target in problem.targets] == [pytest.approx(math.log(0.75))] * 2


def test_a_profile_without_slow_cores_has_nothing_laid_upon_it(tmp_path: Path) -> None:
    untouched = problem_of(tmp_path, base())
    assert lay_slow_cores_upon(untouched, None, cast("Evaluator", SimpleNamespace())) == []
    assert simulations_of_slow_cores(untouched, None) == 0
    assert [target.offset for target in untouched.targets] == [0.0, 0.0]


def test_slow_cores_make_many_pairs_slower_than_one(tmp_path: Path) -> None:
    """Of several pairs that wait for each other one is always slow; which is why their prices must not be fitted so."""
    one = read_dataset(write(tmp_path, rates("a", {1: [5e5], 8: [4e6]}, mode="process")))
    problem = Builder(base(), [mapping()], messages=4_000).build([(one, p) for p in one.points])
    assert not problem.unpredicted
    lay_slow_cores_upon(problem, VALUES, Evaluator(make_engine("contend"), MemoryLog(), jobs=1))
    single, eight = (target.offset for target in problem.targets)
    assert eight < single < 0.02
    assert eight > -math.log(1.5 / 1.25) - 0.02  # as slow as a slow core at most


def test_predictions_draw_slow_cores_more_often_with_no_more_messages(tmp_path: Path) -> None:
    one = read_dataset(write(tmp_path, rates("a", {1: [5e5]})))

    def tasks(profile: JsonObject) -> list[Task]:
        seen: list[Task] = []

        def run(asked: list[Task]) -> list[float]:
            seen.extend(asked)
            return [5e5] * len(asked)

        predict(profile, [one], [mapping()], cast("Any", SimpleNamespace(run=run)), messages=12_800, draws=4)
        return [task for task in seen if task.replication < 200]

    alike, slow = tasks(base()), tasks(base() | {"slow_cores": SECTION})
    assert len(slow) == 4 * len(alike)
    assert {task.replication for task in alike} < {task.replication for task in slow}

    def messages(of: list[Task]) -> int:
        workloads = [json.loads(task.config)["workload"] for task in of]
        return sum(one["iterations"] * one["window"] for one in workloads)

    assert messages(slow) == pytest.approx(messages(alike), rel=0.05)


class PricedReceive:
    """A simulator whose messages take a receive, and a third longer where the machine has slow cores."""

    steps = 0
    simulated = 0
    found = 0

    def run(self, tasks: list[Task]) -> list[float]:
        return [self._rate(json.loads(task.config), task.replication) for task in tasks]

    def reason(self, _task: Task) -> str:
        raise AssertionError("nothing fails")

    def _rate(self, config: JsonObject, replication: int) -> float:
        price = parse_price(config["machine"]["software"]["receive_call"]).value
        slow = 4 / 3 if config["machine"]["slow_cores"]["share"] > 0 else 1.0
        return float(config["workload"]["pairs"] ** 0.5 / price / slow * math.exp(0.002 * math.sin(replication)))


@pytest.mark.core
def test_a_calibration_finds_the_price_of_cores_that_are_alike(tmp_path: Path) -> None:
    """And says what it laid upon its points; a prediction with its profile has slow cores again."""
    price = 400e-9
    write(tmp_path, rates("a", {n: [n**0.5 / price * 0.75 * f for f in (0.98, 1.0, 1.02)] for n in (1, 2, 4, 8)}))
    datasets, slowed = read_datasets([tmp_path]), base() | {"slow_cores": SECTION}
    inputs = Inputs(datasets, slowed, [mapping()], choose_split(datasets))
    options = Options(starts=1, messages=200, is_cross_validated=False)
    evaluator = cast("Evaluator", PricedReceive())
    found = calibrate(inputs, evaluator, options, Silence())
    made = json.loads(profile_bytes(calibrated_profile(slowed, "alembert", "made", found, {})))
    (fit,) = made["calibration"]["fits"]
    assert [point["slow_cores_pct"] for point in fit["points"]] == [pytest.approx(-25, abs=0.1)] * 2
    assert parse_price(made["software"]["receive_call"]["value"]).value == pytest.approx(price, rel=0.03)
    points, _ = predict(made, datasets, [mapping()], evaluator, messages=200, draws=4)
    for point in points:
        assert point.median == pytest.approx(point.point.median, rel=0.03)
