"""`contend dataset`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path  # noqa: TC003 - typer reads it when the program runs
from typing import TYPE_CHECKING, Annotated

import typer

from contend.cli.options import Mappings
from contend.common.errors import ContendError, InputError
from contend.common.spelling import counted, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contend.calibrate.mapping import Mapping
    from contend.common.jsontypes import JsonObject
    from contend.datasets.dataset import Dataset

dataset_app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Measured datasets: what is in them, and their configurations as scenarios. `contend run` simulates them.",
)


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.add_typer(dataset_app, name="dataset")


@dataset_app.command("show")
def show(
    *,
    datasets: Annotated[list[Path], typer.Argument(help="Measured datasets: files, or folders of them.")],
    mapping: Mappings = None,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Shows what was measured, point by point (of several datasets one line each), and what scenario stands for it."""
    from contend.calibrate.mapping import load_mappings
    from contend.datasets.reading import read_datasets

    found = read_datasets(datasets)
    mappings = load_mappings(mapping or [])
    if json_:
        print(json.dumps([_entry(dataset, mappings) for dataset in found], indent=2, ensure_ascii=False))
    elif len(found) == 1:
        _show_one(found[0], mappings)
    else:
        _show_many(found, mappings)


@dataset_app.command("scenario")
def scenario(
    *,
    dataset: Annotated[Path, typer.Argument(help="A measured dataset.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="SCENARIO", help="The scenario to write, NAME.json.")],
    point: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="Only points with this value, e.g. pairs=4; repeatable. [default: all points, as a sweep]",
        ),
    ] = None,
    profile: Annotated[
        str | None, typer.Option(metavar="NAME", help="Machine profile. [default: one of the dataset's machine]")
    ] = None,
    mapping: Mappings = None,
) -> None:
    """Writes the scenario that stands for measured configurations, to be edited and given to any command."""
    from contend.calibrate.mapping import mapping_files
    from contend.common.file_kinds import SCENARIO, refuse_other_kind
    from contend.common.files import output_file, refuse_replacing, write_file
    from contend.measured.configurations import open_dataset

    if out.suffix != ".json":
        raise InputError(f"-o {out}: a scenario is a file NAME.json")
    read = [("dataset", dataset), *(("mapping", file) for file in mapping_files(mapping or ()))]
    refuse_replacing(f"-o {out}", [out], read)
    refuse_other_kind(f"-o {out}", out, SCENARIO)
    found = open_dataset(dataset, point or (), profile=profile, mappings=mapping or ())
    folder = out.resolve().parent
    text = json.dumps(found.document(beside=folder), indent=2, ensure_ascii=False) + "\n"
    count = len(found.resolve().points)
    with output_file(out):
        write_file(out, text.encode())
    print(f"wrote {out}: {counted(count, 'point')}")
    for note in found.notes():
        print(f"note: {note}")


@dataclass(frozen=True)
class _Standing:
    """Names of the mapping and the profile by which a scenario stands for a dataset; `why` one of them is missing."""

    mapping: str | None = None
    profile: str | None = None
    why: str | None = None


def _standing(dataset: Dataset, mappings: Sequence[Mapping]) -> _Standing:
    from contend.measured.configurations import choose_mapping
    from contend.measured.machine import choose_profile

    mapping = None
    try:
        mapping = choose_mapping(mappings, dataset).name
        return _Standing(mapping, choose_profile(dataset).name)
    except ContendError as error:
        return _Standing(mapping, why=str(error))


def _entry(dataset: Dataset, mappings: Sequence[Mapping]) -> JsonObject:
    standing = _standing(dataset, mappings)
    return {
        "dataset": dataset.name,
        "machine": dataset.machine_id,
        "library": dataset.library_key,
        "transport": dataset.transport,
        "workload": dataset.workload,
        "mapping": standing.mapping,
        "profile": standing.profile,
        "no_scenario": standing.why,
        "points": [
            {"parameters": one.parameters, "metric": one.metric, "unit": one.unit, "outcome": one.outcome,
             "median": None if one.spread is None else one.median,
             "interval": None if one.interval is None else list(one.interval),
             "cov": None if one.spread is None else one.spread.cov, "iterations": one.iterations}
            for one in dataset.points
        ],
    }  # fmt: skip


def _show_one(dataset: Dataset, mappings: Sequence[Mapping]) -> None:
    from rich.text import Text

    from contend.common.amounts import bare, quantity
    from contend.common.fitting_table import FittingTable
    from contend.common.terminal import stdout_console
    from contend.measured.machine import machine_text
    from contend.measured.points import point_text

    library = " ".join(str(dataset.library.get(key) or "") for key in ("name", "version")).strip()
    table = FittingTable(printable(f"{dataset.name}: {library or dataset.library_key} over {dataset.transport}"))
    table.add_column("point", is_name=True)
    table.add_column("median", justify="right")
    table.add_column("95 % interval", justify="right", left_out=3)
    table.add_column("CoV", justify="right", left_out=2)
    table.add_column("samples", justify="right", left_out=1)
    table.add_column("iterations", justify="right", left_out=0)
    table.add_column("", is_name=True)
    for one in dataset.points:
        cells = ["-", "-", "-", "0"]
        if one.spread is not None:
            cov = "-" if one.spread.cov is None else f"{one.spread.cov:.0%}"
            interval = "-" if one.interval is None else " to ".join(bare(end, one.unit) for end in one.interval)
            cells = [quantity(one.median, one.unit), interval, cov,
                     str(one.spread.count)]  # fmt: skip
        remark = "" if one.outcome == "ok" else one.outcome
        table.add_row(Text(printable(point_text(one))), *cells, str(one.iterations or "-"), Text(printable(remark)))
    console = stdout_console()
    console.print(table)
    workload = ", ".join(f"{key}={json.dumps(value)}" for key, value in dataset.workload.items())
    machine = machine_text(dataset)
    standing = _standing(dataset, mappings)
    stands = standing.why or f"mapping {standing.mapping}, profile {standing.profile}"
    for line in (f"machine: {machine}", f"workload: {workload}", f"scenario: {stands}"):
        console.print(Text(printable(line)), soft_wrap=True)


def _show_many(datasets: Sequence[Dataset], mappings: Sequence[Mapping]) -> None:
    from rich.text import Text

    from contend.common.terminal import stdout_console
    from contend.results.tables import titled_table

    table = titled_table("datasets")
    for title in ("dataset", "library", "transport", "workload"):
        table.add_column(title, overflow="fold")
    table.add_column("points", justify="right")
    table.add_column("scenario by", overflow="fold")
    for one in datasets:
        standing = _standing(one, mappings)
        by = standing.why or f"{standing.mapping}, {standing.profile}"
        *cells, stands = (Text(printable(text)) for text in (one.name, one.library_key, one.transport, one.kind, by))
        table.add_row(*cells, str(len(one.points)), stands)
    stdout_console().print(table)
