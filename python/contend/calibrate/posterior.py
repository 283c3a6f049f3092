"""The posterior of the parameters: emcee on the emulator, refused where it has not converged.

Parameters have a uniform prior in the cube (their logarithm, within the range); the model's discrepancy is sampled with
them, with a half-t prior.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from contend.calibrate.likelihood import (
    DISCREPANCY,
    LARGEST_DISCREPANCY,
    LEAST_DISCREPANCY,
    log_likelihood,
    log_prior,
)
from contend.common.errors import ContendError

if TYPE_CHECKING:
    from collections.abc import Callable

    from contend.calibrate.emulator import Emulator
    from contend.calibrate.problem import Problem, Vector

# A chain must be so many autocorrelation times long, and its halves must agree so well.
CHAIN_OVER_TIME = 50
LARGEST_RHAT = 1.05
_CHUNK = 1000
_LONGEST = 24_000
_DRAWS = 4000
# Standard deviation of a uniform distribution on the cube's side.
PRIOR_SPREAD = 1 / np.sqrt(12)


class NotConvergedError(ContendError):
    """A chain that says nothing yet. `draws` are its last states: places worth a look, no sample of anything."""

    def __init__(self, message: str, draws: Vector) -> None:
        super().__init__(message)
        self.draws = draws


@dataclass(frozen=True)
class Posterior:
    """Draws of the parameters, [draw, parameter] in the cube, and of the discrepancy; how the chain did."""

    draws: Vector
    discrepancy: Vector
    steps: int
    autocorrelation: float
    rhat: float
    acceptance: float

    def interval(self, index: int, share: float = 0.95) -> tuple[float, float]:
        """The central interval of one parameter, in the cube."""
        tail = (1 - share) / 2
        low, high = np.quantile(self.draws[:, index], [tail, 1 - tail])
        return float(low), float(high)

    @property
    def spread(self) -> Vector:
        """Standard deviations over that of the prior: 1 where the data said nothing."""
        return np.asarray(self.draws.std(axis=0) / PRIOR_SPREAD, dtype=float)

    @property
    def correlation(self) -> Vector:
        """Correlations of the parameters."""
        if self.draws.shape[1] == 1:
            return np.ones((1, 1))
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(np.nan_to_num(np.corrcoef(self.draws.T)), dtype=float)


def split_rhat(chains: Vector) -> float:
    """The largest split R-hat (Gelman et al., Bayesian Data Analysis) of [step, chain, parameter]."""
    half = len(chains) // 2
    if half < 2:  # noqa: PLR2004 - as the comment says
        return float("inf")
    halves = np.concatenate([chains[:half], chains[half : 2 * half]], axis=1)
    within = halves.var(axis=0, ddof=1).mean(axis=0)
    between = halves.mean(axis=0).var(axis=0, ddof=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.sqrt((half - 1) / half + between / within)
    return float(np.max(np.nan_to_num(ratio, nan=1.0, posinf=np.inf)))


def sample(
    problem: Problem,
    emulator: Emulator,
    noise: Vector,
    best: Vector,
    seed: int,
    *,
    longest: int = _LONGEST,
    progress: Callable[[int], None] = lambda _: None,
) -> Posterior:
    """Samples until the chain is long enough.

    Args:
        problem: What is fitted.
        emulator: Stands for the simulator; its error counts as noise.
        noise: Standard errors of measurement and simulation together.
        best: Where the walkers begin, in the cube.
        seed: Of the chain.
        longest: Steps after which it is given up.
        progress: Called with the steps done.

    Raises:
        NotConvergedError: It is not converged by then.
    """
    import emcee

    dimensions = problem.dimensions
    # An error that is not known is no reason to believe in nothing.
    total_noise = np.sqrt(noise**2 + np.minimum(emulator.errors, LARGEST_DISCREPANCY) ** 2)
    measured = problem.measured

    def log_posterior(points: Vector) -> Vector:
        places, width = points[:, :dimensions], np.exp(points[:, dimensions])
        in_cube = ((places >= 0) & (places <= 1)).all(axis=1)
        inside = in_cube & (width < LARGEST_DISCREPANCY) & (width > LEAST_DISCREPANCY)
        result = np.full(len(points), -np.inf)
        if inside.any():
            predicted = emulator.predict(places[inside])
            # The walker moves in the logarithm of the width, hence the Jacobian.
            prior = log_prior(width[inside]) + points[inside, dimensions]
            result[inside] = log_likelihood(predicted, measured, total_noise, width[inside]) + prior
        return result

    stream = np.random.default_rng(seed)
    walkers = max(32, 4 * (dimensions + 1))
    begin = np.column_stack(
        [
            np.clip(best + stream.normal(0, 0.03, (walkers, dimensions)), 0.001, 0.999),
            np.log(DISCREPANCY) + stream.normal(0, 0.2, walkers),
        ]
    )
    moves = [(emcee.moves.DEMove(), 0.7), (emcee.moves.DESnookerMove(), 0.1), (emcee.moves.StretchMove(), 0.2)]
    sampler = emcee.EnsembleSampler(walkers, dimensions + 1, log_posterior, vectorize=True, moves=moves)
    sampler.random_state = np.random.RandomState(seed).get_state()
    state, steps, time, rhat = begin, 0, np.inf, np.inf
    while steps < longest:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            state = sampler.run_mcmc(state, _CHUNK, skip_initial_state_check=True)
            steps += _CHUNK
            progress(steps)
            burn = steps // 3
            time = float(np.nanmax(sampler.get_autocorr_time(discard=burn, tol=0)))
            rhat = split_rhat(np.asarray(sampler.get_chain(discard=burn), dtype=float))
        if steps - burn >= CHAIN_OVER_TIME * time and rhat <= LARGEST_RHAT:
            flat = np.asarray(sampler.get_chain(discard=burn, thin=max(1, int(time / 2)), flat=True), dtype=float)
            chosen = flat[stream.permutation(len(flat))[:_DRAWS]]
            acceptance = float(np.mean(sampler.acceptance_fraction))
            return Posterior(chosen[:, :dimensions], np.exp(chosen[:, dimensions]), steps, time, rhat, acceptance)
    raise NotConvergedError(
        f"the chain has not converged after {steps} steps: autocorrelation time {time:.0f} (wanted: at most "
        f"{(steps - steps // 3) // CHAIN_OVER_TIME}), R-hat {rhat:.3f} (wanted: at most {LARGEST_RHAT})",
        np.asarray(sampler.get_chain(discard=steps // 3, thin=50, flat=True), dtype=float)[:, :dimensions],
    )
