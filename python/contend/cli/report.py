"""`contend report`."""

from __future__ import annotations

import contextlib
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from contend.cli.completion import scenario_names
from contend.cli.options import Iterations, Replications, RunsAtOnce, Seed, overrides_of
from contend.common.errors import InputError, InterruptedRunError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from contend.common.jsontypes import JsonObject
    from contend.report.content import Content, Watch, Wishes


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(report)


def report(
    *,
    what: Annotated[
        str,
        typer.Argument(
            metavar="DIR|SCENARIO",
            help="A folder that `contend run` wrote, or a scenario, which is run first.",
            autocompletion=scenario_names,
        ),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="The page. [default: report.html in the folder]")
    ] = None,
    results: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where the results of a scenario go. [default: out/NAME]"),
    ] = None,
    at: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Explain this point of the sweep; repeatable. [default: the last]"),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="Override a value of the scenario; repeatable."),
    ] = None,
    seed: Seed = None,
    replications: Replications = None,
    iterations: Iterations = None,
    jobs: RunsAtOnce = None,
    speedups: Annotated[
        bool, typer.Option("--speedups/--no-speedups", help="Simulate the point again with every cost lowered.")
    ] = True,
    budget: Annotated[
        float | None,
        typer.Option(
            metavar="MINUTES",
            min=0.0,
            help="Time for these; where all would take longer, less is simulated, and the page says what. inf: all. "
            "[default: 5]",
            show_default=False,
        ),
    ] = None,
    simulate: Annotated[
        bool, typer.Option("--simulate/--no-simulate", help="Explain a folder's point by simulating it again.")
    ] = True,
    begin: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="TIME", help='Begin of the time line, in simulated us or with a unit, e.g. "1.2 ms".'
        ),
    ] = None,
    end: Annotated[str | None, typer.Option("--to", metavar="TIME", help="Its end.")] = None,
    validation: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="A result of `contend validate --json`, as a section; repeatable."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print no progress.")] = False,
) -> None:
    """Writes one HTML page that holds everything about a run, for a browser without a network, a phone, or paper.

    Curves with intervals, time budget, counters, what limits one point and which cost would help most, a time line of a
    short stretch, the scenario with every value, and where the numbers come from.
    """
    from contend.cli.times import stretch_us
    from contend.common.files import output_file, write_file
    from contend.common.terminal import ProgressReport
    from contend.engine.runner import default_jobs
    from contend.explanations.speedups import BUDGET_S
    from contend.report.content import Wishes
    from contend.report.page import render_page
    from contend.report.source import EXPLANATION, TRACE, is_results
    from contend.report.timeline import Window
    from contend.results.output import RESULTS
    from contend.scenarios.choice import parse_place

    window = Window(*stretch_us(begin, end))
    if out is not None:
        _refuse_folder(out)
    validations = [_validation(file) for file in validation or []]  # before minutes are spent
    shorthands = {"run.seed": seed, "run.replications": replications, "workload.iterations": iterations}
    overrides = overrides_of(set_, shorthands)
    budget_s = BUDGET_S if budget is None else 60 * budget
    wishes = Wishes(
        at=[parse_place(text) for text in at or []], simulate=simulate, speedups=speedups, budget_s=budget_s,
        window=window, jobs=jobs or default_jobs(),
    )  # fmt: skip

    def watch(title: str, total: float) -> ProgressReport:
        return ProgressReport(title, total, quiet=quiet)

    read = [("validation result", file) for file in validation or []]
    with output_file(out):
        if is_results(Path(what)):
            folder = _results_folder(what, is_run=bool(overrides) or results is not None)
            from contend.report.content import read_folder

            _refuse_inputs(
                out, None, [*read, *((f"run's {name}", folder / name) for name in (RESULTS, EXPLANATION, TRACE))]
            )
            content, default = read_folder(folder, wishes, watch), folder / "report.html"
        else:
            if not simulate:
                raise InputError("--no-simulate wants a folder with results")
            file, text = _scenario(what)
            _refuse_inputs(out, results, [*read, ("scenario", file)])
            content, default = _run((file, text), overrides, wishes, watch, results, own_page=out is None, quiet=quiet)
        target = out if out is not None else default
        with _goes_on_from(default.parent):
            page = render_page(content, validations)
            write_file(target, page)
    if not quiet:
        for remark in content.remarks:
            typer.echo(f"note: {remark}")
        typer.echo(f"wrote {target} ({len(page) / 1e6:.1f} MB)")
    if content.interrupted:
        raise InterruptedRunError(f"interrupted; what had finished is in {target}")


def _refuse_folder(out: Path) -> None:
    """Before minutes are spent."""
    if out.is_dir():
        raise InputError(f"--out {out}: that is a folder; a report is one file, such as {out / 'report.html'}")


def _results_folder(what: str, *, is_run: bool) -> Path:
    """The folder that a path means.

    Raises:
        InputError: There are options that say how to run a scenario.
    """
    from contend.results.output import RESULTS

    if is_run:
        options = "--set, --seed, --replications, --iterations, --results"
        raise InputError(f"{what} has results already: {options} want a scenario")
    return Path(what).parent if Path(what).name == RESULTS else Path(what)


def _scenario(what: str) -> tuple[Path, str | None]:
    """The scenario that was meant, and its text where that was read from a pipe.

    Raises:
        InputError: There is none of that name, nor a folder.
    """
    from contend.scenarios.resolution import open_scenario

    try:
        return open_scenario(what)
    except InputError as error:
        if what == "-" or what.endswith(".json") or Path(what).exists():
            raise
        raise InputError(f"no folder of results {what!r}, and {error}") from error


def _refuse_inputs(out: Path | None, results: Path | None, read: list[tuple[str, Path]]) -> None:
    from contend.common.files import refuse_replacing
    from contend.results.output import RESULTS

    if out is not None:
        refuse_replacing(f"-o {out}", [out], read)
    if results is not None:
        refuse_replacing(f"--results {results}: {RESULTS}", [results / RESULTS], read)


def _validation(file: Path) -> tuple[str, JsonObject]:
    from contend.accuracy.scores import read_result

    return f"Validation: {file.stem}", read_result(file)


def _run(
    opened: tuple[Path, str | None],
    overrides: list[tuple[str, str]],
    wishes: Wishes,
    watch: Watch,
    results: Path | None,
    *,
    own_page: bool,
    quiet: bool,
) -> tuple[Content, Path]:
    """Runs a scenario and explains it.

    Its results go into a folder, out/NAME unless `results` is one, and so does the page unless that has another place.
    """
    from contend.cli.simulated import Opened, simulate_into
    from contend.engine.runner import make_engine, total_weight
    from contend.report.content import of_scenario
    from contend.results.output import default_directory
    from contend.scenarios.choice import choose_point
    from contend.scenarios.resolution import resolve_scenario

    file, text = opened
    resolved = resolve_scenario(file, overrides, text)
    choose_point(resolved.points, wishes.at)  # before minutes are spent
    directory = results if results is not None else default_directory(resolved.name)
    with watch(resolved.name, total_weight(resolved.points)) as progress:
        done = simulate_into(Opened(resolved), make_engine("contend"), wishes.jobs, directory, progress.advance)
    page = directory / "report.html"
    if not quiet:
        done.tell_replaced(results, option="--results", also=page if own_page else None)
    done.raise_shortfall(directory)
    with _goes_on_from(directory):
        return of_scenario(resolved, done.results, wishes, watch), page


@contextlib.contextmanager
def _goes_on_from(folder: Path) -> Iterator[None]:
    """Says of a page that was interrupted that its folder has the results."""
    try:
        yield
    except (KeyboardInterrupt, InterruptedRunError):
        again = f"`contend report {shlex.quote(str(folder))}` goes on from there"
        raise InterruptedRunError(f"interrupted; the results are in {folder}: {again}") from None
