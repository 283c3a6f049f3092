"""The results of a run: per point a mean over replications, and the files that hold them (docs/results.md)."""

from __future__ import annotations

import hashlib
import io
import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

from contend.common.documents import json_bytes, misfit
from contend.common.errors import InputError
from contend.common.paths import version
from contend.common.spelling import counted, listed
from contend.common.statistics import Estimate, estimate, mean_number
from contend.profiles.shared_prices import shared_prices_remark
from contend.results.measures import ESTIMATED, SCALARS, own_measures
from contend.results.workload_words import common_words, workloads_of
from contend.scenarios.axes import without_effect
from contend.scenarios.changes import with_changes
from contend.scenarios.choice import points_with, the_point_with

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pandas as pd
    import polars as pl

    from contend.common.jsontypes import JsonObject, Scalar
    from contend.engine.runner import Outcome, PointRuns
    from contend.results.workload_words import WorkloadWords
    from contend.scenarios.resolution import ResolvedScenario

# The only fields that may differ between two runs of the same scenario and seed.
VOLATILE = frozenset({"wall_s", "events"})


# What only threads that share cores have to do with.
_SCHEDULER = "machine.scheduler"


@dataclass(frozen=True)
class PointResult:
    """One point: means over its replications. Times are in the unit that their name says."""

    parameters: dict[str, Scalar]
    replications: int
    estimates: dict[str, Estimate]
    scalars: dict[str, float]
    counters: dict[str, int | float]
    time_by_category_ns: dict[str, dict[str, int | float]]
    simulated_s: float
    wall_s: float
    events: int | float
    event_hashes: tuple[str, ...] = field(default=())
    notes: tuple[str, ...] = field(default=())
    usage: dict[str, dict[str, int | float]] = field(default_factory=dict)
    """What getrusage(2) would say of each role's threads in the timed part (docs/results.md)."""
    measured: JsonObject | None = None
    """What was measured at this point of a dataset, and what is predicted for it (docs/results.md)."""

    @property
    def message_rate(self) -> Estimate | None:
        """Messages (or one-sided operations) per second."""
        return self.estimates.get("message_rate")

    def mean_of(self, measure: str) -> float | None:
        """The mean over replications of a measure by its name in results.json; None if the point does not have it."""
        estimate = self.estimates.get(measure)
        return self.scalars.get(measure) if estimate is None else estimate.mean

    def is_same_simulation(self, other: PointResult) -> bool:
        """Whether another point has the same results and events, so that what tells them apart changed nothing."""

        def outcome(point: PointResult) -> tuple[object, ...]:
            return (
                point.events, point.simulated_s, point.estimates, point.scalars, point.counters,
                point.time_by_category_ns, point.usage, point.event_hashes,
            )  # fmt: skip

        return outcome(self) == outcome(other)

    def to_json(self) -> JsonObject:
        """The point as it stands in results.json."""
        entry: JsonObject = {"parameters": self.parameters}
        for name, value in self.estimates.items():
            entry[name] = {
                "mean": value.mean,
                "ci95": [value.low, value.high],
                "unit": ESTIMATED[name],
                "replications": self.replications,
                "samples": list(value.samples),
            }
        entry["counters"] = self.counters
        entry["time_by_category_ns"] = self.time_by_category_ns
        entry["usage"] = self.usage
        entry.update(self.scalars)
        entry["simulated_s"] = self.simulated_s
        entry["wall_s"] = self.wall_s
        entry["events"] = self.events
        if self.notes:
            entry["notes"] = list(self.notes)
        if self.measured is not None:
            entry["measured"] = self.measured
        return entry

    def __hash__(self) -> int:
        return hash(frozenset(self.parameters.items()))

    @staticmethod
    def from_json(entry: JsonObject) -> PointResult:
        """The reverse of to_json."""
        estimates = {}
        replications = 1
        for name in ESTIMATED:
            if name in entry:
                value = entry[name]
                samples = tuple(value.get("samples", ()))
                estimates[name] = Estimate(value["mean"], value["ci95"][0], value["ci95"][1], samples)
                replications = int(value["replications"])
        return PointResult(
            parameters=entry["parameters"],
            replications=replications,
            estimates=estimates,
            scalars={name: entry[name] for name in (*SCALARS, *own_measures(entry)) if name in entry},
            counters=entry["counters"],
            time_by_category_ns=entry["time_by_category_ns"],
            usage=entry.get("usage", {}),
            simulated_s=entry["simulated_s"],
            wall_s=entry["wall_s"],
            events=entry["events"],
            notes=tuple(entry.get("notes", ())),
            measured=entry.get("measured"),
        )


@dataclass(frozen=True, repr=False)
class Results:
    """All points of a run."""

    scenario: JsonObject
    seed: int
    engine: str
    points: tuple[PointResult, ...]
    interrupted: bool = False
    contend_version: str = field(default_factory=version)
    remarks: tuple[str, ...] = ()
    overrides: tuple[tuple[str, str], ...] = ()
    """What was changed in the scenario's file: dotted paths with values."""
    planned: int | None = None
    """How many points there would have been had nobody interrupted the run; None where that is not known."""

    @property
    def title(self) -> str:
        """The name, and where the run was interrupted how much of it there is."""
        if not self.interrupted:
            return self.name
        run = self.scenario.get("run", {})
        wanted = max([int(run.get("replications", 1)), *(point.replications for point in self.points)])
        complete = sum(point.replications == wanted for point in self.points)
        in_part = len(self.points) - complete
        kept = f": {complete} of {counted(self.planned, 'point')}" if self.planned is not None else ""
        return f"{self.name}, interrupted{kept}{f', {in_part} in part' if in_part else ''}"

    @property
    def changes(self) -> str:
        """What was changed, as titles say it after the name: "with window=16"; empty if nothing was."""
        return with_changes(self.overrides, self.points[0].parameters if self.points else ())

    @property
    def notes(self) -> list[str]:
        """What a user should know about the scenario and how designs were carried out, each once."""
        idle = [
            f"{name} changes nothing here: all its values give the same simulation"
            for name in without_effect(self.points)
        ]
        prices = shared_prices_remark(point.parameters.get("preset") for point in self.points)
        own = [note for point in self.points for note in point.notes]
        return list(dict.fromkeys([*self.remarks, *own, *idle, *filter(None, [self._scheduler_remark(), prices])]))

    def _scheduler_remark(self) -> str:
        """That nobody uses the scheduler which a user has changed."""
        changed = [path for path, _ in self.overrides if path.startswith(_SCHEDULER)]
        placement = self.scenario.get("placement")
        threads = placement.get("threads") if isinstance(placement, dict) else None
        if (
            not changed
            or threads not in {None, "one-per-core"}
            or any("placement" in path for path, _ in self.overrides)
        ):
            return ""
        return (
            f"{listed(changed)} {'changes' if len(changed) == 1 else 'change'} nothing here: each thread has a core to "
            "itself (placement.threads)"
        )

    @property
    def name(self) -> str:
        """Name of the scenario."""
        return str(self.scenario.get("name") or "unnamed")

    @property
    def words(self) -> WorkloadWords:
        """What the points count, and who their threads are: neutral words where points differ in that."""
        return common_words(workloads_of(self.scenario, self.points))

    def to_json(self) -> JsonObject:
        """The content of results.json."""
        document: JsonObject = {
            "contend_version": self.contend_version,
            "engine": self.engine,
            "scenario": self.scenario,
            "seed": self.seed,
        }
        if self.interrupted:
            document["interrupted"] = True
            if self.planned is not None:
                document["points_planned"] = self.planned
        if self.overrides:
            document["overrides"] = dict(self.overrides)
        if self.remarks:
            document["remarks"] = list(self.remarks)
        document["points"] = [point.to_json() for point in self.points]
        return document

    @staticmethod
    def from_json(document: JsonObject) -> Results:
        """The reverse of to_json.

        Raises:
            InputError: It is not the content of a results.json.
        """
        try:
            return Results(
                scenario=document["scenario"],
                seed=int(document["seed"]),
                engine=document.get("engine", "contend"),
                points=tuple(PointResult.from_json(point) for point in document["points"]),
                interrupted=bool(document.get("interrupted", False)),
                contend_version=document["contend_version"],
                planned=document.get("points_planned"),
                remarks=tuple(document.get("remarks", ())),
                overrides=tuple(dict(document.get("overrides", {})).items()),
            )
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise InputError(f"this is not the content of a results.json: {misfit(error)}") from error

    def json_bytes(self) -> bytes:
        """results.json."""
        return json_bytes(self.to_json())

    def canonical_bytes(self) -> bytes:
        """results.json without what may differ between two runs of the same, in one fixed form."""
        document = self.to_json()
        document.pop("overrides", None)  # the scenario has the values, whoever gave them
        for point in document["points"]:
            for name in VOLATILE:
                point.pop(name, None)
        return json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False).encode()

    def canonical_hash(self) -> str:
        """SHA-256 of the canonical bytes and, where they were recorded, of the hashes of all events."""
        digest = hashlib.sha256(self.canonical_bytes())
        for point in self.points:
            for event_hash in point.event_hashes:
                digest.update(event_hash.encode())
        return digest.hexdigest()

    def frame(self) -> pl.DataFrame:
        """One row per point: parameters, measures with their 95 % interval, counters, times by role and category.

        Parameters with a unit ("1 KiB", "85 ns") are numbers here; `units` says in what. One that is called as a
        measure is has its whole path: "fabric.bandwidth" beside the bandwidth that came out.
        """
        from contend.results.frames import points_frame

        return points_frame(self.points, self.scenario)

    def samples(self) -> pl.DataFrame:
        """One row per point and replication: parameters, replication (from 0), measures where there are samples."""
        from contend.results.frames import samples_frame

        return samples_frame(self.points, self.scenario)

    def times(self) -> pl.DataFrame:
        """Where the time went, one row per point, role and category.

        Columns are the parameters, role, category, time_ns (all threads of the role) and share (of the role, 0 to 1).
        """
        from contend.results.frames import named_parameters, times_frame

        parameters = named_parameters(self.points, self.scenario)
        times = (point.time_by_category_ns for point in self.points)
        return times_frame(zip(parameters, times, strict=True))

    @property
    def units(self) -> dict[str, str]:
        """The unit of every column of `frame` that has one; Parquet files carry it as metadata."""
        from contend.results.frames import units_of

        return units_of(self.points, self.scenario)

    def to_pandas(self) -> pd.DataFrame:
        """`frame` for pandas, with the units in `attrs["units"]`.

        Raises:
            ContendError: pandas is not installed.
        """
        from contend.results.frames import to_pandas

        return to_pandas(self.frame(), self.units)

    def point(self, **parameters: Scalar) -> PointResult:
        """The one point that has these values of swept parameters.

        Raises:
            InputError: No point, or several, have them.
        """
        return self.points[the_point_with(self.points, parameters)]

    def select(self, **parameters: Scalar) -> Self:
        """The results at all points that have these values of swept parameters.

        Raises:
            InputError: No point has them.
        """
        matching = points_with(self.points, parameters)
        if not matching:
            raise InputError(f"no point has {parameters}")
        return replace(self, points=tuple(self.points[index] for index in matching))

    def __hash__(self) -> int:
        return hash((self.name, self.seed, self.engine, self.contend_version, len(self.points)))

    def _repr_html_(self) -> str:
        from contend.notebook_html import results_html

        return results_html(self)

    def __repr__(self) -> str:
        state = ", interrupted" if self.interrupted else ""
        return f"<{type(self).__name__} of {self.name}: {counted(len(self.points), 'point')}{state}>"

    def csv_bytes(self) -> bytes:
        """results.csv."""
        buffer = io.BytesIO()
        self.frame().write_csv(buffer)
        return buffer.getvalue()

    def parquet_bytes(self) -> bytes:
        """results.parquet; its metadata has "contend.units" and what made it, as JSON."""
        from contend.results.frames import parquet_bytes

        provenance = {"contend_version": self.contend_version, "engine": self.engine, "seed": self.seed}
        return parquet_bytes(self.frame(), {"units": self.units, "provenance": {**provenance, "scenario": self.name}})


def _mean_by_key(objects: Sequence[dict[str, Any]]) -> dict[str, int | float]:
    if len(objects) == 1:
        return dict(objects[0])
    names = dict.fromkeys(name for entry in objects for name in entry)
    return {name: mean_number([entry.get(name, 0) for entry in objects]) for name in names}


def _roles(results: Iterable[JsonObject]) -> list[str]:
    return list(dict.fromkeys(role for result in results for role in result.get("time_by_category_ns", {})))


def summarise(runs: PointRuns) -> PointResult:
    """Means over the replications of a point (at least one).

    `wall_s`, `events` and `simulated_s` are means for one replication too, so that their ratios are rates.
    """
    results = runs.results
    return PointResult(
        parameters=runs.point.parameters,
        replications=len(results),
        estimates={name: estimate([r[name] for r in results]) for name in ESTIMATED if name in results[0]},
        scalars={
            name: float(mean_number([r[name] for r in results]))
            for name in (*SCALARS, *own_measures(results[0]))
            if name in results[0]
        },
        counters=_mean_by_key([r.get("counters", {}) for r in results]),
        time_by_category_ns={
            role: _mean_by_key([r["time_by_category_ns"].get(role, {}) for r in results]) for role in _roles(results)
        },
        usage={role: _mean_by_key([r["usage"][role] for r in results if "usage" in r]) for role in _roles(results)},
        simulated_s=float(mean_number([r["simulated_s"] for r in results])),
        wall_s=float(mean_number(runs.wall_s)),
        events=mean_number([r["events"] for r in results]),
        event_hashes=tuple(str(r["event_hash"]) for r in results if r.get("event_hash")),
        notes=tuple(dict.fromkeys(str(note) for r in results for note in r.get("notes", ()))),
    )


def collect(scenario: ResolvedScenario, outcome: Outcome, engine: str) -> Results:
    """The results of a run; points without a finished replication are left out."""
    document = dict(scenario.document)
    document.setdefault("name", scenario.name)
    return Results(
        scenario=document,
        seed=scenario.seed,
        engine=engine,
        points=tuple(summarise(runs) for runs in outcome.runs if runs.results),
        interrupted=outcome.interrupted,
        planned=len(outcome.runs) if outcome.interrupted else None,
        overrides=tuple(dict(scenario.overrides).items()),
        remarks=scenario.remarks,
    )
