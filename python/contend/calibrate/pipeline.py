"""A calibration from datasets to numbers: identification, screening, search, emulator, posterior, what data see.

Parameters that share no target are fitted apart: what one library costs says nothing about another one's prices.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np

from contend.calibrate import sensitivity
from contend.calibrate.cross_validation import PLACES_OF_REFIT, counts_of, cross_validate
from contend.calibrate.discrepancy import estimate
from contend.calibrate.emulator import MOST_TRAINING, Emulator
from contend.calibrate.identification import Identified, Skipped, identify
from contend.calibrate.inputs import inputs
from contend.calibrate.likelihood import DISCREPANCY, misfit
from contend.calibrate.posterior import NotConvergedError, Posterior, sample
from contend.calibrate.problem import MACHINE, STEPS_PER_OPERATION, Builder, Problem, Unpredicted
from contend.calibrate.search import (
    CHECK_REPLICATIONS,
    Fit,
    History,
    Screening,
    design,
    places_of_search,
    screen,
    search,
    size_of_design,
)
from contend.calibrate.split import Split, calibration_side, split_points
from contend.calibrate.waiting_points import WAITING
from contend.documents import get_path, set_path
from contend.errors import InputError
from contend.prices import exact_price

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contend.calibrate.cross_validation import Fold
    from contend.calibrate.discrepancy import Discrepancies
    from contend.calibrate.evaluations import Evaluator
    from contend.calibrate.mapping import Mapping
    from contend.calibrate.problem import Vector
    from contend.calibrate.sensitivity import Sight
    from contend.datasets import Dataset, MeasuredPoint
    from contend.jsontypes import JsonObject

_NOISE_REPLICATIONS = tuple(range(6))
_ROUNDS = 5
# An emulator may be wrong by this share of noise and discrepancy.
_GOOD_EMULATOR = 0.5
# Rounds before the last only need places worth a look.
_SHORT_CHAIN = 3_000
# Setting parameters that the data do not determine back to the base may cost this much log-likelihood.
_FREE = 0.5


class Reporter(Protocol):
    """Who is told how a calibration goes."""

    def plan(self, simulations: int) -> None:
        """So many more simulations are to be expected, or fewer."""

    def say(self, text: str) -> None:
        """What is done now."""


@dataclass(frozen=True)
class Options:
    """How much effort.

    `messages` is about the length of a simulation; `budget_s` the time that searches have, an equal share for each part
    of the problem, as processor time of simulations over the number of them at once: about wall time where nothing else
    runs, and the same fit where something does. `draws`: how many draws of the posterior the profile keeps.
    `is_cross_validated`: whether thread counts are left out to learn how wrong the model is, where intervals are asked
    for at all.
    """

    seed: int = 1
    starts: int = 3
    messages: int = 4000
    budget_s: float = 300.0
    draws: int = 32
    is_direct_only: bool = False
    has_posterior: bool = True
    is_cross_validated: bool = True

    @property
    def has_folds(self) -> bool:
        """Whether thread counts are left out: without a posterior no interval is asked for."""
        return self.has_posterior and self.is_cross_validated

    def to_json(self) -> JsonObject:
        """What a result depends on."""
        return {
            "seed": self.seed,
            "starts": self.starts,
            "messages": self.messages,
            "posterior": self.has_posterior,
            "budget_s": self.budget_s,
        }


@dataclass
class Part:
    """The fit of parameters that hang together: problem, screening, best place, posterior, and how it all went.

    `kept` are the indices of parameters that were fitted. `refused` says why there is no posterior.
    """

    problem: Problem
    screening: Screening
    kept: list[int]
    fit: Fit | None
    place: Vector
    predictions: Vector
    noise: Vector
    posterior: Posterior | None
    refused: str
    emulator_errors: Vector | None
    training_places: int
    sights: list[Sight] = field(default_factory=list)
    reset: tuple[str, ...] = ()
    folds: list[Fold] = field(default_factory=list)

    @property
    def settled(self) -> list[int]:
        """The indices of parameters that have a value of the fit: those that were fitted and not set back."""
        return [index for index in self.kept if self.problem.parameters[index].name not in self.reset]

    def value(self, index: int) -> float:
        """The value of a parameter after the fit, which may be the base's own."""
        parameter = self.problem.parameters[index]
        return parameter.at(float(self.place[index])) if index in self.settled else parameter.base

    def predict(self, evaluator: Evaluator, settled: Sequence[int]) -> Vector:
        """Logarithms of the predictions with some fitted values; all other parameters have the base's."""
        found = self.problem.restricted(settled).simulate(evaluator, [self.place[list(settled)]])
        return np.asarray(found[0], dtype=float)


@dataclass
class Calibration:
    """Everything that a calibration found. `made_from` are digests of what it depends on: see `inputs`."""

    identified: list[Identified]
    skipped: list[Skipped]
    parts: list[Part]
    split: Split
    fitted: list[tuple[Dataset, MeasuredPoint]]
    held_out: list[tuple[Dataset, MeasuredPoint]]
    problem: Problem
    options: Options
    made_from: JsonObject
    simulations: int = 0
    jobs: int = 1

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


def calibrate(  # noqa: PLR0917 - all of one stage
    datasets: Sequence[Dataset],
    profile: JsonObject,
    mappings: Sequence[Mapping],
    split: Split,
    evaluator: Evaluator,
    options: Options,
    reporter: Reporter,
) -> Calibration:
    """Runs all stages.

    Raises:
        InputError: There is nothing to fit to, or nothing to fit.
        InterruptedRunError: Ctrl-C; finished simulations are in the journal.
    """
    result = _prepared(datasets, profile, mappings, split, options)
    problem = result.problem
    result.jobs = evaluator.jobs
    if options.is_direct_only:
        if not result.identified:
            raise InputError("no dataset identifies a parameter directly")
        return result
    if not problem.targets:
        why = f": {'; '.join(problem.reasons)}" if problem.reasons else ""
        raise InputError(f"none of the datasets has a point to fit to{why}")
    if not problem.dimensions:
        raise InputError("the mappings of these datasets leave nothing to fit")
    parts = components(problem)
    problem.refuse([
        Unpredicted(target.dataset, target.point, "its mapping leaves nothing to fit")
        for target in problem.targets if not target.unknowns  # which are in no part
    ])  # fmt: skip
    for part in parts:
        reporter.plan(planned(part, options))
    for index, part in enumerate(parts):
        # Counted from where the part begins: what stages behind the search of another part took is not its own.
        deadline = evaluator.processor_s + options.budget_s * evaluator.jobs / len(parts)
        found, failed = _fit_part(part, evaluator, options, reporter, deadline, f"{index + 1}/{len(parts)}")
        problem.refuse(failed)
        if found is not None:
            result.parts.append(found)
    if not result.parts:
        raise InputError(f"none of the points could be fitted: {'; '.join(problem.reasons)}")
    result.simulations = evaluator.simulated + evaluator.found
    return result


def _prepared(
    datasets: Sequence[Dataset], profile: JsonObject, mappings: Sequence[Mapping], split: Split, options: Options
) -> Calibration:
    """What there is to fit, after direct identification."""
    base = copy.deepcopy(profile)
    record = base.pop("calibration", None) or {}
    if record.get("scopes"):
        base["calibration"] = {"scopes": record["scopes"]}
    fitted, held_out = split_points(datasets, split)
    identified, skipped = identify(calibration_side(datasets, split), base)
    known = with_identified(base, identified)
    # Guided parameters are fitted, within the range that their rule gives.
    isolated = [(one.rule.path, one.scope) for one in identified if one.rule.isolates]
    guided = {
        (one.rule.path, one.scope): (exact_price(one.low, one.kind), exact_price(one.high, one.kind))
        for one in identified if not one.rule.isolates
    }  # fmt: skip
    # Prices are identified from single points of calls over many requests; no search looks at them.
    problem = Builder(
        known, mappings, messages=options.messages, seed=options.seed, steps_per_operation=STEPS_PER_OPERATION
    ).build([one for one in fitted if one[0].kind != WAITING], isolated, guided)
    made_from = inputs(profile, mappings, datasets, split)
    return Calibration(identified, skipped, [], split, fitted, held_out, problem, options, made_from)


@dataclass(frozen=True)
class KeptFit:
    """A fit of an earlier calibration: names of what was fitted, and its points.

    A point is the name of its dataset and its parameters.
    """

    fitted: tuple[str, ...]
    points: list[tuple[str, JsonObject]]


def leave_out_again(  # noqa: PLR0917 - all of one stage
    datasets: Sequence[Dataset],
    profile: JsonObject,
    mappings: Sequence[Mapping],
    split: Split,
    evaluator: Evaluator,
    options: Options,
    reporter: Reporter,
    kept: Sequence[KeptFit],
    not_fitted: Sequence[JsonObject] = (),
) -> Calibration:
    """Thread counts left out of fits that are there already: what a whole calibration does behind them.

    Parts have problem and folds, and nothing else. `not_fitted` is what the earlier calibration says of points
    that are in none of its fits.

    Raises:
        InputError: The fits are of other points or parameters.
        InterruptedRunError: Ctrl-C; finished simulations are in the journal.
    """
    result = _prepared(datasets, profile, mappings, split, options)
    # A point that failed wherever it was simulated was in no fit either.
    left = [(one["dataset"], one["parameters"]) for one in not_fitted]
    parts = [
        part.only([(target.dataset.name, target.point.parameters) not in left for target in part.targets])
        for part in components(result.problem)
    ]
    parts = [part for part in parts if part.targets]
    if len(parts) != len(kept) or any(
        [(target.dataset.name, target.point.parameters) for target in part.targets] != one.points
        for part, one in zip(parts, kept, strict=True)
    ):
        raise InputError("the profile's fits are of other points or parameters: calibrate again")
    for part in parts:
        reporter.plan(_simulations_of_folds(part) + len(_NOISE_REPLICATIONS) * len(part.targets))
    for number, (part, one) in enumerate(zip(parts, kept, strict=True)):
        reporter.say(f"part {number + 1}/{len(parts)}: thread counts left out, one at a time")
        indices = [index for index, parameter in enumerate(part.parameters) if parameter.name in one.fitted]
        if [part.parameters[index].name for index in indices] != list(one.fitted):
            raise InputError("the profile's fits are of other parameters: calibrate again")
        reduced = part.restricted(indices)
        noise = _total_noise(reduced, evaluator, reduced.base)
        folds = cross_validate(reduced, evaluator, noise, options.seed) if indices else []
        result.parts.append(Part(part, Screening(np.empty((0, 0)), np.empty((0, 0))), indices, None, part.base,
                                 np.empty(0), noise, None, "", None, 0, folds=folds))  # fmt: skip
    result.simulations = evaluator.simulated + evaluator.found
    return result


def components(problem: Problem) -> list[Problem]:
    """The parts of a problem that share no parameter, in order of their first target."""
    parents = list(range(problem.dimensions))

    def root(index: int) -> int:
        while parents[index] != index:
            index = parents[index]
        return index

    for target in problem.targets:
        for other in target.unknowns[1:]:
            parents[root(other)] = root(target.unknowns[0])
    groups: dict[int, list[int]] = {}
    for index in range(problem.dimensions):
        groups.setdefault(root(index), []).append(index)
    found = []
    for group in groups.values():
        members = set(group)
        chosen = [target for target in problem.targets if members & set(target.unknowns)]
        part = Problem(problem.parameters, chosen).restricted(group)
        if part.targets:
            found.append(part)
    return found


def planned(problem: Problem, options: Options) -> int:
    """About how many simulations the fit of a part takes, at most."""
    dimensions = problem.dimensions
    places = 6 * (dimensions + 1) + places_of_search(dimensions, options.starts)
    return places * len(problem.targets) + _left_after_search(problem, options)


def _simulations_of_folds(problem: Problem) -> int:
    # Each target is left out once; all folds choose where they begin among the same places.
    folds = len(counts_of(problem))
    places = 1 + size_of_design(problem.dimensions)
    places += (folds - 1) * PLACES_OF_REFIT + len(CHECK_REPLICATIONS)
    return places * len(problem.targets) if folds else 0


def _check_size(dimensions: int) -> int:
    return 16 + 4 * dimensions


def _fit_part(  # noqa: PLR0917 - all of one stage
    problem: Problem, evaluator: Evaluator, options: Options, reporter: Reporter, deadline: float, label: str
) -> tuple[Part | None, list[Unpredicted]]:
    """The fit of a part, and those of its points that failed at all places of the screening, which are in no fit."""
    before, begin = evaluator.simulated + evaluator.found, evaluator.processor_s
    reporter.say(f"part {label}: which of {problem.dimensions} parameters the data see")
    places = History()
    screening = screen(problem, evaluator, places, options.seed)
    expected = planned(problem, options)
    screened = evaluator.simulated + evaluator.found - before
    each = (evaluator.processor_s - begin) / max(1, screened)
    too_many = _beyond_budget(problem, options, each, deadline - evaluator.processor_s)
    reporter.plan(-too_many)
    expected -= too_many
    is_finite = np.atleast_2d(np.isfinite(places.predictions))
    has_answered = [bool(one) for one in np.any(is_finite, axis=0)]
    failed = [
        Unpredicted(target.dataset, target.point, f"failed at all {len(places.places)} places of the screening: "
                    + evaluator.reason(problem.task(target, places.places[0], 0)))
        for target, answered in zip(problem.targets, has_answered, strict=True) if not answered
    ]  # fmt: skip
    if not any(has_answered):
        return None, failed
    problem = problem.only(has_answered)
    screening = Screening(screening.effects[:, has_answered], screening.spread[:, has_answered])
    kept = sensitivity.seen(screening)
    if not kept:
        part = Part(problem, screening, [], None, problem.base, np.empty(0), problem.noise, None,
                    "no parameter moves any point by more than noise and discrepancy", None, 0)  # fmt: skip
        part.predictions = part.predict(evaluator, [])
        part.sights = sensitivity.judge(problem, screening, [], None, None)
        return part, failed
    reduced = problem.restricted(kept)
    history = History()
    # A point that changes between two states by chance says little of the prices, however well it was measured.
    first_noise = _total_noise(reduced, evaluator, reduced.base)
    fit = search(
        reduced, evaluator, history, first_noise, starts=options.starts, seed=options.seed,
        is_over=lambda: evaluator.processor_s > deadline,
        say=lambda text: reporter.say(f"part {label}: fit, {text}"),
    )  # fmt: skip
    used = evaluator.simulated + evaluator.found - before
    reporter.plan(min(0, used - expected + _left_after_search(reduced, options)))
    noise = _total_noise(reduced, evaluator, fit.place)
    posterior: Posterior | None = None
    emulator: Emulator | None = None
    refused = "no posterior was asked for"
    if options.has_posterior:
        posterior, refused, emulator = _posterior(reduced, evaluator, history, fit, noise, options, reporter, label)
    indices = None if emulator is None else sensitivity.total_indices(reduced, emulator, options.seed)
    place = problem.base.copy()
    place[kept] = fit.place
    part = Part(
        problem, screening, kept, fit, place, np.empty(0), noise, posterior, refused,
        None if emulator is None else emulator.errors, 0 if emulator is None else emulator.training_places,
    )  # fmt: skip
    part.sights = sensitivity.judge(problem, screening, kept, posterior, indices)
    if options.has_folds:
        reporter.say(f"part {label}: thread counts left out, one at a time")
        part.folds = cross_validate(reduced, evaluator, first_noise, options.seed)
    _set_back(part, evaluator)
    part.predictions = part.predict(evaluator, part.settled)
    return part, failed


def _beyond_budget(problem: Problem, options: Options, seconds_each: float, left_s: float) -> int:
    """How many of the planned simulations of the search the time left does not allow, if each takes so long."""
    search = places_of_search(problem.dimensions, options.starts) * len(problem.targets)
    allowed = max(0.0, left_s) / max(seconds_each, 1e-9)
    return max(0, search - round(min(allowed, search)))


def _left_after_search(problem: Problem, options: Options) -> int:
    dimensions = problem.dimensions
    places = size_of_design(dimensions) + 2 * _check_size(dimensions) + len(_NOISE_REPLICATIONS)
    places += dimensions + 2  # what is set back, and the fit's own predictions
    return places * len(problem.targets) + (_simulations_of_folds(problem) if options.has_folds else 0)


def _total_noise(problem: Problem, evaluator: Evaluator, place: Vector) -> Vector:
    """Measurement noise, and that of one replication of the simulation at the best fit."""
    runs = [problem.simulate(evaluator, [place], (replication,))[0] for replication in _NOISE_REPLICATIONS]
    own = np.nanstd(np.array(runs), axis=0, ddof=1)
    return np.asarray(np.sqrt(problem.noise**2 + np.nan_to_num(own, nan=0.0) ** 2), dtype=float)


def _posterior(  # noqa: PLR0917 - all of one stage
    problem: Problem,
    evaluator: Evaluator,
    history: History,
    fit: Fit,
    noise: Vector,
    options: Options,
    reporter: Reporter,
    label: str,
) -> tuple[Posterior | None, str, Emulator | None]:
    """Emulator and posterior, in rounds: draws of one train the next, until the emulator is right about them."""
    dimensions = problem.dimensions
    reporter.say(f"part {label}: design for the emulator")
    places = design(dimensions, options.seed)
    history.add(places, problem.simulate(evaluator, list(places)))
    stream = np.random.default_rng(options.seed)
    scale = np.sqrt(noise**2 + DISCREPANCY**2)
    checked: list[Vector] = []
    errors = np.zeros(len(problem.targets))
    share = np.inf
    emulator: Emulator | None = None
    for number in range(_ROUNDS):
        reporter.say(f"part {label}: emulator and chain, round {number + 1}")
        places, predictions = _training(problem, history, checked, noise, stream)
        emulator = Emulator(problem, places, predictions, options.seed)
        emulator.errors = errors  # of the round before
        try:
            draws = sample(problem, emulator, noise, fit.place, options.seed, longest=_SHORT_CHAIN).draws
        except NotConvergedError as error:
            draws = error.draws
        test = draws[stream.choice(len(draws), min(len(draws), _check_size(dimensions)), replace=False)]
        truth = problem.simulate(evaluator, list(test))
        errors = emulator.check(test, truth)
        history.add(test, truth)
        checked += list(test)
        share = float(np.median(errors / scale))
        if share <= _GOOD_EMULATOR:
            reporter.say(f"part {label}: chain")
            try:
                return sample(problem, emulator, noise, fit.place, options.seed), "", emulator
            except NotConvergedError as error:
                return None, str(error), emulator
    return None, f"the emulator's error is {share:.2f} of noise and discrepancy (allowed: {_GOOD_EMULATOR})", emulator


def _training(
    problem: Problem, history: History, checked: Sequence[Vector], noise: Vector, stream: np.random.Generator
) -> tuple[Vector, Vector]:
    """Training data: where the posterior was drawn before, the best places, and some of all others."""
    places, predictions = np.array(history.places), np.array(history.predictions)
    wanted = {place.tobytes() for place in checked}
    is_draw = np.array([place.tobytes() in wanted for place in places])
    order = np.argsort(misfit(predictions, problem.measured, noise), kind="stable")
    draws = [int(i) for i in order if is_draw[i]]
    rest = [int(i) for i in order if not is_draw[i]]
    near = rest[: max(0, (MOST_TRAINING - len(draws)) * 6 // 10)]
    far = rest[len(near) :]
    room = max(0, MOST_TRAINING - len(draws) - len(near))
    some = [far[int(i)] for i in stream.choice(len(far), min(room, len(far)), replace=False)] if far else []
    chosen = [*draws, *near, *some]
    _, unique = np.unique(np.round(places[chosen], 6), axis=0, return_index=True)
    picked = [chosen[int(i)] for i in sorted(unique)]
    return places[picked], predictions[picked]


def _set_back(part: Part, evaluator: Evaluator) -> None:
    """Gives parameters that the data do not determine their base values again, unless that costs likelihood.

    The loosest goes first, and each with those that went before it: one that matters keeps its value and no other's.
    What all of them cost together is bounded. There is one prediction for each, all with the same random numbers.
    """
    names = [parameter.name for parameter in part.problem.parameters]
    spreads = {one.name: one.spread or 0.0 for one in part.sights if one.verdict is sensitivity.Verdict.not_identified}
    loose = sorted((index for index in part.kept if names[index] in spreads), key=lambda index: -spreads[names[index]])
    if not loose:
        return
    allowed = _misfit_with(part, evaluator, part.kept) + _FREE
    for index in loose:
        if _misfit_with(part, evaluator, [one for one in part.settled if one != index]) <= allowed:
            part.place[index] = part.problem.base[index]
            part.reset += (names[index],)


def _misfit_with(part: Part, evaluator: Evaluator, settled: Sequence[int]) -> float:
    predictions = part.predict(evaluator, settled)
    return float(misfit(predictions[None, :], part.problem.measured, part.noise)[0])


def errors_pct(part: Part) -> Vector:
    """Absolute errors of the fit at its targets, in percent."""
    return np.asarray(np.abs(np.exp(part.predictions - part.problem.measured) - 1) * 100, dtype=float)
