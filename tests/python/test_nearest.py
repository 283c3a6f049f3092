"""The name that somebody probably meant."""

import json

import pytest

from contend.cli import main
from contend.common.nearest import nearest_names, proposal


@pytest.mark.parametrize(
    ("name", "nearest"),
    [("alembrt", ["Alembert"]), ("ALEMBERT", ["Alembert"]), ("Trinitite-KLN", ["trinitite-knl"]), ("xyz", [])],
)
def test_case_does_not_matter(name: str, nearest: list[str]) -> None:
    assert nearest_names(name, ["Alembert", "trinitite-knl", "vm-2core"]) == nearest


def test_several_come_best_first() -> None:
    assert nearest_names("pair", ["pairs", "pear", "window"], 2) == ["pairs", "pear"]


def test_a_message_ends_with_the_nearest_name_or_with_nothing() -> None:
    assert proposal("piars", ["pairs", "window"]) == "; did you mean 'pairs'?"
    assert [proposal(name, ["pairs"]) for name in ("xyz", 5, None)] == [""] * 3


def test_a_library_to_measure_is_proposed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lines", "openmpi"]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "no library 'openmpi'; there are: openmpi-5, " in said
    assert said.endswith("did you mean 'openmpi-5'?")


def test_a_family_of_presets_is_named_whatever_the_case(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["preset", "show", "OB1"]) == 2
    assert "did you mean 'ob1-" in capsys.readouterr().err


def test_what_differs_comes_first_and_is_counted_apart(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    assert main(["profile", "diff", "alembert", "trinitite-haswell"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert main(["profile", "diff", "alembert", "trinitite-haswell", "--values", "--json"]) == 0
    values = json.loads(capsys.readouterr().out)
    assert lines[0].strip() == f"alembert and trinitite-haswell: {len(values)} other values"
    # A line that goes on with the cells of the one above has no name.
    rows = [line[1:] for line in lines if line.startswith(" ") and not line.startswith("  ")]
    first_columns = [row.split()[0] for row in rows if "." in row.split()[0]]
    names = [entry["parameter"] for entry in values if "." in entry["parameter"]]
    assert [name for name in first_columns if name in names] == first_columns[: len(names)]
    assert any("->" in line for line in lines)
    assert (
        [line for line in lines if line.strip()][-1]
        .strip()
        .endswith("equal values with another source, uncertainty or note")
    )


def test_equal_profiles_differ_in_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["profile", "diff", "alembert", "alembert"]) == 0
    assert capsys.readouterr().out == "alembert and alembert: no parameter differs\n"
