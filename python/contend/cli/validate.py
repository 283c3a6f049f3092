"""`contend validate`."""

from __future__ import annotations

import json
from pathlib import Path  # noqa: TC003 - typer reads it when the program runs
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from contend.cli.options import RunsAtOnce
from contend.common.documents import json_bytes
from contend.common.errors import ContendError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contend.engine.runner import Engine
    from contend.studies.locks import SetResult

DATA_COMMAND = "data"


class _ProfileFirst(TyperGroup):
    """`contend validate PROFILE DATASETS` is short for `contend validate data PROFILE DATASETS`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - any JSON value
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            args = [DATA_COMMAND, *args]
        return super().parse_args(ctx, args)


validate_app = typer.Typer(
    cls=_ProfileFirst,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Checks predictions: `validate PROFILE DATASETS...` against measurements "
    "(options: `validate data --help`), `validate claims` against a study.",
)


def register(app: typer.Typer) -> None:
    """Adds the command."""
    from contend.cli import accuracy, claims

    accuracy.register(validate_app, DATA_COMMAND)
    claims.register(validate_app)
    app.add_typer(validate_app, name="validate")


@validate_app.callback()
def _validate() -> None:
    """Checks predictions: `validate PROFILE DATASETS...` against measurements, `validate claims` against a study.

    Options of the first are shown by `validate data --help`.
    """


@validate_app.command("locks")
def locks(
    *,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="TEXT", help="Only published sets whose name has this; repeatable."),
    ] = None,
    fit: Annotated[
        bool, typer.Option("--fit", help="First fit the machines' prices to the points with the fewest threads.")
    ] = False,
    evaluations: Annotated[int, typer.Option(min=10, help="Most evaluations of a fit.")] = 900,
    strict: Annotated[bool, typer.Option("--strict", help="End with status 1 if a set misses its targets.")] = False,
    jobs: RunsAtOnce = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="DIR", help="Where the files go. [default: validation/locks]")
    ] = None,
    plots: Annotated[
        Path | None, typer.Option("--plots", metavar="DIR", help="Where a picture of each set goes. [default: none]")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print no tables.")] = False,
) -> None:
    """Compares simulated lock costs with published measurements, set by set.

    Writes results.json and results.md; with --only, only where --out says. --fit writes the fitted prices into the
    machine profiles and the producers' own work into sets.json.
    """
    from contend.common.files import output_folder, write_files
    from contend.common.paths import require_repository
    from contend.common.terminal import ProgressReport
    from contend.engine.runner import default_jobs, make_engine, total_weight
    from contend.studies.locks import as_markdown, load_sets, measured_points, predict

    root = require_repository("validate")
    folder = root / "validation" / "locks"
    target = out if out is not None else (None if only else folder)
    engine = make_engine("contend")
    count = jobs or default_jobs()
    with output_folder(target), output_folder(plots):
        if fit:
            _fit_sets(root, only or [], engine, jobs=count, evaluations=evaluations, quiet=quiet)
        sets = [(lock_set, measured_points(lock_set)) for lock_set in load_sets(root, only or [])]
        total = total_weight([entry.point for _, points in sets for entry in points])
        results = []
        with ProgressReport("locks", total, quiet=quiet) as report:
            for lock_set, points in sets:
                report.say(lock_set.name)
                results.append(predict(lock_set, points, engine, count, progress=report.advance))
        table = as_markdown(results)
        if target is not None:
            paths = write_files(
                target,
                {"results.json": json_bytes([result.to_json() for result in results]), "results.md": table.encode()},
            )
            if not quiet:
                print("\n".join(f"wrote {path}" for path in paths))
        if not quiet:
            print(table if only else table.split("\n## ")[0])
        if plots is not None:
            _draw_sets(results, plots, quiet=quiet)
    misses = [result.set.name for result in results if result.holds() is False]
    if strict and misses:
        raise ContendError(f"{len(misses)} sets miss their targets: {', '.join(misses)}")


def _fit_sets(root: Path, only: Sequence[str], engine: Engine, *, jobs: int, evaluations: int, quiet: bool) -> None:
    """Writes fitted prices into the machine profiles, and what a set fits of its own workload into sets.json."""
    from contend.common.files import write_file
    from contend.common.reading import read_json
    from contend.common.terminal import ProgressReport
    from contend.studies.lock_fit import fit, how_identified, write_to_profile
    from contend.studies.locks import load_sets

    file = root / "validation" / "locks" / "sets.json"
    study = read_json(file, "study")
    for lock_set in load_sets(root, only):
        if not lock_set.entry["fit"] and not lock_set.entry.get("fit_workload"):
            continue
        profile = root / "calibration" / "profiles" / f"{lock_set.entry['profile']}.json"
        with ProgressReport(f"fit to {lock_set.name}", evaluations, quiet=quiet) as report:
            found = fit(lock_set, profile, engine, jobs=jobs, evaluations=evaluations, progress=report.advance)
        write_to_profile(profile, found.values, how_identified(lock_set))
        own = {path: text for path, text in found.values.items() if path.startswith("workload.")}
        for entry in study["sets"]:
            if entry["set"] == lock_set.name and own:
                entry["overrides"] = own
        if not quiet:
            print(f"{lock_set.name}: {found.points} points, cost {found.cost_before:.4f} -> {found.cost_after:.4f}")
            print("".join(f"    {path} = {text}\n" for path, text in found.values.items()), end="")
    write_file(file, (json.dumps(study, indent=1, ensure_ascii=False) + "\n").encode())


def _draw_sets(results: Sequence[SetResult], folder: Path, *, quiet: bool) -> None:
    from contend.plots.acquisitions import draw_lock_set

    drawn = [draw_lock_set(result).save(folder / f"{result.set.name}.png") for result in results if result.rows]
    if not quiet:
        print("\n".join(f"wrote {path}" for path in drawn))
