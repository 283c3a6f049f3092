"""`contend completion`, and what the shell may complete beyond commands and options."""

from __future__ import annotations

import contextlib
import io
import os
import shlex
from enum import StrEnum
from typing import Annotated

import typer

from contend.common.errors import ContendError
from contend.common.paths import repository

# The shell's script calls the program with this variable set; Typer answers it.
VARIABLE = "_CONTEND_COMPLETE"


class Shell(StrEnum):
    """Shells that can complete."""

    bash = "bash"
    zsh = "zsh"
    fish = "fish"


def register(app: typer.Typer) -> None:
    """Adds the command."""

    def completion(shell: Annotated[Shell, typer.Argument(help="For which shell.")]) -> None:
        """Prints a script that lets the shell complete commands, options, and names of scenarios, profiles and presets.

        In bash: eval "$(contend completion bash)"; in zsh likewise; in fish: contend completion fish | source.
        """
        typer.echo(script(app, shell))

    app.command()(completion)


def script(app: typer.Typer, shell: Shell) -> str:
    """The script that a shell reads. In a checkout it calls the checkout's ./contend, which need not be on PATH.

    Raises:
        ContendError: Typer has none for this shell.
    """
    output = io.StringIO()
    before = os.environ.get(VARIABLE)
    os.environ[VARIABLE] = f"source_{shell.value}"
    try:
        with contextlib.redirect_stdout(output), contextlib.suppress(SystemExit):
            app(args=[], prog_name="contend")
    finally:
        if before is None:
            del os.environ[VARIABLE]
        else:
            os.environ[VARIABLE] = before
    text = output.getvalue().strip()
    if VARIABLE not in text:
        raise ContendError(f"there is no completion for {shell.value} with this version of Typer")
    root = repository()
    if root is None:
        return text
    # bash calls the command as it was typed; the others call it by its name.
    program = shlex.quote(str(root / "contend"))
    return text.replace(f"complete_{shell.value} contend)", f"complete_{shell.value} {program})").replace(
        "(commandline -cp) contend)", f"(commandline -cp) {program})"
    )


def scenario_names(incomplete: str) -> list[str]:
    """Names of shipped scenarios; files are completed by the shell itself."""
    from contend.scenarios.resolution import shipped_scenarios

    names = sorted({path.stem for path in shipped_scenarios().values()})
    return [name for name in names if name.startswith(incomplete)]


def profile_names(incomplete: str) -> list[str]:
    """Names of machine profiles."""
    from contend.profiles.catalogs import PROFILES

    return [name for name in PROFILES.available() if name.startswith(incomplete)]


def preset_names(incomplete: str) -> list[str]:
    """Names of library presets."""
    from contend.profiles.catalogs import PRESETS

    return [name for name in PRESETS.available() if name.startswith(incomplete)]
