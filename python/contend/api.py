"""The functions that `import contend` offers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from contend.common.errors import InputError, InterruptedRunError
from contend.common.reading import read_json
from contend.common.spelling import shortened
from contend.common.terminal import progress_report
from contend.datasets.reading import read_dataset
from contend.engine.runner import check_engine, make_engine, run_points, total_weight, wanted_jobs
from contend.explanations.speedups import BUDGET_S
from contend.results.results import Results, collect
from contend.scenarios.scenario import Scenario, checked_paths, json_text, load

if TYPE_CHECKING:
    from contend.common.jsontypes import Scalar
    from contend.comparisons.comparison import Comparison
    from contend.datasets.dataset import Dataset
    from contend.explanations.explanation import Explanation
    from contend.scenarios.resolution import ResolvedScenario
    from contend.scenarios.scenario import ScenarioLike
    from contend.traces.timelines import Timeline

__all__ = ["compare", "explain", "load", "load_dataset", "load_measured", "load_results", "resolve", "run", "timeline"]

# A change of a whole section or sweep is no name.
_LONGEST_VALUE = 40


def _overrides(values: Mapping[str, object] | None) -> list[tuple[str, str]]:
    changes = checked_paths(values or {})
    return [(path, value if isinstance(value, str) else json_text(value)) for path, value in changes.items()]


def _changed(scenario: ScenarioLike, overrides: Mapping[str, object] | None, replications: int | None) -> Scenario:
    loaded = load(scenario)
    changes = tuple(_overrides(overrides))
    if replications is not None:
        changes += (("run.replications", json_text(replications)),)
    return replace(loaded, overrides=loaded.overrides + changes, given_in="overrides") if changes else loaded


def resolve(scenario: ScenarioLike, overrides: Mapping[str, object] | None = None) -> ResolvedScenario:
    """Reads a scenario and fills in all defaults; `load` gives the same as a value that can be changed.

    Args:
        scenario: A Scenario, a file, the name of a shipped scenario, or a mapping.
        overrides: Values by dotted path, for example {"workload.pairs": 20}.

    Raises:
        InputError: The scenario or an override is not usable.
    """
    return _changed(scenario, overrides, None).resolved


def run(
    scenario: ScenarioLike,
    overrides: Mapping[str, object] | None = None,
    *,
    replications: int | None = None,
    jobs: int | None = None,
    engine: str = "contend",
    progress: bool | None = None,
) -> Results:
    """Simulates all points of a scenario, on all cores, in this process; other Python threads go on meanwhile.

    Args:
        scenario: A Scenario, a file, the name of a shipped scenario, or a mapping.
        overrides: Values by dotted path, for example {"run.seed": 3}.
        replications: Independent runs of each point, in place of the scenario's number.
        jobs: How many simulations run at once; all cores if not given. Results do not depend on it.
        engine: "contend" or "simgrid".
        progress: Whether to say on stderr how far it is; on a terminal if not given.

    Returns:
        A mean with its interval for each point; `frame()` has one row a point.

    Raises:
        InputError: The scenario or an override is not usable.
        SimulationFailedError: A simulation ended with an error.
        InterruptedRunError: Ctrl-C, or the notebook's stop button. Simulations stop within a second; what had finished
            is the error's `results`.

    Examples:
        >>> results = run("fig5_2a_base", {"workload.pairs": 4, "workload.iterations": 1}, replications=2)
        >>> results.frame().select("message_rate", "replications").shape
        (1, 2)
        >>> results.units["message_rate"]
        'msg/s'
    """
    wanted = _changed(scenario, overrides, replications)
    check_engine(engine, wanted.resolved)
    with progress_report(wanted.name, total_weight(wanted.points), wanted=progress) as report:
        outcome = run_points(wanted.points, make_engine(engine), jobs=wanted_jobs(jobs), progress=report.advance)
    results = collect(wanted.resolved, outcome, engine)
    if outcome.interrupted:
        raise InterruptedRunError(
            f"interrupted; {len(results.points)} of {len(wanted.points)} points have finished replications: they "
            "are in this error's .results (in a notebook: import sys; sys.last_value.results)",
            results=results,
        )
    return results


def compare(
    a: ScenarioLike,
    b: ScenarioLike,
    *,
    replications: int | None = None,
    interval: str = "t",
    measure: str | None = None,
    jobs: int | None = None,
    store: str | Path | None = None,
    progress: bool | None = None,
) -> Comparison:
    """Compares two designs at each point that both sweeps have, with the same random numbers on both sides.

    What was simulated before, by a comparison or a sweep, comes from the store.

    Args:
        a: The one; its seed and number of replications hold for both.
        b: The other.
        replications: Pairs of runs at each point, in place of A's number.
        interval: "t" for Student's t on the paired differences, "bootstrap" for a bootstrap over them, which covers
            less than 95 % with fewer than twenty replications.
        measure: What the verdict is about, such as "message_rate" or "time_per_operation_s"; what the workload is
            about if not given.
        jobs: How many simulations run at once; all cores if not given.
        store: Folder of results by content, as for sweep; `contend/results` in the user's cache folder if not given.
            Where that cannot be written to, nothing is kept.
        progress: As for run.

    Returns:
        B - A and B / A with 95 % intervals for all measures and counters, and a verdict.

    Raises:
        InputError: A scenario is not usable, the sweeps have other axes or no point in common, or a side does not have
            the measure.
        SimulationFailedError: A simulation ended with an error.
        InterruptedRunError: Ctrl-C; nothing was compared. What had finished is in the store: the same call goes on from
            there.
        ContendError: The folder that was named cannot be written to.

    Examples:
        >>> small = load("fig5_2a_base").with_({"workload.pairs": 4, "workload.iterations": 1})
        >>> contest = compare(small, small.with_({"library.preset": "ob1-cri"}), replications=3)
        >>> contest.points[0].verdict in ("faster", "slower", "no difference", "undecided")
        True
    """
    from contend.comparisons.contest import compare_scenarios, keeping, prepare

    count = wanted_jobs(jobs)
    side_a = _changed(a, None, replications)
    side_b = _changed(b, {"run.seed": side_a.seed, "run.replications": side_a.replications}, None)
    contest = prepare(side_a.resolved, side_b.resolved, measure=measure)
    folder = Path(store) if store is not None else None
    with (
        keeping(contest, folder, again="the same call") as engine,
        progress_report("compare", contest.weight, wanted=progress) as report,
    ):
        return compare_scenarios(
            contest, interval=interval, measure=measure, jobs=count, progress=report.advance,
            names=_side_names(load(a), load(b)), engine=engine,
        )  # fmt: skip


def _side_names(a: Scenario, b: Scenario) -> tuple[str, str]:
    """Names of both sides: the scenarios', with the changes that only one has where that tells them apart."""
    if a.name != b.name:
        return a.name, b.name

    def own(one: Scenario, other: Scenario) -> str:
        changes = [_change_text(*change) for change in one.overrides if change not in other.overrides]
        return one.name + (f" with {', '.join(changes)}" if changes else "")

    return own(a, b), own(b, a)


def _change_text(path: str, text: str) -> str:
    """A change as the name of a side has it: a whole library design by its own name."""
    name = json.loads(text).get("name") if path == "library" else None
    return f"{path}={name or shortened(text, _LONGEST_VALUE)}"


def explain(
    scenario: ScenarioLike,
    *,
    replications: int | None = None,
    measure: str | None = None,
    speedups: bool = True,
    groups_only: bool = False,
    budget_s: float = BUDGET_S,
    jobs: int | None = None,
    progress: bool | None = None,
) -> Explanation:
    """Says where the time of one point goes, who waits for whom, and which cost would help most if it were lower.

    Args:
        scenario: What to explain; of a sweep the last point (`Scenario.at` chooses another).
        replications: Independent runs of each change, in place of the scenario's number.
        measure: What the speed-ups are of, such as "message_rate" or "time_per_operation_s"; what the workload is about
            if not given.
        speedups: Whether to simulate the point again with every cost halved and removed: the exact effect of each, in
            about two hundred times the time of one run.
        groups_only: Halve and remove groups of costs only, and costs that are in none: what a look at `group` shows,
            sooner.
        budget_s: About how many seconds that may take. Where it would take longer, fewer replications and iterations
            are simulated, or groups of costs only; `remarks` and `effort` of the result say so. math.inf: no limit.
        jobs: How many simulations run at once; all cores if not given.
        progress: As for run.

    Returns:
        Times by role and category (ns), locks, queues, interface stages, and virtual speed-ups (rate over rate; of a
            time, how many times shorter it is).

    Raises:
        InputError: The scenario is not usable, or does not have the measure; the time is less than none.
        SimulationFailedError: The unchanged point failed.
        InterruptedRunError: Ctrl-C, or the notebook's stop button; what had finished is the error's `explanation`.

    Examples:
        >>> small = load("fig5_2a_base").with_({"workload.pairs": 4, "workload.iterations": 1})
        >>> explanation = explain(small, replications=2, speedups=False)
        >>> explanation.times().columns
        ['role', 'category', 'time_ns', 'share']
    """
    from contend.explanations.explanation import explain as explain_point

    wanted = _changed(scenario, None, replications)
    point, _ = wanted.resolved.one_point()
    with progress_report(f"explaining {wanted.name}", total_weight([point]), wanted=progress) as report:
        explanation = explain_point(
            wanted.resolved, point, jobs=wanted_jobs(jobs), measure=measure, speedups=speedups, groups_only=groups_only,
            budget_s=budget_s, progress=report,
        )  # fmt: skip
    if explanation.interrupted:
        raise InterruptedRunError(
            "interrupted; what had finished is in this error's .explanation (in a notebook: import sys; "
            "sys.last_value.explanation)",
            explanation=explanation,
        )
    return explanation


def timeline(
    scenario: ScenarioLike | None = None,
    *,
    trace: str | Path | None = None,
    begin_us: float | None = None,
    length_us: float = 50.0,
    limit_mb: float = 100.0,
) -> Timeline:
    """What every thread does and who holds each lock in a short stretch of simulated time.

    Args:
        scenario: What to simulate and watch: one replication of one point, of a sweep the last.
        trace: A file that `contend run --trace` wrote, in place of a scenario.
        begin_us: Where the stretch begins, in us of simulated time; where threads wait most for locks if not given.
        length_us: How long it is, in us.
        limit_mb: About how much of the run is watched, in 1e6 bytes of trace; math.inf: all of it.

    Raises:
        InputError: Neither or both of scenario and trace were given, they are not usable, or nothing happens there.
        SimulationFailedError: The simulation ended with an error.

    Examples:
        >>> small = load("fig5_2a_base").with_({"workload.pairs": 2, "workload.iterations": 1})
        >>> timeline(small, length_us=20).frame().columns
        ['track', 'kind', 'what', 'begin_us', 'end_us', 'level']
    """
    from contend.traces.timelines import from_file, from_scenario

    if (scenario is None) == (trace is None):
        raise InputError("a timeline needs either a scenario or a trace file")
    if trace is not None:
        return from_file(Path(trace), begin_us, length_us)
    assert scenario is not None  # noqa: S101 - checked above
    return from_scenario(load(scenario).resolved, begin_us, length_us, limit_mb)


def load_dataset(path: str | Path) -> Dataset:
    """Reads a measured dataset.

    Args:
        path: A file that `contend measure` or `contend import` wrote.

    Returns:
        What was measured, where and how; `frame()` has the clean samples of each point, summed up in one row.

    Raises:
        InputError: The file is no dataset; the message says where.
    """
    return read_dataset(Path(path))


def load_measured(
    dataset: str | Path, point: Mapping[str, Scalar | list[Scalar]] | None = None, *, profile: str | None = None
) -> Scenario:
    """The scenario that stands for what a dataset measured: one point, or all points as a sweep.

    Args:
        dataset: A file that `contend measure` or `contend import` wrote.
        point: Which points, for example {"pairs": 4}; a list has alternatives, a size may have a unit ("1 KiB"). All if
            not given.
        profile: Name or file of a machine profile; one of the dataset's machine if not given.

    Raises:
        InputError: The file is no dataset, it has no such point (the message names the nearest), `point` is no mapping
            or chooses among no values, or no mapping or profile stands for the dataset.
    """
    from contend.measured.configurations import open_dataset

    if point is not None and not isinstance(point, Mapping):
        raise InputError(f"a point is a mapping of parameters to values, such as {{'pairs': 4}}, not {point!r}")
    for name, values in (point or {}).items():
        if isinstance(values, list) and not values:
            raise InputError(f"point: {name!r} has no value to choose; allowed: one or several; all without {name!r}")

    words = [
        f"{name}={value if isinstance(value, str) else json_text(value)}"
        for name, values in (point or {}).items()
        for value in (values if isinstance(values, list) else [values])
    ]
    return load(open_dataset(Path(dataset), words, profile=profile).document())


def load_results(path: str | Path) -> Results:
    """Reads results that `contend run` or `contend sweep` wrote.

    Args:
        path: A results.json, or the folder that has one.

    Raises:
        ContendError: It cannot be read.
    """
    file = Path(path)
    if file.is_dir():
        file /= "results.json"
    return Results.from_json(read_json(file, "results file"))
