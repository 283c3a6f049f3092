"""Locks between campaigns: the cache folder is one for all of a user's."""

from __future__ import annotations

import fcntl
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from contend.common.errors import ContendError
from contend.common.files import describe

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@contextmanager
def locked(path: Path, say: Callable[[str], None]) -> Iterator[None]:
    """Keeps other campaigns from changing a folder of the cache meanwhile; waits for one that does.

    The lock is on a file beside the folder, which may itself be removed and made anew, and ends with its process. The
    file stays: whoever removed it would take it from under another one that waits for it.

    Args:
        path: The folder.
        say: Told when there is something to wait for.

    Raises:
        ContendError: The file cannot be made or locked.
    """
    file = path.parent / f"{path.name}.lock"
    with ExitStack() as stack:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            stream = stack.enter_context(file.open("a", encoding="utf-8"))
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                say(f"waiting for another campaign that sets up {path.name}")
                fcntl.flock(stream, fcntl.LOCK_EX)
        except OSError as error:
            raise ContendError(f"cannot lock {file}: {describe(error)}") from error
        yield
