"""Predictions of measured points: samples, draws of prices, and what cannot be predicted."""

import json
import math
import re
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest

from calibrating import mapping, rates, write
from contend.accuracy.document import POINT_HEAD, html_section, interval_note, point_rows
from contend.accuracy.draws import draws_from_ranges, residual_spread
from contend.accuracy.interval import interval
from contend.accuracy.predict import median_sample, predict, replications_of
from contend.accuracy.predicted import Predicted
from contend.accuracy.scores import result_json
from contend.calibrate.evaluations import Task
from contend.calibrate.likelihood import DEGREES_OF_FREEDOM
from contend.calibrate.problem import Builder, Target, Unpredicted
from contend.cli import main
from contend.common.documents import get_path
from contend.common.errors import SimulationFailedError
from contend.datasets.reading import read_dataset
from contend.profiles.catalogs import PROFILES, parameters
from contend.profiles.prices import parse_price
from contend.scenarios.resolution import check_profile
from fakes import REPOSITORY
from predicting import curve

if TYPE_CHECKING:
    from contend.calibrate.evaluations import Evaluator

OTHER_KINDS = ("ucx-perftest", "machine", "primitives")


def test_replications_of_a_long_sample_count_by_their_time() -> None:
    # A second at 300 and three at 100 messages per second: 600 messages in 4 s, whatever the order.
    assert median_sample([300.0, 100.0], 2, 1) == pytest.approx(600 / 4)
    assert median_sample([3.0, 1.0], 2, 1, is_time=True) == 2.0


@pytest.mark.parametrize(
    ("timed", "before", "replications"),
    [(100, 0, 5), (100, 100, 5), (50, 50, 10), (10, 20, 30), (20, 80, 10), (1, 0, 30)],
)
def test_short_samples_have_more_replications(timed: int, before: int, replications: int) -> None:
    """With a hundred iterations in the longest simulation."""
    workload = {"iterations": timed, "warmup_iterations": before}
    target = cast("Target", SimpleNamespace(config={"workload": workload}))
    assert replications_of(target, 100) == replications
    assert replications_of(cast("Target", SimpleNamespace(config={"workload": {}})), 100) == 5


@pytest.mark.parametrize("length", [1, 5])
def test_what_is_left_of_replications_is_no_sample(length: int) -> None:
    # Four slow ones and a fast one; without the slow ones it would look eight times as fast.
    assert median_sample([1e4] * 4 + [1e5], 5, 1) == pytest.approx(12_195, rel=1e-4)
    assert math.isnan(median_sample([math.nan] * 4 + [1e5], length, 1))
    assert math.isnan(median_sample([math.nan], length, 1))


def test_the_median_of_short_samples_is_that_of_the_replications() -> None:
    rates = [100.0, 300.0, 301.0, 302.0, 120.0]
    assert median_sample(rates, 1, 1) == 300.0
    # Three at a time have two states in them, and are between the median and the rate of all.
    assert 1 / np.mean(1 / np.array(rates)) < median_sample(rates, 3, 1) < 300.0


def test_a_draw_that_failed_takes_its_discrepancy_with_it() -> None:
    drawn, discrepancy = [math.nan, 100.0, math.nan, 120.0], [2.0, 0.01, 2.0, 0.02]
    known = interval(100.0, np.array(drawn[1::2]), discrepancy[1::2], 0.005, 1)
    assert interval(100.0, np.array(drawn), discrepancy, 0.005, 1) == known


def test_without_a_draw_the_interval_is_from_the_whole_discrepancy() -> None:
    widths = [0.01, 0.3, 0.3, 0.3]
    low, high = interval(100.0, np.full(4, math.nan), widths, 0.005, 1)
    assert (low, high) == interval(100.0, np.full(4, 100.0), widths, 0.005, 1)
    assert high / low > 1.3


@pytest.mark.parametrize("draws", [0, 1, 2])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_few_draws_have_the_interval_of_the_noise(draws: int, seed: int) -> None:
    low, high = interval(100.0, np.full(draws, 100.0), [0.1] * max(draws, 1), 0.0, seed)
    # 95 % of Student's t distribution with 4 degrees of freedom are within 2.776 of its scale.
    assert [-math.log(low / 100), math.log(high / 100)] == pytest.approx([0.2776] * 2, rel=0.15)


def test_discrepancy_and_error_of_the_measurement_add_up_as_variances() -> None:
    low, high = interval(100.0, np.full(1, 100.0), [0.3], 0.4, 1)
    assert [-math.log(low / 100), math.log(high / 100)] == pytest.approx([2.776 * 0.5] * 2, rel=0.1)


@pytest.mark.parametrize("beside", [0.1, 10.0])
def test_many_draws_beside_a_prediction_reach_to_it_and_few_beyond(beside: float) -> None:
    many, few = (interval(100.0, np.full(count, 100.0 * beside), [0.01], 0.0, 1) for count in (8, 7))
    if beside > 1:
        assert many[0] == 100.0
        assert few[0] < 100.0
    else:
        assert many[1] == 100.0
        assert few[1] > 100.0


def test_three_draws_have_64_values_of_noise_each() -> None:
    noise = 0.1 * np.random.default_rng(1).standard_t(DEGREES_OF_FREEDOM, (64, 3))
    low, high = 100 * np.exp(np.quantile(noise, [0.025, 0.975]))
    assert interval(100.0, np.full(3, 100.0), [0.1] * 3, 0.0, 1) == pytest.approx((low, high))


def test_without_a_posterior_residuals_tell_the_discrepancy(tmp_path: Path) -> None:
    one = curve(tmp_path, "a", lambda _n: 100.0)
    target = Target(one, one.points[0], {}, (), "message_rate")

    def part(scope: str, median: float) -> dict[str, Any]:
        return {"parameters": [{"name": "x", "path": "machine.x", "scope": scope}], "error_pct": {"median": median}}

    profile = {"calibration": {"fits": [part("another", 50.0), part("alib/tcp", 10.0), part("alib", 30.0)]}}
    # The scale of the noise that an interval has: half of it is within the median error.
    (spread,) = residual_spread(profile, target)
    assert spread == pytest.approx(1.3501 * math.log(1.1), rel=1e-4)
    deviations = np.abs(spread * np.random.default_rng(1).standard_t(DEGREES_OF_FREEDOM, 200_001))
    assert np.median(deviations) == pytest.approx(math.log(1.1), rel=0.01)
    for scope in ("tcp", "alib"):
        assert residual_spread({"calibration": {"fits": [part(scope, 10.0)]}}, target) == [pytest.approx(spread)]
    # Nothing was fitted to what this point depends on: nothing is known.
    for other in ({}, {"calibration": {"fits": []}}, {"calibration": {"fits": [part("another", 10.0)]}}):
        assert residual_spread(other, target) == []


def on_two_threads(profile: dict[str, Any], tmp_path: Path, **changes: Any) -> Target:
    one = read_dataset(write(tmp_path, rates("a", {2: [5e5]})))
    problem = Builder(profile, [mapping(**changes)], messages=200).build([(one, one.points[0])])
    assert not problem.unpredicted
    return problem.targets[0]


def drawn(configs: list[dict[str, Any]], path: str) -> list[float]:
    return [parse_price(get_path(config, path)).value for config in configs]


class TestDrawsFromRanges:
    """Intervals of a profile without stored draws."""

    def test_what_a_mapping_sets_stays(self, tmp_path: Path) -> None:
        profile = PROFILES.load("alembert")[1]
        layers = {"machine": {"software": {"send_call": "30 ns"}}, "library": {"preset": "ob1-base"},
                  "fabric": {"latency": "1 us", "bandwidth": "10 GB/s"}}  # fmt: skip
        configs = draws_from_ranges(profile, on_two_threads(profile, tmp_path, layers=layers), 8, 1)
        assert drawn(configs, "machine.software.send_call") == [30e-9] * 8
        assert len(set(drawn(configs, "machine.software.receive_call"))) == 8

    def test_a_value_of_the_library_is_drawn_from_its_own_range(self, tmp_path: Path) -> None:
        profile = PROFILES.load("alembert")[1]
        profile["calibration"] = {"scopes": {"alib": {
            "machine.software.send_call": {"value": "864 ns", "range": ["800 ns", "900 ns"]},
            "machine.software.wait_call": {"value": "1 us"},
            "fabric.latency": {"value": "2 us", "range": ["2 us", "3 us"]},
        }}}  # fmt: skip
        configs = draws_from_ranges(profile, on_two_threads(profile, tmp_path), 8, 1)
        assert all(800e-9 <= value <= 900e-9 for value in drawn(configs, "machine.software.send_call"))
        assert len(set(drawn(configs, "machine.software.send_call"))) == 8
        assert drawn(configs, "machine.software.wait_call") == [1e-6] * 8
        assert all(2e-6 <= value <= 3e-6 for value in drawn(configs, "fabric.latency"))

    @pytest.mark.parametrize(
        "path", sorted((REPOSITORY / "calibration/profiles").glob("*.json")), ids=lambda path: path.stem
    )
    def test_profiles_whose_design_is_uncertain_give_draws_of_prices(self, path: Path, tmp_path: Path) -> None:
        profile = PROFILES.load("alembert")[1]
        other = PROFILES.load(str(path))[1]
        profile["cache"] = other["cache"]  # some have switches there, with both values as range
        configs = draws_from_ranges(profile, on_two_threads(profile, tmp_path), 2, 1)
        assert configs

    def test_every_priced_value_of_a_profile_is_drawn(self, tmp_path: Path) -> None:
        profile = PROFILES.load("alembert")[1]
        target = on_two_threads(profile, tmp_path)
        (first, second) = draws_from_ranges(profile, target, 2, 1)
        priced = [
            f"machine.{one.path}" for one in parameters(profile)
            if len(set(get_path(profile, one.path).get("range", ()))) > 1
            and parse_price(one.value).kind in {"time", "rate"}
        ]  # fmt: skip
        assert len(priced) > 40
        assert all(get_path(first, path) != get_path(second, path) for path in priced)


PROFILE_FILES = [
    *(REPOSITORY / "calibration/profiles").glob("*.json"), *(REPOSITORY / "validation").rglob("*-profile.json"),
]  # fmt: skip


@pytest.mark.parametrize("path", sorted(PROFILE_FILES), ids=lambda path: path.stem)
def test_every_committed_profile_resolves(path: Path) -> None:
    check_profile(path, with_messages="software" in json.loads(path.read_text()))


class TestNothingPredicted:
    def test_a_profile_that_is_not_whole_is_named_with_the_place(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        profile = PROFILES.load("alembert")[1]
        del profile["waiting"]
        (tmp_path / "broken.json").write_text(json.dumps(profile))
        write(tmp_path, rates("a", {1: [5e5], 2: [4e5]}))
        words = [str(tmp_path / name) for name in ("broken.json", "a.json")]
        assert main(["validate", *words, "--json", str(tmp_path / "r.json"), "--work", str(tmp_path / "w")]) == 2
        error = capsys.readouterr().err.replace("\n", " ")
        assert "broken.json" in error
        assert "/machine/waiting: is missing" in error
        assert not (tmp_path / "r.json").exists()

    def test_no_mapping_for_any_point_is_an_error(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        measured = write(tmp_path, rates("a", {1: [5e5], 2: [4e5]}) | {"transport": "pigeons"})
        assert main(["validate", "alembert", str(measured), "--work", str(tmp_path / "w")]) == 2
        assert "2 points: no mapping for alib over pigeons" in capsys.readouterr().err.replace("\n", " ")


def test_draws_have_replications_that_no_fit_has_seen(tmp_path: Path) -> None:
    seen: list[Task] = []

    def run(tasks: list[Task]) -> list[float]:
        seen.extend(tasks)
        return [5e5] * len(tasks)

    one = read_dataset(write(tmp_path, rates("a", {1: [5e5], 2: [4e5]})))
    profile = PROFILES.load("alembert")[1]
    found, _ = predict(profile, [one], [mapping()], cast("Any", SimpleNamespace(run=run)), messages=200, draws=4)
    replications = [task.replication for task in seen]
    drawn = [r for r in replications if r >= 200]
    assert sorted(drawn) == sorted([200, 201, 202, 203] * 2)
    assert min(replications) >= 100
    assert [point.used_draws for point in found] == [4, 4]


class FailingOnce:
    """Simulates a rate that is the same everywhere; one replication of the first point does not end."""

    def __init__(self, pairs: tuple[int, ...]) -> None:
        self.pairs = pairs

    def run(self, tasks: list[Task]) -> list[float]:
        return [math.nan if self._fails(task) else 5e5 for task in tasks]

    def reason(self, task: Task) -> str:
        assert self._fails(task)
        return "the limit of steps"

    def _fails(self, task: Task) -> bool:
        return task.replication == 101 and json.loads(task.config)["workload"]["pairs"] in self.pairs


def test_a_point_with_a_replication_that_failed_is_not_predicted(tmp_path: Path) -> None:
    one = read_dataset(write(tmp_path, rates("a", {1: [5e5], 2: [4e5]})))
    profile = PROFILES.load("alembert")[1]

    def predicted(failing: FailingOnce) -> tuple[list[Predicted], list[Unpredicted]]:
        return predict(profile, [one], [mapping()], cast("Evaluator", failing), messages=200, draws=4)

    found, missing = predicted(FailingOnce((1,)))
    assert [point.threads for point in found] == [2]
    (lost,) = missing
    assert lost.point.parameters == {"pairs": 1}
    assert re.fullmatch(r"1 of \d+ replications: the limit of steps", lost.reason)
    text = result_json("box", found, missing, {})
    assert f"Not predicted: 1 point: {lost.reason}." in html_section(text, "Box")
    with pytest.raises(SimulationFailedError, match=r"no point was predicted: .*the limit of steps"):
        predicted(FailingOnce((1, 2)))


def test_a_printed_interval_has_the_printed_prediction_in_it(tmp_path: Path) -> None:
    """An end that is the prediction was rounded to fewer digits than it, and so beyond it."""
    one = curve(tmp_path, "a", lambda _n: 1e5)
    point = Predicted(one, one.points[0], 99_551.0, 99_551.0, 120_449.0, held_out=True, stand_in="")
    (row,) = point_rows(result_json("box", [point], [], {"draws": 1}))
    mean, low, high = (float(text) for text in re.findall(r"[\d.]+(?:e[+-]\d+)?", row[3].replace("..", " ")))
    assert low <= mean <= high


def test_a_table_says_where_its_intervals_come_from(tmp_path: Path) -> None:
    one = curve(tmp_path, "a", lambda _n: 1e5)
    origins = ["draws of the posterior, no discrepancy", *["no draws of parameters, no discrepancy"] * 2]
    points = [
        Predicted(one, point, 1e5, 9e4, 2e5, held_out=True, stand_in="", interval_from=origin)
        for point, origin in zip(one.points, origins, strict=False)
    ]
    note = interval_note(result_json("box", points, [], {"draws": 1}))
    assert (
        "draws of the posterior, no discrepancy (1 of 3 points); no draws of parameters, no discrepancy (2 of" in note
    )
    assert "the prediction included" in note
    assert not interval_note(result_json("box", [], [], {"draws": 1}))


@pytest.mark.core
def test_points_that_no_scenario_can_stand_for_are_not_predicted_and_said_to_be(tmp_path: Path) -> None:
    _, profile = PROFILES.load("alembert")
    documents = [rates("a", {1: [3e5]}), *(rates(kind, {1: [1.0], 2: [2.0]}, kind=kind) for kind in OTHER_KINDS)]
    datasets = [read_dataset(write(tmp_path, document)) for document in documents]
    evaluator = SimpleNamespace(run=lambda tasks: [3e5] * len(tasks))
    points, unpredicted = predict(profile, datasets, [mapping()], cast("Any", evaluator), messages=100, draws=1)
    assert [point.dataset.name for point in points] == ["a"]
    assert [one.dataset.name for one in unpredicted] == ["ucx-perftest"] * 2
    assert '/workload/kind: found "ucx-perftest"; can be simulated: multirate' in unpredicted[0].reason


@pytest.mark.core
def test_a_profile_without_calibration_predicts_from_the_ranges_of_its_values(tmp_path: Path, capsys: Any) -> None:
    dataset = str(REPOSITORY / "validation" / "data" / "vm-2core" / "openmpi-5_tcp_shared.json")
    words = ["--messages", "200", "--draws", "2", "--quiet", "--out", str(tmp_path)]
    assert main(["validate", "vm-2core", dataset, *words]) == 0
    written = json.loads((tmp_path / "validation.json").read_text())
    for point in written["points"]:
        assert point["predicted"]["interval_from"] == "draws from the ranges of the profile's values, no discrepancy"
        low, high = point["predicted"]["ci95"]
        assert low <= point["predicted"]["median"] <= high
    assert "They are made of draws from the ranges" in (tmp_path / "validation.md").read_text()
    capsys.readouterr()


@pytest.mark.parametrize("draws", [[1e5], [1.2e5, 1.4e5], [1.2e5] * 7])
def test_few_draws_on_one_side_leave_room_on_the_other(draws: list[float]) -> None:
    mean = 1e5
    low, high = interval(mean, np.array(draws), [0.0], 0.1, seed=1)
    assert low < 0.95 * mean
    assert high > max(draws)


def test_a_table_names_units_and_what_its_spread_is(tmp_path: Path) -> None:
    one = curve(tmp_path, "a", lambda _n: 1e5)
    point = Predicted(one, one.points[0], 1e5, 9e4, 2e5, held_out=True, stand_in="")
    result = result_json("box", [point], [], {"draws": 1})
    (row,) = point_rows(result)
    cov = result["points"][0]["measured"]["cov"]
    assert row[2] == "1e+05 msg/s" + ("" if cov is None else f" ({cov:.0%})")
    assert POINT_HEAD[2] == "measured (CoV)"
