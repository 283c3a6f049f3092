"""Published numbers that pictures show beside predictions: validation/*/study.json of a checkout."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from contend.common.documents import dotted, leaves
from contend.common.paths import repository
from contend.common.reading import read_json
from contend.scenarios.resolution import resolve_scenario

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from contend.common.jsontypes import JsonObject, Scalar

# The sections of a scenario that say what is simulated.
SYSTEM = ("machine", "fabric", "library", "workload", "placement")

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


def study_points(scenario: JsonObject) -> list[StudyPoint]:
    """What studies report for a scenario.

    Args:
        scenario: The resolved scenario, as in results. Empty is what comes back for one that has the name of a study's
            scenario but is another system now, and in an installed package.
    """
    root = repository()
    name = scenario.get("name")
    if root is None or not name:
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
        for entry in _entries(file, str(name))
        if _same_system(root / "scenarios" / file.parent.name / f"{name}.json", scenario)
    ]


def _entries(file: Path, scenario: str) -> list[JsonObject]:
    points: list[JsonObject] = read_json(file, "study")["points"]
    return [entry for entry in points if scenario in entry["scenarios"]]


def _same_system(shipped: Path, scenario: JsonObject) -> bool:
    """Whether nothing has been changed but how long it is simulated."""
    original = resolve_scenario(shipped).document
    ignored = {*(_swept(scenario) & _swept(original)), "workload.iterations", "workload.warmup_iterations"}
    return all(_known(original, section, ignored) == _known(scenario, section, ignored) for section in SYSTEM)


def _swept(scenario: JsonObject) -> set[str]:
    """Paths of a sweep's axes; a sweep is a grid or a list of points."""
    sweep = scenario.get("sweep") or {}
    return set(sweep) if isinstance(sweep, dict) else {path for point in sweep for path in point}


def _known(document: JsonObject, section: str, ignored: set[str]) -> dict[str, object]:
    found = {dotted(pointer): value for pointer, value in leaves(document.get(section, {}), f"/{section}")}
    return {path: value for path, value in found.items() if path not in ignored}
