"""A damaged section `calibration` of a profile is a message that says where."""

import json
from pathlib import Path
from typing import Any

import pytest

from contend.cli import main
from contend.profiles.catalogs import PROFILES
from fakes import REPOSITORY

Capture = pytest.CaptureFixture[str]
FIT = {"parameters": [{"name": "a", "path": "machine.nic.post", "scope": "tcp"}], "error_pct": {"median": 1.0}}
POSTERIOR = {"parameters": ["a"], "draws": [["1 us"]], "discrepancy_draws": [0.1]}


@pytest.mark.parametrize(
    ("record", "message"),
    [
        ("x", '/calibration: found "x"; allowed: an object'),
        ({"scopes": [1]}, "/calibration/scopes: found [1]; allowed: an object"),
        ({"scopes": {"a/tcp": "x"}}, '/calibration/scopes/a~1tcp: found "x"; allowed: an object'),
        ({"scopes": {"tcp": {"machine.nic.post": {}}}}, "/scopes/tcp/machine.nic.post/value: is missing"),
        ({"scopes": {"tcp": {"machine.nic.post": {"value": [1]}}}}, "/value: found [1]; allowed: a text, a number"),
        ({"scopes": {"tcp": {"machine.gone.post": {"value": "1 us"}}}}, "found no place for 'machine.gone.post'"),
        ({"split": [1]}, "/calibration/split: found [1]; allowed: an object"),
        ({"split": {"calibration": [1]}}, "/calibration/split/calibration/0: found 1; allowed: an object"),
        ({"split": {"calibration": [{"dataset": "a"}]}}, "/split/calibration/0/machine: is missing"),
        ({"fits": "x"}, '/calibration/fits: found "x"; allowed: an array'),
        ({"fits": [{}]}, "/calibration/fits/0/parameters: is missing"),
        ({"fits": [{**FIT, "posterior": "x"}]}, '/calibration/fits/0/posterior: found "x"; allowed: an object'),
        ({"fits": [{**FIT, "posterior": {**POSTERIOR, "draws": "x"}}]}, '/draws: found "x"; allowed: an array'),
        ({"fits": [{**FIT, "posterior": {**POSTERIOR, "draws": [[1, 2]]}}]}, "one value for each of its parameters"),
        ({"fits": [{**FIT, "posterior": {**POSTERIOR, "parameters": ["b"]}}]}, "of the fit's parameters (a), not of b"),
        ({"discrepancy": {"groups": "x"}}, '/calibration/discrepancy/groups: found "x"; allowed: an array'),
        (
            {"discrepancy": {"groups": [], "others": {"draws": []}}},
            "/others/draws: found []; allowed: an array that is",
        ),
    ],
)
def test_a_damaged_section_is_refused(tmp_path: Path, capsys: Capture, record: object, message: str) -> None:
    path = tmp_path / "p.json"
    path.write_text(json.dumps(PROFILES.load("alembert")[1] | {"calibration": record}))
    for words in (
        ["show", str(path)],
        ["diff", "alembert", str(path)],
        ["scope", str(path), "tcp", "-o", str(tmp_path / "o.json")],
    ):
        assert main(["profile", *words]) == 2
        said = capsys.readouterr().err
        assert f"{path}: /calibration" in said
        assert message in said


def test_what_calibrations_write_is_accepted(tmp_path: Path) -> None:
    written = [*REPOSITORY.glob("validation/*/*-profile.json"), *REPOSITORY.glob("calibration/profiles/*.json")]
    assert len(written) > 3
    for path in written:
        PROFILES.load(str(path))
    small: dict[str, Any] = {"fits": [{**FIT, "posterior": POSTERIOR}], "of_a_later_version": 1}
    file = tmp_path / "p.json"
    file.write_text(json.dumps(PROFILES.load("alembert")[1] | {"calibration": small}))
    PROFILES.load(str(file))
