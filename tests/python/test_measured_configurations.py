"""Every committed configuration is a scenario: the one that validation simulates, or it says why it is none."""

from __future__ import annotations

import json
import statistics
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from contend.accuracy.predict import median_sample, predict
from contend.calibrate.evaluations import Evaluator
from contend.calibrate.mapping import STEPS_OF_MEASURED, load_mappings
from contend.calibrate.partitioned_points import partitioned_workload
from contend.calibrate.problem import Builder
from contend.cli import main
from contend.common.errors import InputError
from contend.datasets.dataset import Dataset, MeasuredPoint
from contend.engine.runner import make_engine, run_points
from contend.measured.configurations import Configuration, open_dataset
from contend.scenarios.resolution import find_scenario, resolve_scenario
from fakes import REPOSITORY

Capture = pytest.CaptureFixture[str]

DATA = REPOSITORY / "validation" / "data" / "vm-2core"
# What says how a point was run, and not what it was; and what varies with the point.
_NOT_OF_A_SCENARIO = {"seconds", "bind", "target_seconds", "repetitions", "spread", "iterations"}
_OPTIONS = {"contexts", "dedicated", "progress_threads"}
# Datasets that no scenario stands for, and why.
_WITHOUT = {
    **dict.fromkeys(
        ("intelmpi_shm_primitives", "mpich-5_shm_primitives", "openmpi-4_shm_primitives", "openmpi-4_tcp_primitives",
         "openmpi-5_shm_primitives", "openmpi-5_tcp_primitives",
         "intelmpi_tcp_primitives", "mpich-5_tcp_primitives"),  # those two timed out
        "measured 'primitives'; scenarios stand for points of multirate, rma-mt, latency, locks, "
        "waiting and partitioned",
    ),
    "machine": "measured 'machine'",
}  # fmt: skip
# Those of locks have a program's words of their own: test_lock_datasets.py.
_ALL = sorted(path for path in DATA.glob("*.json") if path.stem != "locks")


def expected_workload(measured: Dataset, point: MeasuredPoint) -> dict[str, Any]:
    """The dataset's workload with the values of a point, as the file has them, timed as its program does."""
    whole = json.loads(measured.path.read_text())
    document = whole["workload"]
    if whole["benchmark"]["program"] == "contend-partitioned":
        return partitioned_workload(document | point.parameters)
    values = {key: value for key, value in point.parameters.items() if key not in _OPTIONS}
    workload = {key: value for key, value in document.items() if key not in _NOT_OF_A_SCENARIO} | values
    timing = {
        "contend-multirate": "slowest-process",
        "contend-latency": "slowest-process",
        "contend-rma": "first-thread",
    }
    how = timing.get(whole["benchmark"]["program"])
    length = point.iterations or document["iterations"]
    lengths = {"iterations": length}
    if point.iterations is not None and "warmup_iterations" in document:
        # Programs made no trials then, as what they counted says, and half of the other repetitions come before.
        (raw,) = (one for one in whole["points"] if one["parameters"] == point.parameters)
        made = [launch["iterations"] for launch in raw["per_launch"]]
        trial = 0.0 if "messages_sent" in raw["counters"] else sum(map(statistics.fmean, made)) / len(made) / 4
        others = sum((len(counts) - 1) / len(counts) * sum(counts) for counts in made) / len(made)
        lengths["warmup_iterations"] = document["warmup_iterations"] + round(others / 2 + trial)
    return workload | ({"timing": how} if how else {}) | lengths


@pytest.mark.core
@pytest.mark.parametrize("path", [path for path in _ALL if path.stem not in _WITHOUT], ids=lambda path: path.stem)
def test_every_measured_configuration_is_a_scenario(path: Path, tmp_path: Path) -> None:
    """Each point by itself and all together: the dataset's own workload, and a file that says the same."""
    whole = open_dataset(path)
    together = whole.resolve().points
    assert len(together) == len(whole.dataset.points)
    for index, (point, compiled) in enumerate(zip(whole.points, together, strict=True)):
        alone = Configuration(whole.dataset, (point,), whole.mapping, whole.profile)
        document = alone.document(beside=tmp_path)
        assert document["workload"] == expected_workload(whole.dataset, point)
        assert "sweep" not in document
        (single,) = alone.resolve().points
        assert _system(single.config) == _system(compiled.config), f"point {index} differs in the sweep"
        file = tmp_path / "written.json"
        file.write_text(json.dumps(document))
        (written,) = resolve_scenario(find_scenario(str(file))).points
        assert written.config == single.config


def _system(config: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in config.items() if key != "name"}


@pytest.mark.core
@pytest.mark.slow
@pytest.mark.parametrize("path", [path for path in _ALL if path.stem not in _WITHOUT], ids=lambda path: path.stem)
def test_every_measured_configuration_runs(path: Path) -> None:
    """All points of some threads, and the last one of those of many, as more of these differ in nothing new."""
    changes = [("run.replications", "1")]
    found = open_dataset(path, iterations=1)
    few = (point for point in found.points[:-1] if point.parameters.get("pairs", 1) <= 8)
    found = replace(found, points=(*few, found.points[-1]))
    if found.dataset.kind != "waiting":  # whose rounds are all alike
        changes.append(("workload.warmup_iterations", "0"))
    outcome = run_points(found.resolve(changes).points, make_engine("contend"), jobs=2)
    assert all(runs.results[0]["message_rate"] > 0 for runs in outcome.runs)


@pytest.mark.core
@pytest.mark.parametrize("name", sorted(_WITHOUT))
def test_what_has_no_scenario_says_why(name: str, capsys: Capture) -> None:
    assert main(["run", str(DATA / f"{name}.json"), "--print-resolved"]) == InputError.exit_code
    assert _WITHOUT[name] in capsys.readouterr().err


def test_the_list_of_those_is_complete() -> None:
    assert set(_WITHOUT) <= {path.stem for path in _ALL}
    assert len(_ALL) - len(_WITHOUT) >= 44


class Kept:
    """A journal in memory."""

    name = "memory"

    def __init__(self) -> None:
        self.entries: list[dict[str, Any]] = []

    def append(self, entry: dict[str, Any]) -> None:
        self.entries.append(entry)


@pytest.mark.core
@pytest.mark.parametrize(
    ("name", "condition"), [("mpich-5_tcp_window16", "pairs=1"), ("openmpi-5_tcp_bytes1024", "pairs=20"),
                            ("openmpi-5_uct-tcp_contexts", "pairs=1")],
)  # fmt: skip
def test_a_scenario_is_what_validation_simulates(name: str, condition: str) -> None:
    """With simulations as long as a sample and what came before, `contend validate` has the same configurations."""
    found = open_dataset(DATA / f"{name}.json", [condition])
    builder = _Builder(found)
    for point, mine in zip(found.points, found.resolve([("run.replications", "1")]).points, strict=True):
        (target,) = builder.build([(found.dataset, point)]).targets
        assert _without_names(target.config) == _without_names(mine.config)


def _without_names(config: dict[str, Any]) -> dict[str, Any]:
    machine = {key: value for key, value in config["machine"].items() if key != "name"}
    return {**config, "machine": machine, "name": ""}


class _Builder(Builder):
    """Simulations as long as the configuration's, with what comes before."""

    def __init__(self, found: Configuration) -> None:
        super().__init__(
            found.profile.document, [found.mapping], messages=1, steps_per_operation=STEPS_OF_MEASURED
        )  # fmt: skip

    def longest(self, dataset: Dataset, point: MeasuredPoint) -> int:
        assert point.lengths is not None
        return 2 * round(point.lengths.repetitions * point.lengths.timed)


@pytest.mark.core
def test_the_prediction_is_that_of_validation_with_the_same_draws(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A whole point at its measured length: `run` and `predict` give one number when they draw alike."""
    monkeypatch.chdir(tmp_path)
    source = DATA / "mpich-5_tcp_shared.json"
    found = open_dataset(source, ["pairs=16"])
    (point,) = found.points
    assert point.iterations == 112, "a sample of some thousand messages per thread, simulated in full"
    as_many = ["--replications", "12"]  # as `predict` takes with what comes before the sample
    assert main(["run", str(source), "--point", "pairs=16", "--quiet", *as_many]) == 0
    (shown,) = json.loads(Path("out/mpich-5_tcp_shared_pairs_16/results.json").read_text())["points"]

    monkeypatch.setattr("contend.accuracy.predict._FIRST_REPLICATION", 0)  # `run` counts from 0
    alone = Dataset(**{**vars(found.dataset), "points": (point,)})
    messages = 3 * 112 * 128 * 16  # with all that comes before a sample
    evaluator = Evaluator(make_engine("contend"), Kept(), jobs=2)
    ((one,), unpredicted) = predict(
        found.profile.document, [alone], load_mappings(), evaluator, messages=messages, draws=1
    )
    assert not unpredicted
    assert shown["measured"]["predicted"] == one.median
    assert shown["measured"]["abs_error_pct"] == one.abs_error_pct
    assert shown["measured"]["fitted"] is not one.held_out
    samples = shown["message_rate"]["samples"]
    assert one.median == median_sample(samples, 1, 1)
    assert len(samples) == 12
