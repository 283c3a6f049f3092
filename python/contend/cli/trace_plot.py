"""`contend trace-plot`."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads it when the program runs
from typing import Annotated

import typer

from contend.common.errors import InputError


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("trace-plot")(trace_plot)


def trace_plot(
    *,
    trace: Annotated[Path, typer.Argument(metavar="FILE", help="What `contend run --trace FILE` wrote.")],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="PICTURE",
            help="Where the picture goes: a .png or .svg file. [default: FILE with the ending .png]",
        ),
    ] = None,
    begin: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="TIME",
            help='Begin of the stretch shown, in us or with a unit, e.g. "1.2 ms". [default: where threads wait most '
            "for locks; 0 with --to]",
        ),
    ] = None,
    end: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="TIME",
            help="Its end; the end of the trace where that is before. [default: 100 us after the begin]",
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            "--only",
            metavar="TEXT",
            help='Only rows and queues whose name has this, e.g. "sender", "lock rank 0"; repeatable. [default: all]',
        ),
    ] = None,
) -> None:
    """Draws a stretch of a trace: what each thread does, who holds each lock, messages and queue lengths."""
    from contend.cli.times import stretch_us
    from contend.common.files import output_file, write_file
    from contend.traces.picture import LENGTH_US, load, picture, stretch
    from contend.traces.timelines import busiest_begin

    target = out or trace.with_suffix(".png")
    kind = target.suffix.lower().removeprefix(".")
    if kind not in ("png", "svg"):
        raise InputError(f"--out {target}: the picture is a .png or a .svg file")
    if target.resolve() == trace.resolve():
        raise InputError(f"{trace}: the picture would replace the trace; --out PICTURE")
    begin_us, end_us = stretch_us(begin, end)
    document = load(trace)
    if begin_us is None:
        begin_us = 0.0 if end_us is not None else busiest_begin(document, LENGTH_US)
    with output_file(target):
        write_file(target, picture(stretch(document, begin_us, end_us), kind, only or ()))
    typer.echo(f"wrote {target}")
