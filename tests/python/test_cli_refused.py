"""What all commands refuse, and what they leave behind when they fail or are interrupted."""

import dataclasses
import errno
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import contend
from contend.cli import main
from contend.common import files
from contend.profiles.catalogs import PROFILES
from fakes import REPOSITORY, ctrl_c_after

if TYPE_CHECKING:
    from fakes import FakeCore

Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rnu"], "Did you mean 'run'"),
        (["run", "small.json", "--replicatoins", "3"], "--replications"),
        (["run", "small.json", "-j", "0"], "'--jobs' / '-j': found '0'; must be greater than or equal to 1 (try"),
        (["run", "small.json", "--seed", "-1"], "'--seed': found '-1'; must be greater than or equal to 0 (try"),
        (["run", "small.json", "--iterations", "1.5"], "'--iterations': found '1.5'; must be a valid integer (try"),
        (["run", "small.json", "--trace-limit", "x" * 99], f"found '{'x' * 59}...; must be a valid number (try"),
        (["run", "small.json", "--set", "nonsense"], "expected dotted.path=value"),
        (["run", "small.json", "--set", "wokload.pairs=1"], "did you mean 'workload'"),
        (["run", "smal.json"], "no scenario file 'smal.json'; did you mean 'small.json'?"),
        (["run", ".", "--print-resolved"], "is a folder; --print-resolved wants a single scenario"),
        (["run", "small.json", "--print-resolved", "-o", "d"], "--print-resolved excludes --out"),
        (["run", "small.json", "--check-determinism", "-o", "d"], "--check-determinism excludes --out"),
        (
            ["run", "small.json", "--print-resolved", "--check-determinism", "-o", "d"],
            "--print-resolved excludes --check-determinism and --out",
        ),
        (["run"], "Missing argument"),
        (["explain", "--set"], "requires an argument. (try 'contend explain --help')"),
        (["profile", "show", "nothing", "--jsno"], "(try 'contend profile show --help')"),
        (["run", "small.json", "--engine", "gem5"], "'--engine': 'gem5' is not one of 'contend', 'simgrid'"),
        (["bench", "--repetitions", "0"], "'--repetitions': found '0'; must be greater than or equal to 1"),
        (["bench", "--jsno", "b.json"], "No such option: --jsno"),
        (["profile", "show", "nothing"], "no machine profile"),
        (["test", "--python-only", "--cpp-only"], "excludes"),
        (["test", "--fuzz", "5", "--sanitize", "asan"], "--fuzz is run by itself"),
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
    assert output.err.count("\n") == 1
    assert "Traceback" not in output.err


@pytest.mark.parametrize("command", [["run"], ["explain"], ["compare", "small.json"], ["report"]])
def test_a_link_that_leads_nowhere_is_named_as_such(
    core: "FakeCore", scenario: Path, capsys: Capture, command: list[str]
) -> None:
    del core
    (scenario.parent / "broken.json").symlink_to("gone.json")
    (scenario.parent / "loop.json").symlink_to("loop.json")
    for name, ends in (
        ("broken", "'gone.json', which leads to no file"),
        ("loop", "'loop.json', which leads in a circle"),
    ):
        assert main([*command, f"{name}.json"]) == 2
        assert capsys.readouterr().err == f"contend: error: {name}.json is a symbolic link to {ends}\n"


@pytest.mark.parametrize(
    "command",
    [["run"], ["explain"], ["compare", "small.json"], ["report"], ["dataset", "show"], ["plot"], ["trace-plot"]],
)
def test_a_name_that_no_file_can_have_is_shortened(
    core: "FakeCore", scenario: Path, capsys: Capture, command: list[str]
) -> None:
    del core, scenario
    assert main([*command, "x" * 5000]) == 2
    message = capsys.readouterr().err
    assert "the name is too long" in message
    assert len(message) < 200


def test_a_failed_simulation_is_1_and_leaves_no_folder(core: "FakeCore", scenario: Path, capsys: Capture) -> None:
    core.fail_at = 2
    assert main(["run", str(scenario)]) == 1
    assert "deadlock" in capsys.readouterr().err
    assert not Path("out/small").exists()


def test_a_full_disk_is_1_and_leaves_nothing(
    core: "FakeCore", scenario: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    del core

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    assert main(["run", str(scenario), "--out", "there"]) == 1
    assert "no space left" in capsys.readouterr().err
    assert not Path("there").exists()


def test_an_unwritable_folder_is_noticed_before_the_work(core: "FakeCore", scenario: Path, capsys: Capture) -> None:
    assert main(["run", str(scenario), "--out", str(scenario)]) == 1
    assert "there is a file of that name" in capsys.readouterr().err
    assert core.calls == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["bench", "--json", "small.json/b.json"], "small.json: there is a file of that name"),
        (["bench", "--json", "."], "cannot write .: that is a folder"),
        (["explain", "small.json", "--json", "small.json/e.json"], "small.json: there is a file of that name"),
        (["report", "small.json", "--out", "small.json/r.html"], "small.json: there is a file of that name"),
        (["run", "small.json", "--trace", "small.json/t.json"], "small.json: there is a file of that name"),
    ],
)
def test_an_output_file_that_cannot_be_written_is_noticed_before_the_work(  # noqa: PLR0917
    core: "FakeCore", scenario: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch, words: list[str], message: str
) -> None:
    monkeypatch.setattr("contend.upkeep.bench.run", lambda *_, **__: pytest.fail("it has measured"))
    assert main(words) in (1, 2)
    assert message in capsys.readouterr().err
    assert core.calls == 0
    assert [path.name for path in scenario.parent.iterdir()] == ["small.json"]


def test_without_the_program_that_reads_platforms_the_error_says_so(
    core: "FakeCore", scenario: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    core.uses_route = True
    monkeypatch.setattr("contend.engine.simgrid.executable", lambda _: None)
    assert main(["run", str(scenario)]) == 1
    assert "the program contend-simgrid is not built" in capsys.readouterr().err


def test_a_bug_is_one_line_unless_debugging(
    core: "FakeCore", scenario: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(core, "resolve", lambda *_: 1 / 0)
    assert main(["run", str(scenario)]) == 1
    assert "a bug in contend" in capsys.readouterr().err
    with pytest.raises(ZeroDivisionError):
        main(["run", str(scenario), "--debug"])


@pytest.mark.parametrize("words", [["run", "base", "--out", ""], ["run", "base", "--out="], ["run", ""]])
def test_an_empty_value_is_no_folder(words: list[str], capsys: Capture) -> None:
    assert main(words) == 2
    assert "an empty value after" in capsys.readouterr().err


def test_a_closed_stream_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout", None)
    assert main(["--version"]) == 0


def test_ctrl_c_where_nothing_is_simulated_says_so(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("contend.scenarios.resolution.find_scenario", interrupted)
    assert main(["run", "fig5_2a_base"]) == 130
    assert capsys.readouterr().err == "contend: error: interrupted\n"


def test_ctrl_c_says_what_is_kept(core: "FakeCore", scenario: Path, capsys: Capture) -> None:
    core.seconds_per_run = 0.1
    with ctrl_c_after(core, runs=4):
        assert main(["run", str(scenario), "-j", "1", "--replications", "2"]) == 130
    assert "interrupted; 1 of 6 points are complete, 1 in part, kept in out/small" in capsys.readouterr().err
    kept = contend.load_results("out/small")
    assert len(kept.points) == 2
    assert kept.title == "small, interrupted: 1 of 6 points, 1 in part"
    assert kept.title in Path("out/small/plot.svg").read_text()
    assert contend.Results.from_json(kept.to_json()).title == kept.title
    assert dataclasses.replace(kept, planned=None).title == "small, interrupted, 1 in part"
    assert main(["report", "out/small", "--no-simulate"]) == 0


def test_ctrl_c_leaves_complete_results_alone(core: "FakeCore", scenario: Path, capsys: Capture) -> None:
    assert main(["run", str(scenario), "--quiet"]) == 0
    complete = Path("out/small/results.json").read_bytes()
    core.seconds_per_run = 0.1
    with ctrl_c_after(core, runs=core.calls + 4):
        assert main(["run", str(scenario), "-j", "1", "--replications", "2", "--seed", "5"]) == 130
    output = capsys.readouterr().err
    assert "kept in out/small/interrupted; out/small has complete results of an earlier run" in output
    assert "replaced" not in output
    assert Path("out/small/results.json").read_bytes() == complete
    assert json.loads(Path("out/small/interrupted/results.json").read_text())["interrupted"] is True


@pytest.mark.core
def test_files_of_another_kind_are_recognised(tmp_path: Path, capsys: Capture) -> None:
    scenario = str(REPOSITORY / "scenarios/dissertation/fig5_2a_base.json")
    dataset = str(REPOSITORY / "validation/data/vm-2core/openmpi-5_tcp_shared.json")
    profile, preset = str(PROFILES.available()["alembert"]), str(REPOSITORY / "libraries/ob1-base.json")
    out = str(tmp_path / "out.json")
    for words, message in (
        (["run", dataset, "--profile", scenario], f"{scenario} is a scenario, not a machine profile"),
        (["profile", "show", scenario], f"{scenario} is a scenario, not a machine profile"),
        (["profile", "show", dataset], f"{dataset} is a measured dataset, not a machine profile"),
        (["preset", "show", profile], f"{profile} is a machine profile, not a library preset"),
        (["dataset", "show", scenario], f"{scenario} is a scenario, not a measured dataset"),
        (["plot", scenario], f"{scenario} is a scenario, not a result of `contend run`"),
        (["plot", dataset], f"{dataset} is a measured dataset, not a result of `contend run`"),
        (["calibrate", profile, "--base", "alembert", "-o", out], f"{profile} is a machine profile, not a measured"),
        (["calibrate", preset, "--base", "alembert", "-o", out], f"{preset} is a library preset, not a measured"),
        (["calibrate", dataset, "--base", dataset, "-o", out], f"{dataset} is a measured dataset, not a machine"),
    ):
        assert main(words) == 2
        assert message in capsys.readouterr().err
    mine = tmp_path / "mine.json"
    mine.write_text(json.dumps(json.loads(Path(profile).read_text()) | {"speed": 3}))
    assert main(["run", "fig5_2a_base", "--set", f"machine.profile={mine}"]) == 2
    assert capsys.readouterr().err.count(" name,") == 1
