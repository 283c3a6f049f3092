"""Predictions made by hand, for tests of what is made of them."""

from pathlib import Path
from typing import Any

from calibrating import launched_each, rates, write
from contend.accuracy.predicted import Predicted
from contend.accuracy.scores import (
    result_json,
)
from contend.calibrate.problem import Unpredicted
from contend.datasets.dataset import Dataset
from contend.datasets.reading import read_dataset

COUNTS = (1, 2, 4, 8, 16, 20)


FITTED = (1, 4, 16)


def predicted(
    dataset: Dataset, means: dict[int, float], *, width: float = 1.2, fitted: tuple[int, ...] = FITTED
) -> list[Predicted]:
    found = []
    for point in dataset.points:
        pairs = int(str(point.parameters["pairs"]))
        mean = means[pairs]
        found.append(Predicted(dataset, point, mean, mean / width, mean * width, pairs not in fitted, ""))
    return found


def curve(tmp_path: Path, name: str, rate: Any, *, spread: float = 0.01, **workload: Any) -> Dataset:
    values = {n: [rate(n) * (1 + spread * e) for e in (-1.0, -0.5, 0.0, 0.5, 1.0)] for n in COUNTS}
    return read_dataset(write(tmp_path, launched_each(rates(name, values, **workload))))


def result(tmp_path: Path) -> dict[str, Any]:
    points = []
    for index, name in enumerate(("shared", "separate")):
        one = curve(tmp_path, name, lambda n: 1e5 / n, communicator_per_pair=bool(index))
        points += predicted(one, {n: 1.2e5 / n for n in COUNTS})
    lost = Unpredicted(points[0].dataset, points[0].point, "no mapping for x|y over z")
    return result_json("box", points, [lost], {"draws": 4})
