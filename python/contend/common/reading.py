"""Reading files that people give: regular ones only, text as UTF-8, and JSON as strictly as scenarios are."""

from __future__ import annotations

import errno
import io
import json
import re
import stat
from pathlib import Path
from typing import Any, Never

from contend.common.errors import ContendError, InputError
from contend.common.files import describe
from contend.common.spelling import shortened


def input_path(name: str | Path) -> Path:
    """What a command reads that takes "-" for standard input."""
    return Path("/dev/stdin" if str(name) == "-" else name)


def require_regular(path: Path, what: str, *, piped: bool = False) -> None:
    """Refuses what is there but no regular file, before it is opened: a pipe would keep its reader waiting for ever.

    Args:
        path: The file.
        what: What it is, for the message: "scenario", "profile".
        piped: It may come through a pipe all the same, as what another program prints.

    Raises:
        ContendError: It may not be looked at.
        InputError: It is not there, or is a folder, a pipe, a socket or a device.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError as error:
        raise InputError(f"cannot read the {what} {path}: no such file") from error
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise InputError(f"cannot read the {what} {shortened(str(path))}: {describe(error)}") from error
        raise ContendError(f"cannot read the {what} {path}: {describe(error)}") from error
    if stat.S_ISDIR(mode):
        raise InputError(f"cannot read the {what} {path}: that is a folder")
    if not (stat.S_ISREG(mode) or (piped and stat.S_ISFIFO(mode))):
        raise InputError(f"cannot read the {what} {path}: it is not a regular file")


def read_text(path: Path, what: str, *, piped: int = 0) -> str:
    """Reads a text file.

    Args:
        path: The file.
        what: What it is, for the message: "scenario", "profile".
        piped: How many bytes may come through a pipe, as what another program prints; 0: there may be none.

    Raises:
        ContendError: It cannot be read.
        InputError: It is not there, no regular file, or no text, or a pipe gives more; it is not read to its end then.
    """
    require_regular(path, what, piped=piped > 0)
    try:
        if not path.is_fifo():
            return path.read_text(encoding="utf-8")
        with path.open("rb") as pipe:
            content = pipe.read(piped + 1)
        if len(content) > piped:
            raise InputError(f"cannot read the {what} {path}: larger than {piped >> 20} MiB")
        return io.TextIOWrapper(io.BytesIO(content), encoding="utf-8").read()
    except OSError as error:
        raise ContendError(f"cannot read the {what} {path}: {describe(error)}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"cannot read the {what} {path}: not UTF-8 text (byte {error.start})") from error


class _LenientError(Exception):
    """Something that Python's reader takes, and JSON or its readers elsewhere do not."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _LenientError
    return found


def _no_number(_constant: str) -> Never:
    raise _LenientError


# Texts, the words that Python takes for numbers, and what gives a text its place.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|NaN|-?Infinity|[][{},:]')


def _leniency(text: str) -> tuple[int, str]:
    """Where a text that _LenientError ended the reading of has it, and what it is."""
    keys: list[set[str] | None] = []  # of the objects around, with None for an array
    before = ""
    for match in _TOKEN.finditer(text):
        part = match[0]
        if part in "[{":
            keys.append(set() if part == "{" else None)
        elif part in "]}":
            keys.pop()
        elif part[0] in "NI-":
            return match.start(), f"not JSON: found {part}; allowed: a finite number"
        elif part[0] == '"' and before in "{," and keys and keys[-1] is not None:
            key = json.loads(part)
            if key in keys[-1]:
                return match.start(), f"the key {json.dumps(shortened(key))} occurs twice in one object"
            keys[-1].add(key)
        before = part
    raise AssertionError("there is none")


def parse_json(text: str, name: str) -> Any:  # noqa: ANN401 - whatever the text says
    """What a JSON text says, read as strictly as scenarios are: a key occurs once in an object, and numbers are finite.

    Args:
        text: The text.
        name: Where it is from, for the message.

    Raises:
        InputError: It is not JSON; names line and column.
    """
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        raise InputError(f"{name}:{error.lineno}:{error.colno}: not JSON: {error.msg}") from error
    except _LenientError:
        place, problem = _leniency(text)
        line, column = text.count("\n", 0, place) + 1, place - text.rfind("\n", 0, place)
        raise InputError(f"{name}:{line}:{column}: {problem}") from None
    except RecursionError as error:
        raise InputError(f"{name}: not JSON that can be read: brackets are nested too deeply") from error
    except ValueError as error:  # a number of thousands of digits
        raise InputError(f"{name}: not JSON that can be read: {error}") from error


def read_json(path: Path, what: str) -> Any:  # noqa: ANN401 - whatever the file says
    """What a JSON file says; see read_text and parse_json.

    Raises:
        ContendError: It cannot be read.
        InputError: It is not JSON.
    """
    return parse_json(read_text(path, what), str(path))


def json_object(file: Path) -> dict[str, Any] | None:
    """A JSON file's object; None if it cannot be read or is something else."""
    try:
        document = parse_json(read_text(file, "file"), file.name)
    except ContendError:
        return None
    return document if isinstance(document, dict) else None


def keys_of(file: Path) -> frozenset[str]:
    """The keys of a JSON file's object, by which to tell its kind; none if it cannot be read or is something else."""
    return frozenset(json_object(file) or ())
