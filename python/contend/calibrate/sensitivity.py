"""What the data can see: total Sobol indices on the emulator, and how much narrower the posterior is than the prior."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from contend.calibrate.search import SEEN, sensitivity_space

if TYPE_CHECKING:
    from contend.calibrate.emulator import Emulator
    from contend.calibrate.posterior import Posterior
    from contend.calibrate.problem import Problem, Vector
    from contend.calibrate.search import Screening
    from contend.common.jsontypes import JsonObject

_SOBOL_SAMPLES = 512
# Posterior over prior standard deviation: below the first a value is known, above the second it is not.
KNOWN = 0.4
UNKNOWN = 0.8
# Two parameters that move together more than this are known in combination only.
_TIED = 0.7


class Verdict(StrEnum):
    """Whether the data determine a parameter."""

    identified = "identified"
    weak = "weakly identified"
    not_identified = "not identified"
    unseen = "not seen by the data"
    not_judged = "not judged without a posterior"


@dataclass(frozen=True)
class Sight:
    """What the data say about one parameter.

    `effect` is the largest elementary effect on any target, in the standard deviations of `Screening`, and `where` that
    target; `sobol` the largest total index; `spread` posterior over prior standard deviation (None without posterior);
    `tied` the other parameters that it moves together with, and their correlation.
    """

    name: str
    verdict: Verdict
    effect: float
    where: str
    sobol: float | None
    spread: float | None
    tied: tuple[tuple[str, float], ...] = ()

    def to_json(self) -> JsonObject:
        """As it stands in a profile."""
        return {
            "parameter": self.name,
            "verdict": str(self.verdict),
            "largest_effect_sd": round(self.effect, 3),
            "largest_effect_on": self.where,
            "largest_total_sobol_index": None if self.sobol is None else round(self.sobol, 3),
            "posterior_over_prior_sd": None if self.spread is None else round(self.spread, 3),
            "tied_to": {name: round(value, 2) for name, value in self.tied},
        }


def total_indices(problem: Problem, emulator: Emulator, seed: int) -> Vector:
    """Total Sobol indices, [parameter, target], of the emulator over the cube."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from SALib.analyze import sobol as analysis
        from SALib.sample import sobol as sampling

        space = sensitivity_space(problem)
        places = np.asarray(sampling.sample(space, _SOBOL_SAMPLES, calc_second_order=False, seed=seed), dtype=float)
        predicted = emulator.predict(places)
        indices = np.zeros((problem.dimensions, len(problem.targets)))
        for index in range(len(problem.targets)):
            if predicted[:, index].std() > 1e-9:  # noqa: PLR2004 - as the comment says
                found = analysis.analyze(space, predicted[:, index], calc_second_order=False, seed=seed)
                indices[:, index] = np.clip(np.nan_to_num(np.asarray(found["ST"], dtype=float)), 0.0, None)
    return indices


def judge(
    problem: Problem,
    screening: Screening,
    kept: list[int],
    posterior: Posterior | None,
    indices: Vector | None,
) -> list[Sight]:
    """What the data say about every parameter of a problem.

    Args:
        problem: All parameters.
        screening: Of all parameters.
        kept: Those that were fitted; posterior and indices are about these, in this order.
        posterior: None if there is none.
        indices: Total Sobol indices; None if there are none.
    """
    sights = []
    for index, parameter in enumerate(problem.parameters):
        effect = float(screening.strongest[index])
        where = problem.targets[int(screening.effects[index].argmax())].label
        if index not in kept:
            sights.append(Sight(parameter.name, Verdict.unseen, effect, where, None, None))
            continue
        position = kept.index(index)
        sobol = None if indices is None else float(indices[position].max())
        spread = None if posterior is None else float(posterior.spread[position])
        tied = _tied(problem, kept, position, posterior)
        sights.append(Sight(parameter.name, _verdict(spread), effect, where, sobol, spread, tied))
    return sights


def _verdict(spread: float | None) -> Verdict:
    if spread is None:
        return Verdict.not_judged
    if spread > UNKNOWN:
        return Verdict.not_identified
    return Verdict.identified if spread <= KNOWN else Verdict.weak


def _tied(
    problem: Problem, kept: list[int], position: int, posterior: Posterior | None
) -> tuple[tuple[str, float], ...]:
    if posterior is None:
        return ()
    row = posterior.correlation[position]
    others = [
        (problem.parameters[kept[other]].name, float(row[other]))
        for other in range(len(kept))
        if other != position and abs(row[other]) > _TIED
    ]
    return tuple(sorted(others, key=lambda item: -abs(item[1])))


def seen(screening: Screening) -> list[int]:
    """Parameters that move some target by more than noise and discrepancy together."""
    return [int(index) for index in np.flatnonzero(screening.strongest >= SEEN)]
