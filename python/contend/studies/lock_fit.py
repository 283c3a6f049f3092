"""Fits the prices of a machine to the points of a published set with the fewest threads (contend.studies.locks).

Only the prices that the study names are moved, inside the ranges of the profile: cache lines and futexes. Nothing else
of the set is looked at.
"""

from __future__ import annotations

import copy
import json
import math
import statistics
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from contend.common.files import write_file
from contend.common.reading import read_json
from contend.profiles.prices import exact_price, format_price, parse_price
from contend.scenarios.resolution import Point
from contend.studies.locks import MEASURES, measured_points

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from contend.common.jsontypes import JsonObject
    from contend.engine.runner import Engine
    from contend.studies.locks import LockSet

_WORKLOAD_RANGE_S = (1e-9, 500e-9)
_DIGITS = 3
# An error beyond a factor of about three counts as if it grew no faster than linearly.
_SOFT_LIMIT = 1.0
_SHARES = {
    "cache.snoop_share": (0.05, 0.1, 0.2, 0.35, 0.5),
    "cache.request_share": (0.35, 0.5, 0.65, 0.8),
}
_STARTS = 3


@dataclass(frozen=True)
class Fit:
    """What came out of a fit: values by dotted path below `machine` or `workload`, and the cost before and after."""

    values: dict[str, str | float]
    cost_before: float
    cost_after: float
    points: int


@dataclass(frozen=True)
class _Target:
    point: Point
    measured: float


def _place(config: JsonObject, path: str, text: str | float) -> None:
    """`path` is below the machine, unless it begins with `workload.`."""
    keys = path.split(".")
    section = config["workload"] if keys[0] == "workload" else config["machine"][keys[0]]
    section[keys[1]] = text


class _Problem:
    def __init__(
        self,
        lock_set: LockSet,
        profile: JsonObject,
        engine: Engine,
        jobs: int,
        progress: Callable[[float], None] | None,
    ) -> None:
        self._set = lock_set
        self._progress = progress
        self._engine = engine
        self._pool = ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="fit")
        self.targets = [
            _Target(entry.point, entry.measured)
            for entry in measured_points(lock_set)
            if lock_set.may_fit(entry.kind, entry.threads)
        ]
        self.paths: list[str] = [
            *lock_set.entry["fit"],
            *(f"workload.{n}" for n in lock_set.entry.get("fit_workload", [])),
        ]
        self._kinds: dict[str, str] = {}
        self.start: list[float] = []
        self.bounds: list[tuple[float, float]] = []
        for path in self.paths:
            section, name = path.split(".")
            if section == "workload":
                price = parse_price(self.targets[0].point.config["workload"][name])
                low, high = _WORKLOAD_RANGE_S
            else:
                entry = profile[section][name]
                price = parse_price(entry["value"])
                low, high = (parse_price(end).value for end in entry["range"])
            self._kinds[path] = price.kind
            self.start.append(math.log(price.value))
            self.bounds.append((math.log(low), math.log(high)))
        tied: Mapping[str, tuple[str, float]] = lock_set.entry["tied"]
        self._kinds |= {path: self._kinds[source] for path, (source, _) in tied.items() if source in self._kinds}

    def starts(self) -> list[list[float]]:
        """The profile's values, and with each of several shares of a transfer that pass before a line is lost."""
        starts = [self.start]
        for path, shares in _SHARES.items():
            if path in self.paths:
                index = self.paths.index(path)
                starts += [[*self.start[:index], math.log(share), *self.start[index + 1 :]] for share in shares]
        return starts

    def values(self, logarithms: Sequence[float]) -> dict[str, float]:
        """In base units: clipped to the ranges, with those that follow from others."""
        values = {
            path: math.exp(min(max(x, low), high))
            for path, x, (low, high) in zip(self.paths, logarithms, self.bounds, strict=True)
        }
        for path, (source, factor) in self._set.entry["tied"].items():
            if source in values:
                values[path] = values[source] * factor
        return values

    def cost(self, logarithms: Sequence[float]) -> float:
        """Mean of the squared logarithms of predicted over measured, softened."""
        values = {path: exact_price(value, self._kinds[path]) for path, value in self.values(logarithms).items()}
        outside = sum(max(0.0, low - x, x - high) for x, (low, high) in zip(logarithms, self.bounds, strict=True))
        total = sum(self._pool.map(lambda target: self._one(target, values), self.targets))
        if self._progress is not None:
            self._progress(1)
        return total / len(self.targets) + outside

    def written(self, logarithms: Sequence[float]) -> dict[str, str | float]:
        """The values as a profile has them."""
        return {
            path: format_price(value, self._kinds[path], _DIGITS) for path, value in self.values(logarithms).items()
        }

    def _one(self, target: _Target, values: Mapping[str, str | float]) -> float:
        config = copy.deepcopy(target.point.config)
        for path, text in values.items():
            _place(config, path, text)
        point = Point(target.point.parameters, config)
        measure = MEASURES[self._set.entry["value"]]
        # As the prediction: the mean of all replications. One alone would have the simplex follow its noise.
        predicted = statistics.fmean(
            measure(json.loads(self._engine.run_point(point, replication, trace_hash=False)), target.point)
            for replication in range(target.point.replications)
        )
        error = math.log(predicted / target.measured)
        return 2 * _SOFT_LIMIT**2 * (math.sqrt(1 + (error / _SOFT_LIMIT) ** 2) - 1)

    def close(self) -> None:
        self._pool.shutdown()


def fit(
    lock_set: LockSet,
    profile_file: Path,
    engine: Engine,
    *,
    jobs: int,
    evaluations: int,
    progress: Callable[[float], None] | None = None,
) -> Fit:
    """Moves the prices that the study names for this set; Nelder and Mead's simplex, started again where it ended.

    `progress` is called with 1 after each evaluation; there are about `evaluations`, or fewer where a simplex has found
    its end.
    """
    from scipy.optimize import minimize

    profile = read_json(profile_file, "profile")
    problem = _Problem(lock_set, profile, engine, jobs, progress)
    try:
        before = problem.cost(problem.start)
        # What fits into the time until a line is lost changes in steps, which no simplex crosses: several starts.
        starts = sorted(problem.starts(), key=problem.cost)[:_STARTS]
        best, after = list(problem.start), before
        for start in starts:
            point, value = list(start), problem.cost(start)
            for spread in (0.5, 0.25, 0.12):
                corners = [[x + (spread if i == j else 0.0) for i, x in enumerate(point)] for j in range(len(point))]
                found = minimize(
                    problem.cost,
                    point,
                    method="Nelder-Mead",
                    options={
                        "initial_simplex": [point, *corners],
                        "maxfev": evaluations // (3 * len(starts)),
                        "xatol": 0.01,
                        "fatol": 1e-5,
                        "adaptive": True,
                    },
                )
                if found.fun < value:
                    point, value = [float(x) for x in found.x], float(found.fun)
            if value < after:
                best, after = point, value
        values = problem.written(best)
    finally:
        problem.close()
    return Fit(values, before, after, len(problem.targets))


def how_identified(lock_set: LockSet) -> dict[str, str]:
    """By dotted path below `machine`, what the fit to a set says of each price that it moves, for a profile."""
    threads = " and ".join(map(str, lock_set.fit_threads))
    fitted = (
        f"fit to the points with {threads} {'thread' if threads == '1' else 'threads'} of published set "
        f"{lock_set.name}, all its prices together (contend validate locks --fit)"
    )
    followers = {
        path: f"not on its own: {'' if factor == 1 else f'{factor:g} times '}{source}, in the fit to published set "
        f"{lock_set.name}"
        for path, (source, factor) in lock_set.entry["tied"].items()
    }
    return {**dict.fromkeys(lock_set.entry["fit"], fitted), **followers}


def write_to_profile(
    profile_file: Path, values: Mapping[str, str | float], identified_by: Mapping[str, str] | None = None
) -> None:
    """Replaces values in a profile, and what it says of how they were identified; nothing else of it.

    Args:
        profile_file: The profile.
        values: By dotted path below `machine`; what is below `workload` is passed over.
        identified_by: The same for how each was found.
    """
    profile = read_json(profile_file, "profile")
    for path, text in values.items():
        section, name = path.split(".")
        if section == "workload":
            continue
        entry = profile[section][name]
        entry["value"] = text
        if (how := (identified_by or {}).get(path)) is not None:
            entry["identified_by"] = how
        if "range" not in entry:  # of a price that follows another one
            continue
        low, high = entry["range"]
        if not _number(low) <= _number(text) <= _number(high):
            entry["range"] = [min(low, text, key=_number), max(high, text, key=_number)]
    write_file(profile_file, (json.dumps(profile, indent=2, ensure_ascii=False) + "\n").encode())


def _number(price: str | float) -> float:
    return parse_price(price).value
