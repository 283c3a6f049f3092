"""Comparisons keep what they have simulated, in Python as on the command line."""

import errno
import re
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import Mock

import pytest

import contend
from contend.cli import main
from fakes import ctrl_c_after

if TYPE_CHECKING:
    from fakes import FakeCore

Capture = pytest.CaptureFixture[str]
pytestmark = pytest.mark.usefixtures("unrendered")


def test_an_interrupted_comparison_goes_on_where_it_was(core: "FakeCore", scenario: Path, capsys: Capture) -> None:
    """Replications that had finished are there, also where another command asks for them."""
    words = ["compare", str(scenario), str(scenario), "--set-b", "workload.iterations=20", "-j", "1"]
    words += ["--store", "kept", "--out"]
    core.seconds_per_run = 0.1
    with ctrl_c_after(core, runs=22):  # of 18 for either side
        assert main([*words, "o"]) == 130
    output = capsys.readouterr()
    said = re.search(
        r"interrupted: nothing was compared; (\d+) of 36 simulations are kept in kept: the same command", output.err
    )
    assert said
    assert not Path("o").exists()
    kept = int(said[1])
    assert kept >= 20
    core.seconds_per_run = 0.0
    calls = core.calls
    assert main([*words, "o"]) == 0
    assert core.calls == calls + 36 - kept
    assert f"{36 - kept} simulations done, {kept} were there already" in capsys.readouterr().out
    assert main(["compare", *words[1:-3], "--store", "other", "--out", "whole"]) == 0
    assert Path("whole/compare.json").read_bytes() == Path("o/compare.json").read_bytes()


def test_ctrl_c_after_the_simulations_of_a_comparison(
    core: "FakeCore", scenario: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def pressed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    del core
    monkeypatch.setattr("contend.comparisons.contest.compare_runs", pressed)
    assert main(["compare", str(scenario), str(scenario), "--store", "kept"]) == 130
    assert "compared; 18 of 18 simulations are kept in kept: the same command goes on" in capsys.readouterr().err


def test_a_comparison_without_a_place_to_keep_its_simulations(
    core: "FakeCore", scenario: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cache is a help, and a folder that was asked for a condition."""
    words = ["compare", str(scenario), str(scenario)]
    monkeypatch.setattr("contend.sweeps.store.default_store", lambda: scenario)
    assert main(words) == 0
    said = capsys.readouterr().err
    assert "a part of the path is a file: an interrupted comparison would begin anew (--store DIR)" in said
    calls = core.calls
    assert main([*words, "--store", str(scenario)]) == 1
    assert core.calls == calls
    full = OSError(errno.ENOSPC, "No space left on device")
    monkeypatch.setattr("contend.sweeps.store._Pack", Mock(side_effect=full))
    assert main([*words, "--store", "full"]) == 0


def test_in_python_runs_are_kept_in_the_same_place(
    core: "FakeCore", scenario: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("contend.sweeps.store.default_store", lambda: Path("cache"))
    longer = contend.load(scenario).with_({"workload.iterations": 20})
    first = contend.compare(scenario, longer, store="kept")
    assert core.calls == 36
    assert contend.compare(scenario, longer, store=Path("kept")).to_json() == first.to_json()
    words = ["compare", str(scenario), str(scenario), "--set-b", "workload.iterations=20", "--quiet", "--store"]
    assert main([*words, "kept"]) == 0
    assert contend.sweep(longer, store="kept").simulated == 0
    assert core.calls == 36
    contend.load(scenario).compare(longer, store="other")
    assert core.calls == 72
    assert contend.compare(scenario, longer).to_json() == first.to_json()
    assert core.calls == 108
    assert main(words[:-1]) == 0
    assert contend.compare(scenario, longer, replications=4).to_json() != first.to_json()
    assert core.calls == 108 + 12, "what is missing, and nothing else"


def test_in_python_an_interrupted_comparison_goes_on_where_it_was(core: "FakeCore", scenario: Path) -> None:
    longer = contend.load(scenario).with_({"workload.iterations": 20})
    core.seconds_per_run = 0.1
    with (
        ctrl_c_after(core, runs=22),
        pytest.raises(
            contend.InterruptedRunError,
            match=r"^interrupted: nothing was compared; \d+ of 36 simulations are kept in kept: the same call goes on",
        ) as caught,
    ):
        contend.compare(scenario, longer, jobs=1, store="kept")
    kept = int(str(caught.value).split("; ")[1].split()[0])
    assert 20 <= kept < 36
    core.seconds_per_run = 0.0
    calls = core.calls
    again = contend.compare(scenario, longer, store="kept")
    assert core.calls == calls + 36 - kept
    assert again.to_json() == contend.compare(scenario, longer, store="whole").to_json()


def test_in_python_the_cache_is_a_help_and_a_named_folder_a_condition(
    core: "FakeCore", scenario: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("contend.sweeps.store.default_store", lambda: scenario)
    assert contend.compare(scenario, scenario).points
    assert contend.compare(scenario, scenario).points
    assert core.calls == 2 * 36
    with pytest.raises(contend.ContendError, match="cannot write to the folder"):
        contend.compare(scenario, scenario, store=scenario)
    assert core.calls == 2 * 36
