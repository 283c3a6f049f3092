"""`contend bench`."""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING

import typer

from contend.errors import ContendError

if TYPE_CHECKING:
    from collections.abc import Callable


def register(app: typer.Typer) -> None:
    """Adds the command; its arguments go to contend.bench."""
    app.command(
        add_help_option=False,
        context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    )(bench)


def bench(context: typer.Context) -> None:
    """Measures how fast the engine is; [bold]--json FILE[/bold] writes the numbers."""
    from contend.paths import require_repository

    require_repository("bench")
    if importlib.util.find_spec("contend.bench") is None:
        raise ContendError("this version of contend has no benchmarks")
    entry: Callable[[list[str]], int | None] = importlib.import_module("contend.bench").main
    raise typer.Exit(entry(list(context.args)) or 0)
