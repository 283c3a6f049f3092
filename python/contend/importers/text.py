"""Reading tables that programs print: every mistake is reported with file, line and column."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from contend.errors import InputError
from contend.files import read_text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_WORD = re.compile(r"\S+")


@dataclass(frozen=True)
class Word:
    """A word of a line with its column, counted from 1."""

    text: str
    column: int


@dataclass(frozen=True)
class Line:
    """A line of a file with its number, counted from 1."""

    path: Path
    number: int
    text: str

    @property
    def words(self) -> list[Word]:
        """What blanks separate."""
        return [Word(match.group(), match.start() + 1) for match in _WORD.finditer(self.text)]

    def fail(self, message: str, column: int = 1) -> NoReturn:
        """Ends with a message that says where.

        Raises:
            InputError: Always.
        """
        raise InputError(f"{self.path}:{self.number}:{column}: {message}")

    def number_at(self, word: Word, what: str) -> float:
        """A word as a positive, finite number.

        Raises:
            InputError: It is not one.
        """
        try:
            value = float(word.text)
        except ValueError:
            self.fail(f"found {word.text!r} where {what} should be: no number", word.column)
        if not math.isfinite(value) or value <= 0:
            self.fail(f"found {word.text!r} where {what} should be: must be more than 0", word.column)
        return value

    def count_at(self, word: Word, what: str) -> int:
        """A word as a whole number, zero or more.

        Raises:
            InputError: It is not one.
        """
        if not word.text.isascii() or not word.text.isdigit():
            self.fail(f"found {word.text!r} where {what} should be: no whole number", word.column)
        return int(word.text)

    def want(self, count: int, what: str) -> list[Word]:
        """The words of the line, which must be so many.

        Raises:
            InputError: They are not.
        """
        words = self.words
        if len(words) < count:
            self.fail(f"{len(words)} columns; {what} has {count}", len(self.text.rstrip()) + 1)
        if len(words) > count:
            self.fail(f"{len(words)} columns; {what} has {count}", words[count].column)
        return words


def lines_of(path: Path) -> Iterator[Line]:
    """All lines of a text file that are not empty.

    Raises:
        InputError: There are none.
    """
    text = read_text(path, "file", piped=True)
    empty = True
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            empty = False
            yield Line(path, number, line.rstrip("\r"))
    if empty:
        raise InputError(f"{path}:1:1: the file is empty")
