"""Runs the scenarios that statements are checked against, once each, and hands out their numbers.

Results of a scenario are kept in a folder, by everything that they depend on: parameters and configuration of every
point, and the compiled core. A second run of the same thing reads them; one that was interrupted goes on.
"""

from __future__ import annotations

import hashlib
import json
import math
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from contend.core import fingerprint
from contend.documents import misfit
from contend.errors import InputError, InterruptedRunError
from contend.files import make_writable_directory, write_file
from contend.runner import run_points, total_weight
from contend.scenario import resolve_scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from contend.jsontypes import JsonObject, Scalar
    from contend.runner import Engine
    from contend.scenario import ResolvedScenario


@dataclass(frozen=True)
class Measured:
    """One point of a scenario with what each replication gave."""

    parameters: dict[str, Scalar]
    replications: tuple[JsonObject, ...]


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
        cache: Path,
        overrides: Sequence[tuple[str, str]] = (),
        announce: Callable[[ResolvedScenario], Callable[[float], None]] | None = None,
    ) -> None:
        """Prepares access to the scenarios of a folder.

        Args:
            folder: Where the scenario files are.
            engine: What simulates them.
            jobs: How many simulations run at once.
            cache: Where results are kept.
            overrides: Dotted path and value, for all scenarios.
            announce: Told of each scenario before it is simulated; returns what is called as that goes on.
        """
        self._folder = folder
        self._engine = engine
        self._jobs = jobs
        self._cache = cache
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
        """The number of replications of what was looked at so far.

        Raises:
            InputError: Scenarios differ in it.
        """
        counts = {len(point.replications) for name in self._used for point in self._points(name)}
        if len(counts) > 1:
            raise InputError(f"{', '.join(self._used)} differ in their replications")
        return counts.pop() if counts else 0

    def machine(self, scenario: str) -> str:
        """The name of the profile that a scenario takes its machine from.

        Raises:
            InputError: The scenario does not exist or is not usable.
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
        if not path.is_file():
            raise InputError(f"there is no scenario {path}")
        return resolve_scenario(path, self._overrides)

    def _load(self, scenario: str) -> list[Measured]:
        resolved = self._resolved(scenario)
        file = self._cache / f"{scenario}-{_fingerprint(resolved, self._engine)[:16]}.points.json"
        # Results of all replications of a point, by its place in the scenario.
        finished: dict[str, list[JsonObject]] = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
        points = resolved.points
        missing = {str(place): point for place, point in enumerate(points) if str(place) not in finished}
        if missing:
            advance = self._announce(resolved) if self._announce is not None else None
            if advance is not None:
                advance(total_weight([point for place, point in enumerate(points) if str(place) in finished]))
            outcome = run_points(list(missing.values()), self._engine, jobs=self._jobs, progress=advance)
            for place, runs in zip(missing, outcome.runs, strict=True):
                if len(runs.results) == runs.point.replications:
                    finished[place] = runs.results
            make_writable_directory(self._cache)
            write_file(file, json.dumps(finished).encode())
            if outcome.interrupted:
                raise InterruptedRunError("interrupted; points that had finished are kept and need not run again")
        return [Measured(point.parameters, tuple(finished[str(place)])) for place, point in enumerate(points)]


def _fingerprint(resolved: ResolvedScenario, engine: Engine) -> str:
    """Of everything that results depend on, and of the parameters by which a point is asked for."""
    digest = hashlib.sha256(f"{fingerprint()}\0{engine.name}\0".encode())
    for point in resolved.points:
        digest.update(f"{json.dumps(point.parameters)}\0{point.config_json}\0".encode())
    return digest.hexdigest()
