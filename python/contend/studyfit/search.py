"""The most probable prices: CMA-ES over how far they are from what is expected."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from contend.studyfit.description import RANGE_END
from contend.studyfit.trials import Trials

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from contend.engine.runner import Engine
    from contend.studyfit.description import StudyFit

STARTS = 2

_FIRST_STEP = 0.5
_POPULATION = 14
# Random numbers of the search, and others that say which start is best.
_REPLICATIONS = (0, 1)
_CHECK_REPLICATIONS = tuple(range(10, 16))
_FAILED = 1e6


@dataclass(frozen=True)
class Found:
    """What came out: values by dotted path below `machine`, what each target came out at, the cost of each start."""

    values: dict[str, str | float]
    predicted: tuple[float, ...]
    costs: tuple[float, ...]


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
    trials = Trials(study, engine, jobs)
    try:
        stream = np.random.default_rng(1)
        firsts = [np.zeros(len(study.prices)), *stream.normal(0.0, 0.5, (STARTS - 1, len(study.prices)))]
        ends = [
            _from_place(
                [float(x) for x in np.clip(first, -1.9, 1.9)], study, trials, progress, _options(seed, evaluations)
            )
            for seed, first in enumerate(firsts, 1)
        ]
        predictions = trials.predictions(ends, _CHECK_REPLICATIONS)
        costs = [_cost(study, *pair) for pair in zip(ends, predictions, strict=True)]
        best = costs.index(min(costs))
        return Found(study.values(ends[best]), predictions[best], tuple(costs))
    finally:
        trials.close()


def _options(seed: int, evaluations: int) -> dict[str, object]:
    return {
        "bounds": [-RANGE_END, RANGE_END], "seed": seed, "maxfevals": evaluations, "popsize": _POPULATION,
        "verbose": -9, "verb_log": 0, "verb_disp": 0,
    }  # fmt: skip


def _from_place(
    first: list[float],
    study: StudyFit,
    trials: Trials,
    progress: Callable[[float], None],
    options: dict[str, object],
) -> list[float]:
    """The best place of one run of CMA-ES."""
    import cma

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        strategy = cma.CMAEvolutionStrategy(first, _FIRST_STEP, options)
        best, best_cost = first, math.inf
        while not strategy.stop():
            asked = [[float(x) for x in place] for place in strategy.ask()]
            predictions = trials.predictions(asked, _REPLICATIONS)
            costs = [_cost(study, *pair) for pair in zip(asked, predictions, strict=True)]
            strategy.tell(asked, costs)
            progress(len(asked))
            if min(costs) < best_cost:
                best_cost = min(costs)
                best = asked[costs.index(best_cost)]
    return best


def _cost(study: StudyFit, place: Sequence[float], predicted: Sequence[float]) -> float:
    """Targets, and how far the prices are from what is expected: minus twice the logarithm of the posterior."""
    compared = list(zip(study.targets, predicted, strict=True))
    if not all(math.isfinite(target.level(value)) for target, value in compared):
        return _FAILED
    errors = sum(target.cost(value) for target, value in compared)
    return errors + math.fsum(float(x) ** 2 for x in place)
