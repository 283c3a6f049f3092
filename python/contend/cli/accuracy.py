"""`contend validate PROFILE DATASETS...`, and its commands `comparison`, `pictures` and `accuracy`."""

from __future__ import annotations

import functools
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from contend.cli.options import Mappings, Messages, OverallSeed, Quiet, SimulationsAtOnce
from contend.common.documents import json_bytes
from contend.common.errors import InputError

if TYPE_CHECKING:
    from contend.accuracy.comparisons import Run
    from contend.accuracy.options import ValidationOptions
    from contend.common.jsontypes import JsonObject

RESULT_FILE = "validation.json"
TABLE_FILE = "validation.md"


def register(app: typer.Typer, data_command: str) -> None:
    """Adds the commands to those of `contend validate`."""
    app.command(data_command)(data)
    app.command("comparison")(comparison)
    app.command("pictures")(redraw)
    app.command("accuracy")(accuracy)


def data(
    *,
    profile: Annotated[str, typer.Argument(help="Name or file of a machine profile.")],
    datasets: Annotated[list[Path], typer.Argument(help="Measured datasets: files, or folders of them.")],
    mapping: Mappings = None,
    draws: Annotated[int, typer.Option(min=1, max=1000, help="Draws of the parameters that make an interval.")] = 16,
    messages: Messages = 4000,
    seed: OverallSeed = 1,
    jobs: SimulationsAtOnce = None,
    work: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where finished simulations are kept. [default: out/validation/PROFILE]"),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="DIR", help="Write result, table and pictures there.")
    ] = None,
    json_: Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write the result there.")] = None,
    ratios: Annotated[
        bool, typer.Option("--ratios", help="Score each point relative to the first one of its curve.")
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Predicts measured points and says how wrong that is: by library, transport, design, threads; beside baselines.

    Points that the profile was calibrated on are told apart by the split that it carries. Every prediction has a 95 %
    interval from the profile's posterior (or, without one, from the ranges of its values). Finished simulations are
    kept.
    """
    from contend.accuracy.document import as_markdown, not_predicted
    from contend.accuracy.options import ValidationOptions
    from contend.accuracy.pictures import pictures
    from contend.calibrate.mapping import mapping_files
    from contend.common.file_kinds import RESULT_OF_VALIDATE, refuse_other_kind
    from contend.common.files import output_file, output_folder, refuse_replacing, write_file, write_files
    from contend.common.terminal import stdout_console
    from contend.datasets.reading import dataset_files
    from contend.profiles.catalogs import PROFILES

    read = [("dataset", file) for file in dataset_files(datasets)]
    read += [("mapping", file) for file in mapping_files(mapping or ())]
    read.append(("profile", PROFILES.load(profile)[0]))
    if json_ is not None:
        refuse_replacing(f"--json {json_}", [json_], read)
        refuse_other_kind(f"--json {json_}", json_, RESULT_OF_VALIDATE)
    if out is not None:
        refuse_replacing(f"-o {out}: {RESULT_FILE}", [out / RESULT_FILE], read)
    if not quiet:
        _tell_other_machine(profile, datasets)
    with output_folder(out), output_file(json_):
        name = Path(profile).stem
        folder = work if work is not None else Path("out") / "validation" / name
        options = ValidationOptions(draws, messages, seed, ratios=ratios)
        result = _validate(profile, datasets, mapping or [], folder, options, jobs=jobs, quiet=quiet)
        content = json_bytes(result, indent=1)
        written = []
        if json_ is not None:
            write_file(json_, content)
            written.append(json_)
        if out is not None:
            title = f"Predictions of {name}"
            written += write_files(
                out, {RESULT_FILE: content, TABLE_FILE: as_markdown(result, title).encode(), **pictures(result)}
            )
    if not quiet:
        for table in _tables(result):
            stdout_console().print(table)
        if missing := not_predicted(result):
            print(missing)
        print("\n".join(f"wrote {path}" for path in written))


def _tell_other_machine(profile: str, paths: list[Path]) -> None:
    """Says on stderr where the profile is not known to be of the machine of what it predicts."""
    from contend.calibrate.split import FITTED_KINDS
    from contend.datasets.reading import read_datasets
    from contend.measured.machine import doubt_of_machine

    predicted = [dataset for dataset in read_datasets(paths) if dataset.kind in FITTED_KINDS]
    if said := doubt_of_machine(profile, predicted):
        print(f"contend: {said}", file=sys.stderr)


def _validate(
    profile: str,
    datasets: list[Path],
    mapping: list[Path],
    folder: Path,
    options: ValidationOptions,
    *,
    jobs: int | None,
    quiet: bool,
) -> JsonObject:
    from contend.accuracy.made_from import KEY as MADE_FROM
    from contend.accuracy.made_from import made_from
    from contend.accuracy.predict import predict
    from contend.accuracy.ratios import as_ratios
    from contend.accuracy.scores import result_json
    from contend.calibrate.evaluations import Evaluator
    from contend.calibrate.mapping import load_mappings
    from contend.common.files import output_folder
    from contend.common.terminal import ProgressReport
    from contend.datasets.reading import read_datasets
    from contend.engine.runner import default_jobs, make_engine
    from contend.measure.journal import Journal
    from contend.profiles.catalogs import PROFILES
    from contend.scenarios.resolution import check_profile

    path, document = PROFILES.load(profile)
    check_profile(path, with_messages=True)
    mappings = load_mappings(mapping)
    measured = read_datasets(datasets)
    with (
        output_folder(folder),
        Journal(folder / "journal.jsonl") as journal,
        ProgressReport("validation", 0.0, quiet=quiet) as report,
    ):
        evaluator = Evaluator(make_engine("contend"), journal, jobs=jobs or default_jobs(), progress=report.advance)
        points, unpredicted = predict(
            document,
            measured,
            mappings,
            evaluator,
            messages=options.messages,
            draws=options.draws,
            seed=options.seed,
            announce=report.extend,
        )
    if options.ratios:
        points = as_ratios(points, options.seed)
        if not points:
            raise InputError("--ratios: no curve has a second point that was predicted")
    used = [one for one in mappings if any(one.fits(dataset) for dataset in measured)]
    inputs = made_from(document, used, [one.path for one in measured])
    return result_json(path.stem, points, unpredicted, options.to_json()) | {MADE_FROM: inputs}


def _tables(result: JsonObject) -> list[object]:
    from rich.text import Text

    from contend.accuracy import document
    from contend.results.tables import titled_table

    tables: list[object] = []
    every = document.point_rows(result, held_out_only=False)
    for title, head, rows, note in (
        ("points", document.POINT_HEAD, every, document.interval_note(result)),
        ("held-out points by group", document.GROUP_HEAD, document.group_rows(result), ""),
        ("summary", document.SUMMARY_HEAD, document.summary_rows(result), ""),
    ):
        table = titled_table(title, note or None)
        for name in head:
            table.add_column(name, overflow="fold")
        for row in rows:
            table.add_row(*map(Text, row))
        tables.append(table)
    return tables


def comparison(
    *,
    name: Annotated[str, typer.Argument(help="A folder of validation/ with a comparison.json.")],
    only: Annotated[
        list[str] | None, typer.Option("--only", metavar="RUN", help="Only this run of it; repeatable. [default: all]")
    ] = None,
    keep_fits: Annotated[
        bool, typer.Option("--keep-fits", help="Keep the profiles' fits; leave thread counts out and predict again.")
    ] = False,
    jobs: SimulationsAtOnce = None,
    quiet: Quiet = False,
) -> None:
    """Runs one of the comparisons that the project claims, and writes its result, table and pictures beside it."""
    from contend.accuracy.comparisons import find_comparison, regenerate
    from contend.cli.calibrate import calibrate
    from contend.common.paths import require_repository
    from contend.common.terminal import stdout_console

    root = require_repository("validate comparison")
    chosen = find_comparison(root, name)

    def make_profile(chosen_run: Run, datasets: list[Path], mapping: list[Path], out: Path, work: Path) -> None:
        how = chosen_run.calibrate
        assert how is not None  # noqa: S101 - for the type checker
        threads = None if how.threads is None else ",".join(map(str, how.threads))
        calibrate(
            datasets=datasets, base=how.base, out=out, mapping=mapping, threads=threads, window=how.window,
            exclude=how.exclude, starts=how.starts, messages=how.messages or chosen_run.messages,
            seed=chosen_run.seed, jobs=jobs, work=work, quiet=quiet, posterior=how.posterior, budget=how.budget,
            keep_fits=keep_fits, direct=how.direct,
        )  # fmt: skip

    validate = functools.partial(_validate, jobs=jobs, quiet=quiet)
    results, written = regenerate(root, chosen, validate, make_profile, only or [])
    if not quiet:
        for result in results:
            stdout_console().print(_tables(result)[-1])
        print("\n".join(f"wrote {path}" for path in written))


def redraw(
    *,
    names: Annotated[
        list[str] | None, typer.Argument(help="Folders of validation/ with a comparison.json. [default: all]")
    ] = None,
) -> None:
    """Draws the pictures of comparisons again from the results beside them, without a simulation."""
    from contend.accuracy.comparisons import comparisons, draw_pictures, find_comparison
    from contend.common.paths import require_repository

    root = require_repository("validate pictures")
    chosen = [find_comparison(root, name) for name in names] if names else comparisons(root)
    for one in chosen:
        for path in draw_pictures(one):
            print(f"wrote {path}")


def accuracy(
    *,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Where to write it. [default: docs/accuracy.md]")
    ] = None,
) -> None:
    """Writes docs/accuracy.md from the results in validation/: what is predicted well, what is not, and why."""
    from contend.accuracy.page import accuracy_page
    from contend.common.files import output_file, write_file
    from contend.common.paths import require_repository

    root = require_repository("validate accuracy")
    target = out if out is not None else root / "docs" / "accuracy.md"
    with output_file(target):
        write_file(target, accuracy_page(root).encode())
    print(f"wrote {target}")
