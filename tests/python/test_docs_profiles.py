"""The page on machine profiles: its example is a profile that commands take, and its tables are complete."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from contend.cli import main
from contend.profiles.catalogs import PROFILES
from fakes import REPOSITORY

if TYPE_CHECKING:
    from pathlib import Path

    from contend.common.jsontypes import JsonObject

Capture = pytest.CaptureFixture[str]

PAGE = REPOSITORY / "docs" / "profiles.md"
DATA = REPOSITORY / "validation" / "data" / "vm-2core"


def _first_cells(heading: str) -> set[str]:
    """What the first column of the table below a heading names."""
    section = PAGE.read_text(encoding="utf-8").partition(f"## {heading}\n")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    return {name for row in rows for name in re.findall(r"`(\w+)`", row.split(" | ")[0])}


def _edited(document: JsonObject, changes: JsonObject) -> JsonObject:
    """A copied profile with what the page shows put in, section by section."""
    edited = dict(document)
    for key, value in changes.items():
        edited[key] = {**document[key], **value} if isinstance(value, dict) else value
    return edited


def _blocks() -> list[JsonObject]:
    return [json.loads(block) for block in re.findall(r"```json\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)]


@pytest.fixture
def my_node(tmp_path: Path) -> Path:
    _, copied = PROFILES.load("alembert")
    path = tmp_path / "my-node.json"
    path.write_text(json.dumps(_edited(copied, _blocks()[0])), encoding="utf-8")
    return path


def test_the_example_is_a_profile_that_differs_where_the_page_says(my_node: Path, capsys: Capture) -> None:
    assert main(["profile", "diff", "alembert", str(my_node), "--values", "--json"]) == 0
    differing = [entry["parameter"] for entry in json.loads(capsys.readouterr().out)]
    facts = ["cpu", "network", "topology.cores_per_socket"]
    assert differing == [*facts, "cache.transfer_socket", "cache.transfer_remote"]
    assert main(["profile", "show", str(my_node)]) == 0
    assert "not measured" in " ".join(capsys.readouterr().out.split())


def test_what_a_value_does_not_say_any_more_is_not_said_of_it(
    my_node: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "400")
    assert "identified_by" not in _blocks()[0]["cache"]["transfer_remote"]
    assert main(["profile", "diff", "alembert", str(my_node)]) == 0
    row = next(line for line in capsys.readouterr().out.splitlines() if "cache.transfer_remote" in line)
    assert "±8 % -> ±30 %" in row
    assert row.rstrip().endswith("ping-pong of a line between two cores -> -")


@pytest.mark.parametrize("name", ["my-node", "my-node.json"])
def test_the_scenario_beside_it_uses_it(name: str, my_node: Path, capsys: Capture) -> None:
    scenario = _blocks()[1]
    assert scenario["machine"] == {"profile": "my-node"}
    file = my_node.parent / "on-my-node.json"
    file.write_text(json.dumps(scenario | {"machine": {"profile": name}, "run": {"replications": 1}}), encoding="utf-8")
    out = str(my_node.parent / "out")
    assert main(["run", str(file), "--set", "workload.pairs=2", "--json", "--quiet", "--out", out]) == 0
    machine = json.loads(capsys.readouterr().out)["scenario"]["machine"]
    assert (machine["name"], machine["cache"]["transfer_remote"]) == ("my-node", "140 ns")


def test_measured_prices_go_into_the_example(my_node: Path, tmp_path: Path, capsys: Capture) -> None:
    out = tmp_path / "my-node-direct.json"
    measured = [str(DATA / "machine.json"), str(DATA / "locks.json")]
    assert main(["calibrate", *measured, "--base", str(my_node), "--direct", "-o", str(out), "--quiet"]) == 0
    entry = json.loads(out.read_text())["cache"]["transfer_socket"]
    assert (entry["basis"], entry["value"]) != ("measured", "52 ns")
    assert "half a round trip" in entry["identified_by"]
    capsys.readouterr()


def test_its_tables_have_every_section_and_every_key_of_a_value() -> None:
    schema = json.loads((REPOSITORY / "schemas" / "profile.schema.json").read_text())
    texts = {"schema_version", "name", "description", "cpu", "network"}
    assert _first_cells("Sections") == set(schema["properties"]) - texts
    assert _first_cells("What a value says") == set(schema["$defs"]["measured_time"]["properties"])
