"""`contend run`."""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from contend.cli.completion import scenario_names
from contend.cli.options import (
    AsJson,
    Iterations,
    Quiet,
    Replications,
    RunsAtOnce,
    Seed,
    Settings,
    overrides_of,
)
from contend.common.errors import ContendError, InputError
from contend.common.spelling import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contend.cli.simulated import Opened
    from contend.engine.runner import Engine
    from contend.scenarios.resolution import ResolvedScenario


class EngineName(StrEnum):
    """The engines that can run a scenario."""

    contend = "contend"
    simgrid = "simgrid"


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(run)


def run(
    *,
    scenario: Annotated[
        str,
        typer.Argument(
            help="A scenario file, the name of a shipped one, a measured dataset, or a folder of these.",
            autocompletion=scenario_names,
        ),
    ],
    point: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="Of a dataset only points with this value, e.g. pairs=4; repeatable. [default: all points]",
        ),
    ] = None,
    profile: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Machine profile for a dataset. [default: one of the dataset's machine]"),
    ] = None,
    mapping: Annotated[
        list[Path] | None,
        typer.Option(metavar="PATH", help="Mappings for a dataset, before the shipped ones; repeatable."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="DIR", help="Where results go. [default: out/NAME]")
    ] = None,
    set_: Settings = None,
    seed: Seed = None,
    replications: Replications = None,
    iterations: Iterations = None,
    jobs: RunsAtOnce = None,
    engine: Annotated[EngineName, typer.Option(help="What simulates: contend's own engine or SimGrid's.")] = (
        EngineName.contend
    ),
    print_resolved: Annotated[
        bool, typer.Option("--print-resolved", help="Only print every value and where it comes from.")
    ] = False,
    check_determinism: Annotated[
        bool, typer.Option("--check-determinism", help="Only check that repeated runs give the same bytes.")
    ] = False,
    trace: Annotated[
        Path | None,
        typer.Option("--trace", metavar="FILE", help="Only simulate one point once, and write what happens to FILE."),
    ] = None,
    at: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE", help="With --trace: the point of the sweep; repeatable. [default: the last]"
        ),
    ] = None,
    trace_limit: Annotated[
        float | None,
        typer.Option(metavar="MB", min=0.1, help="The trace ends at about this size; inf: at none. [default: 100]"),
    ] = None,
    quiet: Quiet = False,
    json_: AsJson = False,
) -> None:
    """Simulates a scenario: all points of its sweep, several replications each.

    Writes results.json, results.csv, results.parquet and plot.png/.svg, and prints what came out. A dataset stands for
    the configurations that it measured, and what was measured is shown beside what is predicted; --iterations is the
    most that a point gets then. A folder stands for all scenarios in it; each has an output folder of its own, and one
    that fails does not stop the others.
    """
    from contend.engine.runner import default_jobs, make_engine

    only = ((print_resolved, "--print-resolved"), (check_determinism, "--check-determinism"), (trace, "--trace"))
    if trace is not None and engine is not EngineName.contend:
        raise InputError("--trace excludes --engine simgrid")
    _refuse_what_excludes_each_other([*only, (out, "--out")])
    if trace is None and (trace_limit is not None or at):
        raise InputError(f"{'--at' if at else '--trace-limit'} goes with --trace")
    overrides = overrides_of(set_, {"run.seed": seed, "run.replications": replications})

    def open_file(path: str | Path) -> Opened:
        return _open(path, overrides, iterations, (point, profile, mapping))

    if (folder := Path(scenario)).is_dir():
        from contend.cli.folder import run_folder

        if given := [name for value, name in only if value]:
            raise InputError(f"{scenario} is a folder; {given[0]} wants a single scenario")
        if point or profile or mapping:
            raise InputError(f"{scenario} is a folder; --point, --profile and --mapping go with a single dataset")
        run_folder(
            folder, open_file, make_engine(engine.value), jobs or default_jobs(), out, quiet=quiet, as_json=json_
        )
        return
    opened = open_file(scenario)
    resolved = opened.resolved
    if print_resolved:
        _print_resolved(resolved, as_json=json_)
        return
    _refuse_to_replace(opened, mapping or [], trace, out)
    if trace is not None:
        _trace(resolved, trace, trace_limit, at or [], quiet=quiet, as_json=json_)
        return
    chosen = make_engine(engine.value)
    count = jobs or default_jobs()
    if check_determinism:
        _check_determinism(resolved, chosen, count, quiet=quiet, as_json=json_)
        return
    _run_and_write(opened, chosen, count, out, quiet=quiet, as_json=json_)


def _refuse_to_replace(opened: Opened, mapping: list[Path], trace: Path | None, out: Path | None) -> None:
    from contend.common.file_kinds import TRACE, refuse_other_kind
    from contend.common.files import refuse_replacing
    from contend.results.output import RESULTS

    configuration = opened.configuration
    read = [("scenario", opened.resolved.path)] if configuration is None else configuration.files(mapping)
    if trace is not None:
        refuse_replacing(f"--trace {trace}", [trace], read)
        refuse_other_kind(f"--trace {trace}", trace, TRACE)
    if out is not None:
        refuse_replacing(f"-o {out}: {RESULTS}", [out / RESULTS], read)


def _refuse_what_excludes_each_other(options: Sequence[tuple[object, str]]) -> None:
    """Each of these says what the whole command does: of two one would be ignored."""
    given = [name for value, name in options if value]
    if len(given) > 1:
        raise InputError(f"{given[0]} excludes {' and '.join(given[1:])}")


def _open(
    name: str | Path,
    overrides: list[tuple[str, str]],
    iterations: int | None,
    of_datasets: tuple[list[str] | None, str | None, list[Path] | None],
) -> Opened:
    """Resolves a scenario, or the configurations of a dataset."""
    from contend.cli.simulated import Opened
    from contend.common.file_kinds import is_dataset
    from contend.scenarios.resolution import open_scenario, resolve_scenario

    if not is_dataset(Path(name)):
        path, text = open_scenario(str(name))  # what is not there is neither
        if any(of_datasets):
            raise InputError(f"--point, --profile and --mapping go with a dataset; {name} is none")
        changes = [] if iterations is None else [("workload.iterations", str(iterations))]
        return Opened(resolve_scenario(path, [*overrides, *changes], text))
    from contend.measured.configurations import open_dataset

    point, profile, mapping = of_datasets
    found = open_dataset(Path(name), point or (), profile=profile, mappings=mapping or (), iterations=iterations)
    return Opened(found.resolve([*overrides, *found.given_length()]), found)


def _run_and_write(opened: Opened, engine: Engine, jobs: int, out: Path | None, *, quiet: bool, as_json: bool) -> None:
    from contend.cli.simulated import simulate_into
    from contend.common.terminal import ProgressReport
    from contend.engine.runner import total_weight
    from contend.results.output import default_directory

    resolved = opened.resolved
    directory = out if out is not None else default_directory(resolved.name)
    with ProgressReport(resolved.name, total_weight(resolved.points), quiet=quiet or as_json) as report:
        done = simulate_into(opened, engine, jobs, directory, report.advance)
    results, outcome, paths = done.results, done.outcome, done.paths
    if not quiet:
        done.tell_replaced(out)
    if as_json:
        sys.stdout.write(results.json_bytes().decode())
    elif not quiet:
        from contend.common.terminal import stdout_console
        from contend.plots.summary import left_out
        from contend.results.tables import render

        console = stdout_console()
        console.print(render(results))
        runs = sum(len(runs.results) for runs in outcome.runs)
        at_once = min(jobs, sum(point.replications for point in resolved.points))
        console.print(
            f"{counted(len(results.points), 'point')}, {counted(runs, 'run')} in {outcome.wall_s:.1f} s, "
            f"{at_once} at once"
        )
        for note in [*results.notes, *(left_out(results) if paths else ())]:
            console.print(f"note: {note}", highlight=False, soft_wrap=True)
        for path in paths:
            console.print(f"wrote {path}", highlight=False, soft_wrap=True)
    done.raise_shortfall(directory)


def _trace(
    resolved: ResolvedScenario, path: Path, limit_mb: float | None, at: list[str], *, quiet: bool, as_json: bool
) -> None:
    from contend.common.amounts import rate_text
    from contend.common.files import output_file
    from contend.results.workload_words import words_of
    from contend.scenarios.choice import parse_place
    from contend.traces.tracing import DEFAULT_LIMIT_MB, write_trace

    point, remark = resolved.one_point([parse_place(text) for text in at])
    if remark and not quiet:
        print(f"contend: {remark}", file=sys.stderr)
    with output_file(path):
        trace = write_trace(point, path, limit_mb=limit_mb or DEFAULT_LIMIT_MB, scenario=resolved)
    if as_json:
        entry = {name: getattr(trace, name) for name in ("bytes", "events", "messages", "end_s", "complete")}
        print(
            json.dumps({"file": str(path), "parameters": point.parameters, **entry, "result": trace.result}, indent=2)
        )
    elif not quiet:
        words = words_of(point.config["workload"])
        print(f"{resolved.name}: {rate_text(trace.result['message_rate'])} {words.unit} in this replication")
        messages = "" if words.is_of_coroutines else f"{trace.messages:,} messages, "
        print(f"wrote {path}: {trace.events:,} events, {messages}{trace.bytes / 1e6:.1f} MB")
        if words.is_of_coroutines:
            print("a track is an OS process with all of its MPI processes; their calls and messages are not traced")
        if not trace.complete:
            is_lock = point.config["workload"]["kind"] == "lock"
            length = "--set workload.acquisitions=N" if is_lock else "--iterations N"
            print(
                f"it ends at its limit, {trace.end_s * 1e6:,.1f} us into {trace.result['simulated_s'] * 1e6:,.1f} us "
                f"of simulated time (--trace-limit MB, {length})"
            )
        print("open it at https://ui.perfetto.dev, or draw a part: contend trace-plot", path)


def _print_resolved(resolved: ResolvedScenario, *, as_json: bool) -> None:
    if as_json:
        document = {
            "document": resolved.document,
            "origins": resolved.origins,
            "points": [{"parameters": point.parameters, "config": point.config} for point in resolved.points],
        }
        print(json.dumps(document, indent=2, ensure_ascii=False))
        return
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from contend.common.documents import dotted, leaves, origin
    from contend.common.terminal import stdout_console

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for title in ("value of", "is", "because"):
        table.add_column(title, overflow="fold")
    for pointer, value in leaves(resolved.document):
        name = dotted(pointer)
        table.add_row(Text(name), Text(json.dumps(value, ensure_ascii=False)), Text(origin(resolved.origins, pointer)))
    console = stdout_console()
    console.print(table)
    swept = ", ".join(resolved.points[0].parameters) or "nothing"
    console.print(f"{counted(len(resolved.points), 'point')}; swept: {swept}", highlight=False)


def _check_determinism(resolved: ResolvedScenario, engine: Engine, jobs: int, *, quiet: bool, as_json: bool) -> None:
    from contend.common.terminal import ProgressReport
    from contend.engine.runner import check_engine, total_weight
    from contend.upkeep.determinism import check, job_counts

    check_engine(engine.name, resolved)
    total = total_weight(resolved.points) * len(job_counts(jobs))
    with ProgressReport("checking determinism", total, quiet=quiet or as_json) as report:
        outcome = check(resolved, engine, jobs=jobs, progress=report.advance)
    if as_json:
        runs = [{"jobs": count, "sha256": digest} for count, digest in outcome.runs]
        print(json.dumps({"deterministic": outcome.agrees, "runs": runs}, indent=2))
    elif not quiet or not outcome.agrees:
        for number, (count, digest) in enumerate(outcome.runs, start=1):
            print(f"run {number}, {count} at once: {digest}")
    if not outcome.agrees:
        raise ContendError("the runs differ: this scenario is not deterministic")
    if not quiet and not as_json:
        print("all runs gave the same bytes")
