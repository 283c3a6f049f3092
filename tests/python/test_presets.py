"""Presets that extend others, as the command line shows them."""

import json
from pathlib import Path

import pytest

from contend.common.errors import InputError
from contend.profiles.catalogs import PRESETS, parameters

WHY = {"source": "made up", "uncertainty": "none", "basis": "guess"}


def preset(name: str, library: dict[str, object], **more: object) -> str:
    about = {"schema_version": 1, "name": name, "description": f"What {name} is.", "models": "nothing"}
    return json.dumps({**about, **more, "library": library})


@pytest.fixture(autouse=True)
def _presets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTEND_PRESETS", str(tmp_path))
    lower = {"instances": {"count": {"value": 4, **WHY}, "lock": {"value": "mcs", **WHY}}}
    upper = {"instances": {"count": {"value": 2, **WHY}}, "matching": {"lock": {"value": "tas", **WHY}}}
    (tmp_path / "lower.json").write_text(preset("lower", lower))
    (tmp_path / "upper.json").write_text(preset("upper", upper, extends="lower"))
    (tmp_path / "top.json").write_text(preset("top", {}, extends="./upper.json"))
    (tmp_path / "loop.json").write_text(preset("loop", {}, extends="loop"))
    (tmp_path / "astray.json").write_text(preset("astray", {}, extends="uper"))


@pytest.mark.parametrize("name", ["upper", "top"])
def test_a_preset_has_the_values_of_the_one_that_it_extends(name: str) -> None:
    path, document = PRESETS.load(name)
    assert path.stem == document["name"] == name
    assert document["description"] == f"What {name} is."
    assert {entry.path: entry.value for entry in parameters(document)} == {
        "library.instances.count": 2,
        "library.instances.lock": "mcs",
        "library.matching.lock": "tas",
    }


def test_a_preset_that_extends_itself_or_nothing_is_refused() -> None:
    with pytest.raises(InputError, match=r"extend each other in a circle: loop\.json -> loop\.json"):
        PRESETS.load("loop")
    with pytest.raises(InputError, match=r"no library preset 'uper'; did you mean 'upper'\?"):
        PRESETS.load("astray")
