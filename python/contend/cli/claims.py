"""`contend validate claims STUDY`."""

from __future__ import annotations

import contextlib
import sys
from dataclasses import dataclass, replace
from pathlib import Path  # noqa: TC003 - typer reads it when the program runs
from typing import TYPE_CHECKING, Annotated

import typer

from contend.cli.options import AsJson, Iterations, Quiet, Replications, RunsAtOnce, overrides_of
from contend.common.documents import json_bytes
from contend.common.errors import ContendError, InputError
from contend.common.nearest import proposal
from contend.common.spelling import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from contextlib import AbstractContextManager

    from contend.engine.runner import Engine
    from contend.scenarios.resolution import ResolvedScenario
    from contend.studies.claims import Claim, Judged
    from contend.studies.evidence import Evidence
    from contend.studyfit.description import StudyFit
    from contend.studyfit.draws import Draws
    from contend.sweeps.store import ResultStore

CLAIMS_FILE = "claims.json"
TABLE_FILE = "claims.md"
PREDICTIONS_FILE = "predictions.json"
_EVALUATIONS = 1800


def register(app: typer.Typer) -> None:
    """Adds the command to those of `contend validate`."""
    app.command("claims")(claims)


def claims(
    *,
    system: Annotated[str, typer.Argument(metavar="STUDY", help="Which study: a folder of validation/.")],
    strict: Annotated[bool, typer.Option("--strict", help="End with status 1 if a claim misses.")] = False,
    only: Annotated[
        list[str] | None, typer.Option("--only", metavar="TEXT", help="Only claims whose id has this; repeatable.")
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="Override a value of all scenarios; repeatable."),
    ] = None,
    fit: Annotated[
        bool, typer.Option("--fit", help="Fit the profile of validation/STUDY/fit.json first, for some minutes.")
    ] = False,
    evaluations: Annotated[
        int | None,
        typer.Option(min=20, help="With --fit: most sets of prices that a start looks at. [default: 1800]"),
    ] = None,
    draws: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Where validation/STUDY/fit.json says what prices are fitted to: the claims that it names are judged "
            "with so many draws of the prices' posterior, too. [default: all that are kept; with --only or overrides "
            "none]",
        ),
    ] = None,
    replications: Replications = None,
    iterations: Iterations = None,
    jobs: RunsAtOnce = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="Where the files go. [default: validation/STUDY]"),
    ] = None,
    quiet: Quiet = False,
    json_: AsJson = False,
) -> None:
    """Checks the statements of a study: claim, prediction with 95 % interval, verdict. Misses are listed, not hidden.

    Simulates what is needed (results are kept in out/validation and reused while nothing changed), and writes
    claims.json and predictions.json; neither where something fails that says nothing of a claim. With --only or
    overrides they are written only where --out says. --fit writes the prices into the profile and their posterior
    beside the claims as well.
    """
    from contend.common.files import output_folder, write_files
    from contend.common.paths import require_repository
    from contend.engine.runner import default_jobs, make_engine
    from contend.studies.claims import as_markdown
    from contend.studyfit.description import FIT_FILE, load_fit
    from contend.sweeps.store import ResultStore

    _check_fit_options(
        fit=fit, evaluations=evaluations, chooses=bool(only or set_ or draws is not None or replications or iterations)
    )
    root = require_repository("validate")
    folder = _system_folder(root / "validation", system)
    overrides = overrides_of(set_, {"run.replications": replications, "workload.iterations": iterations})
    parts = only or []
    is_standard = not parts and not overrides and draws is None
    study = load_fit(root, system) if fit or draws or (folder / FIT_FILE).is_file() else None
    target = out if out is not None else (folder if is_standard else None)
    chosen = _chosen(folder, parts)
    silent = quiet or json_
    with output_folder(target), contextlib.closing(ResultStore(root / "out" / "validation" / system)) as store:
        place = _Place(root, system, make_engine("contend"), jobs or default_jobs(), store, tuple(overrides))
        if fit and study is not None:
            _fit_to_study(place, study, evaluations or _EVALUATIONS, quiet=silent)
        is_over_draws = is_standard if draws is None else draws > 0
        has_predictions = target is not None and not parts
        kept = place.draws(study) if study is not None and (is_over_draws or has_predictions) else None
        over = place.first(draws, kept) if kept is not None and is_over_draws else None
        evidence = place.evidence(quiet=silent)
        judged = _judge(chosen, evidence, over, quiet=silent)
        content = json_bytes([item.to_json() for item in judged])
        paths: list[Path] = []
        if target is not None:
            table = as_markdown(judged, f"Claims of {system}", _about_the_fit(study, judged))
            more = _predictions(place, evidence, kept, quiet=silent) if has_predictions else {}
            paths = write_files(target, {CLAIMS_FILE: content, TABLE_FILE: table.encode(), **more})
    if json_:
        typer.echo(content.decode(), nl=False)
    elif not quiet:
        _print_sum(judged)
        for path in paths:
            print(f"wrote {path}")
    misses = [item.claim.id for item in judged if item.verdict != "holds"]
    if strict and misses:
        raise ContendError(f"{len(misses)} of {len(judged)} claims miss: {', '.join(misses)}")


def _check_fit_options(*, fit: bool, evaluations: int | None, chooses: bool) -> None:
    if evaluations is not None and not fit:
        raise InputError("--evaluations is for a fit: it does nothing without --fit")
    if fit and chooses:
        raise InputError("--fit judges everything with what it finds: --only, --draws and overrides go without it")


@dataclass(frozen=True)
class _Place:
    """A study in a checkout, and what simulates it."""

    root: Path
    system: str
    engine: Engine
    jobs: int
    store: ResultStore
    overrides: tuple[tuple[str, str], ...]

    @property
    def folder(self) -> Path:
        return self.root / "validation" / self.system

    @property
    def posterior_file(self) -> Path:
        from contend.studyfit.posterior import POSTERIOR_FILE

        return self.folder / POSTERIOR_FILE

    def evidence(self, *, quiet: bool) -> Evidence:
        """The scenarios as they are."""
        from contend.studies.evidence import Evidence

        return Evidence(
            self.root / "scenarios" / self.system,
            self.engine,
            jobs=self.jobs,
            store=self.store,
            overrides=self.overrides,
            announce=_announcer(quiet=quiet),
        )

    def draws(self, study: StudyFit) -> Draws:
        """The scenarios with all draws of the fitted prices that are kept; says if another build made them."""
        from contend.engine.core import fingerprint
        from contend.studyfit.draws import Draws
        from contend.studyfit.posterior import load_posterior

        posterior = load_posterior(self.posterior_file, study)
        if posterior.core not in {None, fingerprint()}:
            print(
                f"contend: warning: another build of the simulator made the draws of {self.posterior_file} "
                f"({posterior.core}; this is {fingerprint()})",
                file=sys.stderr,
            )
        scenarios = self.root / "scenarios" / self.system
        return Draws(study, posterior, scenarios, self.engine, self.jobs, self.store, self.overrides)

    def first(self, count: int | None, draws: Draws) -> Draws:
        """So many of the draws; all of them if that is not said."""
        if count is not None and count > len(draws):
            raise InputError(f"--draws {count}: {self.posterior_file} has {len(draws)}")
        return replace(draws, posterior=replace(draws.posterior, draws=draws.posterior.draws[:count]))


def _chosen(folder: Path, parts: list[str]) -> list[Claim]:
    """The claims whose id has one of the parts."""
    from contend.scenarios.choice import check_parts, has_part
    from contend.studies.claims import load_claims

    known = load_claims(folder / "claims")
    check_parts(parts, [item.id for item in known], f"claim of {folder.name}")
    return [item for item in known if has_part(item.id, parts)]


def _fit_to_study(place: _Place, study: StudyFit, evaluations: int, *, quiet: bool) -> None:
    """Writes the most probable prices into the machine's profile, and how probable others are beside the claims."""
    from contend.common.files import make_writable_directory, write_files
    from contend.common.terminal import ProgressReport
    from contend.studies.lock_fit import write_to_profile
    from contend.studyfit.description import profile_of
    from contend.studyfit.posterior import ASSIMILATIONS, MEMBERS, how_identified, sample, to_json
    from contend.studyfit.search import STARTS, fit

    profile = profile_of(place.root, study.profile)
    for folder in (place.posterior_file.parent, profile.parent):
        make_writable_directory(folder)
    with ProgressReport(f"fit of {study.profile}", STARTS * evaluations, quiet=quiet) as report:
        found = fit(study, place.engine, jobs=place.jobs, evaluations=evaluations, progress=report.advance)
    with ProgressReport("posterior", MEMBERS * (ASSIMILATIONS + 1), quiet=quiet) as report:
        posterior = sample(study, place.engine, jobs=place.jobs, progress=report.advance)
    write_files(place.posterior_file.parent, {place.posterior_file.name: json_bytes(to_json(study, posterior))})
    write_to_profile(profile, found.values, how_identified(study, place.system, posterior.narrowed))
    if quiet:
        return
    print(f"{study.profile}: cost of each start {', '.join(f'{cost:.1f}' for cost in found.costs)}")
    for target, value, known in zip(study.targets, found.predicted, posterior.targets, strict=True):
        others = f"{known.median:.4g}, {known.low:.4g} to {known.high:.4g} over the posterior"
        print(f"    {target.measure} of {target.point.label()}: {value:.4g} ({others}; the study: {target.value:.4g})")
    for path, price in found.values.items():
        others = ""
        if path in posterior.prices:
            median, low, high = posterior.prices[path]
            others = f" ({median}, {low} to {high}; {posterior.narrowed[path]:.2f} of what was expected)"
        print(f"    {path} = {price}{others}")


def _judge(chosen: Sequence[Claim], evidence: Evidence, draws: Draws | None, *, quiet: bool) -> list[Judged]:
    """The claims with what they come out at, each printed as soon as all of that is known."""
    from contend.studies.claims import judge

    def print_complete(item: Judged) -> None:
        if not quiet and (draws is None or not draws.are_for(item.claim)):
            _print_one(item)

    judged = judge(chosen, evidence, print_complete)
    return judged if draws is None or not judged else _over_draws(judged, evidence, draws, quiet=quiet)


def _over_draws(judged: Sequence[Judged], evidence: Evidence, draws: Draws, *, quiet: bool) -> list[Judged]:
    """The claims with what they come out at over the posterior of the prices."""
    from contend.common.terminal import ProgressReport
    from contend.studies.claims import single_runs
    from contend.studyfit.draws import judge_over

    chosen = [item for item in judged if draws.are_for(item.claim)]
    if not chosen:
        raise InputError("none of these claims is judged with draws of the prices: validation/*/fit.json names those")
    for item in chosen:
        if item.predicted is not None:
            what = f"over_draws of fit.json names the claim {item.claim.id}"
            _check_machine(what, item.scenarios, evidence, draws.study)
    claims = [item.claim for item in chosen]
    with ProgressReport(f"{len(draws)} draws of prices", len(draws) * len(claims), quiet=quiet) as report:
        drawn = judge_over(claims, draws, report.advance)
    if not drawn:
        raise ContendError(f"no claim can be computed with any of the {len(draws)} draws of prices")
    complete = []
    for item in judged:
        over = drawn.get(item.claim.id)
        found = replace(item, drawn=over and replace(over, single_runs=single_runs(item.claim, evidence)))
        complete.append(found)
        if not quiet and draws.are_for(item.claim):
            _print_one(found)
    return complete


def _check_machine(what: str, scenarios: Iterable[str], evidence: Evidence, study: StudyFit) -> None:
    """A draw is of the prices of one machine, and would be set on any."""
    for scenario in scenarios:
        if (machine := evidence.machine(scenario)) != study.profile:
            raise InputError(
                f"{what}, whose scenario {scenario} is of the machine {machine}; draws are of the prices of "
                f"{study.profile}"
            )


def _about_the_fit(study: StudyFit | None, judged: Sequence[Judged]) -> str:
    """What a reader of the table must know: which claims are judged with more than the most probable prices."""
    counts = [item.drawn.draws for item in judged if item.drawn is not None]
    if study is None or not counts:
        return ""
    return (
        f"Of the machine of profile `{study.profile}` {counted(len(counts), 'claim')} "
        f"{'is' if len(counts) == 1 else 'are'} also computed with {counts[0]} draws of its prices' posterior, the "
        "others with the most probable prices only."
    )


def _predictions(place: _Place, evidence: Evidence, draws: Draws | None, *, quiet: bool) -> dict[str, bytes]:
    """The file of predictions, by its name; nothing for a study that has none.

    Numbers that were not known: over the posterior of prices where one is kept, else with the most probable ones.
    """
    from contend.common.terminal import ProgressReport
    from contend.studies.claims import predict
    from contend.studyfit.draws import predict_over

    file = place.folder / "predictions.py"
    if not file.is_file():
        return {}
    with evidence.recording() as used:
        predictions = predict(file, evidence)
    if draws is not None:
        _check_machine(f"{file} is computed with draws of prices", used, evidence, draws.study)
        with ProgressReport(f"predictions with {len(draws)} draws of prices", len(draws), quiet=quiet) as report:
            over = predict_over(file, draws, report.advance)
        predictions = {
            **over,
            "predicted_with": {
                "profile": draws.study.profile, "draws": len(draws), "posterior": place.posterior_file.name,
            },
            "with_the_most_probable_prices_and_the_error_of_simulations_only": predictions,
        }  # fmt: skip
    return {PREDICTIONS_FILE: json_bytes(predictions)}


def _system_folder(validation: Path, system: str) -> Path:
    known = sorted(path.parent.name for path in validation.glob("*/claims"))
    if system not in known:
        raise InputError(f"no claims of {system!r}; there are: {', '.join(known) or 'none'}{proposal(system, known)}")
    return validation / system


def _announcer(*, quiet: bool) -> Callable[[ResolvedScenario], AbstractContextManager[Callable[[float], None]]]:
    """Makes a progress report for each scenario that has to be simulated."""
    from contend.common.terminal import ProgressReport
    from contend.engine.runner import total_weight

    @contextlib.contextmanager
    def announce(resolved: ResolvedScenario) -> Iterator[Callable[[float], None]]:
        with ProgressReport(resolved.name, total_weight(resolved.points), quiet=quiet) as report:
            yield report.advance

    return announce


def _print_one(item: Judged) -> None:
    """A claim as it is judged: verdict and statement, then expectation and prediction."""
    from rich.text import Text

    from contend.common.terminal import stdout_console
    from contend.studies.claims import number_text

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
    if item.drawn is not None:
        number = item.drawn.number
        over = " to ".join(map(number_text, (number.low, number.high)))
        details.append(f"over the posterior {number_text(number.median)} ({over}), holds in {item.drawn.held:.0%}")
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
    never = [item.claim.id for item in judged if item.drawn is not None and item.drawn.held == 0]
    if never:
        print(f"with no draw of the prices hold: {', '.join(never)}")
