"""Predictions of measured points with intervals.

The prediction itself is what the profile's values give for what was measured: the median of samples of so many
iterations. The interval comes from
draws of the parameters, each simulated with random numbers of its own, and from the discrepancy that the calibration
found: it is one for the measured median, so the measurement's own error is in it too.

The discrepancy is that of thread counts which were left out of the fit, where the calibration did so. Where it has no
posterior, the fits without these counts are the draws. That is like CV+ (Barber et al., Predictive inference with the
jackknife+, 2021), but not CV+: there each fit's prediction has its own left-out residuals added, which guarantees a
coverage of exchangeable points whatever the model. Here all have Student noise of one scale, which is from the
residuals of all fits: nothing is guaranteed, and the coverage of held-out points says how good it is. A profile that
has neither gives draws from the ranges of its values, and what discrepancy a fit without them tells by its residuals.
"""

from __future__ import annotations

import copy
import itertools
import json
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats
from scipy.stats import qmc

from contend.accuracy.document import counted_reasons
from contend.accuracy.names import design_of
from contend.calibrate.evaluations import Task
from contend.calibrate.likelihood import DEGREES_OF_FREEDOM
from contend.calibrate.mapping import STEPS_OF_MEASURED, get_path, scope_keys, scoped_entries, set_path
from contend.calibrate.problem import MACHINE, Builder, Unpredicted
from contend.calibrate.split import FITTED_KINDS, THREADS, merged, threads_of, was_fitted
from contend.catalogs import parameters as parameters_of
from contend.errors import InputError, SimulationFailedError
from contend.prices import exact_price, parse_price
from contend.spelling import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from contend.calibrate.evaluations import Evaluator
    from contend.calibrate.mapping import Mapping
    from contend.calibrate.problem import Target, Vector
    from contend.datasets import Dataset, MeasuredPoint
    from contend.jsontypes import JsonObject

_NOISE_DRAWS = 64
_RANGE_DRAWS = 24
# Of the prediction and of the draws: those before have been seen by searches, their checks and the noise.
_FIRST_REPLICATION = 100
_FIRST_DRAWN_REPLICATION = 200
_FEWEST_REPLICATIONS, _MOST_REPLICATIONS = 5, 30
_RESAMPLED = 2000
_NO_PRICES = "topology"
_MACHINE_PREFIX = "machine."
# A residual is Student's t: its scale over the median of its absolute values.
_MEDIAN_TO_SCALE = float(1 / stats.t.ppf(0.75, DEGREES_OF_FREEDOM))


def error_pct(value: float, median: float, interval: tuple[float, float] | None) -> float:
    """Absolute error in percent: from the measured median, or from its interval where one is given."""
    truth = median if interval is None else min(max(value, interval[0]), interval[1])
    return abs(value / truth - 1) * 100


@dataclass(frozen=True)
class Predicted:
    """One point: measured median with its interval, prediction with its interval, all in the metric's unit.

    `held_out` says whether the calibration did not use it.
    """

    dataset: Dataset
    point: MeasuredPoint
    mean: float
    low: float
    high: float
    held_out: bool
    stand_in: str
    draws: tuple[float, ...] = ()
    discrepancy: tuple[float, ...] = ()
    interval_from: str = ""
    """What the interval is made of, in words."""

    @property
    def used_draws(self) -> int:
        """How many draws the interval is from."""
        return sum(math.isfinite(draw) for draw in self.draws)

    @property
    def failed_draws(self) -> int:
        """How many draws could not be simulated."""
        return len(self.draws) - self.used_draws

    @property
    def threads(self) -> int:
        """Pairs or threads; 0 where there is no such thing."""
        return threads_of(self.dataset, self.point) or 0

    @property
    def curve(self) -> tuple[str, str, str]:
        """What a curve over threads has in common: dataset, and all other parameters."""
        others = {key: value for key, value in self.point.parameters.items() if key not in THREADS}
        return (self.dataset.machine_id, self.dataset.name, json.dumps(others, sort_keys=True))

    @property
    def design(self) -> str:
        """What communicates how, in words."""
        return design_of(self.dataset, self.point)

    @property
    def family(self) -> tuple[str, ...]:
        """Machine, library, transport, design and metric."""
        return (
            self.dataset.machine_id,
            self.dataset.library_key,
            self.dataset.transport,
            self.design,
            self.point.metric,
        )

    @property
    def messages(self) -> tuple[float, float]:
        """Window and size of the messages, as logarithms to base 2; a size of nothing is next to one of a byte."""
        known = merged(self.dataset, self.point)
        window, size = (_plain(known.get(name)) for name in ("window", "message_size"))
        return (math.log2(max(window, 1.0)), math.log2(1.0 + size))

    @property
    def measured(self) -> float:
        """The measured median."""
        return self.point.median

    @property
    def setting(self) -> tuple[str, ...]:
        """Where designs can be compared: machine, metric, pattern, transport, and window and size of the messages."""
        known = merged(self.dataset, self.point)
        return (
            self.dataset.machine_id,
            self.point.metric,
            str(known.get("pattern", "pairwise")),
            self.dataset.transport,
            f"window {known.get('window')}",
            str(known.get("message_size")),
        )

    @property
    def covered(self) -> bool:
        """Whether the interval has the measured median."""
        return self.low <= self.point.median <= self.high

    @property
    def is_scored_against_interval(self) -> bool:
        """Whether the samples spread by more than 20 %, and launches give the median an interval."""
        found = self.point.spread
        is_noisy = found is not None and found.cov is not None and found.cov > 0.2  # noqa: PLR2004 - as the comment says
        return is_noisy and self.point.interval is not None

    def error_of(self, value: float) -> float:
        """Absolute error of a prediction in percent: from the median, or from the interval of a noisy point."""
        return error_pct(value, self.point.median, self.point.interval if self.is_scored_against_interval else None)

    @property
    def abs_error_pct(self) -> float:
        """Error of the prediction."""
        return self.error_of(self.mean)


def _plain(value: object) -> float:
    """A size or a number in its base unit; 0 where it is not known."""
    try:
        return parse_price(value).value
    except InputError:
        return 0.0


@dataclass(frozen=True)
class _Draws:
    """Draws of the parameters of one part of a calibration: [draw][name -> text], and the discrepancy of each."""

    where: dict[str, tuple[str, str]]
    values: list[dict[str, object]]
    discrepancy: list[float]
    origin: str

    def apply_to(self, dataset: Dataset) -> bool:
        scopes = {MACHINE, *scope_keys(dataset)}
        return any(scope in scopes and scope != MACHINE for _, scope in self.where.values()) or all(
            scope == MACHINE for _, scope in self.where.values()
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
        raise InputError("none of the datasets is of a workload that can be simulated")
    builder = Builder(profile, mappings, messages=messages, seed=seed, steps_per_operation=STEPS_OF_MEASURED)
    problem = builder.build(points)
    if not problem.targets:
        raise InputError(f"no point can be predicted: {counted_reasons(one.reason for one in problem.unpredicted)}")
    record = profile.get("calibration") or {}
    stored = _stored_draws(record)
    tasks: list[Task] = []
    plan: list[tuple[Target, int, _Made]] = []
    for target in problem.targets:
        chosen = next((one for one in stored if one.apply_to(target.dataset)), None)
        made = _configs(profile, target, chosen, draws, seed)
        own = replications_of(target, builder.longest(target.dataset, target.point))
        first = _FIRST_REPLICATION
        tasks += [Task(json.dumps(target.config), r, target.metric) for r in range(first, first + own)]
        tasks += [
            Task(json.dumps(config), r, target.metric)
            for r, config in enumerate(made.configs, _FIRST_DRAWN_REPLICATION)
        ]
        plan.append((target, own, made))
    if announce is not None:
        announce(len(tasks))
    found = evaluator.run(tasks)
    results, at = [], 0
    for target, own, made in plan:
        count = len(made.configs)
        rates, drawn = found[at : at + own], found[at + own : at + own + count]
        own_tasks = tasks[at : at + own]
        at += own + count
        if failed := [task for task, rate in zip(own_tasks, rates, strict=True) if not math.isfinite(rate)]:
            reason = f"{len(failed)} of {counted(own, 'replication')}: {evaluator.reason(failed[0])}"
            problem.unpredicted.append(Unpredicted(target.dataset, target.point, reason))
            continue
        mean = median_sample(rates, _length_of_sample(target), seed)
        low, high = _interval(mean, np.array(drawn), made.discrepancy, target.point.log_error, seed)
        held_out = not was_fitted(record.get("split"), target.dataset, target.point)
        results.append(
            Predicted(
                target.dataset,
                target.point,
                mean,
                low,
                high,
                held_out,
                target.stand_in,
                tuple(drawn),
                tuple(made.discrepancy),
                made.origin,
            )
        )
    if not results:
        reasons = counted_reasons(one.reason for one in problem.unpredicted)
        raise SimulationFailedError(f"no point was predicted: {reasons}")
    return results, problem.unpredicted


def as_ratios(points: Sequence[Predicted], seed: int = 1) -> list[Predicted]:
    """Points relative to the first one of their curve, which is left out: for machines that are not fully known.

    A curve is over threads, or over whatever else the points differ in that are of one "series" by their parameters.
    A draw of a ratio is a ratio of equal draws.
    """
    curves: dict[tuple[str, ...], list[Predicted]] = {}
    for point in points:
        series = point.point.parameters.get("series")
        named = (point.dataset.machine_id, point.dataset.name, str(series))
        curves.setdefault(point.curve if series is None else named, []).append(point)
    found = []
    for first, *others in curves.values():
        for point in others:
            error = math.hypot(point.point.log_error, first.point.log_error)
            mean = point.mean / first.mean
            drawn = np.array(point.draws) / np.array(first.draws) if point.draws else np.empty(0)
            low, high = _interval(mean, drawn, [math.sqrt(2) * one for one in point.discrepancy], error, seed)
            relative = _relative(point.point, first.point.median)
            found.append(replace(point, point=relative, mean=mean, low=low, high=high, draws=tuple(drawn)))
    return found


def _relative(point: MeasuredPoint, reference: float) -> MeasuredPoint:
    """A measured point over a reference."""
    spread = point.spread
    assert spread is not None  # noqa: S101 - for the type checker
    scaled = replace(
        spread,
        median=spread.median / reference,
        quartiles=(spread.quartiles[0] / reference, spread.quartiles[1] / reference),
        ci95=None if spread.ci95 is None else (spread.ci95[0] / reference, spread.ci95[1] / reference),
    )
    samples = tuple(sample / reference for sample in point.samples)
    return replace(point, unit="ratio to the first point", samples=samples, spread=scaled)


def replications_of(target: Target, longest: int) -> int:
    """How many replications say what a sample is like: more where a sample is shorter than a replication could be.

    Not where they would be made of untimed iterations, which is where the points are dearest.
    """
    iterations = _iterations(target)
    if iterations < int(target.config["workload"].get("warmup_iterations") or 0):
        return _FEWEST_REPLICATIONS
    return round(min(max(_FEWEST_REPLICATIONS * longest / iterations, _FEWEST_REPLICATIONS), _MOST_REPLICATIONS))


def _iterations(target: Target) -> int:
    return max(1, int(target.config["workload"].get("iterations") or 1))


def _length_of_sample(target: Target) -> int:
    """How many replications are as long as a measured sample; as many as there are where that is not known."""
    measured = target.point.iterations
    return _MOST_REPLICATIONS if measured is None else max(1, round(measured / _iterations(target)))


def median_sample(rates: Sequence[float], length: int, seed: int) -> float:
    """The median of samples that are as long as `length` replications one after the other.

    Where threads change between a fast and a slow state, a long sample has both in it, in proportion to their time,
    and a short one the one or the other; the median of short ones is not their mean. NaN where a replication failed:
    the others alone are no such sample.
    """
    times = 1 / np.array(rates, dtype=float)
    if not np.isfinite(times).all():
        return math.nan
    if length >= len(times):
        return float(1 / np.mean(times))  # all messages over all time
    stream = np.random.default_rng(seed)
    samples = 1 / stream.choice(times, (_RESAMPLED, length)).mean(axis=1)
    return float(np.median(samples))


def _stored_draws(record: JsonObject) -> list[_Draws]:
    found = []
    for part in record.get("fits", ()):
        posterior = part.get("posterior") or {}
        if "draws" in posterior:
            where = {one["name"]: (one["path"], one["scope"]) for one in part["parameters"]}
            names = posterior["parameters"]
            values = [dict(zip(names, row, strict=True)) for row in posterior["draws"]]
            found.append(
                _Draws(
                    {name: where[name] for name in names},
                    values,
                    posterior["discrepancy_draws"],
                    "draws of the posterior",
                )
            )
        elif "cross_validation" in part:
            where = {one["name"]: (one["path"], one["scope"]) for one in part["parameters"]}
            names = part["cross_validation"]["parameters"]
            values = [dict(zip(names, fold["place"], strict=True)) for fold in part["cross_validation"]["folds"]]
            found.append(_Draws({name: where[name] for name in names}, values, [], "the fits without a thread count"))
    return found


@dataclass(frozen=True)
class _Made:
    """Configurations with drawn parameters, the discrepancy of each draw, and where both come from."""

    configs: list[JsonObject]
    discrepancy: list[float]
    origin: str


def _configs(profile: JsonObject, target: Target, stored: _Draws | None, draws: int, seed: int) -> _Made:
    left_out = "the discrepancy of thread counts left out of the fit"
    if stored is None:
        configs = draws_from_ranges(profile, target, min(draws, _RANGE_DRAWS), seed)
        parameters = "draws from the ranges of the profile's values" if configs else "no draws of parameters"
        if found := left_out_discrepancy(profile, target, len(configs), seed):
            return _Made(configs, found, f"{parameters}, {left_out}")
        found = residual_spread(profile, target)
        return _Made(configs, found, f"{parameters}, {'residuals of the fit' if found else 'no discrepancy'}")
    scopes = {MACHINE, *scope_keys(target.dataset)}
    configs = []
    # Few fits without a thread count are simulated several times each.
    for values in itertools.islice(itertools.cycle(stored.values), draws):
        config = copy.deepcopy(target.config)
        for name, value in values.items():
            path, scope = stored.where[name]
            if scope in scopes:
                set_path(config, path, value)
        configs.append(config)
    if found := left_out_discrepancy(profile, target, draws, seed):
        return _Made(configs, found, f"{stored.origin}, {left_out}")
    own = list(stored.discrepancy[:draws])
    return _Made(configs, own, f"{stored.origin}, {'the discrepancy of the fit' if own else 'no discrepancy'}")


def left_out_discrepancy(profile: JsonObject, target: Target, count: int, seed: int) -> list[float]:
    """What left-out thread counts say of the model's discrepancy for this library and transport; empty if none were.

    It goes with no draw of the parameters in particular: as many quantiles of it as there are draws, in any order.
    """
    record = (profile.get("calibration") or {}).get("discrepancy")
    if not record:
        return []
    found: JsonObject = record["others"]
    for one in record["groups"]:
        if (one["library"], one["transport"]) == (target.dataset.library_key, target.dataset.transport):
            found = one
    quantiles = np.quantile(found["draws"], (np.arange(max(count, 1)) + 0.5) / max(count, 1))
    return [float(one) for one in np.random.default_rng(seed).permutation(quantiles)]


def residual_spread(profile: JsonObject, target: Target) -> list[float]:
    """What a fit without posterior says of the model's discrepancy: the scale of its residuals, by their median."""
    scopes = set(scope_keys(target.dataset))
    for part in (profile.get("calibration") or {}).get("fits", ()):
        if scopes & {one["scope"] for one in part["parameters"]}:
            median = (part.get("error_pct") or {}).get("median")
            return [] if median is None else [_MEDIAN_TO_SCALE * math.log1p(median / 100)]
    return []


@dataclass(frozen=True)
class _Range:
    """Where a value of a configuration may be, in base units."""

    path: str
    kind: str
    low: float
    high: float

    def at(self, position: float) -> str | float:
        """The value at a position between 0 and 1, in logarithms."""
        return exact_price(self.low * (self.high / self.low) ** position, self.kind)


def draws_from_ranges(profile: JsonObject, target: Target, draws: int, seed: int) -> list[JsonObject]:
    """Parameters drawn from their ranges, by a Latin hypercube in logarithms."""
    ranges = _ranges(profile, target)
    if not ranges:
        return []
    sampler = qmc.LatinHypercube(len(ranges), rng=np.random.default_rng(seed))
    places: Vector = np.asarray(sampler.random(draws), dtype=float)
    configs = []
    for row in places:
        config = copy.deepcopy(target.config)
        for one, position in zip(ranges, row, strict=True):
            set_path(config, one.path, one.at(float(position)))
        configs.append(config)
    return configs


def _ranges(profile: JsonObject, target: Target) -> list[_Range]:
    """Ranges of the values that the profile gives this point: those of its library and transport before the machine's.

    What the mapping sets is no value of the profile, so that the profile's range says nothing about it.
    """
    entries = {
        f"{_MACHINE_PREFIX}{one.path}": get_path(profile, one.path)
        for one in parameters_of(profile)
        if one.path.split(".")[0] != _NO_PRICES
    }
    entries |= dict(scoped_entries(profile, target.dataset))
    found = []
    for path, entry in entries.items():
        is_price = "range" in entry and not isinstance(entry["value"], bool)
        if not is_price or not _is_value_of(target.config, path, entry["value"]):
            continue
        low, high = (parse_price(limit) for limit in entry["range"])
        if low.kind in {"time", "rate"} and high.value > 0 and low.value < high.value:
            found.append(_Range(path, low.kind, max(low.value, high.value * 1e-3), high.value))
    return found


def _is_value_of(config: JsonObject, path: str, value: object) -> bool:
    """Whether a configuration, whose times are whole picoseconds, has a value at a path."""
    used = get_path(config, path)
    if used is None:
        return False
    one, other = parse_price(used), parse_price(value)
    return one.kind == other.kind and math.isclose(one.value, other.value, rel_tol=1e-6, abs_tol=1e-12)


def _interval(mean: float, drawn: Vector, discrepancy: list[float], log_error: float, seed: int) -> tuple[float, float]:
    """95 % of what the measured median may be; it contains the prediction.

    Draws that failed are left out with the discrepancy that belongs to them.
    """
    stream = np.random.default_rng(seed)
    widths = np.array(discrepancy or [0.0])
    is_usable = np.isfinite(drawn)
    if is_usable.any():
        centres = np.log(drawn[is_usable])
        widths = np.resize(widths, len(drawn))[is_usable]
    else:
        centres = np.full(len(widths), math.log(mean))
    spread = np.sqrt(widths**2 + log_error**2)
    noise = stream.standard_t(DEGREES_OF_FREEDOM, (_NOISE_DRAWS, len(centres))) * spread
    low, high = np.exp(np.quantile(centres + noise, [0.025, 0.975]))
    return min(float(low), mean), max(float(high), mean)
