"""A calibration problem: what was measured, the scenario that stands for it, and the parameters that are to be found.

Parameters live in a cube: 0 is the lower end of a range and 1 the upper one, in logarithms, so that a price can be
wrong by a factor either way. Rates are compared in logarithms too: a miss of 10 % counts alike at every thread count.
"""

from __future__ import annotations

import copy
import json
import math
import re
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from contend.calibrate.evaluations import Task
from contend.calibrate.identification_rules import SUBSTITUTED
from contend.calibrate.lock_workload import LOCKS
from contend.calibrate.mapping import (
    Mapping,
    find_mapping,
    scenario_layers,
    scope_key,
    scope_keys,
    scoped_entries,
)
from contend.calibrate.partitioned_points import PARTITIONED, longest_partitioned
from contend.calibrate.split import merged
from contend.calibrate.waiting_points import WAITING, longest_waiting, result_metric
from contend.common.documents import get_path, set_path, with_values
from contend.common.errors import InputError
from contend.engine.core import core
from contend.profiles.prices import exact_price, format_price, parse_price
from contend.scenarios.resolution import resolve_scenario

if TYPE_CHECKING:
    from collections.abc import Mapping as ReadOnly
    from collections.abc import Sequence

    import numpy.typing as npt

    from contend.calibrate.evaluations import Evaluator
    from contend.common.jsontypes import JsonObject, Scalar
    from contend.datasets.dataset import Dataset, MeasuredPoint

    Vector: TypeAlias = npt.NDArray[np.float64]
    Limits: TypeAlias = tuple[str | float, str | float]

MACHINE = "machine"
_MACHINE_PREFIX = "machine."
# A range that starts at zero starts at this share of its end instead: logarithms have no zero.
_SMALLEST_SHARE = 1e-3
# A run of a calibration that takes more steps (ten million besides) fails: some candidates would take for ever, and all
# others wait for them. A message takes a few hundred steps where all threads poll.
STEPS_PER_OPERATION = 3_000
# Numbers in the result of a scenario whose workload a fit or a prediction can be of (split.FITTED_KINDS).
RESULT_METRICS = (
    "message_rate", "bandwidth", "perceived_bandwidth", "latency", "time_per_operation_s", "elapsed_s", "simulated_s",
    "events",
)  # fmt: skip
_PLACE = re.compile(r"\S*/([^/\s:]+\.json)(?::\d+)?(?=:)")


@dataclass(frozen=True)
class Parameter:
    """One unknown: a path of a scenario within a scope, its range and its value in the base profile, in base units."""

    path: str
    scope: str
    kind: str
    low: float
    high: float
    base: float

    @property
    def name(self) -> str:
        """Short and unique: the path without "machine.", and the scope where it is not the machine."""
        short = self.path.removeprefix(_MACHINE_PREFIX)
        return short if self.scope == MACHINE else f"{short}@{self.scope}"

    @property
    def width(self) -> float:
        """Logarithm of the upper end over the lower one."""
        return math.log(self.high / self.low)

    def at(self, position: float) -> float:
        """The value at a position in the cube."""
        return self.low * math.exp(min(max(position, 0.0), 1.0) * self.width)

    def position(self, value: float) -> float:
        """Where in the cube a value is."""
        return min(max(math.log(max(value, self.low) / self.low) / self.width, 0.0), 1.0)

    def text(self, value: float) -> str | float:
        """A value for people."""
        return format_price(value, self.kind)


@dataclass(frozen=True)
class Target:
    """One measured point with the scenario that stands for it.

    `config` is the resolved configuration with the base values; `unknowns` are the indices of the parameters that apply
    to it. `stand_in` says what the scenario leaves out. `always` are values that replace the configuration's, and
    `offset` is what is laid upon the logarithm of each prediction: see contend.calibrate.slow_cores.
    """

    dataset: Dataset
    point: MeasuredPoint
    config: JsonObject
    unknowns: tuple[int, ...]
    metric: str
    stand_in: str = ""
    always: ReadOnly[str, Scalar] = field(default_factory=dict)
    offset: float = 0.0

    @property
    def is_time(self) -> bool:
        """Whether the metric is a time of a message, not a rate."""
        return self.point.unit == "s"

    @property
    def label(self) -> str:
        """Dataset and parameters."""
        values = ", ".join(f"{name}={value}" for name, value in self.point.parameters.items())
        return f"{self.dataset.name}[{values}]"


@dataclass(frozen=True)
class Unpredicted:
    """A measured point for which there is no prediction, and why."""

    dataset: Dataset
    point: MeasuredPoint
    reason: str


@dataclass
class Problem:
    """Parameters, the points that they are fitted to, and the points that cannot be simulated."""

    parameters: list[Parameter]
    targets: list[Target]
    unpredicted: list[Unpredicted] = field(default_factory=list)

    @property
    def dimensions(self) -> int:
        """How many parameters there are."""
        return len(self.parameters)

    @property
    def reasons(self) -> list[str]:
        """Why points cannot be simulated, each reason once."""
        return sorted({one.reason for one in self.unpredicted})

    def refuse(self, failed: Sequence[Unpredicted]) -> None:
        """Takes points away from the targets to those that cannot be simulated."""
        gone = {id(one.point) for one in failed}
        self.targets = [target for target in self.targets if id(target.point) not in gone]
        self.unpredicted += failed

    @property
    def measured(self) -> Vector:
        """Logarithms of the measured medians."""
        return np.log([target.point.median for target in self.targets])

    @property
    def noise(self) -> Vector:
        """Standard errors of those."""
        return np.array([target.point.log_error for target in self.targets])

    @property
    def base(self) -> Vector:
        """The base profile's place in the cube."""
        return np.array([parameter.position(parameter.base) for parameter in self.parameters])

    def values(self, place: Vector) -> dict[str, float]:
        """Values by name at a place in the cube."""
        return {p.name: p.at(float(x)) for p, x in zip(self.parameters, place, strict=True)}

    def task(self, target: Target, place: Vector, replication: int) -> Task:
        """The simulation of a target with the parameters at a place in the cube."""
        unknowns = [(self.parameters[index], float(place[index])) for index in target.unknowns]
        values = {parameter.path: exact_price(parameter.at(x), parameter.kind) for parameter, x in unknowns}
        config = with_values(target.config, values | dict(target.always))
        return Task(json.dumps(config), replication, target.metric)

    def simulate(self, evaluator: Evaluator, places: Sequence[Vector], replications: Sequence[int] = (0,)) -> Vector:
        """Logarithms of the predictions, [place, target], replications one after the other. NaN where one failed.

        All places get the same random numbers (those of the replications), so that differences are the parameters'.
        """
        tasks = [
            self.task(target, place, replication)
            for place in places
            for target in self.targets
            for replication in replications
        ]
        found = np.array(evaluator.run(tasks), dtype=float)
        shaped = found.reshape(len(places), len(self.targets), len(replications))
        is_time = np.array([target.is_time for target in self.targets])
        offsets = np.array([target.offset for target in self.targets])
        times = np.where(is_time[:, None], shaped, 1 / shaped)
        return np.asarray(np.where(is_time, 1.0, -1.0) * np.log(np.mean(times, axis=2)) + offsets, dtype=float)

    def one_after_the_other(self, logs: Vector) -> Vector:
        """Logarithms of what several runs come to together, [target], from those of each, [run, target].

        All time over all messages: times are averaged, rates by their reciprocals.
        """
        signs = np.array([1.0 if target.is_time else -1.0 for target in self.targets])
        return np.asarray(signs * np.log(np.mean(np.exp(signs * logs), axis=0)), dtype=float)

    def only(self, is_kept: Sequence[bool]) -> Problem:
        """The problem with some targets only."""
        targets = [target for target, stays in zip(self.targets, is_kept, strict=True) if stays]
        return Problem(self.parameters, targets, self.unpredicted)

    def restricted(self, kept: Sequence[int]) -> Problem:
        """The problem with some parameters only; the others have the base's values, also beyond their ranges."""
        new_index = {old: new for new, old in enumerate(kept)}
        targets = [
            replace(target, unknowns=tuple(new_index[index] for index in target.unknowns if index in new_index))
            for target in self.targets
        ]
        return Problem([self.parameters[index] for index in kept], targets, self.unpredicted)


class Builder:
    """Makes problems from a profile, mappings and measured points."""

    def __init__(
        self,
        profile: JsonObject,
        mappings: Sequence[Mapping],
        *,
        messages: int,
        seed: int = 1,
        steps_per_operation: int | None = None,
    ) -> None:
        """Prepares.

        Args:
            profile: The base profile's document.
            mappings: How datasets become scenarios.
            messages: About how many messages a simulation has.
            seed: Of the simulations.
            steps_per_operation: After how many steps for each message a simulation has failed; the core's own limit if
                not given.
        """
        self._run: JsonObject = {"seed": seed, "replications": 1}
        if steps_per_operation is not None:
            self._run["steps_per_operation"] = steps_per_operation
        self._profile = profile
        self._mappings = list(mappings)
        self._messages = messages

    def build(
        self,
        points: Sequence[tuple[Dataset, MeasuredPoint]],
        fixed: Sequence[tuple[str, str]] = (),
        guided: ReadOnly[tuple[str, str], Limits] | None = None,
    ) -> Problem:
        """The problem for some measured points.

        Args:
            points: What was measured.
            fixed: Path and scope of parameters that are known already: no unknowns.
            guided: Ranges by path and scope, in place of the mapping's; they say nothing of other libraries and
                transports.
        """
        problem = Problem([], [])
        index: dict[tuple[str, str], int] = {}
        with tempfile.TemporaryDirectory(prefix="contend-") as folder:
            profile = Path(folder) / "profile.json"
            values = {key: value for key, value in self._profile.items() if key != "calibration"}
            profile.write_text(json.dumps(values), encoding="utf-8")
            for dataset, point in points:
                try:
                    self._add(problem, index, set(fixed), guided or {}, profile, dataset, point)
                except InputError as error:
                    # Of files only the name: a record must not say where somebody's checkout is.
                    reason = _PLACE.sub(r"\1", str(error).splitlines()[0])
                    problem.unpredicted.append(Unpredicted(dataset, point, reason))
        return problem

    def _add(  # noqa: PLR0917 - all of one stage
        self,
        problem: Problem,
        index: dict[tuple[str, str], int],
        fixed: set[tuple[str, str]],
        guided: ReadOnly[tuple[str, str], Limits],
        profile: Path,
        dataset: Dataset,
        point: MeasuredPoint,
    ) -> None:
        if point.spread is None:
            raise InputError(f"no sample was measured ({point.outcome})")
        mapping = find_mapping(self._mappings, dataset)
        if mapping is None:
            raise InputError(f"no mapping for {dataset.library_key} over {dataset.transport}")
        metric = mapping.metrics.get(point.metric, result_metric(dataset, point.metric))
        if metric not in RESULT_METRICS:
            raise InputError(f"the result of a scenario has no {metric}")
        config = self._config(mapping, profile, dataset, point)
        unknowns = []
        for unknown in mapping.unknowns:
            scope = scope_key(unknown.scope, dataset)
            known_of_machine = unknown.path in SUBSTITUTED and (unknown.path, "machine") in fixed
            if (unknown.path, scope) in fixed or known_of_machine:
                continue
            if (unknown.path, scope) not in index:
                limits = _guide(guided, unknown.path, scope, dataset) or unknown.range
                problem.parameters.append(self._parameter(unknown.path, scope, limits, config))
                index[unknown.path, scope] = len(problem.parameters) - 1
            unknowns.append(index[unknown.path, scope])
        problem.targets.append(Target(dataset, point, config, tuple(unknowns), metric, mapping.stand_in))

    def _config(self, mapping: Mapping, profile: Path, dataset: Dataset, point: MeasuredPoint) -> JsonObject:
        longest = self.longest(dataset, point)
        document = scenario_layers(mapping, dataset, point, iterations=longest, in_all=longest)
        workload = document["workload"]
        if point.lengths is None and "warmup_iterations" in workload:
            # Nothing says what a launch did before; a short sample begins as a long run goes on.
            timed = int(workload.get("iterations") or longest)
            workload["warmup_iterations"] = max(int(workload["warmup_iterations"]), min(timed, longest - timed))
        for path, entry in scoped_entries(self._profile, dataset):
            set_path(document, path, entry["value"])
        document.setdefault("machine", {})["profile"] = str(profile)
        document |= {"schema_version": 1, "name": dataset.name, "run": self._run}
        file = profile.parent / "scenario.json"
        file.write_text(json.dumps(document), encoding="utf-8")
        (resolved,) = resolve_scenario(file).points
        return resolved.config

    def longest(self, dataset: Dataset, point: MeasuredPoint) -> int:
        """The most iterations of a simulation: with about the wanted number of messages, and three at least."""
        known = merged(dataset, point)
        if dataset.kind == LOCKS:
            return self._messages
        if dataset.kind == WAITING:
            return longest_waiting(known, self._messages)
        if dataset.kind == PARTITIONED:
            return longest_partitioned(known, self._messages)
        if dataset.kind == "latency":
            return max(3, self._messages // 2)  # an iteration is a message and its answer
        per_iteration = 1
        for name in ("pairs", "window", "threads", "operations", "senders", "receivers"):
            value = known.get(name, 1)
            if isinstance(value, int) and value > 0:
                per_iteration *= value
        return max(3, round(self._messages / per_iteration))

    def _parameter(self, path: str, scope: str, limits: Limits | None, config: JsonObject) -> Parameter:
        given = get_path(config, path)
        if given is None:
            raise InputError(f"{path} is no value of a scenario")
        base = parse_price(given)
        if limits is None:
            entry = get_path(self._profile, path.removeprefix(_MACHINE_PREFIX))
            limits = entry.get("range") if isinstance(entry, dict) else None
        if limits is None:
            raise InputError(f"{path} has no range, neither in the mapping nor in the base profile")
        low, high = (parse_price(limit) for limit in limits)
        if {low.kind, high.kind} != {base.kind}:
            raise InputError(f"the range of {path} has another unit than its value")
        if not high.value > 0 or low.value >= high.value:
            raise InputError(f"the range of {path} is empty: {limits[0]} to {limits[1]}")
        smallest = max(low.value, high.value * _SMALLEST_SHARE)
        for end in (smallest, high.value):
            _check_end(path, exact_price(end, base.kind), config)
        return Parameter(path, scope, base.kind, smallest, high.value, base.value)


def _check_end(path: str, value: str | float, config: JsonObject) -> None:
    """Refuses a range that reaches beyond what a scenario allows: each simulation there would fail."""
    tried = copy.deepcopy(config)
    set_path(tried, path, value)
    compiled = core()
    try:
        compiled.point(json.dumps(tried))
    except compiled.ScenarioError as error:
        reason = str(error).partition(": ")[2] or str(error)
        raise InputError(f"the range of {path}: {reason}") from error


def _guide(guided: ReadOnly[tuple[str, str], Limits], path: str, scope: str, dataset: Dataset) -> Limits | None:
    """The guided range for a parameter of a scope: its own, or else that of the next more general scope.

    One that several libraries share, each of which was measured, has what contains the ranges of all of them.
    """
    order = [MACHINE, *scope_keys(dataset)]
    known = (guided.get((path, one)) for one in reversed(order[: order.index(scope) + 1]))
    if (found := next((limits for limits in known if limits is not None), None)) is not None:
        return found
    within = [limits for (of, one), limits in guided.items() if of == path and scope in {MACHINE, *one.split("/")}]
    if not within:
        return None
    return (
        min((low for low, _ in within), key=lambda limit: parse_price(limit).value),
        max((high for _, high in within), key=lambda limit: parse_price(limit).value),
    )
