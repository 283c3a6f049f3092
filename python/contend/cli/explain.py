"""`contend explain`."""

from __future__ import annotations

import sys
from pathlib import Path  # noqa: TC003 - typer reads it when the program runs
from typing import TYPE_CHECKING, Annotated

import typer

from contend.cli.completion import scenario_names
from contend.cli.options import Iterations, Quiet, RunsAtOnce, Seed, Settings, overrides_of
from contend.common.errors import InputError

if TYPE_CHECKING:
    from contend.common.interruption import HeldBack
    from contend.explanations.explanation import Explanation
    from contend.results.output import Saved

RESULT = "explain.json"


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(explain)


def explain(
    *,
    scenario: Annotated[
        str, typer.Argument(help="A scenario file, or the name of a shipped one.", autocompletion=scenario_names)
    ],
    set_: Settings = None,
    at: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="The point of the sweep; repeatable. [default: the last]"),
    ] = None,
    pairs: Annotated[int | None, typer.Option(min=1, help="Pairs of threads (workload.pairs).")] = None,
    seed: Seed = None,
    replications: Annotated[int | None, typer.Option(min=1, help="Independent runs of each change.")] = None,
    iterations: Iterations = None,
    jobs: RunsAtOnce = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="DIR", help="Write explain.json, speedups.csv and pictures.")
    ] = None,
    json_: Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write everything as JSON.")] = None,
    measure: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What the speed-ups are of, e.g. message_rate. [default: what the workload is about]",
        ),
    ] = None,
    speedups: Annotated[
        bool, typer.Option("--speedups/--no-speedups", help="Simulate again with every cost lowered.")
    ] = True,
    groups_only: Annotated[
        bool, typer.Option("--groups-only", help="Lower groups of costs only: sooner, and a first look.")
    ] = False,
    budget: Annotated[
        float | None,
        typer.Option(
            metavar="MINUTES",
            min=0.0,
            help="Time for these; where all would take longer, less is simulated, and the output says what. inf: all. "
            "[default: 5]",
            show_default=False,
        ),
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="Show all virtual speed-ups, not only the largest.")] = False,
    quiet: Quiet = False,
) -> None:
    """Explains one point: where the time goes, who waits for whom, and which cost would help most if it were lower.

    A scenario with a sweep is explained at its last point, unless --at chooses one. Ctrl-C ends the
    simulations with lowered costs early and shows those that are complete.
    """
    from contend.common.file_kinds import RESULT_OF_EXPLAIN, refuse_other_kind
    from contend.common.files import output_file, output_folder, refuse_replacing, write_file
    from contend.common.interruption import held_back
    from contend.common.terminal import ProgressReport, stdout_console
    from contend.engine.runner import default_jobs, total_weight
    from contend.explanations.explanation import explain as explain_point
    from contend.explanations.output import render
    from contend.explanations.speedups import BUDGET_S
    from contend.results.output import Saved
    from contend.scenarios.choice import parse_place
    from contend.scenarios.resolution import open_scenario, resolve_scenario

    if groups_only and not speedups:
        raise InputError("--groups-only says which costs are lowered, and --no-speedups that none is: give one of them")
    overrides = overrides_of(set_, {
        "workload.pairs": pairs, "run.seed": seed, "run.replications": replications, "workload.iterations": iterations,
    })  # fmt: skip
    file, text = open_scenario(scenario)
    if json_ is not None:
        refuse_replacing(f"--json {json_}", [json_], [("scenario", file)])
        refuse_other_kind(f"--json {json_}", json_, RESULT_OF_EXPLAIN)
    if out is not None:
        refuse_replacing(f"-o {out}: {RESULT}", [out / RESULT], [("scenario", file)])
    resolved = resolve_scenario(file, overrides, text)
    point, remark = resolved.one_point([parse_place(text) for text in at or []])
    if remark and not quiet:
        print(f"contend: {remark}", file=sys.stderr)
    with output_folder(out), output_file(json_):
        with ProgressReport(f"explaining {resolved.name}", total_weight([point]), quiet=quiet) as report:
            explanation = explain_point(
                resolved,
                point,
                jobs=jobs or default_jobs(),
                measure=measure,
                speedups=speedups,
                groups_only=groups_only,
                budget_s=BUDGET_S if budget is None else 60 * budget,
                progress=report,
            )
        with held_back(unless=explanation.interrupted) as held:
            if json_ is not None:
                write_file(json_, explanation.json_bytes())
            saved = _save(explanation, out, held) if out is not None else Saved([])
    written = saved.paths + ([json_] if json_ is not None else [])
    if not quiet:
        console = stdout_console()
        console.print(render(explanation, everything=all_))
        for file in written:
            console.print(f"wrote {file}", highlight=False, soft_wrap=True)
    found = "interrupted; what had finished is above" + (" and in the files" if written else "")
    saved.raise_shortfall(found if explanation.interrupted else "")


def _save(explanation: Explanation, directory: Path, held: HeldBack) -> Saved:
    from contend.results.output import Pictures, save

    contents = {RESULT: explanation.json_bytes()}
    if explanation.speedups:
        contents["speedups.csv"] = explanation.csv_bytes()

    def draw() -> dict[str, bytes]:
        from contend.explanations.output import picture_bytes

        return picture_bytes(explanation)

    return save(directory, contents, Pictures("explain", draw), held)
