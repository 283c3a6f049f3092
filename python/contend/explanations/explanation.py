"""Where the time of one point goes, who waits for whom, and what would help."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from contend.common.documents import json_bytes
from contend.common.errors import InputError, InterruptedRunError
from contend.common.paths import version
from contend.common.spelling import parameters_text
from contend.common.statistics import Estimate, estimate, exact_mean
from contend.engine.runner import CoreEngine, PointRuns, run_points
from contend.explanations.interface_stages import NOT_COUNTED
from contend.explanations.means import mean_entries, mean_places
from contend.explanations.price_bases import PriceBases
from contend.explanations.speedups import BUDGET_S, find_speedups
from contend.results.measures import check_known, choose, measure_named, measures_in
from contend.results.workload_words import WorkloadWords, words_of

if TYPE_CHECKING:
    import polars as pl

    from contend.common.jsontypes import JsonObject
    from contend.explanations.speedups import Effort, Speedup
    from contend.plots.style import Picture
    from contend.results.measures import Measure
    from contend.scenarios.resolution import Point, ResolvedScenario

# What follows the timed part, as a share of it, may be this long without a remark.
_SHORT_REST = 0.05


class Progress(Protocol):
    """Shows how far something is."""

    def advance(self, amount: float) -> None:
        """Says that more is done."""

    def extend(self, amount: float) -> None:
        """Says that there is more to do than was thought."""

    def say(self, part: str) -> None:
        """Names what runs now."""


@dataclass(repr=False)
class Explanation:
    """Everything about one point; sums from the beginning of the timed part on, means over replications."""

    name: str
    scenario: JsonObject
    parameters: JsonObject
    measure: Measure
    rate: Estimate
    """The measure that is explained, which may be a time."""
    replications: int
    elapsed_ns: float
    """From the beginning of the timed part to the end of the run, like all times here."""
    time_by_category_ns: dict[str, dict[str, float]]
    threads: dict[str, int]
    locks: list[JsonObject]
    queues: list[JsonObject]
    stages: list[JsonObject]
    places: list[JsonObject] = field(default_factory=list)
    """Where threads wait for each other without a lock, longest wait first."""
    words: WorkloadWords = field(default_factory=lambda: words_of({}))
    """What the workload calls its roles."""
    overrides: tuple[tuple[str, str], ...] = ()
    """What was changed in the scenario's file: dotted paths with values."""
    speedups: list[Speedup] = field(default_factory=list)
    effort: Effort | None = None
    """How much was simulated for the speed-ups; None if there are none."""
    speedups_rate: Estimate | None = None
    """The rate that the speed-ups are relative to; another than `rate` where less was simulated."""
    remarks: list[str] = field(default_factory=list)
    """What a reader must know: what was left out or shortened."""
    interrupted: bool = False
    """Whether Ctrl-C ended the speed-ups early."""
    counts_large_transfers: bool = True
    """Whether `stages` has all traffic; where wires are shared as flows, it has small messages only."""

    def to_json(self) -> JsonObject:
        """The content of explain.json."""
        return {
            "contend_version": version(),
            "scenario": self.scenario,
            "parameters": self.parameters,
            "measure": self.measure.name,
            self.measure.name: {
                "mean": self.rate.mean,
                "ci95": [self.rate.low, self.rate.high],
                "unit": self.measure.short_unit,
                "replications": self.replications,
                "samples": list(self.rate.samples),
            },
            "elapsed_ns": self.elapsed_ns,
            "threads": self.threads,
            "time_by_category_ns": self.time_by_category_ns,
            "locks": self.locks,
            "waiting_places": self.places,
            "queues": self.queues,
            "interface_stages": self.stages,
            "counts_large_transfers": self.counts_large_transfers,
            "speedups": [speedup.to_json() for speedup in self.speedups],
            "speedups_from": self._speedups_from(),
            "remarks": self.remarks,
            "interrupted": self.interrupted,
        }

    def _speedups_from(self) -> JsonObject | None:
        if self.effort is None or self.speedups_rate is None:
            return None
        rate = self.speedups_rate
        return {
            "replications": self.effort.replications,
            "iterations": self.effort.iterations,
            "groups_only": self.effort.groups_only,
            self.measure.name: {"mean": rate.mean, "ci95": [rate.low, rate.high], "samples": list(rate.samples)},
        }

    def json_bytes(self) -> bytes:
        """explain.json."""
        return json_bytes(self.to_json())

    def csv_bytes(self) -> bytes:
        """speedups.csv."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        ratios = [f"{name}{column}" for name in ("halved", "removed") for column in ("", "_ci95_low", "_ci95_high")]
        writer.writerow(["name", "value", *ratios, "not_removable", "costs", "uncertain"])
        for entry in self.speedups:
            cells: list[object] = []
            for ratio in (entry.halved, entry.removed):
                cells += ["", "", ""] if ratio is None else [ratio.mean, ratio.low, ratio.high]
            lists = [" ".join(paths) for paths in (entry.bounded, entry.paths, entry.uncertain)]
            writer.writerow([entry.name, entry.value, *cells, *lists])
        return text.getvalue().encode()

    def __repr__(self) -> str:
        at = f" at {label}" if (label := parameters_text(self.parameters)) else ""
        longest = f"; longest waits at {self.locks[0]['name']}" if self.locks else ""
        return f"<Explanation of {self.name}{at}: {self.measure.name} {self.rate.mean:.4g}{longest}>"

    def draw(self) -> Picture:
        """Where the time goes, and what would help."""
        from contend.explanations.output import draw

        return draw(self)

    def times(self) -> pl.DataFrame:
        """Where the time goes: role, category, time_ns (all threads of the role), share of the role's time (0 to 1)."""
        from contend.results.frames import times_frame

        return times_frame([({}, self.time_by_category_ns)])

    def lock_frame(self) -> pl.DataFrame:
        """Locks, longest wait first: how often taken, contended, refused, delegated; times in ns; held: 0 to 1."""
        from contend.results.frames import frame_of

        numbers = [{key: value for key, value in lock.items() if key != "waits"} for lock in self.locks]
        return frame_of([{**lock, "held": lock["hold_ns"] / self.elapsed_ns} for lock in numbers])

    def wait_frame(self) -> pl.DataFrame:
        """Who waits for whom at locks: lock, waiter, holder ("" for nobody: hand-over, waking up), time_ns."""
        from contend.results.frames import frame_of

        return frame_of([{"lock": lock["name"], **entry} for lock in self.locks for entry in lock["waits"]])

    def place_frame(self) -> pl.DataFrame:
        """Waits for other threads without locks: place, waiter, category, awaited ("" for nobody), how, time_ns."""
        from contend.results.frames import frame_of

        return frame_of([{"place": place["name"], **entry} for place in self.places for entry in place["by_role"]])

    def awaited_frame(self) -> pl.DataFrame:
        """The threads that were waited for: place, thread, how, times, time_ns (of all who waited for it)."""
        from contend.results.frames import frame_of

        return frame_of([{"place": place["name"], **entry} for place in self.places for entry in place["awaited"]])

    def queue_frame(self) -> pl.DataFrame:
        """Queues: mean length over time, and the largest."""
        from contend.results.frames import frame_of

        return frame_of(self.queues)

    def stage_frame(self) -> pl.DataFrame:
        """Stages of the network interfaces: messages, busy_ns, queueing_ns, on_wire_ns; busy (0 to 1)."""
        from contend.results.frames import frame_of

        return frame_of([{**stage, "busy": stage["busy_ns"] / self.elapsed_ns} for stage in self.stages])

    def speedup_frame(self) -> pl.DataFrame:
        """Virtual speed-ups, largest first: rate with the cost halved or removed over the rate as it is.

        Of a time it is the other way round, so that what is above 1 is faster.
        """
        from contend.results.frames import frame_of

        rows = []
        for entry in self.speedups:
            row: JsonObject = {"cost": entry.name, "value": entry.value or None, "group": entry.is_group}
            for name, ratio in (("halved", entry.halved), ("removed", entry.removed)):
                row[name] = None if ratio is None else ratio.mean
                row[f"{name}_ci95_low"] = None if ratio is None else ratio.low
                row[f"{name}_ci95_high"] = None if ratio is None else ratio.high
            rows.append({**row, "what": entry.doc})
        if not rows:  # none were asked for: the same columns, for what is done with the frame
            import polars as pl

            ratios = [f"{name}{end}" for name in ("halved", "removed") for end in ("", "_ci95_low", "_ci95_high")]
            words = {"cost": pl.String, "value": pl.String, "group": pl.Boolean}
            return pl.DataFrame(schema={**words, **dict.fromkeys(ratios, pl.Float64), "what": pl.String})
        return frame_of(rows)

    def _repr_html_(self) -> str:
        from contend.notebook_html import explanation_html

        return explanation_html(self)


class _Explaining(CoreEngine):
    """Runs every point with its account of who waits for whom."""

    def run_point(self, point: Point, replication: int, *, trace_hash: bool) -> str:
        del trace_hash
        return self.explain_point(point, replication)


def explain(
    scenario: ResolvedScenario,
    point: Point,
    *,
    jobs: int,
    measure: str | None = None,
    speedups: bool = True,
    groups_only: bool = False,
    budget_s: float = BUDGET_S,
    progress: Progress | None = None,
) -> Explanation:
    """Explains one point.

    Args:
        scenario: Where the point is from.
        point: The point; its replications give the intervals.
        jobs: How many simulations run at once.
        measure: What is explained, by its name in results; what the workload is about if not given.
        speedups: Whether to simulate the point again with every cost lowered.
        groups_only: With groups of costs lowered, and costs that are in none: a third or a quarter of the simulations.
        budget_s: About how long that may take; where it would take longer, less is simulated, and `remarks` says what.
        progress: Shows how far it is; begins with the weight of the point's replications (runner.total_weight).

    Returns:
        Everything; after Ctrl-C during the speed-ups, `interrupted` and those that were complete.

    Raises:
        SimulationFailedError: The unchanged point failed.
        InputError: It does not have the measure, or the time is less than none.
        InterruptedRunError: Ctrl-C before the point itself was explained.
    """
    check_known(measure, point.config.get("workload"))
    if not budget_s >= 0:  # not a number is none either
        raise InputError(f"budget_s={budget_s!r}: allowed: a time in seconds from 0 on, math.inf for no limit")
    advance = None if progress is None else progress.advance
    outcome = run_points([point], _Explaining(), jobs=jobs, progress=advance)
    if outcome.interrupted:
        raise InterruptedRunError("interrupted; nothing was explained yet")
    runs = outcome.runs[0]
    explanation = _summarise(scenario, runs, measure)
    if speedups:
        if progress is not None:
            progress.say("virtual speed-ups")
        found = find_speedups(
            point, explanation.measure, explanation.rate.samples, exact_mean(runs.wall_s), jobs=jobs,
            groups_only=groups_only, budget_s=budget_s,
            begin=None if progress is None else progress.extend, progress=advance,
        )  # fmt: skip
        PriceBases(scenario).enter(found.speedups, point.config)
        explanation.speedups = found.speedups
        explanation.effort = found.effort
        explanation.speedups_rate = found.rate
        explanation.remarks += found.remarks
        explanation.interrupted = found.interrupted
    return explanation


def _summarise(scenario: ResolvedScenario, runs: PointRuns, wanted: str | None) -> Explanation:
    results = runs.results
    name = choose(measures_in(results), wanted, "to explain")
    if not all(result[name] for result in results):
        raise InputError(f"the {name} of this point is 0: there is nothing to explain")
    words = words_of(runs.point.config.get("workload", {}))
    accounts = [result["explain"] for result in results]
    counted_ns = exact_mean([account["elapsed_ns"] for account in accounts])
    timed_ns = 1e9 * exact_mean([result["elapsed_s"] for result in results])
    stages = mean_entries([account["interface_stages"] for account in accounts])
    counts_large_transfers = not stages or runs.point.config.get("fabric", {}).get("sharing") != "flows"
    remarks = [*scenario.remarks, *([] if counts_large_transfers else [NOT_COUNTED])]
    if counted_ns > (1 + _SHORT_REST) * timed_ns:
        remarks.append(
            f"times, locks, queues and interfaces are of the {counted_ns / 1e3:,.0f} us from the beginning of the "
            f"timed part to the end of the run; the rate is of {timed_ns / 1e3:,.0f} us in them"
        )
    return Explanation(
        name=scenario.name,
        scenario=scenario.document,
        parameters=dict(runs.point.parameters),
        measure=measure_named(name, words),
        rate=estimate([result[name] for result in results]),
        replications=len(results),
        elapsed_ns=counted_ns,
        remarks=remarks,
        time_by_category_ns={
            role: {
                category: exact_mean([result["time_by_category_ns"][role][category] for result in results])
                for category in results[0]["time_by_category_ns"][role]
            }
            for role in results[0]["time_by_category_ns"]
        },
        threads=results[0].get("threads", {}),
        locks=sorted(mean_entries([a["locks"] for a in accounts]), key=lambda lock: -lock["wait_ns"]),
        places=mean_places([account["waiting_places"] for account in accounts]),
        queues=mean_entries([account["queues"] for account in accounts]),
        stages=stages,
        counts_large_transfers=counts_large_transfers,
        words=words,
        overrides=scenario.overrides,
    )
