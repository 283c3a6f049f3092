"""Runs the replications of all points on some threads."""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeAlias

from contend.common.errors import InputError, SimulationFailedError
from contend.common.whole_numbers import whole_number
from contend.common.workers import Crew
from contend.engine.core import core

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from contend.common.jsontypes import JsonObject
    from contend.common.workers import Done
    from contend.engine.coretypes import Core
    from contend.scenarios.resolution import Point, ResolvedScenario


class Engine(Protocol):
    """What can run a point."""

    @property
    def name(self) -> str:
        """Its name on the command line."""

    def run_point(self, point: Point, replication: int, *, trace_hash: bool) -> str:
        """Runs one replication; the result is JSON."""

    def stop(self) -> None:
        """Makes running replications end soon, with an error."""

    def reset(self) -> None:
        """Allows runs again after a stop."""


class CoreEngine:
    """contend's own engine, in this process; it releases the GIL while it runs."""

    name = "contend"

    def __init__(self) -> None:
        self._core: Core = core()

    def run_point(self, point: Point, replication: int, *, trace_hash: bool) -> str:
        """Runs one replication of one point.

        Raises:
            SimulationFailedError: The simulation ended with an error, or was stopped.
            InputError: The configuration is not usable.
        """
        return self._run(point, replication, trace_hash=trace_hash)

    def explain_point(self, point: Point, replication: int) -> str:
        """Like run_point; the result says under "explain" who waits for whom."""
        return self._run(point, replication, explain=True)

    def _run(self, point: Point, replication: int, *, trace_hash: bool = False, explain: bool = False) -> str:
        try:
            return point.compiled.run(replication, trace_hash, explain)
        except self._core.SimulationError as error:
            raise SimulationFailedError(str(error)) from error

    def stop(self) -> None:
        """Makes running replications end soon, with an error."""
        self._core.request_stop()

    def reset(self) -> None:
        """Allows runs again after a stop."""
        self._core.clear_stop()


def make_engine(name: str) -> Engine:
    """The engine of that name: "contend" or "simgrid"."""
    if name == "contend":
        return CoreEngine()
    if name == "simgrid":
        from contend.engine.simgrid import SimgridEngine

        return SimgridEngine()
    raise InputError(f"no engine {name!r}; there are 'contend' and 'simgrid'")


def check_engine(engine: str, scenario: ResolvedScenario) -> None:
    """Refuses a scenario that an engine cannot simulate, before the first of its points is simulated.

    Args:
        engine: Its name.
        scenario: What is to be simulated.

    Raises:
        InputError: It cannot; the message names the place.
    """
    if engine == "simgrid":
        from contend.engine.simgrid import require_own_cores

        require_own_cores(scenario)


@dataclass
class PointRuns:
    """The finished replications of one point, in order of replication."""

    point: Point
    results: list[JsonObject] = field(default_factory=list)
    wall_s: list[float] = field(default_factory=list)


@dataclass
class Outcome:
    """What came out of a run."""

    runs: list[PointRuns]
    wall_s: float
    interrupted: bool = False


def default_jobs() -> int:
    """How many simulations run at once unless told otherwise: the cores this process may use."""
    return len(os.sched_getaffinity(0))


def wanted_jobs(jobs: int | None) -> int:
    """How many simulations run at once: as asked for, else `default_jobs()`.

    Raises:
        InputError: It is no whole number from 1 on.
    """
    if jobs is None:
        return default_jobs()
    if (count := whole_number(jobs, 1)) is None:
        raise InputError(f"jobs={jobs!r}: at least one job is needed; allowed: a whole number from 1 on")
    return count


def weight(point: Point) -> float:
    """Rough relative cost of a replication, for the estimate of the time left: messages or operations of a point."""
    return float(max(1, point.compiled.operations))


def total_weight(points: Sequence[Point]) -> float:
    """The weight of all replications of all points: what `progress` of run_points adds up to."""
    return sum(weight(point) * point.replications for point in points)


def failure_text(point: Point, replication: int, said: object) -> str:
    """What users read of a simulation that failed: which one, and what it said."""
    return f"the simulation of {point.label()} (replication {replication}) failed: {said}"


def run_points(
    points: Sequence[Point],
    engine: Engine,
    *,
    jobs: int,
    trace_hash: bool = False,
    progress: Callable[[float], None] | None = None,
) -> Outcome:
    """Runs all replications of all points.

    The results do not depend on `jobs`, nor does their order. Ctrl-C ends the run early: what had finished is returned.

    Args:
        points: What to run; each says how many replications it wants.
        engine: What runs them.
        jobs: How many at once.
        trace_hash: Whether the engine hashes its events (slower).
        progress: Called with the weight of each replication that finishes.

    Raises:
        SimulationFailedError: One failed; the message names its point. The others are stopped.
    """
    if jobs < 1:
        raise InputError(f"-j {jobs}: at least one job is needed")
    started = time.monotonic()
    engine.reset()
    batch = _Batch(points, engine, trace_hash=trace_hash)
    interrupted = batch.run(jobs, progress)
    if interrupted:
        engine.reset()
    return Outcome(batch.collect(), time.monotonic() - started, interrupted)


_Key: TypeAlias = tuple[int, int]
_Finished: TypeAlias = tuple["JsonObject", float]


class _Batch:
    """The replications of one call of run_points."""

    def __init__(self, points: Sequence[Point], engine: Engine, *, trace_hash: bool) -> None:
        self._points = points
        self._engine = engine
        self._trace_hash = trace_hash
        self._done: dict[_Key, _Finished] = {}

    def run(self, jobs: int, progress: Callable[[float], None] | None) -> bool:
        """Runs them; returns whether Ctrl-C ended that early."""
        keys = [(index, number) for index, point in enumerate(self._points) for number in range(point.replications)]
        crew = Crew(self._one, keys, jobs)
        try:
            for done in crew:
                self._take(done)
                if progress is not None:
                    progress(weight(self._points[done.item[0]]))
        except KeyboardInterrupt:
            # Those that ended between the last look and the stop count too.
            for done in crew.stop(self._engine.stop):
                if done.error is None:
                    self._take(done)
            return True
        except BaseException:
            crew.stop(self._engine.stop)
            raise
        return False

    def collect(self) -> list[PointRuns]:
        """What finished, in order of point and replication."""
        runs = [PointRuns(point) for point in self._points]
        for (index, _), (result, wall_s) in sorted(self._done.items(), key=lambda item: item[0]):
            runs[index].results.append(result)
            runs[index].wall_s.append(wall_s)
        return runs

    def _one(self, key: _Key) -> _Finished:
        index, replication = key
        begin = time.monotonic()
        answer = self._engine.run_point(self._points[index], replication, trace_hash=self._trace_hash)
        result: JsonObject = json.loads(answer)
        return result, time.monotonic() - begin

    def _take(self, done: Done[_Key, _Finished]) -> None:
        index, replication = done.item
        if isinstance(done.error, SimulationFailedError):
            raise SimulationFailedError(failure_text(self._points[index], replication, done.error)) from done.error
        if done.error is not None:
            raise done.error
        assert done.result is not None  # noqa: S101 - no error, so there is one
        self._done[done.item] = done.result
