"""Published numbers that pictures show beside predictions: validation/*/study.json of a checkout."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from contend.paths import repository

if TYPE_CHECKING:
    from collections.abc import Mapping

    from contend.jsontypes import Scalar


@dataclass(frozen=True)
class StudyPoint:
    """A measured message rate of a study, in msg/s, at the parameters that it is known for."""

    parameters: dict[str, Scalar]
    message_rate: float
    source: str

    def is_of(self, parameters: Mapping[str, Scalar]) -> bool:
        """Whether a point with these parameters is the one that was measured."""
        return all(parameters.get(name, value) == value for name, value in self.parameters.items())


def study_points(scenario: str) -> list[StudyPoint]:
    """What studies report for a scenario, by its name. Empty in an installed package."""
    root = repository()
    if root is None:
        return []
    return [
        StudyPoint(entry["parameters"], float(entry["message_rate"]), entry["source"])
        for file in sorted((root / "validation").glob("*/study.json"))
        for entry in json.loads(file.read_text(encoding="utf-8"))["points"]
        if scenario in entry["scenarios"]
    ]
