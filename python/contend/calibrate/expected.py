"""How many simulations the stages of a fit are expected to take: what a progress bar shows, and a budget allows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contend.calibrate.cross_validation import PLACES_OF_REFIT, counts_of
from contend.calibrate.search import CHECK_REPLICATIONS, places_of_screening, places_of_search, size_of_design

if TYPE_CHECKING:
    from contend.calibrate.options import Options
    from contend.calibrate.problem import Problem

NOISE_REPLICATIONS = tuple(range(6))
"""Replications from which the noise of a simulation is known."""


def planned(problem: Problem, options: Options) -> int:
    """About how many simulations the fit of a part takes, at most."""
    dimensions = problem.dimensions
    places = places_of_screening(dimensions) + places_of_search(dimensions, options.starts)
    return places * len(problem.targets) + left_after_search(problem, options)


def left_after_search(problem: Problem, options: Options) -> int:
    """How many come behind the search: emulator, noise, what is set back, folds."""
    dimensions = problem.dimensions
    places = size_of_design(dimensions) + 2 * check_size(dimensions) + len(NOISE_REPLICATIONS)
    places += dimensions + 2  # what is set back, and the fit's own predictions
    return places * len(problem.targets) + (simulations_of_folds(problem) if options.has_folds else 0)


def simulations_of_folds(problem: Problem) -> int:
    """How many it takes to leave each thread count out once."""
    # Each target is left out once; all folds choose where they begin among the same places.
    folds = len(counts_of(problem))
    places = 1 + size_of_design(problem.dimensions)
    places += (folds - 1) * PLACES_OF_REFIT + len(CHECK_REPLICATIONS)
    return places * len(problem.targets) if folds else 0


def check_size(dimensions: int) -> int:
    """At how many draws an emulator is checked."""
    return 16 + 4 * dimensions


def beyond_budget(problem: Problem, options: Options, steps_each: float, left: int) -> int:
    """How many of the planned simulations of the search the steps left do not allow, if each takes so many."""
    search = places_of_search(problem.dimensions, options.starts) * len(problem.targets)
    allowed = max(0, left) / max(steps_each, 1.0)
    return max(0, search - round(min(allowed, search)))
