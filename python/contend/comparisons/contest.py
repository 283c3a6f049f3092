"""Compares two designs point by point, with paired replications.

Replication i of both sides draws from the same random streams (common random numbers): streams are named per model
object, so that what both designs have in common, such as the jitter of a thread's library calls, sees the same numbers.
Differences are then taken per replication, and chance that hits both sides alike drops out.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from contend.common.errors import ContendError, InterruptedRunError
from contend.common.statistics import estimate
from contend.comparisons.comparison import Comparison, PointComparison, Side
from contend.comparisons.paired import (
    check_interval,
    compare_samples,
    pooled_reduction,
    relative_differences,
    sample_variance,
)
from contend.comparisons.pairing import (
    check_units,
    other_units,
    pair_points,
    shared_prices,
    system_differences,
    workload_differences,
)
from contend.engine.runner import make_engine, run_points, total_weight
from contend.results.measures import (
    RATE,
    Measure,
    check_known,
    choose,
    measure_named,
    measures_in,
    own_measures,
)
from contend.results.workload_words import common_words

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Sequence
    from pathlib import Path

    from contend.common.jsontypes import JsonObject
    from contend.comparisons.pairing import Pairing
    from contend.engine.runner import Engine, Outcome, PointRuns
    from contend.scenarios.resolution import Point, ResolvedScenario
    from contend.sweeps.store import KeptRuns


@dataclass(frozen=True)
class Contest:
    """Two designs that can be compared, before anything is simulated."""

    a: ResolvedScenario
    b: ResolvedScenario
    pairing: Pairing
    independent: tuple[Point, ...] = ()
    """B's points with another seed, to measure what pairing gains."""

    @property
    def points(self) -> list[Point]:
        """All that is simulated."""
        return [*self.pairing.a, *self.pairing.b, *self.independent]

    @property
    def weight(self) -> float:
        """What `progress` of compare_scenarios adds up to."""
        return total_weight(self.points)


def prepare(
    a: ResolvedScenario, b: ResolvedScenario, independent: ResolvedScenario | None = None, measure: str | None = None
) -> Contest:
    """Finds out what there is to compare.

    Args:
        a: One side.
        b: The other side, with the same seed and number of replications.
        independent: B with another seed, to measure what pairing gains.
        measure: The measure that verdicts will be about.

    Raises:
        InputError: The sweeps have other axes or no point in common, no result has such a measure, or the rates of the
            sides count different things.
    """
    for side in (a, b):
        check_known(measure, side.document.get("workload"))
    pairing = pair_points(a.points, b.points)
    check_units(pairing, measure)
    others = () if independent is None else pair_points(a.points, independent.points).b
    return Contest(a, b, pairing, others)


@contextlib.contextmanager
def keeping(
    contest: Contest, store: Path | None, *, again: str, unusable: Callable[[ContendError], None] | None = None
) -> Iterator[KeptRuns | None]:
    """What simulates the runs of a comparison, and keeps them where those of sweeps are.

    Args:
        contest: What will be compared.
        store: The folder that the user named; None for the user's cache.
        again: What goes on after an interruption, such as "the same command".
        unusable: Called with the reason where the user's cache cannot be used.

    Yields:
        The engine for compare_scenarios; None where the user's cache cannot be used, so that nothing is kept.

    Raises:
        ContendError: The folder that the user named cannot be used.
        InterruptedRunError: Ctrl-C in the body; says what is kept.
    """
    from contend.sweeps.store import KeptRuns, ResultStore, default_store

    kept = None
    try:
        kept = ResultStore(store if store is not None else default_store())
    except ContendError as error:
        if store is not None:
            raise
        if unusable is not None:
            unusable(error)
    engine = KeptRuns(make_engine("contend"), kept, contest.points) if kept is not None else None
    try:
        yield engine
    except (KeyboardInterrupt, InterruptedRunError) as error:
        said = str(error) or "interrupted: nothing was compared"
        raise InterruptedRunError(f"{said}; {engine.kept(again)}" if engine is not None else said) from None
    finally:
        if kept is not None:
            kept.close()


def compare_scenarios(
    contest: Contest,
    *,
    names: tuple[str, str],
    interval: str = "t",
    measure: str | None = None,
    jobs: int,
    progress: Callable[[float], None] | None = None,
    engine: Engine | None = None,
) -> Comparison:
    """Simulates two designs at the points that both have, and compares them.

    Args:
        contest: What `prepare` found.
        names: What the sides are called.
        interval: See compare_samples.
        measure: The measure that verdicts are about; what the workload is about if not given.
        jobs: How many simulations run at once.
        progress: Called with the weight of each replication that finishes.
        engine: What simulates; contend's own if not given.

    Raises:
        InputError: A side does not have the measure, or has too few replications for the interval.
        SimulationFailedError: A simulation ended with an error.
        InterruptedRunError: Ctrl-C.
    """
    engine = engine or make_engine("contend")
    pairing = contest.pairing
    check_interval(interval, min(point.replications for point in pairing.a))
    outcomes: list[Outcome] = []
    for points in (pairing.a, pairing.b, *([contest.independent] if contest.independent else [])):
        outcome = run_points(points, engine, jobs=jobs, progress=progress)
        if outcome.interrupted:
            raise InterruptedRunError("interrupted: nothing was compared")
        outcomes.append(outcome)
        if measure is not None:
            choose(_common_measures(outcome.runs), measure, "to compare")
    a, b = outcomes[0].runs, outcomes[1].runs
    words = common_words(point.config["workload"] for point in (*pairing.a, *pairing.b))
    main = measure_named(choose(_common_measures(a, b), measure, "to compare"), words)
    return Comparison(
        name_a=names[0],
        name_b=names[1],
        seed=contest.a.seed,
        interval=interval,
        points=tuple(compare_runs(a, b, main, interval, without=(RATE,) if other_units(pairing) else ())),
        words=words,
        only_a=pairing.only_a,
        only_b=pairing.only_b,
        workload_differences=workload_differences(pairing),
        system_differences=system_differences(pairing),
        shared_prices=shared_prices(pairing),
        sides=tuple(Side(side.document, side.overrides) for side in (contest.a, contest.b)),
        measured_reduction=measured_reduction(*outcomes, measure=main.name) if contest.independent else None,
    )


def compare_runs(
    a: Sequence[PointRuns],
    b: Sequence[PointRuns],
    main: Measure,
    interval: str = "t",
    *,
    without: Container[str] = (),
) -> list[PointComparison]:
    """Compares points pair by pair.

    Args:
        a: One side; every point has the main measure.
        b: The other side, with its points in the same order, the same seed and number of replications.
        main: The measure that verdicts are about.
        interval: See compare_samples.
        without: Measures that are of different things on the two sides.
    """
    compared = []
    for runs, other in zip(a, b, strict=True):
        left, right = _samples(runs), _samples(other)
        measures = {
            name: compare_samples(name, left[name], right[name], interval)
            for name in left
            if name in right and name not in without and (name == main.name or any(left[name]) or any(right[name]))
        }
        is_same = list(map(_without_notes, runs.results)) == list(map(_without_notes, other.results))
        own = tuple(name for name in own_measures(runs.results[0]) if name in measures)
        compared.append(PointComparison(dict(runs.point.parameters), measures, main, is_same, own))
    return compared


def measured_reduction(a: Outcome, b: Outcome, b_independent: Outcome, *, measure: str) -> float | None:
    """What common random numbers gain, measured with runs of B that have other seeds.

    Returns:
        The variance of differences between A and those, over the variance of the paired differences. Both are relative
        to the means and summed over points.
    """

    def variances(other: Outcome) -> list[float]:
        found = []
        for runs, match in zip(a.runs, other.runs, strict=True):
            left, right = estimate(_samples(runs)[measure]), estimate(_samples(match)[measure])
            if left.mean and right.mean:
                found.append(sample_variance(relative_differences(left, right)))
        return found

    return pooled_reduction(variances(b_independent), variances(b))


def _samples(runs: PointRuns) -> dict[str, list[float]]:
    """All measures that every replication has, and all counters."""
    samples = {name: [float(result[name]) for result in runs.results] for name in measures_in(runs.results)}
    counters = [result.get("counters", {}) for result in runs.results]
    for name in dict.fromkeys(name for entry in counters for name in entry):
        samples[name] = [float(entry.get(name, 0)) for entry in counters]
    return samples


def _without_notes(result: JsonObject) -> JsonObject:
    """A result without what is said of its design."""
    return {key: value for key, value in result.items() if key != "notes"}


def _common_measures(*sides: Sequence[PointRuns]) -> list[str]:
    """The measures that all points of all sides have."""
    return measures_in(result for side in sides for runs in side for result in runs.results)
