"""What a validation result was made from."""

import copy
import hashlib
import json
from pathlib import Path
from typing import Any

from calibrating import rates, write
from contend.accuracy.made_from import KEY, changes, made_from
from contend.calibrate.mapping import Case, load_mappings
from contend.common.documents import set_path
from contend.common.jsontypes import JsonObject
from contend.datasets.reading import read_dataset
from contend.profiles.catalogs import PROFILES


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


def test_cases_of_other_libraries_change_nothing(tmp_path: Path) -> None:
    profile = PROFILES.load("alembert")[1]
    file = write(tmp_path, rates("a", {1: [5.0]}))
    name = read_dataset(file).library_key
    mapping = load_mappings([])[0].model_copy(update={"cases": []})

    def digests(**when: str) -> JsonObject:
        case = Case(when={**when}, layers={"library": {}})
        return made_from(profile, [mapping.model_copy(update={"cases": [case]})], [file])

    plain = made_from(profile, [mapping], [file])
    assert digests(library="another-*") == digests(libc="glibc 0.*", library=name) == plain
    assert digests(library=name) != plain
    assert digests(mode="process") != plain


def test_a_digest_of_a_whole_mapping_is_known_as_well(tmp_path: Path) -> None:
    profile = PROFILES.load("alembert")[1]
    file = write(tmp_path, rates("a", {1: [5.0]}))
    models = [one for one in load_mappings([]) if any("library" in case.when for case in one.cases)]
    said = made_from(profile, models, [file])
    for one in models:
        whole = hashlib.sha256(json.dumps(
            one.model_dump(mode="json", exclude={"description", "stand_in"}), sort_keys=True).encode())  # fmt: skip
        assert said["mappings"][one.name] != whole.hexdigest()[:16]  # no dataset of those libraries
        said["mappings"][one.name] = whole.hexdigest()[:16]
    assert changes({KEY: said}, "alembert", [], [file]) == []
    name = models[0].name
    said["mappings"][name] = "of another"
    assert changes({KEY: said}, "alembert", [], [file]) == [f"the mapping {name}"]


def calibrated(**changes: Any) -> JsonObject:
    """A profile with a fit that has a posterior, and one that was refused, whose folds stand in."""
    drawn = {
        "parameters": [{"name": "x", "path": "machine.software.send_call", "scope": "alib"}],
        "error_pct": {"median": 4.0},
        "posterior": {"method": "emcee", "parameters": ["x"], "draws": [["1 us"]], "discrepancy_draws": [0.1]},
        "points": [],
    }
    refused = {
        "parameters": drawn["parameters"],
        "error_pct": {"median": 4.0},
        "posterior": {"refused": "no"},
        "cross_validation": {"parameters": ["x"], "folds": [{"place": ["2 us"], "left_out": 1}]},
    }
    split = {"calibration": [{"dataset": "a", "machine": "box", "points": [{"pairs": 1}]}]}
    profile = PROFILES.load("alembert")[1]
    profile["calibration"] = {"fits": [drawn, refused], "split": split}
    for path, value in changes.items():
        set_path(profile, "calibration." + path.replace("__", "."), value)
    return profile


def test_what_fits_draw_and_the_split_are_part_of_a_result(tmp_path: Path) -> None:
    one, several = calibrated(), []
    for key, value in (("draws", [["2 us"]]), ("discrepancy_draws", [0.2]), ("method", "another")):
        several.append(calibrated())
        several[-1]["calibration"]["fits"][0]["posterior"][key] = value
    several += [calibrated(), calibrated(), calibrated(split__calibration=[])]
    several[3]["calibration"]["fits"][1]["cross_validation"]["folds"][0]["place"] = ["3 us"]
    several[4]["calibration"]["fits"][1]["error_pct"] = {"median": 5.0}
    file, said = write(tmp_path, rates("a", {1: [5.0]})), {}
    for number, other in enumerate([one, *several]):
        made = recorded(other, [file])
        said[number] = made[KEY]["draws"]
        assert made[KEY]["profile"] == recorded(one, [file])[KEY]["profile"]
    assert said.pop(3) == said[0]  # a word
    assert len({*said.values()}) == len(said)

    old = recorded(one, [file])
    profile = tmp_path / "p.json"
    profile.write_text(json.dumps(several[0]))
    assert changes(old, str(profile), [], [file]) == ["the draws or the split of the profile"]
    del old[KEY]["draws"]  # an earlier version did not say it
    assert changes(old, str(profile), [], [file]) == []


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
