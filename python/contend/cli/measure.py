"""`contend measure`."""

from __future__ import annotations

import functools
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Self

import typer

from contend.cli.options import Quiet
from contend.common.errors import ContendError, InputError, InterruptedRunError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType

    from rich.progress import Progress, TaskID

    from contend.common.jsontypes import JsonObject
    from contend.measure.campaign import Campaign
    from contend.measure.plan import Cell
    from contend.measure.session import Ending
    from contend.measure.workshop import NativeWorkshop

_LINE_EVERY_S = 5.0
_AGREEING = 0.10


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(measure)


def measure(
    *,
    preset: Annotated[
        str, typer.Option("--preset", "-p", metavar="NAME", help="quick, standard, latency, ..., or a file NAME.json.")
    ] = "quick",
    list_: Annotated[
        bool, typer.Option("--list", help="Only say what can be measured here, and why the rest cannot.")
    ] = False,
    probe: Annotated[
        bool, typer.Option("--probe", help="With --list: install every library and try every transport.")
    ] = False,
    plan: Annotated[bool, typer.Option("--plan", help="Only show what would be launched.")] = False,
    setup_only: Annotated[
        bool, typer.Option("--setup-only", help="Only install the libraries and build the programs that are needed.")
    ] = False,
    schema: Annotated[bool, typer.Option("--schema", help="Only print the JSON Schema of campaign files.")] = False,
    library: Annotated[
        list[str] | None, typer.Option("--library", metavar="KEY", help="Only this library; repeatable.")
    ] = None,
    transport: Annotated[
        list[str] | None, typer.Option("--transport", metavar="NAME", help="Only this transport; repeatable.")
    ] = None,
    hosts: Annotated[
        str | None,
        typer.Option(metavar="A,B", help="Two hosts for the transport fabric. [default: of the SLURM allocation]"),
    ] = None,
    budget: Annotated[
        float | None, typer.Option(metavar="MINUTES", min=0.1, max=16_000, help="Override the campaign's budget.")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, max=2**63 - 1, help="Seed of the random order.")] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="DIR", help="Where results go. [default: out/measure/NAME]")
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Start over; else a campaign found there goes on.")] = False,
    compare: Annotated[
        Path | None,
        typer.Option("--compare", metavar="DIR", help="Only compare the medians in --out with those in DIR."),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Measures this machine: real MPI libraries with real threads, locks, and the prices of the hardware.

    Installs pinned MPI libraries into the user's cache folder, builds the benchmark programs, and launches them in
    random order. Writes one dataset for each library, transport and experiment. Killed or interrupted, it goes on
    where it was.
    """
    from contend.measure.campaign import load_campaign
    from contend.measure.plan import expand

    started = time.monotonic()
    if list_:
        _list(library, try_all=probe, quiet=quiet)
        return
    if probe:
        raise InputError("--probe goes with --list")
    if schema:
        import json

        from contend.measure.campaign import schema as campaign_schema

        print(json.dumps(campaign_schema(), indent=2))
        return
    campaign = load_campaign(preset)
    changes = {"budget_s": budget * 60 if budget is not None else None, "seed": seed}
    campaign = campaign.model_copy(update={name: value for name, value in changes.items() if value is not None})
    cells = expand(campaign, set(library) if library else None, set(transport) if transport else None)
    if compare is not None:
        _compare(out if out is not None else Path("out") / "measure" / campaign.name, compare)
        return
    if plan:
        _show_plan(campaign, cells)
        return
    from contend.measure.hosts import allocated_hosts, parse_hosts
    from contend.measure.workshop import NativeWorkshop

    two_hosts = parse_hosts(hosts) if hosts else allocated_hosts()
    if setup_only:
        NativeWorkshop(cells, _say(quiet), two_hosts)
        return
    directory = out if out is not None else Path("out") / "measure" / campaign.name
    make_workshop = functools.partial(NativeWorkshop, cells, _say(quiet), two_hosts)
    _measure(campaign, cells, directory, started, make_workshop, fresh=fresh, quiet=quiet)


def _say(quiet: bool) -> Callable[[str], None]:  # noqa: FBT001
    def say(text: str) -> None:
        if not quiet:
            print(f"contend: {text}", file=sys.stderr, flush=True)

    return say


def _measure(
    campaign: Campaign,
    cells: list[Cell],
    directory: Path,
    started: float,
    make_workshop: Callable[[], NativeWorkshop],
    *,
    fresh: bool,
    quiet: bool,
) -> None:
    from contend.common.files import make_writable_directory
    from contend.measure.building import source_hash
    from contend.measure.journal import Journal
    from contend.measure.machine import fingerprint
    from contend.measure.session import Session, check_header, header

    say = _say(quiet)
    make_writable_directory(directory)
    with Journal(directory / "journal.jsonl") as journal:
        if fresh:
            journal.clear()
        wanted = header(campaign, cells, fingerprint(), source_hash())
        if journal.entries:
            check_header(journal.entries[0], wanted)
            say(f"going on with the campaign in {directory}: {journal.count('launch')} launches are done")
        else:
            journal.append(wanted)
        workshop = make_workshop()
        session = Session(campaign, cells, workshop, journal, started=started)
        try:
            with CampaignProgress(campaign.name, quiet=quiet) as progress:
                ending = session.run(progress)
        except KeyboardInterrupt:
            raise InterruptedRunError(f"interrupted; the same command goes on where it was ({directory})") from None
        _finish(journal.entries, ending, directory, workshop.source_hash, quiet=quiet)
    if not ending.outcomes() and not ending.is_complete:
        raise ContendError("the budget ended before the first launch: what had to be installed and built counts, too; "
                           "the same command goes on from here, or --budget MINUTES gives more")  # fmt: skip
    if not any(course.sampled for course in ending.courses):
        raise ContendError("no launch gave a sample; the journal says why: " + str(directory / "journal.jsonl"))


def _finish(entries: list[JsonObject], ending: Ending, directory: Path, source_hash: str, *, quiet: bool) -> None:
    """Writes datasets and picture, prints the tables."""
    from contend.common.interruption import held_back
    from contend.measure.dataset import dataset_bytes, datasets
    from contend.measure.report import picture_bytes
    from contend.results.output import Pictures, save

    found = datasets(entries, ending.courses, ending.skipped, source_hash)
    contents = {f"{name}.json": dataset_bytes(dataset) for name, dataset in found.items()}
    with held_back() as held:
        pictures = Pictures("plot", lambda: picture_bytes(found))
        saved = save(directory, contents, pictures, held, again="the same command draws them")
    if not quiet:
        _print(found, ending, saved.paths)
    saved.raise_shortfall()


def _print(found: Mapping[str, JsonObject], ending: Ending, paths: Sequence[Path]) -> None:
    """Tables of what was measured, what was not, and where it is."""
    from contend.common.spelling import counted
    from contend.common.terminal import stdout_console
    from contend.measure.report import table

    console = stdout_console()
    for dataset in found.values():
        console.print(table(dataset))
    for reason in dict.fromkeys(ending.skipped.values()):
        count = sum(other == reason for other in ending.skipped.values())
        console.print(f"not measured: {counted(count, 'cell')}: {reason}", highlight=False, soft_wrap=True)
    outcomes = ", ".join(f"{count} {outcome}" for outcome, count in ending.outcomes().items())
    launches = f"{sum(ending.outcomes().values())} launches in {ending.elapsed_s:.0f} s"
    console.print(f"{launches}: {outcomes}" if outcomes else launches, highlight=False)
    if not ending.is_complete:
        console.print("the budget ended before the spread of every point was known; --budget MINUTES goes on from here")
    for path in paths:
        console.print(f"wrote {path}", highlight=False, soft_wrap=True)


def _compare(first: Path, second: Path) -> None:
    from statistics import median

    from contend.common.terminal import stdout_console
    from contend.measure.agreement import Pair, agreement, load_datasets
    from contend.results.tables import titled_table

    pairs = agreement(load_datasets(first), load_datasets(second))
    if not pairs:
        raise InputError(f"{first} and {second} have no point in common")
    groups: dict[str, list[Pair]] = {}
    for pair in pairs:
        groups.setdefault(pair.dataset, []).append(pair)
    table = titled_table(f"medians of {second} over those of {first}")
    for heading in ("dataset", "points", "typical", "largest", "within 10 %", "farthest point"):
        table.add_column(heading, justify="left" if heading in {"dataset", "farthest point"} else "right")
    for name, group in groups.items():
        off = [abs(pair.ratio - 1) for pair in group]
        worst = max(group, key=lambda pair: abs(pair.ratio - 1))
        where = ", ".join(f"{key} {value}" for key, value in worst.parameters.items())
        near = sum(entry <= _AGREEING for entry in off)
        table.add_row(
            name, str(len(group)), f"{median(off):.1%}", f"{worst.ratio - 1:+.1%}", f"{near}/{len(group)}", where
        )
    console = stdout_console()
    console.print(table)
    near = sum(abs(pair.ratio - 1) <= _AGREEING for pair in pairs)
    console.print(f"{near} of {len(pairs)} medians agree within {_AGREEING:.0%}", highlight=False)


def _show_plan(campaign: Campaign, cells: list[Cell]) -> None:
    from contend.common.terminal import stdout_console
    from contend.measure.session import Course
    from contend.results.tables import titled_table

    groups: dict[str, list[Cell]] = {}
    for cell in cells:
        groups.setdefault(cell.dataset, []).append(cell)
    table = titled_table(f"{campaign.name}: {campaign.description}")
    for heading in ("dataset", "cells", "launches", "samples", "about"):
        table.add_column(heading, justify="left" if heading == "dataset" else "right")
    total = 0.0
    for name, group in groups.items():
        launches = sum(cell.effort.launches for cell in group)
        samples = sum(cell.effort.launches * cell.effort.repetitions for cell in group)
        seconds = sum(Course(cell).expected_s() * cell.effort.launches for cell in group)
        total += seconds
        table.add_row(name, str(len(group)), str(launches), str(samples), f"{seconds:.0f} s")
    console = stdout_console()
    console.print(table)
    console.print(f"{len(cells)} cells, at least {total / 60:.0f} min; budget {campaign.budget_s / 60:.0f} min")


def _list(libraries: list[str] | None, *, try_all: bool, quiet: bool) -> None:
    from rich.text import Text

    from contend.common.terminal import stdout_console
    from contend.measure import listing
    from contend.measure.campaign import load_campaign, preset_names
    from contend.results.tables import titled_table

    console = stdout_console()

    def show(title: str, rows: list[listing.Row]) -> None:
        table = titled_table(title)
        for heading in ("", "", ""):
            table.add_column(heading)
        for row in rows:
            table.add_row(
                Text("yes" if row.is_usable else "no", style="green" if row.is_usable else "red"), row.name, row.remark
            )
        table.show_header = False
        console.print(table)

    show("this machine", listing.abilities())
    show("MPI libraries", listing.library_rows())
    for installation in listing.candidates():
        if libraries and installation.key not in libraries:
            continue
        title = f"{installation.key}: transports"
        trial = _trial(installation.key, quiet=quiet) if try_all else None
        show(title, listing.transport_rows(installation, trial))
    presets = titled_table("presets (--preset NAME)")
    for heading in ("name", "budget", "what"):
        presets.add_column(heading)
    for name in preset_names():
        campaign = load_campaign(name)
        presets.add_row(name, f"{campaign.budget_s / 60:.0f} min", campaign.description)
    console.print(presets)
    if not try_all:
        console.print(
            "What the tables say of transports is by construction; --list --probe tries each.", highlight=False
        )


def _trial(key: str, *, quiet: bool) -> Callable[[str], str]:
    """A trial that installs and builds first; if that fails, every transport has that problem."""
    from contend.measure.building import build
    from contend.measure.libraries import obtain
    from contend.measure.listing import try_transport

    say = _say(quiet)
    try:
        installation = obtain(key, say)
        program = build(installation, "contend-multirate", say)
    except ContendError as error:
        problem = str(error).splitlines()[0]
        return lambda _: problem
    return lambda transport: try_transport(installation, program, transport)


class CampaignProgress:
    """How far a campaign is, on stderr: a bar with the time left on a terminal, else a line every few seconds."""

    def __init__(self, title: str, *, quiet: bool) -> None:
        self._title = title
        self._quiet = quiet
        self._last_line = 0.0
        self._bar: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        if not self._quiet and sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

            self._bar = Progress(
                TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn(),
                TextColumn("left: {task.fields[left]}"), TextColumn("[dim]{task.fields[now]}"),
                console=Console(stderr=True), transient=True,
            )  # fmt: skip
            self._bar.start()
            self._task = self._bar.add_task(self._title, total=1.0, left="?", now="")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def show(self, done: int, remaining: int, elapsed_s: float, left_s: float, now: str) -> None:
        """See session.Watcher."""
        share = elapsed_s / (elapsed_s + left_s) if elapsed_s + left_s > 0 else 1.0
        left = f"{int(left_s) // 60}:{int(left_s) % 60:02d}"
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=share, left=left, now=now)
            return
        if self._quiet or (time.monotonic() - self._last_line < _LINE_EVERY_S and remaining):
            return
        self._last_line = time.monotonic()
        text = f"contend: {self._title}: {done} of {done + remaining} launches, {elapsed_s:.0f} s"
        text += f", about {left_s:.0f} s left"
        print(text + (f" ({now})" if now else ""), file=sys.stderr, flush=True)
