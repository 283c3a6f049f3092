"""Whether two campaigns agree: medians of the same points in two folders of datasets."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from contend.common.errors import InputError
from contend.datasets.reading import read_datasets

if TYPE_CHECKING:
    from pathlib import Path

    from contend.common.jsontypes import Scalar
    from contend.datasets.dataset import Dataset


@dataclass(frozen=True)
class Pair:
    """A point that both campaigns have; `ratio` is the second median over the first."""

    dataset: str
    parameters: dict[str, Scalar]
    first: float
    second: float

    @property
    def ratio(self) -> float:
        """Second over first."""
        return self.second / self.first


def load_datasets(folder: Path) -> dict[str, Dataset]:
    """The datasets of a folder by name.

    Raises:
        InputError: There are none, one is not usable, or two have the same name.
    """
    found: dict[str, Dataset] = {}
    for dataset in read_datasets([folder]):
        earlier = found.setdefault(dataset.name, dataset)
        if earlier is not dataset:
            raise InputError(
                f"{earlier.path} and {dataset.path} are {dataset.name!r} of two machines: compare folders of one each"
            )
    return found


def agreement(first: dict[str, Dataset], second: dict[str, Dataset]) -> list[Pair]:
    """All points with samples that both have."""
    pairs = []
    for name in sorted(first.keys() & second.keys()):
        mine, theirs = _medians(first[name]), _medians(second[name])
        pairs += [Pair(name, json.loads(key[0]), mine[key], theirs[key]) for key in sorted(mine.keys() & theirs.keys())]
    return pairs


def _medians(dataset: Dataset) -> dict[tuple[str, str, str], float]:
    """Medians by parameters, metric and unit."""
    return {
        (json.dumps(point.parameters, sort_keys=True), point.metric, point.unit): point.median
        for point in dataset.points
        if point.spread is not None
    }
