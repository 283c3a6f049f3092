"""`contend sweep`."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path  # noqa: TC003 - typer reads it when the program runs
from typing import TYPE_CHECKING, Annotated

import typer

from contend.cli.options import Iterations, Replications, ScenarioName, Seed, SimulationsAtOnce, Store, overrides_of
from contend.common.errors import EXIT_FAILURE, InputError, InterruptedRunError
from contend.common.spelling import counted, parameters_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from contend.common.interruption import HeldBack
    from contend.results.output import Saved
    from contend.sweeps.plans import Plan, Row
    from contend.sweeps.sweep import SweepResults

# Above so many points there is no results.json and no picture: Parquet holds them in a tenth of the space.
_MOST_IN_JSON = 2000
# What it writes that may be a scenario or a list of points as well.
_READABLE = ("results.parquet", "samples.parquet", "sweep.json", "results.json", "results.csv")
_MOST_FAILURES_SHOWN = 5
_MOST_ROWS_SHOWN = 50


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(sweep)


def sweep(
    *,
    scenario: ScenarioName,
    grid: Annotated[
        list[str] | None,
        typer.Option(
            "--grid",
            metavar="PATH=VALUES",
            help="Values to combine: 1,2,4 or 1..20 or 1..20:2 or a JSON list; repeatable.",
        ),
    ] = None,
    sample: Annotated[
        list[str] | None,
        typer.Option(
            "--sample",
            metavar="PATH=RANGE",
            help="A dimension of a Latin hypercube: 1..20, '1 us..20 us', log:1..100, or choices a,b; repeatable.",
        ),
    ] = None,
    samples: Annotated[int | None, typer.Option(min=1, help="Points of the Latin hypercube.")] = None,
    sample_seed: Annotated[int, typer.Option(min=0, help="Seed of the Latin hypercube.")] = 1,
    list_: Annotated[
        Path | None,
        typer.Option("--list", metavar="FILE", help="Points: a .csv, .json or .parquet with a column for each path."),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="Override a value of all points; repeatable."),
    ] = None,
    seed: Seed = None,
    replications: Replications = None,
    iterations: Iterations = None,
    skip_invalid: Annotated[
        bool, typer.Option("--skip-invalid", help="Leave out combinations that make no sense.")
    ] = False,
    jobs: SimulationsAtOnce = None,
    cluster: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Run on a Dask cluster: tcp://HOST:PORT or a scheduler file.")
    ] = None,
    array_index: Annotated[
        int | None, typer.Option(min=0, help="Only this part of the sweep, from 0: for job arrays, see docs/sweeps.md.")
    ] = None,
    array_size: Annotated[
        int | None, typer.Option(min=1, help="Into how many parts. [default: $SLURM_ARRAY_TASK_COUNT]")
    ] = None,
    store: Store = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="DIR", help="Where results go. [default: out/NAME-sweep]")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print no progress and no summary.")] = False,
    json_: Annotated[bool, typer.Option("--json", help="Print what was done as JSON.")] = False,
) -> None:
    """Simulates many points in parallel; what was simulated before is not simulated again.

    Without --grid, --sample or --list the scenario's own sweep. Killed or interrupted at any moment, the same command
    goes on where it was. Writes results.parquet, samples.parquet and sweep.json, and for up to 2000 points what `run`
    writes.
    """
    from contend.cli.plan_options import read_plan
    from contend.common.files import make_writable_directory, output_folder, refuse_replacing
    from contend.common.interruption import held_back
    from contend.results.earlier import earlier_in
    from contend.results.output import INTERRUPTED_FOLDER, Saved, default_directory, has_complete_results
    from contend.scenarios.resolution import COMMAND_LINE, open_scenario, parse_override
    from contend.scenarios.scenario import Scenario
    from contend.sweeps.sweep import sweep as carry_out

    shorthands = (
        ("run.seed", "--seed", seed),
        ("run.replications", "--replications", replications),
        ("workload.iterations", "--iterations", iterations),
    )
    overrides = overrides_of(set_, {path: value for path, _, value in shorthands})
    file, text = open_scenario(scenario)
    wanted = Scenario(file, tuple(overrides), text, COMMAND_LINE)
    plan = read_plan(grid or [], sample or [], samples, sample_seed, list_)
    swept = "--grid" if grid else "--sample" if sample else f"--list {list_}"
    fixed = dict.fromkeys((path for path, _ in map(parse_override, set_ or [])), "--set")
    _refuse_contradictions(
        swept, plan, fixed | {path: option for path, option, value in shorthands if value is not None}
    )
    share = _share(array_index, array_size)
    directory = out if out is not None else default_directory(f"{wanted.name}-sweep")
    read = [("scenario", file), *([("list of points", list_)] if list_ is not None else [])]
    for name in _READABLE:
        refuse_replacing(f"-o {directory}: {name}", [directory / name], read)
    interrupted: InterruptedRunError | None = None
    earlier = earlier_in(directory)
    with output_folder(directory if share is None else None):
        try:
            results = carry_out(
                wanted, plan, jobs=jobs, cluster=cluster, store=store, share=share, skip_invalid=skip_invalid,
                progress=not (quiet or json_),
            )  # fmt: skip
        except InterruptedRunError as error:
            from contend.sweeps.sweep import SweepResults

            if not isinstance(error.results, SweepResults):
                raise
            results, interrupted = error.results, error
        with held_back(unless=interrupted is not None) as held:
            target = directory
            if interrupted is not None and share is None and results.points and has_complete_results(directory):
                target /= INTERRUPTED_FOLDER
                make_writable_directory(target)
                interrupted = InterruptedRunError(
                    f"{interrupted}; what there is is in {target}: {directory} has complete results of an earlier run",
                    results=results,
                )
            saved = _save(results, target, held) if share is None and results.points else Saved([])
    written = saved.paths
    what, other = "results of other settings", "" if out is not None else "--out DIR"
    if not quiet and (note := earlier.note(results.manifest(), written, other=other, what=what)):
        print(f"contend: {note}", file=sys.stderr)
    if json_:
        sys.stdout.write(json.dumps(results.manifest() | {"files": [str(path) for path in written]}, indent=2) + "\n")
    elif not quiet:
        _print(results, written, share)
    saved.raise_shortfall(str(interrupted or ""))
    if results.failures:
        raise typer.Exit(EXIT_FAILURE)


def _refuse_contradictions(swept: str, plan: Plan | None, fixed: Mapping[str, str]) -> None:
    """One value for all points, and one for each: of the two options one would be ignored.

    Args:
        swept: The option that gives the points.
        plan: The points.
        fixed: By path the option that gives it one value.

    Raises:
        InputError: A path has both.
    """
    if plan is None or not fixed:
        return
    rows = plan.rows()
    for path, option in fixed.items():
        if path in rows[0]:
            both = f"{option} {path}" if option == "--set" else option
            raise InputError(f"{swept} gives each point its own {path}, {both} gives all of them one: leave one out")


def _share(index: int | None, size: int | None) -> tuple[int, int] | None:
    if index is None:
        if size is not None:
            raise InputError("--array-size goes with --array-index")
        return None
    if size is None:
        given = os.environ.get("SLURM_ARRAY_TASK_COUNT", "")
        if not given.isdecimal() or int(given) < 1:
            raise InputError("--array-index needs --array-size: SLURM_ARRAY_TASK_COUNT is not set")
        size = int(given)
    if index >= size:
        raise InputError(f"--array-index {index}: the parts of {size} count from 0 to {size - 1}")
    return index, size


def _save(results: SweepResults, directory: Path, held: HeldBack) -> Saved:
    from contend.results.frames import parquet_bytes
    from contend.results.output import result_numbers, result_pictures, save

    manifest = json.dumps(results.manifest(), indent=1, ensure_ascii=False) + "\n"
    contents = {
        "results.parquet": results.parquet_bytes(),
        "samples.parquet": parquet_bytes(results.samples(), {"units": results.units}),
        "sweep.json": manifest.encode(),
    }
    if len(results.points) > _MOST_IN_JSON:
        return save(directory, contents, None, held)
    contents = result_numbers(results) | contents
    return save(directory, contents, result_pictures(results), held, again="the same command draws them")


def _print(results: SweepResults, written: list[Path], share: tuple[int, int] | None) -> None:
    from contend.common.terminal import stdout_console
    from contend.plots.summary import left_out
    from contend.results.tables import render_points

    console = stdout_console()
    if results.points and share is None:
        console.print(render_points(results, _MOST_ROWS_SHOWN))
    lines = [
        f"{results.name}: {counted(len(results.points), 'point')}; {counted(results.simulated, 'simulation')} done, "
        f"{results.reused} were there already" + (f", {results.damaged} were damaged" if results.damaged else "")
    ]
    if share is not None:
        lines.append(f"part {share[0]} of {share[1]}; the same command without --array-index puts all parts together")
    lines += [f"note: {note}" for note in results.notes]
    if any(path.name == "plot.png" for path in written):
        lines += [f"note: {note}" for note in left_out(results)]
    if results.skipped:
        lines.append(_skipped_text(results.skipped, is_written=bool(written)))
    for failure in results.failures[:_MOST_FAILURES_SHOWN]:
        lines.append(f"failed: {parameters_text(failure.parameters, ', ')}: {failure.message.splitlines()[0]}")
    if len(results.failures) > _MOST_FAILURES_SHOWN:
        lines.append(f"failed: {len(results.failures) - _MOST_FAILURES_SHOWN} more, all in sweep.json")
    lines += [f"wrote {path}" for path in written]
    for line in lines:
        console.print(line, highlight=False, soft_wrap=True, markup=False)


def _skipped_text(skipped: Sequence[tuple[Row, str]], *, is_written: bool) -> str:
    """How many combinations were left out, and the first with its reason."""
    row, reason = skipped[0]
    several = len(skipped) > 1
    whole = f"{counted(len(skipped), 'combination')} {'make' if several else 'makes'} no sense"
    where = f" ({'all ' if several else ''}in sweep.json)" if is_written else ""
    return f"{whole}{where}{', such as' if several else ':'} {parameters_text(row, ', ')}: {reason.splitlines()[0]}"
