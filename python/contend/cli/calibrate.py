"""`contend calibrate`."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from contend.cli.options import Mappings, Messages, OverallSeed, Quiet, SimulationsAtOnce
from contend.common.errors import InputError
from contend.common.spelling import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contend.calibrate.inputs import Inputs
    from contend.calibrate.options import Options
    from contend.calibrate.pipeline import Calibration
    from contend.common.jsontypes import JsonObject
    from contend.common.terminal import ProgressReport
    from contend.datasets.dataset import Dataset

JOURNAL = "journal.jsonl"


def _finite(minutes: float) -> float:
    """The profile that is written says the budget, and JSON has no number for one without end."""
    if not math.isfinite(minutes):
        raise InputError(f"--budget {minutes}: allowed: a number of minutes from 0.1")
    return minutes


def register(app: typer.Typer) -> None:
    """Adds the command."""
    app.command()(calibrate)


def calibrate(
    *,
    datasets: Annotated[list[Path], typer.Argument(help="Measured datasets: files, or folders of them.")],
    base: Annotated[str, typer.Option("--base", metavar="PROFILE", help="Name or file of the profile to begin with.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="PROFILE", help="The profile to write, NAME.json.")],
    mapping: Mappings = None,
    threads: Annotated[
        str | None,
        typer.Option(metavar="N,N", help="Thread counts to fit to, at most half. [default: every second one]"),
    ] = None,
    window: Annotated[
        int | None, typer.Option(min=1, help="The window to fit to. [default: the most frequent]")
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(metavar="DATASET", help="Hold a whole dataset out; repeatable.")
    ] = None,
    direct: Annotated[bool, typer.Option("--direct", help="Only direct identification, no fit.")] = False,
    posterior: Annotated[
        bool, typer.Option("--posterior/--no-posterior", help="Intervals from a posterior, or the best fit only.")
    ] = True,
    starts: Annotated[int, typer.Option(min=1, max=20, help="Starts of the optimiser.")] = 3,
    messages: Messages = 4000,
    seed: OverallSeed = 1,
    budget: Annotated[
        float,
        typer.Option(
            min=0.1,
            metavar="MINUTES",
            callback=_finite,
            help="About how long searches may take, in equal shares; counted in steps: the same on any machine.",
        ),
    ] = 5.0,
    jobs: SimulationsAtOnce = None,
    work: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where finished simulations are kept. [default: out/calibrate/NAME]"),
    ] = None,
    keep_fits: Annotated[
        bool,
        typer.Option(
            "--keep-fits", help="Keep the fits that the profile to write has; only leave thread counts out again."
        ),
    ] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Forget simulations of earlier calls.")] = False,
    quiet: Quiet = False,
    json_: Annotated[bool, typer.Option("--json", help="Print the calibration section as JSON.")] = False,
) -> None:
    """Makes a machine profile from measured datasets.

    Microbenchmarks identify parameters directly. What is left is fitted to half of the thread counts and one window of
    the message rates; the rest is held out for `contend validate`. The profile says for every parameter how it was
    found and how well the data determine it. Every finished simulation is kept: the same command goes on after Ctrl-C
    or a kill.
    """
    from contend.calibrate.evaluations import Evaluator
    from contend.calibrate.inputs import Inputs
    from contend.calibrate.mapping import load_mappings
    from contend.calibrate.measured_machine import on_measured_machine
    from contend.calibrate.options import Options
    from contend.calibrate.pipeline import calibrate as run
    from contend.calibrate.pipeline import leave_out_again
    from contend.calibrate.profile import calibrated_profile, kept_fits, profile_bytes, with_folds
    from contend.calibrate.split import calibration_side, choose_split
    from contend.common.files import output_file, output_folder, write_file
    from contend.common.terminal import ProgressReport
    from contend.datasets.reading import read_datasets
    from contend.engine.runner import default_jobs, make_engine
    from contend.measure.journal import Journal

    _check_options(keep_fits=keep_fits, direct=direct)
    _check_output(out, base, datasets, mapping or [])
    base_path, base_document = _usable_profile(base)
    mappings = load_mappings(mapping or [])
    measured = read_datasets(datasets)
    base_document = on_measured_machine(base_document, measured)
    split = choose_split(measured, _thread_list(threads), window, exclude or [])
    _warn_of_machines(calibration_side(measured, split))
    options = Options(seed, starts, messages, budget * 60, is_direct_only=direct, has_posterior=posterior)
    inputs = Inputs(measured, base_document, mappings, split)
    earlier = _earlier(out, base_path.stem, inputs, options) if keep_fits else None
    folder = work if work is not None else Path("out") / "calibrate" / out.stem
    with (
        output_file(out),
        output_folder(folder),
        Journal(folder / JOURNAL) as journal,
        ProgressReport("calibration", 0.0, quiet=quiet or json_) as report,
    ):
        if fresh:
            journal.clear()
        reporter = _Reporter(report)
        evaluator = Evaluator(make_engine("contend"), journal, jobs=jobs or default_jobs(), progress=reporter.advance)
        if earlier is not None:
            found = leave_out_again(inputs, evaluator, options, reporter, kept_fits(earlier))
            document = with_folds(earlier, found)
        else:
            found = run(inputs, evaluator, options, reporter)
            used = {one.name: one.stand_in for one in inputs.chosen_mappings}
            document = calibrated_profile(inputs.base, base_path.stem, out.stem, found, used)
        write_file(out, profile_bytes(document))
    if json_:
        print(json.dumps(document["calibration"], indent=2, ensure_ascii=False))
    elif not quiet:
        if not keep_fits:
            _print(found, document)
        print(f"{evaluator.simulated} simulations, {evaluator.found} found in {folder / JOURNAL}")
        print(f"wrote {out}")
    if not keep_fits:
        _warn(found, has_posterior=posterior)


def _warn_of_machines(datasets: Sequence[Dataset]) -> None:
    """Says where datasets are of several machines, and where they do not name theirs."""
    from contend.calibrate.measured_machine import several_machines, unnamed_machines

    for said in filter(None, (several_machines(datasets), unnamed_machines(datasets))):
        print(f"contend: warning: {said}", file=sys.stderr)


def _warn(found: Calibration, *, has_posterior: bool) -> None:
    """Says what is not as a reader of the values would think."""
    from contend.calibrate import edges

    for part in found.parts:
        if part.refused and has_posterior:
            names = ", ".join(parameter.name for parameter in part.problem.parameters)
            print(f"contend: warning: no uncertainty for {names}: {part.refused}", file=sys.stderr)
    for text in edges.warnings(found.parts):
        print(f"contend: warning: {text}", file=sys.stderr)


def _check_options(*, keep_fits: bool, direct: bool) -> None:
    if keep_fits and direct:
        raise InputError(
            "--direct makes no fits, and --keep-fits leaves thread counts out of those that the profile has: allowed: "
            "one of the two"
        )


def _check_output(out: Path, base: str, datasets: list[Path], mapping: list[Path]) -> None:
    from contend.calibrate.mapping import mapping_files
    from contend.common.file_kinds import MACHINE_PROFILE, refuse_other_kind
    from contend.common.files import refuse_replacing
    from contend.datasets.reading import dataset_files
    from contend.profiles.catalogs import PROFILES

    if out.suffix != ".json":
        raise InputError(f"-o {out}: a profile is a file NAME.json")
    read = [("base profile", PROFILES.load(base)[0])]
    read += [("dataset", file) for file in dataset_files(datasets)]
    read += [("mapping", file) for file in mapping_files(mapping)]
    refuse_replacing(f"-o {out}", [out], read)
    refuse_other_kind(f"-o {out}", out, MACHINE_PROFILE)


def _usable_profile(name: str) -> tuple[Path, JsonObject]:
    from contend.profiles.catalogs import PROFILES
    from contend.scenarios.resolution import check_profile

    path, document = PROFILES.load(name)
    check_profile(path)
    return path, document


def _earlier(out: Path, base_name: str, inputs: Inputs, options: Options) -> JsonObject:
    """The profile whose fits are kept.

    Raises:
        InputError: It has none, or does not say what they were made from, or this was something else.
    """
    from contend.calibrate.inputs import differences
    from contend.calibrate.split import has_samples_of
    from contend.profiles.catalogs import PROFILES

    _, document = PROFILES.load(str(out))
    record = document.get("calibration") or {}
    if not record.get("fits"):
        raise InputError(f"--keep-fits: {out} has no fits")
    if not isinstance(known_inputs := record.get("made_from"), dict):
        raise InputError(
            f"--keep-fits: {out} does not say what its fits were made from (an earlier version wrote it): calibrate "
            "again without --keep-fits"
        )
    split = inputs.split
    known = {key: (record.get("split") or {}).get(key) for key in split.to_json()}
    if known != split.to_json() or record.get("options") != options.to_json():
        raise InputError(f"--keep-fits: the fits of {out} are of another split, seed, effort or length of simulations")
    if record.get("base") != base_name:
        raise InputError(f"--keep-fits: the fits of {out} are upon the profile {record.get('base')}, not {base_name}")
    for dataset in inputs.datasets:
        if not has_samples_of(record.get("split") or {}, split, dataset):
            raise InputError(f"--keep-fits: the fits of {out} are of other samples than {dataset.name} has")
    made_from = inputs.digests()
    if found := differences(known_inputs, made_from):
        raise InputError(f"--keep-fits: the fits of {out} were made with other content of {', '.join(found)}")
    if known_inputs.get("core") != made_from["core"]:
        print(
            f"contend: warning: --keep-fits: another build of the simulator made the fits of {out} "
            f"({known_inputs.get('core')}; this is {made_from['core']})",
            file=sys.stderr,
        )
    return document


def _thread_list(text: str | None) -> list[int] | None:
    if text is None:
        return None
    try:
        return [int(word) for word in text.split(",")]
    except ValueError:
        raise InputError(f"--threads {text!r}: expected numbers with commas, for example 1,4,16") from None


class _Reporter:
    """Progress of a calibration: what is expected changes as searches end early."""

    def __init__(self, report: ProgressReport) -> None:
        self._report = report

    def plan(self, simulations: int) -> None:
        self._report.extend(simulations)

    def say(self, text: str) -> None:
        self._report.say(text)

    def advance(self, simulations: int) -> None:
        self._report.advance(simulations)


def _print(found: Calibration, document: JsonObject) -> None:
    from rich.text import Text

    from contend.calibrate import edges
    from contend.calibrate.identification import NO_PARAMETER
    from contend.common.terminal import stdout_console
    from contend.profiles.prices import format_price
    from contend.results.tables import titled_table

    console = stdout_console()
    direct = titled_table("direct identification")
    for title in ("parameter", "scope", "value", "95 %", "measurement"):
        direct.add_column(title, overflow="fold")
    for one in found.identified:
        direct.add_row(*map(Text, (
            one.rule.path, one.scope, str(format_price(one.value, one.kind)), one.interval_text.removesuffix(", 95 %"),
            one.rule.what,
        )))  # fmt: skip
    for gap in (one for one in found.skipped if one.reason != NO_PARAMETER):
        direct.add_row(*map(Text, (gap.rule.path, gap.scope, "-", "-", gap.reason)))
    if direct.row_count:
        console.print(direct)
    for part, entry in zip(found.parts, document["calibration"]["fits"], strict=True):
        table = titled_table(
            f"fit to {len(part.problem.targets)} points: median error {entry['error_pct']['median']} %, "
            f"90th percentile {entry['error_pct']['p90']} %"
        )
        for title in ("parameter", "base", "value", "95 %", "verdict", "largest effect", "posterior / prior"):
            table.add_column(title, overflow="fold")
        for index, (parameter, sight) in enumerate(zip(part.problem.parameters, part.sights, strict=True)):
            interval, value = "-", str(parameter.text(part.value(index)))
            if (ends := edges.interval(part, index)) is not None:
                interval = " .. ".join(str(parameter.text(end)) for end in ends)
            if edges.is_outside(part, index):
                interval += ", without the value"
            if end := edges.edge(part, index):
                value += f", {end} end"
            table.add_row(*map(Text, (
                parameter.name, str(parameter.text(parameter.base)), value, interval, str(sight.verdict),
                f"{sight.effect:.1f} sd", "-" if sight.spread is None else f"{sight.spread:.2f}",
            )))  # fmt: skip
        console.print(table)
    left = found.problem.unpredicted
    if left:
        reasons = sorted({item.reason for item in left})
        print(f"{counted(len(left), 'point')} could not be fitted: {'; '.join(reasons)}")
