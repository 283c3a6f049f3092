"""Datasets of latencies: their threads, curves and designs, simpler models of them, pictures, and a calibration."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import contend
from calibrating import dataset, launched_each, metric, rates, write
from contend.accuracy.baselines import baseline, serial_lock, usl
from contend.accuracy.curves import curves
from contend.accuracy.pictures import pictures
from contend.accuracy.predicted import Predicted
from contend.accuracy.scores import result_json
from contend.calibrate.problem import Problem, Target
from contend.calibrate.split import choose_split, curve_axes, threads_of
from contend.cli import main
from contend.datasets.dataset import Dataset
from contend.datasets.reading import read_dataset
from predicting import COUNTS, curve, predicted

SIDES = [(1, n) for n in COUNTS]


def document_of(name: str, sides: list[tuple[int, int]], latency: Any) -> dict[str, Any]:
    points = []
    for senders, receivers in sides:
        value = latency(senders, receivers)
        samples = [value * (1 + 0.01 * e) for e in (-1.0, -0.5, 0.0, 0.5, 1.0)]
        parameters = {"senders": senders, "receivers": receivers}
        points.append({"parameters": parameters, "latency": metric(*samples, unit="s")})
    workload = {"kind": "latency", "message_size": "0 B", "iterations": 1000, "warmup_iterations": 100}
    return launched_each(dataset(name, workload, points))


def latencies(folder: Path, name: str, sides: list[tuple[int, int]], latency: Any) -> Dataset:
    return read_dataset(write(folder, document_of(name, sides, latency)))


def predictions(one: Dataset, factor: float = 1.1) -> list[Predicted]:
    found = []
    for point in one.points:
        mean = point.median * factor
        held_out = threads_of(one, point) not in (1, 4, 16)
        found.append(Predicted(one, point, mean, mean / 1.2, mean * 1.2, held_out, ""))
    return found


def test_threads_are_those_of_the_larger_side(tmp_path: Path) -> None:
    one = latencies(tmp_path, "one", [(1, 1), (1, 8), (8, 8), (12, 3)], lambda *_: 1e-5)
    assert [threads_of(one, point) for point in one.points] == [1, 8, 8, 12]
    assert choose_split([one]).threads == (1,)
    many = latencies(tmp_path, "many", SIDES, lambda *_: 1e-5)
    assert choose_split([many]).threads == (1, 4, 16)


@pytest.mark.parametrize(
    ("sides", "axes"),
    [
        ([(1, 1), (1, 4), (1, 8)], {"pairs", "threads", "senders", "receivers", "requests", "partitions"}),
        ([(1, 1), (4, 4), (8, 8)], {"pairs", "threads", "senders", "receivers", "requests", "partitions"}),
        ([(1, 1), (1, 4), (4, 1), (4, 4)], {"pairs", "threads", "receivers", "requests", "partitions"}),
    ],
)
def test_a_curve_is_of_one_number_of_senders_where_both_vary(sides: list[tuple[int, int]], axes: set[str]) -> None:
    assert curve_axes({"senders": senders, "receivers": receivers} for senders, receivers in sides) == axes


def test_points_of_a_grid_are_on_a_curve_for_each_number_of_senders(tmp_path: Path) -> None:
    grid = latencies(tmp_path, "grid", [(s, r) for s in (1, 4) for r in (1, 4, 8)], lambda s, r: 1e-6 * (s + r))
    points = result_json("box", predictions(grid), [], {})["points"]
    found = curves(points)
    assert [curve.others for curve in found] == [{"senders": 1}, {"senders": 4}]
    assert [len(curve.points) for curve in found] == [3, 3]
    assert {one.curve for one in predictions(grid)} == {
        ("box", "grid", '{"senders": 1}'),
        ("box", "grid", '{"senders": 4}'),
    }


def test_laws_see_a_latency_as_the_time_of_each_threads_turn(tmp_path: Path) -> None:
    logs = np.log([2e5, 0.4, 0.01])

    def law(_: int, receivers: int) -> float:
        return receivers / float(np.exp(usl(np.array([float(receivers)]), logs))[0])

    points = predictions(latencies(tmp_path, "one", SIDES, law))
    found = baseline(usl, points)
    assert sorted(points[index].threads for index in found) == [2, 8, 20]
    for index, latency in found.items():
        assert latency == pytest.approx(law(1, points[index].threads), rel=0.05)

    # One lock that every thread holds for 10 us: each has to wait for all others.
    queued = predictions(latencies(tmp_path, "queued", SIDES, lambda _, receivers: 1e-5 * receivers))
    for index, latency in baseline(serial_lock, queued).items():
        assert latency == pytest.approx(1e-5 * queued[index].threads, rel=0.05)


def test_designs_are_told_apart(tmp_path: Path) -> None:
    one = latencies(tmp_path, "one", [(1, 4)], lambda *_: 1e-5)
    several = latencies(tmp_path, "several", [(4, 4)], lambda *_: 1e-5)
    (first,), (second,) = predictions(one), predictions(several)
    assert (first.design, second.design) == ("latency, one sender", "latency, several senders")
    assert first.setting == second.setting


def test_rates_and_latencies_are_drawn_apart(tmp_path: Path) -> None:
    both_rates = predicted(curve(tmp_path, "rates", lambda n: 1e5 / n), dict.fromkeys(COUNTS, 1e5))
    times = predictions(latencies(tmp_path, "times", SIDES, lambda _, n: 1e-6 * n))
    both = result_json("box", [*both_rates, *times], [], {})
    svg = pictures(both)["agreement.svg"].decode()
    assert "measured median (msg/s)" in svg
    assert "<!-- measured median -->" in svg
    assert "µs -->" in svg


@pytest.mark.core
def test_a_dataset_of_latencies_is_simulated_as_it_was_measured(tmp_path: Path) -> None:
    library = {"name": "Open MPI", "version": "5.0.8", "key": "openmpi-5", "options": {}}
    document = document_of("one", [(1, 4)], lambda *_: 2e-5) | {"library": library, "transport": "tcp"}
    (point,) = contend.resolve(contend.load_measured(write(tmp_path, document), profile="vm-2core")).points
    workload = point.config["workload"]
    assert (workload["kind"], workload["senders"], workload["receivers"]) == ("latency", 1, 4)
    assert (workload["iterations"], workload["warmup_iterations"]) == (1000, 100)


@pytest.mark.core
def test_pictures_of_a_measured_latency_have_what_was_measured(tmp_path: Path) -> None:
    library = {"name": "MPICH", "version": "5.0.2", "key": "mpich-5", "options": {}}
    document = document_of("one", [(1, 1), (1, 2)], lambda *_: 2e-5) | {"library": library, "transport": "tcp"}
    path = write(tmp_path, document)
    assert main(["run", str(path), "--profile", "vm-2core", "--iterations", "20", "-q", "-o", str(tmp_path / "o")]) == 0
    assert "measured, with its 95 % interval" in (tmp_path / "o" / "plot.svg").read_text()
    found = json.loads((tmp_path / "o" / "results.json").read_text())
    assert [point["measured"]["median"] for point in found["points"]] == [2e-5, 2e-5]


def test_runs_of_a_latency_are_averaged_as_times(tmp_path: Path) -> None:
    rate = read_dataset(write(tmp_path, rates("rate", {1: [1.0]}))), "message_rate"
    time = latencies(tmp_path, "time", [(1, 1)], lambda *_: 1.0), "latency"
    targets = [Target(one, one.points[0], {}, (), metric) for one, metric in (rate, time)]
    together = Problem([], targets, []).one_after_the_other(np.log([[7.0, 7.0], [2900.0, 2900.0]]))
    assert np.exp(together) == pytest.approx([2 / (1 / 7 + 1 / 2900), (7 + 2900) / 2])
