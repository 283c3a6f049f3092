"""What a fit was made from: a changed measurement is another one, and an old profile says nothing of it."""

import copy
from pathlib import Path
from typing import Any

import pytest

from calibrating import mapping, rates, write
from contend.calibrate.inputs import Inputs, differences
from contend.calibrate.split import choose_split, has_samples_of, split_points, split_record
from contend.common.jsontypes import JsonObject
from contend.datasets.reading import read_datasets
from contend.profiles.catalogs import PROFILES

DOCUMENT = rates("a", {1: [5e5, 5.1e5], 2: [4e5, 4.1e5], 4: [3e5, 3.1e5]})
for _point in DOCUMENT["points"]:
    _point["per_launch"] = [{"iterations": [1000]}]


def known(folder: Path, document: dict[str, Any]) -> tuple[JsonObject, bool]:
    """What a fit to a dataset is made from, and whether its samples are those of DOCUMENT."""
    (folder / "made").mkdir(exist_ok=True)
    write(folder / "made", document)
    (found,) = datasets = read_datasets([folder / "made"])
    split = choose_split(datasets)
    write(folder, DOCUMENT)
    record = split_record(split, *split_points(read_datasets([folder / "a.json"]), split))
    made = Inputs(datasets, PROFILES.load("alembert")[1], [mapping()], split).digests()
    return made, has_samples_of(record, split, found)


def changed(**changes: Any) -> dict[str, Any]:
    document = copy.deepcopy(DOCUMENT)
    for key, value in changes.items():
        document[key] = {**document[key], **value} if isinstance(document.get(key), dict) else value
    return document


MEASURED_OTHERWISE = {
    "workload": changed(workload={"barrier_every_iteration": False}),
    "options of the library": changed(library={"options": {"contexts": 4}}),
    "topology": changed(machine={"topology": {"sockets": 2, "cores": 2}}),
    "processors": changed(machine={"cpus": [{"cpu": 0, "core": 0, "socket": 0}]}),
    "binding": changed(placement={"bind": "compact"}),
    "iterations": changed(points=[
        point | {"per_launch": [{"iterations": [10]}]} for point in copy.deepcopy(DOCUMENT["points"])
    ]),
}  # fmt: skip


@pytest.mark.core
class TestMeasurements:
    @pytest.mark.parametrize("what", MEASURED_OTHERWISE)
    def test_the_same_samples_of_another_measurement_are_others(self, tmp_path: Path, what: str) -> None:
        one, _ = known(tmp_path, DOCUMENT)
        other, has_same_samples = known(tmp_path, MEASURED_OTHERWISE[what])
        assert has_same_samples
        assert differences(one, other) == ["the dataset a"]

    def test_words_and_points_that_are_held_out_are_nothing_to_a_fit(self, tmp_path: Path) -> None:
        one, _ = known(tmp_path, DOCUMENT)
        other = changed(description="in other words", machine={"kernel": "another"})
        other["points"][2]["per_launch"] = [{"iterations": [7]}]
        assert not differences(one, known(tmp_path, other)[0])

    def test_an_old_profile_does_not_say_it(self, tmp_path: Path) -> None:
        one, _ = known(tmp_path, DOCUMENT)
        del one["measurements"]
        assert not differences(one, known(tmp_path, MEASURED_OTHERWISE["binding"])[0])
