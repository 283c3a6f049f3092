"""Virtual speed-ups: what a point's rate were if a cost were lower, exactly, by simulating it again.

That is about two hundred simulations of the point for each replication. Where they would take longer than the time
allowed, fewer replications and shorter runs are simulated, or groups of costs only; what was chosen is part of the
answer.
"""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from contend.common.errors import InputError, SimulationFailedError
from contend.common.spelling import counted
from contend.common.statistics import Estimate, estimate
from contend.engine.core import core
from contend.engine.runner import CoreEngine, run_points, total_weight
from contend.explanations.cost_groups import groups_of
from contend.scenarios.resolution import Point

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from contend.common.jsontypes import JsonObject
    from contend.engine.runner import PointRuns
    from contend.results.measures import Measure

# How long the speed-ups of a point may take where nobody says: as long as one waits for an answer.
BUDGET_S = 300.0
# Fewer replications give no useful interval, shorter runs no steady state.
_FEW_REPLICATIONS = 3
_FEW_ITERATIONS = 4

HALVED, REMOVED = 0.5, 0.0
# How costs are marked that "removed" leaves above zero, and what it does to them.
BOUNDED_MARK = "*"
BOUNDED_WORDS = "lowered to the least value that a scenario may have"


@dataclass(frozen=True)
class Change:
    """Some costs times a factor."""

    name: str
    paths: tuple[str, ...]
    factor: float
    config: JsonObject
    at_bound: tuple[str, ...]
    """Costs that could not be lowered that far: a bound of the scenario format keeps them."""


@dataclass
class Speedup:
    """What lowering one cost, or a group of costs, does to the rate: rate with the change / rate without it.

    Where a time is explained it is the time without the change / the time with it: above 1 is faster, too.
    The intervals are over replications that share their random streams with the unchanged runs.
    """

    name: str
    paths: tuple[str, ...]
    value: str
    """What the cost is now; empty for groups."""
    doc: str
    halved: Estimate | None = None
    removed: Estimate | None = None
    bounded: tuple[str, ...] = ()
    """Costs that "removed" leaves at the lowest value that a scenario may have, because zero is not allowed."""
    failures: dict[str, str] = field(default_factory=dict)
    """Changes ("halved", "removed") under which the simulation failed, with the reason."""
    known_from: dict[str, str] = field(default_factory=dict)
    """By cost where its price is known from, as profiles say it: "measured", "guess"."""
    uncertain: tuple[str, ...] = ()
    """Costs whose price is a guess, or of which nobody knows how wrong it is."""

    @property
    def is_group(self) -> bool:
        """Whether it lowers several costs at once."""
        return not self.value

    @property
    def is_known(self) -> bool:
        """Whether anything came out."""
        return bool(self.halved or self.removed or self.failures)

    @property
    def effect(self) -> float:
        """By what the list is ranked: how far the larger change moves the rate."""
        best = self.removed or self.halved
        return 0.0 if best is None else best.mean - 1.0

    def to_json(self) -> JsonObject:
        """The entry in explain.json."""
        entry: JsonObject = {"name": self.name, "costs": list(self.paths), "value": self.value or None}
        for name, ratio in (("halved", self.halved), ("removed", self.removed)):
            entry[name] = ratio and {"rate_ratio": ratio.mean, "ci95": [ratio.low, ratio.high]}
        entry["not_removable"] = list(self.bounded)
        entry["known_from"] = self.known_from
        entry["uncertain"] = list(self.uncertain)
        if self.failures:
            entry["failures"] = self.failures
        return entry


@dataclass(frozen=True)
class Effort:
    """How much of a point is simulated for its speed-ups."""

    replications: int
    iterations: int | None
    """Timed iterations of each; None where the workload has none."""
    groups_only: bool
    takes_s: float
    """About how long it takes."""


@dataclass
class Findings:
    """What became of the speed-ups of a point."""

    speedups: list[Speedup]
    """Largest first."""
    effort: Effort | None
    """None: not even the least was possible in the time."""
    rate: Estimate | None
    """The rate without any change, at this effort: what the others are divided by."""
    remarks: list[str]
    """What was left out or shortened."""
    interrupted: bool = False


class _Tolerant(CoreEngine):
    """A simulation that fails gives a result that says so: a change may make a design impossible.

    One that was stopped has no result.
    """

    def __init__(self) -> None:
        super().__init__()
        self._is_stopped = False

    def run_point(self, point: Point, replication: int, *, trace_hash: bool) -> str:
        try:
            return super().run_point(point, replication, trace_hash=trace_hash)
        except (SimulationFailedError, InputError) as error:
            if self._is_stopped:
                raise
            return json.dumps({"failed": str(error).splitlines()[0]})

    def stop(self) -> None:
        self._is_stopped = True
        super().stop()

    def reset(self) -> None:
        self._is_stopped = False
        super().reset()


def changes(point: Point) -> list[tuple[Speedup, list[Change]]]:
    """Every cost of a point that can be lowered, and every group of them, halved and removed."""
    module = core()
    costs: list[JsonObject] = [cost for cost in json.loads(module.costs(point.config_json)) if not cost["free"]]
    known = {str(cost["path"]): cost for cost in costs}
    wanted: list[tuple[str, tuple[str, ...], str, str]] = [
        (_short(path), (path,), str(cost["value"]), str(cost["doc"])) for path, cost in known.items()
    ]
    for name, paths in groups_of(list(known)).items():
        wanted.append((name, paths, "", ", ".join(_short(path) for path in paths)))
    result = []
    for name, paths, value, doc in wanted:
        variants = []
        for factor in (HALVED, REMOVED):
            answer: JsonObject = json.loads(module.scale_costs(point.config_json, list(paths), factor))
            variants.append(Change(name, paths, factor, answer["config"], tuple(answer["at_bound"])))
        result.append((Speedup(name, paths, value, doc), variants))
    return result


def _changes(point: Point, *, groups_only: bool) -> list[tuple[Speedup, list[Change]]]:
    return coarse(changes(point)) if groups_only else changes(point)


def coarse(wanted: Sequence[tuple[Speedup, list[Change]]]) -> list[tuple[Speedup, list[Change]]]:
    """Groups, and costs that are in none: together they lower every cost."""
    grouped = {path for speedup, _ in wanted if speedup.is_group for path in speedup.paths}
    return [entry for entry in wanted if entry[0].is_group or not grouped.issuperset(entry[0].paths)]


def _short(path: str) -> str:
    return path.removeprefix("machine.")


def choose_effort(point: Point, run_s: float, costs: int, groups: int, *, jobs: int, budget_s: float) -> Effort | None:
    """The most that is expected to fit into a time.

    First replications are left out, down to three; then iterations, down to four; then single costs.

    Args:
        point: The point as it was asked for.
        run_s: How long one replication of it takes.
        costs: How many changes of other single costs there are.
        groups: How many changes of groups of costs, and of costs that are in none.
        jobs: How many simulations run at once.
        budget_s: The time.

    Returns:
        None if the least takes longer.
    """
    iterations = _iterations(point)
    warmup = int(point.config.get("workload", {}).get("warmup_iterations", 0))
    replications = point.replications

    def takes_s(changes: int, replications: int, wanted: int | None) -> float:
        share = 1.0 if iterations is None or wanted is None else (warmup + wanted) / (warmup + iterations)
        return run_s * share * replications * changes / jobs

    few = min(replications, _FEW_REPLICATIONS)
    for changes, groups_only in ((costs + groups, not costs), (groups, True)):
        if takes_s(changes, replications, iterations) <= budget_s:
            return Effort(replications, iterations, groups_only, takes_s(changes, replications, iterations))
        fitting = int(budget_s / takes_s(changes, 1, iterations))
        if fitting >= few:
            return Effort(fitting, iterations, groups_only, takes_s(changes, fitting, iterations))
        if iterations is None:
            continue
        # One simulation more: the unchanged point has to be as short.
        shorter = int(budget_s / takes_s(changes + 1, few, iterations) * (warmup + iterations)) - warmup
        if shorter >= min(iterations, _FEW_ITERATIONS):
            return Effort(few, shorter, groups_only, takes_s(changes + 1, few, shorter))
    return None


def find_speedups(
    point: Point,
    measure: Measure,
    rates: Sequence[float],
    run_s: float,
    *,
    jobs: int,
    groups_only: bool = False,
    budget_s: float = BUDGET_S,
    begin: Callable[[float], None] | None = None,
    progress: Callable[[float], None] | None = None,
) -> Findings:
    """Simulates a point again with every cost halved and removed, groups of costs first.

    Args:
        point: The point.
        measure: Which of a result's numbers is the rate; may be a time.
        rates: The point's rates, by replication.
        run_s: How long one of these took.
        jobs: How many simulations run at once.
        groups_only: Of groups of costs, and of costs that are in none.
        budget_s: About how long all may take; infinity for no limit.
        begin: Called with the sum of all weights that `progress` will get.
        progress: Called with the weight of each replication that finishes.

    Returns:
        All speed-ups; after Ctrl-C those that were complete.

    Raises:
        SimulationFailedError: The unchanged point failed at this effort.
    """
    wanted = _changes(point, groups_only=groups_only)
    groups = sum(len(pair) for _, pair in coarse(wanted))
    costs = sum(len(pair) for _, pair in wanted) - groups
    effort = choose_effort(point, run_s, costs, groups, jobs=jobs, budget_s=budget_s)
    whole_s = run_s * point.replications * (costs + groups) / jobs
    if effort is None:
        return Findings([], None, None, [_left_out(whole_s, budget_s)])
    shortened = _shortened(point, effort)
    is_coarser = effort.groups_only and costs > 0
    if shortened is not point or is_coarser:
        wanted = _changes(shortened, groups_only=effort.groups_only)
    wanted.sort(key=lambda entry: not entry[0].is_group)
    points = [
        Point({"cost": change.name, "factor": change.factor}, change.config) for _, pair in wanted for change in pair
    ]
    is_shorter = effort.iterations != _iterations(point)
    unchanged = [shortened] if is_shorter else []
    if begin is not None:
        begin(total_weight([*unchanged, *points]))
    outcome = run_points([*unchanged, *points], _Tolerant(), jobs=jobs, progress=progress)
    runs = iter(outcome.runs)
    remarks = []
    if shortened is not point or is_coarser:
        remarks.append(_less(point, effort, whole_s, budget_s, is_coarser=is_coarser))
    base: Sequence[float] = rates[: effort.replications]
    if is_shorter:
        base = _unchanged_rates(next(runs), measure, effort)
    if base:
        for speedup, pair in wanted:
            for change in pair:
                _note(speedup, change, next(runs), measure, base)
    found = [speedup for speedup, _ in wanted if speedup.is_known]
    if outcome.interrupted:
        remarks.append(
            f"Interrupted: {counted(len(found), 'speed-up')} of {len(wanted)} had been simulated, the others are "
            "missing."
        )
    found.sort(key=lambda speedup: -speedup.effect)
    return Findings(found, effort, estimate(base) if base else None, remarks, outcome.interrupted)


def _iterations(point: Point) -> int | None:
    found: int | None = point.config.get("workload", {}).get("iterations")
    return found


def _shortened(point: Point, effort: Effort) -> Point:
    if (effort.replications, effort.iterations) == (point.replications, _iterations(point)):
        return point
    config = copy.deepcopy(point.config)
    config["run"]["replications"] = effort.replications
    if effort.iterations is not None:
        config["workload"]["iterations"] = effort.iterations
    return Point(point.parameters, config)


def _unchanged_rates(runs: PointRuns, measure: Measure, effort: Effort) -> list[float]:
    """The rates of the shortened point by replication; none if Ctrl-C came before they were complete."""
    for result in runs.results:
        if "failed" in result:
            raise SimulationFailedError(f"with {effort.iterations} iterations the point fails: {result['failed']}")
    rates = [float(result[measure.name]) for result in runs.results]
    return rates if len(rates) == effort.replications else []


def _note(speedup: Speedup, change: Change, runs: PointRuns, measure: Measure, base: Sequence[float]) -> None:
    """Enters what a change does, if all its replications are there."""
    name = "halved" if change.factor == HALVED else "removed"
    if change.factor == REMOVED:
        speedup.bounded = change.at_bound
    failed = next((result["failed"] for result in runs.results if "failed" in result), None)
    if failed is not None:
        speedup.failures[name] = failed
    elif len(runs.results) == len(base):
        values = [float(result[measure.name]) for result in runs.results]
        if measure.less_is_better and not all(values):
            speedup.failures[name] = "no time is left"
            return
        # Replication by replication: equal seeds, so what is left is the effect of the change.
        pairs = zip(values, base, strict=True)
        setattr(speedup, name, estimate([b / value if measure.less_is_better else value / b for value, b in pairs]))


def _minutes(seconds: float) -> str:
    return f"{seconds / 60:.0f} minutes" if seconds >= 90 else f"{seconds:.0f} seconds"  # noqa: PLR2004


def _left_out(whole_s: float, budget_s: float) -> str:
    return (
        f"Virtual speed-ups are left out: all would take about {_minutes(whole_s)}, and {_minutes(budget_s)} are not "
        "enough for the least of them; a larger budget or fewer iterations help."
    )


def _less(point: Point, effort: Effort, whole_s: float, budget_s: float, *, is_coarser: bool) -> str:
    iterations = _iterations(point)
    parts = []
    if is_coarser:
        parts.append("of groups of costs")
    is_shorter = iterations is not None and effort.iterations is not None and effort.iterations != iterations
    if effort.replications != point.replications:
        whole, less = [counted(point.replications, "replication")], [counted(effort.replications, "replication")]
        if is_shorter:
            whole.append(counted(iterations or 0, "iteration"))
            less.append(counted(effort.iterations or 0, "iteration"))
        parts.append(f"from {' of '.join(less)} in place of {' of '.join(whole)}")
    elif is_shorter:
        parts.append(f"from {counted(effort.iterations or 0, 'iteration')} in place of {iterations}")
    return (
        f"Virtual speed-ups are {', '.join(parts)}: everything would take about {_minutes(whole_s)}, "
        f"{_minutes(budget_s)} are allowed."
    )
