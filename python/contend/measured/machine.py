"""The machine profile that stands for the machine of a dataset."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from contend.common.errors import InputError
from contend.common.paths import data_directory, profile_directories, repository
from contend.profiles.catalogs import CALIBRATION, PROFILES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contend.common.jsontypes import JsonObject
    from contend.datasets.dataset import Dataset


@dataclass(frozen=True)
class MachineProfile:
    """The profile that a dataset is predicted with.

    `is_of_machine` says whether it is known to be of the machine that was measured.
    """

    path: Path
    document: JsonObject
    is_of_machine: bool

    @property
    def name(self) -> str:
        """Its name."""
        return self.path.stem

    @property
    def shown(self) -> str:
        """Its name, and its file where other commands do not find it by name."""
        path = self.path.resolve()
        if path.parent in profile_directories():
            return self.name
        here = Path.cwd()
        return f"{self.name} ({path.relative_to(here) if path.is_relative_to(here) else path})"

    def doubt(self, datasets: Sequence[Dataset]) -> str:
        """That it is not known to be of the machine that was measured, in words.

        Args:
            datasets: What was measured, on a machine that it is not known to be of.
        """
        machines = "; ".join(dict.fromkeys(machine_text(one) for one in datasets))
        return (
            f"the profile {self.name} ({self.document.get('cpu', 'processor not known')}) is not known to be of the "
            f"machine that was measured ({machines})"
        )

    def reference(self, beside: Path | None = None) -> str:
        """How a scenario names it: a shipped one by its name, another by its file."""
        if self.path.parent.resolve() == data_directory("calibration/profiles").resolve():
            return self.name
        path = self.path.resolve()
        return str(path) if beside is None else os.path.relpath(path, beside.resolve())


def choose_profile(dataset: Dataset, name: str | None = None) -> MachineProfile:
    """The machine profile for a dataset.

    Args:
        dataset: What was measured.
        name: Name or file of a profile. If not given, one of the dataset's machine: that which was calibrated or
            validated with this dataset, else the first.

    Raises:
        InputError: It cannot be read; or none was named, and none is of the dataset's machine.
    """
    if name is not None:
        path, document = PROFILES.load(name)
        return MachineProfile(path, document, _is_of_machine(document, dataset))
    of_machine = [
        (path, document)
        for path, document in map(PROFILES.load, map(str, _known_profiles()))
        if _is_of_machine(document, dataset)
    ]
    if not of_machine:
        raise InputError(
            f"no profile is of the machine of {dataset.name} ({machine_text(dataset)}); --profile NAME takes "
            "another one (`contend profile list`), and `contend calibrate DATASETS --base PROFILE -o FILE` makes one"
        )
    path, document = next((one for one in of_machine if _was_made_for(one[1], dataset)), of_machine[0])
    return MachineProfile(path, document, is_of_machine=True)


def doubt_of_machine(name: str, datasets: Sequence[Dataset]) -> str:
    """That a profile is not known to be of the machine of some datasets, in words; empty where it is of all.

    Args:
        name: Name or file of the profile.
        datasets: What it is to predict.

    Raises:
        InputError: It cannot be read.
    """
    path, document = PROFILES.load(name)
    others = [dataset for dataset in datasets if not _is_of_machine(document, dataset)]
    return MachineProfile(path, document, is_of_machine=False).doubt(others) if others else ""


def machine_text(dataset: Dataset) -> str:
    """A dataset's machine in words, with its id."""
    if not dataset.names_machine:
        return "the dataset does not name it"
    return f"{dataset.machine.get('cpu') or 'processor not known'}, id {dataset.machine_id}"


def _known_profiles() -> list[Path]:
    """Profiles of the search path, then those that the comparisons of a checkout have calibrated."""
    found = list(PROFILES.recognised().values())
    if (root := repository()) is not None:
        from contend.accuracy.comparisons import comparisons

        made = [one.folder / run.profile for one in comparisons(root) for run in one.description.runs if run.calibrate]
        found += [path for path in made if path.is_file()]
    return found


def _is_of_machine(profile: JsonObject, dataset: Dataset) -> bool:
    """Whether a profile is known to be of a dataset's machine: where that has no name, only if it was fitted to it."""
    if dataset.names_machine:
        return dataset.machine_id in _machines(profile)
    split = (profile.get(CALIBRATION) or {}).get("split") or {}
    return any(entry.get("sha256") == dataset.digest for entry in split.get("calibration", ()))


def _machines(profile: JsonObject) -> JsonObject:
    record = profile.get(CALIBRATION)
    machines = record.get("machines") if isinstance(record, dict) else None
    return machines if isinstance(machines, dict) else {}


def _was_made_for(profile: JsonObject, dataset: Dataset) -> bool:
    split = (profile.get(CALIBRATION) or {}).get("split") or {}
    entries = [entry for side in ("calibration", "held_out") for entry in split.get(side, ())]
    return any(entry.get("dataset") == dataset.name and entry.get("machine") == dataset.machine_id for entry in entries)
