from typing import TYPE_CHECKING

import pytest

from contend.common.errors import InputError, SimulationFailedError
from contend.engine.runner import CoreEngine, make_engine, run_points, weight
from contend.scenarios.resolution import Point
from fakes import ctrl_c_after

if TYPE_CHECKING:
    from fakes import FakeCore


def points(*pairs: int, replications: int = 3) -> list[Point]:
    return [
        Point({"pairs": n}, {"run": {"replications": replications}, "workload": {"pairs": n}, "lock": "mutex"})
        for n in pairs
    ]


def test_results_are_in_order_for_any_number_of_jobs(core: "FakeCore") -> None:
    del core
    alone = run_points(points(1, 2, 3), CoreEngine(), jobs=1)
    together = run_points(points(1, 2, 3), CoreEngine(), jobs=8)
    assert [run.results for run in alone.runs] == [run.results for run in together.runs]
    assert all(len(run.results) == 3 for run in alone.runs)


def test_progress_adds_up(core: "FakeCore") -> None:
    del core
    amounts: list[float] = []
    work = points(1, 2)
    run_points(work, CoreEngine(), jobs=2, progress=amounts.append)
    assert sum(amounts) == sum(weight(point) * 3 for point in work)


def test_a_failure_names_its_point_and_stops_the_rest(core: "FakeCore") -> None:
    core.fail_at = 2
    core.seconds_per_run = 0.05
    with pytest.raises(SimulationFailedError, match=r"pairs=2 .*deadlock"):
        run_points(points(2, *range(3, 40)), CoreEngine(), jobs=2)
    assert core.calls < 30


def test_ctrl_c_keeps_what_had_finished(core: "FakeCore") -> None:
    core.seconds_per_run = 0.05
    with ctrl_c_after(core, runs=4):
        outcome = run_points(points(*range(1, 200)), CoreEngine(), jobs=1)
    assert outcome.interrupted
    assert len(outcome.runs[0].results) == 3
    assert sum(len(run.results) for run in outcome.runs) < 10
    assert not core.stop.is_set()


def test_bad_arguments(core: "FakeCore") -> None:
    del core
    with pytest.raises(InputError, match="no engine"):
        make_engine("gem5")
    with pytest.raises(InputError, match="at least one job"):
        run_points(points(1), CoreEngine(), jobs=0)
