"""What `contend calibrate` says of datasets that are of several machines."""

import json
from pathlib import Path
from typing import Any

import pytest

from calibrating import dataset, machine_points, rates, write
from contend.calibrate.measured_machine import several_machines, unnamed_machines
from contend.cli import main
from contend.common.errors import InputError
from contend.datasets.dataset import Dataset
from contend.datasets.reading import read_dataset

EPYC = {"id": "e1", "cpu": "AMD EPYC"}
# As an import without --machine had it in earlier versions, and what else says nothing of the machine.
IMPORTED = {"id": "b23a6a8439c0", "cpu": "unknown"}
UNNAMED = [IMPORTED, {}, {"cpu": "unknown"}, {"id": None, "cpu": None}]


def measured(folder: Path, names: str, **changes: Any) -> list[Dataset]:
    return [read_dataset(write(folder, rates(name, {1: [5e5], 2: [6e5]}) | changes)) for name in names]


def test_of_one_machine_there_is_nothing_to_say(tmp_path: Path) -> None:
    assert several_machines([]) == ""
    assert several_machines(measured(tmp_path, "abc")) == ""


@pytest.mark.parametrize(
    ("names", "machine", "said"),
    [
        ("c", EPYC, "are of 2 machines (a and b of a processor, id box; c of AMD EPYC, id e1): nothing is identified"),
        ("c", {"id": "e1"}, "; c of a processor that is not known, id e1): "),
        ("c", {"cpu": "AMD EPYC"}, "; c of AMD EPYC): "),
        ("cdefg", EPYC, "; c, d, e and 2 more of AMD EPYC, id e1): "),
    ],
)
def test_datasets_are_named_with_their_machines(names: str, machine: dict[str, Any], said: str, tmp_path: Path) -> None:
    assert said in several_machines([*measured(tmp_path, "ab"), *measured(tmp_path, names, machine=machine)])


@pytest.mark.parametrize("machine", UNNAMED)
def test_machines_without_a_name_are_not_several(machine: dict[str, Any], tmp_path: Path) -> None:
    unnamed = measured(tmp_path, "cd", machine=machine)
    both = [*measured(tmp_path, "ab"), *unnamed]
    assert several_machines(both) == ""
    assert unnamed_machines(both).startswith("c and d do not name their machine: all are taken to be of one, ")
    assert unnamed_machines(unnamed[:1]).startswith("c does not name its machine: ")
    assert "`contend import --machine TEXT` names it" in unnamed_machines(both)
    assert unnamed_machines(both[:2]) == ""


def measured_on_two(folder: Path, other: dict[str, Any]) -> None:
    """A folder of one machine's prices and rates, and of rates of another one."""
    folder.mkdir()
    write(folder, dataset("machine", {"kind": "machine"}, machine_points()))
    measured(folder, "a")
    measured(folder, "b", machine=other)


@pytest.mark.core
def test_a_calibration_says_once_that_machines_have_no_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    measured_on_two(tmp_path / "measured", IMPORTED)
    assert main(["calibrate", "measured", "--base", "alembert", "-o", "made.json", "--quiet", "--direct"]) == 0
    said = capsys.readouterr().err
    assert said.count("contend: warning: b does not name its machine") == 1
    assert "machines (" not in said
    made = json.loads(Path("made.json").read_text())["calibration"]
    assert list(made["machines"]) == ["box"]
    assert made["identified_directly"]


@pytest.mark.core
def test_a_calibration_of_several_machines_goes_on_with_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def begins(*_: object) -> None:
        raise InputError("it begins")

    monkeypatch.chdir(tmp_path)
    measured_on_two(tmp_path / "measured", EPYC)
    warning = (
        "contend: warning: the datasets are of 2 machines (a and machine of a processor, id box; b of AMD EPYC, id"
    )
    words = ["calibrate", "measured", "--base", "alembert", "-o", "made.json", "--quiet"]
    with monkeypatch.context() as patch:
        patch.setattr("contend.calibrate.pipeline.calibrate", begins)
        assert main(words) == 2
        said = capsys.readouterr().err
        assert said.startswith(warning)
        assert said.endswith("keeps them apart\ncontend: error: it begins\n")
    assert main([*words, "--direct"]) == 2
    assert "no dataset identifies a parameter directly" in capsys.readouterr().err
    # What is held out as a whole is in no fit.
    assert main([*words, "--direct", "--exclude", "b"]) == 0
    assert "machines" not in capsys.readouterr().err
    assert list(json.loads(Path("made.json").read_text())["calibration"]["machines"]) == ["box"]
