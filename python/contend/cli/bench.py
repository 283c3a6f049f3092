"""`contend bench`."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads it when the program runs
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(bench)


def bench(
    *,
    json_: Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write the figures to FILE.")] = None,
    repetitions: Annotated[int, typer.Option(min=1, metavar="N", help="Runs of each workload on each engine.")] = 5,
    programs: Annotated[
        Path | None, typer.Option("--bin", metavar="DIR", help="The benchmark programs. [default: built first]")
    ] = None,
) -> None:
    """Measures how fast the engine is, beside other engines."""
    from contend.common.paths import require_repository

    require_repository("bench")
    from contend.common.file_kinds import BENCHMARK_FIGURES, refuse_other_kind
    from contend.common.files import output_file
    from contend.upkeep.bench import run

    if json_ is not None:
        refuse_other_kind(f"--json {json_}", json_, BENCHMARK_FIGURES)
    with output_file(json_):
        code = run(json_, repetitions=repetitions, folder=programs)
    raise typer.Exit(code)
