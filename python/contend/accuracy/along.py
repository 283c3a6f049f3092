"""What the curves in pictures of a result run over: counts of threads, requests or partitions; sizes, or windows."""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from contend.accuracy.curves import Curve, count_of, curves
from contend.common.quantities import parse_quantity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contend.common.jsontypes import JsonObject

# What curves may run over where counts do not vary, and what it is called at the axis.
_SIZE = "message_size"
_OTHERS = {_SIZE: "message size (bytes)", "window": "window (messages)"}
# Names the point that a ratio is over; of curves over sizes it is another one for each size.
_SERIES = "series"
_KI = 1024


class Along(ABC):
    """What curves run over. `title` is in words, with its unit; `by_order`: places stand side by side."""

    title: str
    by_order: bool

    @abstractmethod
    def place(self, point: JsonObject) -> int:
        """Where on its curve a point is."""

    @abstractmethod
    def label(self, place: int) -> str:
        """What stands there at the axis."""

    @abstractmethod
    def curves(self, points: Sequence[JsonObject]) -> list[Curve]:
        """The curves that points are on, each in the order of its places."""


class _Counts(Along):
    by_order = False

    def __init__(self, points: Sequence[JsonObject]) -> None:
        if any(point["threads"] for point in points):
            self.title = "threads or pairs"
        else:
            self.title = "partitions" if any("partitions" in point["parameters"] for point in points) else "requests"

    def place(self, point: JsonObject) -> int:
        return count_of(point)

    def label(self, place: int) -> str:
        return str(place)

    def curves(self, points: Sequence[JsonObject]) -> list[Curve]:
        return curves(points)


class _Parameter(Along):
    by_order = True  # a size may be zero

    def __init__(self, name: str) -> None:
        self._name = name
        self.title = _OTHERS[name]

    def place(self, point: JsonObject) -> int:
        value = point["parameters"].get(self._name)
        found = parse_quantity(value)
        return int(value if found is None else found.value)

    def is_known(self, points: Sequence[JsonObject]) -> bool:
        """Whether it is a parameter of all points."""
        values = [point["parameters"].get(self._name) for point in points]
        return all(isinstance(value, int) or parse_quantity(value) is not None for value in values)

    def label(self, place: int) -> str:
        for unit, name in ((_KI * _KI, " Mi"), (_KI, " Ki")) if self._name == _SIZE else ():
            if place >= unit and place % unit == 0:
                return f"{place // unit}{name}"
        return str(place)

    def curves(self, points: Sequence[JsonObject]) -> list[Curve]:
        found = []
        for curve in self._alike(points, {self._name, _SERIES}):
            places = [self.place(point) for point in curve.points]
            found += [curve] if len(set(places)) == len(places) else self._alike(curve.points, {self._name})
        return found

    def _alike(self, points: Sequence[JsonObject], free: set[str]) -> list[Curve]:
        """Points of a dataset that differ in the `free` parameters only."""
        found: dict[tuple[str, str, str], tuple[JsonObject, list[JsonObject]]] = {}
        for point in points:
            others = {name: value for name, value in point["parameters"].items() if name not in free}
            key = (point["machine"], point["dataset"], json.dumps(others, sort_keys=True))
            found.setdefault(key, (others, []))[1].append(point)
        return [Curve(tuple(sorted(members, key=self.place)), others) for others, members in found.values()]


def along(points: Sequence[JsonObject]) -> Along:
    """What the curves of a result run over.

    Counts, unless no dataset has several of them; then what connects most points, and of equals what the measured
    values depend on more.

    Args:
        points: As `contend validate --json` writes them.
    """
    counts: dict[tuple[str, str], set[int]] = {}
    for point in points:
        counts.setdefault((point["machine"], point["dataset"]), set()).add(count_of(point))
    if any(len(known) > 1 for known in counts.values()):
        return _Counts(points)
    usable = [one for one in map(_Parameter, _OTHERS) if one.is_known(points) and _use(one, points)[0] > 0]
    return max(usable, key=lambda one: _use(one, points), default=_Counts(points))


def _use(chosen: Along, points: Sequence[JsonObject]) -> tuple[int, float]:
    """How many points come after another one on their curves, and by how many powers of e values of curves differ."""
    drawn = [curve.points for curve in chosen.curves(points) if len({chosen.place(one) for one in curve.points}) > 1]
    values = [[float(one["measured"]["median"]) for one in members] for members in drawn]
    spreads = [math.log(max(known) / min(known)) for known in values if min(known) > 0]
    return sum(len(members) - 1 for members in drawn), sum(spreads)
