"""Puts the commands together, and turns whatever goes wrong into one message and an exit code."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup, TyperOption
from typer.exceptions import TyperException

from contend.cli import (
    bench,
    calibrate,
    catalog,
    compare,
    completion,
    dataset,
    docs,
    doctor,
    explain,
    importing,
    lines,
    lint,
    measure,
    plot,
    report,
    run,
    schema,
    sweep,
    test,
    trace_plot,
    validate,
)
from contend.common.errors import (
    EXIT_BAD_INPUT,
    EXIT_FAILURE,
    EXIT_INTERRUPTED,
    ContendError,
    InputError,
    InterruptedRunError,
)
from contend.common.spelling import shortened

if TYPE_CHECKING:
    from collections.abc import Sequence


def _bare_flags(parameters: Sequence[object]) -> None:
    """Shows `--quiet` in the help, not `--quiet <bool>`: an option that takes no value has no type."""
    for parameter in parameters:
        if isinstance(parameter, TyperOption) and parameter.is_flag:
            parameter.metavar = ""


class _Commands(TyperGroup):
    """Typer ends a command that Ctrl-C interrupted without a word, and shows types of flags; here it does not."""

    def get_params(self, ctx: typer.Context) -> list[Any]:  # type: ignore[override]
        """The group's own options."""
        parameters = super().get_params(ctx)
        _bare_flags(parameters)
        return parameters

    def get_command(self, ctx: typer.Context, cmd_name: str) -> Any:  # type: ignore[override]  # noqa: ANN401
        """The command of a name."""
        command = super().get_command(ctx, cmd_name)
        for below in (command, *getattr(command, "commands", {}).values()):
            if below is not None:
                _bare_flags(below.get_params(ctx))
        return command

    def invoke(self, ctx: typer.Context) -> object:  # type: ignore[override]
        """Runs the command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            raise InterruptedRunError("interrupted") from None


app = typer.Typer(
    name="contend",
    cls=_Commands,
    help="Simulates multithreaded MPI: message rates, counters, and where the time goes.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(value: bool) -> None:  # noqa: FBT001 - typer calls it with the option's value
    if value:
        from contend.common.paths import version

        typer.echo(f"contend {version()}")
        raise typer.Exit


@app.callback()
def _options(
    *,
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    _debug: Annotated[
        bool, typer.Option("--debug", help="Show the traceback of an error; allowed anywhere on the line.")
    ] = False,
) -> None:
    """Simulates multithreaded MPI: message rates, counters, and where the time goes."""


for _module in (
    run,
    sweep,
    compare,
    explain,
    report,
    plot,
    trace_plot,
    validate,
    measure,
    lines,
    dataset,
    importing,
    calibrate,
    schema,
    catalog,
    completion,
    doctor,
    test,
    lint,
    docs,
    bench,
):
    _module.register(app)


def _report(message: str) -> None:
    print(f"contend: error: {message}", file=sys.stderr)


def _open_standard_streams() -> None:
    """Gives streams that were closed (`>&-`) a place to go: else the next file that is opened would be in theirs."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115 - open until the end


def _refuse_empty(words: Sequence[str]) -> None:
    """An empty folder would be the current one, an empty file no file; a variable that is not set becomes one."""
    for before, word in zip(["contend", *words], words, strict=False):
        if not word or (word.startswith("--") and word.endswith("=")):
            raise InputError(f"an empty value after {word.removesuffix('=') or before}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line.

    Args:
        arguments: Without the program's name; those of the process if not given.

    Returns:
        The exit code: 0, 1 for a failure, 2 for bad input, 130 after Ctrl-C.
    """
    _open_standard_streams()
    words = list(sys.argv[1:] if arguments is None else arguments)
    debug = bool(os.environ.get("CONTEND_DEBUG"))
    if "--debug" in words:
        words.remove("--debug")
        debug = True
    try:
        _refuse_empty(words)
        code = app(args=words, prog_name="contend", standalone_mode=False)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of a pipe went away, as `| head` does: nobody is left to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_FAILURE
    except Exception as error:
        if debug:
            raise
        return _explain(error, words)
    except KeyboardInterrupt:
        print("contend: interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    return code if isinstance(code, int) else 0


def _explain(error: Exception, words: Sequence[str]) -> int:
    """Prints what went wrong and returns the exit code for it."""
    if isinstance(error, typer.Abort):
        print("contend: interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    if isinstance(error, ContendError | TyperException):
        message = str(error) if isinstance(error, ContendError) else _usage_message(error, words)
        if message:  # else help was printed instead
            _report(message)
            return error.exit_code
        return EXIT_BAD_INPUT
    if isinstance(error, OSError):
        from contend.common.files import describe

        if error.errno == errno.ENAMETOOLONG:
            _report(f"{shortened(str(error.filename))}: {describe(error)}")
            return EXIT_BAD_INPUT
        _report(f"{error.filename}: {describe(error)}" if error.filename else describe(error))
    elif isinstance(error, MemoryError):
        _report("not enough memory")
    else:
        _report(f"{type(error).__name__}: {error} (a bug in contend; --debug shows where)")
    return EXIT_FAILURE


def _found(error: TyperException) -> str:
    """The value that an option cannot have, which only the error knows that typer made its own from."""
    problems = getattr(error.__cause__, "errors", None)
    return f"found {shortened(repr(problems()[0]['input']))}; " if problems is not None else ""


def _command_of(words: Sequence[str]) -> str:
    """The command that a line names, as far as it names one: "contend profile show"."""
    command: Any = typer.main.get_command(app)
    names = ["contend"]
    for word in words:
        command = getattr(command, "commands", {}).get(word)
        if command is None:
            break
        names.append(word)
    return " ".join(names)


def _usage_message(error: TyperException, words: Sequence[str]) -> str:
    """The message of a wrong command line, with where to read more."""
    message = error.format_message().replace("Value error, ", "")
    message = message.replace("Input should be", f"{_found(error)}must be").partition(", unable to parse")[0]
    if not message or error.exit_code != EXIT_BAD_INPUT:
        return message
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else _command_of(words)
    return f"{message} (try '{command} --help')"
