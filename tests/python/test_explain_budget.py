"""`contend explain` in a given time: what is shortened, left out, and kept."""

import json
import math
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

import contend
from contend.cli import main
from contend.common.statistics import estimate
from contend.engine.runner import PointRuns
from contend.explanations.explanation import explain
from contend.explanations.speedups import (
    HALVED,
    REMOVED,
    Change,
    Effort,
    Findings,
    Speedup,
    _less,
    _note,
    changes,
    choose_effort,
    find_speedups,
)
from contend.scenarios.resolution import Point
from explaining import BASE, SMALL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contend.results.measures import Measure

Capture = pytest.CaptureFixture[str]


def _point(replications: int, iterations: int | None) -> Point:
    workload = {"warmup_iterations": 2} if iterations is None else {"warmup_iterations": 2, "iterations": iterations}
    return Point({}, {"workload": workload, "run": {"replications": replications}})


@pytest.mark.parametrize(
    ("replications", "iterations", "run_s", "budget_s", "wanted"),
    [
        (5, 100, 1.0, 1000.0, (5, 100, False)),  # exactly everything
        (5, 100, 1.0, math.inf, (5, 100, False)),
        (5, 100, 1.0, 800.0, (4, 100, False)),  # replications go first
        (2, 100, 1.0, 400.0, (2, 100, False)),  # two were asked for
        (5, 100, 1.0, 306.0, (3, 49, False)),  # half of 102 iterations, with the warm-up
        (5, 100, 10.0, 306.0, (3, 100, True)),  # 3 iterations tell too little
        (5, 100, 30.0, 306.0, (3, 31, True)),
        (5, 100, 3000.0, 306.0, None),
        (5, None, 1.0, 306.0, (5, None, True)),
        (5, 100, 0.0, 0.0, (5, 100, False)),
    ],
)
def test_the_effort_is_the_most_that_fits(
    replications: int,
    iterations: int | None,
    run_s: float,
    budget_s: float,
    wanted: tuple[int, int | None, bool] | None,
) -> None:
    effort = choose_effort(_point(replications, iterations), run_s, 380, 20, jobs=2, budget_s=budget_s)
    if wanted is None:
        assert effort is None
        return
    assert effort is not None
    assert (effort.replications, effort.iterations, effort.groups_only) == wanted
    assert effort.takes_s <= budget_s


def test_what_a_shorter_run_takes_has_the_warm_up_and_the_unchanged_point() -> None:
    """Three replications of 401 changes with 51 of 102 iterations, warm-up included, two at once."""
    effort = choose_effort(_point(5, 100), 1.0, 380, 20, jobs=2, budget_s=306.0)
    assert effort is not None
    assert effort.takes_s == pytest.approx(401 * 3 * (49 + 2) / 102 / 2)


@pytest.mark.parametrize(("budget_s", "wanted"), [(3.71, 4), (3.70, None)])
def test_four_iterations_are_the_least(budget_s: float, wanted: int | None) -> None:
    """With the warm-up 6 of 102: 21 changes, three replications of 2 s, two at once, are 3.706 s."""
    effort = choose_effort(_point(3, 100), 2.0, 0, 20, jobs=2, budget_s=budget_s)
    assert (effort and effort.iterations) == wanted


def test_two_replications_that_were_asked_for_are_not_three() -> None:
    effort = choose_effort(_point(2, None), 1.0, 0, 20, jobs=1, budget_s=45.0)
    assert effort == Effort(2, None, groups_only=True, takes_s=40.0)
    assert choose_effort(_point(2, 100), 1.0, 0, 20, jobs=1, budget_s=25.0) == Effort(
        2, 58, groups_only=True, takes_s=21 * 2 * 60 / 102
    )


RATE, TIME = (SimpleNamespace(name="rate", less_is_better=less) for less in (False, True))


def _noted(
    *values: float, factor: float = REMOVED, measure: Any = RATE, base: "Sequence[float]" = (2.0, 4.0)
) -> Speedup:
    speedup = Speedup("a", ("machine.a",), "1 ns", "")
    change = Change("a", ("machine.a",), factor, {}, ("machine.a",))
    runs = PointRuns(_point(len(base), 1), [{"rate": value} for value in values])
    _note(speedup, change, runs, measure, base)
    return speedup


def test_costs_at_a_bound_are_those_that_removing_leaves() -> None:
    assert _noted(3.0, 6.0).bounded == ("machine.a",)
    assert _noted(3.0, 6.0, factor=HALVED).bounded == ()


def test_a_speed_up_needs_all_its_replications() -> None:
    assert not _noted(3.0).is_known
    found = _noted(3.0, 8.0)
    assert found.removed is not None
    assert found.removed.samples == (1.5, 2.0)
    assert found.halved is None


def test_a_rate_may_be_zero_and_a_time_may_not() -> None:
    found = _noted(0.0, 0.0)
    assert found.removed is not None
    assert found.removed.mean == 0.0
    assert _noted(0.0, 1.0, measure=TIME).failures == {"removed": "no time is left"}


def test_speed_ups_are_ranked_by_what_removing_does() -> None:
    speedup = Speedup("a", ("machine.a",), "1 ns", "", halved=estimate([1.1, 1.1]), removed=estimate([1.5, 1.5]))
    assert speedup.effect == pytest.approx(0.5)
    speedup.removed = None
    assert speedup.effect == pytest.approx(0.1)


@pytest.mark.parametrize(("seconds", "text"), [(89.0, "89 seconds"), (90.0, "2 minutes"), (600.0, "10 minutes")])
def test_short_times_are_said_in_seconds(seconds: float, text: str) -> None:
    effort = Effort(3, 100, groups_only=False, takes_s=1.0)
    assert f"would take about {text}," in _less(_point(5, 100), effort, seconds, 1.0, is_coarser=False)


@pytest.mark.parametrize(
    ("effort", "said"),
    [
        (Effort(5, 100, True, 1.0), "are of groups of costs: everything"),
        (Effort(3, 100, False, 1.0), "are from 3 replications in place of 5 replications: everything"),
        (Effort(5, 9, False, 1.0), "are from 9 iterations in place of 100: everything"),
        (
            Effort(3, 9, True, 1.0),
            "are of groups of costs, from 3 replications of 9 iterations in place of 5 replications of 100 iterations:",
        ),
    ],
)
def test_the_note_says_only_what_was_shortened(effort: Effort, said: str) -> None:
    assert said in _less(_point(5, 100), effort, 60.0, 10.0, is_coarser=effort.groups_only)


@pytest.mark.core
class TestSpeedUpsThatAreLeftOut:
    def test_a_design_that_breaks_under_a_change_says_so(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from contend.common.errors import SimulationFailedError
        from contend.engine import runner

        original = runner.CoreEngine.run_point

        def fragile(self: runner.CoreEngine, point: Point, replication: int, *, trace_hash: bool) -> str:
            if point.config["machine"]["nic"]["doorbell"] == "0 ns":
                raise SimulationFailedError("deadlock at 5 ps:\n  thread a waits")
            return original(self, point, replication, trace_hash=trace_hash)

        monkeypatch.setattr(runner.CoreEngine, "run_point", fragile)
        resolved = contend.resolve(BASE, {**SMALL, "workload.pairs": 1})
        explanation = explain(resolved, resolved.points[0], jobs=2)
        entry = next(entry for entry in explanation.speedups if entry.name == "nic.doorbell")
        assert entry.failures == {"removed": "deadlock at 5 ps:"}
        assert entry.removed is None
        assert entry.halved is not None

    def test_a_short_budget_gives_shorter_runs_and_says_so(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def at_a_second_a_run(  # whatever the machine needs for one
            point: Point,
            measure: "Measure",
            rates: "Sequence[float]",
            run_s: float,
            *,
            jobs: int,
            budget_s: float,
            **others: Any,
        ) -> Findings:
            assert run_s > 0
            return find_speedups(point, measure, rates, 1.0, jobs=jobs, budget_s=budget_s, **others)

        monkeypatch.setattr("contend.explanations.explanation.find_speedups", at_a_second_a_run)
        resolved = contend.resolve(BASE, {**SMALL, "run.replications": 6, "workload.iterations": 40})
        point = resolved.points[0]
        whole_s = 6.0 * sum(len(pair) for _, pair in changes(point))
        explanation = explain(resolved, point, jobs=1, budget_s=whole_s / 8)
        effort = explanation.effort
        assert effort is not None
        assert (effort.replications, effort.groups_only) == (3, False)
        assert effort.iterations is not None
        assert 4 <= effort.iterations < 40
        assert (
            f"3 replications of {effort.iterations} iterations in place of 6 replications of 40"
            in explanation.remarks[0]
        )
        document = explanation.to_json()
        assert document["speedups_from"]["iterations"] == effort.iterations
        # The ratios are those of runs of that length.
        short = {**SMALL, "run.replications": 3, "workload.iterations": effort.iterations}
        plain = contend.run(BASE, short).points[0].message_rate
        cheaper = contend.run(BASE, {**short, "machine.software.send_call": "0 ns"}).points[0].message_rate
        assert plain is not None
        assert cheaper is not None
        assert explanation.speedups_rate == plain
        entry = next(entry for entry in explanation.speedups if entry.name == "software.send_call")
        assert entry.removed is not None
        assert entry.removed.samples == pytest.approx(
            [a / b for a, b in zip(cheaper.samples, plain.samples, strict=True)]
        )

    def test_groups_alone_are_a_part_of_all(self) -> None:
        """The same numbers, of fewer simulations; nothing was left out that was asked for, so nothing is said."""
        resolved = contend.resolve(BASE, {**SMALL, "workload.pairs": 1})
        point = resolved.points[0]
        all_of_them = explain(resolved, point, jobs=2)
        alone = explain(resolved, point, jobs=2, groups_only=True)
        assert alone.effort is not None
        assert alone.effort.groups_only
        assert alone.remarks == all_of_them.remarks
        grouped = {path for entry in all_of_them.speedups if entry.is_group for path in entry.paths}
        wanted = [entry for entry in all_of_them.speedups if entry.is_group or not grouped.issuperset(entry.paths)]
        assert 0 < len(wanted) < len(all_of_them.speedups) / 2
        assert [entry.to_json() for entry in alone.speedups] == [entry.to_json() for entry in wanted]

    def test_which_groups_and_none_contradict_each_other(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["explain", "fig5_2a_base", "--groups-only", "--no-speedups"]) == 2
        assert "--groups-only says which costs are lowered, and --no-speedups that none is" in capsys.readouterr().err

    def test_no_time_gives_no_speedups(self) -> None:
        resolved = contend.resolve(BASE, SMALL)
        explanation = contend.explain(contend.load(BASE).with_(SMALL), budget_s=0.0)
        assert explanation.speedups == []
        assert "left out" in explanation.remarks[0]
        assert explanation.rate == explain(resolved, resolved.points[0], jobs=2, speedups=False).rate

    @pytest.mark.parametrize("wrong", [-1.0, float("nan")])
    def test_a_time_below_none_is_refused(self, wrong: float) -> None:
        with pytest.raises(contend.InputError, match="allowed: a time in seconds from 0 on"):
            contend.explain(contend.load(BASE).with_(SMALL), budget_s=wrong)

    def test_a_simulation_that_was_stopped_is_no_failing_change(self) -> None:
        from contend.explanations.speedups import _Tolerant

        engine = _Tolerant()
        point = contend.resolve(BASE, SMALL).points[0]
        engine.stop()
        with pytest.raises(contend.SimulationFailedError, match="stopped"):
            engine.run_point(point, 0, trace_hash=False)
        engine.reset()
        assert "message_rate" in json.loads(engine.run_point(point, 0, trace_hash=False))

    def test_ctrl_c_keeps_the_speedups_that_are_complete(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Capture
    ) -> None:
        from contend.common.terminal import ProgressReport

        calls = []
        long = {**SMALL, "workload.iterations": 20}

        def advance(self: ProgressReport, amount: float) -> None:
            del self
            calls.append(amount)
            if len(calls) == 30:
                raise KeyboardInterrupt

        monkeypatch.setattr(ProgressReport, "advance", advance)
        words = [word for path, value in long.items() for word in ("--set", f"{path}={value}")]
        assert main(["explain", BASE, *words, "--out", str(tmp_path), "--all", "-j", "1"]) == 130
        output = capsys.readouterr()
        assert "virtual speed-ups" in output.out
        assert "note: Interrupted: " in output.out
        assert "interrupted; what had finished is above and in the files" in output.err
        document = json.loads((tmp_path / "explain.json").read_text())
        assert document["interrupted"] is True
        # Two replications of the point, then pairs of replications: 14 changes were complete, groups of costs first.
        known = [entry[name] for entry in document["speedups"] for name in ("halved", "removed") if entry[name]]
        every = sum(len(pair) for _, pair in changes(contend.resolve(BASE, long).points[0]))
        assert 14 <= len(known) < every
        assert any(entry["value"] is None for entry in document["speedups"])
        calls.clear()
        with pytest.raises(contend.InterruptedRunError) as caught:
            contend.explain(contend.load(BASE).with_(long), jobs=1)
        assert caught.value.explanation is not None
        assert caught.value.explanation.speedups
        calls[:] = [0.0] * 29  # at once
        with pytest.raises(contend.InterruptedRunError, match="nothing was explained"):
            contend.explain(contend.load(BASE).with_(long), jobs=1)
