"""`contend test`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from contend.common.errors import InputError


class Sanitizer(StrEnum):
    """The sanitizers, by the name of their preset."""

    asan = "asan"
    tsan = "tsan"


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command("test")(run_all)


def run_all(
    *,
    cpp_only: Annotated[bool, typer.Option("--cpp-only", help="Only the C++ tests.")] = False,
    python_only: Annotated[bool, typer.Option("--python-only", help="Only the Python tests.")] = False,
    sanitize: Annotated[
        Sanitizer | None, typer.Option(help="Run the C++ tests under a sanitizer (asan: undefined behaviour too).")
    ] = None,
    fuzz_seconds: Annotated[
        int | None,
        typer.Option("--fuzz", metavar="SECONDS", min=1, help="Only feed the scenario loader inputs made at random."),
    ] = None,
    keyword: Annotated[
        str | None, typer.Option("-k", metavar="EXPR", help="Only tests whose name matches (ctest -R, pytest -k).")
    ] = None,
    jobs: Annotated[int | None, typer.Option("--jobs", "-j", min=1, help="Tests and compilers at once.")] = None,
) -> None:
    """Builds and runs the tests, C++ then Python. The last line is the sum."""
    from contend.upkeep.testing import fuzz, run_tests

    if fuzz_seconds is not None:
        if cpp_only or python_only or sanitize or keyword:
            raise InputError("--fuzz is run by itself: of the other options only --jobs goes with it")
        raise typer.Exit(fuzz(fuzz_seconds, jobs))
    if python_only and (cpp_only or sanitize):
        raise InputError("--python-only excludes --cpp-only and --sanitize")
    preset = sanitize.value if sanitize else "test"
    raise typer.Exit(
        run_tests(preset=preset, cpp=not python_only, python=not (cpp_only or sanitize), keyword=keyword, jobs=jobs)
    )
