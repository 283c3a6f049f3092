"""What commands print, on a terminal and into a pipe."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Self

from rich.console import Console

if TYPE_CHECKING:
    from types import TracebackType

    from rich.progress import Progress, TaskID

_PIPED_WIDTH = 200
_LINE_EVERY_S = 5.0
_BAR_EVERY_S = 0.1
_WIDTH_WITH_ELAPSED = 60  # characters: in less the bar itself is cut


def stdout_console() -> Console:
    """The console for results. In a pipe it is wide and without colours, so that nothing is cut.

    Names are printed as they are: "base [mcs]" is no markup.
    """
    if sys.stdout.isatty():
        return Console(markup=False, emoji=False)
    columns = os.environ.get("COLUMNS", "")
    width = int(columns) if columns.isdecimal() and int(columns) > 0 else _PIPED_WIDTH
    return Console(width=width, markup=False, emoji=False)


class ProgressReport:
    """How far a run is, on stderr: a bar on a terminal, else a line every few seconds."""

    def __init__(self, title: str, total: float, *, quiet: bool) -> None:
        """Prepares a report.

        Args:
            title: What runs.
            total: Sum of the amounts that advance() will get.
            quiet: Print nothing.
        """
        self._title = title
        self._total = total
        self._quiet = quiet
        self._done = 0.0
        self._started = time.monotonic()
        self._last_line = self._started  # the last update of the bar, too
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._part = ""

    def __enter__(self) -> Self:
        if not self._quiet and sys.stderr.isatty():
            from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
            from rich.progress import TimeRemainingColumn as Remaining

            console = Console(stderr=True)
            columns = [TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn()]
            if console.width >= _WIDTH_WITH_ELAPSED:
                columns.append(TimeElapsedColumn())
            columns += [TextColumn("left:"), Remaining()]
            self._bar = Progress(*columns, console=console, transient=True)
            self._bar.start()
            self._task = self._bar.add_task(self._title, total=self._total)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def say(self, part: str) -> None:
        """Names what runs now, as a part of the whole."""
        self._part = f" ({part})"
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, description=self._title + self._part)

    def extend(self, amount: float) -> None:
        """Says that there is more to do than was thought, or less."""
        self._total = max(self._total + amount, self._done)
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, total=self._total)

    def advance(self, amount: float) -> None:
        """Says that more is done."""
        self._done += amount
        now = time.monotonic()
        if self._bar is not None and self._task is not None:
            if now - self._last_line >= _BAR_EVERY_S or self._done >= self._total:
                self._last_line = now
                self._bar.update(self._task, completed=self._done)
            return
        if self._quiet or now - self._last_line < _LINE_EVERY_S:
            return
        self._last_line = now
        share = min(1.0, self._done / (self._total or 1.0))
        elapsed = now - self._started
        left = elapsed / share - elapsed
        print(
            f"contend: {self._title}{self._part}: {share:.0%} done, {elapsed:.0f} s, about {left:.0f} s left",
            file=sys.stderr,
        )


def progress_report(title: str, total: float, *, wanted: bool | None) -> ProgressReport:
    """A report for the functions of the package: as asked for, else on a terminal only."""
    return ProgressReport(title, total, quiet=not (sys.stderr.isatty() if wanted is None else wanted))
