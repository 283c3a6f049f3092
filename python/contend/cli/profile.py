"""`contend profile`."""

from __future__ import annotations

import json
from typing import Annotated

import typer

profile_app = typer.Typer(no_args_is_help=True, rich_markup_mode="rich", help="Machine profiles.")


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.add_typer(profile_app, name="profile")


@profile_app.command("list")
def list_profiles() -> None:
    """Lists the profiles that a scenario can name."""
    from contend.profiles import available

    for name, path in available().items():
        typer.echo(f"{name}\t{path}")


@profile_app.command("show")
def show(
    *,
    name: Annotated[str, typer.Argument(help="Name of a profile, or a file.")],
    json_: Annotated[bool, typer.Option("--json", help="Print the file's JSON.")] = False,
) -> None:
    """Shows every parameter of a profile with unit, source and uncertainty."""
    from contend.profiles import load, parameters

    path, document = load(name)
    if json_:
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
    stdout_console().print(table)
