"""Simulations on a Dask cluster: workers need the same contend installed, but no shared file system."""

from __future__ import annotations

import queue
import re
import time
from typing import TYPE_CHECKING, Any, TypeAlias

from contend.common.errors import ContendError, InputError
from contend.engine.core import fingerprint
from contend.engine.runner import CoreEngine
from contend.scenarios.resolution import Point
from contend.sweeps.tasks import Failed, Finished, Task, simulate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_CONNECT_S = 30
# A batch is given back to other workers when its worker dies; so often, counted by the scheduler and by us.
_ATTEMPTS = 5
_NO_WORKERS_S = 120.0
_BATCHES_PER_THREAD = 8
_MOST_IN_BATCH = 64
_WAKE_UP_S = 0.2
# Of a scheduler: the protocol may be left out, the port may not.
_ADDRESS = re.compile(r"((tcp|tls|ws|wss|ucx)://)?[^\s/]+:\d+/?|inproc://\S+")

Batch: TypeAlias = "Sequence[Task]"
# What a worker sends back for each task: the engine's answer and the wall time, or a message of failure.
Answer: TypeAlias = tuple[str | None, float, str]


def run_batch(wanted: str, batch: Sequence[tuple[str, int]]) -> list[Answer]:
    """Runs on a worker: some replications, one after another.

    Args:
        wanted: The fingerprint of the core that the results are for.
        batch: Configuration (JSON) and number of each replication.

    Raises:
        InputError: The worker has another version or build of contend.
    """
    if fingerprint() != wanted:
        raise InputError(
            f"a worker has contend {fingerprint()}, the sweep is for {wanted}; install the same build there"
        )
    engine = CoreEngine()
    answers: list[Answer] = []
    for config, replication in batch:
        try:
            outcome = simulate(engine, Point.of(config), replication)
        except InputError as error:
            outcome = Failed(str(error))
        if isinstance(outcome, Failed):
            answers.append((None, 0.0, outcome.message))
        else:
            answers.append((outcome.answer, outcome.wall_s, ""))
    return answers


def _check_address(address: str) -> None:
    """Refuses what is no address: Dask's client would say so, and then keep the program waiting at its end."""
    if not address.endswith(".json") and not _ADDRESS.fullmatch(address):
        raise InputError(f"cluster {address!r}: no address; allowed: tcp://HOST:PORT, or a scheduler file NAME.json")


class Cluster:
    """A connection to a Dask scheduler, as something that runs tasks."""

    def __init__(self, address: str) -> None:
        """Connects.

        Args:
            address: Of the scheduler: "tcp://host:8786", or the path of its scheduler file (.json).

        Raises:
            ContendError: Dask is not installed, or nobody answers there.
            InputError: The address has another form.
        """
        _check_address(address)
        try:
            from distributed import Client
        except ImportError as error:
            raise ContendError("Dask is not installed: pip install 'contend[cluster]'") from error
        try:
            if address.endswith(".json"):
                self._client = Client(scheduler_file=address, timeout=_CONNECT_S, set_as_default=False)
            else:
                self._client = Client(address, timeout=_CONNECT_S, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            raise ContendError(f"no Dask scheduler answers at {address}: {error}") from error
        self.address = address

    def threads(self) -> int:
        """How many simulations can run at once now."""
        return sum(self._client.nthreads().values())

    def run(self, tasks: Sequence[Task]) -> Iterator[tuple[Task, Finished | Failed]]:
        """Runs tasks; yields what becomes of each, in order of completion.

        Raises:
            ContendError: There are no workers, or the same batch took its worker down again and again.
        """
        from distributed import CancelledError

        done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        waiting: dict[Any, tuple[Any, Batch, int]] = {}
        version = fingerprint()

        def submit(batch: Batch, attempt: int) -> None:
            work = [(task.point.config_json, task.replication) for task in batch]
            future = self._client.submit(run_batch, version, work, pure=False, retries=0)
            waiting[future.key] = (future, batch, attempt)
            future.add_done_callback(done.put)

        size = max(1, min(_MOST_IN_BATCH, len(tasks) // (_BATCHES_PER_THREAD * max(1, self.threads()))))
        try:
            for start in range(0, len(tasks), size):
                submit(tasks[start : start + size], 1)
            seen_workers = time.monotonic()
            while waiting:
                try:
                    future = done.get(timeout=_WAKE_UP_S)
                except queue.Empty:
                    seen_workers = self._check_workers(seen_workers)
                    continue
                _, batch, attempt = waiting.pop(future.key)
                try:
                    answers = future.result()
                except ContendError:
                    raise
                except (Exception, CancelledError) as error:
                    if attempt >= _ATTEMPTS:
                        raise ContendError(
                            f"a batch of {len(batch)} simulations failed {attempt} times on {self.address}: {error!r}"
                        ) from error
                    submit(batch, attempt + 1)
                    continue
                for task, (answer, wall_s, message) in zip(batch, answers, strict=True):
                    yield task, Failed(message) if answer is None else Finished(answer, wall_s)
        finally:
            self._client.cancel([future for future, _, _ in waiting.values()])

    def close(self) -> None:
        """Ends the connection, not the cluster."""
        self._client.close()

    def _check_workers(self, seen: float) -> float:
        now = time.monotonic()
        if self.threads():
            return now
        if now - seen > _NO_WORKERS_S:
            raise ContendError(f"the cluster at {self.address} has had no workers for {_NO_WORKERS_S:.0f} s")
        return seen
