"""`contend plot`."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads it when the program runs
from typing import TYPE_CHECKING, Annotated

import typer

from contend.common.errors import InputError

if TYPE_CHECKING:
    from contend.results.results import Results


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(plot)


def plot(
    *,
    results: Annotated[
        list[Path],
        typer.Argument(help="Folders that `contend run` or `contend sweep` wrote, or their results.json."),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="Where the pictures go, of one run. [default: beside results]"),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Draws the pictures of runs again from their results, without a simulation: plot.png and plot.svg.

    The same results give the same pictures as `contend run` and `contend sweep` draw.
    """
    from contend.common.files import output_folder, write_files
    from contend.plots.summary import left_out
    from contend.results.output import result_pictures

    if out is not None and len(results) > 1:
        raise InputError(f"--out {out}: the pictures of several runs have the same names; leave it out, or name one")
    for path, run in [(path, _read(path)) for path in results]:  # all of them, before the first is drawn
        beside = path if path.is_dir() else path.parent
        folder = beside if out is None else out
        pictures = result_pictures(run)
        assert pictures is not None  # noqa: S101 - there are points
        with output_folder(folder):
            written = write_files(folder, pictures.drawn())
        if not quiet:
            for note in left_out(run):
                typer.echo(f"note: {note}")
            for file in written:
                typer.echo(f"wrote {file}")


def _read(path: Path) -> Results:
    """The results that a path means.

    Raises:
        InputError: They are none, or nothing in them can be drawn.
        ContendError: They cannot be read.
    """
    from contend.report.source import other_results, read_results, read_results_file
    from contend.results.measures import main_of
    from contend.results.output import RESULTS

    if path.is_dir() and not (path / RESULTS).exists() and (other := other_results(path)):
        raise InputError(f"{path} has no {RESULTS}: {other}; only runs and sweeps can be drawn again")
    results = read_results(path) if path.is_dir() else read_results_file(path)
    if any(main_of({*point.estimates, *point.scalars}) is None for point in results.points):
        raise InputError(f"{path}: a point has no measure to draw")
    return results
