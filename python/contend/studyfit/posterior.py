"""How probable prices are, given the numbers that they are fitted to: an ensemble smoother.

The members of an ensemble are drawn from what is expected of the prices, and each is moved several times towards the
study's numbers, by the covariance of prices and predictions in the ensemble, as far as a fraction of the numbers'
weight asks (ES-MDA: Emerick and Reynolds, *Ensemble smoother with multiple data assimilation*, Computers & Geosciences
55, 2013). The members are then draws of the posterior: exactly so for a linear model, and without an emulator, which 25
prices and the chance in every simulation would make no better than the numbers' own spread.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from contend.documents import misfit
from contend.errors import ContendError, InputError
from contend.files import read_text
from contend.statistics import Central, central
from contend.studyfit.description import RANGE_END
from contend.studyfit.trials import Trials

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import numpy.typing as npt

    from contend.jsontypes import JsonObject
    from contend.runner import Engine
    from contend.studyfit.description import StudyFit

    Vector: TypeAlias = npt.NDArray[np.float64]

POSTERIOR_FILE = "posterior.json"
MEMBERS = 200
ASSIMILATIONS = 8
# The draws that statements are judged with: each simulates all figures.
DRAWS = 30

_SEED = 1
_REPLICATIONS = (0, 1)
_CHECK_REPLICATIONS = (10, 11)


@dataclass(frozen=True)
class Posterior:
    """Draws of the prices, and what the targets come out at.

    Attributes:
        draws: Values by dotted path below `machine`, tied ones included; of the first members of the ensemble.
        members: How many there were.
        narrowed: By the path of a price, the standard deviation of its members over that of what was expected.
        prices: By the path of a price, its values in the middle and at both ends of the central 95 %.
        targets: What each target comes out at, in its own unit, by other random numbers than the members were moved by.
        widening: By how much the targets' spreads are too small for how far the medians are from the study: the root of
            the mean squared error in standard deviations, at least 1 (as R. T. Birge, Phys. Rev. 40, 1932, has it for
            measurements that do not agree).
    """

    draws: tuple[dict[str, str | int], ...]
    members: int
    narrowed: dict[str, float]
    prices: dict[str, tuple[str | int, str | int, str | int]]
    targets: tuple[Central, ...]
    widening: float


def sample(
    study: StudyFit,
    engine: Engine,
    *,
    jobs: int,
    members: int = MEMBERS,
    assimilations: int = ASSIMILATIONS,
    draws: int = DRAWS,
    progress: Callable[[float], None] = lambda _: None,
) -> Posterior:
    """Moves an ensemble from what is expected of the prices to what the study's numbers leave of it.

    Args:
        study: What to fit.
        engine: What simulates.
        jobs: Simulations at once.
        members: Sets of prices in the ensemble.
        assimilations: How often they are moved.
        draws: Sets of prices to keep.
        progress: Called with the number of sets that were looked at, `members` times one more than `assimilations`.

    Raises:
        ContendError: Simulations of more than half of the members fail.
    """
    stream = np.random.default_rng(_SEED)
    wanted = np.array([target.level(target.value) for target in study.targets])
    spreads = np.array([target.spread for target in study.targets])
    trials = Trials(study, engine, jobs)

    def levels(places: Vector, replications: tuple[int, ...]) -> tuple[Vector, Vector]:
        """The members that can be simulated, and their predictions where errors are normal: [member, target]."""
        inside = np.clip(places, -RANGE_END, RANGE_END)
        predicted = trials.predictions([[float(x) for x in place] for place in inside], replications)
        progress(len(places))
        found = np.array([[t.level(value) for t, value in zip(study.targets, row, strict=True)] for row in predicted])
        usable = np.isfinite(found).all(axis=1)
        if 2 * usable.sum() < members:
            raise ContendError(f"{members - usable.sum()} of {members} sets of prices cannot be simulated")
        return places[usable], found[usable]

    try:
        places = stream.normal(size=(members, len(study.prices)))
        for _ in range(assimilations):
            places, predicted = levels(places, _REPLICATIONS)
            places = moved(places, predicted, wanted, spreads * math.sqrt(assimilations), stream)
        places, predicted = levels(places, _CHECK_REPLICATIONS)
    finally:
        trials.close()
    errors = (np.median(predicted, axis=0) - wanted) / spreads
    return Posterior(
        tuple(trials.values([float(x) for x in place]) for place in places[:draws]),
        len(places),
        {price.path: float(places[:, k].std(ddof=1)) for k, price in enumerate(study.prices)},
        {
            price.path: tuple(price.at(float(x)) for x in np.quantile(places[:, k], (0.5, 0.025, 0.975)))  # type: ignore[misc]
            for k, price in enumerate(study.prices)
        },
        tuple(
            central([target.at_level(float(x)) for x in predicted[:, k]]) for k, target in enumerate(study.targets)
        ),
        max(1.0, math.sqrt(float((errors**2).mean()))),
    )  # fmt: skip


def moved(places: Vector, predicted: Vector, wanted: Vector, spreads: Vector, stream: np.random.Generator) -> Vector:
    """The members after one assimilation.

    Args:
        places: [member, price].
        predicted: What they give, [member, target].
        wanted: What they should give, [target].
        spreads: The standard deviations that it counts with, [target].
        stream: Draws the errors by which the members are told different numbers.
    """
    count = len(places)
    from_mean = predicted - predicted.mean(axis=0)
    with_places = (places - places.mean(axis=0)).T @ from_mean / (count - 1)
    of_predictions = from_mean.T @ from_mean / (count - 1) + np.diag(spreads**2)
    told = stream.normal(0.0, spreads, predicted.shape)
    told += wanted - told.mean(axis=0)
    return np.asarray(places + (told - predicted) @ np.linalg.solve(of_predictions, with_places.T), dtype=float)


def to_json(study: StudyFit, posterior: Posterior) -> JsonObject:
    """The contents of posterior.json."""
    return {
        "profile": study.profile,
        "members": posterior.members,
        "widening": round(posterior.widening, 3),
        "targets": [
            {
                "measure": target.measure,
                "parameters": dict(target.point.parameters),
                "study": target.value,
                "median": one.median,
                "ci95": [one.low, one.high],
            }
            for target, one in zip(study.targets, posterior.targets, strict=True)
        ],
        "prices": {
            path: {"median": median, "ci95": [low, high], "narrowed": round(posterior.narrowed[path], 3)}
            for path, (median, low, high) in posterior.prices.items()
        },
        "draws": list(posterior.draws),
    }


def load_posterior(file: Path) -> Posterior:
    """Reads posterior.json.

    Raises:
        InputError: There is none, or it is something else.
    """
    if not file.is_file():
        raise InputError(f"there is no {file}: validate claims STUDY --fit writes it")
    try:
        document = json.loads(read_text(file, "posterior"))
        return Posterior(
            tuple({str(path): value for path, value in draw.items()} for draw in document["draws"]),
            int(document["members"]),
            {path: float(entry["narrowed"]) for path, entry in document["prices"].items()},
            {path: (entry["median"], *entry["ci95"]) for path, entry in document["prices"].items()},
            tuple(Central(float(entry["median"]), *map(float, entry["ci95"])) for entry in document["targets"]),
            float(document["widening"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{file} is no posterior: {misfit(error)}") from error
