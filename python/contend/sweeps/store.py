"""Results by what they depend on: a simulation that was done is never done again.

The key of a result is a hash of everything that it depends on: the configuration of the point with its seed, the number
of the replication, the version and the compiled core. A store is a folder with a folder for each version and core. In
there, every process that adds results has two files of its own, which only ever grow: NAME.results has a line for each
result, its checksum and the result as JSON; NAME.index says for each key where its line begins, and gets its entry
after the line was written. So any number of sweeps, processes and machines may share a store, and being killed at any
moment does no harm: what the index does not name is not there. A line that is damaged (a disk that failed, a machine
that lost power) is noticed by its checksum, and computed again.

A file for each result would be simpler, but on most file systems making one costs as much as writing dozens of lines.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
import threading
import time
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING

from contend.common.errors import ContendError
from contend.common.files import describe, make_writable_directory
from contend.common.paths import cache_directory
from contend.common.spelling import counted, shortened
from contend.engine.core import fingerprint

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from pathlib import Path

    from contend.common.jsontypes import JsonObject
    from contend.engine.runner import Engine
    from contend.scenarios.resolution import Point

_DIGEST_BYTES = 64
# Key, first byte of the line, bytes of the line without its end.
_ENTRY = struct.Struct("<32sQQ")


@dataclass(frozen=True)
class StoredRun:
    """One replication: what the engine answered, and how long it took."""

    result: JsonObject
    wall_s: float

    @staticmethod
    def from_json(text: bytes) -> StoredRun:
        """The reverse of what `ResultStore.put` writes.

        Raises:
            ContendError: It is something else, although its checksum is right: another program wrote it.
        """
        try:
            entry: JsonObject = json.loads(text)
            return StoredRun(entry["result"], entry["wall_s"])
        except (ValueError, LookupError, TypeError) as error:
            found = shortened(text.decode(errors="replace"))
            raise ContendError(f"a stored result is none: {found}; remove the store that has it") from error


def default_store() -> Path:
    """Where results are kept unless told otherwise."""
    return cache_directory() / "results"


def point_key(point: Point) -> str:
    """What all replications of a point depend on. The scenario's name and the number of replications do not count."""
    return hashlib.sha256(fingerprint().encode() + b"\0" + point.compiled.identity()).hexdigest()


def run_key(point_key_: str, replication: int) -> str:
    """The key of one replication, given the point's."""
    return hashlib.sha256(f"{point_key_} {replication}".encode()).hexdigest()


def count_stored(folder: Path) -> int:
    """How many results a store has, of all versions."""
    return sum(path.stat().st_size // _ENTRY.size for path in folder.rglob("*.index"))


class ResultStore:
    """A folder of results by key."""

    def __init__(self, folder: Path) -> None:
        """Opens a folder, which is made if it is not there.

        Raises:
            ContendError: It cannot be written to.
        """
        self.folder = folder
        self.damaged = 0
        """How many results were found damaged."""
        self._part = folder / fingerprint()
        make_writable_directory(self._part)
        self._lock = threading.Lock()
        self._pack: _Pack | None = None

    def find(self, keys: Collection[str]) -> dict[str, bytes]:
        """Those of some results that are there, as JSON for StoredRun.

        Raises:
            ContendError: A file is there but cannot be read.
        """
        wanted = {bytes.fromhex(key): key for key in keys}
        found: dict[str, bytes] = {}
        broken: set[str] = set()
        for index in sorted(self._part.glob("*.index")):
            try:
                _read(index, wanted, found, broken)
            except OSError as error:
                raise ContendError(f"cannot read the stored results in {index}: {describe(error)}") from error
        self.damaged += len(broken - found.keys())
        return found

    def put(self, key: str, answer: str, wall_s: float) -> None:
        """Keeps a result.

        Args:
            key: Its key.
            answer: The engine's answer, JSON on one line.
            wall_s: How long that took, in s.

        Raises:
            ContendError: It cannot be written, for example because the disk is full.
        """
        body = b'{"wall_s":%s,"result":%s}' % (repr(wall_s).encode(), answer.encode())
        line = hashlib.sha256(body).hexdigest().encode() + b" " + body
        try:
            with self._lock:
                if self._pack is None:
                    self._pack = _Pack(self._part)
                self._pack.append(bytes.fromhex(key), line)
        except OSError as error:
            raise ContendError(
                f"cannot keep a result in {self.folder}: {describe(error)}; what was kept before counts, so that the "
                "same command goes on there once this is mended"
            ) from error

    def close(self) -> None:
        """Closes the files. The store can be used again."""
        with self._lock:
            if self._pack is not None:
                self._pack.close()
                self._pack = None


class KeptRuns:
    """An engine that simulates only what a store does not have, and keeps it there.

    A store that cannot be written to any more does not end the run: `failure` says so.
    """

    def __init__(self, engine: Engine, store: ResultStore, points: Iterable[Point]) -> None:
        """Looks up what is there.

        Args:
            engine: What simulates the rest.
            store: Where results are.
            points: All that will be asked for; of others nothing is found.

        Raises:
            ContendError: A file of the store is there but cannot be read.
        """
        self.name = engine.name
        self.simulated = 0
        """How many replications were simulated."""
        self.failure: ContendError | None = None
        self._engine = engine
        self._store = store
        self._lock = threading.Lock()
        keys = {run_key(point_key(point), number) for point in points for number in range(point.replications)}
        self.planned = len(keys)
        """How many different replications there are."""
        self._found = store.find(keys)
        self.reused = len(self._found)
        """How many of these were there already."""
        self._kept = set(self._found)

    def run_point(self, point: Point, replication: int, *, trace_hash: bool) -> str:
        """The result of one replication as JSON, from the store or simulated. Hashes of events are never kept.

        Raises:
            SimulationFailedError: The simulation ended with an error, or was stopped.
            InputError: The configuration is not usable.
        """
        if trace_hash:
            return self._engine.run_point(point, replication, trace_hash=True)
        key = run_key(point_key(point), replication)
        if (text := self._found.get(key)) is not None:
            return json.dumps(StoredRun.from_json(text).result)
        begin = time.perf_counter()
        answer = self._engine.run_point(point, replication, trace_hash=False)
        wall_s = time.perf_counter() - begin
        try:
            self._store.put(key, answer, wall_s)
        except ContendError as error:
            self.failure = error
        with self._lock:
            self.simulated += 1
            self._kept.add(key)
        return answer

    def stop(self) -> None:
        """Makes running replications end soon, with an error."""
        self._engine.stop()

    def reset(self) -> None:
        """Allows runs again after a stop."""
        self._engine.reset()

    def kept(self, again: str = "the same command") -> str:
        """What is kept of a run that was interrupted, in words.

        Args:
            again: What goes on from there.
        """
        if self.failure is not None:
            return str(self.failure)
        done = len(self._kept)
        return (
            f"{done} of {counted(self.planned, 'simulation')} {'are' if done != 1 else 'is'} kept in "
            f"{self._store.folder}: {again} goes on from there"
        )


class _Pack:
    """The two files of one process. Not synchronised to the disk: a checksum finds what a loss of power took."""

    def __init__(self, folder: Path) -> None:
        name = uuid.uuid4().hex
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND
        self._results = os.open(folder / f"{name}.results", flags, 0o666)
        try:
            self._index = os.open(folder / f"{name}.index", flags, 0o666)
        except OSError:
            os.close(self._results)
            raise
        self._end = 0
        self._failed: OSError | None = None

    def append(self, key: bytes, line: bytes) -> None:
        # A line that was written in part may stand at the end, but nothing may follow it.
        if self._failed is not None:
            raise self._failed
        try:
            _write(self._results, line + b"\n")
            _write(self._index, _ENTRY.pack(key, self._end, len(line)))
        except OSError as error:
            self._failed = error
            raise
        self._end += len(line) + 1

    def close(self) -> None:
        os.close(self._results)
        os.close(self._index)


def _write(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]


def _read(index: Path, wanted: dict[bytes, str], found: dict[str, bytes], broken: set[str]) -> None:
    """Takes what is wanted, and not yet found, from one pair of files."""
    entries = index.read_bytes()
    whole = len(entries) - len(entries) % _ENTRY.size  # the last entry may be on its way
    places = [
        (wanted[key], begin, size)
        for key, begin, size in _ENTRY.iter_unpack(memoryview(entries)[:whole])
        if key in wanted and wanted[key] not in found
    ]
    if not places:
        return
    try:
        file = index.with_suffix(".results").open("rb")
    except FileNotFoundError:
        broken.update(key for key, _, _ in places)
        return
    with file:
        length = os.fstat(file.fileno()).st_size
        for key, begin, size in places:
            line = b""
            if begin + size <= length:
                file.seek(begin)
                line = file.read(size)
            body = line[_DIGEST_BYTES + 1 :]
            if body and line[:_DIGEST_BYTES] == hashlib.sha256(body).hexdigest().encode():
                found[key] = body
            else:
                broken.add(key)
