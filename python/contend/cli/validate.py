"""`contend validate`."""

from __future__ import annotations

import json
from pathlib import Path  # noqa: TC003 - typer reads it when the program runs
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from contend.errors import ContendError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from contend.claims import Judged
    from contend.lockstudy import SetResult
    from contend.runner import Engine
    from contend.scenario import ResolvedScenario
    from contend.studyfit import StudyFit

CLAIMS_FILE = "claims.json"
TABLE_FILE = "claims.md"
PREDICTIONS_FILE = "predictions.json"
FITTED_FOLDER = "fitted"

DATA_COMMAND = "data"


class _ProfileFirst(TyperGroup):
    """`contend validate PROFILE DATASETS` is short for `contend validate data PROFILE DATASETS`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - any JSON value
        if args and not args[0].startswith("-") and args[0] not in self.commands:
            args = [DATA_COMMAND, *args]
        return super().parse_args(ctx, args)


validate_app = typer.Typer(
    cls=_ProfileFirst,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help="Checks predictions: `validate PROFILE DATASETS...` against measurements "
    "(options: `validate data --help`), `validate claims` against a study.",
)


def register(app: typer.Typer) -> None:
    """Adds the command."""
    from contend.cli import accuracy

    accuracy.register(validate_app, DATA_COMMAND)
    app.add_typer(validate_app, name="validate")


@validate_app.callback()
def _validate() -> None:
    """Checks predictions: `validate PROFILE DATASETS...` against measurements, `validate claims` against a study.

    Options of the first are shown by `validate data --help`.
    """


@validate_app.command("claims")
def claims(
    *,
    system: Annotated[str, typer.Argument(help="Which study: a folder of validation/.")],
    strict: Annotated[bool, typer.Option("--strict", help="End with status 1 if a claim misses.")] = False,
    only: Annotated[
        list[str] | None, typer.Option("--only", metavar="TEXT", help="Only claims whose id has this; repeatable.")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="Override a value of all scenarios; repeatable."),
    ] = None,
    fitted: Annotated[
        bool,
        typer.Option(
            "--fitted",
            help="The claims named in validation/SYSTEM/fit.json, with the profile that is fitted to its numbers.",
        ),
    ] = False,
    fit: Annotated[bool, typer.Option("--fit", help="Fit that profile first: --fitted after some minutes.")] = False,
    evaluations: Annotated[
        int, typer.Option(min=20, help="Most sets of prices that a start of the fit looks at.")
    ] = 1800,
    replications: Annotated[int | None, typer.Option(min=1, help="Independent runs of each point.")] = None,
    iterations: Annotated[int | None, typer.Option(min=1, help="Timed iterations of the workload.")] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", min=1, metavar="N", help="Runs at once. [default: all cores]")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="Where the files go. [default: validation/SYSTEM]"),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print no progress and no tables.")] = False,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Checks the statements of a study: claim, prediction with 95 % interval, verdict. Misses are listed, not hidden.

    Simulates what is needed (results are kept in out/validation and reused while nothing changed), and writes
    claims.json and predictions.json. With --only or overrides they are written only where --out says. --fitted writes
    them into the folder fitted, --fit the prices into the profile as well.
    """
    from contend.choice import check_parts, has_part
    from contend.claims import as_markdown, judge, load_claims, predict
    from contend.evidence import Evidence
    from contend.files import make_writable_directory, write_files
    from contend.paths import require_repository
    from contend.runner import default_jobs, make_engine
    from contend.scenario import parse_override
    from contend.studyfit import claims_of_fit, load_fit

    root = require_repository("validate")
    folder = _system_folder(root / "validation", system)
    overrides = [parse_override(text) for text in set_ or []]
    for key, value in (("run.replications", replications), ("workload.iterations", iterations)):
        if value is not None:
            overrides.append((key, str(value)))
    parts = only or []
    is_standard = not parts and not overrides
    study = load_fit(root, system) if fitted or fit else None
    standard = folder / FITTED_FOLDER if study is not None else folder
    target = out if out is not None else (standard if is_standard else None)
    claims_of_system = load_claims(folder / "claims")
    if study is not None:
        claims_of_system = claims_of_fit(study, claims_of_system)
    check_parts(parts, [item.id for item in claims_of_system], f"claim of {system}")
    chosen = [item for item in claims_of_system if has_part(item.id, parts)]
    if target is not None:
        make_writable_directory(target)
    silent = quiet or json_
    engine = make_engine("contend")
    if fit and study is not None:
        _fit_to_study(root, study, engine, jobs or default_jobs(), evaluations, quiet=silent)
    evidence = Evidence(
        root / "scenarios" / system,
        engine,
        jobs=jobs or default_jobs(),
        cache=root / "out" / "validation" / system,
        overrides=overrides,
        profiles={study.in_place_of: study.profile} if study is not None else {},
        announce=_announcer(quiet=silent),
    )
    judged = judge(chosen, evidence, None if silent else _print_one)
    content = _json_bytes([item.to_json() for item in judged])
    if json_:
        typer.echo(content.decode(), nl=False)
    elif not quiet:
        _print_sum(judged)
    if target is not None:
        table = as_markdown(judged, f"Claims of {system}" + (f" on {study.profile}" if study is not None else ""))
        paths = write_files(target, {CLAIMS_FILE: content, TABLE_FILE: table.encode()})
        if not parts and (file := folder / "predictions.py").is_file():
            paths += write_files(target, {PREDICTIONS_FILE: _json_bytes(predict(file, evidence))})
        if not silent:
            print("\n".join(f"wrote {path}" for path in paths))
    misses = [item.claim.id for item in judged if item.verdict != "holds"]
    if strict and misses:
        raise ContendError(f"{len(misses)} of {len(judged)} claims miss: {', '.join(misses)}")


def _fit_to_study(root: Path, study: StudyFit, engine: Engine, jobs: int, evaluations: int, *, quiet: bool) -> None:
    """Writes fitted prices into the machine's profile."""
    from contend.lockfit import write_to_profile
    from contend.studyfit import STARTS, fit, profile_of
    from contend.terminal import ProgressReport

    with ProgressReport(f"fit of {study.profile}", STARTS * evaluations, quiet=quiet) as report:
        found = fit(study, engine, jobs=jobs, evaluations=evaluations, progress=report.advance)
    write_to_profile(profile_of(root, study.profile), found.values)
    if not quiet:
        print(f"{study.profile}: cost of each start {', '.join(f'{cost:.1f}' for cost in found.costs)}")
        for target, value in zip(study.targets, found.predicted, strict=True):
            print(f"    {target.measure} of {target.point.label()}: {value:.4g} (the study: {target.value:.4g})")
        print("".join(f"    {path} = {value}\n" for path, value in found.values.items()), end="")


@validate_app.command("locks")
def locks(
    *,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="TEXT", help="Only published sets whose name has this; repeatable."),
    ] = None,
    fit: Annotated[
        bool, typer.Option("--fit", help="First fit the machines' prices to the points with the fewest threads.")
    ] = False,
    evaluations: Annotated[int, typer.Option(min=10, help="Most evaluations of a fit.")] = 900,
    strict: Annotated[bool, typer.Option("--strict", help="End with status 1 if a set misses its targets.")] = False,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", min=1, metavar="N", help="Runs at once. [default: all cores]")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="DIR", help="Where the files go. [default: validation/locks]")
    ] = None,
    plots: Annotated[
        Path | None, typer.Option("--plots", metavar="DIR", help="Where a picture of each set goes. [default: none]")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print no tables.")] = False,
) -> None:
    """Compares simulated lock costs with published measurements, set by set.

    Writes results.json and results.md; with --only, only where --out says. --fit writes the fitted prices into the
    machine profiles and the producers' own work into sets.json.
    """
    from contend.files import output_folder, write_files
    from contend.lockstudy import as_markdown, load_sets, measured_points, predict
    from contend.paths import require_repository
    from contend.runner import default_jobs, make_engine, total_weight
    from contend.terminal import ProgressReport

    root = require_repository("validate")
    folder = root / "validation" / "locks"
    target = out if out is not None else (None if only else folder)
    engine = make_engine("contend")
    count = jobs or default_jobs()
    with output_folder(target), output_folder(plots):
        if fit:
            _fit_sets(root, only or [], engine, jobs=count, evaluations=evaluations, quiet=quiet)
        sets = [(lock_set, measured_points(lock_set)) for lock_set in load_sets(root, only or [])]
        total = total_weight([entry.point for _, points in sets for entry in points])
        results = []
        with ProgressReport("locks", total, quiet=quiet) as report:
            for lock_set, points in sets:
                report.say(lock_set.name)
                results.append(predict(lock_set, points, engine, count, progress=report.advance))
        table = as_markdown(results)
        if target is not None:
            paths = write_files(
                target,
                {"results.json": _json_bytes([result.to_json() for result in results]), "results.md": table.encode()},
            )
            if not quiet:
                print("\n".join(f"wrote {path}" for path in paths))
        if not quiet:
            print(table if only else table.split("\n## ")[0])
        if plots is not None:
            _draw_sets(results, plots, quiet=quiet)
    misses = [result.set.name for result in results if result.holds() is False]
    if strict and misses:
        raise ContendError(f"{len(misses)} sets miss their targets: {', '.join(misses)}")


def _fit_sets(root: Path, only: Sequence[str], engine: Engine, *, jobs: int, evaluations: int, quiet: bool) -> None:
    """Writes fitted prices into the machine profiles, and what a set fits of its own workload into sets.json."""
    from contend.files import write_file
    from contend.lockfit import fit, write_to_profile
    from contend.lockstudy import load_sets
    from contend.terminal import ProgressReport

    file = root / "validation" / "locks" / "sets.json"
    study = json.loads(file.read_text(encoding="utf-8"))
    for lock_set in load_sets(root, only):
        if not lock_set.entry["fit"] and not lock_set.entry.get("fit_workload"):
            continue
        profile = root / "calibration" / "profiles" / f"{lock_set.entry['profile']}.json"
        with ProgressReport(f"fit to {lock_set.name}", evaluations, quiet=quiet) as report:
            found = fit(lock_set, profile, engine, jobs=jobs, evaluations=evaluations, progress=report.advance)
        write_to_profile(profile, found.values)
        own = {path: text for path, text in found.values.items() if path.startswith("workload.")}
        for entry in study["sets"]:
            if entry["set"] == lock_set.name and own:
                entry["overrides"] = own
        if not quiet:
            print(f"{lock_set.name}: {found.points} points, cost {found.cost_before:.4f} -> {found.cost_after:.4f}")
            print("".join(f"    {path} = {text}\n" for path, text in found.values.items()), end="")
    write_file(file, (json.dumps(study, indent=1, ensure_ascii=False) + "\n").encode())


def _draw_sets(results: Sequence[SetResult], folder: Path, *, quiet: bool) -> None:
    from contend.plots.acquisitions import draw_lock_set

    drawn = [draw_lock_set(result).save(folder / f"{result.set.name}.png") for result in results if result.rows]
    if not quiet:
        print("\n".join(f"wrote {path}" for path in drawn))


def _system_folder(validation: Path, system: str) -> Path:
    known = sorted(path.parent.name for path in validation.glob("*/claims"))
    if system not in known:
        raise InputError(f"no claims of {system!r}; there are: {', '.join(known) or 'none'}")
    return validation / system


def _json_bytes(document: object) -> bytes:
    return (json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _announcer(*, quiet: bool) -> Callable[[ResolvedScenario], Callable[[float], None]]:
    """Makes a progress report for each scenario that has to be simulated."""
    from contend.runner import total_weight
    from contend.terminal import ProgressReport

    def announce(resolved: ResolvedScenario) -> Callable[[float], None]:
        total = total_weight(resolved.points)
        report = ProgressReport(resolved.name, total, quiet=quiet)
        report.__enter__()
        done = 0.0

        def advance(amount: float) -> None:
            nonlocal done
            done += amount
            report.advance(amount)
            if done >= total:
                report.__exit__(None, None, None)

        return advance

    return announce


def _print_one(item: Judged) -> None:
    """A claim as it is judged: verdict and statement, then expectation and prediction."""
    from rich.text import Text

    from contend.claims import number_text
    from contend.terminal import stdout_console

    holds = item.verdict == "holds"
    line = Text.assemble((f"{item.verdict:6}", "bold green" if holds else "bold red"), "  ", (item.claim.id, "bold"))
    line.append(f"  {item.claim.statement} [{item.claim.source}]")
    details = [f"expected {item.claim.expected}"]
    if item.predicted is None:
        details.append(f"no prediction: {item.problem}")
    else:
        interval = "" if item.ci95 is None else f" ({number_text(item.ci95[0])} to {number_text(item.ci95[1])})"
        details.append(f"predicted {number_text(item.predicted)}{interval}")
        if item.ci95 is not None and not item.is_clear:
            details.append("the interval reaches across the limit")
    if item.claim.calibrated:
        details.append("a target of calibration, no prediction")
    if item.claim.remark:
        details.append(item.claim.remark)
    line.append(f"\n        {'; '.join(details)}")
    stdout_console().print(line, soft_wrap=True, highlight=False)


def _print_sum(judged: Sequence[Judged]) -> None:
    holding = [item for item in judged if item.verdict == "holds"]
    calibrated = sum(item.claim.calibrated for item in holding)
    print(f"\n{len(holding)} of {len(judged)} claims hold ({calibrated} of them were targets of calibration)")
    misses = [item.claim.id for item in judged if item.verdict != "holds"]
    if misses:
        print(f"misses: {', '.join(misses)}")
