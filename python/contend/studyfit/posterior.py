"""How probable prices are, given the numbers that they are fitted to: an ensemble smoother.

The members of an ensemble are drawn from what is expected of the prices, and each is moved several times towards the
study's numbers, by the covariance of prices and predictions in the ensemble, as far as a fraction of the numbers'
weight asks (ES-MDA: Emerick and Reynolds, *Ensemble smoother with multiple data assimilation*, Computers & Geosciences
55, 2013). The members are then draws of the posterior: exactly so for a linear model, and without an emulator, which 25
prices and the chance in every simulation would make no better than the numbers' own spread.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from contend.common.documents import misfit
from contend.common.errors import ContendError, InputError
from contend.common.reading import read_json
from contend.common.statistics import Central, central
from contend.engine.core import fingerprint
from contend.studyfit.description import RANGE_END
from contend.studyfit.trials import Trials

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import numpy.typing as npt

    from contend.common.jsontypes import JsonObject
    from contend.engine.runner import Engine
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
# The standard deviation of a normal distribution of 1 that is cut off at two: what is beyond lies at the ends.
_EXPECTED = 0.9594


@dataclass(frozen=True)
class Posterior:
    """Draws of the prices, and what the targets come out at.

    Attributes:
        draws: Values by dotted path below `machine`, tied ones included; of the first members of the ensemble.
        members: How many there were.
        narrowed: By the path of a price, the standard deviation of its members over that of what was expected, both on
            the scale of its range and cut off at the range's ends; around 1 where the numbers say nothing of it.
        prices: By the path of a price, its values in the middle and at both ends of the central 95 %.
        targets: What each target comes out at, in its own unit, by other random numbers than the members were moved by.
        digest: Of the fit that it belongs to.
        core: The build of the simulator that made it (contend.engine.core.fingerprint); None if it does not say.
    """

    draws: tuple[dict[str, str | float], ...]
    members: int
    narrowed: dict[str, float]
    prices: dict[str, tuple[str | float, str | float, str | float]]
    targets: tuple[Central, ...]
    digest: str
    core: str | None = None


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
    inside = np.clip(places, -RANGE_END, RANGE_END)
    return Posterior(
        tuple(study.values([float(x) for x in place]) for place in places[:draws]),
        len(places),
        # As it is kept, so that what a profile says of it is the same before and after.
        {price.path: round(float(inside[:, k].std(ddof=1) / _EXPECTED), 3) for k, price in enumerate(study.prices)},
        {
            price.path: tuple(price.at(float(x)) for x in np.quantile(places[:, k], (0.5, 0.025, 0.975)))  # type: ignore[misc]
            for k, price in enumerate(study.prices)
        },
        tuple(
            central([target.at_level(float(x)) for x in predicted[:, k]]) for k, target in enumerate(study.targets)
        ),
        study.digest,
        fingerprint(),
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


def widening(study: StudyFit, posterior: Posterior) -> dict[str, float]:
    """By measure, how far the targets' medians are from the study: the root of their mean squared error in spreads.

    At least 1: predictions of a number of this measure are no better than the fit allows.
    """
    squares: dict[str, list[float]] = {}
    for target, known in zip(study.targets, posterior.targets, strict=True):
        squares.setdefault(target.measure, []).append(target.cost(known.median))
    return {measure: max(1.0, math.sqrt(statistics.fmean(costs))) for measure, costs in squares.items()}


def how_identified(study: StudyFit, system: str, narrowed: Mapping[str, float]) -> dict[str, str]:
    """By dotted path below `machine`, what the fit says of each price, for a profile.

    Args:
        study: What was fitted.
        system: Which study that was.
        narrowed: As in a posterior.
    """
    fitted = f"fit to {len(study.targets)} numbers of the study (contend validate claims {system} --fit)"
    return {
        path: f"{fitted}: over its posterior {share:.2f} of the spread that was expected"
        for path, share in narrowed.items()
    } | {path: f"not on its own: {source}, in the same fit" for path, source in study.tied.items()}


def to_json(study: StudyFit, posterior: Posterior) -> JsonObject:
    """The contents of posterior.json."""
    return {
        "profile": study.profile,
        "fit": posterior.digest,
        **({} if posterior.core is None else {"core": posterior.core}),
        "members": posterior.members,
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
            path: {"median": median, "ci95": [low, high], "narrowed": posterior.narrowed[path]}
            for path, (median, low, high) in posterior.prices.items()
        },
        "draws": list(posterior.draws),
    }


def load_posterior(file: Path, study: StudyFit) -> Posterior:
    """Reads posterior.json.

    Raises:
        InputError: There is none, it is something else, or it is of another fit.
    """
    if not file.is_file():
        raise InputError(f"there is no {file}: validate claims STUDY --fit writes it")
    try:
        document = read_json(file, "posterior")
        posterior = Posterior(
            tuple({str(path): _price(value) for path, value in draw.items()} for draw in document["draws"]),
            int(document["members"]),
            {path: float(entry["narrowed"]) for path, entry in document["prices"].items()},
            {path: (entry["median"], *entry["ci95"]) for path, entry in document["prices"].items()},
            tuple(Central(float(entry["median"]), *map(float, entry["ci95"])) for entry in document["targets"]),
            str(document["fit"]),
            None if (core := document.get("core")) is None else str(core),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{file} is no posterior: {misfit(error)}") from error
    if posterior.digest != study.digest:
        raise InputError(
            f"{file} is of another fit: fit.json beside it, the ranges of its prices or its scenarios have changed; "
            "validate claims STUDY --fit renews it"
        )
    if not posterior.draws or any(set(draw) != study.paths for draw in posterior.draws):
        raise InputError(f"{file} is no posterior: each of its draws must have all prices of the fit")
    if len(posterior.targets) != len(study.targets):
        raise InputError(f"{file} is no posterior: it must have what each target of the fit comes out at")
    if not all(
        math.isfinite(target.level(known.median))
        for target, known in zip(study.targets, posterior.targets, strict=True)
    ):
        raise InputError(f"{file} is no posterior: what a target comes out at is no number that it can have")
    return posterior


def _price(value: object) -> str | int:
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise TypeError(f"{value!r} is no price")
    return value
