"""`contend schema`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class Kind(StrEnum):
    """What has a schema."""

    scenario = "scenario"
    profile = "profile"
    preset = "preset"


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(schema)


def schema(kind: Annotated[Kind, typer.Argument(help="Of what.")] = Kind.scenario) -> None:
    """Prints the JSON Schema of scenarios, machine profiles or library presets, for editors and checks."""
    from contend.engine.core import core

    typer.echo(core().schema(kind.value).rstrip("\n"))
