"""Fits the prices of a machine to some of a study's numbers: those that `validation/STUDY/fit.json` names.

Everything else that the study says is then a prediction. Every price is expected where its source has it, and the ends
of its range in the profile lie two standard deviations away, on a logarithmic scale: what the study's numbers do not
tell apart stays there.
"""

from __future__ import annotations

import copy
import json
import math
import statistics
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from contend.documents import misfit
from contend.errors import ContendError, InputError
from contend.files import read_text
from contend.lockfit import number_of, time_text
from contend.scenario import Point, resolve_scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from contend.claims import Claim
    from contend.jsontypes import JsonObject, Scalar
    from contend.runner import Engine

FIT_FILE = "fit.json"
STARTS = 2

# The ends of a range are so many standard deviations from the expected value.
_END = 2.0
_FIRST_STEP = 0.5
_POPULATION = 14
# Random numbers of the search, and others that say which start is best.
_REPLICATIONS = (0, 1)
_CHECK_REPLICATIONS = tuple(range(10, 16))
_FAILED = 1e6


@dataclass(frozen=True)
class Price:
    """A value below `machine` that may move: where it is expected, and the ends of its range.

    Times are in picoseconds; a `count` is a whole number.
    """

    path: str
    expected: float
    low: float
    high: float
    count: bool

    def at(self, deviations: float) -> str | int:
        """The value so many standard deviations above what is expected, as a profile has it, within the range."""
        share = min(max(deviations / _END, -1.0), 1.0)
        end = self.high if share > 0 else self.low
        if self.count:
            return round(self.expected + abs(share) * (end - self.expected))
        return time_text(self.expected * (end / self.expected) ** abs(share))


@dataclass(frozen=True)
class Target:
    """A number of the study: a rate in msg/s, or a counter over the messages received.

    `spread` is its standard deviation; a share of it, unless `absolute`.
    """

    point: Point
    measure: str
    value: float
    spread: float
    absolute: bool

    def read(self, result: JsonObject) -> float:
        """The same number of a simulation."""
        if self.measure == "message_rate":
            return float(result["message_rate"])
        counters = result["counters"]
        if self.measure not in counters:
            raise InputError(f"no counter {self.measure!r} to fit to; there are: message_rate, {', '.join(counters)}")
        return float(counters[self.measure]) / float(counters["messages_received"])

    def cost(self, predicted: float) -> float:
        """The squared error in standard deviations."""
        error = predicted - self.value if self.absolute else math.log(predicted / self.value)
        return (error / self.spread) ** 2


@dataclass(frozen=True)
class StudyFit:
    """What to fit: prices of a profile, to some numbers of a study.

    `in_place_of` is the profile that the study's scenarios name. `claims` are how the ids of claims begin that the fit
    concerns, `calibrated` of those that it had as targets. `tied` prices take the value of another one.
    """

    profile: str
    in_place_of: str
    claims: tuple[str, ...]
    calibrated: tuple[str, ...]
    prices: tuple[Price, ...]
    tied: dict[str, str]
    targets: tuple[Target, ...]


@dataclass(frozen=True)
class Found:
    """What came out: values by dotted path below `machine`, what each target came out at, the cost of each start."""

    values: dict[str, str | int]
    predicted: tuple[float, ...]
    costs: tuple[float, ...]


def load_fit(root: Path, system: str) -> StudyFit:
    """Reads `validation/SYSTEM/fit.json` of the checkout at `root`.

    Raises:
        InputError: There is none, it is not a fit, or it names a scenario, point or price that does not exist.
    """
    file = root / "validation" / system / FIT_FILE
    if not file.is_file():
        raise InputError(f"nothing is fitted to {system}: there is no {file}")
    try:
        return _read(root, system, json.loads(read_text(file, "fit")))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{file} is no fit: {misfit(error)}") from error


def _read(root: Path, system: str, document: JsonObject) -> StudyFit:
    profile = json.loads(read_text(profile_of(root, document["profile"]), "profile"))
    overrides = [(path, str(value)) for path, value in document["simulated"].items()]
    folder = root / "scenarios" / system
    return StudyFit(
        document["profile"],
        document["in_place_of"],
        tuple(document["claims"]),
        tuple(document["calibrated"]),
        tuple(_price(profile, path, text) for path, text in document["prices"].items()),
        document["tied"],
        tuple(
            Target(
                _point(folder / f"{entry['scenario']}.json", overrides, entry["parameters"]),
                entry["measure"],
                float(entry["value"]),
                float(entry["spread"]),
                bool(entry.get("absolute", False)),
            )
            for entry in document["targets"]
        ),
    )


def claims_of_fit(study: StudyFit, claims: Sequence[Claim]) -> list[Claim]:
    """The claims that the fit concerns: the targets are those of this fit, and what is said of another one is gone."""
    return [
        replace(item, calibrated=item.id.startswith(study.calibrated), remark="")
        for item in claims
        if item.id.startswith(study.claims)
    ]


def profile_of(root: Path, name: str) -> Path:
    """The file of a machine profile."""
    return root / "calibration" / "profiles" / f"{name}.json"


def _price(profile: JsonObject, path: str, expected: str | float) -> Price:
    section, name = path.split(".")
    try:
        entry = profile[section][name]
    except KeyError:
        raise InputError(f"profile {profile['name']} has no {path}") from None
    low, high = (number_of(end) for end in entry["range"])
    value = number_of(expected)
    if not low <= value <= high:
        raise InputError(f"{path} is expected at {expected}, outside its range {entry['range']}")
    return Price(path, value, low, high, not isinstance(expected, str))


def _point(scenario: Path, overrides: Sequence[tuple[str, str]], parameters: dict[str, Scalar]) -> Point:
    points = resolve_scenario(scenario, overrides).points
    found = [
        point for point in points if all(point.parameters.get(name) == value for name, value in parameters.items())
    ]
    if len(found) != 1:
        raise InputError(f"{len(found)} points of {scenario.name} have {parameters}; one must")
    return found[0]


class _Search:
    def __init__(self, study: StudyFit, engine: Engine, jobs: int, progress: Callable[[float], None]) -> None:
        self._study = study
        self._engine = engine
        self._progress = progress
        self._pool = ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="fit")
        # Several targets are numbers of one point.
        self._points: list[Point] = []
        for target in study.targets:
            if target.point not in self._points:
                self._points.append(target.point)

    def values(self, place: Sequence[float]) -> dict[str, str | int]:
        """What a place stands for."""
        values = {price.path: price.at(float(x)) for price, x in zip(self._study.prices, place, strict=True)}
        return values | {path: values[source] for path, source in self._study.tied.items()}

    def predictions(self, places: Sequence[Sequence[float]], replications: Sequence[int]) -> list[tuple[float, ...]]:
        """What each target comes out at in each place: the mean of the replications, NaN where one fails."""
        moved = [[self._moved(point, self.values(place)) for point in self._points] for place in places]
        running = [
            [[self._pool.submit(self._run, point, replication) for replication in replications] for point in points]
            for points in moved
        ]
        predictions = []
        for points in running:
            results = [[run.result() for run in runs] for runs in points]
            predictions.append(
                tuple(
                    statistics.fmean(
                        math.nan if result is None else target.read(result)
                        for result in results[self._points.index(target.point)]
                    )
                    for target in self._study.targets
                )
            )
        return predictions

    def cost(self, place: Sequence[float], predicted: Sequence[float]) -> float:
        """Targets, and how far the prices are from what is expected: minus twice the logarithm of the posterior."""
        if not all(math.isfinite(value) and value > 0 for value in predicted):
            return _FAILED
        errors = sum(target.cost(value) for target, value in zip(self._study.targets, predicted, strict=True))
        return errors + math.fsum(float(x) ** 2 for x in place)

    def from_place(self, first: Sequence[float], seed: int, evaluations: int) -> list[float]:
        """The best place of one run of CMA-ES."""
        import cma

        options = {
            "bounds": [-_END, _END], "seed": seed, "maxfevals": evaluations, "popsize": _POPULATION, "verbose": -9,
            "verb_log": 0, "verb_disp": 0,
        }  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            strategy = cma.CMAEvolutionStrategy(list(first), _FIRST_STEP, options)
            best, best_cost = list(first), math.inf
            while not strategy.stop():
                asked = [[float(x) for x in place] for place in strategy.ask()]
                predictions = self.predictions(asked, _REPLICATIONS)
                costs = [self.cost(*pair) for pair in zip(asked, predictions, strict=True)]
                strategy.tell(asked, costs)
                self._progress(len(asked))
                if min(costs) < best_cost:
                    best_cost = min(costs)
                    best = asked[costs.index(best_cost)]
        return best

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)

    def _run(self, point: Point, replication: int) -> JsonObject | None:
        try:
            result: JsonObject = json.loads(self._engine.run_point(point, replication, trace_hash=False))
        except ContendError:  # prices with which no run ends
            return None
        return result

    @staticmethod
    def _moved(point: Point, values: dict[str, str | int]) -> Point:
        config = copy.deepcopy(point.config)
        for path, value in values.items():
            section, name = path.split(".")
            config["machine"][section][name] = value
        return Point(point.parameters, config)


def fit(
    study: StudyFit, engine: Engine, *, jobs: int, evaluations: int, progress: Callable[[float], None] = lambda _: None
) -> Found:
    """Moves the prices: CMA-ES from what is expected and from places near it; the best by other random numbers.

    Args:
        study: What to fit.
        engine: What simulates.
        jobs: Simulations at once.
        evaluations: Sets of prices that each start looks at, at most.
        progress: Called with the number of sets that were looked at.
    """
    search = _Search(study, engine, jobs, progress)
    try:
        stream = np.random.default_rng(1)
        firsts = [np.zeros(len(study.prices)), *stream.normal(0.0, 0.5, (STARTS - 1, len(study.prices)))]
        ends = [
            search.from_place([float(x) for x in np.clip(first, -1.9, 1.9)], seed, evaluations)
            for seed, first in enumerate(firsts, 1)
        ]
        predictions = search.predictions(ends, _CHECK_REPLICATIONS)
        costs = [search.cost(*pair) for pair in zip(ends, predictions, strict=True)]
        best = costs.index(min(costs))
        return Found(search.values(ends[best]), predictions[best], tuple(costs))
    finally:
        search.close()
