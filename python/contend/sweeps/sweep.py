"""Sweeps: many points, in parallel, each simulated once in its life."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from contend.common.errors import InputError, InterruptedRunError
from contend.common.whole_numbers import whole_number
from contend.engine.runner import CoreEngine, PointRuns, wanted_jobs
from contend.results.results import PointResult, Results, summarise
from contend.scenarios.scenario import load
from contend.sweeps.course import Course, Entry, run_here
from contend.sweeps.plan_points import lay_upon
from contend.sweeps.plans import as_plan
from contend.sweeps.store import ResultStore, default_store, point_key

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from contend.common.jsontypes import JsonObject, Scalar
    from contend.scenarios.scenario import Scenario, ScenarioLike
    from contend.sweeps.plans import PlanLike, Row


@dataclass(frozen=True)
class Failure:
    """A point whose simulation ended with an error."""

    parameters: dict[str, Scalar]
    message: str


@dataclass(frozen=True, repr=False)
class SweepResults(Results):
    """The results of a sweep: those of a run, and how they came about."""

    simulated: int = 0
    """Simulations carried out by this call."""
    reused: int = 0
    """Replications whose results were in the store."""
    damaged: int = 0
    """Stored results that were damaged and simulated again."""
    failures: tuple[Failure, ...] = ()
    skipped: tuple[tuple[Row, str], ...] = ()
    """Combinations that make no sense, with the reason."""

    __hash__ = Results.__hash__  # a data class that compares gets one of all its fields

    def failure_frame(self) -> pl.DataFrame:
        """Points without results: parameters and the message of the error."""
        from contend.results.frames import frame_of

        failed = [{**failure.parameters, "message": failure.message} for failure in self.failures]
        return frame_of(failed + [{**row, "message": message} for row, message in self.skipped])

    def manifest(self) -> JsonObject:
        """What made the results, without them: the content of sweep.json."""
        return {
            "contend_version": self.contend_version,
            "engine": self.engine,
            "seed": self.seed,
            "scenario": self.scenario,
            "overrides": dict(self.overrides),
            "interrupted": self.interrupted,
            "points": len(self.points),
            "simulated": self.simulated,
            "reused": self.reused,
            "damaged": self.damaged,
            "failures": [{"parameters": f.parameters, "message": f.message} for f in self.failures],
            "skipped": [{"parameters": row, "message": message} for row, message in self.skipped],
        }


@dataclass(frozen=True)
class Share:
    """A part of a sweep that one of several processes carries out: points index, index + count, ..."""

    index: int
    count: int

    @staticmethod
    def of(share: Any) -> Share:  # noqa: ANN401 - whatever was given
        """What `sweep` takes: a pair (index, count).

        Raises:
            InputError: It is none, or the index is not below the count.
        """
        try:
            index, count = share
        except (TypeError, ValueError):
            index = count = None
        found = whole_number(index, 0), whole_number(count, 1)
        if found[0] is None or found[1] is None or found[0] >= found[1]:
            raise InputError(
                f"share={share!r}: allowed: two whole numbers (index, count), where the index counts from 0 and is "
                "below the count"
            )
        return Share(found[0], found[1])


@dataclass
class _Entry(Entry):
    """A point of a sweep: its replications are summed up, and forgotten, once they are all there."""

    result: PointResult | None = None

    def close(self) -> None:
        """Sums up what there is, and forgets the single replications."""
        if self.result is None and self.runs and self.failure is None:
            order = sorted(self.runs)
            runs = PointRuns(
                self.point,
                [self.runs[number].result for number in order],
                [self.runs[number].wall_s for number in order],
            )
            self.result = summarise(runs)
        if self.is_complete:
            self.runs = {}


class Sweep(Course):
    """All points of a plan upon a scenario, and what is in the store of them."""

    def __init__(
        self, scenario: Scenario, plan: PlanLike | None, store: ResultStore, *, skip_invalid: bool, share: Share | None
    ) -> None:
        """Lays out the points and looks which results are there.

        Raises:
            InputError: The plan does not go with the scenario.
        """
        self.scenario = scenario
        self.skipped: list[tuple[Row, str]] = []
        scenarios = [scenario]
        if plan is not None:
            planned = lay_upon(scenario, as_plan(plan), skip_invalid=skip_invalid)
            scenarios, self.skipped = planned.scenarios, planned.skipped
        points = [point for part in scenarios for point in part.points]
        if share is not None:
            points = points[share.index :: share.count]
        self.document = dict(scenarios[0].document)
        self.document.setdefault("name", scenario.name)
        if len(scenarios) > 1:
            self.document["sweep"] = [row for part in scenarios for row in part.document["sweep"]]
        self.entries = [_Entry(point, point_key(point)) for point in points]
        super().__init__(self.entries, store)

    def results(self, *, interrupted: bool = False) -> SweepResults:
        """What there is; points without any finished replication are left out."""
        for entry in self.entries:
            entry.close()
        failures = [Failure(e.point.parameters, e.failure) for e in self.entries if e.failure is not None]
        return SweepResults(
            scenario=self.document,
            seed=self.scenario.seed,
            engine="contend",
            points=tuple(entry.result for entry in self.entries if entry.result is not None),
            interrupted=interrupted,
            planned=len(self.entries) if interrupted else None,
            overrides=tuple(dict(self.scenario.overrides).items()),
            simulated=self.simulated,
            reused=self.reused,
            damaged=self.store.damaged,
            failures=tuple(failures),
            skipped=tuple(self.skipped),
        )


def run_on_cluster(sweep: Sweep, address: str, advance: Callable[[float], None]) -> None:
    """Runs the tasks of a sweep on a Dask cluster; results come back here and are stored here.

    Raises:
        KeyboardInterrupt: Ctrl-C; results that had come back are kept.
        ContendError: There is no cluster, or no worker that survives.
    """
    from contend.sweeps.clusters import Cluster

    cluster = Cluster(address)
    try:
        for task, outcome in cluster.run(sweep.tasks):
            sweep.take(task, outcome)
            advance(task.weight)
    finally:
        cluster.close()


def sweep(
    scenario: ScenarioLike,
    plan: PlanLike | None = None,
    *,
    replications: int | None = None,
    jobs: int | None = None,
    cluster: str | None = None,
    store: str | Path | None = None,
    share: tuple[int, int] | None = None,
    skip_invalid: bool = False,
    progress: bool | None = None,
) -> SweepResults:
    """Simulates many points of a design space; what was simulated before comes from the store.

    A point whose simulation fails does not stop the others: see `failures` of the results.

    Args:
        scenario: What the plan changes: a Scenario, a file, the name of a shipped one, or a mapping.
        plan: Which points: a mapping of dotted paths to lists of values (a grid, every combination), a LatinHypercube,
            or a list or data frame of points. What the scenario sweeps itself multiplies them, unless the plan sets it.
            None: the scenario's own sweep.
        replications: Independent runs of each point, in place of the scenario's number.
        jobs: How many simulations run at once; all cores if not given.
        cluster: Address of a Dask scheduler that has workers for the simulations, in place of this machine.
        store: Folder of results by content; `contend/results` in the user's cache folder if not given.
        share: (index, count): only every count-th point, from the index-th (from 0): what one of several processes
            that share a store does.
        skip_invalid: Leave out combinations that make no sense (see `skipped`), in place of an error. A path or value
            that is wrong by itself is one all the same.
        progress: Whether to say on stderr how far it is; on a terminal if not given.

    Raises:
        InputError: The scenario, the plan or the share is not usable, or jobs is less than one.
        InterruptedRunError: Ctrl-C, or the notebook's stop button. Simulations stop within a second; what had finished
            is the error's `results`, and is in the store: the same call goes on from there.
        ContendError: The store cannot be written to, or the cluster is gone.

    Examples:
        >>> import tempfile
        >>> small = load("fig5_2a_base").with_({"workload.iterations": 1})
        >>> grid = {"workload.pairs": [1, 2], "library.instances.count": [1, 2]}
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     first = sweep(small, grid, replications=1, store=folder)
        ...     again = sweep(small, grid, replications=1, store=folder)
        >>> (first.simulated, first.reused), (again.simulated, again.reused)
        ((4, 0), (0, 4))
    """
    from contend.common.terminal import progress_report

    part = Share.of(share) if share is not None else None
    count = wanted_jobs(jobs)
    wanted = load(scenario)
    if replications is not None:
        wanted = wanted.with_({"run.replications": replications})
    kept = ResultStore(Path(store) if store is not None else default_store())
    course = Sweep(wanted, plan, kept, skip_invalid=skip_invalid, share=part)
    try:
        with progress_report(wanted.name, course.work, wanted=progress) as report:
            if cluster is not None:
                run_on_cluster(course, cluster, report.advance)
            else:
                run_here(course, CoreEngine(), count, report.advance)
    except KeyboardInterrupt:
        results = course.results(interrupted=True)
        raise InterruptedRunError(
            f"interrupted; {course.simulated} of {len(course.tasks)} simulations were done and are kept in "
            f"{kept.folder}: the same sweep goes on from there",
            results=results,
        ) from None
    finally:
        kept.close()
    return course.results()
