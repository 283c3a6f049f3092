"""Writing files so that a reader never sees half of one, and a full disk leaves nothing behind."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import tempfile
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Self

from contend.common.errors import ContendError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from types import TracebackType

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
    errno.ENODEV: "that is a device or a pipe, no ordinary file",
    errno.EFBIG: "the file would be larger than is allowed",
}
_SUFFIX = ".tmp"
# How long, in s, nobody has written to a temporary file that will not be put in its place any more, nor has locked it.
_STALE_S = 60.0
# Where this process opens what has no name.
_DESCRIPTORS = "/proc/self/fd"


def require_utf8(text: str) -> None:
    """Refuses a name or value that is not UTF-8, as Python passes on what it cannot read (PEP 383).

    Raises:
        InputError: As said; the message shows the bytes.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        shown = ascii(os.fsencode(text))[1:]
        raise InputError(f"{shown} is not UTF-8; allowed: names and values that are") from None


def describe(error: OSError) -> str:
    """The reason of an operating system error, in words."""
    return _REASONS.get(error.errno or 0, error.strerror or str(error))


def make_writable_directory(path: Path) -> None:
    """Makes a folder and checks that files can be made in it, before hours of work depend on that.

    Raises:
        ContendError: It cannot be made or written to.
        InputError: It is "-".
    """
    _refuse_dash(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        # The kernel's own file systems say so of folders that are there.
        is_odd = error.errno == errno.ENOENT and path.is_dir()
        reason = "no file can be made there" if is_odd else describe(error)
        raise ContendError(f"cannot write to the folder {path}: {reason}") from error


@contextlib.contextmanager
def output_folder(path: Path | None) -> Iterator[None]:
    """A folder for what the body writes; what was made for it and is still empty at the end is taken away again.

    Args:
        path: The folder; None where nothing is to be written.

    Raises:
        ContendError: It cannot be made or written to.
    """
    if path is None:
        yield
        return
    made = [folder for folder in (path, *path.parents) if not os.path.exists(folder)]  # noqa: PTH110 - also where a part may not be looked into
    try:
        make_writable_directory(path)
        yield
    finally:
        for folder in made:
            try:
                folder.rmdir()
            except OSError:  # something is in it, or it was never made
                break


@contextlib.contextmanager
def output_file(path: Path | None) -> Iterator[None]:
    """A file that the body writes at its end: checked before, with a folder as output_folder makes it.

    Args:
        path: The file; None where nothing is to be written.

    Raises:
        ContendError: It cannot be written.
    """
    with output_folder(path.resolve().parent if path is not None else None):
        try:
            if path is not None:
                _target(path)
        except OSError as error:
            raise ContendError(f"cannot write {path}: {describe(error)}") from error
        yield


def refuse_replacing(option: str, outputs: Iterable[Path], inputs: Iterable[tuple[str, Path]]) -> None:
    """Refuses an output that would take the place of what the command reads: that may be hours of measurements.

    Args:
        option: That names the output, as it was given: "-o d.json".
        outputs: The files that will be written.
        inputs: What is read: what it is in words, and the file.

    Raises:
        InputError: One of the outputs is one of the inputs, by whatever name.
    """
    targets = [path for path in outputs if path.exists()]
    if not targets:
        return
    for what, path in inputs:
        if path.exists() and any(target.samefile(path) for target in targets):
            raise InputError(f"{option} is the {what} itself, which would be lost; name another file")


def _refuse_dash(path: Path) -> None:
    """Many programs write to standard output when they are given that name; none of contend's commands does."""
    if str(path) == "-":
        raise InputError("'-' is not standard output here; give the name of a file or folder")


def _target(path: Path) -> Path:
    """Where a file of that name goes: to the end of symbolic links, and never in the place of a device or a pipe."""
    _refuse_dash(path)
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, "that is a folder")
    if target.exists() and not target.is_file():
        raise OSError(errno.ENODEV, "no ordinary file")
    return target


class _Staged:
    """A file on its way to its place.

    Where the file system can do that it has no name until then, so that it goes away with the process, whatever ends
    that. Else it is beside its place, locked as long as this process lives; the next one removes it after that.
    """

    def __init__(self, target: Path) -> None:
        """Makes the file, empty.

        Raises:
            OSError: It cannot be made.
        """
        self._target = target
        self._name: Path | None = None
        umask = os.umask(0)
        os.umask(umask)
        mode = 0o666 & ~umask
        try:
            os.stat(_DESCRIPTORS)  # noqa: PTH116 - by these it is opened and gets its name
            descriptor = os.open(target.parent, os.O_TMPFILE | os.O_RDWR, mode)
        except OSError:
            descriptor, name = tempfile.mkstemp(prefix=_prefix(target), suffix=_SUFFIX, dir=target.parent)
            self._name = Path(name)
            os.fchmod(descriptor, mode)
        self._stream = os.fdopen(descriptor, "r+b")
        with contextlib.suppress(OSError):  # not all file systems have locks
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    @property
    def path(self) -> Path:
        """By which it can be opened in this process."""
        return self._name or Path(f"{_DESCRIPTORS}/{self._stream.fileno()}")

    def write(self, content: bytes) -> None:
        """Adds to it."""
        self._stream.write(content)

    def sync(self) -> None:
        """Brings what was written, by whatever way, to the disk."""
        self._stream.flush()
        os.fsync(self._stream.fileno())

    def give_name(self) -> None:
        """The last that can fail for lack of space or permission."""
        if self._name is None:
            name = self._target.with_name(f"{_prefix(self._target)}{uuid.uuid4().hex[:8]}{_SUFFIX}")
            # With a folder, which an absolute path has no use for, Python follows the link to the file.
            os.link(self.path, name, src_dir_fd=self._stream.fileno())
            self._name = name

    def put(self) -> None:
        """Puts it in its place; it has a name."""
        assert self._name is not None  # noqa: S101 - as said
        self._name.replace(self._target)
        self._name = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Leaves nothing behind that is not in its place."""
        if self._name is not None:
            with contextlib.suppress(OSError):
                self._name.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # what it says of a full disk was said before
            self._stream.close()


def _prefix(target: Path) -> str:
    return f".{target.name}.contend-"


def _remove_stale(target: Path) -> None:
    """Removes what writers of the same file have left that were killed: nobody holds it, and it is old."""
    shape = re.compile(f"{re.escape(_prefix(target))}[a-z0-9_]{{8}}{re.escape(_SUFFIX)}")
    with contextlib.suppress(OSError):
        for path in [path for path in target.parent.iterdir() if shape.fullmatch(path.name)]:
            with contextlib.suppress(OSError), path.open("rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if time.time() - os.fstat(file.fileno()).st_mtime > _STALE_S:
                    path.unlink()


@contextlib.contextmanager
def staged_file(path: Path) -> Iterator[Path]:
    """A temporary file that takes the place of `path` at the end of the block, for writers that need a name.

    The name is good in this process only, and the file has it as long as the block lasts.

    Raises:
        ContendError: It cannot be written; nothing is left behind then.
    """
    try:
        target = _target(path)
        _remove_stale(target)
        with _Staged(target) as staged:
            yield staged.path
            staged.sync()
            staged.give_name()
            staged.put()
    except OSError as error:
        raise ContendError(f"cannot write {path}: {describe(error)}") from error


def write_files(directory: Path, contents: Mapping[str, bytes]) -> list[Path]:
    """Writes several files into a folder, each complete.

    What can go wrong for lack of space or permission does so before the first file is replaced. Replacing several files
    is not one step, though: if that fails half-way, the message names the files that are new.

    Args:
        directory: The folder, which is there.
        contents: Content by file name.

    Returns:
        The paths written, in the order given.

    Raises:
        ContendError: One cannot be written. No temporary file is left.
    """
    staged: dict[str, _Staged] = {}
    replaced: list[str] = []
    path = directory
    try:
        with contextlib.ExitStack() as stack:
            for name, content in contents.items():
                path = directory / name
                staged[name] = stack.enter_context(_Staged(_target(path)))
                staged[name].write(content)
                staged[name].sync()
            for name, file in staged.items():
                path = directory / name
                file.give_name()
            for name, file in staged.items():
                path = directory / name
                file.put()
                replaced.append(name)
    except OSError as error:
        already = f"; new already: {', '.join(replaced)}" if replaced else ""
        raise ContendError(f"cannot write {path}: {describe(error)}{already}") from error
    return [directory / name for name in contents]


def remove_files(directory: Path, names: Iterable[str]) -> None:
    """Takes files away that write_files would replace, as far as they are there and can be."""
    for name in names:
        with contextlib.suppress(OSError):
            _target(directory / name).unlink(missing_ok=True)


def write_file(path: Path, content: bytes) -> None:
    """Writes one file; see write_files."""
    write_files(path.parent, {path.name: content})
