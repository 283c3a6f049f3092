"""Simulations of a fit: none done twice, each kept when it ends."""

import json
import math
from concurrent.futures import Future
from typing import Any

import pytest

from contend.calibrate import evaluations
from contend.calibrate.evaluations import Evaluator, Task
from contend.calibrate.recovery import MemoryLog
from contend.common.errors import InputError, InterruptedRunError
from contend.engine.runner import CoreEngine
from fakes import FakeCore, FakePoint


def task(pairs: int, replication: int = 0) -> Task:
    return Task(json.dumps({"workload": {"pairs": pairs}, "lock": "mutex"}), replication)


class TestEvaluations:
    def test_nothing_is_simulated_twice(self, core: FakeCore) -> None:
        log = MemoryLog()
        tasks = [task(pairs=pairs, replication=replication) for pairs in (1, 2) for replication in (0, 1)]
        first = Evaluator(CoreEngine(), log, jobs=2)
        values = first.run([*tasks, tasks[0]])
        assert values[0] == values[4] == pytest.approx(1e5 / 1.125)
        assert (core.calls, first.simulated, len(log.entries)) == (4, 4, 4)
        again = Evaluator(CoreEngine(), log, jobs=1)
        assert again.run(tasks) == values[:4]
        assert (core.calls, again.simulated, again.found) == (4, 0, 4)

    def test_another_replication_or_configuration_is_another_simulation(self, core: FakeCore) -> None:
        del core
        keys = {task(pairs=p, replication=r).key() for p in (1, 2) for r in (0, 1)}
        assert len(keys) == 4

    def test_another_build_of_the_core_is_another_simulation(
        self, core: FakeCore, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        del core
        one = task(pairs=1).key()
        monkeypatch.setattr(evaluations, "fingerprint", lambda: "another")
        assert task(pairs=1).key() != one

    def test_simulations_take_as_many_steps_when_they_are_found(self, core: FakeCore) -> None:
        core.fail_at = 3
        log = MemoryLog()
        whole = Evaluator(CoreEngine(), log, jobs=1)
        spent = []
        for pairs in (1, 2, 1, 3):
            whole.run([task(pairs=pairs), task(pairs=pairs, replication=1)])
            spent.append(whole.steps)
        assert spent == [2000, 6000, 6000, 6000 + 2 * FakePoint.most_steps]
        killed = MemoryLog()
        killed.entries = log.entries[:3]
        again = Evaluator(CoreEngine(), killed, jobs=1)
        again.run([task(pairs=1), task(pairs=1, replication=1)])
        assert again.steps == spent[0]
        again.run([task(pairs=2), task(pairs=2, replication=1)])
        assert again.steps == spent[1]

    def test_what_had_finished_before_ctrl_c_is_kept(self, core: FakeCore, monkeypatch: pytest.MonkeyPatch) -> None:
        real = evaluations.wait

        def wait_for_all(pending: set[Future[float | str]], **_: Any) -> Any:
            return real(pending)

        calls = iter(range(9))

        def interrupt(_: float) -> None:
            if next(calls) == 1:  # with the first that is kept; before it what was found is told
                raise KeyboardInterrupt

        monkeypatch.setattr(evaluations, "wait", wait_for_all)
        log = MemoryLog()
        evaluator = Evaluator(CoreEngine(), log, jobs=1, progress=interrupt)
        with pytest.raises(InterruptedRunError, match="finished simulations are kept"):
            evaluator.run([task(pairs=1, replication=number) for number in range(5)])
        assert core.calls == len(log.entries) == 5

    def test_equal_tasks_of_one_call_are_not_found_in_the_journal(self, core: FakeCore) -> None:
        evaluator = Evaluator(CoreEngine(), MemoryLog(), jobs=1)
        evaluator.run([task(pairs=1)] * 3)
        assert (core.calls, evaluator.simulated, evaluator.found) == (1, 1, 0)

    def test_a_failed_simulation_is_kept_as_such(self, core: FakeCore) -> None:
        core.fail_at = 2
        log = MemoryLog()
        values = Evaluator(CoreEngine(), log, jobs=1).run([task(pairs=1), task(pairs=2)])
        assert math.isfinite(values[0])
        assert math.isnan(values[1])
        assert math.isnan(Evaluator(CoreEngine(), log, jobs=1).run([task(pairs=2)])[0])
        assert core.calls == 2

    @pytest.mark.parametrize(
        ("entry", "message"),
        [
            ({"value": 1.0}, "/key: found null; allowed: a text"),
            ({"key": [1], "value": 1.0}, r"/key: found \[1\]; allowed"),
            ({"key": "a"}, "/value: found null; allowed: a positive number, or null"),
            ({"key": "a", "value": "5"}, '/value: found "5"'),
            ({"key": "a", "value": True}, "/value: found true"),
            ({"key": "a", "value": 10**400}, "/value: found 1000"),
            ({"key": "a", "value": -2.0}, r"/value: found -2\.0"),
            ({"key": "a", "value": math.inf}, "/value: found Infinity"),
            ({"key": "a", "value": None, "reason": 5}, "/reason: found 5"),
            ({"key": "a", "value": 1.0, "steps": 10**400}, "/steps: found 1000"),
            ({"key": "a", "value": 1.0, "steps": "1"}, '/steps: found "1"'),
        ],
    )
    def test_entries_that_no_simulation_leaves_are_refused(self, entry: dict[str, Any], message: str) -> None:
        log = MemoryLog()
        log.entries = [{"type": "other"}, {"type": "run", **entry}]
        with pytest.raises(InputError, match=f"memory:2: {message}"):
            Evaluator(CoreEngine(), log, jobs=1)


def test_a_missing_number_is_not_a_simulation_that_ended_with_an_error(core: FakeCore) -> None:
    core.fail_at = 2
    log = MemoryLog()
    tasks = [Task(json.dumps({"workload": {"pairs": 1}, "lock": "mutex"}), 0, "bandwidth"), task(pairs=2)]
    evaluator = Evaluator(CoreEngine(), log, jobs=1)
    assert all(math.isnan(value) for value in evaluator.run(tasks))
    for one in (evaluator, Evaluator(CoreEngine(), log, jobs=1)):
        assert [one.reason(item) for item in tasks] == [
            "the simulation's result has no bandwidth",
            "the simulation ended with an error",
        ]
