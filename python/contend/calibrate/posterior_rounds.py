"""Posterior and emulator in rounds: where one chain was is where the next emulator is trained."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from contend.calibrate.emulator import MOST_TRAINING, Emulator
from contend.calibrate.expected import check_size
from contend.calibrate.likelihood import DISCREPANCY, misfit
from contend.calibrate.posterior import NotConvergedError, Posterior, sample
from contend.calibrate.search import design

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contend.calibrate.evaluations import Evaluator
    from contend.calibrate.options import Options, Reporter
    from contend.calibrate.problem import Problem, Vector
    from contend.calibrate.search import Fit, History

_ROUNDS = 5
GOOD_EMULATOR = 0.5
"""An emulator may be wrong by this share of noise and discrepancy, in the median over the points."""
# Rounds before the last only need places worth a look.
_SHORT_CHAIN = 3_000


def posterior_of(
    problem: Problem,
    evaluator: Evaluator,
    history: History,
    fit: Fit,
    noise: Vector,
    *,
    options: Options,
    reporter: Reporter,
) -> tuple[Posterior | None, str, Emulator | None]:
    """Emulator and posterior, in rounds: draws of one train the next, until the emulator is right about them."""
    dimensions = problem.dimensions
    reporter.say("design for the emulator")
    places = design(dimensions, options.seed)
    history.add(places, problem.simulate(evaluator, list(places)))
    stream = np.random.default_rng(options.seed)
    checked: list[Vector] = []
    errors = np.zeros(len(problem.targets))
    share = np.inf
    emulator: Emulator | None = None
    for number in range(_ROUNDS):
        reporter.say(f"emulator and chain, round {number + 1}")
        places, predictions = _training(problem, history, checked, noise, stream)
        emulator = Emulator(problem, places, predictions, options.seed)
        emulator.errors = errors  # of the round before
        try:
            draws = sample(problem, emulator, noise, fit.place, options.seed, longest=_SHORT_CHAIN).draws
        except NotConvergedError as error:
            draws = error.draws
        test = draws[stream.choice(len(draws), min(len(draws), check_size(dimensions)), replace=False)]
        truth = problem.simulate(evaluator, list(test))
        errors = emulator.check(test, truth)
        history.add(test, truth)
        checked += list(test)
        share = float(np.median(emulator_shares(errors, noise)))
        if share <= GOOD_EMULATOR:
            reporter.say("chain")
            try:
                return sample(problem, emulator, noise, fit.place, options.seed), "", emulator
            except NotConvergedError as error:
                return None, str(error), emulator
    return None, f"the emulator's error is {share:.2f} of noise and discrepancy (allowed: {GOOD_EMULATOR})", emulator


def emulator_shares(errors: Vector, noise: Vector) -> Vector:
    """How wrong an emulator is at each point, as a share of noise and discrepancy.

    Args:
        errors: Its standard errors.
        noise: Those of measurement and simulation together.
    """
    return np.asarray(errors / np.sqrt(noise**2 + DISCREPANCY**2), dtype=float)


def _training(
    problem: Problem, history: History, checked: Sequence[Vector], noise: Vector, stream: np.random.Generator
) -> tuple[Vector, Vector]:
    """Training data: where the posterior was drawn before, the best places, and some of all others."""
    places, predictions = np.array(history.places), np.array(history.predictions)
    wanted = {place.tobytes() for place in checked}
    is_draw = np.array([place.tobytes() in wanted for place in places])
    order = np.argsort(misfit(predictions, problem.measured, noise), kind="stable")
    draws = [int(i) for i in order if is_draw[i]]
    rest = [int(i) for i in order if not is_draw[i]]
    near = rest[: max(0, (MOST_TRAINING - len(draws)) * 6 // 10)]
    far = rest[len(near) :]
    room = max(0, MOST_TRAINING - len(draws) - len(near))
    some = [far[int(i)] for i in stream.choice(len(far), min(room, len(far)), replace=False)] if far else []
    chosen = [*draws, *near, *some]
    _, unique = np.unique(np.round(places[chosen], 6), axis=0, return_index=True)
    picked = [chosen[int(i)] for i in sorted(unique)]
    return places[picked], predictions[picked]
