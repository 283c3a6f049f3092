"""`contend trace-plot`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from contend.errors import InputError


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("trace-plot")(trace_plot)


def trace_plot(
    *,
    trace: Annotated[Path, typer.Argument(metavar="FILE", help="What `contend run --trace FILE` wrote.")],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="PICTURE", help="Where the picture goes: a .png or .svg file.")
    ] = Path("trace.png"),
    begin: Annotated[
        float | None,
        typer.Option(
            "--from",
            metavar="US",
            min=0.0,
            help="Begin of the stretch shown. [default: where threads wait most for locks; 0 with --to]",
        ),
    ] = None,
    end: Annotated[
        float | None,
        typer.Option(
            "--to",
            metavar="US",
            help="Its end; the end of the trace where that is before. [default: 100 us after the begin]",
        ),
    ] = None,
) -> None:
    """Draws a stretch of a trace: what each thread does, who holds each lock, messages and queue lengths."""
    from contend.files import write_file
    from contend.timelines import busiest_begin
    from contend.trace_plot import LENGTH_US, load, picture, stretch

    kind = out.suffix.lower().removeprefix(".")
    if kind not in ("png", "svg"):
        raise InputError(f"--out {out}: the picture is a .png or a .svg file")
    if end is not None and end <= (begin or 0.0):
        raise InputError(f"--to {end:.15g} is not after --from {begin or 0.0:.15g}")
    document = load(trace)
    if begin is None:
        begin = 0.0 if end is not None else busiest_begin(document, LENGTH_US)
    write_file(out, picture(stretch(document, begin, end), kind))
    typer.echo(f"wrote {out}")
