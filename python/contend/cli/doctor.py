"""`contend doctor`."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer

from contend.common.errors import EXIT_FAILURE


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(doctor)


def doctor(*, json_: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Says what is installed, what is missing, and how to get it."""
    from contend.upkeep.doctor import examine

    findings = examine()
    missing = [finding for finding in findings if finding.is_required and not finding.is_ok]
    if json_:
        print(json.dumps([asdict(finding) for finding in findings], indent=2))
    else:
        from rich.text import Text

        from contend.common.fitting_table import FittingTable
        from contend.common.terminal import stdout_console

        table = FittingTable("")
        for title in ("", "what"):
            table.add_column(title)
        for title in ("version", "for"):
            table.add_column(title, is_name=True)
        if remedies := not all(finding.is_ok for finding in findings):
            table.add_column("how to get it", is_name=True)
        for finding in findings:
            mark = Text("ok", "green") if finding.is_ok else Text("missing", "bold red" if finding.is_required else "")
            remedy = [] if not remedies else [""] if finding.is_ok else [finding.remedy]
            table.add_row(mark, finding.name, finding.version, finding.purpose, *remedy)
        console = stdout_console()
        console.print(table)
        if missing:
            console.print(f"missing: {', '.join(finding.name for finding in missing)}", style="bold red")
        else:
            console.print("everything that is required is there")
    if missing:
        raise typer.Exit(EXIT_FAILURE)
