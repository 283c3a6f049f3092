"""Writing files so that a reader never sees half of one, and a full disk leaves nothing behind."""

from __future__ import annotations

import contextlib
import errno
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from contend.errors import ContendError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_REASONS = {
    errno.ENOSPC: "no space left on the device",
    errno.EDQUOT: "the disk quota is used up",
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.EROFS: "the file system is read-only",
    errno.ENOTDIR: "a part of the path is a file",
    errno.EEXIST: "there is a file of that name",
    errno.ENAMETOOLONG: "the name is too long",
    errno.ENOENT: "no such folder",
    errno.EISDIR: "that is a folder",
    errno.EFBIG: "the file would be larger than is allowed",
}


def describe(error: OSError) -> str:
    """The reason of an operating system error, in words."""
    return _REASONS.get(error.errno or 0, error.strerror or str(error))


def make_writable_directory(path: Path) -> bool:
    """Makes a folder and checks that files can be made in it, before hours of work depend on that.

    Returns:
        Whether the folder is new.

    Raises:
        ContendError: It cannot be made or written to.
    """
    is_new = not path.exists()
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        raise ContendError(f"cannot write to the folder {path}: {describe(error)}") from error
    return is_new


def _stage(path: Path, content: bytes) -> Path:
    """Writes the content to a temporary file beside `path` and returns its name; removes it on any failure."""
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    staged = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        umask = os.umask(0)
        os.umask(umask)
        staged.chmod(0o666 & ~umask)
    except BaseException:
        staged.unlink(missing_ok=True)
        raise
    return staged


@contextlib.contextmanager
def staged_file(path: Path) -> Iterator[Path]:
    """A temporary file beside `path` that takes its place at the end of the block, for writers that need a name.

    Raises:
        ContendError: It cannot be written; nothing is left behind then.
    """
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, "that is a folder")
        staged = _stage(path, b"")
        try:
            yield staged
            with staged.open("rb") as stream:
                os.fsync(stream.fileno())
            staged.replace(path)
        except BaseException:
            staged.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise ContendError(f"cannot write {path}: {describe(error)}") from error


def write_files(directory: Path, contents: Mapping[str, bytes]) -> list[Path]:
    """Writes several files into a folder: either all of them, complete, or none.

    Args:
        directory: The folder, which is there.
        contents: Content by file name.

    Returns:
        The paths written, in the order given.

    Raises:
        ContendError: One cannot be written; none has been replaced then, and no temporary file is left.
    """
    staged: list[tuple[Path, Path]] = []
    path = directory
    try:
        for name, content in contents.items():
            path = directory / name
            if path.is_dir():
                raise IsADirectoryError(errno.EISDIR, "that is a folder")
            staged.append((_stage(path, content), path))
        while staged:
            temporary, path = staged[0]
            temporary.replace(path)
            staged.pop(0)
    except OSError as error:
        raise ContendError(f"cannot write {path}: {describe(error)}") from error
    finally:
        for temporary, _ in staged:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
    return [directory / name for name in contents]


def write_file(path: Path, content: bytes) -> None:
    """Writes one file; see write_files."""
    write_files(path.parent, {path.name: content})


def read_text(path: Path, what: str) -> str:
    """Reads a text file.

    Args:
        path: The file.
        what: What it is, for the message: "scenario", "profile".

    Raises:
        ContendError: It cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise ContendError(f"cannot read the {what} {path}: {describe(error)}") from error
    except UnicodeDecodeError as error:
        raise ContendError(f"cannot read the {what} {path}: not UTF-8 text (byte {error.start})") from error
