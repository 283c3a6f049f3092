"""Groups of points in pictures of a validation, by library and transport, and what tells them apart there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from matplotlib.lines import Line2D

from contend.plots.style import MARKERS, SERIES_COLOURS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contend.common.jsontypes import JsonObject

MARKER_SIZE = 5.0
_HOLLOW = "white"


@dataclass(frozen=True)
class PointGroup:
    """Points of one library over one transport; of one lock, where no library was measured.

    `is_held_out`: whether any of them is.
    """

    name: str
    colour: str
    marker: str
    is_held_out: bool

    def look(self, *, held_out: bool) -> dict[str, Any]:
        """How its points are drawn by Matplotlib: filled if they are held out, hollow if they were fitted to."""
        return {
            "color": self.colour, "marker": self.marker, "markersize": MARKER_SIZE, "linestyle": "none",
            "markerfacecolor": self.colour if held_out else _HOLLOW,
        }  # fmt: skip

    def parts(self, points: Sequence[JsonObject]) -> list[tuple[bool, list[JsonObject]]]:
        """Those of some points that belong to it: of the fit, and held out, each with whether they are; none empty."""
        own = [point for point in points if _name(point) == self.name]
        parts = [(held_out, [point for point in own if point["held_out"] == held_out]) for held_out in (False, True)]
        return [(held_out, members) for held_out, members in parts if members]

    def key(self) -> Line2D:
        """What stands for it in a legend."""
        return Line2D([], [], label=self.name, **self.look(held_out=self.is_held_out))


def point_groups(points: Sequence[JsonObject]) -> list[PointGroup]:
    """The groups of a result's points, in order of their first ones.

    Args:
        points: As `contend validate --json` writes them.
    """
    held_out: dict[str, bool] = {}
    for point in points:
        name = _name(point)
        held_out[name] = held_out.get(name, False) or bool(point["held_out"])
    colours, markers = len(SERIES_COLOURS), len(MARKERS)
    return [
        PointGroup(name, SERIES_COLOURS[i % colours], MARKERS[(i // colours + i) % markers], is_held_out)
        for i, (name, is_held_out) in enumerate(held_out.items())
    ]


def _name(point: JsonObject) -> str:
    if point["library"] == "none":
        return str(point["parameters"].get("lock", point["dataset"]))
    return f"{point['library']}, {point['transport']}"


def held_out_words(points: Sequence[JsonObject]) -> str:
    """What filled and hollow markers mean; where there is one kind only, which points it is."""
    kinds = {bool(point["held_out"]) for point in points}
    if len(kinds) > 1:
        return "filled: held out, hollow: fitted"
    return "all points are held out" if kinds == {True} else "all points were fitted to"


def by_unit(points: Sequence[JsonObject]) -> dict[str, list[JsonObject]]:
    """The points of each unit; "" of those that have none."""
    found: dict[str, list[JsonObject]] = {}
    for point in points:
        found.setdefault(str(point["unit"] or ""), []).append(point)
    return found
