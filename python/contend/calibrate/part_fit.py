"""The fit of one part: screening, search, emulator and posterior, thread counts left out, what is set back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from contend.calibrate import sensitivity
from contend.calibrate.cross_validation import cross_validate
from contend.calibrate.expected import NOISE_REPLICATIONS, beyond_budget, left_after_search, planned
from contend.calibrate.likelihood import misfit
from contend.calibrate.parts import Part
from contend.calibrate.posterior_rounds import posterior_of
from contend.calibrate.problem import Unpredicted
from contend.calibrate.search import History, Screening, screen, search

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contend.calibrate.emulator import Emulator
    from contend.calibrate.evaluations import Evaluator
    from contend.calibrate.options import Options, Reporter
    from contend.calibrate.posterior import Posterior
    from contend.calibrate.problem import Problem, Vector

# Setting parameters that the data do not determine back to the base may cost this much log-likelihood.
_FREE = 0.5


def fit_part(
    problem: Problem, evaluator: Evaluator, options: Options, reporter: Reporter, limit: int
) -> tuple[Part | None, list[Unpredicted]]:
    """The fit of a part, and those of its points that failed at all places of the screening, which are in no fit.

    The search ends when the evaluator has counted more than `limit` steps.
    """
    before, begin = evaluator.simulated + evaluator.found, evaluator.steps
    reporter.say(f"which of {problem.dimensions} parameters the data see")
    places = History()
    screening = screen(problem, evaluator, places, options.seed)
    expected = planned(problem, options)
    screened = evaluator.simulated + evaluator.found - before
    each = (evaluator.steps - begin) / max(1, screened)
    too_many = beyond_budget(problem, options, each, limit - evaluator.steps)
    reporter.plan(-too_many)
    expected -= too_many
    is_finite = np.atleast_2d(np.isfinite(places.predictions))
    has_answered = [bool(one) for one in np.any(is_finite, axis=0)]
    failed = [
        Unpredicted(target.dataset, target.point, f"failed at all {len(places.places)} places of the screening: "
                    + evaluator.reason(problem.task(target, places.places[0], 0)))
        for target, answered in zip(problem.targets, has_answered, strict=True) if not answered
    ]  # fmt: skip
    if not any(has_answered):
        return None, failed
    problem = problem.only(has_answered)
    screening = Screening(screening.effects[:, has_answered], screening.spread[:, has_answered])
    kept = sensitivity.seen(screening)
    if not kept:
        why = "no parameter moves any point by more than noise and discrepancy"
        part = Part(problem, screening, [], None, problem.base, np.empty(0), problem.noise, refused=why)
        part.predictions = part.predict(evaluator, [])
        part.sights = sensitivity.judge(problem, screening, [], None, None)
        return part, failed
    reduced = problem.restricted(kept)
    history = History()
    # A point that changes between two states by chance says little of the prices, however well it was measured.
    first_noise = total_noise(reduced, evaluator, reduced.base)
    fit = search(
        reduced, evaluator, history, first_noise, starts=options.starts, seed=options.seed,
        is_over=lambda: evaluator.steps > limit,
        say=lambda text: reporter.say(f"fit, {text}"),
    )  # fmt: skip
    used = evaluator.simulated + evaluator.found - before
    reporter.plan(min(0, used - expected + left_after_search(reduced, options)))
    noise = total_noise(reduced, evaluator, fit.place)
    posterior: Posterior | None = None
    emulator: Emulator | None = None
    refused = "no posterior was asked for"
    if options.has_posterior:
        posterior, refused, emulator = posterior_of(
            reduced, evaluator, history, fit, noise, options=options, reporter=reporter
        )
    indices = None if emulator is None else sensitivity.total_indices(reduced, emulator, options.seed)
    place = problem.base.copy()
    place[kept] = fit.place
    part = Part(problem, screening, kept, fit, place, np.empty(0), noise, posterior, refused)
    if emulator is not None:
        part.emulator_errors, part.training_places = emulator.errors, emulator.training_places
    part.sights = sensitivity.judge(problem, screening, kept, posterior, indices)
    if options.has_folds:
        reporter.say("thread counts left out, one at a time")
        part.folds = cross_validate(reduced, evaluator, first_noise, options.seed)
    _set_back(part, evaluator)
    part.predictions = part.predict(evaluator, part.settled)
    return part, failed


def total_noise(problem: Problem, evaluator: Evaluator, place: Vector) -> Vector:
    """Measurement noise, and that of one replication of the simulation at the best fit."""
    runs = np.array([problem.simulate(evaluator, [place], (replication,))[0] for replication in NOISE_REPLICATIONS])
    own = np.zeros(runs.shape[1])
    is_known = np.isfinite(runs).sum(axis=0) > 1  # of a point whose simulations fail here nothing can be said
    own[is_known] = np.nanstd(runs[:, is_known], axis=0, ddof=1)
    return np.asarray(np.sqrt(problem.noise**2 + own**2), dtype=float)


def _set_back(part: Part, evaluator: Evaluator) -> None:
    """Gives parameters that the data do not determine their base values again, unless that costs likelihood.

    The loosest goes first, and each with those that went before it: one that matters keeps its value and no other's.
    What all of them cost together is bounded. There is one prediction for each, all with the same random numbers.
    """
    names = [parameter.name for parameter in part.problem.parameters]
    spreads = {one.name: one.spread or 0.0 for one in part.sights if one.verdict is sensitivity.Verdict.not_identified}
    loose = sorted((index for index in part.kept if names[index] in spreads), key=lambda index: -spreads[names[index]])
    if not loose:
        return
    allowed = _misfit_with(part, evaluator, part.kept) + _FREE
    for index in loose:
        if _misfit_with(part, evaluator, [one for one in part.settled if one != index]) <= allowed:
            part.place[index] = part.problem.base[index]
            part.reset += (names[index],)


def _misfit_with(part: Part, evaluator: Evaluator, settled: Sequence[int]) -> float:
    predictions = part.predict(evaluator, settled)
    return float(misfit(predictions[None, :], part.problem.measured, part.noise)[0])
