"""The stages of a calibration one by one, with simulators that are none."""

import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from calibrating import rates, write
from contend.calibrate import expected, part_fit, pipeline
from contend.calibrate import profile as written
from contend.calibrate.edges import warnings
from contend.calibrate.evaluations import Task
from contend.calibrate.fit_record import part_json
from contend.calibrate.options import STEPS_PER_SECOND, Options
from contend.calibrate.parts import Part
from contend.calibrate.posterior import Posterior
from contend.calibrate.problem import Parameter, Problem, Target
from contend.calibrate.search import Screening
from contend.calibrate.sensitivity import Sight, Verdict
from contend.datasets.reading import read_dataset


def contend_seconds(text: str) -> float:
    from contend.profiles.prices import parse_price

    return parse_price(text).value


def test_each_part_has_its_share_of_the_budget_whatever_stages_of_others_took(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluator = SimpleNamespace(simulated=0, found=0, steps=100)
    shares = []

    def fit_part(*arguments: Any) -> tuple[str, list[Any]]:
        shares.append(arguments[4] - evaluator.steps)
        evaluator.steps += 10**12
        return "a part", []

    problem = SimpleNamespace(targets=[SimpleNamespace(unknowns=(0,))], dimensions=1, refuse=lambda _: None)
    prepared = SimpleNamespace(problem=problem, identified=[], parts=[], slow_cores=None)
    monkeypatch.setattr(pipeline, "_prepared", lambda *_: prepared)
    monkeypatch.setattr(pipeline, "components", lambda _: ["first", "second"])
    monkeypatch.setattr(pipeline, "planned", lambda *_: 0)
    monkeypatch.setattr(pipeline, "fit_part", fit_part)
    reporter = SimpleNamespace(plan=lambda _: None)
    pipeline.calibrate(cast("Any", None), cast("Any", evaluator), Options(budget_s=60.0), cast("Any", reporter))
    assert shares == [30 * STEPS_PER_SECOND] * 2


def test_the_search_is_not_expected_to_outlast_its_budget() -> None:
    problem = cast("Any", SimpleNamespace(targets=[0, 1], dimensions=3))
    all_of_it = 2 * expected.places_of_search(3, 2)
    beyond = [expected.beyond_budget(problem, Options(starts=2), 50.0, left) for left in (-1000, 1000, 10**8)]
    assert beyond == [all_of_it, all_of_it - 20, 0]


def test_errors_are_percent_and_no_logarithms(tmp_path: Path) -> None:
    one = read_dataset(write(tmp_path, rates("a", {1: [1e6, 1.01e6]})))
    problem = Problem([], [Target(one, one.points[0], {}, (), "message_rate")])
    off, nothing = np.log([1.5]), Screening(np.empty((0, 0)), np.empty((0, 0)))
    part = Part(problem, nothing, [], None, np.empty(0), problem.measured + off, off, None, "", off, 9)
    fit = part_json(part, draws=1, seed=1)
    assert fit["emulator"]["error_pct"] == {"median": 50.0, "largest": 50.0}
    assert (fit["points"][0]["error_pct"], fit["points"][0]["noise_pct"]) == (50.0, 50.0)


def test_points_at_which_an_emulator_is_imprecise_are_listed(tmp_path: Path) -> None:
    """It is accepted by the median, which says nothing of single points. Of noise and discrepancy half is allowed."""
    one = read_dataset(write(tmp_path, rates("a", {pairs: [1e6, 1.01e6] for pairs in (1, 2, 4, 8)})))
    problem = Problem([], [Target(one, point, {}, (), "message_rate") for point in one.points])
    noise, nothing = np.full(4, 0.12), Screening(np.empty((0, 0)), np.empty((0, 0)))
    errors = np.array([0.01, 0.064, 0.13, np.inf])  # with 5 % of discrepancy the scale is 0.13
    part = Part(problem, nothing, [], None, np.empty(0), problem.measured, noise, None, "", errors, 9)
    assert part_json(part, draws=1, seed=1)["emulator"]["imprecise_at"] == [
        {"dataset": "a", "parameters": {"pairs": 4}, "of_noise_and_discrepancy": 1.0},
        {"dataset": "a", "parameters": {"pairs": 8}, "of_noise_and_discrepancy": None},
    ]


class Sum:
    """A simulator whose message takes as long as all its prices together."""

    def __init__(self) -> None:
        self.calls = 0

    def run(self, tasks: Sequence[Task]) -> list[float]:
        self.calls += len(tasks)
        assert {task.replication for task in tasks} == {0}
        return [1 / sum(map(contend_seconds, json.loads(task.config)["machine"].values())) for task in tasks]


def test_parameters_are_set_back_one_by_one_the_loosest_first(tmp_path: Path) -> None:
    """One that matters keeps its fitted value, though it is the loosest, and two that do not matter go back."""
    one = read_dataset(write(tmp_path, rates("a", {1: [1e6, 1.01e6]})))
    names = ("little", "most", "less", "known")
    fitted, base_values = [4e-9, 9.9e-7, 2e-9, 1e-9], [1e-9, 1e-7, 1e-9, 1e-9]
    parameters = [
        Parameter(f"machine.{name}", "machine", "time", 1e-10, 1e-5, value)
        for name, value in zip(names, base_values, strict=True)
    ]
    config = {"machine": dict(zip(names, ("1 ns", "100 ns", "1 ns", "1 ns"), strict=True))}
    problem = Problem(parameters, [Target(one, one.points[0], config, (0, 1, 2, 3), "message_rate")])
    place = np.array([p.position(value) for p, value in zip(parameters, fitted, strict=True)])
    sights = [Sight("known", Verdict.identified, 5.0, "a", None, 0.1)]
    sights += [
        Sight(name, Verdict.not_identified, 5.0, "a", None, spread)
        for name, spread in (("little", 0.82), ("most", 0.99), ("less", 0.9))
    ]
    nothing = Screening(np.empty((0, 0)), np.empty((0, 0)))
    part = Part(problem, nothing, [0, 1, 2, 3], None, place, np.empty(0), np.array([0.01]), None, "", None, 0, sights)
    evaluator = Sum()
    part_fit._set_back(part, cast("Any", evaluator))
    assert part.reset == ("less", "little")
    assert part.value(1) == pytest.approx(9.9e-7)
    assert part.value(0) == 1e-9
    assert part.settled == [1, 3]
    assert evaluator.calls == 4


class TestValuesAtTheEdge:
    """Four parameters from 10 ns to 1 us, of which a posterior knows an interval from a quarter to three quarters."""

    NAMES = ("pinned", "inside", "beyond", "back")

    def part(self, tmp_path: Path, *, has_posterior: bool = True) -> Part:
        one = read_dataset(write(tmp_path, rates("a", {1: [1e6, 1.01e6]})))
        parameters = [Parameter(f"machine.nic.{name}", "tcp", "time", 1e-8, 1e-6, 1e-7) for name in self.NAMES]
        problem = Problem(parameters, [Target(one, one.points[0], {}, (0, 1, 2, 3), "message_rate")])
        draws = np.tile(np.linspace(0.25, 0.75, 101)[:, None], (1, 4))
        posterior = Posterior(draws, np.full(101, 0.1), 1000, 10.0, 1.0, 0.5) if has_posterior else None
        sights = [Sight(name, Verdict.weak, 1.0, "a", None, 0.5) for name in self.NAMES]
        place, nothing = np.array([0.004, 0.5, 0.9, 0.0]), Screening(np.empty((0, 0)), np.empty((0, 0)))
        why = "" if has_posterior else "it is not converged"
        off = problem.measured
        return Part(problem, nothing, [0, 1, 2, 3], None, place, off, off, posterior, why, None, 0, sights,
                    ("nic.back@tcp",))  # fmt: skip

    def test_they_are_named_and_so_are_intervals_without_their_value(self, tmp_path: Path) -> None:
        part = self.part(tmp_path)
        fit = part_json(part, draws=2, seed=1)
        assert fit["at_edge_of_range"] == {"nic.pinned@tcp": "lower"}
        assert fit["outside_of_interval95"] == ["nic.pinned@tcp", "nic.beyond@tcp"]
        first, second = warnings([part])
        assert first.startswith("1 value lies at the edge of its range: the model cannot reach these data, or")
        assert first.endswith(": nic.pinned@tcp")
        assert second.startswith("1 value lies outside of its 95 % interval")
        assert second.endswith(": nic.beyond@tcp")

    def test_an_entry_says_when_its_interval_is_without_its_value(self, tmp_path: Path) -> None:
        part = self.part(tmp_path)
        pinned, inside, beyond = (written._fitted_entry(part, index, {}) for index in range(3))
        assert pinned
        assert inside
        assert beyond
        assert pinned["uncertainty"].endswith(
            ", 95 %, which does not contain the value; the value lies at the lower end of its range, 10 ns"
        )
        assert inside["uncertainty"].endswith(", 95 %")
        assert beyond["uncertainty"].endswith(", 95 %, which does not contain the value")

    def test_without_posterior_there_is_still_an_edge(self, tmp_path: Path) -> None:
        part = self.part(tmp_path, has_posterior=False)
        entry = written._fitted_entry(part, 0, {})
        assert entry
        assert entry["uncertainty"].endswith("not converged; the value lies at the lower end of its range, 10 ns")
        assert warnings([self.part(tmp_path)] * 2)[0].startswith("2 values lie at the edge of their range")
