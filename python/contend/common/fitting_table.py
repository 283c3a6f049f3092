"""A table that leaves out what is least important where it does not fit, rather than cut numbers short."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rich import box
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console, ConsoleOptions, JustifyMethod, RenderResult

# Names that are longer are folded where there is little room.
_LONGEST_NAME = 24
_EDGES = 2
_GAP = 3


@dataclass(frozen=True)
class _Column:
    header: str
    justify: JustifyMethod
    style: str
    is_name: bool
    left_out: int | None


@dataclass
class FittingTable:
    """A table in the style of all tables, as wide as its console at most.

    Where its columns do not fit, headers are broken between words, then columns that may be are left out, which the
    caption says, then names are broken between words too. It ends with an empty line.

    Attributes:
        title: Above it.
        caption: Below it.
    """

    title: str
    caption: str = ""
    _columns: list[_Column] = field(default_factory=list)
    _rows: list[tuple[str | Text, ...]] = field(default_factory=list)

    def add_column(
        self,
        header: str,
        *,
        justify: JustifyMethod = "left",
        style: str = "",
        is_name: bool = False,
        left_out: int | None = None,
    ) -> None:
        """Adds a column.

        Args:
            header: Its title.
            justify: Where cells and title stand.
            style: Of cells and title.
            is_name: Its cells are words, which may be broken.
            left_out: When it is left out: the lowest number first, of equal ones the last column; never if not given.
        """
        self._columns.append(_Column(header, justify, style, is_name, left_out))

    def add_row(self, *cells: str | Text) -> None:
        """Adds a row, with a cell for each column."""
        self._rows.append(cells)

    @property
    def row_count(self) -> int:
        """How many rows it has."""
        return len(self._rows)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The table, as Rich asks for it."""
        shown = list(range(len(self._columns)))
        spare = sorted((i for i in shown if self._columns[i].left_out is not None), key=self._turn)
        while spare and self._width(self._least(index) for index in shown) > options.max_width:
            shown.remove(spare.pop(0))
        missing = [" ".join(column.header.split()) for i, column in enumerate(self._columns) if i not in shown]
        no_room = f"no room for: {', '.join(missing)}" if missing else ""
        caption = "; ".join(filter(None, (self.caption, no_room)))
        table = Table(
            title=Text(self.title), caption=Text(caption),
            box=box.SIMPLE_HEAD, title_justify="left", caption_justify="left", title_style="bold", pad_edge=False,
        )  # fmt: skip
        for index, width in zip(shown, self._widths(shown, options.max_width), strict=True):
            column = self._columns[index]
            table.add_column(
                Text(column.header), justify=column.justify, style=column.style, overflow="fold", width=width
            )
        for row in self._rows:
            table.add_row(*(Text(cell) if isinstance(cell, str) else cell for cell in map(row.__getitem__, shown)))
        yield table
        if caption:  # the box ends with an empty line, but that is above the caption
            yield Text()

    def _turn(self, index: int) -> tuple[int, int]:
        return self._columns[index].left_out or 0, -index

    def _widths(self, shown: list[int], room: int) -> list[int | None]:
        """Widths of columns; none where all fit as they are, or where nothing helps."""
        natural = [self._natural(index) for index in shown]
        least = [self._least(index) for index in shown]
        if self._width(least) > room:
            least = [self._least(index, breaks_names=True) for index in shown]
        left = room - self._width(least)
        if self._width(natural) <= room or left < 0:
            return [None] * len(shown)
        widths: list[int | None] = []
        for wanted, needed in zip(natural, least, strict=True):
            width = wanted if wanted - needed <= left else needed
            left -= width - needed
            widths.append(width)
        return widths

    @staticmethod
    def _width(widths: Iterable[int]) -> int:
        listed = list(widths)
        return sum(listed) + _GAP * (len(listed) - 1) + _EDGES

    def _natural(self, index: int) -> int:
        return max(map(cell_len, (*self._columns[index].header.splitlines(), *self._cells(index))), default=0)

    def _least(self, index: int, *, breaks_names: bool = False) -> int:
        """Room for the longest word of the title, and for cells in one piece, or for the longest word of names."""
        cells = self._cells(index)
        if self._columns[index].is_name and breaks_names:
            cells = [word for cell in cells for word in cell.split()]
        least = max(map(cell_len, (*self._columns[index].header.split(), *cells)), default=0)
        return min(least, _LONGEST_NAME) if self._columns[index].is_name else least

    def _cells(self, index: int) -> list[str]:
        return [str(row[index]) for row in self._rows]
