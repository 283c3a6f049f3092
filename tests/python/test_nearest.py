"""The name that somebody probably meant."""

import pytest

from contend.cli import main
from contend.nearest import nearest_names


@pytest.mark.parametrize(
    ("name", "nearest"),
    [("alembrt", ["Alembert"]), ("ALEMBERT", ["Alembert"]), ("Trinitite-KLN", ["trinitite-knl"]), ("xyz", [])],
)
def test_case_does_not_matter(name: str, nearest: list[str]) -> None:
    assert nearest_names(name, ["Alembert", "trinitite-knl", "vm-2core"]) == nearest


def test_several_come_best_first() -> None:
    assert nearest_names("pair", ["pairs", "pear", "window"], 2) == ["pairs", "pear"]


def test_a_family_of_presets_is_named_whatever_the_case(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["preset", "show", "OB1"]) == 2
    assert "did you mean 'ob1-" in capsys.readouterr().err


def test_equal_profiles_differ_in_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["profile", "diff", "alembert", "alembert"]) == 0
    assert capsys.readouterr().out == "alembert and alembert: no parameter differs\n"
