"""`contend docs`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path  # noqa: TC003 - typer reads it when the program runs
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(docs)


def docs(
    *,
    out: Annotated[Path | None, typer.Option("--out", "-o", metavar="DIR", help="Where. [default: build/site]")] = None,
    serve: Annotated[bool, typer.Option("--serve", help="Show the site on this machine while it is written.")] = False,
) -> None:
    """Builds the documentation as a site that needs no server; a broken link or reference is an error."""
    from contend.common.errors import ContendError, InputError
    from contend.common.files import make_writable_directory
    from contend.common.paths import require_repository

    root = require_repository("docs")
    if serve and out is not None:
        raise InputError("--serve writes nothing: leave --out away")
    target = (out or root / "build" / "site").absolute()
    if not serve:
        make_writable_directory(out or target)
    command = [sys.executable, "-P", "-m", "mkdocs"]
    command += ["serve"] if serve else ["build", "--strict", "--site-dir", str(target)]
    # The theme's notice about the next version of MkDocs, which is pinned below it.
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1", "DISABLE_MKDOCS_2_WARNING": "true"}
    # Not mkdocs --quiet: that hides warnings from --strict as well.
    answer = subprocess.run(command, cwd=root, env=environment, capture_output=not serve, text=True, check=False)
    if answer.returncode:
        print(answer.stdout, answer.stderr, sep="", end="", file=sys.stderr)
        raise ContendError("the documentation does not build")
    if not serve:
        typer.echo(f"wrote {target / 'index.html'}")
