"""Runs contend-lines under valgrind, whose tool lackey lists the memory accesses of its first rank."""

from __future__ import annotations

import os
import select
import shutil
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from contend.common.errors import ContendError
from contend.measure.building import build
from contend.measure.libraries import obtain
from contend.measure.line_trace import Phase, accesses, moved_lines
from contend.measure.runner import Job, Outcome, launch
from contend.measure.transports import FABRIC, UnsupportedError, needs_veth, recipe_for
from contend.measure.workshop import without_machine_paths

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from contend.common.jsontypes import JsonObject
    from contend.measure.line_trace import Moved

_PROGRAM = "contend-lines"
_TIMEOUT_S = 900.0
_CHUNK = 1 << 22
_WAKES_S = 0.2
# What has not come by then is completed by those who wait, and counted as theirs.
_COMPLETE = 0.99


@dataclass(frozen=True)
class Rounds:
    """What the program does: rounds of so many requests, given to so many imagined threads in turn."""

    side: str = "receive"
    requests: int = 128
    rounds: int = 8
    threads: int = 4

    def words(self) -> list[str]:
        """The program's options."""
        named = {"side": self.side, "requests": self.requests, "rounds": self.rounds, "threads": self.threads}
        return [f"--{name}={value}" for name, value in named.items()]


@dataclass(frozen=True)
class Counted:
    """What moves between the threads of a library over a transport."""

    library: JsonObject
    transport: str
    rounds: Rounds
    phases: dict[Phase, Moved]
    note: str = ""

    def to_json(self) -> JsonObject:
        """As it is written to a file."""
        return {
            "library": self.library,
            "transport": self.transport,
            "rounds": {"side": self.rounds.side, "requests": self.rounds.requests, "threads": self.rounds.threads},
            "note": self.note,
            "phases": {str(phase): moved.to_json() for phase, moved in self.phases.items()},
        }


def count_lines(key: str, transport: str, rounds: Rounds, say: Callable[[str], None]) -> Counted:
    """Traces one launch; takes minutes.

    Args:
        key: Of a library, see `contend measure --list`.
        transport: On one host.
        rounds: What the program does.
        say: Told what takes time.

    Raises:
        ContendError: valgrind is missing, or the library or the transport, or the launch failed.
    """
    valgrind = shutil.which("valgrind")
    if valgrind is None:
        raise ContendError("valgrind is not installed: it lists memory accesses (Debian: apt-get install valgrind)")
    installation = obtain(key, say)
    program = build(installation, _PROGRAM, say)
    if needs_veth(transport) or transport == FABRIC:
        raise ContendError(f"--transport {transport}: lines are counted on one host")
    try:
        recipe = recipe_for(installation, transport, {})
    except UnsupportedError as error:
        raise ContendError(f"{key}: {error}") from error
    with tempfile.TemporaryDirectory(prefix="contend-") as folder:
        pipe = Path(folder) / "trace"
        os.mkfifo(pipe)
        traced = [valgrind, "--tool=lackey", "--trace-mem=yes", f"--log-file={pipe}", str(program), *rounds.words()]
        words = [str(installation.launcher), *recipe.words, "-n", "1", *traced, ":",
                 "-n", "1", str(program), *rounds.words()]  # fmt: skip
        say(f"tracing {installation.family} {installation.version} over {transport}, {rounds.side} side")
        is_over = threading.Event()
        with ThreadPoolExecutor(1) as pool:
            reading = pool.submit(lambda: moved_lines(accesses(_chunks(pipe, is_over))))
            try:
                record = launch(Job(tuple(words), recipe.environment, timeout_s=_TIMEOUT_S))
            finally:
                is_over.set()
            if record.outcome is not Outcome.ok:
                reading.exception()
                raise ContendError(f"{key} over {transport} {record.outcome}: {without_machine_paths(record.detail)}")
            phases = reading.result()
    document = record.document or {}
    complete = float(document.get("complete_before_wait", 1.0))
    note = "" if complete >= _COMPLETE else (
        f"{1 - complete:.0%} of the requests were completed by who waited for them, and are counted there"
    )  # fmt: skip
    return Counted(document.get("library", {}), transport, rounds, phases, note)


def _chunks(pipe: Path, is_over: threading.Event) -> Iterator[bytes]:
    """What is written to a pipe until the launch is over; nobody may ever have opened it."""
    descriptor = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        while True:
            ended = is_over.is_set()
            ready, _, _ = select.select([descriptor], [], [], 0 if ended else _WAKES_S)
            try:
                chunk = os.read(descriptor, _CHUNK) if ready else b""
            except BlockingIOError:
                chunk = b""
            if chunk:
                yield chunk
            elif ended:
                return
            elif ready:
                is_over.wait(_WAKES_S)  # nobody writes yet, or no longer
    finally:
        os.close(descriptor)
