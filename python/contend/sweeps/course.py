"""The replications of some points on their way: what the store has of them, what is to be done, what became of that."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from contend.common.workers import Crew
from contend.engine.runner import weight
from contend.sweeps.store import StoredRun, run_key
from contend.sweeps.tasks import Failed, Finished, Task, simulate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from contend.engine.runner import Engine
    from contend.scenarios.resolution import Point
    from contend.sweeps.store import ResultStore


@dataclass
class Entry:
    """One point on its way: what its replications gave so far. `key` is the point's in the store."""

    point: Point
    key: str
    runs: dict[int, StoredRun] = field(default_factory=dict)
    messages: dict[int, str] = field(default_factory=dict)
    """Of replications that failed."""

    @property
    def is_complete(self) -> bool:
        """Whether all replications are there."""
        return len(self.runs) == self.point.replications

    @property
    def failed(self) -> int | None:
        """The first replication that failed, whichever ended first; None if none did."""
        return min(self.messages, default=None)

    @property
    def failure(self) -> str | None:
        """What that replication says."""
        return None if self.failed is None else self.messages[self.failed]

    def close(self) -> None:
        """Called when the point is complete, by whichever thread took what was missing."""


class Course:
    """Entries of points, filled from a store and by what is simulated, each simulation once.

    Attributes:
        store: Where results are looked for and kept.
        tasks: What the store did not have.
        simulated: Simulations that were carried out.
        reused: Replications whose results were in the store.
    """

    def __init__(self, entries: Sequence[Entry], store: ResultStore) -> None:
        """Looks which results are there.

        Raises:
            ContendError: The store cannot be read.
        """
        self.store = store
        self.simulated = 0
        self.reused = 0
        self._waiting: dict[str, list[tuple[Entry, int]]] = {}
        self._lock = threading.Lock()
        self.tasks = self._look_up(entries)

    def _look_up(self, entries: Sequence[Entry]) -> list[Task]:
        """Takes what the store has; returns what is to be done, each thing once."""
        tasks = []
        keys = [[run_key(entry.key, number) for number in range(entry.point.replications)] for entry in entries]
        stored = self.store.find({key for of_entry in keys for key in of_entry})
        for entry, of_entry in zip(entries, keys, strict=True):
            for number, key in enumerate(of_entry):
                if (text := stored.get(key)) is not None:
                    entry.runs[number] = StoredRun.from_json(text)
                    self.reused += 1
                elif key in self._waiting:
                    self._waiting[key].append((entry, number))
                else:
                    self._waiting[key] = [(entry, number)]
                    tasks.append(Task(key, entry.point, number, weight(entry.point)))
            if entry.is_complete:
                entry.close()
        return tasks

    @property
    def work(self) -> float:
        """The weight of what is to be done."""
        return sum(task.weight for task in self.tasks)

    def take(self, task: Task, outcome: Finished | Failed) -> None:
        """Keeps what became of a task.

        Raises:
            ContendError: The store cannot be written to.
        """
        waiting = self._waiting[task.key]
        if isinstance(outcome, Failed):
            for entry, number in waiting:
                entry.messages[number] = outcome.message
            return
        self.store.put(task.key, outcome.answer, outcome.wall_s)
        run = StoredRun(json.loads(outcome.answer), outcome.wall_s)
        complete = []
        with self._lock:
            self.simulated += 1
            for entry, number in waiting:
                entry.runs[number] = run
                if entry.is_complete:
                    complete.append(entry)
        for entry in complete:
            entry.close()


def run_here(course: Course, engine: Engine, jobs: int, advance: Callable[[float], None]) -> None:
    """Runs the tasks on threads of this process; the engine releases the interpreter's lock.

    A simulation that fails does not stop the others.

    Args:
        course: Whose tasks.
        engine: What simulates: contend's own engine, whose results the store has.
        jobs: Simulations at once.
        advance: Called with the weight of each task that ends.

    Raises:
        KeyboardInterrupt: Ctrl-C; simulations under way were stopped, results of the others are kept.
        InputError: The engine cannot simulate a point.
        ContendError: The store cannot be written to.
    """
    engine.reset()

    def work(task: Task) -> None:
        outcome = simulate(engine, task.point, task.replication)
        if not (isinstance(outcome, Failed) and stopping.is_set()):
            course.take(task, outcome)

    stopping = threading.Event()

    def interrupt() -> None:
        stopping.set()
        engine.stop()

    crew = Crew(work, course.tasks, jobs)
    try:
        for done in crew:
            if done.error is not None:
                raise done.error  # noqa: TRY301 - stops the crew like any other
            advance(done.item.weight)
    except BaseException:
        crew.stop(interrupt)
        engine.reset()
        raise
