"""How the points of a sweep lie: which parameter is the x axis, and which points make one curve."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeVar

from contend.common.quantities import parse_quantity
from contend.common.spelling import parameters_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contend.common.jsontypes import Scalar
    from contend.results.results import PointResult


Item = TypeVar("Item")
# Parameters that say how long a point is measured.
_LENGTHS = ("iterations", "warmup_iterations")


class Located(Protocol):
    """What has a place in a sweep."""

    @property
    def parameters(self) -> dict[str, Scalar]:
        """The values of the swept parameters."""


@dataclass(frozen=True)
class Curve:
    """Points that differ in the x axis only, in its order.

    `parameters` are those that tell curves apart.
    """

    label: str
    points: tuple[PointResult, ...]
    parameters: dict[str, Scalar] = field(default_factory=dict)


def is_number(value: object) -> bool:
    """Whether a parameter's value can stand on an axis."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def x_axis(points: Sequence[Located]) -> str | None:
    """The first parameter that is a number everywhere and takes more than two values.

    Without one the first that is a quantity everywhere, such as "1 KiB", then the same of two values; None if there is
    none either. Two values make no curve.
    """
    names = list(points[0].parameters) if points else []
    for least, counts in itertools.product((3, 2), (_are_numbers, _are_quantities)):
        for name in names:
            values = [point.parameters.get(name) for point in points]
            if counts(values) and len({axis_value(point, name) for point in points}) >= least:
                return name
    return None


def _are_numbers(values: Sequence[object]) -> bool:
    return all(is_number(value) for value in values)


def _are_quantities(values: Sequence[object]) -> bool:
    units = {quantity.unit if (quantity := parse_quantity(value)) is not None else None for value in values}
    return len(units) == 1 and None not in units


def axis_value(point: Located, axis: str) -> float:
    """Where a point stands on an axis: its number, for a quantity ("1 KiB") that in SI units."""
    value = point.parameters[axis]
    if isinstance(value, int | float):
        return float(value)
    quantity = parse_quantity(value)
    return quantity.value if quantity is not None else 0.0


def curves(points: Sequence[PointResult], axis: str | None) -> list[Curve]:
    """Groups points by all parameters but the axis, in order of appearance.

    How long points are measured makes no curves, where something else tells them apart.
    """
    varying = [
        name
        for name in (points[0].parameters if points else ())
        if name != axis and len({str(point.parameters.get(name)) for point in points}) > 1
    ]
    designs = [name for name in varying if name not in _LENGTHS]
    if _tells_apart(points, [*designs, *([] if axis is None else [axis])]):
        varying = designs
    groups: dict[str, list[PointResult]] = {}
    for point in points:
        label = parameters_text({name: point.parameters.get(name) for name in varying}, ", ")
        groups.setdefault(label, []).append(point)
    if axis is not None:
        for group in groups.values():
            group.sort(key=lambda point: axis_value(point, axis))
    return [
        Curve(label, tuple(group), {name: group[0].parameters.get(name) for name in varying})
        for label, group in groups.items()
    ]


def without_effect(points: Sequence[PointResult]) -> list[str]:
    """The swept parameters that change nothing: points that differ in no other have the same results and events.

    Only of sweeps that have every value of the parameter with each combination of the others.
    """
    values = {name: {str(point.parameters.get(name)) for point in points} for name in _names(points)}
    return [name for name, known in values.items() if len(known) > 1 and _is_without_effect(points, name, len(known))]


def _is_without_effect(points: Sequence[PointResult], name: str, values: int) -> bool:
    groups: dict[str, list[PointResult]] = {}
    for point in points:
        others = str([(other, value) for other, value in point.parameters.items() if other != name])
        group = groups.setdefault(others, [])
        if group and not group[0].is_same_simulation(point):
            return False
        group.append(point)
    return all(len({str(point.parameters.get(name)) for point in group}) == values for group in groups.values())


def _names(points: Sequence[Located]) -> list[str]:
    return list(dict.fromkeys(name for point in points for name in point.parameters))


def _tells_apart(points: Sequence[Located], names: Sequence[str]) -> bool:
    return len({str([point.parameters.get(name) for name in names]) for point in points}) == len(points)


def representative(points: Sequence[PointResult], limit: int = 6) -> list[PointResult]:
    """Some points that show the range: all if they are few, else some of each curve with both its ends.

    Where both ends of each curve have no room these are the far ends, so that what stands side by side can be compared.
    """
    if len(points) <= limit:
        return list(points)
    groups = curves(points, x_axis(points))
    share = limit // len(groups)
    if share < 2:  # noqa: PLR2004
        return spread([curve.points[-1] for curve in groups], limit)
    return spread([point for curve in groups for point in spread(list(curve.points), share)], limit)


def spread(items: list[Item], count: int) -> list[Item]:
    """At most `count` (one or more) items at even distances, with the first and the last; of one the last."""
    if len(items) <= count:
        return items
    if count == 1:
        return items[-1:]
    step = (len(items) - 1) / (count - 1)
    return [items[round(index * step)] for index in range(count)]
