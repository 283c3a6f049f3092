"""`contend explain`."""

import csv
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import contend
from contend.cli import main
from contend.explanation import changes, explain
from contend.scenario import Point
from fakes import REPOSITORY

if TYPE_CHECKING:
    from fakes import FakeCore

Capture = pytest.CaptureFixture[str]
BASE = "fig5_2a_base"
SMALL = {
    "run.replications": 2, "workload.iterations": 2, "workload.warmup_iterations": 1, "workload.window": 16,
    "workload.pairs": 4,
}  # fmt: skip

needs_core = [
    pytest.mark.core,
    pytest.mark.skipif(not any((REPOSITORY / "sim/bindings").glob("*.cpp")), reason="there are no bindings yet"),
]


class TestTheRealCore:
    pytestmark = needs_core

    def test_every_cost_is_halved_and_removed_within_its_bounds(self) -> None:
        point = contend.resolve(BASE, SMALL).points[0]
        wanted = changes(point)
        names = [speedup.name for speedup, _ in wanted]
        assert len(set(names)) == len(names)
        assert {"matching.element", "nic.empty_poll", "fabric.latency", "out-of-sequence fragments"} <= set(names)
        assert "locks.backoff_minimum" not in names  # zero already
        by_name = {speedup.name: pair for speedup, pair in wanted}
        halved, removed = by_name["matching.element"]
        element = point.config["machine"]["matching"]["element"]
        assert element == "3.8 ns"
        assert halved.config["machine"]["matching"]["element"] == "1.9 ns"
        assert removed.config["machine"]["matching"]["element"] == "0 ns"
        assert removed.at_bound == ()
        _, removed = by_name["nic.empty_poll"]
        assert removed.config["machine"]["nic"]["empty_poll"] == "1 ps"
        assert removed.at_bound == ("machine.nic.empty_poll",)
        for _, pair in wanted:
            for change in pair:
                # Nothing else changes.
                for path in change.paths:
                    node, original = change.config, point.config
                    *way, key = path.split(".")
                    for step in way:
                        node, original = node[step], original[step]
                    node[key] = original[key]
                assert change.config == point.config

    def test_the_numbers_agree_with_those_of_a_run(self) -> None:
        resolved = contend.resolve(BASE, SMALL)
        explanation = explain(resolved, resolved.points[0], jobs=2, speedups=False)
        plain = contend.run(BASE, SMALL).points[0]
        assert plain.message_rate is not None
        assert explanation.rate == plain.message_rate
        assert explanation.time_by_category_ns == plain.time_by_category_ns
        lock_wait = sum(times["lock_wait"] for times in explanation.time_by_category_ns.values())
        in_locks = sum(lock["wait_ns"] + lock["release_ns"] for lock in explanation.locks)
        assert 0 < in_locks <= lock_wait * (1 + 1e-9)
        for lock in explanation.locks:
            assert sum(entry["time_ns"] for entry in lock["waits"]) == pytest.approx(lock["wait_ns"])
        waits = [lock["wait_ns"] for lock in explanation.locks]
        assert waits == sorted(waits, reverse=True)

    def test_speedups_are_ratios_of_the_same_replications(self) -> None:
        resolved = contend.resolve(BASE, {**SMALL, "workload.pairs": 2})
        point = resolved.points[0]
        explanation = explain(resolved, point, jobs=2)
        effects = [entry.effect for entry in explanation.speedups]
        assert effects == sorted(effects, reverse=True)
        assert effects[0] > 0.05
        entry = next(entry for entry in explanation.speedups if entry.name == "software.send_call")
        cheaper = contend.run(BASE, {**SMALL, "workload.pairs": 2, "machine.software.send_call": "0 ns"}).points[0]
        assert cheaper.message_rate is not None
        assert entry.removed is not None
        assert entry.removed.samples == pytest.approx(
            [a / b for a, b in zip(cheaper.message_rate.samples, explanation.rate.samples, strict=True)]
        )
        # A cost that never occurs makes no difference at all: equal random numbers.
        copying = next(entry for entry in explanation.speedups if entry.name == "cache.transfer_smt")
        assert copying.removed is not None
        assert set(copying.removed.samples) == {1.0}

    def test_the_command_prints_and_writes(self, tmp_path: Path, capsys: Capture) -> None:
        words = [word for path, value in SMALL.items() for word in ("--set", f"{path}={value}")]
        folder, file = tmp_path / "out", tmp_path / "e.json"
        arguments = ["explain", BASE, *words, "--pairs", "2", "--out", str(folder), "--json", str(file), "-j", "2"]
        assert main(arguments) == 0
        output = capsys.readouterr()
        for text in ("where the time goes", "who waits for whom", "queues", "network interfaces", "virtual speed-ups"):
            assert text in output.out
        assert sorted(path.name for path in folder.iterdir()) == [
            "explain.json", "explain.png", "explain.svg", "speedups.csv",
        ]  # fmt: skip
        document = json.loads(file.read_text())
        assert document == json.loads((folder / "explain.json").read_text())
        assert document["scenario"]["workload"]["pairs"] == 2
        rows = list(csv.DictReader((folder / "speedups.csv").read_text().splitlines()))
        assert [row["name"] for row in rows] == [entry["name"] for entry in document["speedups"]]
        assert all(float(row["removed"]) > 0 for row in rows)

    def test_a_design_that_breaks_under_a_change_says_so(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from contend import runner
        from contend.errors import SimulationFailedError

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


def test_the_explained_point_is_named(core: "FakeCore", scenario: Path, capsys: Capture) -> None:
    assert main(["explain", str(scenario), "--no-speedups", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    assert core.calls == 3
    assert main(["explain", str(scenario), "--no-speedups"]) == 0
    output = capsys.readouterr()
    assert "this is the last, pairs=4 lock=mcs" in output.err
    assert "receiver, for receiver 75%" in output.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["explain"], "Missing argument"),
        (["explain", "smal.json"], "no scenario file"),
        (["explain", "small.json", "--pairs", "0"], "--pairs"),
        (["explain", "small.json", "--set", "nonsense"], "expected dotted.path=value"),
        (["explain", "zzz"], "the shipped ones, such as dissertation/fig5_2a_base"),
    ],
)
def test_bad_input_is_one_message_and_2(
    core: "FakeCore", scenario: Path, capsys: Capture, arguments: list[str], message: str
) -> None:
    del core, scenario
    assert main(arguments) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert message in output.err
