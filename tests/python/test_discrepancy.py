"""How wrong a model is where it was not fitted: scales from residuals, and thread counts that are left out."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest
from scipy import stats

from calibrating import launched_each, mapping, rates, write
from contend.accuracy.draws import left_out_discrepancy
from contend.accuracy.interval import interval
from contend.accuracy.predict import predict
from contend.accuracy.predicted import Predicted
from contend.calibrate import part_fit
from contend.calibrate.cross_validation import Residual, counts_of, cross_validate
from contend.calibrate.discrepancy import QUANTILES, estimate, scales
from contend.calibrate.evaluations import Task
from contend.calibrate.inputs import Inputs
from contend.calibrate.likelihood import DEGREES_OF_FREEDOM
from contend.calibrate.options import Options
from contend.calibrate.pipeline import KeptFits, calibrate, leave_out_again
from contend.calibrate.problem import Parameter, Problem, Target
from contend.calibrate.profile import calibrated_profile, kept_fits, profile_bytes, with_folds
from contend.calibrate.recovery import Silence
from contend.calibrate.split import choose_split
from contend.common.documents import get_path
from contend.common.errors import InputError
from contend.datasets.reading import read_dataset, read_datasets
from contend.profiles.catalogs import PROFILES
from contend.profiles.prices import parse_price

if TYPE_CHECKING:
    import numpy.typing as npt

    from contend.calibrate.evaluations import Evaluator

A, B = ("alib", "tcp"), ("blib", "tcp")
NOISE = 0.05


def drawn(stream: np.random.Generator, count: int, discrepancy: float) -> "tuple[npt.NDArray[np.float64], ...]":
    return stream.normal(0, math.hypot(discrepancy, NOISE), count), np.full(count, NOISE)


def half_width(draws: Sequence[float], noise: float = 0.0, share: float = 0.95) -> float:
    """Half of the interval of a residual, in logarithms, at a point with that noise."""
    widths = np.hypot(np.asarray(draws, dtype=float), noise)
    low, high = 0.0, 200.0 * float(widths.max())
    for _ in range(60):
        at = (low + high) / 2
        inside = float(np.mean(stats.t.cdf(at / widths, DEGREES_OF_FREEDOM) * 2 - 1))
        low, high = (at, high) if inside < share else (low, at)
    return high


@pytest.mark.parametrize("discrepancy", [0.05, 0.3])
def test_a_known_discrepancy_is_covered_about_as_often_as_it_should(discrepancy: float) -> None:
    """A dozen points and three of a library: 95 % of new points, with few residuals some more."""
    stream = np.random.default_rng(1)
    inside = {A: 0, B: 0}
    widths: list[float] = []
    trials = 150
    for _ in range(trials):
        found = scales({A: drawn(stream, 12, discrepancy), B: drawn(stream, 3, discrepancy)})
        for key in (A, B):
            width = half_width(found[key], NOISE)
            inside[key] += abs(stream.normal(0, math.hypot(discrepancy, NOISE))) <= width
            widths.append(width)
    for key in (A, B):
        assert 0.90 <= inside[key] / trials <= 1.0
    # No gift: the interval that one would make who knew the scale is 1.96 of it.
    assert np.median(widths) < 2 * 1.96 * math.hypot(discrepancy, NOISE)


def test_without_discrepancy_intervals_stay_what_noise_makes_them() -> None:
    stream = np.random.default_rng(2)
    exact = 2.776 * NOISE  # Student's t with 4 degrees of freedom
    widths = [half_width(scales({A: drawn(stream, 12, 0.0)})[A], NOISE) for _ in range(30)]
    assert np.median(widths) < 1.5 * exact
    assert min(widths) >= exact


def test_few_points_are_drawn_to_what_all_others_say() -> None:
    stream = np.random.default_rng(3)
    few = (np.array([0.02, -0.03]), np.full(2, 0.01))
    alone = np.median(scales({A: few})[A])
    beside = scales({A: few, B: drawn(stream, 40, 0.5)})
    assert 1.3 * alone < np.median(beside[A]) < 0.8 * np.median(beside[B])
    # What a library is like of which nothing is known lies between, and is known less.
    assert np.median(beside[A]) < np.median(beside[None]) < np.median(beside[B])
    assert np.ptp(np.log(beside[None])) > np.ptp(np.log(beside[B]))


def test_one_far_point_of_many_does_not_widen_all_intervals_to_itself() -> None:
    values = np.array([0.03, -0.05, 0.02, -0.04, 0.06, -0.02, 0.01, 0.05, -0.03, 0.04, -0.01, 1.0])
    width = half_width(scales({A: (values, np.full(12, 0.02))})[A])
    assert 0.1 < width < 0.5


def test_a_failed_simulation_counts_as_an_impossible_miss() -> None:
    good = scales({A: (np.zeros(6), np.full(6, NOISE))})[A]
    failed = scales({A: (np.array([0, 0, 0, 0, 0, math.nan]), np.full(6, NOISE))})[A]
    assert np.median(failed) > 1.2 * np.median(good)


class Model:
    """Every rate is that of one pair at the parameter's value, times what the number of pairs makes of it.

    The simulation's noise is that of its replications.
    """

    simulated = found = steps = 0

    def __init__(self, noise: float = 0.0) -> None:
        self.noise = noise

    def run(self, tasks: Sequence[Task]) -> list[float]:
        return [self.rate(json.loads(task.config), task.replication) for task in tasks]

    def rate(self, config: dict[str, Any], replication: int) -> float:
        seconds = parse_price(config["machine"]["x"]["p"]).value
        luck = np.random.default_rng((replication, config["pairs"])).normal(0, self.noise) if self.noise else 0.0
        if config["pairs"] == 16 and "q" in config["machine"]["x"]:
            seconds = math.sqrt(seconds * parse_price(config["machine"]["x"]["q"]).value)
        return float(math.exp(luck) * config["pairs"] ** 0.5 / seconds)


def problem_of(tmp_path: Path, wrong: dict[int, float]) -> Problem:
    """Measured: a microsecond's rates, with logarithms that the model does not have."""
    names = ("a", "b", "c")
    targets = []
    for name in names:
        measured = {pairs: [math.exp(off) * pairs**0.5 * 1e6] * 3 for pairs, off in wrong.items()}
        one = read_dataset(write(tmp_path, rates(name, measured)))
        targets += [
            Target(one, point, {"pairs": point.parameters["pairs"], "machine": {"x": {"p": "1 us"}}}, (0,), "rate")
            for point in one.points
        ]
    return Problem([Parameter("machine.x.p", "alib", "time", 1e-7, 1e-5, 1e-6)], targets)


def folds_of(problem: Problem, noise: float = 0.0) -> dict[int, Any]:
    evaluator = cast("Evaluator", Model(noise))
    total = np.hypot(np.full(len(problem.targets), 0.01), noise)
    return {fold.threads: fold for fold in cross_validate(problem, evaluator, total, seed=1)}


def test_each_thread_count_is_predicted_by_a_fit_to_the_others(tmp_path: Path) -> None:
    folds = folds_of(problem_of(tmp_path, {1: 0.0, 4: 0.0, 16: 0.5}))
    assert sorted(folds) == [1, 4, 16]
    assert all(abs(one.value - 0.5) < 0.05 for one in folds[16].residuals)
    assert [one.target.point.parameters["pairs"] for one in folds[16].residuals] == [16, 16, 16]
    assert folds[16].place[0] == pytest.approx(0.5, abs=0.02)  # a microsecond: what 16 pairs say is not seen


def test_what_is_left_out_decides_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even by the whole fit, which has seen it."""
    monkeypatch.setattr(part_fit, "posterior_of", lambda *_, **__: (None, "for this test", None))
    parts = []
    for name, wrong in (("one", 0.1), ("other", -1.5)):
        (tmp_path / name).mkdir()
        problem = problem_of(tmp_path / name, {1: 0.0, 4: wrong, 16: 0.0})
        evaluator = cast("Evaluator", Model(0.03))
        part, _ = part_fit.fit_part(problem, evaluator, Options(starts=1), Silence(), math.inf)
        assert part is not None
        parts.append(part)
    places = [{fold.threads: fold.place.tolist() for fold in part.folds} for part in parts]
    assert parts[0].place.tolist() != parts[1].place.tolist()
    assert places[0][4] == places[1][4]
    assert places[0][1] != places[1][1]


def test_the_discrepancy_of_an_exact_model_is_small_and_that_of_a_wrong_one_is_not(tmp_path: Path) -> None:
    (tmp_path / "wrong").mkdir()
    medians = []
    for folder, wrong in ((tmp_path, 0.0), (tmp_path / "wrong", 0.4)):
        problem = problem_of(folder, {1: wrong, 4: -wrong, 16: wrong})
        found = estimate([one for fold in folds_of(problem, 0.03).values() for one in fold.residuals])
        assert found is not None
        assert found.groups[A].points == 9
        medians.append(found.groups[A].median)
    assert medians[0] < 0.05
    assert medians[1] > 0.3


def test_one_thread_count_cannot_be_left_out(tmp_path: Path) -> None:
    problem = problem_of(tmp_path, {4: 0.0})
    assert counts_of(problem) == []
    assert not folds_of(problem)
    assert estimate([]) is None


def test_points_that_do_not_feel_a_parameter_judge_no_model(tmp_path: Path) -> None:
    """A fit to one thread says nothing of what lines cost: where it ended was taken for an error of the model."""
    problem = problem_of(tmp_path, {1: 0.0, 4: 0.0, 16: 0.0})
    felt_by_sixteen = Parameter("machine.x.q", "alib", "time", 1e-7, 1e-5, 1e-6)
    targets = [
        replace(target, unknowns=(0, 1) if target.config["pairs"] == 16 else (0,), config=_with_second(target.config))
        for target in problem.targets
    ]
    found = folds_of(Problem([*problem.parameters, felt_by_sixteen], targets))
    assert sorted(found) == [1, 4]


def _with_second(config: dict[str, Any]) -> dict[str, Any]:
    return config | {"machine": {"x": {"p": "1 us", "q": "1 us"}}}


def test_residuals_are_grouped_by_library_and_transport(tmp_path: Path) -> None:
    (target,) = problem_of(tmp_path, {4: 0.0}).targets[:1]
    found = estimate([Residual(target, 0.1, 0.02), Residual(target, -0.2, 0.02)])
    assert found is not None
    assert list(found.groups) == [A]
    low, high = found.groups[A].interval
    assert low < found.groups[A].median < high
    assert len(found.groups[A].draws) == len(found.others.draws) == QUANTILES


def test_a_prediction_takes_the_discrepancy_of_its_library_over_its_transport(tmp_path: Path) -> None:
    (target,) = problem_of(tmp_path, {4: 0.0}).targets[:1]
    own = {"library": "alib", "transport": "tcp", "draws": [0.1, 0.2, 0.3]}
    another = {"library": "alib", "transport": "shm", "draws": [0.7]}
    record = {"groups": [another, own], "others": {"draws": [0.5]}}
    drawn_ = left_out_discrepancy({"calibration": {"discrepancy": record}}, target, 3, 1)
    assert sorted(drawn_) == pytest.approx([0.1 + 0.2 / 6, 0.2, 0.3 - 0.2 / 6])
    only = {"groups": [another], "others": {"draws": [0.5]}}
    assert left_out_discrepancy({"calibration": {"discrepancy": only}}, target, 2, 1) == [0.5, 0.5]
    for nothing in ({}, {"calibration": {}}):
        assert left_out_discrepancy(nothing, target, 2, 1) == []


@pytest.mark.parametrize("count", [0, 1])
def test_with_a_draw_or_none_the_whole_discrepancy_is_in_an_interval(tmp_path: Path, count: int) -> None:
    """Its median alone says that half of the scales that may be are nothing."""
    (target,) = problem_of(tmp_path, {4: 0.0}).targets[:1]
    scales = np.geomspace(0.02, 1.0, 200)
    record = {"groups": [], "others": {"draws": list(scales)}}
    found = left_out_discrepancy({"calibration": {"discrepancy": record}}, target, count, 1)
    assert len(found) == 64
    low, high = interval(100.0, np.full(count, 100.0), found, 0.0, 1)
    assert math.log(high / low) / 2 == pytest.approx(half_width(scales), rel=0.1)
    assert math.log(high / low) / 2 > 1.5 * half_width([float(np.median(scales))])


def test_one_draw_beside_the_prediction_has_it_beside_itself() -> None:
    low, high = interval(100.0, np.array([120.0]), [0.05] * 64, 0.0, 1)
    assert low < 95
    assert high > 125


class PricedCall(Model):
    """The same rates in whole scenarios, whose parameter is the price of a receive."""

    def rate(self, config: dict[str, Any], replication: int) -> float:
        pairs, price = config["workload"]["pairs"], get_path(config, "machine.software.receive_call")
        return super().rate({"pairs": pairs, "machine": {"x": {"p": price}}}, replication)


@pytest.mark.core
class TestFromDatasetsToIntervals:
    """Calibrations on every second thread count, with a model wrong by known amounts, and predictions of the others."""

    def held_out(self, tmp_path: Path, discrepancy: float, *, posterior: bool = True) -> list[Predicted]:
        stream = np.random.default_rng(4)
        for name in "abcd":
            medians = {n: n**0.5 / 3e-7 * math.exp(stream.normal(0, discrepancy)) for n in (1, 2, 4, 8, 12, 16)}
            samples = {n: list(rate * np.exp(stream.normal(0, 0.02, 6))) for n, rate in medians.items()}
            write(tmp_path, launched_each(rates(name, samples)))
        datasets, priced = read_datasets([tmp_path]), mapping()
        evaluator, base = cast("Evaluator", PricedCall(0.02)), PROFILES.load("alembert")[1]
        options = Options(starts=1, messages=200)
        data = (Inputs(datasets, base, [priced], choose_split(datasets)), evaluator, options, Silence())
        made = json.loads(profile_bytes(calibrated_profile(base, "alembert", "made", calibrate(*data), {})))
        self.check_that_fits_can_be_kept(made, data)
        (fit,) = made["calibration"]["fits"]
        assert [fold["left_out"] for fold in fit["cross_validation"]["folds"]] == [1, 4, 12]
        assert made["calibration"]["discrepancy"]["groups"][0]["points"] == 12
        assert "draws" in fit["posterior"]
        if not posterior:
            fit["posterior"] = {"refused": "for this test"}
        points, _ = predict(made, datasets, [priced], evaluator, messages=200, draws=12)
        return [point for point in points if point.held_out]

    def check_that_fits_can_be_kept(self, made: dict[str, Any], data: Any) -> None:
        again = with_folds(made, leave_out_again(*data, kept_fits(made)))
        one, other = (document["calibration"].pop("discrepancy") for document in (json.loads(json.dumps(made)), again))
        assert one["groups"][0]["median"] == pytest.approx(other["groups"][0]["median"], rel=0.2)
        assert len(other["groups"][0]["draws"]) == QUANTILES
        for document in (again, (whole := json.loads(json.dumps(made)))):
            document["calibration"].pop("discrepancy", None)
            document["calibration"]["fits"][0].pop("cross_validation")
        assert again == whole
        with pytest.raises(InputError, match="calibrate again"):
            leave_out_again(*data, KeptFits([], [], None))
        slowed = {"machine.slow_cores.share": 0.5, "machine.slow_cores.slowdown": 1.5}
        with pytest.raises(InputError, match="of other slow cores: calibrate again"):
            leave_out_again(*data, replace(kept_fits(made), slow_cores=slowed))

    @pytest.mark.parametrize("posterior", [True, False])
    def test_a_wrong_model_covers_about_what_it_should(self, tmp_path: Path, posterior: bool) -> None:  # noqa: FBT001
        points = self.held_out(tmp_path, 0.3, posterior=posterior)
        assert len(points) == 12
        assert sum(point.covered for point in points) >= 11
        # Knowing the discrepancy one would say 0.6 either way.
        assert all(0.4 < math.log(point.high / point.low) / 2 < 1.5 for point in points)

    def test_an_exact_model_has_narrow_intervals(self, tmp_path: Path) -> None:
        points = self.held_out(tmp_path, 0.0)
        assert sum(point.covered for point in points) >= 11
        assert all(math.log(point.high / point.low) / 2 < 0.2 for point in points)
