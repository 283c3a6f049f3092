"""Which curves share a panel of a picture, where they are too many for one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from contend.common.spelling import parameters_text, value_text
from contend.scenarios.axes import Curve, spread

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from contend.common.jsontypes import Scalar

MOST_CURVES = 24
"""More of them in one panel cannot be told apart."""
# Of a small panel. Colours are ten.
_MOST_IN_PANEL = 10
# Four in a row, on one page.
_MOST_PANELS = 24
_MOST_COLUMNS = 4


@dataclass(frozen=True)
class Panel:
    """Some of many curves: what they have alike, and the curves, named by what tells them apart in all panels."""

    parameters: dict[str, Scalar]
    curves: tuple[Curve, ...]


@dataclass(frozen=True)
class Panels:
    """Small panels row by row, so many in a row, and how many curves there are: not all of them need be shown."""

    shown: tuple[Panel, ...]
    columns: int
    total: int

    @property
    def keys(self) -> list[Curve]:
        """One curve for each name, in the order of their appearance."""
        found: dict[str, Curve] = {}
        for panel in self.shown:
            for curve in panel.curves:
                found.setdefault(curve.label, curve)
        return list(found.values())

    @property
    def extent(self) -> str:
        """How much is shown: "96 curves", "240 of 900 curves"."""
        return f"{self.drawn} of {self.total} curves" if self.drawn < self.total else f"{self.total} curves"

    @property
    def drawn(self) -> int:
        """How many curves are shown."""
        return sum(len(panel.curves) for panel in self.shown)


def arranged(all_curves: Sequence[Curve]) -> Panels | None:
    """Small panels in place of one.

    The first parameters that tell curves apart do so within a panel, as far as there is room; each combination of the
    others has its own. Where there are too many values or combinations, some at even distances are chosen.

    Args:
        all_curves: With their parameters, as `contend.scenarios.axes.curves` finds them.

    Returns:
        The panels; None where all curves fit into one.
    """
    if len(all_curves) <= MOST_CURVES:
        return None
    values = {
        name: list(dict.fromkeys(_text(curve, name) for curve in all_curves)) for name in all_curves[0].parameters
    }
    inside = _inside({name: len(known) for name, known in values.items()})
    outside = [name for name in values if name not in inside]
    kept = {name: spread(values[name], _MOST_IN_PANEL) for name in inside}
    groups = _groups([curve for curve in all_curves if _is_kept(curve, kept)], outside)
    kept = {name: values[name] for name in outside}
    if len(groups) > _MOST_PANELS and len(groups) == math.prod(map(len, kept.values())):
        kept = _fewer(kept)
        groups = [group for group in groups if _is_kept(group[0], kept)]
    shown = [
        Panel(
            {name: group[0].parameters[name] for name in outside},
            tuple(_named({name: curve.parameters[name] for name in inside}, curve) for curve in group),
        )
        for group in spread(groups, _MOST_PANELS)
    ]
    return Panels(tuple(shown), _columns(len(shown), list(map(len, kept.values()))), len(all_curves))


def _groups(some: Iterable[Curve], names: Sequence[str]) -> list[list[Curve]]:
    """Curves that have these parameters alike, in the order of their appearance."""
    found: dict[tuple[str, ...], list[Curve]] = {}
    for curve in some:
        found.setdefault(tuple(_text(curve, name) for name in names), []).append(curve)
    return list(found.values())


def _is_kept(curve: Curve, kept: Mapping[str, Sequence[str]]) -> bool:
    return all(_text(curve, name) in values for name, values in kept.items())


def _fewer(values: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """Some values of each parameter at even distances, so that their combinations are few enough."""
    counts = {name: len(known) for name, known in values.items()}
    while math.prod(counts.values()) > _MOST_PANELS:
        counts[max(reversed(counts), key=lambda name: counts[name])] -= 1
    return {name: spread(known, counts[name]) for name, known in values.items()}


def _text(curve: Curve, name: str) -> str:
    return value_text(curve.parameters[name])


def _named(parameters: dict[str, Scalar], curve: Curve) -> Curve:
    return Curve(parameters_text(parameters, ", "), curve.points, parameters)


def _inside(sizes: dict[str, int]) -> list[str]:
    """The parameters whose values share a panel: the first ones that fit, else the one with the fewest values."""
    found: list[str] = []
    together = 1
    for name, size in sizes.items():
        if together * size <= _MOST_IN_PANEL:
            found.append(name)
            together *= size
    return found or [min(sizes, key=lambda name: sizes[name])]


def _columns(count: int, sizes: list[int]) -> int:
    """How many panels stand in a row: those that differ in the last parameters only, where that fits."""
    together = 1
    for size in reversed(sizes):
        if together * size > _MOST_COLUMNS:
            break
        together *= size
    if together > 1 and count % together == 0:
        return together
    rows = -(-count // _MOST_COLUMNS)
    return -(-count // rows)
