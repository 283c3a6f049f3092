"""`contend run FOLDER`: all scenarios of a folder."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from contend.cli.simulated import simulate_into
from contend.common.amounts import bare
from contend.common.errors import ContendError, InputError, InterruptedRunError
from contend.common.files import make_writable_directory, write_file
from contend.common.terminal import ProgressReport, stdout_console
from contend.engine.runner import total_weight
from contend.results.measures import main_measure
from contend.results.output import default_directory
from contend.scenarios.resolution import scenarios_in

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from contend.cli.simulated import Opened, Written
    from contend.common.jsontypes import JsonObject
    from contend.engine.runner import Engine
    from contend.results.measures import Measure
    from contend.results.results import Results

SUMMARY = "summary.json"


@dataclass
class _Entry:
    """One scenario of the folder and what became of it."""

    label: str
    opened: Opened | None = None
    results: Results | None = None
    written: Written | None = None
    wall_s: float = 0.0
    directory: Path | None = None
    error: str | None = None
    interrupted: bool = False

    @property
    def status(self) -> str:
        if self.error is not None:
            return "failed"
        if self.interrupted:
            return "interrupted"
        return "done" if self.results is not None else "not run"

    def range_of_main(self) -> tuple[Measure, float, float] | None:
        """What the scenario is about, with the lowest and the highest mean of its points."""
        if self.results is None or not self.results.points:
            return None
        measure = main_measure(self.results)
        means = [value for point in self.results.points if (value := point.mean_of(measure.name)) is not None]
        return (measure, min(means), max(means)) if means else None

    def to_json(self) -> JsonObject:
        entry: JsonObject = {"scenario": self.label, "status": self.status, "wall_s": round(self.wall_s, 3)}
        if self.results is not None:
            entry["points"] = len(self.results.points)
            entry["runs"] = sum(point.replications for point in self.results.points)
        if (found := self.range_of_main()) is not None:
            measure, lowest, highest = found
            entry["measure"] = {
                "name": measure.name, "lowest": lowest, "highest": highest, "unit": measure.short_unit,
            }  # fmt: skip
        if self.directory is not None:
            entry["directory"] = str(self.directory)
        if self.error is not None:
            entry["error"] = self.error
        return entry


def run_folder(
    folder: Path,
    open_file: Callable[[Path], Opened],
    engine: Engine,
    jobs: int,
    out: Path | None,
    *,
    quiet: bool,
    as_json: bool,
) -> None:
    """Simulates all scenarios of a folder, each into a folder of its own, and sums up.

    Args:
        folder: Where the scenarios are; its subfolders count.
        open_file: Resolves one of them.
        engine: What simulates.
        jobs: How many simulations run at once.
        out: Where the output folders go; out/NAME of the folder if not given.
        quiet: Print nothing but errors.
        as_json: Print the summary as JSON.

    Raises:
        InputError: What was asked for suits none of them, and for the same reason; nothing was written.
        ContendError: At least one scenario failed; the others were run.
        InterruptedRunError: Ctrl-C; what had finished was written.
    """
    files = scenarios_in(folder)
    target = out if out is not None else default_directory(folder.resolve().name)
    entries = [_resolve(path, folder, open_file) for path in files]
    _refuse_what_suits_none(entries, folder)
    make_writable_directory(target)
    total = sum(total_weight(entry.opened.resolved.points) for entry in entries if entry.opened is not None)
    started = time.monotonic()
    with ProgressReport(str(folder), total, quiet=quiet or as_json) as report:
        for entry in entries:
            if entry.opened is not None:
                report.say(entry.label)
                _run(entry, engine, jobs, target, report)
            if entry.interrupted:
                break
    if not quiet:
        for entry in entries:
            if entry.written is not None:
                entry.written.tell_replaced(out)
    summary = {"scenarios": [entry.to_json() for entry in entries], "wall_s": round(time.monotonic() - started, 3)}
    text = json.dumps(summary, indent=2, ensure_ascii=False) + "\n"
    write_file(target / SUMMARY, text.encode(errors="backslashreplace"))
    if as_json:
        print(text, end="")
    elif not quiet:
        _print(entries, target)
    _raise_if_not_done(entries)


def _resolve(path: Path, folder: Path, open_file: Callable[[Path], Opened]) -> _Entry:
    entry = _Entry(path.relative_to(folder).with_suffix("").as_posix())
    try:
        entry.opened = open_file(path)
    except ContendError as error:
        entry.error = str(error)
    return entry


def _refuse_what_suits_none(entries: list[_Entry], folder: Path) -> None:
    """A misspelt option is one error, not one for each scenario."""
    errors = {entry.error for entry in entries}
    if len(entries) > 1 and len(errors) == 1 and None not in errors:
        raise InputError(f"{errors.pop()} (the same for all {len(entries)} scenarios in {folder})")


def _run(entry: _Entry, engine: Engine, jobs: int, target: Path, report: ProgressReport) -> None:
    assert entry.opened is not None  # noqa: S101 - the caller looked
    begin = time.monotonic()
    planned = total_weight(entry.opened.resolved.points)
    done = 0.0

    def advance(amount: float) -> None:
        nonlocal done
        done += amount
        report.advance(amount)

    directory = target / entry.label
    try:
        written = entry.written = simulate_into(entry.opened, engine, jobs, directory, advance)
    except ContendError as error:
        entry.error = str(error)
        report.advance(planned - done)  # what it did not do is not left to do
    else:
        entry.results = written.results
        entry.interrupted = written.outcome.interrupted or written.saved.was_interrupted
        if written.saved.shortfall is not None and not entry.interrupted:
            entry.error = str(written.saved.shortfall)
        entry.directory = written.paths[0].parent if written.paths else None
    entry.wall_s = time.monotonic() - begin


def _print(entries: list[_Entry], target: Path) -> None:
    from rich.text import Text

    from contend.results.tables import titled_table

    table = titled_table("scenarios")
    table.add_column("scenario")
    for title in ("points", "runs", "lowest", "highest"):
        table.add_column(title, justify="right")
    table.add_column("")
    table.add_column("wall", justify="right")
    table.add_column("", overflow="fold")
    for entry in entries:
        document = entry.to_json()
        found = entry.range_of_main()
        table.add_row(
            Text(entry.label),
            str(document.get("points", "-")),
            str(document.get("runs", "-")),
            *(("-", "-", "") if found is None else _range_cells(*found)),
            f"{entry.wall_s:.1f} s",
            Text(entry.status if entry.error is None else f"failed: {entry.error}"),
        )
    console = stdout_console()
    console.print(table)
    console.print(f"wrote {target}/SCENARIO/ and {target / SUMMARY}", highlight=False, soft_wrap=True)


def _range_cells(measure: Measure, low: float, high: float) -> tuple[str, str, str]:
    return bare(low, measure.unit), bare(high, measure.unit), "" if measure.is_time else measure.short_unit


def _raise_if_not_done(entries: list[_Entry]) -> None:
    failed = [entry.label for entry in entries if entry.error is not None]
    if any(entry.interrupted for entry in entries):
        done = sum(entry.status == "done" for entry in entries)
        raise InterruptedRunError(f"interrupted; {done} of {len(entries)} scenarios are complete")
    if failed:
        raise ContendError(f"{len(failed)} of {len(entries)} scenarios failed: {', '.join(failed)}")
