"""What a fit says of thread counts that it has not seen: each fitted thread count is left out once, and predicted.

Who is left out is decided as the split is: all points of a thread count, of every library, transport and design. A fit
to the others begins where the whole fit ended and goes where the others want it: its search is about as wide as an
ordinary start's, and a third as long. Its predictions of what it has not seen, with random numbers that no search saw,
differ from what was measured by noise, by what the parameters could not be told without these points, and by what the
model is wrong about between thread counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from contend.calibrate.problem import Problem
from contend.calibrate.search import CHECK_REPLICATIONS, most_places, refine
from contend.calibrate.split import threads_of

if TYPE_CHECKING:
    from contend.calibrate.evaluations import Evaluator
    from contend.calibrate.problem import Target, Vector

_FEWEST_COUNTS = 2


@dataclass(frozen=True)
class Residual:
    """One point, predicted by a fit without its thread count.

    `value` is the logarithm of the measured rate over the predicted one, NaN where the simulation failed; `noise` what
    of it measurement and simulation explain, as a standard error.
    """

    target: Target
    value: float
    noise: float

    @property
    def group(self) -> tuple[str, str]:
        """What its discrepancy is a property of: library and transport."""
        return (self.target.dataset.library_key, self.target.dataset.transport)


@dataclass(frozen=True)
class Fold:
    """One fit without a thread count: where in the cube it ended, and what it says of the points left out."""

    threads: int
    place: Vector
    residuals: tuple[Residual, ...]


def places_of_refit(dimensions: int) -> int:
    """How many places the search of one fold looks at, at most."""
    return most_places(dimensions) // 3


def counts_of(problem: Problem) -> list[int]:
    """The thread counts that can be left out; none where nothing would be left to fit to."""
    counts = {threads_of(target.dataset, target.point) for target in problem.targets}
    known = sorted(count for count in counts if count is not None)
    return known if len(known) >= _FEWEST_COUNTS else []


def cross_validate(problem: Problem, evaluator: Evaluator, fitted: Vector, noise: Vector, seed: int) -> list[Fold]:
    """Leaves out each thread count once; no fold where there is only one.

    Args:
        problem: What was fitted.
        evaluator: What simulates.
        fitted: Where the whole fit ended.
        noise: Standard errors of measurement and of one replication of the simulation together.
        seed: Of the searches.
    """
    counts = counts_of(problem)
    return [_fold(problem, evaluator, fitted, noise, count, seed + index) for index, count in enumerate(counts)]


def _fold(  # noqa: PLR0917 - all of one fold
    problem: Problem, evaluator: Evaluator, fitted: Vector, noise: Vector, count: int, seed: int
) -> Fold:
    is_left_out = np.array([threads_of(target.dataset, target.point) == count for target in problem.targets])
    kept, left_out = _chosen(problem, ~is_left_out), _chosen(problem, is_left_out)
    # Where the whole fit ended is no candidate, however good it is for the others: it has seen what is left out.
    place = refine(kept, evaluator, noise[~is_left_out], fitted, places_of_refit(problem.dimensions), seed)
    predicted = left_out.simulate(evaluator, [place], CHECK_REPLICATIONS)[0]
    simulation = (noise[is_left_out] ** 2 - left_out.noise**2) / len(CHECK_REPLICATIONS)
    own = np.sqrt(left_out.noise**2 + np.maximum(simulation, 0.0))
    return Fold(count, place, tuple(
        Residual(target, float(value), float(error))
        for target, value, error in zip(left_out.targets, left_out.measured - predicted, own, strict=True)
    ))  # fmt: skip


def _chosen(problem: Problem, which: Vector) -> Problem:
    targets = [target for target, is_chosen in zip(problem.targets, which, strict=True) if is_chosen]
    return Problem(problem.parameters, targets)
