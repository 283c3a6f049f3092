"""What a report shows, and where it comes from: a results folder, or a scenario that has just run.

Results are read. The explanation and the time line are read too where the folder has them of these results
(explain.json, trace.json); else the point is simulated again, from the resolved scenario that results.json carries.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from contend.common.errors import ContendError, InputError
from contend.common.paths import version
from contend.explanations.speedups import BUDGET_S
from contend.report import source
from contend.report.provenance import agree, explained_point, trace_misfit
from contend.report.texts import label
from contend.report.timeline import Window, choose_window
from contend.results.output import RESULTS
from contend.scenarios.choice import choose_point
from contend.traces.picture import load

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from contend.explanations.explanation import Progress
    from contend.report.source import ExplanationFile
    from contend.results.results import PointResult, Results
    from contend.scenarios.resolution import Point, ResolvedScenario
    from contend.traces.picture import Stretch

# A trace that takes a second or two to read back; some 7000 messages.
_TRACE_MB = 40.0


# A title and the sum of all amounts, to something that shows how far it is.
Watch: TypeAlias = "Callable[[str, float], AbstractContextManager[Progress]]"


@dataclass(frozen=True)
class Wishes:
    """What a report should have.

    `at` chooses the point that is explained and drawn over time, by parameters of the sweep; the last one that fits.
    `simulate` allows simulating; without it only what a folder holds is shown. `speedups` asks for the effect of every
    cost, which may take about `budget_s`. `window` is in simulated us.
    """

    at: Sequence[tuple[str, str]] = ()
    simulate: bool = True
    speedups: bool = True
    budget_s: float = BUDGET_S
    window: Window = field(default_factory=Window)
    jobs: int = 1


@dataclass(frozen=True)
class Content:
    """Everything that the page shows."""

    results: Results
    chosen: PointResult
    """The point that is explained and drawn over time."""
    origins: dict[str, str]
    """By JSON pointer into the scenario, where a value came from; empty when only results are known."""
    explanation: ExplanationFile | None
    stretch: Stretch | None
    remarks: list[str]
    """What a reader must know about how the report was made."""
    interrupted: bool = False
    """Whether Ctrl-C ended the virtual speed-ups early."""


def read_folder(folder: Path, wishes: Wishes, watch: Watch) -> Content:
    """The content of a results folder.

    Args:
        folder: What `contend run` wrote.
        wishes: What the report should have.
        watch: Shows how far the simulations are.

    Raises:
        InputError: Its files are not what contend writes, or no point is at the place asked for.
        ContendError: They cannot be read.
        InterruptedRunError: Ctrl-C.
    """
    results = source.read_results(folder)
    chosen = results.points[choose_point(results.points, wishes.at)]
    remarks = []
    if results.interrupted:
        remarks.append(
            "The run was interrupted: points have fewer replications than the scenario asks for, or are missing."
        )
    explanation, of_explanation = _read_explanation(folder, results, chosen)
    stretch, of_trace = _read_trace(folder, results, chosen, wishes.window)
    remarks += of_explanation + of_trace
    interrupted = False
    if wishes.simulate and (explanation is None or stretch is None):
        try:
            with tempfile.TemporaryDirectory(prefix="contend-") as temporary:
                resolved = _resolve_again(results, Path(temporary))
        except ContendError as error:
            reason = str(error).splitlines()[0].partition("scenario.json:1: ")[2] or str(error)
            remarks.append(f"The scenario in {RESULTS} cannot be simulated by contend {version()}: {reason}")
        else:
            made = _simulate(resolved, chosen, wishes, watch, explain=explanation is None, trace=stretch is None)
            explanation = explanation or made.explanation
            stretch = stretch or made.stretch
            remarks += made.remarks
            interrupted = made.interrupted
    return Content(results, chosen, {}, explanation, stretch, remarks, interrupted)


def _read_explanation(folder: Path, results: Results, chosen: PointResult) -> tuple[ExplanationFile | None, list[str]]:
    """The explanation of a point of these results, if the folder has one, and what a reader must know about it."""
    explanation = source.read_explanation(folder)
    if explanation is None:
        return None, []
    point, misfit = explained_point(results, explanation)
    if point is None:
        return None, [misfit]
    remarks = [] if point is chosen else [f"{source.EXPLANATION} of the folder explains {label(point.parameters)}."]
    remarks += [*explanation.remarks, *_disagreement(point, explanation, f"{source.EXPLANATION} of the folder says")]
    # The scenario explained may have been one point of the sweep.
    return explanation.model_copy(update={"parameters": point.parameters}), remarks


def _read_trace(
    folder: Path, results: Results, chosen: PointResult, window: Window
) -> tuple[Stretch | None, list[str]]:
    """A stretch of the trace of the chosen point, if the folder has one; else why that is of something else."""
    path = folder / source.TRACE
    if not path.is_file():
        return None, []
    document = load(path)
    if misfit := trace_misfit(results, chosen, document.get("otherData", {})):
        return None, [misfit]
    return choose_window(document, window), []


def of_scenario(resolved: ResolvedScenario, results: Results, wishes: Wishes, watch: Watch) -> Content:
    """The content of a scenario that has just run.

    Args:
        resolved: The scenario.
        results: What came out.
        wishes: What the report should have.
        watch: Shows how far the simulations are.

    Raises:
        InputError: No point is at the place asked for.
        SimulationFailedError: A simulation ended with an error.
        InterruptedRunError: Ctrl-C.
    """
    chosen = results.points[choose_point(results.points, wishes.at)]
    made = _simulate(resolved, chosen, wishes, watch, explain=True, trace=True)
    return Content(results, chosen, resolved.origins, made.explanation, made.stretch, made.remarks, made.interrupted)


@dataclass
class _Made:
    explanation: ExplanationFile | None = None
    stretch: Stretch | None = None
    remarks: list[str] = field(default_factory=list)
    interrupted: bool = False


def _resolve_again(results: Results, folder: Path) -> ResolvedScenario:
    """The scenario of a results.json: every value is in it, so it needs no other file."""
    from contend.scenarios.resolution import resolve_scenario

    path = folder / "scenario.json"
    path.write_text(json.dumps(results.scenario), encoding="utf-8")
    return resolve_scenario(path)


def _simulate(
    resolved: ResolvedScenario,
    chosen: PointResult,
    wishes: Wishes,
    watch: Watch,
    *,
    explain: bool,
    trace: bool,
) -> _Made:
    made = _Made()
    # Measured points of the same scenario are told apart by more than is swept.
    point = next((point for point in resolved.points if point.parameters.items() <= chosen.parameters.items()), None)
    if point is None:
        raise InputError(f"its sweep has no point {label(chosen.parameters)}")
    if explain:
        from contend.engine.runner import total_weight
        from contend.explanations.explanation import explain as explain_point

        try:
            with watch(f"explaining {resolved.name}", total_weight([point])) as progress:
                explanation = explain_point(
                    resolved, point, jobs=wishes.jobs, speedups=wishes.speedups, budget_s=wishes.budget_s,
                    progress=progress,
                )  # fmt: skip
        except InputError as error:
            made.remarks.append(f"Nothing is explained: {error}.")
        else:
            made.explanation = source.parse_explanation(explanation.json_bytes())
            again = f"Simulated again by contend {version()}, the explained point has"
            made.remarks += [*explanation.remarks, *_disagreement(chosen, made.explanation, again)]
            made.interrupted = explanation.interrupted
    if trace:
        made.stretch = _trace(point, wishes.window)
    return made


def _disagreement(point: PointResult, explanation: ExplanationFile, who_says: str) -> list[str]:
    """A remark if the explanation of a point does not give the rate of results.json."""
    measure, rate = explanation.explained or "", explanation.rate
    ours = point.mean_of(measure)
    comparable = measure in point.estimates or (rate is not None and rate.replications == point.replications)
    if ours is None or rate is None or not comparable or agree(point, measure, rate):
        return []
    differ = f"{who_says} a rate of {rate.mean:.6g}, while {RESULTS} says {ours:.6g}"
    return [f"{differ}: it is from another version, or was edited."]


def _trace(point: Point, window: Window) -> Stretch:
    from contend.traces.tracing import write_trace

    with tempfile.TemporaryDirectory(prefix="contend-") as temporary:
        path = Path(temporary) / "trace.json"
        write_trace(point, path, limit_mb=_TRACE_MB)
        return choose_window(load(path), window)
