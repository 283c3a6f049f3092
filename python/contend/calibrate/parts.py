"""Parts of a calibration: parameters that share no target are fitted apart.

What one library costs says nothing about another one's prices.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from scipy.cluster.hierarchy import DisjointSet

from contend.calibrate.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contend.calibrate.cross_validation import Fold
    from contend.calibrate.evaluations import Evaluator
    from contend.calibrate.posterior import Posterior
    from contend.calibrate.problem import Vector
    from contend.calibrate.search import Fit, Screening
    from contend.calibrate.sensitivity import Sight


@dataclass
class Part:
    """The fit of parameters that hang together: problem, screening, best place, posterior, and how it all went.

    `kept` are the indices of parameters that were fitted; `fit` is None where there were none. `refused` says why there
    is no posterior, `emulator_errors` and `training_places` are of the emulator that it was sampled with.
    """

    problem: Problem
    screening: Screening
    kept: list[int]
    fit: Fit | None
    place: Vector
    predictions: Vector
    noise: Vector
    posterior: Posterior | None = None
    refused: str = ""
    emulator_errors: Vector | None = None
    training_places: int = 0
    sights: list[Sight] = field(default_factory=list)
    reset: tuple[str, ...] = ()
    folds: list[Fold] = field(default_factory=list)

    @property
    def settled(self) -> list[int]:
        """The indices of parameters that have a value of the fit: those that were fitted and not set back."""
        return [index for index in self.kept if self.problem.parameters[index].name not in self.reset]

    def value(self, index: int) -> float:
        """The value of a parameter after the fit, which may be the base's own."""
        parameter = self.problem.parameters[index]
        return parameter.at(float(self.place[index])) if index in self.settled else parameter.base

    def predict(self, evaluator: Evaluator, settled: Sequence[int]) -> Vector:
        """Logarithms of the predictions with some fitted values; all other parameters have the base's."""
        found = self.problem.restricted(settled).simulate(evaluator, [self.place[list(settled)]])
        return np.asarray(found[0], dtype=float)


def components(problem: Problem) -> list[Problem]:
    """The parts of a problem that share no parameter, in order of their first parameter."""
    linked = DisjointSet(range(problem.dimensions))
    for target in problem.targets:
        for other in target.unknowns[1:]:
            linked.merge(target.unknowns[0], other)
    found = []
    for group in sorted(map(sorted, linked.subsets())):
        chosen = [target for target in problem.targets if not set(group).isdisjoint(target.unknowns)]
        part = Problem(problem.parameters, chosen).restricted(group)
        if part.targets:
            found.append(part)
    return found


def errors_pct(part: Part) -> Vector:
    """Absolute errors of the fit at its targets, in percent."""
    return np.asarray(np.abs(np.exp(part.predictions - part.problem.measured) - 1) * 100, dtype=float)
