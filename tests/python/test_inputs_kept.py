"""No command replaces what it reads by what it writes."""

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from calibrating import mapping, rates, write
from contend.cli import main
from contend.profiles.catalogs import PROFILES

if TYPE_CHECKING:
    from fakes import FakeCore

Capture = pytest.CaptureFixture[str]
DATASET = "the dataset itself"
SCENARIO = "the scenario itself"


@pytest.fixture
def folder(core: "FakeCore", tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with something of each kind that commands read."""
    del core
    monkeypatch.chdir(tmp_path)
    write(tmp_path, rates("d", {1: [5e5], 2: [4e5], 4: [3e5]}))
    (tmp_path / "link.json").symlink_to("d.json")
    (tmp_path / "data").mkdir()
    write(tmp_path / "data", rates("e", {1: [5e5]}))
    (tmp_path / "p.json").write_text(json.dumps(PROFILES.load("alembert")[1]))
    (tmp_path / "m.json").write_text(mapping().model_dump_json())
    (tmp_path / "run").mkdir()
    for name in ("s", "results", "compare", "explain", "sweep"):
        (tmp_path / f"{name}.json").write_text('{"name": "small"}')
    (tmp_path / "run" / "results.json").write_text("{}")
    (tmp_path / "results.csv").write_text("workload.pairs\n1\n")
    (tmp_path / "o.json").write_text("what a benchmark printed")
    return tmp_path


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("calibrate d.json --base alembert -o d.json --direct", DATASET),
        ("calibrate d.json --base alembert -o link.json --direct", DATASET),
        ("calibrate data --base alembert -o data/e.json --direct", DATASET),
        ("calibrate d.json --base p.json -o p.json --direct", "the base profile itself"),
        ("calibrate d.json --base alembert --mapping m.json -o ./m.json", "the mapping itself"),
        ("validate p.json d.json --json d.json", DATASET),
        ("validate p.json d.json --json p.json", "the profile itself"),
        ("import osu-mbw-mr o.json -o o.json", "the benchmark's output itself"),
        ("dataset scenario d.json --mapping m.json -o m.json", "the mapping itself"),
        ("profile scope p.json a/tcp -o p.json", "the profile itself"),
        ("run s.json --trace s.json", SCENARIO),
        ("run results.json -o .", SCENARIO),
        ("explain s.json --json s.json", SCENARIO),
        ("explain explain.json -o .", SCENARIO),
        ("report s.json -o s.json", SCENARIO),
        ("report run -o run/results.json", "the run's results.json itself"),
        ("compare s.json compare.json -o .", SCENARIO),
        ("sweep sweep.json -o .", SCENARIO),
        ("sweep s.json --list results.csv -o .", "the list of points itself"),
    ],
)
def test_what_is_read_is_not_replaced(folder: Path, capsys: Capture, command: str, message: str) -> None:
    before = {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
    assert main(shlex.split(command)) == 2
    said = capsys.readouterr().err
    assert message in said
    assert "name another file" in said
    assert {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()} == before


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("import osu-mbw-mr o.json -o p.json", "-o p.json is a machine profile, not a measured dataset, and would"),
        ("import osu-mbw-mr o.json -o full.json", "-o full.json is a scenario, not a measured dataset"),
        ("import osu-mbw-mr o.json -o m.json", "-o m.json is a mapping, not a measured dataset"),
        ("calibrate d.json --base alembert -o data/e.json --direct", "is a measured dataset, not a machine profile"),
        ("calibrate d.json --base alembert -o full.json --direct", "is a scenario, not a machine profile"),
        ("dataset scenario d.json -o data/e.json", "is a measured dataset, not a scenario"),
        ("profile scope alembert a/tcp -o d.json", "is a measured dataset, not a machine profile"),
        ("validate alembert d.json --json p.json", "is a machine profile, not a result of `contend validate`"),
        ("explain s.json --json d.json", "is a measured dataset, not a result of `contend explain`"),
        ("run s.json --trace p.json", "--trace p.json is a machine profile, not a trace"),
        ("lines openmpi-5 --json p.json", "--json p.json is a machine profile, not a file of counted lines"),
        ("bench --json p.json", "--json p.json is a machine profile, not a file of benchmark figures"),
    ],
)
def test_nothing_replaces_a_file_of_another_kind(folder: Path, capsys: Capture, command: str, message: str) -> None:
    (folder / "full.json").write_text('{"name": "full", "machine": {}, "workload": {}}')
    test_what_is_read_is_not_replaced(folder, capsys, command, message)


@pytest.mark.core
def test_nor_is_a_dataset_by_its_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.chdir(tmp_path)
    document = rates("d", {1: [5e5]}, pattern="pairwise", mode="thread", message_size="0 B", iterations=3)
    written = write(tmp_path, document)
    (tmp_path / "m.map").write_text(mapping().model_dump_json())
    words = ["run", "d.json", "--profile", "alembert", "--mapping", "m.map", "--trace"]
    assert main([*words, "d.json"]) == 2
    assert DATASET in capsys.readouterr().err
    assert main([*words, "m.map"]) == 2
    assert "the mapping itself" in capsys.readouterr().err
    assert json.loads(written.read_text()) == document
