"""Results by what they depend on: a simulation that was done is never done again.

A result lies in a file of its own whose name is a hash of everything that it depends on: the configuration of the point
with its seed, the number of the replication, the version and the compiled core. Files appear complete or not at all, so
that any number of sweeps, processes and machines may share a folder, and being killed at any moment does no harm. A
file that is damaged (a disk that failed, a machine that lost power) is noticed by its checksum and computed again.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from contend.core import fingerprint
from contend.errors import ContendError
from contend.files import describe, make_writable_directory
from contend.paths import cache_directory

if TYPE_CHECKING:
    from contend.jsontypes import JsonObject
    from contend.scenario import Point

_MAGIC = b"contend-result-1 "
_DIGEST_BYTES = 64


@dataclass(frozen=True)
class StoredRun:
    """One replication: what the engine answered, and how long it took."""

    result: JsonObject
    wall_s: float


def default_store() -> Path:
    """Where results are kept unless told otherwise."""
    return cache_directory() / "results"


def point_key(point: Point) -> str:
    """What all replications of a point depend on. The scenario's name and the number of replications do not count."""
    return hashlib.sha256(fingerprint().encode() + b"\0" + point.compiled.identity()).hexdigest()


def run_key(point_key_: str, replication: int) -> str:
    """The key of one replication, given the point's."""
    return hashlib.sha256(f"{point_key_} {replication}".encode()).hexdigest()


class ResultStore:
    """A folder of results by key."""

    def __init__(self, folder: Path) -> None:
        """Opens a folder, which is made if it is not there.

        Raises:
            ContendError: It cannot be written to.
        """
        make_writable_directory(folder)
        self.folder = folder
        self.damaged = 0
        """How many files were found damaged."""
        self._root = str(folder)
        self._made: set[str] = set()

    def _path(self, key: str) -> str:
        return f"{self._root}/{key[:2]}/{key[2:]}"

    def get(self, key: str) -> StoredRun | None:
        """The result under a key; None if there is none, or none that is whole.

        Raises:
            ContendError: The file is there but cannot be read.
        """
        path = self._path(key)
        try:
            with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - Path objects cost as much as the file
                content = file.read()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise ContendError(f"cannot read the stored result {path}: {describe(error)}") from error
        start = len(_MAGIC) + _DIGEST_BYTES + 1
        body = content[start:]
        if content[:start] != _head(body):
            self.damaged += 1
            return None
        entry: JsonObject = json.loads(body)
        return StoredRun(entry["result"], entry["wall_s"])

    def put(self, key: str, answer: str, wall_s: float) -> None:
        """Keeps a result.

        Args:
            key: Its key.
            answer: The engine's answer, JSON.
            wall_s: How long that took, in s.

        Raises:
            ContendError: It cannot be written, for example because the disk is full.
        """
        body = b'{"wall_s":%s,"result":%s}' % (repr(wall_s).encode(), answer.encode())
        path = self._path(key)
        # Not synchronised to the disk: that would cost more than a short simulation, and a checksum finds what is lost.
        staged = f"{self._root}/{key[:2]}/.{key[2:]}.{os.getpid()}.{threading.get_ident()}.tmp"
        try:
            if key[:2] not in self._made:
                (self.folder / key[:2]).mkdir(exist_ok=True)
                self._made.add(key[:2])
            try:
                with open(staged, "wb") as file:  # noqa: PTH123
                    file.write(_head(body) + body)
                os.replace(staged, path)  # noqa: PTH105
            except BaseException:
                Path(staged).unlink(missing_ok=True)
                raise
        except OSError as error:
            raise ContendError(
                f"cannot keep a result in {self.folder}: {describe(error)}; what was kept before counts, so that the "
                "same sweep goes on there once this is mended"
            ) from error


def _head(body: bytes) -> bytes:
    return _MAGIC + hashlib.sha256(body).hexdigest().encode() + b"\n"
