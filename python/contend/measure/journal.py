"""The journal of a campaign: one JSON object per line, appended and synchronised, never rewritten.

Whatever kills the tool leaves at most one torn line at the end, which the next use takes away. Anything else that is no
entry was not written by the tool, or was damaged later: the file is refused as it is, for nobody but its owner knows
what it is worth. A lock on the file,
which ends with its process, keeps two campaigns out of one folder.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
from typing import TYPE_CHECKING, Self

from contend.common.errors import ContendError, InputError
from contend.common.files import describe

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    from contend.common.jsontypes import JsonObject

_NO_ENTRY = "no entry of a journal, which is a JSON object; nothing was changed: mend or move the file"


def read_entries(data: bytes, name: str = "the journal") -> tuple[list[JsonObject], int]:
    """The complete entries of a journal, and how many bytes they take.

    Raises:
        InputError: A line is no entry, and no torn one either; the message says which.
    """
    *lines, torn = data.split(b"\n")
    entries = [_entry(line, f"{name}:{number}") for number, line in enumerate(lines, 1)]
    if torn and not torn.startswith(b"{"):  # no beginning of an entry
        raise InputError(f"{name}:{len(lines) + 1}: {_NO_ENTRY}")
    return entries, len(data) - len(torn)


def _entry(line: bytes, where: str) -> JsonObject:
    try:
        entry = json.loads(line)
    except (ValueError, RecursionError):
        entry = None
    if not isinstance(entry, dict):
        raise InputError(f"{where}: {_NO_ENTRY}")
    return entry


class Journal:
    """An open journal; use as a context manager. One that was made and got no entries leaves no file."""

    def __init__(self, path: Path) -> None:
        """Opens or makes a journal.

        Raises:
            ContendError: It cannot be opened, or another campaign uses it.
            InputError: It has something else in it than entries.
        """
        self.path = path
        try:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise ContendError(f"cannot open the journal {path}: {describe(error)}") from error
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._descriptor)
            if error.errno in {errno.EWOULDBLOCK, errno.EACCES}:
                raise ContendError(f"another campaign is writing to {path.parent}") from error
            raise
        if os.fstat(self._descriptor).st_nlink == 0:  # another one ended between opening and locking
            os.close(self._descriptor)
            raise ContendError(f"another campaign was writing to {path.parent}")
        data = path.read_bytes()
        self._was_empty = not data
        try:
            self.entries, end = read_entries(data, str(path))
        except InputError:
            os.close(self._descriptor)
            raise
        if end != len(data):
            os.ftruncate(self._descriptor, end)

    @property
    def name(self) -> str:
        """The file; an entry is the line of its number."""
        return str(self.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._was_empty and os.fstat(self._descriptor).st_size == 0:
            self.path.unlink(missing_ok=True)
        os.close(self._descriptor)

    def clear(self) -> None:
        """Takes away all entries."""
        os.ftruncate(self._descriptor, 0)
        self.entries.clear()

    def count(self, kind: str) -> int:
        """How many entries of a type there are."""
        return sum(entry.get("type") == kind for entry in self.entries)

    def append(self, entry: JsonObject) -> None:
        """Adds an entry; when this returns it is on the disk.

        Raises:
            ContendError: The disk is full, or the like. The journal stays valid.
        """
        data = json.dumps(entry, ensure_ascii=False, allow_nan=False).encode() + b"\n"
        size = os.fstat(self._descriptor).st_size
        try:
            left = data
            while left:  # a short write comes before the error that says why
                left = left[os.write(self._descriptor, left) :]
            os.fsync(self._descriptor)
        except OSError as error:
            os.ftruncate(self._descriptor, size)
            raise ContendError(f"cannot write the journal {self.path}: {describe(error)}") from error
        self.entries.append(entry)
