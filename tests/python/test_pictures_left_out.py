"""Numbers are written before their pictures, and nothing that happens meanwhile takes them away."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import contend
from contend.cli import main
from contend.common import files, interruption
from contend.common.errors import ContendError
from fakes import FakeCore

Capture = pytest.CaptureFixture[str]
NUMBERS = {"results.json", "results.csv", "results.parquet"}


@pytest.fixture(autouse=True)
def _keyboard() -> Iterator[None]:
    # A shell starts background jobs with Ctrl-C ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler, "handlers are put back"
    signal.signal(signal.SIGINT, before)


def press(*_: object) -> dict[str, bytes]:
    signal.raise_signal(signal.SIGINT)
    return {}


def no_memory(*_: object) -> dict[str, bytes]:
    raise MemoryError


def no_formula(*_: object) -> dict[str, bytes]:
    raise ValueError("ParseSyntaxException")


def while_writing(monkeypatch: pytest.MonkeyPatch, happens: Callable[[], object]) -> None:
    """Lets something happen before the first file is on the disk."""
    original, calls = os.fsync, []

    def fsync(file: int) -> None:
        calls.append(file)
        if len(calls) == 1:
            happens()
        original(file)

    monkeypatch.setattr(files.os, "fsync", fsync)


def write(scenario: contend.Scenario) -> None:
    Path("small.json").write_text(json.dumps(scenario.document | {"name": "small"}))


def names(folder: str) -> set[str]:
    return {path.name for path in Path(folder).iterdir()}


def test_ctrl_c_while_numbers_are_written_waits_for_them(
    core: FakeCore, scenario: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key that is held down is one press."""
    while_writing(monkeypatch, lambda: (press(), press()))
    assert main(["run", str(scenario)]) == 130
    assert names("out/small") == NUMBERS
    assert "interrupted" not in json.loads(Path("out/small/results.json").read_text())
    output = capsys.readouterr()
    assert "wrote out/small/results.parquet" in output.out
    assert output.err == (
        "contend: error: interrupted while drawing: without plot.png and plot.svg, all else is in out/small (`contend "
        "plot out/small` draws them)\n"
    )
    assert main(["plot", "out/small"]) == 0
    assert names("out/small") == NUMBERS | {"plot.png", "plot.svg"}
    assert core.calls == 18


def test_a_second_press_while_numbers_are_written_gives_up(
    core: FakeCore, scenario: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    del core
    monkeypatch.setattr(interruption, "SAME_PRESS_S", 0.0)
    while_writing(monkeypatch, lambda: (press(), press()))
    assert main(["run", str(scenario)]) == 130
    assert capsys.readouterr().err == "contend: error: interrupted\n"
    assert not Path("out/small").exists()


@pytest.mark.parametrize(
    ("happens", "code", "says"),
    [
        (press, 130, "interrupted while drawing: without plot.png and plot.svg, all else is in "),
        (no_formula, 1, "cannot draw plot.png and plot.svg: ValueError: ParseSyntaxException (--debug shows where); "),
        (no_memory, 1, "cannot draw plot.png and plot.svg: not enough memory (--debug shows where); without plot.png"),
    ],
)
@pytest.mark.parametrize("command", ["run", "sweep", "compare", "report"])
@pytest.mark.core
def test_what_happens_while_drawing_leaves_the_numbers(  # noqa: PLR0917
    command: str,
    happens: Callable[[], dict[str, bytes]],
    code: int,
    says: str,
    small: contend.Scenario,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: Capture,
) -> None:
    monkeypatch.chdir(tmp_path)
    write(small)
    others = {"compare": ["small.json"], "report": ["--no-speedups"]}
    words = [command, "small.json", *others.get(command, []), "--replications", "1"]
    folder = {"run": "out/small", "sweep": "out/small-sweep", "compare": "out/compare/small_small"}
    target = folder.get(command, "out/small")
    Path(target).mkdir(parents=True)
    for old in ("plot.png", "plot.svg"):
        Path(target, old).write_text("of other numbers")
    monkeypatch.setattr("contend.plots.picture_bytes", happens)
    monkeypatch.setattr("contend.plots.comparison_picture_bytes", happens)
    assert main(words) == code
    found = {"compare": {"compare.json"}, "sweep": NUMBERS | {"sweep.json", "samples.parquet"}}.get(command, NUMBERS)
    assert names(target) == found
    assert says in capsys.readouterr().err


@pytest.mark.core
def test_ctrl_c_while_what_has_no_picture_is_written(
    small: contend.Scenario, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    write(small)
    monkeypatch.setattr("contend.cli.sweep._MOST_IN_JSON", 0)
    while_writing(monkeypatch, press)
    assert main(["sweep", "small.json", "--out", "o"]) == 130
    assert names("o") == {"results.parquet", "samples.parquet", "sweep.json"}
    assert capsys.readouterr().err.endswith("contend: error: interrupted; everything is in o\n")


@pytest.mark.core
def test_an_explanation_whose_picture_is_left_out(
    small: contend.Scenario, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    write(small)
    monkeypatch.setattr("contend.explanations.output.picture_bytes", press)
    assert main(["explain", "small.json", "--no-speedups", "--out", "o", "--json", "one.json"]) == 130
    assert names("o") == {"explain.json"}
    assert Path("one.json").read_bytes() == Path("o/explain.json").read_bytes()
    output = capsys.readouterr()
    assert "where the time goes" in output.out
    assert output.err.endswith("while drawing: without explain.png and explain.svg, all else is in o\n")


def test_a_full_disk_while_pictures_are_written(
    core: FakeCore, scenario: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    del core

    def full(*_: object) -> dict[str, bytes]:
        raise ContendError("cannot write out/small/plot.png: no space left on the device")

    monkeypatch.setattr("contend.plots.picture_bytes", full)
    assert main(["run", str(scenario), "--quiet"]) == 1
    assert "plot.png: no space left on the device; without plot.png and plot.svg, all else" in capsys.readouterr().err
    assert names("out/small") == NUMBERS


def test_of_a_folder_the_scenario_that_is_being_drawn_is_told(
    core: FakeCore, scenario: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    del core
    folder = scenario.parent / "all"
    folder.mkdir()
    for name in ("a", "b"):
        (folder / f"{name}.json").write_text(scenario.read_text())
    monkeypatch.setattr("contend.plots.picture_bytes", press)
    assert main(["run", str(folder)]) == 130
    assert [one["status"] for one in json.loads(Path("out/all/summary.json").read_text())["scenarios"]] == [
        "interrupted", "not run"
    ]  # fmt: skip
    assert names("out/all/a") == NUMBERS
    monkeypatch.setattr("contend.plots.picture_bytes", no_formula)
    assert main(["run", str(folder)]) == 1
    assert names("out/all/b") == NUMBERS
    assert "failed: cannot draw plot.png and plot.svg" in " ".join(capsys.readouterr().out.split())


@pytest.mark.core
def test_ctrl_c_while_a_page_is_made_says_where_the_results_are(
    small: contend.Scenario, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    write(small)
    monkeypatch.setattr("contend.report.page.render_page", press)
    for words in (["report", "small.json", "--no-speedups"], ["report", "out/small", "--no-simulate"]):
        assert main(words) == 130
        assert capsys.readouterr().err == (
            "contend: error: interrupted; the results are in out/small: `contend report out/small` goes on from there\n"
        )
        assert "report.html" not in names("out/small")


@pytest.mark.core
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
@pytest.mark.parametrize("place", ["contend.results.results.collect", "contend.plots.picture_bytes"])
def test_one_signal_after_the_last_simulation(sent: signal.Signals, code: int, place: str, tmp_path: Path) -> None:
    """In a process of its own: while results are summed up, and while they are drawn."""
    program = f"""
import os, signal, sys
from unittest.mock import patch
import {place.rpartition(".")[0]}
from contend.__main__ import run

original = {place}

def killed(*arguments):
    os.kill(os.getpid(), {int(sent)})
    return original(*arguments)

signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # which nohup has set to be ignored
with patch("{place}", killed):
    sys.argv[0] = "contend"
    run()
"""
    words = ["run", "fig5_2a_base", "--set", "sweep=null", "--iterations", "1", "--replications", "1", "--out", "o"]
    ended = subprocess.run(
        [sys.executable, "-c", program, *words], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ended.returncode == code, ended.stderr
    assert {path.name for path in (tmp_path / "o").iterdir()} == NUMBERS
    assert "interrupted while drawing: without plot.png and plot.svg, all else is in o" in ended.stderr
