"""Measured partitioned communication: its points as scenarios, all of them held out."""

import json
from pathlib import Path
from typing import Any

import pytest

from calibrating import dataset, mapping, metric, write
from contend.accuracy.along import along
from contend.accuracy.curves import count_of, curves
from contend.accuracy.names import design_of
from contend.api import run as run_scenario
from contend.calibrate.mapping import scenario_layers
from contend.calibrate.partitioned_points import longest_partitioned, partitioned_workload
from contend.calibrate.split import choose_split, split_points
from contend.cli import main
from contend.common.errors import InputError
from contend.datasets.dataset import Dataset
from contend.datasets.reading import read_dataset, read_datasets
from contend.measured.configurations import open_dataset
from fakes import REPOSITORY

Capture = pytest.CaptureFixture[str]

MEASURED = REPOSITORY / "validation" / "data" / "vm-2core"
OPEN_MPI, MPICH = (MEASURED / f"{library}_tcp_partitioned.json" for library in ("openmpi-5", "mpich-5"))
RATES = MEASURED / "openmpi-5_tcp_shared.json"


def partitioned(folder: Path, *points: dict[str, Any], program: str = "contend-partitioned") -> Dataset:
    workload = {"kind": "partitioned", "buffer_size": "65536 B", "compute_time": "1 ms", "noise_pct": 4,
                "iterations": 20, "warmup_iterations": 2}  # fmt: skip
    measured = [{"parameters": point, "perceived_bandwidth": metric(6e3, 6.1e3, unit="MiB/s")} for point in points]
    return read_dataset(write(folder, dataset("p", workload, measured, benchmark={"program": program})))


def test_a_scenario_runs_an_iteration_as_the_program_does() -> None:
    found = partitioned_workload({"kind": "partitioned", "partitions": 4})
    assert found == {
        "kind": "partitioned", "partitions": 4, "compute_until": "clock", "fork": "sleep", "receiver_starts": "after",
        "receiver_polls": True, "statistic": "median",
    }  # fmt: skip


@pytest.mark.parametrize(("method", "looks"), [("single-send", False), ("multi-send", True), ("persistent", True)])
def test_a_receiver_of_one_message_waits_at_once(method: str, looks: bool) -> None:  # noqa: FBT001 - a parameter
    assert partitioned_workload({"method": method})["receiver_polls"] is looks


def test_what_a_dataset_says_itself_stays() -> None:
    assert partitioned_workload({"statistic": "mean", "receiver_polls": False})["statistic"] == "mean"


def test_another_program_is_not_taken_for_ours(tmp_path: Path) -> None:
    found = partitioned(tmp_path, {"partitions": 4, "method": "partitioned"}, program="sweep-partitions")
    assert "compute_until" not in scenario_layers(mapping(), found, found.points[0])["workload"]


def test_a_simulation_has_about_as_many_messages_as_asked_for() -> None:
    assert longest_partitioned({"partitions": 4}, 400) == 100
    assert longest_partitioned({"partitions": 4096}, 400) == 3
    assert longest_partitioned({}, 400) == 400


def test_all_points_are_held_out_and_their_partitions_are_no_thread_count() -> None:
    found = read_datasets([OPEN_MPI, MPICH, RATES])
    split = choose_split(found)
    assert split.threads == choose_split(read_datasets([RATES])).threads
    fitted, held_out = split_points(found, split)
    assert not [point for one, point in fitted if one.kind == "partitioned"]
    assert len([point for one, point in held_out if one.kind == "partitioned"]) == 4


def test_a_design_is_a_method(tmp_path: Path) -> None:
    found = partitioned(tmp_path, {"partitions": 4, "method": "single-send"}, {"partitions": 4})
    assert [design_of(found, point) for point in found.points] == ["single-send", "partitioned"]


def test_curves_without_threads_are_over_partitions() -> None:
    points: list[dict[str, Any]] = [
        {"machine": "m", "dataset": "d", "threads": 0, "parameters": {"method": "partitioned", "partitions": number}}
        for number in (8, 2)
    ]
    (curve,) = curves(points)
    assert [count_of(point) for point in curve.points] == [2, 8]
    assert curve.others == {"method": "partitioned"}
    assert along(points).title == "partitions"
    assert along([{"machine": "m", "dataset": "d", "threads": 0, "parameters": {"requests": 1}}]).title == "requests"
    assert (
        along([{"machine": "m", "dataset": "d", "threads": 2, "parameters": {"pairs": 2}}]).title == "threads or pairs"
    )


@pytest.mark.core
@pytest.mark.parametrize(("path", "engine"), [(OPEN_MPI, "persistent"), (MPICH, "whole-buffer")])
def test_every_measured_point_is_the_workload_that_the_program_ran(path: Path, engine: str) -> None:
    found = open_dataset(path)
    resolved = found.resolve().points
    assert len(resolved) == len(found.dataset.points) == 2
    for point, one in zip(found.points, resolved, strict=True):
        workload, method = one.config["workload"], point.parameters["method"]
        assert workload["kind"] == "partitioned"
        assert workload["method"] == method
        assert (workload["partitions"], workload["buffer_size"]) == (4, "1 MiB")
        assert (workload["compute_time"], workload["noise_pct"]) == ("1 ms", 4)
        assert (workload["iterations"], workload["warmup_iterations"]) == (20, 2)
        assert (workload["compute_until"], workload["fork"], workload["statistic"]) == ("clock", "sleep", "median")
        assert workload["receiver_polls"] is (method == "partitioned")
        assert one.config["library"]["partitioned"]["engine"] == engine


@pytest.mark.core
def test_run_shows_measured_bandwidth_beside_predicted(tmp_path: Path, capsys: Capture) -> None:
    """With one command: the profile is found by the machine."""
    words = ["run", str(OPEN_MPI), "--point", "method=partitioned", "--replications", "1"]
    assert main([*words, "--json", "--out", str(tmp_path / "out")]) == 0
    (point,) = json.loads(capsys.readouterr().out)["points"]
    measured = point["measured"]
    assert (measured["metric"], measured["unit"]) == ("perceived_bandwidth", "MiB/s")
    assert measured["fitted"] is False
    assert measured["median"] == pytest.approx(6841.49)
    assert point["perceived_bandwidth"]["samples"] == [pytest.approx(measured["predicted"])]
    assert measured["predicted"] == pytest.approx(measured["median"], rel=0.35)


@pytest.mark.core
def test_run_shows_points_that_do_not_measure_the_same(tmp_path: Path, capsys: Capture) -> None:
    """Only a receiver that looks has a time of what it computes meanwhile."""
    words = ["run", str(OPEN_MPI), "--replications", "1", "--iterations", "3", "--out", str(tmp_path / "out")]
    assert main(words) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if "single-send" in line]
    assert any("-" in row for row in rows)


@pytest.mark.core
def test_a_method_that_no_scenario_has_is_refused(tmp_path: Path, capsys: Capture) -> None:
    document = json.loads(OPEN_MPI.read_text())
    document["points"][0]["parameters"]["method"] = "ring"
    changed = write(tmp_path, document)
    assert main(["run", str(changed), "--print-resolved"]) == InputError.exit_code
    said = capsys.readouterr().err
    assert "workload.method" in said.replace("/", ".")
    assert "ring" in said


@pytest.mark.core
def test_persistent_requests_are_simulated_as_the_program_has_them(tmp_path: Path) -> None:
    found = partitioned(tmp_path, {"partitions": 2, "method": "persistent", "iterations": 3})
    layers = scenario_layers(mapping(), found, found.points[0], iterations=3)
    assert layers["workload"]["method"] == "persistent"
    assert layers["workload"]["receiver_polls"] is True
    scenario = {"schema_version": 1, "name": "x", "run": {"replications": 1}, **layers}
    scenario["machine"] = {"profile": "vm-2core", **layers.get("machine", {})}
    assert len(run_scenario(scenario).points) == 1
