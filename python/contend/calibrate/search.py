"""Screening and global fit: Morris' elementary effects, then CMA-ES from several places.

Every random number comes from a seed, and simulations come from the journal where they are known: a search that was
killed goes the same way again, without simulating, up to where it was.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import qmc

from contend.calibrate.likelihood import DISCREPANCY, misfit

if TYPE_CHECKING:
    from collections.abc import Callable

    from contend.calibrate.evaluations import Evaluator
    from contend.calibrate.problem import Problem, Vector

_TRAJECTORIES = 6
_LEVELS = 4
# An effect below this many standard deviations is none: of noise and discrepancy in `screen`, of noise alone in
# `cross_validation`.
SEEN = 1.0
# A start ends when its best value changes by less, in units of log-likelihood.
_TOLERANCE = 0.02
_FIRST_STEP = 0.25
BASE = "base"
"""Why a start ended that is none: the base's own place, beside the ends of the searches."""
# Random numbers that no search sees: which start is best.
CHECK_REPLICATIONS = tuple(range(10, 16))


@dataclass
class History:
    """Every place that was simulated, with its predictions: training data of the emulator."""

    places: list[Vector] = field(default_factory=list)
    predictions: list[Vector] = field(default_factory=list)

    def add(self, places: Vector, predictions: Vector) -> None:
        """Adds rows."""
        self.places += list(places)
        self.predictions += list(predictions)


@dataclass(frozen=True)
class Screening:
    """Elementary effects: how far a parameter moves each target over its range, in standard deviations.

    One is sqrt(noise^2 + DISCREPANCY^2): the measurement's standard error, and what a model is usually wrong by.

    `effects` is [parameter, target]: the mean absolute effect (mu star); `spread` the standard deviation of effects,
    which is large where a parameter acts together with others.
    """

    effects: Vector
    spread: Vector

    @property
    def strongest(self) -> Vector:
        """The largest effect of each parameter on any target."""
        return np.asarray(self.effects.max(axis=1), dtype=float)


def screen(problem: Problem, evaluator: Evaluator, history: History, seed: int) -> Screening:
    """Morris' method on the simulator itself."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from SALib.analyze import morris as analysis
        from SALib.sample import morris as sampling

        space = sensitivity_space(problem)
        places = np.asarray(sampling.sample(space, _TRAJECTORIES, num_levels=_LEVELS, seed=seed), dtype=float)
        predictions = problem.simulate(evaluator, list(places))
        history.add(places, predictions)
        scale = np.sqrt(problem.noise**2 + DISCREPANCY**2)
        effects = np.zeros((problem.dimensions, len(problem.targets)))
        spread = np.zeros_like(effects)
        for index in range(len(problem.targets)):
            # A simulation that failed has no rate: its neighbours' mean keeps the trajectory whole.
            column = np.where(np.isfinite(predictions[:, index]), predictions[:, index], np.nan)
            filled = np.nan_to_num(column, nan=float(np.nanmean(column)) if np.isfinite(column).any() else 0.0)
            found = analysis.analyze(space, places, filled / scale[index], num_levels=_LEVELS, seed=seed)
            effects[:, index] = np.asarray(found["mu_star"], dtype=float)
            spread[:, index] = np.asarray(found["sigma"], dtype=float)
    return Screening(effects, spread)


def sensitivity_space(problem: Problem) -> dict[str, object]:
    """The cube, as SALib wants it."""
    return {
        "num_vars": problem.dimensions,
        "names": [parameter.name for parameter in problem.parameters],
        "bounds": [[0.0, 1.0]] * problem.dimensions,
    }


def places_of_screening(dimensions: int) -> int:
    """How many places a screening looks at."""
    return _TRAJECTORIES * (dimensions + 1)


def size_of_design(dimensions: int) -> int:
    """How many places a design has."""
    return 40 + 10 * dimensions


def design(dimensions: int, seed: int) -> Vector:
    """Places all over the cube (a Sobol sequence): no measurement has a part in where they are."""
    size = size_of_design(dimensions)
    engine = qmc.Sobol(dimensions, rng=np.random.default_rng(seed))
    return np.asarray(engine.random(2 ** int(np.ceil(np.log2(size)))), dtype=float)[:size]


@dataclass(frozen=True)
class Start:
    """One run of the optimiser: where it ended, how good that is, how many places it looked at, and why it ended.

    `misfit` is with the random numbers of the search, `checked` with others: a search follows the luck of its own.
    """

    place: Vector
    misfit: float
    places: int
    reason: str
    checked: float = np.nan


@dataclass(frozen=True)
class Fit:
    """The best place by `checked`, and all starts in their order, the base's own place last."""

    place: Vector
    misfit: float
    starts: tuple[Start, ...]


def places_of_search(dimensions: int, starts: int) -> int:
    """How many places a search looks at, at most."""
    return starts * most_places(dimensions)


def most_places(dimensions: int) -> int:
    """How many places one start may look at."""
    return 80 + 40 * dimensions


def search(
    problem: Problem,
    evaluator: Evaluator,
    history: History,
    noise: Vector,
    *,
    starts: int,
    seed: int,
    is_over: Callable[[], bool] = lambda: False,
    say: Callable[[str], None] = lambda _: None,
) -> Fit:
    """CMA-ES in the cube, from the base values and from random places.

    The base's own place (where its values lie beyond their ranges, the nearest in the cube) is one more end, so that no
    fit is worse than what it began with: a search that a budget ended early may be.

    Args:
        problem: What to fit.
        evaluator: What simulates.
        history: Gets every place.
        noise: Standard errors of measurement and simulation together.
        starts: How many runs of the optimiser.
        seed: Of their random numbers.
        is_over: Whether the budget is spent: then no generation begins, but every fit has one.
        say: Told which start runs.
    """
    stream = np.random.default_rng(seed)
    done: list[Start] = []
    for index in range(starts):
        first = problem.base if index == 0 else stream.uniform(0.15, 0.85, problem.dimensions)
        if done and is_over():
            break
        say(f"start {index + 1} of {starts}")
        effort = Effort(most_places(problem.dimensions), _FIRST_STEP, is_over)
        done.append(_one_start(problem, evaluator, history, noise, first, seed + 1 + index, effort))
    # Not in the history: what an emulator is trained with stays as it is.
    own = misfit(problem.simulate(evaluator, [problem.base]), problem.measured, noise)
    done.append(Start(problem.base, float(own[0]), 1, BASE))
    ends = problem.simulate(evaluator, [start.place for start in done], CHECK_REPLICATIONS)
    checked = misfit(ends, problem.measured, noise)
    done = [replace(start, checked=float(value)) for start, value in zip(done, checked, strict=True)]
    best = min(done, key=lambda start: start.checked)
    return Fit(best.place, best.misfit, tuple(done))


@dataclass(frozen=True)
class Effort:
    """How many places one start may look at, how far it begins to look, and whether the budget is spent."""

    places: int
    step: float
    is_over: Callable[[], bool] = lambda: False


def _one_start(  # noqa: PLR0917 - all of one stage
    problem: Problem,
    evaluator: Evaluator,
    history: History,
    noise: Vector,
    first: Vector,
    seed: int,
    effort: Effort,
) -> Start:
    import cma

    dimensions = max(problem.dimensions, 2)  # CMA-ES needs two; a second one that nothing depends on does no harm
    padded = np.full(dimensions, 0.5)
    padded[: problem.dimensions] = np.clip(first, 0.02, 0.98)
    options = {
        "bounds": [0.0, 1.0], "seed": seed, "maxfevals": effort.places, "tolfun": _TOLERANCE,
        "tolfunhist": _TOLERANCE, "tolx": 1e-3, "verbose": -9, "verb_log": 0, "verb_disp": 0,
    }  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        strategy = cma.CMAEvolutionStrategy(padded, effort.step, options)
        best, best_misfit, places, reason = padded, np.inf, 0, ""
        while not reason:
            if places and effort.is_over():
                reason = "the budget is spent"
                break
            asked = np.asarray(strategy.ask(), dtype=float)
            looked_at = asked[:, : problem.dimensions]
            predictions = problem.simulate(evaluator, list(looked_at))
            history.add(looked_at, predictions)
            values = misfit(predictions, problem.measured, noise)
            strategy.tell(list(asked), list(values))
            places += len(asked)
            if values.min() < best_misfit:
                best, best_misfit = asked[int(values.argmin())], float(values.min())
            reason = ", ".join(sorted(strategy.stop()))
    return Start(best[: problem.dimensions], best_misfit, places, reason)
