"""Ctrl-C, and other requests to end, that must not come between results and their files."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

# A press that comes again within this time, in s, is the same one.
SAME_PRESS_S = 1.0
# What a batch system sends at the end of its time, and a terminal that is closed. `nohup` has the latter ignored.
ENDINGS = (signal.SIGTERM, signal.SIGHUP)


class HeldBack:
    """Requests to end that wait until `release`; another one does not, if it comes `SAME_PRESS_S` later or more."""

    def __init__(self) -> None:
        self._handlers: dict[int, Callable[[int, FrameType | None], object]] = {}
        self._waiting: int | None = None
        self._last = 0.0

    def hold(self) -> None:
        """Begins; outside of the main thread, which alone is interrupted, that is nothing."""
        if threading.current_thread() is not threading.main_thread():
            return
        for number in (signal.SIGINT, *ENDINGS):
            handler = signal.getsignal(number)
            if callable(handler):
                self._handlers[number] = handler
                signal.signal(number, self._take)

    def release(self, *, drop: bool = False) -> None:
        """Ends, once; what had to wait takes effect now.

        Args:
            drop: Forget what had to wait: something else ends the command already.

        Raises:
            KeyboardInterrupt: There was such a request.
        """
        handlers, self._handlers = self._handlers, {}
        for number, handler in handlers.items():
            signal.signal(number, handler)
        if self._waiting in handlers and not drop:
            handlers[self._waiting](self._waiting, None)

    def _take(self, number: int, frame: FrameType | None) -> None:
        before, self._last = self._last, time.monotonic()
        if self._waiting is None:
            self._waiting = number
        elif self._last - before >= SAME_PRESS_S:
            handler = self._handlers[number]
            self.release(drop=True)
            handler(number, frame)


@contextlib.contextmanager
def held_back(*, unless: bool = False) -> Iterator[HeldBack]:
    """Lets Ctrl-C, or another request to end, wait for the body, or for where the body calls `release`.

    Args:
        unless: Do not: there was one already, and the next gives up.

    Raises:
        KeyboardInterrupt: At the end, where there was one.
    """
    held = HeldBack()
    if not unless:
        held.hold()
    try:
        yield held
    except BaseException:
        held.release(drop=True)
        raise
    held.release()
