"""`contend compare`."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from contend.cli.options import AsJson, Iterations, Quiet, RunsAtOnce, ScenarioName, Store, overrides_of
from contend.common.documents import json_bytes
from contend.common.errors import InputError
from contend.common.spelling import counted, parameters_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.console import RenderableType

    from contend.common.errors import ContendError
    from contend.common.fitting_table import FittingTable
    from contend.common.statistics import Estimate
    from contend.comparisons.comparison import Comparison
    from contend.comparisons.paired import Difference
    from contend.scenarios.resolution import ResolvedScenario

RESULT = "compare.json"
# What makes pairs of the runs of both sides, with the option that sets it.
_OF_BOTH = {"run.seed": "--seed", "run.replications": "--replications"}


class Interval(StrEnum):
    """How confidence intervals of differences are found."""

    t = "t"
    bootstrap = "bootstrap"


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(compare)


def compare(
    *,
    a: ScenarioName,
    b: Annotated[str, typer.Argument(help="The other one; may be the same, changed with --set-b.")],
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="Override a value of both sides; repeatable."),
    ] = None,
    set_a: Annotated[
        list[str] | None, typer.Option("--set-a", metavar="PATH=VALUE", help="Override a value of A only.")
    ] = None,
    set_b: Annotated[
        list[str] | None, typer.Option("--set-b", metavar="PATH=VALUE", help="Override a value of B only.")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of both sides. [default: A's]")] = None,
    replications: Annotated[int | None, typer.Option(min=1, help="Pairs of runs per point. [default: A's]")] = None,
    iterations: Iterations = None,
    jobs: RunsAtOnce = None,
    interval: Annotated[
        Interval, typer.Option(help="Student's t, or a bootstrap (covers less than it says below 20 replications).")
    ] = Interval.t,
    measure: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="What the verdict is about, e.g. message_rate. [default: what the workload is about]"
        ),
    ] = None,
    check_pairing: Annotated[
        bool, typer.Option("--check-pairing", help="Run B with other seeds too, and measure what pairing gains.")
    ] = False,
    store: Store = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="DIR", help="Where results go. [default: out/compare/A_B]")
    ] = None,
    quiet: Quiet = False,
    json_: AsJson = False,
) -> None:
    """Compares two designs at each point of their sweeps: difference and ratio with 95 % intervals, and a verdict.

    Both sides run with the same seeds, replication by replication, so that chance which hits both alike drops out.
    What was simulated before is not simulated again: killed or interrupted, the same command goes on where it was.
    """
    from contend.common.files import output_folder, refuse_replacing
    from contend.common.interruption import held_back
    from contend.common.terminal import ProgressReport
    from contend.comparisons.contest import compare_scenarios, keeping, prepare
    from contend.engine.runner import default_jobs
    from contend.plots import comparison_picture_bytes
    from contend.results.earlier import earlier_in
    from contend.results.output import Pictures, default_directory, save

    shorthands = {"workload.iterations": iterations, "run.seed": seed, "run.replications": replications}
    common = overrides_of(set_, shorthands)
    changes_a, changes_b = _changes("--set-a", set_a or []), _changes("--set-b", set_b or [])
    opened_a, opened_b = _open_both(a, b)
    side_a = _resolve(opened_a, common + changes_a)
    # The pairs are made of A's seed and replications, whatever B's file says.
    run = side_a.points[0].config["run"]
    pairing = [("run.seed", str(run["seed"])), ("run.replications", str(run["replications"]))]
    overrides_b = common + changes_b
    side_b = _resolve(opened_b, overrides_b + pairing)
    other_seed = ("run.seed", str(int(run["seed"]) ^ 1))
    independent = _resolve(opened_b, [*overrides_b, other_seed, pairing[1]]) if check_pairing else None
    pair = default_directory(f"{side_a.name}_{side_b.name}").name
    directory = out if out is not None else Path("out") / "compare" / pair
    read = [("scenario", side.path) for side in (side_a, side_b)]
    refuse_replacing(f"-o {directory}: {RESULT}", [directory / RESULT], read)
    contest = prepare(side_a, side_b, independent, measure)
    earlier = earlier_in(directory, [RESULT])
    with output_folder(directory):
        with (
            keeping(contest, store, again="the same command", unusable=None if quiet else _say_unusable) as engine,
            ProgressReport("compare", contest.weight, quiet=quiet or json_) as report,
        ):
            comparison = compare_scenarios(
                contest,
                names=(_label(side_a, side_b, set_a), _label(side_b, side_a, set_b)),
                interval=interval.value,
                measure=measure,
                jobs=jobs or default_jobs(),
                progress=report.advance,
                engine=engine,
            )
        with held_back() as held:
            content = comparison.to_json()
            document = json_bytes(content)
            pictures = Pictures("plot", lambda: comparison_picture_bytes(comparison))
            saved = save(directory, {RESULT: document}, pictures, held, again="the same command draws them")
    paths = saved.paths
    if not quiet and (
        note := earlier.note(content, paths, other="" if out else "--out DIR", what="another comparison")
    ):
        print(f"contend: {note}", file=sys.stderr)
    if json_:
        sys.stdout.write(document.decode())
    elif not quiet:
        remarks = [f"note: {note}" for note in dict.fromkeys([*side_a.remarks, *side_b.remarks])]
        if engine is not None and engine.reused:
            remarks.insert(0, f"{counted(engine.simulated, 'simulation')} done, {engine.reused} were there already")
        _print(comparison, [*remarks, *(f"wrote {path}" for path in paths)])
    saved.raise_shortfall()


def _say_unusable(error: ContendError) -> None:
    print(f"contend: {error}: an interrupted comparison would begin anew (--store DIR)", file=sys.stderr)


def _print(comparison: Comparison, lines: Sequence[str]) -> None:
    from contend.common.terminal import stdout_console

    console = stdout_console()
    console.print(_render(comparison))
    for line in lines:
        console.print(line, highlight=False, soft_wrap=True)


def _changes(option: str, words: list[str]) -> list[tuple[str, str]]:
    """What one side alone has.

    Raises:
        InputError: It is what both sides run with, so that they are pairs.
    """
    from contend.scenarios.resolution import parse_override

    changes = [parse_override(text) for text in words]
    for path, value in changes:
        if (common := _OF_BOTH.get(path)) is not None:
            raise InputError(f"{option} {path}={value}: both sides run with the same {path}; {common} sets it")
    return changes


def _open_both(a: str, b: str) -> tuple[tuple[Path, str | None], tuple[Path, str | None]]:
    """Both sides as open_scenario gives them; a pipe, which gives its text once, may be both."""
    from contend.common.reading import input_path
    from contend.scenarios.resolution import open_scenario

    opened_a = open_scenario(a)
    try:
        is_both = opened_a[1] is not None and input_path(a).samefile(input_path(b))
    except OSError:  # the name of a shipped one
        is_both = False
    return opened_a, opened_a if is_both else open_scenario(b)


def _resolve(opened: tuple[Path, str | None], overrides: list[tuple[str, str]]) -> ResolvedScenario:
    from contend.scenarios.resolution import resolve_scenario

    path, text = opened
    return resolve_scenario(path, overrides, text)


def _label(own: ResolvedScenario, other: ResolvedScenario, changes: list[str] | None) -> str:
    """What a side is called: its scenario, and what was changed where that tells the sides apart."""
    if own.name != other.name:
        return own.name
    return own.name + (f" with {', '.join(changes)}" if changes else "")


def _interval(low: float | None, high: float | None, form: str) -> str:
    return "-" if low is None or high is None else f"{low:{form}} to {high:{form}}"


def _difference_interval(difference: Estimate, text: Callable[[float], str], *, symmetric: bool) -> str:
    """Half of an interval that lies evenly around the mean; both ends of another one."""
    low, high, half = difference.low, difference.high, difference.half_width
    if low is None or high is None or half is None:
        return "-"
    return f"± {text(half)}" if symmetric else f"{text(low)} to {text(high)}"


def _ratio_cells(difference: Difference) -> list[str]:
    ratio = difference.ratio
    value = "-" if ratio.value is None else f"{ratio.value:.3f}"
    return [value, _interval(ratio.low, ratio.high, ".3f")]


def _render(comparison: Comparison) -> RenderableType:
    from rich.console import Group
    from rich.text import Text

    from contend.common.amounts import rate_text, time_text
    from contend.common.fitting_table import FittingTable

    names = list(comparison.points[0].parameters)
    measure = comparison.measure
    text = time_text if measure.is_time else rate_text
    table = FittingTable(f"B against A, {measure.title}", f"95 % intervals of {comparison.interval} over paired runs")
    sides = [side if measure.is_time else f"{side} {measure.short_unit}".rstrip() for side in "AB"]
    for name in names:
        table.add_column(name, justify="right", is_name=True)
    for title in sides:
        table.add_column(title, justify="right")
    for title in ("B - A", "95 % CI"):
        table.add_column(title, justify="right", left_out=0)
    for title in ("B / A", "95 % CI"):
        table.add_column(title, justify="right")
    table.add_column("B is", is_name=True)
    for point in comparison.points:
        found = point.rate
        table.add_row(
            *(str(point.parameters[name]) for name in names),
            text(found.a.mean),
            text(found.b.mean),
            text(found.difference.mean),
            _difference_interval(found.difference, text, symmetric=comparison.interval == "t"),
            *_ratio_cells(found),
            point.verdict,
        )
    parts: list[RenderableType] = [
        Text(f"A = {comparison.name_a}\nB = {comparison.name_b}\n"),
        table,
        *_other_tables(comparison, names),
        Text(_remarks(comparison)),
    ]
    return Group(*parts)


def _other_tables(comparison: Comparison, names: list[str]) -> list[RenderableType]:
    """Other measures, and counters, of the last point, where designs usually differ most."""
    from contend.common.amounts import count_text, quantity
    from contend.results.measures import ESTIMATED, SCALARS, measure_named

    point = comparison.points[-1]
    place = parameters_text({name: point.parameters[name] for name in names}, ", ")
    measures = _difference_table("other measures", place)
    counters = _difference_table("counters", place, "means of one replication, warm-up included")
    for name, difference in point.measures.items():
        sides = (difference.a.mean, difference.b.mean)
        if name in (*ESTIMATED, *SCALARS, *point.own):
            if name != comparison.measure.name:
                other = measure_named(name, comparison.words)
                cells = [quantity(mean, other.short_unit) for mean in sides]
                measures.add_row(other.title, *cells, *_ratio_cells(difference), difference.verdict)
        else:
            cells = [count_text(round(mean, 1)) for mean in sides]
            counters.add_row(name, *cells, *_ratio_cells(difference), difference.verdict)
    return [table for table in (measures, counters) if table.row_count]


def _difference_table(what: str, place: str, caption: str = "") -> FittingTable:
    from contend.common.fitting_table import FittingTable

    table = FittingTable(what + (f" at {place}" if place else ""), caption)
    table.add_column(what.rsplit(maxsplit=1)[-1].removesuffix("s"), is_name=True)
    for title in ("A", "B"):
        table.add_column(title, justify="right")
    table.add_column("B / A", justify="right", left_out=1)
    table.add_column("95 % CI", justify="right", left_out=0)
    table.add_column("B is", is_name=True)
    return table


def _verdict_text(verdicts: Sequence[str]) -> str:
    """Of all points, such as `B is faster at 3, slower at 1; no difference at 2`."""
    directions = [word for word in dict.fromkeys(verdicts) if word in ("faster", "slower")]
    others = [word for word in dict.fromkeys(verdicts) if word not in directions]
    if len(verdicts) == 1:
        return f"B is {verdicts[0]}" if directions else verdicts[0]
    told = [f"B is {', '.join(f'{word} at {verdicts.count(word)}' for word in directions)}"] if directions else []
    return "; ".join([*told, *(f"{word} at {verdicts.count(word)}" for word in others)])


def _remarks(comparison: Comparison) -> str:
    verdicts = [point.verdict for point in comparison.points]
    lines = [f"{counted(len(verdicts), 'point')} compared: {_verdict_text(verdicts)}."]
    lines += comparison.reader_remarks
    for count, side in ((comparison.only_a, "A"), (comparison.only_b, "B")):
        if count:
            lines.append(f"Without a counterpart, left out: {counted(count, 'point')} of {side}.")
    if comparison.variance_reduction is not None:
        lines.append(
            "Variance reduction by common random numbers (above 1: pairing helps): "
            f"{comparison.variance_reduction:.2f}, estimated from the pairs."
        )
    if comparison.measured_reduction is not None:
        lines.append(f"Measured against runs of B with other seeds: {comparison.measured_reduction:.2f}.")
    return "\n".join(lines) + "\n"
