"""`contend import`."""

from __future__ import annotations

import sys
from pathlib import Path  # noqa: TC003 - typer reads it when the program runs
from typing import TYPE_CHECKING, Annotated

import typer

from contend.common.errors import InputError
from contend.common.nearest import proposal
from contend.common.spelling import counted, listed

if TYPE_CHECKING:
    from contend.datasets.dataset import Dataset


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("import")(import_)


def import_(
    *,
    format_: Annotated[
        str,
        typer.Argument(metavar="FORMAT", help="multirate, osu-mbw-mr, osu-latency-mt, rma-mt, imb-mt or ucx-perftest."),
    ],
    file: Annotated[Path, typer.Argument(help="What the program printed; - for standard input.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="DATASET", help="The dataset to write, NAME.json.")],
    library: Annotated[str, typer.Option(metavar="KEY", help="The MPI library, as mappings name it.")] = "unknown",
    transport: Annotated[
        str,
        typer.Option(metavar="NAME", help="Over what, as mappings name it: shm, tcp, fabric (InfiniBand, RoCE), ..."),
    ] = "unknown",
    machine: Annotated[str, typer.Option(metavar="TEXT", help="The machine, in words.")] = "unknown",
    workload: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE", help="What the output does not say, e.g. communicator_per_pair=true."),
    ] = None,
) -> None:
    """Turns the output of a foreign benchmark program into a measured dataset.

    Several runs in one file are several samples. A file that is not what it should be is refused with line and column.
    """
    from contend.common.file_kinds import MEASURED_DATASET, refuse_other_kind
    from contend.common.files import output_file, refuse_replacing, write_file
    from contend.common.reading import input_path
    from contend.datasets.reading import parse_dataset
    from contend.importers.dataset import imported_dataset
    from contend.importers.formats import FORMATS
    from contend.importers.workload import added_workload
    from contend.measure.dataset import dataset_bytes

    if format_ not in FORMATS:
        hint = proposal(format_, FORMATS)
        raise InputError(f"no format {format_!r}; there are: {', '.join(FORMATS)}{hint}")
    if out.suffix != ".json":
        raise InputError(f"-o {out}: a dataset is a file NAME.json")
    file = input_path(file)
    refuse_replacing(f"-o {out}", [out], [("benchmark's output", file)])
    refuse_other_kind(f"-o {out}", out, MEASURED_DATASET)
    found = FORMATS[format_](file)
    added = added_workload(workload or (), found)
    dataset = imported_dataset(
        out.stem, file, found, machine=machine, library=library, transport=transport, workload=added
    )
    content = dataset_bytes(dataset)
    checked = parse_dataset(content.decode(), out)  # before it is written: no command would read another one
    with output_file(out):
        write_file(out, content)
    for note in found.notes:
        print(f"contend: {note}", file=sys.stderr)
    print(f"wrote {out}: {counted(len(checked.points), 'point')}, {counted(len(found.values), 'value')}")
    if (why := _why_not_simulated(checked)) is not None:
        print(f"note: {why}")


def _why_not_simulated(dataset: Dataset) -> str | None:
    """Why no scenario stands for a dataset, or for some of its points; None where one stands for each."""
    from contend.calibrate.mapping import find_mapping, load_mappings, why_no_mapping
    from contend.calibrate.process_layouts import not_simulated
    from contend.calibrate.split import FITTED_KINDS

    shown = "can be shown, not simulated nor fitted to"
    if dataset.kind not in FITTED_KINDS:
        return f"it {shown}: scenarios stand for points of {listed(FITTED_KINDS)}, these are of {dataset.kind!r}"
    reasons = not_simulated(dataset)
    if reasons and len(reasons) == len(dataset.points):
        return f"it {shown}: {reasons[0]}"
    if find_mapping(mappings := load_mappings(), dataset) is None:
        return f"it {shown}: {why_no_mapping(mappings, dataset)}"
    return f"{len(reasons)} of {counted(len(dataset.points), 'point')} {shown}: {reasons[0]}" if reasons else None
