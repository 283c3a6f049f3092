"""Cores that are slower than others for seconds, as on virtual machines that share them with others.

How many there are, and how slow, a microbenchmark tells that asks each core in each launch: its times lie in two
groups. A fit simulates cores that are all alike, because which ones happened to be slow in a launch is not known. What
slow ones do to a point on average is found beforehand, by simulating it with and without them, and is laid upon every
prediction.

Averages over draws of who is slow are those of logarithms: a measured median is over two or three launches, which is
nearer to the mean of all than to the median of many, whose times lie in two groups as well.
"""

from __future__ import annotations

import functools
import math
import statistics
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from contend.common.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contend.calibrate.evaluations import Evaluator
    from contend.calibrate.problem import Problem, Target, Vector
    from contend.common.jsontypes import JsonObject
    from contend.datasets.dataset import Dataset

SECTION = "slow_cores"
SHARE, SLOWDOWN = f"machine.{SECTION}.share", f"machine.{SECTION}.slowdown"
# What single cores are asked: a switch between two of its threads, and back.
PROBE = "context_switch"
# Fewer times of cores in launches do not tell how many are slow.
_FEWEST_TIMES = 8
# A few times far from all others are outliers, not a group: it has so many, and such a part of all.
_FEWEST_OF_A_GROUP, _LEAST_PART = 3, 1 / 8
_LEAST_SLOWDOWN = 1.15
# Two groups explain more of the variance than they would of so much of samples from one range of values.
_BY_CHANCE = 0.99
_SAMPLES = 4000
_NORMAL_95 = 1.959964
# Benchmark and model never mean exactly the same.
_LEAST_UNCERTAINTY = 0.05
# Replications with and without slow cores: behind those of fits and predictions. Of one pair the standard error is 1 %.
_WITH, _WITHOUT = tuple(range(400, 656)), tuple(range(400, 416))


@dataclass(frozen=True)
class Known:
    """A number with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class SlowCores:
    """Which share of cores is slow, and how much longer work takes there than on a quick one."""

    share: Known
    slowdown: Known


def slow_cores(times: Sequence[float]) -> SlowCores:
    """What the times of the same work on several cores, in several launches, say of slow cores.

    They are split in two where the squares of what logarithms differ from their group's mean are least. The interval of
    the share is Wilson's (1927), that of the slowdown has the groups' common variance.

    Raises:
        InputError: There are too few, or they do not lie in two groups.
    """
    count = len(times)
    if count < _FEWEST_TIMES:
        raise InputError(f"{count} times of cores in launches do not tell quick from slow; {_FEWEST_TIMES} may")
    logs = sorted(math.log(time) for time in times)
    splits = [(logs[:quick], logs[quick:]) for quick in range(1, count)]
    quick, slow = min(splits, key=lambda split: _squares(split[0]) + _squares(split[1]))
    distance = statistics.fmean(slow) - statistics.fmean(quick)
    within, all_squares = _squares(quick) + _squares(slow), _squares(logs)
    is_split = within <= (1 - _explained_by_chance(count)) * all_squares
    is_group = min(len(quick), len(slow)) >= max(_FEWEST_OF_A_GROUP, _LEAST_PART * count)
    if not is_split or not is_group or distance < math.log(_LEAST_SLOWDOWN):
        raise InputError("the cores are alike: their times do not lie in two groups")
    error = math.sqrt(within / (count - 2) * (1 / len(quick) + 1 / len(slow)))
    factor = math.exp(max(_NORMAL_95 * error, math.log1p(_LEAST_UNCERTAINTY)))
    slowdown = math.exp(distance)
    return SlowCores(_share(len(slow), count), Known(slowdown, max(1.0, slowdown / factor), slowdown * factor))


def _squares(values: Sequence[float]) -> float:
    """Of what values differ from their mean."""
    mean = statistics.fmean(values)
    return sum((value - mean) ** 2 for value in values)


@functools.cache
def _explained_by_chance(count: int) -> float:
    """Part of the variance that the best split explains, exceeded by 1 % of samples from a range of values.

    Of one range, because a split explains more of it (0.75 of many values) than of a normal distribution (0.64).
    """
    values = np.sort(np.random.default_rng(0).random((_SAMPLES, count)), axis=1)
    values -= values.mean(axis=1, keepdims=True)
    sums = np.cumsum(values, axis=1)[:, :-1]
    quick = np.arange(1, count)
    between = sums**2 * count / (quick * (count - quick))  # both groups' means have the opposite signs
    return float(np.quantile(np.max(between, axis=1) / np.sum(values**2, axis=1), _BY_CHANCE))


def _share(slow: int, count: int) -> Known:
    share, z = slow / count, _NORMAL_95
    middle = (share + z**2 / (2 * count)) / (1 + z**2 / count)
    half = z / (1 + z**2 / count) * math.sqrt(share * (1 - share) / count + z**2 / (4 * count**2))
    return Known(share, middle - half, middle + half)


def cores_were_asked(dataset: Dataset) -> bool:
    """Whether a dataset has times of so many single cores that they tell whether some are slow."""
    asked = [len(point.launch_medians) for point in dataset.points if point.parameters.get("probe") == PROBE]
    return sum(asked) >= _FEWEST_TIMES


def slow_cores_of(profile: JsonObject) -> dict[str, float] | None:
    """What a profile says of slow cores, by path in a scenario; None where all cores are alike."""
    section = profile.get(SECTION) or {}
    share = section.get("share", {}).get("value", 0.0)
    slowdown = section.get("slowdown", {}).get("value", 1.0)
    return None if share in {0.0, 1.0} or slowdown == 1.0 else {SHARE: share, SLOWDOWN: slowdown}


def with_cores_alike(profile: JsonObject) -> JsonObject:
    """A profile without slow cores."""
    if SECTION not in profile:
        return profile
    return {key: value for key, value in profile.items() if key != SECTION}


def mean_of_logs(values: Sequence[float]) -> float:
    """The average of rates, or of times, over draws of who is slow; NaN where there is none."""
    return math.exp(statistics.fmean(map(math.log, values))) if values else math.nan


def simulations_of_slow_cores(problem: Problem, values: dict[str, float] | None) -> int:
    """How many lay_slow_cores_upon() needs."""
    return 0 if values is None else (len(_WITH) + len(_WITHOUT)) * len(problem.targets)


def lay_slow_cores_upon(problem: Problem, values: dict[str, float] | None, evaluator: Evaluator) -> list[Target]:
    """Gives each target of a problem without slow cores what they do to it, at the base's prices.

    That hardly depends on the prices: all work takes so much longer.

    Args:
        problem: Of cores that are alike.
        values: What the profile says of slow cores, see slow_cores_of().
        evaluator: What simulates.

    Returns:
        Targets of which most simulations failed, which are no targets of the problem any more.

    Raises:
        InterruptedRunError: Ctrl-C; finished simulations are in the journal.
    """
    if values is None or not problem.targets:
        return []
    alike = problem.targets
    without = _logs(problem, _WITHOUT, evaluator)
    problem.targets = [replace(target, always=values) for target in alike]
    slowed = _logs(problem, _WITH, evaluator)
    offsets = slowed - without
    problem.targets = [
        replace(target, offset=float(offset))
        for target, offset in zip(alike, offsets, strict=True) if np.isfinite(offset)
    ]  # fmt: skip
    return [target for target, offset in zip(alike, offsets, strict=True) if not np.isfinite(offset)]


def _logs(problem: Problem, replications: Sequence[int], evaluator: Evaluator) -> Vector:
    """Means of the logarithms of predictions at the base's prices, [target]; NaN where most failed."""
    runs = np.array([problem.simulate(evaluator, [problem.base], (one,))[0] for one in replications])
    ended = np.isfinite(runs)
    sums = np.where(ended, runs, 0.0).sum(axis=0)
    most = ended.sum(axis=0) * 2 > len(replications)
    return np.where(most, sums / np.maximum(ended.sum(axis=0), 1), np.nan)
