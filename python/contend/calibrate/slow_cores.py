"""Cores that are slower than others for as long as a launch lasts, as on virtual machines that share them with others.

How many there are, and how slow, a microbenchmark tells that asks each core in each launch: its times lie in two
groups. A fit simulates cores that are all alike, because which ones happened to be slow in a launch is not known. What
slow ones do to a point on average is found beforehand, by simulating it with and without them, and is laid upon every
prediction.
"""

from __future__ import annotations

import copy
import math
import statistics
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from contend.common.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contend.calibrate.evaluations import Evaluator
    from contend.calibrate.problem import Problem
    from contend.common.jsontypes import JsonObject
    from contend.datasets.dataset import Dataset

SECTION = "slow_cores"
SHARE, SLOWDOWN = f"machine.{SECTION}.share", f"machine.{SECTION}.slowdown"
# What single cores are asked: a switch between two of its threads, and back.
PROBE = "context_switch"
# Fewer times of cores in launches do not tell how many are slow.
_FEWEST_TIMES = 8
# Of the variance of logarithms two groups explain 0.64 where there is one normal distribution, and 0.75 where all
# values of a range are equally frequent.
_EXPLAINED = 0.8
_LEAST_SLOWDOWN = 1.15
_NORMAL_95 = 1.959964
# Of those with and without slow cores: before those of predictions, behind those of fits.
_REPLICATIONS = tuple(range(50, 82))


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class SlowCores:
    """Which share of cores is slow, and how much longer work takes there than on a quick one."""

    share: Estimate
    slowdown: Estimate


def cores_were_asked(dataset: Dataset) -> bool:
    """Whether a dataset has times of single cores."""
    return any(point.parameters.get("probe") == PROBE for point in dataset.points)


def slow_cores(times: Sequence[float]) -> SlowCores:
    """What the times of the same work on several cores, in several launches, say of slow cores.

    They are split in two where the squares of what logarithms differ from their group's mean are least. The interval of
    the share is Wilson's (1927).

    Raises:
        InputError: There are too few, or they do not lie in two groups.
    """
    if len(times) < _FEWEST_TIMES:
        raise InputError(
            f"{len(times)} times of cores in launches do not tell quick from slow ones; {_FEWEST_TIMES} do"
        )
    logs = sorted(math.log(time) for time in times)
    splits = [(logs[:count], logs[count:]) for count in range(1, len(logs))]
    quick, slow = min(splits, key=lambda split: _squares(split[0]) + _squares(split[1]))
    distance = statistics.fmean(slow) - statistics.fmean(quick)
    within, all_squares = _squares(quick) + _squares(slow), _squares(logs)
    if within > (1 - _EXPLAINED) * all_squares or distance < math.log(_LEAST_SLOWDOWN):
        raise InputError("the cores are alike: their times do not lie in two groups")
    error = math.sqrt(_squares(quick) / len(quick) ** 2 + _squares(slow) / len(slow) ** 2)
    slowdown = [math.exp(distance + sign * _NORMAL_95 * error) for sign in (0, -1, 1)]
    return SlowCores(_share(len(slow), len(logs)), Estimate(slowdown[0], max(1.0, slowdown[1]), slowdown[2]))


def _squares(values: Sequence[float]) -> float:
    """Of what values differ from their mean."""
    mean = statistics.fmean(values)
    return sum((value - mean) ** 2 for value in values)


def _share(slow: int, count: int) -> Estimate:
    share, z = slow / count, _NORMAL_95
    middle = (share + z**2 / (2 * count)) / (1 + z**2 / count)
    half = z / (1 + z**2 / count) * math.sqrt(share * (1 - share) / count + z**2 / (4 * count**2))
    return Estimate(share, middle - half, middle + half)


def with_cores_alike(profile: JsonObject) -> JsonObject:
    """A profile without slow cores."""
    if SECTION not in profile:
        return profile
    return {key: value for key, value in profile.items() if key != SECTION}


def simulations_of_slow_cores(problem: Problem, section: JsonObject | None) -> int:
    """How many lay_slow_cores_upon() needs."""
    return 0 if section is None else 2 * len(_REPLICATIONS) * len(problem.targets)


def lay_slow_cores_upon(problem: Problem, section: JsonObject | None, evaluator: Evaluator) -> None:
    """Gives each target of a problem without slow cores what they do to it, at the base's prices.

    That hardly depends on the prices: all work takes so much longer. A target of which a simulation fails keeps none.

    Args:
        problem: Of cores that are alike.
        section: What the profile says of slow cores; None where it says nothing.
        evaluator: What simulates.

    Raises:
        InterruptedRunError: Ctrl-C; finished simulations are in the journal.
    """
    if section is None or not problem.targets:
        return
    values = {path: section[path.rpartition(".")[2]]["value"] for path in (SHARE, SLOWDOWN)}
    slowed = copy.copy(problem)
    slowed.targets = [replace(target, always=values) for target in problem.targets]
    alike = problem.simulate(evaluator, [problem.base], _REPLICATIONS)[0]
    offsets = slowed.simulate(evaluator, [problem.base], _REPLICATIONS)[0] - alike
    problem.targets = [
        replace(target, offset=float(offset)) if np.isfinite(offset) else target
        for target, offset in zip(problem.targets, offsets, strict=True)
    ]
