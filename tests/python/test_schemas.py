"""The published schemas judge files as the loader does, as far as a schema can."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from fakes import REPOSITORY

DATA = REPOSITORY / "tests/scenario"
MANIFEST = json.loads((DATA / "bad/manifest.json").read_text())
SCENARIOS = [path for path in REPOSITORY.glob("scenarios/**/*.json") if "platforms" not in path.parts]


def validator(kind: str) -> Draft202012Validator:
    schema = json.loads((REPOSITORY / f"schemas/{kind}.schema.json").read_text())
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


@pytest.mark.parametrize(
    ("kind", "paths"),
    [
        ("scenario", [*(DATA / "valid").glob("*.json"), *(DATA / "corpus").glob("*.json"), *SCENARIOS]),
        ("profile", [*(DATA / "profiles").glob("*.json"), *(REPOSITORY / "calibration/profiles").glob("*.json")]),
        ("preset", [*(DATA / "presets").glob("*.json"), *(REPOSITORY / "libraries").glob("*.json")]),
    ],
)
def test_good_files_are_accepted(kind: str, paths: list[Path]) -> None:
    check = validator(kind)
    assert paths
    for path in paths:
        errors = list(check.iter_errors(json.loads(path.read_text())))
        assert not errors, (path, errors[0])


@pytest.mark.parametrize("kind", ["scenario", "profile", "preset"])
def test_bad_files_are_rejected_where_the_manifest_says_so(kind: str) -> None:
    check = validator(kind)
    wrong: list[Any] = []
    entries = [e for e in MANIFEST if e.get("kind", "scenario") == kind and e.get("is_json", True)]
    assert entries
    for entry in entries:
        document = json.loads((DATA / "bad" / entry["file"]).read_text())
        if check.is_valid(document) == entry["schema_rejects"]:
            wrong.append(entry)
    assert not wrong
