"""Predictions of measured points with intervals.

The prediction itself is what the profile's values give for what was measured: the median of samples of so many
iterations. The interval comes from draws of the parameters, each simulated with random numbers of its own, and from the
discrepancy that the calibration found: it is one for the measured median, so the measurement's own error is in it too.

The discrepancy is that of thread counts which were left out of the fit, where the calibration did so. Where it has no
posterior, the fits without these counts are the draws. That is like CV+ (Barber et al., Predictive inference with the
jackknife+, 2021), but not CV+: there each fit's prediction has its own left-out residuals added, which guarantees a
coverage of exchangeable points whatever the model. Here all have Student noise of one scale, which is from the
residuals of all fits: nothing is guaranteed, and the coverage of held-out points says how good it is. A profile that
has neither gives draws from the ranges of its values, and what discrepancy a fit without them tells by its residuals.
"""

from __future__ import annotations

import functools
import itertools
import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from contend.accuracy.document import counted_reasons
from contend.accuracy.draws import drawn_configs
from contend.accuracy.interval import interval
from contend.accuracy.predicted import Predicted
from contend.accuracy.stored_draws import stored_draws
from contend.calibrate.evaluations import Task
from contend.calibrate.mapping import STEPS_OF_MEASURED
from contend.calibrate.problem import Builder, Unpredicted
from contend.calibrate.slow_cores import mean_of_logs, slow_cores_of
from contend.calibrate.split import FITTED_KINDS, PRICE_KINDS, was_fitted
from contend.common.errors import InputError, SimulationFailedError
from contend.common.nearest import proposal
from contend.common.spelling import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from contend.accuracy.draws import Drawn
    from contend.calibrate.evaluations import Evaluator
    from contend.calibrate.mapping import Mapping
    from contend.calibrate.problem import Target
    from contend.common.jsontypes import JsonObject
    from contend.datasets.dataset import Dataset

# Of the prediction and of the draws: those before have been seen by searches, their checks and the noise.
_FIRST_REPLICATION = 100
_FIRST_DRAWN_REPLICATION = 200
_FEWEST_REPLICATIONS, _MOST_REPLICATIONS = 5, 30
_RESAMPLED = 2000
# Where some cores are slow each replication draws anew which ones: so many more, each of so much fewer messages.
_MORE_WITH_SLOW_CORES = 4


@dataclass(frozen=True)
class _Plan:
    """What is simulated for a point: so many replications with the profile's values, and one with each draw."""

    target: Target
    replications: int
    drawn: Drawn
    slowed: bool
    """Each replication draws anew which cores are slow."""

    @functools.cached_property
    def own_tasks(self) -> list[Task]:
        """The replications that the prediction is of."""
        config = json.dumps(self.target.config)
        numbers = range(_FIRST_REPLICATION, _FIRST_REPLICATION + self.replications)
        return [Task(config, number, self.target.metric) for number in numbers]

    @functools.cached_property
    def drawn_tasks(self) -> list[Task]:
        """Those that its interval is from, each with random numbers of its own."""
        numbered = enumerate(self.drawn.configs, _FIRST_DRAWN_REPLICATION)
        return [Task(json.dumps(config), number, self.target.metric) for number, config in numbered]

    def predicted(self, rates: list[float], drawn: list[float], seed: int, *, held_out: bool) -> Predicted:
        """What the answers say.

        Args:
            rates: Of own_tasks.
            drawn: Of drawn_tasks.
            seed: Of samples and interval.
            held_out: Whether the calibration did not use the point.
        """
        target = self.target
        if self.slowed:
            median = mean_of_logs(rates)
        else:
            median = median_sample(rates, _length_of_sample(target), seed, is_time=target.is_time)
        low, high = interval(median, np.array(drawn), self.drawn.discrepancy, target.point.log_error, seed)
        return Predicted(
            target.dataset,
            target.point,
            median,
            low,
            high,
            held_out,
            target.stand_in,
            tuple(drawn),
            tuple(self.drawn.discrepancy),
            self.drawn.origin,
        )


def predict(
    profile: JsonObject,
    datasets: Sequence[Dataset],
    mappings: Sequence[Mapping],
    evaluator: Evaluator,
    *,
    messages: int,
    draws: int = 16,
    seed: int = 1,
    announce: Callable[[int], None] | None = None,
) -> tuple[list[Predicted], list[Unpredicted]]:
    """Predicts all points of all datasets that a scenario can stand for.

    A point with a replication that failed is not predicted: those that reach the limit of steps are the slow ones, and
    the others would predict too high a rate.

    Args:
        profile: With or without a calibration section.
        datasets: What was measured.
        mappings: How datasets become scenarios.
        evaluator: What simulates.
        messages: About how many messages a simulation has.
        draws: How many draws make an interval.
        seed: Of the simulations and draws.
        announce: Called with the number of simulations, before the first.

    Raises:
        InputError: No point can be predicted; says why.
        SimulationFailedError: Each point has a simulation that ended with an error.
    """
    points = [(d, point) for d in datasets if d.kind in FITTED_KINDS for point in d.points]
    if not points:
        raise InputError("; ".join(f"{one.path}: {_cannot_be_simulated(one)}" for one in datasets))
    slowed = slow_cores_of(profile) is not None
    more = _MORE_WITH_SLOW_CORES if slowed else 1
    builder = Builder(profile, mappings, messages=messages // more, seed=seed, steps_per_operation=STEPS_OF_MEASURED)
    problem = builder.build(points)
    problem.unpredicted += _unpredictable(datasets)
    if not problem.targets:
        raise InputError(f"no point can be predicted: {counted_reasons(one.reason for one in problem.unpredicted)}")
    record = profile.get("calibration") or {}
    stored = stored_draws(record)
    plans = []
    for target in problem.targets:
        made = drawn_configs(profile, target, stored, draws, seed)
        replications = more * replications_of(target, builder.longest(target.dataset, target.point))
        plans.append(_Plan(target, min(replications, _FIRST_DRAWN_REPLICATION - _FIRST_REPLICATION), made, slowed))
    tasks = [task for plan in plans for task in (*plan.own_tasks, *plan.drawn_tasks)]
    if announce is not None:
        announce(len(tasks))
    answers = iter(evaluator.run(tasks))
    results = []
    for plan in plans:
        target = plan.target
        rates = list(itertools.islice(answers, len(plan.own_tasks)))
        drawn = list(itertools.islice(answers, len(plan.drawn_tasks)))
        if failed := [task for task, rate in zip(plan.own_tasks, rates, strict=True) if not math.isfinite(rate)]:
            reason = f"{len(failed)} of {counted(len(rates), 'replication')}: {evaluator.reason(failed[0])}"
            problem.unpredicted.append(Unpredicted(target.dataset, target.point, reason))
            continue
        held_out = not was_fitted(record.get("split"), target.dataset, target.point)
        results.append(plan.predicted(rates, drawn, seed, held_out=held_out))
    if not results:
        reasons = counted_reasons(one.reason for one in problem.unpredicted)
        raise SimulationFailedError(f"no point was predicted: {reasons}")
    return results, problem.unpredicted


def _unpredictable(datasets: Sequence[Dataset]) -> list[Unpredicted]:
    """Points of workloads that no scenario can stand for, of microbenchmarks none: they only give prices."""
    others = (one for one in datasets if one.kind not in (*FITTED_KINDS, *PRICE_KINDS))
    return [Unpredicted(one, point, _cannot_be_simulated(one)) for one in others for point in one.points]


def _cannot_be_simulated(dataset: Dataset) -> str:
    """Why no scenario can stand for any point of a dataset."""
    if not dataset.points:
        return "/points: is empty; allowed: an array with points"
    hint = proposal(dataset.kind, FITTED_KINDS)
    return f"/workload/kind: found {json.dumps(dataset.kind)}; can be simulated: {', '.join(FITTED_KINDS)}{hint}"


def replications_of(target: Target, longest: int) -> int:
    """How many replications say what a sample is like: more where one is shorter than it could be.

    All together, with what comes before each, are at most twice as long as the fewest could be.
    """
    if "iterations" not in target.config["workload"]:
        return _FEWEST_REPLICATIONS  # as long as they can be
    timed = _iterations(target)
    whole = timed + int(target.config["workload"].get("warmup_iterations") or 0)
    wanted = _FEWEST_REPLICATIONS * longest * min(1 / timed, 2 / whole)
    return round(min(max(wanted, _FEWEST_REPLICATIONS), _MOST_REPLICATIONS))


def _iterations(target: Target) -> int:
    return max(1, int(target.config["workload"].get("iterations") or 1))


def _length_of_sample(target: Target) -> int:
    """How many replications are as long as a measured sample; as many as there are where that is not known."""
    measured = target.point.iterations
    return _MOST_REPLICATIONS if measured is None else max(1, round(measured / _iterations(target)))


def median_sample(values: Sequence[float], length: int, seed: int, *, is_time: bool = False) -> float:
    """The median of samples that are as long as `length` replications one after the other.

    Where threads change between a fast and a slow state, a long sample has both in it, in proportion to their time,
    and a short one the one or the other; the median of short ones is not their mean. NaN where a replication failed:
    the others alone are no such sample.

    Args:
        values: Of each replication: rates, or times of a message.
        length: Replications in a sample.
        seed: Of the samples that are drawn.
        is_time: Whether the values are times.
    """
    found = np.array(values, dtype=float)
    times = found if is_time else 1 / found
    if not np.isfinite(times).all():
        return math.nan
    if length >= len(times):
        samples = np.mean(times, keepdims=True)  # all time over all messages
    else:
        samples = np.random.default_rng(seed).choice(times, (_RESAMPLED, length)).mean(axis=1)
    return float(np.median(samples if is_time else 1 / samples))
