"""Checks that a scenario gives the same bytes every time, however many run at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from contend.common.errors import InterruptedRunError
from contend.engine.runner import run_points
from contend.results.results import Results, collect

if TYPE_CHECKING:
    from collections.abc import Callable

    from contend.engine.runner import Engine
    from contend.scenarios.resolution import ResolvedScenario


@dataclass(frozen=True)
class DeterminismReport:
    """The runs: with how many jobs, and the hash of their results and events."""

    runs: tuple[tuple[int, str], ...]
    results: Results

    @property
    def agrees(self) -> bool:
        """Whether all runs gave the same."""
        return len({digest for _, digest in self.runs}) == 1


def job_counts(jobs: int) -> tuple[int, int, int]:
    """Two runs as asked for, one with another number of jobs."""
    return jobs, jobs, 1 if jobs > 1 else 4


def check(
    scenario: ResolvedScenario, engine: Engine, *, jobs: int, progress: Callable[[float], None] | None = None
) -> DeterminismReport:
    """Runs a scenario three times and compares.

    Raises:
        InterruptedRunError: The user stopped it.
    """
    runs: list[tuple[int, str]] = []
    last: Results | None = None
    for count in job_counts(jobs):
        outcome = run_points(scenario.points, engine, jobs=count, trace_hash=True, progress=progress)
        if outcome.interrupted:
            raise InterruptedRunError("interrupted: the check is not complete")
        last = collect(scenario, outcome, engine.name)
        runs.append((count, last.canonical_hash()))
    assert last is not None  # noqa: S101 - job_counts is never empty
    return DeterminismReport(tuple(runs), last)
