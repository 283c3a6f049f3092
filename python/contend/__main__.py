"""Lets `python -m contend` be the command line, in a process of its own."""

from __future__ import annotations

import codecs
import io
import os
import signal
import sys
import time
from typing import TYPE_CHECKING, NoReturn

from contend.common.interruption import ENDINGS, SAME_PRESS_S

if TYPE_CHECKING:
    from types import FrameType

_EXIT_INTERRUPTED = 130
# The shell's convention: signals that end a program are told apart by its exit code.
_EXIT_SIGNAL = 128


class _Interruption:
    """Raises KeyboardInterrupt once for Ctrl-C, or another request to end, that arrives several times.

    A key that is held down, or a program that passes the signal on to a whole group of processes, would else interrupt
    the writing of what had finished.
    """

    def __init__(self) -> None:
        self._last = -SAME_PRESS_S
        self._ended_by: int | None = None

    def exit_code(self, code: int) -> int:
        """The code to end with, where that of the command is `code`."""
        return _EXIT_SIGNAL + self._ended_by if code == _EXIT_INTERRUPTED and self._ended_by else code

    def __call__(self, number: int, frame: FrameType | None) -> None:
        self._ended_by = number if number in ENDINGS else None
        before, self._last = self._last, time.monotonic()
        if self._last - before >= SAME_PRESS_S:
            signal.default_int_handler(number, frame)


def _escaped(error: UnicodeError) -> tuple[str, int]:
    """Letters that the output's encoding has not, as JSON writes them: what is printed may be JSON."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    import json  # not before Ctrl-C can be taken

    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


def run() -> NoReturn:
    """Runs the command line of this process, and ends it."""
    interruption = _Interruption()
    # Ignored where a shell started this in the background: it stays so.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, interruption)
    for ending in ENDINGS:
        if signal.getsignal(ending) is signal.SIG_DFL:
            signal.signal(ending, interruption)
    try:
        # ./contend holds Ctrl-C back until it can be taken: Python's own start would end in a traceback.
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        codecs.register_error("json", _escaped)
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="json")
        from contend.cli import main
        from contend.common.linear_algebra import use_one_thread

        use_one_thread(os.environ)
        code = main()
    except KeyboardInterrupt:  # before the command line could take it
        print("contend: interrupted", file=sys.stderr)
        code = _EXIT_INTERRUPTED
    code = interruption.exit_code(code)
    from contend.common.workers import are_at_work

    if are_at_work():
        # After a second press: threads must not come back from a simulation into an interpreter that has ended.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    sys.exit(code)


if __name__ == "__main__":
    run()
