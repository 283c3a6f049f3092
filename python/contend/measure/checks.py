"""What a campaign names must be there, and every cell must be one that its program takes: checked before a launch."""

from __future__ import annotations

import itertools
import math
import re
from typing import TYPE_CHECKING, NoReturn

from contend.common.errors import InputError
from contend.common.misfits import pointer, shown
from contend.common.nearest import proposal
from contend.common.spelling import parameters_text, shortened
from contend.datasets.programs import BENCHMARKS
from contend.measure.combinations import combination_problem
from contend.measure.libraries import known_keys
from contend.measure.options import LIBRARY_OPTIONS, PROGRAM_OPTIONS, misfits, nearest_words
from contend.measure.transports import TRANSPORTS, needs_veth

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from contend.measure.campaign import Campaign, Experiment
    from contend.measure.options import Option

# Four times as many as the largest shipped campaign has. Each wants launches of a second or more, so that these are
# hours; and choosing the next one takes time that grows with their number.
MOST_CELLS = 10_000
_OPTION = "options."
_BY_EFFORT = frozenset({"repetitions", "seconds_limit", "pretty"})

# What `tc netem` takes after each word (tc-netem(8)): a number with a unit, a share, a count, or another word.
_TIME, _SHARE, _RATE, _COUNT = (
    r"\d+(\.\d+)?(s|sec|secs|ms|msec|msecs|us|usec|usecs|ns)?",
    r"\d+(\.\d+)?%",
    r"\d+(\.\d+)?([kmgt]i?)?(bit|bps)",
    r"\d+",
)
_NETEM = {
    "delay": rf"{_TIME}( {_TIME}( {_SHARE})?)?( distribution (uniform|normal|pareto|paretonormal))?",
    "loss": rf"(random )?{_SHARE}( {_SHARE})?( ecn)?",
    "corrupt": rf"{_SHARE}( {_SHARE})?",
    "duplicate": rf"{_SHARE}( {_SHARE})?",
    "reorder": rf"{_SHARE}( {_SHARE})?( gap {_COUNT})?",
    "rate": _RATE,
    "limit": _COUNT,
}


class _Checker:
    """Looks at one campaign; what is wrong ends it."""

    def __init__(self, where: str) -> None:
        self._where = where

    def fail(self, keys: Sequence[int | str], message: str) -> NoReturn:
        raise InputError(f"{self._where}: {pointer(keys)}: {message}")

    def experiment(self, index: int, experiment: Experiment) -> None:
        """Everything in an experiment but its combinations."""
        place: list[int | str] = ["experiments", index]
        benchmark = experiment.benchmark
        needs_mpi = BENCHMARKS[benchmark].needs_mpi
        for name, given, known in (
            ("libraries", experiment.libraries, known_keys()),
            ("transports", experiment.transports, TRANSPORTS),
        ):
            if needs_mpi and not given:
                self.fail([*place, name], f"found none; {benchmark} needs libraries and transports")
            if given and not needs_mpi:
                self.fail([*place, name], f"{benchmark} uses no MPI; allowed: no {name}")
            self._names([*place, name], given, known)
        self._netem([*place, "netem"], experiment)
        programs = PROGRAM_OPTIONS[benchmark]
        for key, value in experiment.workload.items():
            self._option([*place, "workload", key], key, programs, value)
        for key, value in experiment.options.items():
            self._option([*place, "options", key], key, self._library_options(place, experiment), value)
        for key, values in experiment.sweep.items():
            where = [*place, "sweep", key]
            if not values:
                self.fail(where, "has no values; allowed: at least one")
            is_option = key.startswith(_OPTION)
            options = self._library_options(place, experiment) if is_option else programs
            for number, value in enumerate(values):
                self._option(where, key.removeprefix(_OPTION), options, value, number)
            self._once(where, [(type(value) is bool, value) for value in values], values)

    def _library_options(self, place: Sequence[int | str], experiment: Experiment) -> Mapping[str, Option]:
        if not BENCHMARKS[experiment.benchmark].needs_mpi:
            self.fail([*place, "benchmark"], f"{experiment.benchmark} uses no MPI; allowed: no options of a library")
        return LIBRARY_OPTIONS

    def _names(self, place: Sequence[int | str], given: Sequence[str], known: Iterable[str]) -> None:
        known = list(known)
        for number, name in enumerate(given):
            if name not in known:
                self.fail([*place, number], f"found {shown(name)}; allowed: {', '.join(known)}{proposal(name, known)}")
        self._once(place, given, given)

    def _once(self, place: Sequence[int | str], keys: Sequence[object], values: Sequence[object]) -> None:
        seen: set[object] = set()
        for number, key in enumerate(keys):
            if key in seen:
                self.fail([*place, number], f"found {shown(values[number])} again; allowed: each value once")
            seen.add(key)

    def _option(
        self,
        place: Sequence[int | str],
        name: str,
        options: Mapping[str, Option],
        value: object,
        number: int | None = None,
    ) -> None:
        """One value of an option; `number` is its place in a sweep's list."""
        option = options.get(name)
        if option is None and name in _BY_EFFORT:
            self.fail(place, f"{name!r} is set by the campaign's effort")
        if option is None:
            self.fail(place, f"unknown key {shown(name)}; allowed: {', '.join(options)}{proposal(name, options)}")
        for index, one in misfits(option, value):
            parts = [part for part in (number, index) if part is not None]
            near = nearest_words(option, one)
            meant = f"; did you mean {near[0]!r}?" if near else ""
            self.fail([*place, *parts], f"found {shown(one)}; allowed: {option.allowed}{meant}")

    def _netem(self, place: Sequence[int | str], experiment: Experiment) -> None:
        if not experiment.netem:
            return
        if not all(needs_veth(transport) for transport in experiment.transports):
            allowed = ", ".join(name for name in TRANSPORTS if needs_veth(name))
            self.fail(place, f"netem needs transports over veth; allowed then: {allowed}")
        rest = experiment.netem.strip()
        while rest:
            word, _, rest = rest.partition(" ")
            if word not in _NETEM:
                self.fail(place, f"found {shown(word)}; allowed: {', '.join(_NETEM)}{proposal(word, _NETEM)}")
            match = re.match(rf"{_NETEM[word]}(?= |$)", rest)
            if match is None:
                self.fail(
                    place, f'found {shown(f"{word} {rest}")}; allowed: as tc netem has it, "delay 50us rate 1gbit"'
                )
            rest = rest[match.end() :].strip()

    def effort(self, campaign: Campaign, index: int, experiment: Experiment) -> None:
        """The effort of an experiment, as it is with the campaign's."""
        change, base = experiment.effort, campaign.effort
        least = base.launches if change.launches is None else change.launches
        most = base.launches_max if change.launches_max is None else change.launches_max
        if most < least:
            name = "launches_max" if change.launches_max is not None else "launches"
            self.fail(["experiments", index, "effort", name], f"launches_max ({most}) is less than launches ({least})")

    def combinations(self, index: int, experiment: Experiment) -> None:
        """Every point of an experiment's sweep, with what all have."""
        for values in itertools.product(*experiment.sweep.values()):
            point = dict(zip(experiment.sweep, values, strict=True))
            workload = experiment.workload | {key: one for key, one in point.items() if not key.startswith(_OPTION)}
            if problem := combination_problem(experiment.benchmark, workload):
                at = f" (at {shortened(parameters_text(point, ', '))})" if point else ""
                self.fail(["experiments", index, "sweep" if point else "workload"], problem + at)


def check_campaign(campaign: Campaign, where: str) -> None:
    """Refuses a campaign that a launch could not carry out as it is meant.

    What a library cannot do on a transport is no mistake: that is found out, and kept as a result.

    Args:
        campaign: Of the right form.
        where: The file, for the message.

    Raises:
        InputError: A name or value is not known, cells are too many or the same, or a program refuses a combination.
    """
    checker = _Checker(where)
    for index, experiment in enumerate(campaign.experiments):
        checker.experiment(index, experiment)
        checker.effort(campaign, index, experiment)
    _check_names(checker, campaign)
    total = 0
    for index, experiment in enumerate(campaign.experiments):
        total += cell_count(experiment)
        if total > MOST_CELLS:
            what = "cells" if index == 0 else "cells with those of the experiments before"
            checker.fail(["experiments", index], f"{total} {what}; allowed: at most {MOST_CELLS} in a campaign")
    for index, experiment in enumerate(campaign.experiments):
        checker.combinations(index, experiment)


def cell_count(experiment: Experiment) -> int:
    """How many cells an experiment has: every combination of libraries, transports and the sweep's values."""
    hosts = len(experiment.libraries) * len(experiment.transports) or 1
    return hosts * math.prod(len(values) for values in experiment.sweep.values())


def _check_names(checker: _Checker, campaign: Campaign) -> None:
    """Each experiment and each dataset has a name of its own: a dataset is a file."""
    seen: set[str] = set()
    for index, experiment in enumerate(campaign.experiments):
        hosts = itertools.product(experiment.libraries, experiment.transports)
        datasets = [f"{library}_{transport}_{experiment.name}" for library, transport in hosts] or [experiment.name]
        for name in (f"experiment {experiment.name!r}", *(f"dataset {name!r}" for name in datasets)):
            if name in seen:
                checker.fail(["experiments", index, "name"], f"found {name} again; allowed: each name once")
            seen.add(name)
