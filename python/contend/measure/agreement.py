"""Whether two campaigns agree: medians of the same points in two folders of datasets."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from contend.errors import InputError
from contend.files import read_json
from contend.measure.benchmarks import BENCHMARKS

if TYPE_CHECKING:
    from pathlib import Path

    from contend.jsontypes import JsonObject


@dataclass(frozen=True)
class Pair:
    """A point that both campaigns have; `ratio` is the second median over the first."""

    dataset: str
    parameters: JsonObject
    first: float
    second: float

    @property
    def ratio(self) -> float:
        """Second over first."""
        return self.second / self.first


def load_datasets(folder: Path) -> dict[str, JsonObject]:
    """The datasets of a folder by name.

    Raises:
        InputError: There are none, or a file is no JSON.
    """
    found = {}
    for path in sorted(folder.glob("*.json")):
        document = read_json(path, "dataset")
        if isinstance(document, dict) and "dataset" in document:
            found[str(document["dataset"])] = document
    if not found:
        raise InputError(f"there are no datasets in {folder}")
    return found


def agreement(first: dict[str, JsonObject], second: dict[str, JsonObject]) -> list[Pair]:
    """All points with samples that both have."""
    pairs = []
    for name in sorted(first.keys() & second.keys()):
        mine, theirs = _medians(first[name]), _medians(second[name])
        pairs += [Pair(name, json.loads(key), mine[key], theirs[key]) for key in mine.keys() & theirs.keys()]
    return sorted(pairs, key=lambda pair: (pair.dataset, json.dumps(pair.parameters)))


def _medians(dataset: JsonObject) -> dict[str, float]:
    metric = BENCHMARKS[str(dataset["benchmark"]["program"]).removeprefix("contend-")].metric
    return {
        json.dumps(point["parameters"], sort_keys=True): point[metric]["median"]
        for point in dataset["points"]
        if point.get(metric, {}).get("median")
    }
