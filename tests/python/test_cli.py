import dataclasses
import errno
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import typer
from matplotlib.text import Text
from typer.core import TyperCommand, TyperGroup

import contend
from contend import files
from contend.catalogs import PROFILES
from contend.cli import main
from contend.cli.app import app
from fakes import REPOSITORY, ctrl_c_after

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fakes import FakeCore

Capture = pytest.CaptureFixture[str]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_run_writes_and_prints(core: "FakeCore", scenario: Path, capsys: Capture) -> None:
    del core
    assert main(["run", str(scenario), "-j", "2"]) == 0
    output = capsys.readouterr()
    assert "95 % CI" in output.out
    assert "wrote out/small/plot.svg" in output.out
    assert names(Path("out/small")) == ["plot.png", "plot.svg", "results.csv", "results.json", "results.parquet"]


def test_no_more_are_at_once_than_there_are(core: "FakeCore", scenario: Path, capsys: Capture) -> None:
    core.pairs = [1]
    assert main(["run", str(scenario), "--replications", "2", "-j", "100000"]) == 0
    assert "2 points, 4 runs in 0.0 s, 4 at once" in capsys.readouterr().out
    assert main(["run", str(scenario), "--replications", "2", "-j", "3"]) == 0
    assert " s, 3 at once" in capsys.readouterr().out


def test_options_become_overrides(core: "FakeCore", scenario: Path, capsys: Capture) -> None:
    del core
    options = ["--seed", "7", "--replications", "2", "--iterations", "5", "--set", "workload.window=64", "--json"]
    assert main(["run", str(scenario), *options, "--out", "here"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document == json.loads(Path("here/results.json").read_text())
    assert document["seed"] == 7
    assert document["scenario"]["workload"] == {"pairs": 1, "iterations": 5, "window": 64}
    assert document["points"][0]["message_rate"]["replications"] == 2


def test_titles_say_what_was_changed(core: "FakeCore", scenario: Path, capsys: Capture) -> None:
    from contend.plots import draw

    del core
    assert main(["run", str(scenario), "--quiet"]) == 0
    plain = contend.load_results("out/small")
    assert plain.changes == ""
    assert "overrides" not in plain.to_json()
    changes = ["--set", "workload.window=64", "--set", 'workload.pattern="crossing"', "--iterations", "5"]
    assert main(["run", str(scenario), *changes]) == 0
    said = "with window=64, pattern=crossing, iterations=5"
    assert [line.strip() for line in capsys.readouterr().out.splitlines()[:2]] == ["small", said]
    later = contend.load_results("out/small")
    assert later.changes == said
    assert list(later.to_json()["overrides"]) == ["workload.window", "workload.pattern", "workload.iterations"]
    assert said in [text.get_text() for text in draw(later).findobj(Text)]
    assert main(["report", "out/small", "--no-simulate"]) == 0
    assert f">{said}</p>" in Path("out/small/report.html").read_text()
    capsys.readouterr()
    assert main(["sweep", str(scenario), *changes, "--store", "store"]) == 0
    assert said in capsys.readouterr().out
    assert json.loads(Path("out/small-sweep/sweep.json").read_text())["overrides"]["workload.window"] == "64"


def test_quiet(core: "FakeCore", scenario: Path, capsys: Capture) -> None:
    del core
    assert main(["run", str(scenario), "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


def test_print_resolved(core: "FakeCore", scenario: Path, capsys: Capture) -> None:
    assert main(["run", str(scenario), "--print-resolved", "--seed", "9"]) == 0
    text = capsys.readouterr().out
    assert "run.seed" in text
    assert "command line" in text
    assert "6 points; swept: pairs, lock" in text
    assert main(["run", str(scenario), "--print-resolved", "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out)) == {"document", "origins", "points"}
    assert core.calls == 0
    assert not Path("out").exists()


def test_check_determinism(core: "FakeCore", scenario: Path, capsys: Capture) -> None:
    assert main(["run", str(scenario), "--check-determinism"]) == 0
    assert "all runs gave the same bytes" in capsys.readouterr().out
    core.deterministic = False
    assert main(["run", str(scenario), "--check-determinism", "--json"]) == 1
    output = capsys.readouterr()
    assert json.loads(output.out)["deterministic"] is False
    assert "the runs differ" in output.err
    assert not Path("out").exists()


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
    "command", [["run"], ["explain"], ["compare", "small.json"], ["report"], ["dataset", "show"], ["trace-plot"]]
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
    monkeypatch.setattr("contend.bench.run", lambda *_, **__: pytest.fail("it has measured"))
    assert main(words) in (1, 2)
    assert message in capsys.readouterr().err
    assert core.calls == 0
    assert names(scenario.parent) == ["small.json"]


def test_without_the_program_that_reads_platforms_the_error_says_so(
    core: "FakeCore", scenario: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    core.uses_route = True
    monkeypatch.setattr("contend.simgrid.executable", lambda _: None)
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


def test_schema(core: "FakeCore", capsys: Capture) -> None:
    del core
    assert main(["schema", "profile"]) == 0
    assert json.loads(capsys.readouterr().out) == {"title": "profile"}


def test_profile_show(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    profile = {"title": "T", "nic": {"gap": {"value": 3, "unit": "ns", "source": "S", "uncertainty": {"percent": 5}}}}
    (tmp_path / "machine.json").write_text(json.dumps(profile))
    monkeypatch.setenv("CONTEND_PROFILES", str(tmp_path))
    assert main(["profile", "show", "machine"]) == 0
    assert "nic.gap" in capsys.readouterr().out
    assert main(["profile", "list"]) == 0
    assert f"machine\t{tmp_path / 'machine.json'}\t\tlocks without messages\n" in capsys.readouterr().out
    monkeypatch.setenv("COLUMNS", "60")
    assert main(["profile", "show", "machine"]) == 0
    assert '\nnic.gap = 3 ns\n    uncertainty: {"percent": 5}\n    source: S\n' in capsys.readouterr().out
    assert main(["profile", "show", "machin"]) == 2
    assert "did you mean 'machine'" in capsys.readouterr().err


def test_preset_show(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    count = {"value": 20, "source": "S", "uncertainty": "exact", "basis": "literature"}
    preset = {
        "name": "mine",
        "description": "Mine. Not yours.",
        "models": "a library",
        "library": {"instances": {"count": count}},
    }
    (tmp_path / "mine.json").write_text(json.dumps(preset))
    monkeypatch.setenv("CONTEND_PRESETS", str(tmp_path))
    assert main(["preset", "show", "mine"]) == 0
    shown = capsys.readouterr().out
    assert "library.instances.count" in shown
    assert "a library" in shown
    assert main(["preset", "list"]) == 0
    assert f"mine\t{tmp_path / 'mine.json'}\tMine\n" in capsys.readouterr().out
    assert main(["preset", "show", "min"]) == 2
    assert "no library preset 'min'; did you mean 'mine'" in capsys.readouterr().err
    for family in ("our-slow", "our-fast"):
        (tmp_path / f"{family}.json").write_text(json.dumps(preset | {"name": family}))
    assert main(["preset", "show", "our"]) == 2
    assert "no library preset 'our'; did you mean 'our-fast', 'our-slow'?" in capsys.readouterr().err
    assert main(["run", str(tmp_path / "mine.json")]) == 2
    assert "mine.json is a library preset; a scenario names it in library.preset" in capsys.readouterr().err
    assert main(["run", str(PROFILES.available()["alembert"])]) == 2
    assert "is a machine profile; a scenario names it in machine.profile" in capsys.readouterr().err


def test_version_and_help_are_fast() -> None:
    program = "import sys, contend.cli; sys.exit(contend.cli.main(['--help']) or any(m in sys.modules for m in %r))"
    heavy = ("polars", "matplotlib", "scipy", "numpy", "contend._core")
    begin = time.monotonic()
    subprocess.run([sys.executable, "-c", program % (heavy,)], check=True, stdout=subprocess.DEVNULL)
    assert time.monotonic() - begin < 5


def test_version(capsys: Capture) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"contend {(REPOSITORY / 'VERSION').read_text().strip()}\n"
    assert contend.__version__ in (REPOSITORY / "VERSION").read_text()


@pytest.mark.parametrize("words", [["run", "base", "--out", ""], ["run", "base", "--out="], ["run", ""]])
def test_an_empty_value_is_no_folder(words: list[str], capsys: Capture) -> None:
    assert main(words) == 2
    assert "an empty value after" in capsys.readouterr().err


def test_a_closed_stream_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout", None)
    assert main(["--version"]) == 0


@pytest.mark.parametrize("command", [["profile", "show"], ["profile", "diff", "alembert"]])
def test_a_file_without_values_is_not_shown(command: list[str], tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "empty.json").write_text("{}")
    assert main([*command, str(tmp_path / "empty.json")]) == 2
    assert "empty.json: not a machine profile: it has no values" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["validate"], ["calibrate"]])
def test_a_file_that_is_no_profile_is_refused(command: list[str], tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "empty.json").write_text("{}")
    dataset = str(REPOSITORY / "validation/data/vm-2core/openmpi-5_tcp_shared.json")
    profile = str(tmp_path / "empty.json")
    if command == ["calibrate"]:
        words = ["calibrate", dataset, "--base", profile, "-o", str(tmp_path / "out.json")]
    else:
        words = [*command, profile, dataset]
    assert main(words) == 2
    assert "empty.json:1: /schema_version: is missing" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty.json"]


def test_ctrl_c_where_nothing_is_simulated_says_so(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("contend.scenario.find_scenario", interrupted)
    assert main(["run", "fig5_2a_base"]) == 130
    assert capsys.readouterr().err == "contend: error: interrupted\n"


def test_results_of_other_settings_are_not_replaced_without_a_word(
    core: "FakeCore", scenario: Path, capsys: Capture
) -> None:
    del core
    note = "contend: replaced results of other settings in out/small"
    for options, is_told in (([], False), ([], False), (["--seed", "9"], True), (["--seed", "9"], False)):
        assert main(["run", str(scenario), *options]) == 0
        assert capsys.readouterr().err == (f"{note} (--out DIR keeps both)\n" if is_told else ""), options
    for name in ("report.html", "trace.json"):
        Path("out/small", name).write_text("of seed 9")
    assert main(["run", str(scenario), "--out", "out/small"]) == 0
    assert capsys.readouterr().err == f"{note}; report.html and trace.json there are of earlier ones\n"
    assert main(["run", str(scenario), "--seed", "9", "--quiet"]) == 0
    assert capsys.readouterr().err == ""
    Path("out/small/results.json").write_text("{")
    assert main(["run", str(scenario)]) == 0
    assert "replaced" not in capsys.readouterr().err
    assert main(["compare", str(scenario), str(scenario)]) == 0
    assert main(["compare", str(scenario), str(scenario)]) == 0
    assert capsys.readouterr().err == ""
    assert main(["compare", str(scenario), str(scenario), "--seed", "9"]) == 0
    replaced = "contend: replaced another comparison in out/compare/small_small (--out DIR keeps both)\n"
    assert capsys.readouterr().err == replaced


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


def _all_commands(command: object, words: tuple[str, ...] = ()) -> "Iterator[tuple[tuple[str, ...], TyperCommand]]":
    if isinstance(command, TyperGroup):
        for name, inner in command.commands.items():
            yield from _all_commands(inner, (*words, name))
    elif isinstance(command, TyperCommand):
        yield words, command


@pytest.mark.parametrize(
    ("words", "command"),
    [pytest.param(words, command, id=" ".join(words)) for words, command in _all_commands(typer.main.get_command(app))],
)
def test_help_says_what_the_source_says_at_any_width(
    words: tuple[str, ...], command: TyperCommand, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """Its paragraphs break where the terminal ends, and what stands in brackets is no markup."""
    monkeypatch.setenv("COLUMNS", "2000")
    assert main([*words, "--help"]) == 0
    shown = capsys.readouterr().out
    texts = [
        *str(command.help).split("\n\n"),
        *(getattr(parameter, "help", None) or "" for parameter in command.params),
    ]
    for text in texts:
        assert " ".join(text.replace("`", "").split()) in shown
    assert "<bool>" not in shown  # flags take no value


@pytest.mark.core
@pytest.mark.parametrize(
    "words",
    [
        ["run", "{}", "--out", "out"],
        ["sweep", "{}", "--out", "out", "--store", "store"],
        ["compare", "{}", "fig5_2a_base", "--out", "out"],
        ["explain", "{}", "--no-speedups"],
        ["report", "{}", "--no-speedups"],
    ],
    ids=lambda words: words[0],
)
@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
def test_a_scenario_from_another_program(name: str, words: list[str], tmp_path: Path) -> None:
    """Commands read what is piped to them; places in messages are of that text."""
    scenario = json.loads((REPOSITORY / "scenarios/dissertation/fig5_2a_base.json").read_text())
    scenario["fabric"] = {"latency": "1 us", "bandwidth": "12.5 GB/s"}  # its own is a file beside it
    arguments = [word.format(name) for word in words]
    small = ["--set", "workload.pairs=1", "--set", "workload.iterations=1", "--replications", "2"]

    def run(text: str) -> subprocess.CompletedProcess[str]:
        program = [sys.executable, "-m", "contend", *arguments, *small]
        return subprocess.run(program, input=text, cwd=tmp_path, capture_output=True, text=True, check=False)

    done = run(json.dumps(scenario))
    assert done.returncode == 0, done.stderr
    wrong = run(json.dumps({**scenario, "workload": {"kind": "multirat"}}))
    assert wrong.returncode == 2
    assert re.search(r"(standard-input|stdin):1: /workload/kind: found \"multirat\"", wrong.stderr), wrong.stderr


def test_letters_that_the_terminal_lacks_are_escaped(tmp_path: Path) -> None:
    document = json.loads((REPOSITORY / "scenarios/dissertation/fig5_2a_base.json").read_text())
    document["name"] = "caf\u00e9"
    document["fabric"] = {"latency": "1 us", "bandwidth": "10 GB/s"}
    document["sweep"] = {"workload.pairs": [1]}
    document["run"]["replications"] = 1
    (tmp_path / "cafe.json").write_text(json.dumps(document))
    for words in (["--json"], []):
        command = [sys.executable, "-P", "-m", "contend", "run", "cafe.json", "--iterations", "1", *words]
        environment = os.environ | {"PYTHONIOENCODING": "ascii"}
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
        assert "caf\\u00e9" in done.stdout
        assert not words or json.loads(done.stdout)["scenario"]["name"] == "caf\u00e9"


def test_listed_profiles_can_be_told_apart(capsys: Capture) -> None:
    assert main(["profile", "list"]) == 0
    shown = {line.split("\t")[0]: line.split("\t")[2] for line in capsys.readouterr().out.splitlines()}
    assert len(set(shown.values())) == len(shown)
    assert shown["alembert"] != shown["alembert-counters"]
    assert main(["profile", "list"]) == 0
    has = {line.split("\t")[0]: line.split("\t")[3] for line in capsys.readouterr().out.splitlines()}
    assert has["alembert"] == "network interface, shared cores"
    assert has["epyc-9654"] == "locks without messages"
    assert all(text.startswith("2 x Xeon E5-2650 v3") for name, text in shown.items() if name.startswith("alembert"))


@pytest.mark.core
@pytest.mark.parametrize(
    ("scenario", "profile", "message"),
    [
        ("fine-grain/back_ends", "alembert", "(coroutines): x5550-10gige"),
        ("fig5_2a_base", "epyc-9654", "(network interface): alembert-counters, alembert, bluegene-p,"),
    ],
)
def test_profiles_with_the_prices_that_one_lacks_are_named(
    scenario: str, profile: str, message: str, capsys: Capture
) -> None:
    assert main(["run", scenario, "--set", f"machine.profile={profile}"]) == 2
    assert f"profiles with prices for that {message}" in capsys.readouterr().err


@pytest.mark.core
@pytest.mark.parametrize("command", [["run"], ["run", "--print-resolved"], ["run", "--trace", "t.json"], ["explain"]])
def test_a_lock_has_acquisitions_where_others_have_iterations(command: list[str], capsys: Capture) -> None:
    assert main([*command, "locks/L06_core_to_core", "--iterations", "5"]) == 2
    error = capsys.readouterr().err
    assert "workload.iterations (--iterations): the workload 'lock' has none; allowed: workload.acquisitions" in error
    assert "did you mean" not in error


@pytest.mark.core
@pytest.mark.parametrize("kind", ["tcp", "shared-memory"])
def test_profiles_with_prices_of_a_transport_are_named(kind: str, capsys: Capture) -> None:
    words = ["run", "fig5_2a_base", "--set", "workload.pairs=1", "--set", f"library.transport.kind={kind}"]
    assert main(words) == 2
    assert f"profiles with prices for that ({kind}): vm-2core" in capsys.readouterr().err


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
