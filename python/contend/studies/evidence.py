"""Runs the scenarios that statements are checked against, once each, and hands out their numbers.

Each replication is in a store of results as soon as it ends (contend.sweeps.store), by everything that it depends on.
What is there already, from an earlier run, one that was killed, or another process, is not simulated again.
"""

from __future__ import annotations

import math
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from contend.common.documents import misfit
from contend.common.errors import EXIT_BAD_INPUT, ContendError, InputError, InterruptedRunError, SimulationFailedError
from contend.common.reading import require_regular
from contend.engine.runner import failure_text, total_weight
from contend.scenarios.resolution import resolve_scenario
from contend.sweeps.course import Course, Entry, run_here
from contend.sweeps.store import point_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from contend.common.jsontypes import JsonObject, Scalar
    from contend.engine.runner import Engine
    from contend.scenarios.resolution import ResolvedScenario
    from contend.sweeps.store import ResultStore

    Announce: TypeAlias = Callable[[ResolvedScenario], AbstractContextManager[Callable[[float], None]]]


class UnusableScenarioError(ContendError):
    """A scenario that a claim needs is not there, or is none.

    No InputError: that says something of the claim, and this does not.
    """

    exit_code = EXIT_BAD_INPUT


@dataclass(frozen=True)
class Measured:
    """One point of a scenario with what each replication gave, or why one of them gave nothing."""

    parameters: dict[str, Scalar]
    replications: tuple[JsonObject, ...]
    failure: str | None = None


def _quietly(_: ResolvedScenario) -> AbstractContextManager[Callable[[float], None]]:
    return nullcontext(lambda _: None)


class Evidence:
    """The numbers of scenarios, each a mean over the replications that are looked at.

    All replications count, except inside `without` and `only`. Nothing is simulated before somebody asks for a number.
    """

    def __init__(
        self,
        folder: Path,
        engine: Engine,
        *,
        jobs: int,
        store: ResultStore,
        overrides: Sequence[tuple[str, str]] = (),
        announce: Announce = _quietly,
    ) -> None:
        """Prepares access to the scenarios of a folder.

        Args:
            folder: Where the scenario files are.
            engine: What simulates them.
            jobs: How many simulations run at once.
            store: Where results are kept; they are those of contend's own engine.
            overrides: Dotted path and value, for all scenarios.
            announce: Entered with each scenario that has to be simulated; gives what is called with the weight of
                what is done, found results included, and left when that ends.
        """
        self._folder = folder
        self._engine = engine
        self._jobs = jobs
        self._store = store
        self._overrides = list(overrides)
        self._announce = announce
        self._known: dict[str, list[Measured]] = {}
        self._is_looked_at: Callable[[int], bool] = lambda _: True
        self._used: dict[str, None] = {}

    # What claims ask for.

    def rate(self, scenario: str, **parameters: Scalar) -> float:
        """The message rate of one point, in msg/s."""
        return self.value(scenario, lambda result: result["message_rate"], **parameters)

    def counter(self, scenario: str, name: str, **parameters: Scalar) -> float:
        """A counter of one point."""
        return self.value(scenario, lambda result: result["counters"][name], **parameters)

    def per_message(self, scenario: str, name: str, **parameters: Scalar) -> float:
        """A counter of one point over its messages received."""
        received = self.counter(scenario, "messages_received", **parameters)
        return self.counter(scenario, name, **parameters) / received

    def value(self, scenario: str, read: Callable[[JsonObject], Any], **parameters: Scalar) -> float:
        """The mean of something that every replication of a point has.

        Raises:
            InputError: The parameters fit no point, or several, or the replications do not have it.
            SimulationFailedError: A simulation of the point failed.
            UnusableScenarioError: The scenario is not there, or is none.
            ContendError: The store cannot be read or written to.
            InterruptedRunError: Ctrl-C.
        """
        matching = self._matching(scenario, parameters)
        if len(matching) != 1:
            raise InputError(f"{len(matching)} points of {scenario} have {parameters or 'no parameters'}; one must")
        try:
            values = [float(read(result)) for result in self._looked_at(matching[0])]
        except (KeyError, TypeError) as error:
            raise InputError(f"{scenario} does not have what is asked for: {misfit(error)}") from error
        return math.fsum(values) / len(values)

    def axis(self, scenario: str, name: str) -> list[Any]:
        """The values that a swept parameter takes, in order of appearance.

        Raises:
            InputError: The scenario does not sweep it.
        """
        values = list(dict.fromkeys(point.parameters.get(name) for point in self._points(scenario)))
        if values == [None]:
            raise InputError(f"{scenario} does not sweep {name}")
        return values

    def curve(self, scenario: str, over: str, **parameters: Scalar) -> dict[Any, float]:
        """Message rates by the values of one swept parameter, the others fixed."""
        return {x: self.rate(scenario, **{over: x}, **parameters) for x in self.axis(scenario, over)}

    # What the machinery asks for.

    @property
    def replications(self) -> int:
        """The number of replications of what was looked at so far; points that failed do not count.

        Raises:
            InputError: Scenarios differ in it.
        """
        counts = {len(point.replications) for name in self._used for point in self._points(name) if not point.failure}
        if len(counts) > 1:
            raise InputError(f"{', '.join(self._used)} differ in their replications")
        return counts.pop() if counts else 0

    def machine(self, scenario: str) -> str:
        """The name of the profile that a scenario takes its machine from.

        Raises:
            UnusableScenarioError: The scenario is not there, or is none.
        """
        machine: JsonObject = self._resolved(scenario).document["machine"]
        return str(machine["name"])

    def without(self, replication: int) -> AbstractContextManager[None]:
        """Leaves one replication out of all means."""
        return self._looking_at(lambda number: number != replication)

    def only(self, replication: int) -> AbstractContextManager[None]:
        """Looks at one replication alone."""
        return self._looking_at(lambda number: number == replication)

    @contextmanager
    def _looking_at(self, is_looked_at: Callable[[int], bool]) -> Iterator[None]:
        self._is_looked_at = is_looked_at
        try:
            yield
        finally:
            self._is_looked_at = lambda _: True

    @contextmanager
    def recording(self) -> Iterator[dict[str, None]]:
        """Notes which scenarios are used."""
        self._used = {}
        yield self._used

    def _looked_at(self, point: Measured) -> list[JsonObject]:
        if point.failure is not None:
            raise SimulationFailedError(point.failure)
        return [result for number, result in enumerate(point.replications) if self._is_looked_at(number)]

    def _matching(self, scenario: str, parameters: dict[str, Scalar]) -> list[Measured]:
        return [
            point
            for point in self._points(scenario)
            if all(name in point.parameters and point.parameters[name] == value for name, value in parameters.items())
        ]

    def _points(self, scenario: str) -> list[Measured]:
        self._used[scenario] = None
        if scenario not in self._known:
            self._known[scenario] = self._load(scenario)
        return self._known[scenario]

    def _resolved(self, scenario: str) -> ResolvedScenario:
        path = self._folder / f"{scenario}.json"
        try:
            require_regular(path, "scenario")
            return resolve_scenario(path, self._overrides)
        except InputError as error:
            raise UnusableScenarioError(str(error)) from error

    def _load(self, scenario: str) -> list[Measured]:
        resolved = self._resolved(scenario)
        entries = [Entry(point, point_key(point)) for point in resolved.points]
        course = Course(entries, self._store)
        if course.tasks:
            try:
                with self._announce(resolved) as advance:
                    advance(total_weight(resolved.points) - course.work)
                    run_here(course, self._engine, self._jobs, advance)
            except KeyboardInterrupt:
                raise InterruptedRunError(
                    "interrupted; simulations that had finished are kept and need not run again"
                ) from None
        return [_measured(scenario, entry) for entry in entries]


def _measured(scenario: str, entry: Entry) -> Measured:
    point = entry.point
    if entry.failed is not None:
        said = failure_text(point, entry.failed, entry.failure)
        return Measured(point.parameters, (), f"{scenario}: {said}")
    return Measured(point.parameters, tuple(entry.runs[number].result for number in range(point.replications)))
