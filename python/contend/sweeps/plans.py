"""Which points a sweep has: every combination of some values, a sample of a design space, or a list."""

from __future__ import annotations

import itertools
import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, cast, runtime_checkable

from contend.common.errors import InputError
from contend.common.quantities import format_quantity, parse_quantity
from contend.common.spelling import shortened
from contend.common.whole_numbers import whole_number
from contend.scenarios.axes import is_number

if TYPE_CHECKING:
    import numpy as np
    import polars as pl

# Values by dotted path: what makes a point of a scenario.
Row: TypeAlias = dict[str, Any]
# What cannot be read as points.
_NO_PLAN = (
    "a sweep takes a mapping of dotted paths to lists of values, a plan such as LatinHypercube, or points: a list of "
    "mappings or a data frame; not {}"
)
# As many as a scenario may have (sim/scenario/loader.hpp): sweep.json holds one that has the points of the sweep.
MOST_POINTS = 100_000


def require_room(count: int, what: str) -> None:
    """Refuses a sweep that is too large, before its points fill the memory.

    Args:
        count: How many points, or values of one path, were asked for.
        what: What asks for them, for the message.

    Raises:
        InputError: They are more than a sweep may have.
    """
    if count > MOST_POINTS:
        raise InputError(f"{what}: {count} points; allowed: at most {MOST_POINTS} in a sweep")


@runtime_checkable
class Plan(Protocol):
    """What can say which points a sweep has."""

    def rows(self) -> list[Row]:
        """The points, as values by dotted path; the same paths in each."""


@dataclass(frozen=True)
class Grid:
    """Every combination of some values.

    Attributes:
        axes: Values by dotted path; the first path varies slowest.
        given_by: The option that they were given by, for messages; empty in Python.

    Examples:
        >>> Grid({"workload.pairs": [1, 2], "library.instances.count": [1, 4]}).rows()[1]
        {'workload.pairs': 1, 'library.instances.count': 4}
    """

    axes: Mapping[str, Iterable[Any]]
    given_by: str = ""

    def rows(self) -> list[Row]:
        """All combinations.

        Raises:
            InputError: There are no values, too many, or one twice.
        """
        axes = {path: _values(self.place(path), values) for path, values in self.axes.items()}
        require_room(math.prod(map(len, axes.values())), "all combinations of the grid")
        return [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]

    def place(self, path: str) -> str:
        """What messages call a path: with the option, where that gives it."""
        return _by_option(self.given_by, path) if path in self.axes else path


def _by_option(option: str, path: str) -> str:
    return f"{option} {path}" if option else path


def _values(path: str, values: Any) -> list[Any]:  # noqa: ANN401
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise InputError(f"{path}: a list of values is needed, not {values!r}")
    found = list(itertools.islice(values, MOST_POINTS + 1))
    if not found:
        raise InputError(f"{path}: the list of values is empty")
    if len(found) > MOST_POINTS:  # a range may have more than memory, and than len() can say
        raise InputError(f"{path}: more than {MOST_POINTS} values; allowed: at most that many points in a sweep")
    seen: set[str] = set()
    for value in found:
        if (text := json.dumps(value, default=str, ensure_ascii=False)) in seen:
            raise InputError(f"{path}: found {text} again; allowed: each value once")
        seen.add(text)
    return found


@dataclass(frozen=True)
class Range:
    """Values from `low` to `high`, evenly spread or, with `log`, evenly in their logarithm.

    Both ends are whole numbers (then all values are), numbers, or quantities with a unit ("1 us").
    """

    low: float | str
    high: float | str
    log: bool = False

    def at(self, share: float) -> int | float | str:
        """The value that lies at a share (0 to 1) of the way.

        Examples:
            >>> Range(1, 4).at(0.99), Range("1 us", "100 us", log=True).at(0.5), Range(0.0, 2.0).at(0.25)
            (4, '10000 ns', 0.5)
        """
        low, unit = self._number(self.low)
        high, other = self._number(self.high)
        if unit != other:
            raise InputError(
                f"the range from {self.low!r} to {self.high!r} has two kinds of values; allowed: ends of the same unit"
            )
        whole = isinstance(self.low, int) and isinstance(self.high, int)
        if not low <= high:
            raise InputError(f"the range from {self.low!r} to {self.high!r} is empty: the smaller end comes first")
        if self.log and low <= 0:
            raise InputError(f"the range from {self.low!r} to {self.high!r} has no logarithms; allowed: ends above 0")
        if whole:  # each whole number has the same share, the last one too
            high += 1
        value = low * (high / low) ** share if self.log else low + (high - low) * share
        if whole:
            return min(math.floor(value), int(self.high))
        return value if unit is None else format_quantity(value, unit)

    @staticmethod
    def _number(end: float | str) -> tuple[float, str | None]:
        quantity = parse_quantity(end)
        if quantity is None:
            if not isinstance(end, str) and is_number(end) and abs(end) <= sys.float_info.max:
                return float(end), None
            found = shortened(repr(end))
            raise InputError(f"{found} is no end of a range; allowed: a number, or one with a unit, such as '1 us'")
        return quantity.value, quantity.unit


@dataclass(frozen=True)
class LatinHypercube:
    """A Latin hypercube sample of a design space: each range is covered evenly, whatever the number of dimensions.

    Attributes:
        ranges: By dotted path: a Range, a pair (low, high), or a list of choices such as names.
        samples: How many points.
        seed: Of the sample, not of the simulations.
        given_by: The option that the ranges were given by, for messages; empty in Python.

    Examples:
        >>> sample = LatinHypercube({"workload.pairs": (1, 20), "library.matching.lock": ["mcs", "ttas"]}, samples=4)
        >>> sorted({row["library.matching.lock"] for row in sample.rows()})
        ['mcs', 'ttas']
    """

    ranges: Mapping[str, Range | tuple[float | str, float | str] | Sequence[Any]]
    samples: int
    seed: int = 1
    given_by: str = ""

    def rows(self) -> list[Row]:
        """The sample; a point that is drawn again, as small ranges of whole numbers make likely, is there once.

        Raises:
            InputError: There is nothing to sample, a range is empty, or `samples` or `seed` is no number of them.
        """
        import numpy as np
        from scipy.stats import qmc

        if not self.ranges:
            raise InputError("a Latin hypercube needs at least one range")
        if (count := whole_number(self.samples, 1)) is None:
            raise InputError(
                f"samples={self.samples!r}: at least one sample is needed; allowed: a whole number from 1 on"
            )
        if (seed := whole_number(self.seed, 0)) is None:
            raise InputError(f"seed={self.seed!r}: no seed of a sample; allowed: a whole number from 0 on")
        require_room(count, "the Latin hypercube")
        shares = qmc.LatinHypercube(len(self.ranges), rng=np.random.default_rng(seed)).random(count)
        rows = [self._row(row) for row in shares]
        return list({_row_text(row): row for row in rows}.values())

    def edges(self) -> list[Row]:
        """Points that together have every end of a range and every choice, whether or not one was drawn."""
        values = {path: _edges(self.place(path), choice) for path, choice in self.ranges.items()}
        most = max(map(len, values.values()))
        return [{path: ends[index % len(ends)] for path, ends in values.items()} for index in range(most)]

    def place(self, path: str) -> str:
        """What messages call a path: with the option, where that gives it."""
        return _by_option(self.given_by, path) if path in self.ranges else path

    def _row(self, shares: np.ndarray[Any, Any]) -> Row:
        return {
            path: _pick(self.place(path), choice, float(share))
            for (path, choice), share in zip(self.ranges.items(), shares, strict=True)
        }


def _range(choice: Any) -> Range | None:  # noqa: ANN401
    """What is sampled as a range; None for choices."""
    if isinstance(choice, tuple) and len(choice) == 2:  # noqa: PLR2004
        return Range(*choice)
    return choice if isinstance(choice, Range) else None


def _edges(path: str, choice: Any) -> list[Any]:  # noqa: ANN401
    found = _range(choice)
    if found is None:
        return _values(path, choice)
    return [found.low] if found.at(0) == found.at(1) else [found.low, found.high]


def _pick(path: str, choice: Any, share: float) -> Any:  # noqa: ANN401
    if (found := _range(choice)) is not None:
        try:
            return found.at(share)
        except InputError as error:
            raise InputError(f"{path}: {error}") from error
    values = _values(path, choice)
    return values[min(int(share * len(values)), len(values) - 1)]


@dataclass(frozen=True)
class Samples:
    """Points one by one.

    Attributes:
        points: Mappings of dotted paths to values, or a data frame (Polars or pandas) with a column for each path.
        source: What they are from, for messages: a file.
        lines: The line of each point in the file, from 1; without them messages count the points.
    """

    points: Iterable[Mapping[str, Any]] | pl.DataFrame
    source: str = "the list of points"
    lines: Sequence[int] = ()

    def place(self, index: int) -> str:
        """Where a point stands, for messages.

        Args:
            index: Of the point, from 0.
        """
        return f"{self.source}:{self.lines[index]}" if self.lines else f"{self.source}: point {index + 1}"

    def rows(self) -> list[Row]:
        """The points.

        Raises:
            InputError: There are none, too many, or one twice.
        """
        points: Any = self.points
        if hasattr(points, "to_dicts"):
            points = points.to_dicts()
        elif hasattr(points, "to_dict"):
            points = points.to_dict("records")
        if isinstance(points, str) or not isinstance(points, Iterable):
            raise InputError(_NO_PLAN.format(shortened(repr(points))))
        rows = [self._row(index, point) for index, point in enumerate(points)]
        if not rows:
            raise InputError(f"{self.source} is empty")
        require_room(len(rows), "the sweep")
        self._require_once(rows)
        return rows

    def _require_once(self, rows: Sequence[Row]) -> None:
        """A point that is there twice would be shown twice."""
        seen: dict[str, int] = {}
        for index, row in enumerate(rows):
            first = seen.setdefault(_row_text(row), index)
            if first != index:
                found = f"found the point of {self.place(first)} again"
                raise InputError(f"{self.place(index)}: {found}; allowed: each point once")

    def _row(self, index: int, point: Any) -> Row:  # noqa: ANN401 - whatever was given
        if not isinstance(point, Mapping):
            what = f"{self.place(index)}: found {shortened(repr(point))}"
            raise InputError(f"{what}; allowed: a mapping of dotted paths to values")
        for path, value in point.items():
            if isinstance(value, float) and math.isnan(value):  # what data frames have where there is nothing
                raise InputError(f"{self.place(index)}: {path}: no value")
        return dict(point)


def _row_text(row: Row) -> str:
    """A point as a text that equal ones share."""
    return json.dumps(row, default=str, sort_keys=True)


# What sweep() takes: a plan, a mapping (a grid), or points.
PlanLike: TypeAlias = "Plan | Mapping[str, Iterable[Any]] | Iterable[Mapping[str, Any]] | pl.DataFrame"


def as_plan(plan: PlanLike) -> Plan:
    """A plan as it is, a mapping as a grid, anything else as points."""
    if isinstance(plan, Mapping):
        return Grid(plan)
    if isinstance(plan, Grid | LatinHypercube | Samples):
        return plan
    # Data frames have a method rows(), too.
    if isinstance(plan, Plan) and not hasattr(plan, "columns"):
        return plan
    return Samples(cast("Iterable[Mapping[str, Any]]", plan))
