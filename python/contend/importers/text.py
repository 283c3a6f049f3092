"""Reading tables that programs print: every mistake is reported with file, line and column."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, NoReturn

from contend.common.errors import InputError
from contend.common.reading import read_text
from contend.common.spelling import shortened
from contend.datasets.reading import LARGEST_SAMPLE, SMALLEST_SAMPLE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_WORD = re.compile(r"\S+")
_COUNT = re.compile(r"[0-9]+")
# As programs print numbers; what Python reads besides (1_000, digits of other scripts) is none of theirs.
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?(nan|inf)", re.IGNORECASE | re.ASCII)
# Digits of other scripts, too: such a line is refused for its number, not skipped.
_DATA = re.compile(r"\s*[+-]?\.?\d")
_BYTE_ORDER_MARK = "\ufeff"
# Of a number that datasets may hold, in microseconds, too.
_SMALLEST, _LARGEST = 1e6 * SMALLEST_SAMPLE, LARGEST_SAMPLE
# Programs print the same measurement in several units; where these are further apart one of them is wrong.
# Nearer they may be: of several threads the mean time and the longest.
_FURTHEST_APART = 5.0
_MOST_DIGITS = 18
# That a program may print into a pipe: a million lines.
_MOST_BYTES = 64 * 2**20
_MOST_SHOWN = 40


@dataclass(frozen=True)
class Word:
    """A word of a line with its column, counted from 1."""

    text: str
    column: int


@dataclass(frozen=True)
class Line:
    """A line of a file with its number, counted from 1. `is_cut`: the file ends in it, without an end of the line."""

    path: Path
    number: int
    text: str
    is_cut: bool = False

    @property
    def words(self) -> list[Word]:
        """What blanks separate."""
        return [Word(match.group(), match.start() + 1) for match in _WORD.finditer(self.text)]

    @property
    def is_data(self) -> bool:
        """Whether it begins with a number, as lines of data do."""
        return _DATA.match(self.text) is not None

    def fail(self, message: str, column: int = 1) -> NoReturn:
        """Ends with a message that says where.

        Raises:
            InputError: Always.
        """
        raise InputError(f"{self.path}:{self.number}:{column}: {message}")

    def number_at(self, word: Word, what: str) -> float:
        """A word as a positive number such as a dataset may hold.

        Raises:
            InputError: It is not one.
        """
        value = self._number(word, what)
        if not _SMALLEST <= value <= _LARGEST:
            self._refuse_number(word, what, _SMALLEST)
        return value

    def check_other(self, rate: Word, other: Word, what: str, expected: float) -> None:
        """Refuses a rate that another number of the line contradicts.

        Args:
            rate: The message rate.
            other: The other number, rounded as it was printed.
            what: What that is.
            expected: What it is by the rate, in its unit.

        Raises:
            InputError: They are too far apart, or the other one is no number from 0.
        """
        value = self._number(other, what)
        if not 0 <= value <= _LARGEST:
            self._refuse_number(other, what, 0)
        exponent = Decimal(other.text).as_tuple().exponent
        assert isinstance(exponent, int)  # noqa: S101 - for the type checker: the number is finite
        rounding = float(Decimal((0, (5,), exponent - 1)))
        if not (value - rounding) / _FURTHEST_APART <= expected <= (value + rounding) * _FURTHEST_APART:
            problem = f"found the message rate {_shown(rate)}, by which {what} is about {expected:.3g}"
            self.fail(f"{problem}, but {_shown(other)} where that should be: they contradict each other", rate.column)

    def _number(self, word: Word, what: str) -> float:
        if _NUMBER.fullmatch(word.text) is None:
            self.fail(f"found {_shown(word)} where {what} should be: no number", word.column)
        self._check_digits(word, what)
        return float(word.text)

    def _refuse_number(self, word: Word, what: str, least: float) -> NoReturn:
        allowed = f"a number from {least:g} to {_LARGEST:g}"
        self.fail(f"found {_shown(word)} where {what} should be; allowed: {allowed}", word.column)

    def count_at(self, word: Word, what: str, least: int = 0) -> int:
        """A word as a whole number.

        Raises:
            InputError: It is not one, or less than the least.
        """
        if _COUNT.fullmatch(word.text) is None:
            self.fail(f"found {_shown(word)} where {what} should be: no whole number", word.column)
        self._check_digits(word, what)
        value = int(word.text)
        if value < least:
            self.fail(f"found {_shown(word)} where {what} should be: must be at least {least}", word.column)
        return value

    def count_in(self, match: re.Match[str], group: int, what: str, least: int = 0) -> int:
        """A group of a match in this line as a whole number.

        Raises:
            InputError: It is not one, or less than the least.
        """
        return self.count_at(Word(match.group(group), match.start(group) + 1), what, least)

    def _check_digits(self, word: Word, what: str) -> None:
        if len(re.split(r"[.eE]", word.text)[0]) > _MOST_DIGITS:
            self.fail(f"found {_shown(word)} where {what} should be: more than {_MOST_DIGITS} digits", word.column)

    def want(self, count: int, what: str) -> list[Word]:
        """The words of a line of data, which must be so many.

        Raises:
            InputError: They are not, or the line may have been cut within a number.
        """
        if self.is_cut:
            self.fail(
                "the file ends within this line: it was cut, or lacks the end of its last line", len(self.text) + 1
            )
        words = self.words
        if len(words) < count:
            self.fail(f"{len(words)} columns; {what} has {count}", len(self.text.rstrip()) + 1)
        if len(words) > count:
            self.fail(f"{len(words)} columns; {what} has {count}", words[count].column)
        return words


def lines_of(path: Path) -> Iterator[Line]:
    """All lines of a text file that are not empty, without byte order marks.

    Raises:
        InputError: There are none.
    """
    text = read_text(path, "file", piped=_MOST_BYTES)
    empty = True
    lines = text.split("\n")
    for number, marked in enumerate(lines, 1):
        line = marked.removeprefix(_BYTE_ORDER_MARK)  # at the begin of every file that was joined
        if line.strip():
            empty = False
            yield Line(path, number, line.rstrip("\r"), is_cut=number == len(lines))
    if empty:
        raise InputError(f"{path}:1:1: the file is empty")


def table_lines_of(path: Path, *headers: str) -> Iterator[Line]:
    """The lines of a file with tables that are headers or data; what launchers print before a header is left out.

    Args:
        path: The file.
        headers: How the lines of a header begin.

    Raises:
        InputError: The file is empty, or another line is within or after a table: data may be missing there.
    """
    stray: Line | None = None
    in_table = False
    for line in lines_of(path):
        if line.text.lstrip().startswith(headers):
            stray, in_table = None, False
            yield line
        elif line.is_data:
            if stray is not None:
                break
            in_table = True
            yield line
        elif in_table and stray is None:
            stray = line
    if stray is not None:
        stray.fail(f"found {_shown(stray)} in a table: no line of data, which begins with a number")


def _shown(part: Word | Line) -> str:
    return repr(shortened(part.text.strip(), _MOST_SHOWN))
