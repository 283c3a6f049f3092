"""Measured calls over many requests: their points as scenarios, which of them identify prices, and what those are."""

import json
from pathlib import Path
from typing import Any

import pytest

from calibrating import dataset, time_of, write
from contend.accuracy.curves import count_of, curves
from contend.accuracy.names import design_of
from contend.calibrate.identification import identify
from contend.calibrate.split import choose_split, split_points
from contend.calibrate.waiting_points import isolates, longest_waiting, result_metric
from contend.cli import main
from contend.datasets.dataset import Dataset
from contend.datasets.reading import read_dataset, read_datasets
from contend.measured.configurations import open_dataset
from contend.profiles.catalogs import PROFILES
from fakes import REPOSITORY

Capture = pytest.CaptureFixture[str]

MEASURED = REPOSITORY / "validation" / "data" / "vm-2core"
OPEN_MPI, MPICH = (MEASURED / f"{library}_shm_waiting.json" for library in ("openmpi-5", "mpich-5"))
PROFILE = REPOSITORY / "validation" / "vm-2core" / "waiting-profile.json"


def waiting(name: str, library: str, times_ns: dict[tuple[str, int, int], float]) -> dict[str, Any]:
    points = [
        time_of(*[ns * 1e-9] * 3, call=call, requests=requests, complete=complete)
        for (call, requests, complete), ns in times_ns.items()
    ]
    identity = {"name": library, "key": library, "options": {}}
    return dataset(name, {"kind": "waiting", "iterations": 100}, points, library=identity, transport="shm")


def identified(tmp_path: Path, document: dict[str, Any]) -> dict[tuple[str, str], float]:
    found, _ = identify([read_dataset(write(tmp_path, document))], PROFILES.load("vm-2core")[1])
    return {(one.rule.path, one.scope): one.value for one in found}


def test_handles_and_looks_are_told_apart(tmp_path: Path) -> None:
    """Open MPI: 1.5 ns a handle and 0.5 ns a look, of which a testall of nothing makes a single one."""
    times = {("testall", 1, 0): 40.0, ("testall", 256, 0): 40 + 256 * 1.5,
             ("testsome", 16, 0): 40 + 16 * 2.0, ("testsome", 256, 0): 40 + 256 * 2.0}  # fmt: skip
    found = identified(tmp_path, waiting("w", "openmpi-5", times))
    assert found["machine.waiting.handle", "openmpi-5"] == pytest.approx(1.5e-9)
    assert found["machine.waiting.check", "openmpi-5"] == pytest.approx(0.5e-9)


def test_a_library_that_looks_four_times_pays_for_four_looks(tmp_path: Path) -> None:
    """MPICH: 2 ns a handle and 1 ns a look, of which a testsome of nothing makes four."""
    times = {("testany", 1, 1): 50.0, ("testany", 256, 256): 50 + 256 * 2.0,
             ("testsome", 16, 0): 60 + 16 * 6.0, ("testsome", 256, 0): 60 + 256 * 6.0}  # fmt: skip
    found = identified(tmp_path, waiting("w", "mpich-5", times))
    assert found["machine.waiting.handle", "mpich-5"] == pytest.approx(2e-9)
    assert found["machine.waiting.check", "mpich-5"] == pytest.approx(1e-9)


def test_libraries_whose_sources_were_not_read_identify_nothing(tmp_path: Path) -> None:
    times = {("testall", 1, 0): 40.0, ("testall", 256, 0): 424.0, ("testany", 1, 1): 40.0, ("testany", 256, 256): 424.0}
    found = identified(tmp_path, waiting("w", "another", times))
    assert not [path for path, _ in found if path.startswith("machine.waiting.")]


def test_the_clock_of_the_programs_is_the_probe_s(tmp_path: Path) -> None:
    times = {"steady_clock": 17e-9, "tsc": 7e-9}
    probes = [time_of(time, time, probe="clock", clock=clock) for clock, time in times.items()]
    found = identified(tmp_path, dataset("machine", {"kind": "machine"}, probes))
    assert found["machine.waiting.clock", "machine"] == pytest.approx(17e-9)


def shipped() -> list[Dataset]:
    return read_datasets([OPEN_MPI, MPICH])


def test_four_points_of_each_library_identify_prices_and_all_others_are_held_out() -> None:
    found = shipped()
    fitted, held_out = split_points(found, choose_split(found))
    assert len(fitted) == 8
    assert len(held_out) == 2 * 37 - 8
    assert all(isolates(*one) for one in fitted)
    excluded = choose_split(found, excluded=["mpich-5_shm_waiting"])
    assert {one.name for one, _ in split_points(found, excluded)[0]} == {"openmpi-5_shm_waiting"}


def test_a_metric_is_called_as_a_result_has_it() -> None:
    found = read_dataset(OPEN_MPI)
    assert result_metric(found, "time_per_operation") == "time_per_operation_s"
    assert result_metric(found, "message_rate") == "message_rate"
    assert result_metric(read_dataset(MEASURED / "machine.json"), "time_per_operation") == "time_per_operation"


def test_a_simulation_has_about_as_many_messages_as_asked_for() -> None:
    assert longest_waiting({"complete": 256}, 2560) == 10
    assert longest_waiting({"complete": 0}, 500) == 500
    assert longest_waiting({"complete": 256}, 10) == 3


def test_a_design_is_a_call() -> None:
    found = read_dataset(OPEN_MPI)
    assert design_of(found, found.points[0]) == "testsome"


def test_curves_without_threads_are_over_requests() -> None:
    points: list[dict[str, Any]] = [
        {"machine": "m", "dataset": "d", "threads": 0,
         "parameters": {"call": "testany", "requests": requests, "complete": 0}}
        for requests in (256, 1)
    ]  # fmt: skip
    (curve,) = curves(points)
    assert [count_of(point) for point in curve.points] == [1, 256]
    assert curve.others == {"call": "testany", "complete": 0}


@pytest.mark.core
@pytest.mark.parametrize("path", [OPEN_MPI, MPICH], ids=lambda path: path.stem)
def test_every_measured_call_is_the_workload_that_the_program_ran(path: Path) -> None:
    found = open_dataset(path, profile=str(PROFILE))
    resolved = found.resolve().points
    assert len(resolved) == len(found.dataset.points) == 37
    for point, one in zip(found.points, resolved, strict=True):
        assert one.config["workload"] == {"kind": "waiting", "iterations": 100, **point.parameters}
        attached = {"openmpi-5": "every", "mpich-5": "none"}[found.dataset.library_key]
        assert one.config["library"]["waiting"]["attach"] == attached


@pytest.mark.core
def test_run_shows_measured_calls_beside_predicted_ones(tmp_path: Path, capsys: Capture) -> None:
    """With one command: the profile is found by the dataset."""
    words = ["run", str(OPEN_MPI), "--point", "call=testany", "--point", "requests=256", "--replications", "1"]
    assert main([*words, "--json", "--out", str(tmp_path / "out")]) == 0
    document = json.loads(capsys.readouterr().out)
    assert any("waiting-profile" in remark for remark in document["remarks"])
    assert len(document["points"]) == 3
    for point in document["points"]:
        measured = point["measured"]
        assert measured["metric"] == "time_per_operation"
        assert measured["held_out"] is True
        assert measured["predicted"] == pytest.approx(measured["median"], rel=0.45)
