"""What scenarios can name, as lists."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import contend
from contend.part_words import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.core


def test_presets_and_profiles_are_those_that_a_scenario_can_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = {"name": "mine", "description": "What we run. And why.", "library": {}}
    (tmp_path / "mine.json").write_text(json.dumps(own))
    monkeypatch.setenv("CONTEND_PRESETS", str(tmp_path))
    presets = contend.list_presets()
    assert {"mine", "ob1-base", "ch4-vci"} <= set(presets)
    first = presets.frame().filter(name="mine").row(0, named=True)
    assert first == {"name": "mine", "description": "What we run", "file": str(tmp_path / "mine.json")}
    assert len(presets) == presets.frame().height == len(presets.names)
    profiles = contend.list_profiles()
    alembert = profiles.frame().filter(name="alembert").row(0, named=True)
    assert alembert["description"].startswith("2 x Xeon E5-2650 v3")
    assert alembert["has_prices_for"] == "network interface, shared cores"
    assert all(profiles.frame()["description"])


def test_scenarios_can_be_loaded_by_the_names_that_are_listed() -> None:
    scenarios = contend.list_scenarios()
    assert "dissertation/fig5_2a_base" in scenarios
    assert len(set(scenarios)) == len(scenarios)
    assert all(scenarios.frame()["description"])
    # Of two folders: a name without its folder would stand for both.
    several = [name for name in scenarios if name.endswith("/uncertainty")]
    assert len(several) > 1
    for name in several:
        assert contend.load(name).path == Path(scenarios.frame().filter(name=name)["file"][0])


def test_every_part_of_the_core_is_listed_with_a_line_about_it() -> None:
    parts = contend.list_parts().frame()
    assert parts.filter(description="").is_empty()
    for kind in KINDS:
        listed = contend.list_parts(kind)
        assert listed.names == parts.filter(kind=kind)["name"].to_list() == sorted(listed)
        if kind != "workloads":
            assert set(KINDS[kind].about) == set(listed), "there is a line about a part that is none"
    with pytest.raises(contend.InputError, match=r"no parts of kind 'lock'; did you mean 'locks'\? There are: locks,"):
        contend.list_parts("lock")


def _choices(schema: dict[str, Any], properties: dict[str, Any], path: str) -> "Iterator[tuple[str, list[str]]]":
    """The values of a part of the schema that take one of some names, by path."""
    for key, value in properties.items():
        if "properties" in value:
            yield from _choices(schema, value["properties"], f"{path}.{key}")
        for form in (value, *value.get("anyOf", ())):
            if isinstance(names := form.get("enum"), list):
                yield f"{path}.{key}", names


def test_the_paths_of_a_kind_are_all_that_take_its_names() -> None:
    from contend._core import schema

    document = json.loads(schema("scenario"))
    sections = {"library": document["properties"]["library"]} | {
        name: part for name, part in document["$defs"].items() if name.startswith("workload_")
    }
    found: dict[str, set[str]] = {}
    for name, section in sections.items():
        where = "workload" if name.startswith("workload_") else name
        for path, names in _choices(document, section["properties"], where):
            for kind in KINDS:
                if set(contend.list_parts(kind)) <= set(names):
                    found.setdefault(kind, set()).add(path)
    assert found == {kind: set(words.paths) for kind, words in KINDS.items()}


def test_a_list_shows_all_of_it_in_a_notebook() -> None:
    locks = contend.list_parts("locks")
    html = locks._repr_html_()
    assert html.count("<tr>") == len(locks) + 1
    assert "<b>lock (library.instances.lock" in html
    assert "/libraries/" not in contend.list_presets()._repr_html_()
    assert repr(locks).splitlines()[1].startswith("  adaptive               spins for a number of attempts")
    assert locks[:2] == ["adaptive", "clh"]
    assert repr(contend.Listing("nothing", ())) == "nothing"
