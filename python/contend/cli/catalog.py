"""`contend profile` and `contend preset`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from contend.cli.completion import preset_names, profile_names

if TYPE_CHECKING:
    from contend.catalogs import Catalog

profile_app = typer.Typer(no_args_is_help=True, rich_markup_mode="rich", help="Machine profiles.")
preset_app = typer.Typer(no_args_is_help=True, rich_markup_mode="rich", help="Library presets.")


def register(app: typer.Typer) -> None:
    """Adds the commands."""
    app.add_typer(profile_app, name="profile")
    app.add_typer(preset_app, name="preset")


@profile_app.command("list")
def list_profiles() -> None:
    """Lists the profiles that a scenario can name."""
    from contend.catalogs import PROFILES

    _list(PROFILES)


@profile_app.command("show")
def show_profile(
    *,
    name: Annotated[str, typer.Argument(help="Name of a profile, or a file.", autocompletion=profile_names)],
    json_: Annotated[bool, typer.Option("--json", help="Print the file's JSON.")] = False,
) -> None:
    """Shows every parameter of a profile with unit, source and uncertainty."""
    from contend.catalogs import PROFILES

    _show(PROFILES, name, as_json=json_)


@preset_app.command("list")
def list_presets() -> None:
    """Lists the presets that a scenario can name."""
    from contend.catalogs import PRESETS

    _list(PRESETS)


@preset_app.command("show")
def show_preset(
    *,
    name: Annotated[str, typer.Argument(help="Name of a preset, or a file.", autocompletion=preset_names)],
    json_: Annotated[bool, typer.Option("--json", help="Print the file's JSON.")] = False,
) -> None:
    """Shows every choice of a preset with source and uncertainty."""
    from contend.catalogs import PRESETS

    _show(PRESETS, name, as_json=json_)


def _list(catalog: Catalog) -> None:
    for name, path in catalog.available().items():
        typer.echo(f"{name}\t{path}")


def _show(catalog: Catalog, name: str, *, as_json: bool) -> None:
    from contend.catalogs import parameters

    path, document = catalog.load(name)
    if as_json:
        print(json.dumps(document, indent=2, ensure_ascii=False))
        return
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from contend.cli.terminal import stdout_console

    table = Table(title=str(document.get("title") or document.get("name") or path.stem), title_justify="left",
                  box=box.SIMPLE_HEAD, pad_edge=False)  # fmt: skip
    for title in ("parameter", "value", "unit", "uncertainty", "source"):
        table.add_column(title, justify="right" if title == "value" else "left", overflow="fold")
    for parameter in parameters(document):
        value = parameter.value if isinstance(parameter.value, str) else json.dumps(parameter.value)
        cells = (parameter.path, value, parameter.unit, parameter.uncertainty, parameter.source)
        table.add_row(*(Text(cell) for cell in cells))
    console = stdout_console()
    console.print(table)
    for key in ("models", "description"):
        if isinstance(text := document.get(key), str):
            console.print(Text(text))
