"""What a validation result was made from."""

import copy
import json
from pathlib import Path

from calibrating import rates, write
from contend.accuracy.made_from import KEY, changes, made_from
from contend.calibrate.mapping import load_mappings
from contend.catalogs import PROFILES
from contend.jsontypes import JsonObject


def recorded(profile: JsonObject, files: list[Path]) -> JsonObject:
    return {KEY: made_from(profile, load_mappings([])[:2], files)}


def test_words_change_nothing_and_values_do(tmp_path: Path) -> None:
    profile = PROFILES.load("alembert")[1]
    told, moved = copy.deepcopy(profile), copy.deepcopy(profile)
    told["description"] = "another"
    told["software"]["send_call"]["source"] = "another"
    moved["software"]["send_call"]["value"] = "1 us"
    file = write(tmp_path, rates("a", {1: [5.0]}))
    one = recorded(profile, [file])
    assert one == recorded(told, [file])
    assert one[KEY]["profile"] != recorded(moved, [file])[KEY]["profile"]
    assert changes(one, "alembert", [], [file]) == []
    assert changes({}, "alembert", [], [file]) is None  # it does not say


def test_what_changed_is_named(tmp_path: Path) -> None:
    profile = PROFILES.load("alembert")[1]
    file = write(tmp_path, rates("a", {1: [5.0]}))
    result = recorded(profile, [file])
    (first, *_) = result[KEY]["mappings"]
    write(tmp_path, rates("a", {1: [6.0]}))
    more = write(tmp_path, rates("b", {1: [6.0]}))
    result[KEY]["mappings"][first] = "another"
    place = tmp_path.name
    assert changes(result, "alembert", [], [file, more]) == [
        f"the mapping {first}", f"the dataset {place}/a", f"the dataset {place}/b",
    ]  # fmt: skip
    assert changes(result, "vm-2core", [], [file])[0] == "the profile"  # type: ignore[index]
    assert json.dumps(result)  # it is written as JSON
