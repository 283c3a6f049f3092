"""`contend report` and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from contend.cli import main
from reporting import MEASURED

if TYPE_CHECKING:
    from collections.abc import Callable

    from fakes import FakeCore

Capture = pytest.CaptureFixture[str]
pytestmark = pytest.mark.usefixtures("no_chart_library")


def _change(**fields: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda document: document | fields


def _change_point(**fields: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda document: document | {"points": [document["points"][0] | fields]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_change(points=[]), "no points"),
        (_change(points="many"), "points: Input should be a valid"),
        (_change(seed="1"), "seed: Input should be a valid integer"),
        (_change(scenario=[]), "scenario: Input should be"),
        (_change(scenario={"workload": 5}), "workload"),
        (_change_point(counters={"unexpected": "7"}), "points.0.counters.unexpected: should be a number"),
        (_change_point(message_rate={"mean": 1.0}), "points.0.message_rate.ci95: Field required"),
        (_change_point(time_by_category_ns={"sender": {"software": -1.0}}), "should not be negative"),
        (_change_point(events=10**400), "points.0.events: should be a finite number"),
        (_change_point(parameters=None), "points.0.parameters"),
        (_change_point(message_rate=None), "points.0: message_rate is null"),
        (_change_point(elapsed_s=None), "points.0: elapsed_s is null"),
        (_change_point(measured={"predicted": 1.0}), "points.0.measured.median: Field required"),
        (_change_point(measured={"predicted": 1.0, "median": 1.0}), "points.0.measured: a median without its interval"),
        (_change_point(measured=MEASURED | {"interval": [1.0]}), "points.0.measured.interval"),
        (_change_point(measured=MEASURED | {"median": "1"}), "points.0.measured.median: should be a number"),
        (_change(remarks=7), "remarks: Input should be a valid"),
        (_change(remarks=[7]), "remarks.0: Input should be a valid string"),
        (lambda _: [], "the whole"),
    ],
)
def test_results_that_are_nonsense(
    results: Path, capsys: Capture, change: Callable[[dict[str, Any]], Any], message: str
) -> None:
    path = results / "results.json"
    path.write_text(json.dumps(change(json.loads(path.read_text()))))
    assert main(["report", str(results)]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.startswith("contend: error: out/small/results.json")
    assert not (results / "report.html").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "cut off"),
        (b'{"contend_version": "0.1.0", "points": [{"para', "cut off"),
        (b"\xff\xfe\x00", ""),
        (b"[" * 100_000, "not JSON"),
        (b"plain text}", "not JSON"),
        (b'{"contend_version": "1", "scenario": {}, "seed": 1, "points": [{"wall_s": NaN}]}', "points.0"),
    ],
)
def test_results_that_are_no_json(results: Path, capsys: Capture, content: bytes, message: str) -> None:
    (results / "results.json").write_bytes(content)
    assert main(["report", str(results)]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert len(error) < 500


def test_a_name_that_is_neither_results_nor_a_scenario(capsys: Capture) -> None:
    assert main(["report", "out/fig5_2a_bse"]) == 2
    error = capsys.readouterr().err
    assert "no folder of results 'out/fig5_2a_bse', and no scenario file 'out/fig5_2a_bse'" in error
    assert main(["report", "nothing.json"]) == 2
    assert "error: no scenario file 'nothing.json'" in capsys.readouterr().err


def test_results_with_a_key_that_occurs_twice(results: Path, capsys: Capture) -> None:
    path = results / "results.json"
    path.write_text(path.read_text().replace('"seed": 1,', '"seed": 2, "seed": 1,', 1))
    assert main(["report", str(results)]) == 2
    assert 'the key "seed" occurs twice in one object' in capsys.readouterr().err


def test_a_folder_without_results(results: Path, capsys: Capture) -> None:
    (results / "results.json").unlink()
    assert main(["report", str(results)]) == 2
    assert "has no results.json" in capsys.readouterr().err
    Path("out/summary.json").write_text("{}")
    assert main(["report", "out"]) == 2
    assert "several scenarios" in capsys.readouterr().err


@pytest.mark.parametrize(
    "trace", ["[]", "{", '{"traceEvents": [{"ph": "X"}]}', '{"traceEvents": [5]}', '{"traceEvents": []}']
)
def test_a_trace_that_is_none(results: Path, capsys: Capture, trace: str) -> None:
    (results / "trace.json").write_text(trace)
    assert main(["report", str(results), "--quiet"]) == 2
    assert "trace" in capsys.readouterr().err


def test_an_explanation_that_is_none(results: Path, capsys: Capture) -> None:
    (results / "explain.json").write_text('{"contend_version": "0.1.0"}')
    assert main(["report", str(results), "--quiet"]) == 2
    assert "explain.json: not as contend writes it" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--at", "pairs=3"], "no such point; pairs is 1, 2, 4"),
        (["--at", "colour=red"], "no such point; the sweep's are: pairs, lock"),
        (["--at", "pairs"], "expected NAME=VALUE"),
        (["--set", "workload.pairs=2"], "has results already"),
        (["--seed", "4"], "has results already"),
        (["--from", "5", "--to", "4"], "is not after"),
        (["--from", "1e9"], "nothing happens"),
        (["--from", "5 ms", "--to", "4999 us"], "--to 4999 us is not after --from 5000 us"),
        (["--from", "-5"], "--from -5: not a time"),
        (["--to", "5 KiB"], "--to 5 KiB: not a time"),
        (["--out", "."], "that is a folder; a report is one file, such as report.html"),
    ],
)
def test_options_that_cannot_be(results: Path, capsys: Capture, options: list[str], message: str) -> None:
    assert main(["report", str(results), *options]) == 2
    assert message in capsys.readouterr().err


def test_a_missing_point_costs_no_simulation(core: FakeCore, scenario: Path, capsys: Capture) -> None:
    assert main(["report", str(scenario), "--at", "pairs=77"]) == 2
    assert "no such point" in capsys.readouterr().err
    assert core.calls == 0


def test_a_full_disk_keeps_the_old_page(results: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    (results / "report.html").write_text("old")

    def full(*_: object) -> None:
        raise OSError(28, "no space")

    monkeypatch.setattr("contend.common.files.os.fsync", full)
    assert main(["report", str(results), "--no-simulate", "--quiet"]) == 1
    assert "no space left" in capsys.readouterr().err
    assert (results / "report.html").read_text() == "old"
    assert sorted(path.name for path in results.iterdir() if path.name.startswith(".")) == []
