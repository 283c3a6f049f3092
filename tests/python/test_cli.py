"""The commands: `run` and what all of them have in common."""

import contextlib
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
from contend.cli import main
from contend.cli.app import app
from fakes import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fakes import FakeCore

Capture = pytest.CaptureFixture[str]
pytestmark = pytest.mark.usefixtures("unrendered")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.pictures
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


def test_schema(core: "FakeCore", capsys: Capture) -> None:
    del core
    assert main(["schema", "profile"]) == 0
    assert json.loads(capsys.readouterr().out) == {"title": "profile"}


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


@contextlib.contextmanager
def _piped(text: str) -> "Iterator[None]":
    """A text from another program as the standard input of this process."""
    reader, writer = os.pipe()
    own = os.dup(0)
    os.dup2(reader, 0)
    os.close(reader)
    assert os.write(writer, text.encode()) == len(text)  # the pipe holds it
    os.close(writer)
    try:
        yield
    finally:
        os.dup2(own, 0)
        os.close(own)


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
def test_a_scenario_from_another_program(
    name: str, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    """Commands read what is piped to them; places in messages are of that text."""
    monkeypatch.chdir(tmp_path)
    scenario = json.loads((REPOSITORY / "scenarios/dissertation/fig5_2a_base.json").read_text())
    scenario["fabric"] = {"latency": "1 us", "bandwidth": "12.5 GB/s"}  # its own is a file beside it
    arguments = [word.format(name) for word in words]
    small = ["--set", "workload.pairs=1", "--set", "workload.iterations=1", "--replications", "2"]
    with _piped(json.dumps(scenario)):
        code = main([*arguments, *small])
    assert code == 0, capsys.readouterr().err
    with _piped(json.dumps({**scenario, "workload": {"kind": "multirat"}})):
        assert main([*arguments, *small]) == 2
    error = capsys.readouterr().err
    assert re.search(r"(standard-input|stdin):1: /workload/kind: found \"multirat\"", error), error


def _in_bash(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """A line in which `contend` is this one."""
    words = ["bash", "-c", f'contend() {{ "{sys.executable}" -m contend "$@"; }}; {line}']
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.core
def test_comparisons_of_what_other_programs_write(tmp_path: Path) -> None:
    """Their place is named after the scenarios, and a pipe may be both sides, also where B is resolved twice."""
    for name in ("one", "two"):
        scenario = contend.load("fig5_2a_base").with_({"workload.pairs": 1, "workload.iterations": 1}).document
        (tmp_path / f"{name}.json").write_text(json.dumps(scenario | {"name": name}))
    options = "--replications 2 -q --store s"
    for sides, place in (
        ("<(cat one.json) <(cat two.json) --check-pairing", "one_two"),
        ("- - --set-b workload.pairs=2 < <(cat one.json)", "one_one"),
        ("two.json /dev/stdin < <(cat one.json)", "two_one"),
    ):
        done = _in_bash(f"contend compare {options} {sides}", tmp_path)
        assert (done.returncode, done.stderr) == (0, ""), sides
        assert (tmp_path / "out/compare" / place / "compare.json").is_file()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("contend run <(yes '[')", "cannot read the scenario /dev/fd/63: larger than 8 MiB"),
        ("yes '[' | contend explain -", "cannot read the scenario /dev/stdin: larger than 8 MiB"),
        ("yes 1 | contend import osu-mbw-mr - -o d.json", "cannot read the file /dev/stdin: larger than 64 MiB"),
    ],
)
def test_a_pipe_without_an_end_is_refused(line: str, message: str, tmp_path: Path) -> None:
    done = _in_bash(line, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"contend: error: {message}\n")


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


@pytest.mark.core
@pytest.mark.parametrize("command", [["run"], ["run", "--print-resolved"], ["run", "--trace", "t.json"], ["explain"]])
def test_a_lock_has_acquisitions_where_others_have_iterations(command: list[str], capsys: Capture) -> None:
    assert main([*command, "locks/L06_core_to_core", "--iterations", "5"]) == 2
    error = capsys.readouterr().err
    assert "workload.iterations (--iterations): the workload 'lock' has none; allowed: workload.acquisitions" in error
    assert "did you mean" not in error
