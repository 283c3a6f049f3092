"""Work on a few threads, handed out one piece at a time, with Ctrl-C seen at once."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

# How often the main thread looks what is done.
_LOOK_S = 0.05
_NAME = "simulation-"

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Done(Generic[Item, Result]):
    """What became of one piece of work: a result, or the error that ended it."""

    item: Item
    result: Result | None
    error: BaseException | None = None


class Crew(Generic[Item, Result]):
    """Threads that call `work` for each item.

    Iterate, once, to start them and to get what is done, in order of completion. Whoever stops iterating early calls
    `stop`; what was in the hands of the iteration at that moment is returned there again.
    """

    def __init__(self, work: Callable[[Item], Result], items: Sequence[Item], jobs: int) -> None:
        self._work = work
        self._items = iter(items)
        self._left = len(items)
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._finished: deque[Done[Item, Result]] = deque()
        self._unfinished = len(items)
        self._look = threading.Event()  # all is done, or something failed
        count = min(jobs, len(items))
        self._threads = [threading.Thread(target=self._run, name=f"{_NAME}{i}", daemon=True) for i in range(count)]

    def __iter__(self) -> Iterator[Done[Item, Result]]:
        for thread in self._threads:
            thread.start()
        while self._left:
            # Not woken for each item: short ones come by the hundreds in a second, and want this thread's core.
            self._look.wait(_LOOK_S)
            self._look.clear()
            while self._finished:
                yield self._finished[0]
                self._finished.popleft()  # only now: Ctrl-C may come at any moment before
                self._left -= 1

    def stop(self, interrupt: Callable[[], None]) -> list[Done[Item, Result]]:
        """Starts nothing more, waits for what is under way, and returns what ended without being seen for sure.

        Args:
            interrupt: Makes what is under way end soon.
        """
        self._stopping.set()
        interrupt()
        for thread in self._threads:
            if thread.ident is not None:
                thread.join()
        return list(self._finished)

    def _run(self) -> None:
        while not self._stopping.is_set():
            with self._lock:
                try:
                    item = next(self._items)
                except StopIteration:
                    return
            try:
                done: Done[Item, Result] = Done(item, self._work(item))
            except BaseException as error:  # noqa: BLE001 - told to whoever iterates
                done = Done(item, None, error)
            self._finished.append(done)
            with self._lock:
                self._unfinished -= 1
                if done.error is not None or self._unfinished == 0:
                    self._look.set()


def are_at_work() -> bool:
    """Whether threads of a crew have not ended, as after a `stop` that was interrupted."""
    return any(thread.name.startswith(_NAME) for thread in threading.enumerate())
