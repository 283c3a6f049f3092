"""Published numbers that pictures show beside predictions: validation/*/study.json of a checkout."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from contend.paths import repository

if TYPE_CHECKING:
    from collections.abc import Mapping

    from contend.jsontypes import Scalar

# What a parameter must be: a value, or a range [lowest, highest] where the study gives one number for all of it.
Wanted: TypeAlias = "Scalar | list[float]"


@dataclass(frozen=True)
class StudyPoint:
    """What a study reports, at the parameters that it is known for.

    `message_rate` is in msg/s; `per_message` holds counters over the messages received. `calibrated` says that the
    number was a target when the machine profile was fitted.
    """

    parameters: dict[str, Wanted]
    source: str
    message_rate: float | None = None
    per_message: dict[str, float] = field(default_factory=dict)
    calibrated: bool = False

    def is_of(self, parameters: Mapping[str, Scalar]) -> bool:
        """Whether a point with these parameters is (one of) what was measured."""
        return all(_fits(parameters.get(name, wanted), wanted) for name, wanted in self.parameters.items())


def _fits(value: Wanted, wanted: Wanted) -> bool:
    if isinstance(wanted, list):
        return value == wanted or (isinstance(value, int | float) and wanted[0] <= value <= wanted[1])
    return value == wanted


def study_points(scenario: str) -> list[StudyPoint]:
    """What studies report for a scenario, by its name. Empty in an installed package."""
    root = repository()
    if root is None:
        return []
    return [
        StudyPoint(
            entry["parameters"],
            entry["source"],
            entry.get("message_rate"),
            {name: value / entry["messages"] for name, value in entry.get("counters", {}).items()},
            entry.get("calibrated", False),
        )
        for file in sorted((root / "validation").glob("*/study.json"))
        for entry in json.loads(file.read_text(encoding="utf-8"))["points"]
        if scenario in entry["scenarios"]
    ]
