"""A calibration from datasets to numbers: identification, and the fit of each part of what is left."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from contend.calibrate.cross_validation import cross_validate
from contend.calibrate.discrepancy import estimate
from contend.calibrate.expected import NOISE_REPLICATIONS, planned, simulations_of_folds
from contend.calibrate.identification import Identified, Skipped, identify
from contend.calibrate.options import PartReporter
from contend.calibrate.part_fit import fit_part, total_noise
from contend.calibrate.parts import Part, components
from contend.calibrate.problem import MACHINE, STEPS_PER_OPERATION, Builder, Problem, Unpredicted
from contend.calibrate.search import Screening
from contend.calibrate.slow_cores import lay_slow_cores_upon, simulations_of_slow_cores, slow_cores_of, with_cores_alike
from contend.calibrate.split import Split, calibration_side, split_points
from contend.calibrate.waiting_points import WAITING
from contend.common.documents import get_path, set_path
from contend.common.errors import InputError
from contend.profiles.prices import exact_price

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contend.calibrate.discrepancy import Discrepancies
    from contend.calibrate.evaluations import Evaluator
    from contend.calibrate.inputs import Inputs
    from contend.calibrate.options import Options, Reporter
    from contend.common.jsontypes import JsonObject
    from contend.datasets.dataset import Dataset, MeasuredPoint


@dataclass
class Calibration:
    """Everything that a calibration found. `made_from` are digests of what it depends on: see `Inputs`."""

    identified: list[Identified]
    skipped: list[Skipped]
    parts: list[Part]
    split: Split
    fitted: list[tuple[Dataset, MeasuredPoint]]
    held_out: list[tuple[Dataset, MeasuredPoint]]
    problem: Problem
    options: Options
    made_from: JsonObject
    slow_cores: dict[str, float] | None = None
    """What the profile says of slow cores, which no fit simulates: see contend.calibrate.slow_cores."""
    simulations: int = 0

    @property
    def discrepancies(self) -> Discrepancies | None:
        """How far off the model is at thread counts that a fit has not seen; None where none was left out."""
        return estimate([one for part in self.parts for fold in part.folds for one in fold.residuals])


# What a profile has to say of a measured value, for one that is to be read before that is known.
_TO_BE_SAID: JsonObject = {"source": "identified", "uncertainty": "identified", "basis": "measured"}


def with_identified(profile: JsonObject, identified: Sequence[Identified]) -> JsonObject:
    """A profile with directly identified values; those of a scope go to its scopes."""
    document = copy.deepcopy(profile)
    for one in identified:
        value = exact_price(one.value, one.kind)
        limits = [exact_price(one.low, one.kind), exact_price(one.high, one.kind)]
        if one.scope == MACHINE:
            path = one.rule.path.removeprefix("machine.")
            # A base need not have all. What the profile will say of it is written at the end.
            entry: JsonObject = get_path(document, path) or dict(_TO_BE_SAID)
            set_path(document, path, entry | {"value": value, "range": limits})
        else:
            scopes = document.setdefault("calibration", {}).setdefault("scopes", {})
            scopes.setdefault(one.scope, {})[one.rule.path] = {"value": value, "range": limits}
    return document


def calibrate(inputs: Inputs, evaluator: Evaluator, options: Options, reporter: Reporter) -> Calibration:
    """Runs all stages.

    Raises:
        InputError: There is nothing to fit to, or nothing to fit.
        InterruptedRunError: Ctrl-C; finished simulations are in the journal.
    """
    result = _prepared(inputs, options)
    problem = result.problem
    if options.is_direct_only:
        if not result.identified:
            raise InputError("no dataset identifies a parameter directly")
        return result
    if not problem.targets:
        why = f": {'; '.join(problem.reasons)}" if problem.reasons else ""
        raise InputError(f"none of the datasets has a point to fit to{why}")
    if not problem.dimensions:
        raise InputError("the mappings of these datasets leave nothing to fit")
    _lay_slow_cores_upon(result, evaluator, reporter)
    parts = components(problem)
    problem.refuse([
        Unpredicted(target.dataset, target.point, "its mapping leaves nothing to fit")
        for target in problem.targets if not target.unknowns  # which are in no part
    ])  # fmt: skip
    for part in parts:
        reporter.plan(planned(part, options))
    for number, part in enumerate(parts, start=1):
        # Counted from where the part begins: what stages behind the search of another part took is not its own.
        limit = evaluator.steps + options.budget_steps // len(parts)
        found, failed = fit_part(part, evaluator, options, PartReporter(reporter, number, len(parts)), limit)
        problem.refuse(failed)
        if found is not None:
            result.parts.append(found)
    if not result.parts:
        raise InputError(f"none of the points could be fitted: {'; '.join(problem.reasons)}")
    result.simulations = evaluator.simulated + evaluator.found
    return result


def _lay_slow_cores_upon(result: Calibration, evaluator: Evaluator, reporter: Reporter) -> None:
    """Points of which most simulations with slow cores fail cannot be fitted to."""
    if result.slow_cores is None:
        return
    problem = result.problem
    reporter.plan(simulations_of_slow_cores(problem, result.slow_cores))
    failed = lay_slow_cores_upon(problem, result.slow_cores, evaluator)
    problem.unpredicted += [
        Unpredicted(target.dataset, target.point, "most simulations on slow cores failed") for target in failed
    ]


def _prepared(inputs: Inputs, options: Options) -> Calibration:
    """What there is to fit, after direct identification."""
    base = copy.deepcopy(inputs.base)
    record = base.pop("calibration", None) or {}
    if record.get("scopes"):
        base["calibration"] = {"scopes": record["scopes"]}
    fitted, held_out = split_points(inputs.datasets, inputs.split)
    identified, skipped = identify(calibration_side(inputs.datasets, inputs.split), base)
    known = with_identified(base, identified)
    # Guided parameters are fitted, within the range that their rule gives.
    isolated = [(one.rule.path, one.scope) for one in identified if one.rule.isolates]
    guided = {
        (one.rule.path, one.scope): (exact_price(one.low, one.kind), exact_price(one.high, one.kind))
        for one in identified if not one.rule.isolates
    }  # fmt: skip
    # Prices are identified from single points of calls over many requests; no search looks at them.
    problem = Builder(
        with_cores_alike(known),
        inputs.mappings,
        messages=options.messages,
        seed=options.seed,
        steps_per_operation=STEPS_PER_OPERATION,
    ).build([one for one in fitted if one[0].kind != WAITING], isolated, guided)
    return Calibration(
        identified,
        skipped,
        [],
        inputs.split,
        fitted,
        held_out,
        problem,
        options,
        made_from=inputs.digests(),
        slow_cores=slow_cores_of(known),
    )


@dataclass(frozen=True)
class KeptFit:
    """A fit of an earlier calibration: names of what was fitted, and its points.

    A point is the name of its dataset and its parameters.
    """

    fitted: tuple[str, ...]
    points: list[tuple[str, JsonObject]]


@dataclass(frozen=True)
class KeptFits:
    """What an earlier calibration fitted; the points that are in none of its fits; what was laid upon them."""

    fits: list[KeptFit]
    not_fitted: list[tuple[str, JsonObject]]
    slow_cores: dict[str, float] | None


def leave_out_again(
    inputs: Inputs,
    evaluator: Evaluator,
    options: Options,
    reporter: Reporter,
    kept: KeptFits,
) -> Calibration:
    """Thread counts left out of fits that are there already: what a whole calibration does behind them.

    Parts have problem and folds, and nothing else.

    Raises:
        InputError: The fits are of other points or parameters, or of other slow cores.
        InterruptedRunError: Ctrl-C; finished simulations are in the journal.
    """
    result = _prepared(inputs, options)
    if not _same(result.slow_cores, kept.slow_cores):
        raise InputError("the profile's fits are of other slow cores: calibrate again")
    _lay_slow_cores_upon(result, evaluator, reporter)
    # A point that failed wherever it was simulated was in no fit either.
    parts = [
        part.only([(target.dataset.name, target.point.parameters) not in kept.not_fitted for target in part.targets])
        for part in components(result.problem)
    ]
    parts = [part for part in parts if part.targets]
    if len(parts) != len(kept.fits) or any(
        [(target.dataset.name, target.point.parameters) for target in part.targets] != one.points
        for part, one in zip(parts, kept.fits, strict=True)
    ):
        raise InputError("the profile's fits are of other points or parameters: calibrate again")
    for part in parts:
        reporter.plan(simulations_of_folds(part) + len(NOISE_REPLICATIONS) * len(part.targets))
    for number, (part, one) in enumerate(zip(parts, kept.fits, strict=True), start=1):
        PartReporter(reporter, number, len(parts)).say("thread counts left out, one at a time")
        indices = [index for index, parameter in enumerate(part.parameters) if parameter.name in one.fitted]
        if [part.parameters[index].name for index in indices] != list(one.fitted):
            raise InputError("the profile's fits are of other parameters: calibrate again")
        reduced = part.restricted(indices)
        noise = total_noise(reduced, evaluator, reduced.base)
        folds = cross_validate(reduced, evaluator, noise, options.seed) if indices else []
        nothing = Screening(np.empty((0, 0)), np.empty((0, 0)))
        result.parts.append(Part(part, nothing, indices, None, part.base, np.empty(0), noise, folds=folds))
    result.simulations = evaluator.simulated + evaluator.found
    return result


def _same(one: dict[str, float] | None, other: dict[str, float] | None) -> bool:
    """Whether two profiles have the same slow cores, up to the digits that profiles have."""
    if one is None or other is None:
        return one is other
    return all(math.isclose(one[path], other[path], rel_tol=1e-3) for path in one)
