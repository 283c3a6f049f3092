"""What a fit says of thread counts that it has not seen: each fitted thread count is left out once, and predicted.

Who is left out is decided as the split is: all points of a thread count, of every library, transport and design. A fit
to the others knows nothing of the whole fit, so that a parameter which only the points left out feel has no value from
them. It begins where an emulator says that the others agree best, which is trained with the base's values and with
places all over the cube, those of a posterior's first emulator: they cost nothing more. From there it goes by the
emulator too, corrected by what was simulated. Its predictions of what it has not seen, with random numbers that no
search saw, differ from what was measured by noise, by what the parameters could not be told without these points, and
by what the model is wrong about between thread counts.

Where the others do not feel a parameter at all, as points of one thread do not feel what a line costs to move, their
fit would say what that parameter could be, which is the posterior's to say, and nothing of the model: no such fold is
made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from scipy.optimize import differential_evolution

from contend.calibrate.emulator import Emulator
from contend.calibrate.likelihood import misfit
from contend.calibrate.problem import Problem
from contend.calibrate.search import CHECK_REPLICATIONS, SEEN, design
from contend.calibrate.split import threads_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from contend.calibrate.evaluations import Evaluator
    from contend.calibrate.problem import Target, Vector

    Mask: TypeAlias = npt.NDArray[np.bool_]

_FEWEST_COUNTS = 2
# How many places the search of one fold looks at, at most.
PLACES_OF_REFIT = 41
# Of searches on an emulator.
_GENERATIONS = 100
# Half the width of a box at first, at the end, and how it changes.
_FIRST_WIDTH, _LEAST_WIDTH = 0.2, 0.01
_GROWS, _SHRINKS = 1.5, 3.0
# How far inside of its box a search begins, as a share of its width: SciPy rounds, and refuses what lies beyond an end.
_MARGIN = 1e-9
# Whether points feel a parameter: so many values of it are tried at so many places of the design, on the emulator.
_VALUES, _PLACES = 9, 32


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


def counts_of(problem: Problem) -> list[int]:
    """The thread counts that can be left out; none where nothing would be left to fit to."""
    counts = {threads_of(target.dataset, target.point) for target in problem.targets}
    known = sorted(count for count in counts if count is not None)
    return known if len(known) >= _FEWEST_COUNTS else []


def cross_validate(problem: Problem, evaluator: Evaluator, noise: Vector, seed: int) -> list[Fold]:
    """Leaves out each thread count once, but for those without which a parameter would not be felt.

    No fold where there is only one.

    Args:
        problem: What was fitted.
        evaluator: What simulates.
        noise: Standard errors of measurement and of one replication of the simulation together, at the base's values.
        seed: Of the searches, and of the places that the emulator is trained with.
    """
    counts = counts_of(problem)
    if not counts:
        return []
    places = np.vstack([problem.base, design(problem.dimensions, seed)])
    emulator = Emulator(problem, places, problem.simulate(evaluator, list(places)), seed)
    effects = _effects(emulator, places[:_PLACES], noise)
    return [
        _fold(problem, evaluator, emulator, noise, count, seed + index)
        for index, count in enumerate(counts)
        if (effects[:, ~_left_out(problem, count)] >= SEEN).any(axis=1).all()
    ]


def _left_out(problem: Problem, count: int) -> Mask:
    """Whether each target has a number of threads."""
    return np.array([threads_of(target.dataset, target.point) == count for target in problem.targets], dtype=bool)


def _effects(emulator: Emulator, places: Vector, noise: Vector) -> Vector:
    """The largest effect of each parameter alone over its range, [parameter, target], in standard deviations of noise.

    Noise is that of measurement and simulation, without the discrepancy that `search.screen` adds to it. Emulated: a
    target that the simulator could give nowhere feels nothing.
    """
    effects = np.zeros((places.shape[1], len(noise)))
    for index in range(len(effects)):
        varied = np.repeat(places, _VALUES, axis=0)
        varied[:, index] = np.tile(np.linspace(0.0, 1.0, _VALUES), len(places))
        predicted = emulator.predict(varied).reshape(len(places), _VALUES, len(noise))
        effects[index] = np.ptp(predicted, axis=1).max(axis=0) / noise
    return np.nan_to_num(effects)


def _fold(  # noqa: PLR0917 - all of one fold
    problem: Problem, evaluator: Evaluator, emulator: Emulator, noise: Vector, count: int, seed: int
) -> Fold:
    is_left_out = _left_out(problem, count)
    kept, left_out = _chosen(problem, ~is_left_out), _chosen(problem, is_left_out)
    place = _refit(kept, evaluator, emulator, ~is_left_out, noise[~is_left_out], seed)
    runs = np.array([left_out.simulate(evaluator, [place], (one,))[0] for one in CHECK_REPLICATIONS])
    predicted = left_out.one_after_the_other(runs)
    own = np.sqrt(left_out.noise**2 + np.nan_to_num(np.var(runs, axis=0, ddof=1)) / len(runs))
    return Fold(count, place, tuple(
        Residual(target, float(value), float(error))
        for target, value, error in zip(left_out.targets, left_out.measured - predicted, own, strict=True)
    ))  # fmt: skip


def _refit(  # noqa: PLR0917 - all of one search
    kept: Problem, evaluator: Evaluator, emulator: Emulator, is_kept: Mask, noise: Vector, seed: int
) -> Vector:
    """Where in the cube the targets agree best.

    The emulator's best place is simulated, and the emulator shifted to what came out; its best places in two boxes
    around the first one are next. A better place takes its place, and the boxes grow, else they shrink (space mapping
    within a trust region: Bandler et al., IEEE Transactions on Microwave Theory and Techniques 52, 2004, page 337). A
    search that looks at more places follows the luck of its random numbers.
    """
    measured = kept.measured

    def best_emulated(around: Vector, width: float, shift: Vector) -> Vector:
        low, high = np.maximum(around - width, 0.0), np.minimum(around + width, 1.0)
        margin = _MARGIN * (high - low)
        found = differential_evolution(
            lambda cube: misfit(emulator.predict(cube.T)[:, is_kept] + shift, measured, noise),
            list(zip(low, high, strict=True)),
            rng=seed, x0=np.clip(around, low + margin, high - margin), maxiter=_GENERATIONS, init="sobol", polish=False,
            updating="deferred", vectorized=True,
        )  # fmt: skip
        return np.asarray(found.x, dtype=float)

    best = best_emulated(kept.base, 1.0, np.zeros(len(measured)))
    simulated = kept.simulate(evaluator, [best])[0]
    width, looked_at = _FIRST_WIDTH, 1
    while width > _LEAST_WIDTH and looked_at < PLACES_OF_REFIT:
        shift = simulated - emulator.predict(best[None, :])[0, is_kept]
        places = [best_emulated(best, width / part, shift) for part in (1, _SHRINKS)]
        predictions = kept.simulate(evaluator, places)
        looked_at += len(places)
        old, *new = misfit(np.vstack([simulated, predictions]), measured, noise)
        better = int(np.argmin(new))
        if new[better] < old:
            best, simulated = places[better], predictions[better]
            width = min(width * _GROWS, _FIRST_WIDTH)
        else:
            width /= _SHRINKS
    return best


def _chosen(problem: Problem, which: Mask) -> Problem:
    targets = [target for target, is_chosen in zip(problem.targets, which, strict=True) if is_chosen]
    return Problem(problem.parameters, targets)
