"""`contend lines`."""

from __future__ import annotations

import json
import sys
from pathlib import Path  # noqa: TC003 - typer reads it when the program runs
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from contend.measure.lines import Counted

_SIDES = ("receive", "send")
_CAPTION = (
    "a call; completing: a request. A thread waits for each load; stores go side by side. What every call touches are "
    "locks, queues and free lists"
)


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(lines)


def lines(
    library: Annotated[str, typer.Argument(metavar="KEY", help="The library: see contend measure --list.")],
    *,
    transport: Annotated[str, typer.Option(metavar="NAME", help="Its transport, on this host.")] = "shm",
    side: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="receive or send; repeatable. [default: both]")
    ] = None,
    requests: Annotated[int, typer.Option(min=1, max=1024, help="Requests of a round.")] = 128,
    rounds: Annotated[int, typer.Option(min=5, max=1000, help="Rounds, of which the first four do not count.")] = 8,
    threads: Annotated[int, typer.Option(min=2, max=63, help="Imagined threads that post and wait in turn.")] = 4,
    json_: Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write the counts there.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Do not say what is going on.")] = False,
) -> None:
    """Counts the cache lines that requests drag from thread to thread in a real MPI library.

    Runs a program of one thread under valgrind, which lists its memory accesses, and gives its calls to several
    imagined threads. A mapping has the counts in library.lines. Takes a few minutes.
    """
    from contend.common.errors import InputError
    from contend.common.file_kinds import LINE_COUNTS, refuse_other_kind
    from contend.common.files import output_file, refuse_replacing, write_file
    from contend.common.nearest import proposal
    from contend.measure.lines import Rounds, count_lines

    for name in side or ():
        if name not in _SIDES:
            hint = proposal(name, _SIDES)
            raise InputError(f"--side {name}: allowed: {', '.join(_SIDES)}{hint}")
    if json_ is not None:
        refuse_replacing(f"--json {json_}", [json_], [])
        refuse_other_kind(f"--json {json_}", json_, LINE_COUNTS)
    found = []
    with output_file(json_):
        for name in dict.fromkeys(side or _SIDES):
            say = (lambda _: None) if quiet else (lambda text: print(f"contend: {text}", file=sys.stderr, flush=True))
            found.append(count_lines(library, transport, Rounds(name, requests, rounds, threads), say))
            _show(found[-1])
        if json_ is not None:
            write_file(json_, (json.dumps([one.to_json() for one in found], indent=2) + "\n").encode())
            print(f"wrote {json_}")


def _show(counted: Counted) -> None:
    from contend.common.terminal import stdout_console
    from contend.results.tables import titled_table

    library = " ".join(str(counted.library.get(key, "")) for key in ("name", "version"))
    title = f"{library} over {counted.transport}, {counted.rounds.side} side: lines that move between threads"
    table = titled_table(title, _CAPTION + (f"; {counted.note}" if counted.note else ""))
    table.add_column("phase")
    for column in (
        "loads: every call's",
        "loads: the request's",
        "stores: not had",
        "stores: shared",
        "stored each time",
    ):
        table.add_column(column, justify="right")
    for phase, moved in counted.phases.items():
        table.add_row(
            str(phase), str(len(moved.every)), f"{moved.own:.2f}", f"{moved.fetched:.2f}", f"{moved.taken:.2f}",
            str(len(moved.written)),
        )  # fmt: skip
    stdout_console().print(table)
