"""`contend profile` and `contend preset`."""

from __future__ import annotations

import json
import sys
from pathlib import Path  # noqa: TC003 - typer reads it when the program runs
from typing import TYPE_CHECKING, Annotated

import typer

from contend.cli.completion import preset_names, profile_names
from contend.common.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from contend.common.jsontypes import JsonObject
    from contend.listings import Listing
    from contend.profiles.catalogs import Catalog, Parameter

# Columns that all lists of files have, in an order of their own.
_OF_ALL = ("name", "description", "file")

profile_app = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown", help="Machine profiles.")
preset_app = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown", help="Library presets.")


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.add_typer(profile_app, name="profile")
    app.add_typer(preset_app, name="preset")


@profile_app.command("list")
def print_profiles() -> None:
    """Lists the profiles that a scenario can name."""
    from contend.listings import list_profiles
    from contend.profiles.catalogs import PROFILES

    _list(PROFILES, list_profiles())


@profile_app.command("show")
def show_profile(
    *,
    name: Annotated[str, typer.Argument(help="Name of a profile, or a file.", autocompletion=profile_names)],
    json_: Annotated[bool, typer.Option("--json", help="Print the file's JSON.")] = False,
) -> None:
    """Shows every parameter of a profile with unit, source, uncertainty and how it was identified."""
    from contend.profiles.catalogs import PROFILES

    _show(PROFILES, name, as_json=json_)


@profile_app.command("diff")
def diff_profiles(
    *,
    first: Annotated[str, typer.Argument(help="Name of a profile, or a file.")],
    second: Annotated[str, typer.Argument(help="Name of a profile, or a file.")],
    values: Annotated[
        bool, typer.Option("--values", help="Only values that differ, not what is said about them.")
    ] = False,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Shows in which parameters two profiles differ, and by how much."""
    from contend.profiles.catalogs import PROFILES, differences

    (one, left), (other, right) = PROFILES.load(first), PROFILES.load(second)
    for path, document in ((one, left), (other, right)):
        _require_values(PROFILES, path, document)
    found = differences(left, right, values_only=values)
    if json_:
        entries = [
            {"parameter": item.path, "first": item.first and item.first.value,
             "second": item.second and item.second.value, "ratio": item.ratio}
            for item in found
        ]  # fmt: skip
        print(json.dumps(entries, indent=2, ensure_ascii=False))
        return
    from contend.common.fitting_table import FittingTable
    from contend.common.spelling import counted
    from contend.common.terminal import stdout_console

    if not found:
        print(f"{one.stem} and {other.stem}: no parameter differs")
        return
    differing = [item for item in found if _value(item.first) != _value(item.second)]
    reworded = [item for item in found if item not in differing]
    shown = [item for item in reworded if _said(item.first) != _said(item.second)]
    title = f"{one.stem} and {other.stem}: {counted(len(differing), 'other value')}"
    caption = f"{counted(len(reworded), 'equal value')} with another source, uncertainty or note" if reworded else None
    table = FittingTable(title, caption or "")
    table.add_column("parameter", is_name=True)
    for name in (one.stem, other.stem):
        table.add_column(name)
    table.add_column("ratio", left_out=2)
    table.add_column("uncertainty", is_name=True, left_out=1)
    table.add_column("identified by", is_name=True, left_out=0)
    for item in [*differing, *shown]:
        said = (_change(before, after) for before, after in zip(_said(item.first), _said(item.second), strict=True))
        ratio = "" if item.ratio is None else f"{item.ratio:.3g}"
        table.add_row(item.path, _value(item.first), _value(item.second), ratio, *said)
    stdout_console().print(table)


def _said(parameter: Parameter | None) -> tuple[str | None, str | None]:
    """Uncertainty, and how it was identified; None of a parameter that is not there."""
    return (None, None) if parameter is None else (parameter.uncertainty or "", parameter.identified_by or "")


def _change(before: str | None, after: str | None) -> str:
    """What both say, or what one says and then the other, "-" where that is nothing."""
    if before is None or after is None or before == after:
        return after or before or ""
    return f"{before or '-'} -> {after or '-'}"


def _value(parameter: Parameter | None) -> str:
    if parameter is None:
        return "-"
    return parameter.value if isinstance(parameter.value, str) else json.dumps(parameter.value)


@profile_app.command("scope")
def scope_of_profile(
    *,
    name: Annotated[str, typer.Argument(help="Name of a calibrated profile, or a file.")],
    scope: Annotated[str, typer.Argument(help="Library and transport, for example openmpi-5/tcp.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="PROFILE", help="The profile to write, NAME.json.")],
) -> None:
    """Writes a profile with the values of one library over one transport in their places, for use in scenarios."""
    from contend.calibrate.profile import profile_bytes
    from contend.calibrate.scoped_profile import scoped_profile
    from contend.common.file_kinds import MACHINE_PROFILE, refuse_other_kind
    from contend.common.files import output_file, refuse_replacing, write_file
    from contend.common.spelling import listed
    from contend.profiles.catalogs import PROFILES

    path, document = PROFILES.load(name)
    refuse_replacing(f"-o {out}", [out], [("profile", path)])
    refuse_other_kind(f"-o {out}", out, MACHINE_PROFILE)
    found = scoped_profile(document, scope, path.stem)
    with output_file(out):
        write_file(out, profile_bytes(found.document | {"name": out.stem}))
    for one, values in found.placed.items():
        if values:
            print(f"put in place of {one}: " + ", ".join(f"{path} {value}" for path, value in values.items()))
    if not any(found.placed.values()):
        print(f"nothing but the name changed: no value of {scope} is one of the machine")
    if found.left:
        given = ", ".join(f"{path} {value}" for path, value in found.left.items())
        print(f"no part of a machine, give it in the scenario: {given}")
    if found.missing:
        print(f"the profile {path.stem} has no values of its own for {listed(found.missing)}")
    print(f"wrote {out}")


@preset_app.command("list")
def print_presets() -> None:
    """Lists the presets that a scenario can name."""
    from contend.listings import list_presets
    from contend.profiles.catalogs import PRESETS

    _list(PRESETS, list_presets())


@preset_app.command("show")
def show_preset(
    *,
    name: Annotated[str, typer.Argument(help="Name of a preset, or a file.", autocompletion=preset_names)],
    json_: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Shows every choice of a preset with source and uncertainty, those of the preset that it extends included."""
    from contend.profiles.catalogs import PRESETS

    _show(PRESETS, name, as_json=json_)


def _list(catalog: Catalog, listing: Listing) -> None:
    """Lists the files of a catalog: a table on a terminal, else a line of fields between tabs for each."""
    _tell_left_out(catalog)
    more = [column for column in (listing.rows[0] if listing.rows else ()) if column not in _OF_ALL]
    if not sys.stdout.isatty():
        for row in listing.rows:
            typer.echo("\t".join(row[column] for column in ("name", "file", "description", *more)))
        return
    from rich.text import Text

    from contend.common.terminal import stdout_console
    from contend.results.tables import titled_table

    table = titled_table(f"{catalog.what}s")
    table.add_column("name", no_wrap=True)
    table.add_column("what it is", overflow="fold")
    for column in more:
        table.add_column(column.replace("_", " "), overflow="fold")
    for row in listing.rows:
        table.add_row(row["name"], *(Text(row[column]) for column in ("description", *more)))
    stdout_console().print(table)


def _tell_left_out(catalog: Catalog) -> None:
    """Says on stderr which files of the folders are none of the catalog's, and what they are."""
    from contend.common.spelling import counted

    if left_out := catalog.left_out():
        each = "; ".join(f"{path} ({reason})" for path, reason in left_out.items())
        said = f"{counted(len(left_out), 'file')} left out, not a {catalog.what}: {each}"
        print(f"contend: {said}", file=sys.stderr)


def _require_values(catalog: Catalog, path: Path, document: JsonObject) -> None:
    """Refuses a file that says nothing; one that is not complete may be looked at."""
    from contend.profiles.catalogs import parameters

    if next(parameters(document), None) is None:
        raise InputError(f'{path}: not a {catalog.what}: it has no values (objects with "value" and "source")')


# Where there is less room, five columns of sentences are unreadable.
_TABLE_WIDTH = 100
_INDENT = " " * 4


def _parameter_table(title: str, listed: Sequence[tuple[str, Parameter]]) -> RenderableType:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    has_how = any(parameter.identified_by for _, parameter in listed)
    for header in ("parameter", "value", "unit", "uncertainty", "source", *(["identified by"] if has_how else [])):
        table.add_column(header, justify="right" if header == "value" else "left", overflow="fold")
    for label, parameter in listed:
        cells = [label, _value(parameter), parameter.unit, parameter.uncertainty, parameter.source]
        table.add_row(*(Text(cell) for cell in ([*cells, parameter.identified_by] if has_how else cells)))
    return table


def _parameter_list(title: str, listed: Sequence[tuple[str, Parameter]], width: int) -> RenderableType:
    """Each parameter in a line of its own, with what is said of it indented below."""
    import textwrap

    from rich.console import Group
    from rich.text import Text

    parts: list[RenderableType] = [Text(title, style="bold"), Text()]
    for label, parameter in listed:
        value = " ".join(filter(None, (_value(parameter), parameter.unit)))
        parts.append(Text.assemble((label, "bold"), f" = {value}", overflow="fold"))
        said = {
            "uncertainty": parameter.uncertainty,
            "source": parameter.source,
            "identified by": parameter.identified_by,
        }
        for what, text in said.items():
            if text:
                said_here = f"{what}: {text}"
                parts.append(Text(textwrap.fill(said_here, width, initial_indent=_INDENT, subsequent_indent=_INDENT)))
    return Group(*parts)


def _show(catalog: Catalog, name: str, *, as_json: bool) -> None:
    from contend.profiles.catalogs import EXTENDS, parameters, scopes

    path, document = catalog.load(name)
    _require_values(catalog, path, document)
    if as_json:
        print(json.dumps(document, indent=2, ensure_ascii=False))
        return
    from rich.text import Text

    from contend.common.terminal import stdout_console

    title = str(document.get("title") or document.get("name") or path.stem)
    listed = [(parameter.path, parameter) for parameter in parameters(document)]
    listed += [(f"{one.path} for {scope}", one) for scope, found in scopes(document).items() for one in found]
    console = stdout_console()
    narrow = console.width < _TABLE_WIDTH
    console.print(_parameter_list(title, listed, console.width) if narrow else _parameter_table(title, listed))
    for key in ("models", "description"):
        if isinstance(text := document.get(key), str):
            console.print(Text(text))
    if catalog.extend and (base := document.get(EXTENDS)):
        console.print(Text(f"extends {base}"))
