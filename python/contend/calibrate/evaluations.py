"""Simulations for a fit: in parallel, each journaled when it ends, none done twice.

What a simulation depends on (the configuration, the replication and the compiled core) is its name in the journal. A
fit that was killed and is started again asks for the same simulations, because its random numbers come from its seed,
and finds them there, with the steps that each took. What a fit has spent is counted in steps of the simulation, which
are the same on any machine: where a search ends does not depend on how fast that is, or what else it does.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from contend.common.errors import InputError, InterruptedRunError, SimulationFailedError
from contend.engine.core import fingerprint
from contend.scenarios.resolution import Point

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from contend.common.jsontypes import JsonObject
    from contend.engine.runner import Engine

_WAKE_UP_S = 0.2
_STEPS = "steps"
_MOST_STEPS = 2**62
ENDED_WITH_ERROR = "the simulation ended with an error"


class Log(Protocol):
    """Where finished simulations are kept: `contend.measure.journal.Journal`."""

    @property
    def name(self) -> str:
        """What to call it in a message."""

    @property
    def entries(self) -> list[JsonObject]:
        """What is in it."""

    def append(self, entry: JsonObject) -> None:
        """Adds an entry; it is on the disk when this returns."""


@dataclass(frozen=True)
class Task:
    """One simulation: a complete configuration, which replication, and which number of its result is wanted."""

    config: str
    replication: int
    metric: str = "message_rate"

    def key(self) -> str:
        """The name of this simulation."""
        parts = (fingerprint(), str(self.replication), self.metric, self.config)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


class Evaluator:
    """Runs simulations; a failed one counts as NaN and is kept as such."""

    def __init__(
        self, engine: Engine, journal: Log, *, jobs: int, progress: Callable[[int], None] | None = None
    ) -> None:
        """Prepares.

        Args:
            engine: What simulates.
            journal: Where results are kept, and those of earlier calls found.
            jobs: How many simulations run at once.
            progress: Called with the number of simulations that ended, found ones included.

        Attributes:
            steps: Of all simulations that were asked for, each once, also of those that an earlier call ran. One that
                failed counts as all the steps that it might have taken: most of them fail because they took so many.
            simulated: How many simulations this object ran.
            found: How many it found in the journal.
            seconds: How long that took.

        Raises:
            InputError: An entry of the journal is not what a simulation leaves; the message says which line it is.
        """
        self._engine = engine
        self._journal = journal
        self._progress = progress
        self._jobs = jobs
        self._known: dict[str, float] = {}
        self._reasons: dict[str, str] = {}
        self._steps: dict[str, int] = {}
        for number, entry in enumerate(journal.entries, 1):
            if entry.get("type") == "run":
                self._take(entry, f"{journal.name}:{number}")
        self._counted: set[str] = set()
        self.steps = 0
        self.simulated = 0
        self.found = 0
        self.seconds = 0.0

    def run(self, tasks: Sequence[Task]) -> list[float]:
        """The wanted numbers, in order.

        Raises:
            InterruptedRunError: Ctrl-C; what had ended is in the journal.
        """
        keys = [task.key() for task in tasks]
        missing = {key: task for key, task in zip(keys, tasks, strict=True) if key not in self._known}
        self.found += len(set(keys)) - len(missing)
        self._tell(len(tasks) - len(missing))
        begin = time.monotonic()
        if missing:
            self._simulate(missing)
        new = set(keys) - self._counted
        self._counted |= new
        self.steps += sum(self._steps.get(key, 0) for key in new)
        self.seconds += time.monotonic() - begin
        return [self._known[key] for key in keys]

    def reason(self, task: Task) -> str:
        """Why a simulation that was run gave no number."""
        return self._reasons.get(task.key(), ENDED_WITH_ERROR)

    def _take(self, entry: JsonObject, where: str) -> None:
        """Makes an entry known."""
        key, value, reason = entry.get("key"), entry.get("value"), entry.get("reason", "")
        if not isinstance(key, str):
            raise _refusal(where, "key", key, "a text")
        if "value" not in entry or not (value is None or _is_rate(value)):
            raise _refusal(where, "value", value, "a positive number, or null")
        if not isinstance(reason, str):
            raise _refusal(where, "reason", reason, "a text")
        if (steps := entry.get(_STEPS)) is not None:
            if isinstance(steps, bool) or not isinstance(steps, int) or not 0 <= steps <= _MOST_STEPS:
                raise _refusal(where, _STEPS, steps, "a whole number from 0 on")
            self._steps[key] = steps
        self._known[key] = math.nan if value is None else float(value)
        if reason:
            self._reasons[key] = reason

    def _simulate(self, missing: dict[str, Task]) -> None:
        self._engine.reset()
        pool = ThreadPoolExecutor(max_workers=self._jobs, thread_name_prefix="simulation")
        futures = {pool.submit(self._one, task): key for key, task in missing.items()}
        pending = set(futures)
        try:
            while pending:
                finished, pending = wait(pending, timeout=_WAKE_UP_S, return_when=FIRST_COMPLETED)
                for future in finished:
                    self._keep(futures[future], future)
        except KeyboardInterrupt:
            for future, key in futures.items():  # those that ended since the last look, or were not kept yet
                if future.done() and key not in self._known:
                    self._keep(key, future)
            self._engine.stop()
            raise InterruptedRunError("interrupted; finished simulations are kept and will not run again") from None
        finally:
            for future in futures:
                future.cancel()
            pool.shutdown(wait=True, cancel_futures=True)
            self._engine.reset()

    def _keep(self, key: str, future: Future[tuple[float | str, int]]) -> None:
        answer, steps = future.result()
        entry: JsonObject = {"type": "run", "key": key, "value": None if isinstance(answer, str) else answer}
        if isinstance(answer, str):
            entry["reason"] = answer
        entry[_STEPS] = steps
        self._journal.append(entry)
        self._take(entry, self._journal.name)
        self.simulated += 1
        self._tell(1)

    def _one(self, task: Task) -> tuple[float | str, int]:
        """The wanted number, or why there is none, and how many steps that took."""
        try:
            point = Point.of(task.config)
        except InputError:
            return ENDED_WITH_ERROR, 0
        try:
            answer = json.loads(self._engine.run_point(point, task.replication, trace_hash=False))
        except (SimulationFailedError, InputError):
            return ENDED_WITH_ERROR, point.compiled.most_steps
        return _wanted(answer, task.metric), int(answer["events"])

    def _tell(self, count: int) -> None:
        if count and self._progress is not None:
            self._progress(count)


def _wanted(answer: JsonObject, metric: str) -> float | str:
    value = answer.get(metric)
    if not isinstance(value, int | float) or isinstance(value, bool):
        return f"the simulation's result has no {metric}"
    return float(value) if _is_rate(value) else f"the simulation's {metric} is {value}"


def _is_rate(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 0 < value <= sys.float_info.max


def _refusal(where: str, key: str, found: object, allowed: str) -> InputError:
    text = json.dumps(found)[:40]
    return InputError(f"{where}: /{key}: found {text}; allowed: {allowed}; nothing was changed: mend or move the file")
