"""`contend lint`."""

from __future__ import annotations

from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(lint)


def lint(
    *,
    fix: Annotated[bool, typer.Option("--fix", help="Repair what can be repaired.")] = False,
    with_tests: Annotated[
        bool, typer.Option("--tests", help="Let clang-tidy look at the C++ tests too (takes as long again).")
    ] = False,
    analyze: Annotated[
        bool, typer.Option("--analyze", help="Ask clang's static analyzer too (takes three times as long).")
    ] = False,
    jobs: Annotated[int | None, typer.Option("--jobs", "-j", min=1, help="Files looked at at once.")] = None,
) -> None:
    """Checks the sources: clang-format, clang-tidy, ruff, mypy and import-linter."""
    from contend.upkeep.lint import run_lint

    raise typer.Exit(run_lint(fix=fix, jobs=jobs, with_tests=with_tests, analyze=analyze))
