"""Direct identification: one measurement for one parameter, where a benchmark isolates it.

The rules are in contend.calibrate.identification_rules; here they are applied.
"""

from __future__ import annotations

import fnmatch
import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from contend.calibrate.identification_rules import RULES, Rule, Select
from contend.calibrate.mapping import scope_key
from contend.calibrate.places import Relation, relation
from contend.calibrate.slow_cores import SHARE, slow_cores
from contend.calibrate.split import merged
from contend.common.documents import get_path
from contend.common.errors import InputError
from contend.common.quantities import parse_quantity
from contend.profiles.prices import Price, parse_price

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from contend.common.jsontypes import JsonObject
    from contend.datasets.dataset import Dataset, MeasuredPoint

_NORMAL_95 = 1.959964
# Between the quartiles of a normal distribution, in standard deviations.
_QUARTILES = 1.348980
# Why rules for parts of a machine that a profile may leave out find nothing.
NO_PARAMETER = "the base profile has no such parameter"
# A guided parameter may be wrong by this factor either way.
_GUIDED_FACTOR = 3.0
# What jumps does so by this factor at least.
_STEP = 5.0
# The least 95 % half-width of an identified value: benchmark and model never mean exactly the same.
_LEAST_UNCERTAINTY = 0.05


@dataclass(frozen=True)
class Reading:
    """A measured time with its standard error, in seconds, and which points it is from."""

    value: float
    error: float
    points: int


@dataclass(frozen=True)
class Identified:
    """What a rule found: a value in base units with its 95 % interval, how, and from which datasets."""

    rule: Rule
    scope: str
    value: float
    low: float
    high: float
    kind: str
    datasets: tuple[str, ...]
    points: int

    @property
    def interval_text(self) -> str:
        """The interval around the value, in percent of it. What only guides a fit has none that was measured."""
        below, above = 1 - self.low / self.value, self.high / self.value - 1
        if not self.rule.isolates and above >= _GUIDED_FACTOR - 1:
            return f"a factor of {_GUIDED_FACTOR:.0f}, assumed"
        return f"±{above:.0%}, 95 %" if f"{below:.0%}" == f"{above:.0%}" else f"-{below:.0%}, +{above:.0%}, 95 %"


@dataclass(frozen=True)
class Skipped:
    """A rule that gave nothing, and why."""

    rule: Rule
    scope: str
    reason: str


@dataclass
class _Context:
    """What a rule may look at, for one scope."""

    datasets: Sequence[Dataset]
    profile: JsonObject
    known: Mapping[tuple[str, str], Identified]
    library: str | None
    transport: str | None
    is_one_machine: bool


def identify(datasets: Sequence[Dataset], profile: JsonObject) -> tuple[list[Identified], list[Skipped]]:
    """Applies all rules, in order: a later rule sees what earlier ones found.

    Args:
        datasets: What was measured; other kinds than microbenchmarks are ignored.
        profile: The base profile, for prices that rules subtract.
    """
    found: dict[tuple[str, str], Identified] = {}
    skipped: list[Skipped] = []
    for rule in RULES:
        for scope, context in _contexts(rule, datasets, profile, found):
            if rule.is_substitute and (rule.path, "machine") in found:
                skipped.append(Skipped(rule, scope, "a probe of the machine says it"))
                continue
            try:
                result = _apply(rule, scope, context)
            except InputError as error:
                skipped.append(Skipped(rule, scope, str(error)))
            else:
                found.setdefault((rule.path, scope), result)
    return list(found.values()), skipped


def _contexts(
    rule: Rule, datasets: Sequence[Dataset], profile: JsonObject, known: Mapping[tuple[str, str], Identified]
) -> list[tuple[str, _Context]]:
    """One for each scope that has datasets of the rule's kind."""
    machines = {dataset.machine_id for dataset in datasets if dataset.names_machine}
    is_one_machine = len(machines) <= 1
    contexts: dict[str, _Context] = {}
    for dataset in datasets:
        of_rule = any(fnmatch.fnmatchcase(dataset.library_key, pattern) for pattern in rule.libraries)
        of_rule = of_rule and (not rule.transports or dataset.transport in rule.transports)
        if dataset.kind == rule.select.kind and of_rule:
            library = None if rule.scope in {"machine", "transport"} else dataset.library_key
            transport = None if rule.scope in {"machine", "library"} else dataset.transport
            scope = scope_key(rule.scope, dataset)
            contexts.setdefault(scope, _Context(datasets, profile, known, library, transport, is_one_machine))
    return list(contexts.items())


def _apply(rule: Rule, scope: str, context: _Context) -> Identified:
    if not _has_place(rule, context.profile):
        raise InputError(NO_PARAMETER)
    if not context.is_one_machine:
        raise InputError("the datasets are of several machines")
    used: set[str] = set()
    if rule.step is not None:
        below, above, count = _step(rule, context, used)
        low, high = rule.scale * below, rule.scale * above
        return Identified(rule, scope, math.sqrt(low * high), low, high, "time", tuple(sorted(used)), count)
    if rule.states is not None:
        return _state(rule, scope, context, used)
    reading = _reading(rule, context, used)
    for cost, times in rule.costs.items():
        often = _price(times, scope, context) if isinstance(times, str) else times
        error = math.hypot(reading.error, often * _guessed_error(cost, scope, context))
        reading = Reading(reading.value - often * _price(cost, scope, context), error, reading.points)
    value, kind = rule.scale * reading.value, "time"
    error = rule.scale * reading.error
    if rule.rate is not None:
        size = float(rule.select.parameters[rule.rate])
        value, error, kind = size / reading.value, size / reading.value**2 * reading.error, "rate"
    if rule.share_of is not None:
        whole = _read(rule.share_of, rule, context, used)
        error = math.hypot(error / whole.value, value * whole.error / whole.value**2)
        value, kind = min(value / whole.value, 1.0), "number"
    if rule.least is not None and value < rule.least:
        high = max(value + _NORMAL_95 * error, rule.least * _GUIDED_FACTOR)
        low, names = rule.least / _GUIDED_FACTOR, tuple(sorted(used))
        return Identified(rule, scope, rule.least, low, high, kind, names, reading.points)
    if value <= 0:
        raise InputError(f"the formula gives {value:.3g}: what it subtracts is not in what was measured")
    spread = max(_NORMAL_95 * error / value, _LEAST_UNCERTAINTY)
    factor = 1 + spread if rule.isolates else max(1 + spread, _GUIDED_FACTOR)
    high = min(value * factor, 1.0) if rule.share_of is not None else value * factor
    return Identified(rule, scope, value, value / factor, high, kind, tuple(sorted(used)), reading.points)


def _has_place(rule: Rule, profile: JsonObject) -> bool:
    """Whether a profile has the parameter of a rule, or the section of one that it may leave out."""
    if rule.opens_section or not rule.path.startswith("machine."):
        return True
    path = rule.path.removeprefix("machine.")
    return get_path(profile, path.rpartition(".")[0] if rule.is_optional else path) is not None


def _reading(rule: Rule, context: _Context, used: set[str]) -> Reading:
    """What a rule reads in the points, before costs and scale."""
    if rule.window:
        return _spread_of_messages(rule, context, used)
    if rule.deviation:
        return _deviation(rule, context, used)
    if rule.over is not None:
        return _slope(rule, context, used)
    reading = _read(rule.select, rule, context, used)
    if rule.inverse:
        reading = Reading(1 / reading.value, reading.error / reading.value**2, reading.points)
    for one in rule.minus:
        other = _read(one, rule, context, used)
        reading = Reading(reading.value - other.value, math.hypot(reading.error, other.error), reading.points)
    return reading


def _price(path: str, scope: str, context: _Context) -> float:
    for one in (scope, "machine"):
        if (path, one) in context.known:
            return context.known[path, one].value
    entry = get_path(context.profile, path.removeprefix("machine."))
    if entry is None:
        return 0.0  # nothing is paid for what the machine does not have
    price: Price = parse_price(entry["value"])
    return price.value


def _guessed_error(path: str, scope: str, context: _Context) -> float:
    """The standard error of a price that was found by a rule that only guides; others are known well enough."""
    one = context.known.get((path, scope)) or context.known.get((path, "machine"))
    return 0.0 if one is None or one.rule.isolates else (one.high - one.low) / 2 / _NORMAL_95


def _points(select: Select, rule: Rule, context: _Context, used: set[str]) -> list[tuple[Dataset, MeasuredPoint]]:
    transport = select.transport or (context.transport if rule.scope != "library" else None)
    points = []
    for dataset in context.datasets:
        of_library = context.library is None or dataset.library_key == context.library
        of_transport = select.kind in {"machine", "locks"} or transport is None or dataset.transport == transport
        if dataset.kind != select.kind or not of_library or not of_transport:
            continue
        for point in dataset.points:
            told = merged(dataset, point)
            wanted = all(told.get(name) == value for name, value in select.parameters.items())
            if wanted and point.spread is not None and _fits_cores(select.cores, dataset, point):
                points.append((dataset, point))
    if select.small is not None and points:
        sizes = [_message_size(dataset, point) for dataset, point in points]
        largest = max(select.small, min(sizes))
        points = [one for one, size in zip(points, sizes, strict=True) if size <= largest]
    used.update(dataset.name for dataset, _ in points)
    return points


def _message_size(dataset: Dataset, point: MeasuredPoint) -> float:
    """Bytes of a point's messages; infinite where it does not say them."""
    size = merged(dataset, point).get("message_size")
    if isinstance(size, int):
        return size
    found = parse_quantity(size)
    return math.inf if found is None else found.value


def _read(select: Select, rule: Rule, context: _Context, used: set[str]) -> Reading:
    """The median over all points that fit. Its error: that of the points, or how much points differ if that is more."""
    points = _points(select, rule, context, used)
    if not points:
        wanted = " ".join(f"{name}={value}" for name, value in select.parameters.items())
        over = f" over {select.transport}" if select.transport else ""
        between = f" between {select.cores}" if select.cores in set(Relation) else ""
        raise InputError(f"nothing was measured of {select.kind} {wanted}{over}{between}")
    values = [point.median for _, point in points]
    value = _average(values, points, context)
    own = statistics.fmean(point.log_error for _, point in points) * value / math.sqrt(len(points))
    among = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0
    return Reading(value, max(own, among), len(points))


def _average(values: Sequence[float], points: Sequence[tuple[Dataset, MeasuredPoint]], context: _Context) -> float:
    """The median; the mean of several cores' work where some are slow: prices are means over quick and slow ones."""
    cores = {point.parameters.get("core", point.parameters.get("from_core")) for _, point in points}
    is_work = all(point.parameters.get("probe") != "cache_line" for _, point in points)
    has_slow = (SHARE, "machine") in context.known
    return statistics.fmean(values) if has_slow and is_work and len(cores) > 1 else statistics.median(values)


def _spread_of_messages(rule: Rule, context: _Context, used: set[str]) -> Reading:
    """The median over all points, as in `_read`."""
    found = []
    for dataset, point in _points(rule.select, rule, context, used):
        window = merged(dataset, point).get("window")
        if isinstance(window, int) and window > 0 and point.iteration_range_s is not None:
            found.append(point.iteration_range_s / _QUARTILES / math.sqrt(window))
    if not found:
        raise InputError("no times of iterations were measured")
    among = statistics.stdev(found) / math.sqrt(len(found)) if len(found) > 1 else found[0] / 2
    return Reading(statistics.median(found), among, len(found))


def _deviation(rule: Rule, context: _Context, used: set[str]) -> Reading:
    """The standard deviation of the samples of all points together."""
    samples = [sample for _, point in _points(rule.select, rule, context, used) for sample in point.samples]
    if len(samples) < 2 or not (value := statistics.stdev(samples)) > 0:  # noqa: PLR2004 - of one there is none
        raise InputError("a standard deviation needs samples that differ")
    return Reading(value, value / math.sqrt(2 * (len(samples) - 1)), len(samples))


def _step(rule: Rule, context: _Context, used: set[str]) -> tuple[float, float, int]:
    """Between which two values of a parameter the time jumps over the middle, in logarithms, of its extremes.

    Values from there on may fall back (a timer interrupt may come at once); those before it may not.
    """
    points = _points(rule.select, rule, context, used)
    times: dict[float, list[float]] = {}
    for _, point in points:
        at = point.parameters.get(str(rule.step))
        if isinstance(at, int | float):
            times.setdefault(float(at), []).append(point.median)
    medians = [(at, statistics.median(found)) for at, found in sorted(times.items())]
    if len(medians) < 2:  # noqa: PLR2004 - as the comment says
        raise InputError(f"a step over {rule.step} needs two values of it")
    least, most = min(time for _, time in medians), max(time for _, time in medians)
    if most < _STEP * least:
        raise InputError(f"there is no step over {rule.step}: {least:.3g} to {most:.3g} s")
    middle = math.sqrt(least * most)
    first = next(index for index, (_, time) in enumerate(medians) if time > middle)
    if first == 0:
        raise InputError(f"the step over {rule.step} is below its smallest value")
    return medians[first - 1][0], medians[first][0], len(points)


def _state(rule: Rule, scope: str, context: _Context, used: set[str]) -> Identified:
    """What the times of each core in each launch say of slow cores."""
    points = _points(rule.select, rule, context, used)
    found = slow_cores([time for _, point in points for time in point.launch_medians])
    one = found.share if rule.states == "share" else found.slowdown
    return Identified(rule, scope, one.value, one.low, one.high, "number", tuple(sorted(used)), len(points))


def _slope(rule: Rule, context: _Context, used: set[str]) -> Reading:
    """The least-squares slope of the medians over a parameter, weighted by their errors."""
    points = _points(rule.select, rule, context, used)
    x = [point.parameters.get(str(rule.over)) for _, point in points]
    at = [float(value) for value in x if isinstance(value, int | float)]
    if len(set(at)) < 2 or len(at) != len(points):  # noqa: PLR2004 - as the comment says
        raise InputError(f"a slope over {rule.over} needs two values of it")
    y = [point.median for _, point in points]
    weights = [1 / (point.log_error * point.median) ** 2 for _, point in points]
    total = sum(weights)
    mean_x = sum(w * a for w, a in zip(weights, at, strict=True)) / total
    mean_y = sum(w * b for w, b in zip(weights, y, strict=True)) / total
    spread = sum(w * (a - mean_x) ** 2 for w, a in zip(weights, at, strict=True))
    slope = sum(w * (a - mean_x) * (b - mean_y) for w, a, b in zip(weights, at, y, strict=True)) / spread
    return Reading(slope, 1 / math.sqrt(spread), len(points))


def _fits_cores(wanted: str, dataset: Dataset, point: MeasuredPoint) -> bool:
    """Whether a pair of processors is of a kind; one whose place is not known is of no kind of places."""
    if wanted == "any":
        return True
    source, target = point.parameters.get("from_core"), point.parameters.get("to_core")
    if not isinstance(source, int) or not isinstance(target, int):
        return False
    if wanted in {"same core", "other core"}:
        return (source == target) == (wanted == "same core")
    return source != target and relation(dataset.machine, source, target) == wanted
