"""A scenario simulated into a folder of results, for the commands that do so: its files, and what became of it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from contend.common.files import make_writable_directory, output_folder
from contend.common.interruption import held_back
from contend.engine.runner import check_engine, run_points
from contend.results.earlier import earlier_in
from contend.results.output import (
    INTERRUPTED_FOLDER,
    Saved,
    has_complete_results,
    plot_draws,
    result_numbers,
    result_pictures,
    save,
)
from contend.results.results import collect

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from contend.engine.runner import Engine, Outcome
    from contend.measured.configurations import Configuration
    from contend.results.earlier import Earlier
    from contend.results.results import Results
    from contend.scenarios.resolution import ResolvedScenario


@dataclass(frozen=True)
class Opened:
    """What a run simulates, and the measured configurations that it stands for where it came from a dataset."""

    resolved: ResolvedScenario
    configuration: Configuration | None = None


@dataclass(frozen=True)
class Written:
    """What a simulated scenario came to.

    `saved` says which files were written: none if no replication finished. `earlier` is what the folder had before.
    """

    results: Results
    outcome: Outcome
    saved: Saved
    earlier: Earlier

    @property
    def paths(self) -> list[Path]:
        """The files written."""
        return self.saved.paths

    def tell_replaced(self, out: Path | None, *, option: str = "--out", also: Path | None = None) -> None:
        """Says on stderr where results of other settings were replaced.

        Args:
            out: The folder that the user chose; None if nobody did.
            option: What chooses it.
            also: A file that will be written, too.
        """
        paths = self.paths if also is None else [*self.paths, also]
        document = self.results.to_json()
        other = f"{option} DIR" if out is None else ""
        note = self.earlier.note(document, paths, other=other, what="results of other settings")
        if self.paths and note:
            print(f"contend: {note}", file=sys.stderr)

    def raise_shortfall(self, directory: Path) -> None:
        """Ends a command whose simulations or pictures are not complete.

        Args:
            directory: Where complete results would be.

        Raises:
            InterruptedRunError: Simulations were interrupted, or drawing; says how far the run came.
            ContendError: The pictures could not be drawn or written.
        """
        self.saved.raise_shortfall(self._interruption(directory) if self.outcome.interrupted else "")

    def _interruption(self, directory: Path) -> str:
        """How far a run came that was interrupted, and where that is kept, in words."""
        runs = self.outcome.runs
        complete = sum(len(r.results) == r.point.replications for r in runs)
        partial = sum(0 < len(r.results) < r.point.replications for r in runs)
        kept = f"; {complete} of {len(runs)} points are complete" if self.paths else "; nothing had finished"
        kept += f", {partial} in part" if partial else ""
        if self.paths:
            folder = self.paths[0].parent
            kept += f", kept in {folder}"
            kept += "" if folder == directory else f"; {directory} has complete results of an earlier run"
        return f"interrupted{kept}"


def simulate_into(
    opened: Opened, engine: Engine, jobs: int, directory: Path, advance: Callable[[float], None]
) -> Written:
    """Simulates a scenario and writes its results; leaves no empty folder behind.

    What an interrupted run had finished does not take the place of complete results: it goes into a folder of its own
    beside them. A request to end that comes after the last simulation leaves out the picture, and nothing else.

    Args:
        opened: What to simulate.
        engine: What simulates it.
        jobs: How many simulations run at once.
        directory: Where the results go.
        advance: Called with the weight of each replication that finishes.
    """
    check_engine(engine.name, opened.resolved)
    earlier = earlier_in(directory)
    with output_folder(directory):
        outcome = run_points(opened.resolved.points, engine, jobs=jobs, progress=advance)
        with held_back(unless=outcome.interrupted) as held:
            results = collect(opened.resolved, outcome, engine.name)
            if opened.configuration is not None:
                results = opened.configuration.beside(results, opened.resolved)
            if not results.points:
                return Written(results, outcome, Saved([]), earlier)
            if outcome.interrupted and has_complete_results(directory):
                directory /= INTERRUPTED_FOLDER
                make_writable_directory(directory)
            saved = save(
                directory, result_numbers(results), result_pictures(results), held, again=plot_draws(directory)
            )
            return Written(results, outcome, saved, earlier)
