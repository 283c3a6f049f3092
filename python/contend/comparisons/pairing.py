"""The points that two sweeps have in common, and what is not alike in them besides the design."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from contend.common.documents import dotted, leaves
from contend.common.errors import InputError
from contend.results.measures import RATE
from contend.results.workload_words import words_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contend.common.jsontypes import JsonObject, Scalar
    from contend.scenarios.resolution import Point

Key: TypeAlias = tuple[tuple[str, "Scalar"], ...]
Differences: TypeAlias = dict[str, tuple[object, object]]
"""By dotted name, A's value and B's."""


@dataclass(frozen=True)
class Pairing:
    """The points that two sweeps have in common, in the order of the first, and how many only one of them has."""

    a: tuple[Point, ...]
    b: tuple[Point, ...]
    only_a: int
    only_b: int


def _key(point: Point) -> Key:
    return tuple(sorted(point.parameters.items()))


def _check_axes(a: Sequence[Point], b: Sequence[Point]) -> None:
    names_a, names_b = (sorted(side[0].parameters) for side in (a, b))
    if names_a == names_b:
        return
    words = []
    for label, own, other in (("A", names_a, names_b), ("B", names_b, names_a)):
        if extra := [name for name in own if name not in other]:
            words.append(f"{label} alone sweeps {', '.join(extra)}")
    raise InputError(f"the sweeps differ: {'; '.join(words)}. Fix those values with --set-a or --set-b")


def pair_points(a: Sequence[Point], b: Sequence[Point]) -> Pairing:
    """Finds the points that both sides have.

    Raises:
        InputError: The sweeps have other axes or no point in common.
    """
    _check_axes(a, b)
    keyed_a, keyed_b = ({_key(point): point for point in side} for side in (a, b))
    common = [key for key in keyed_a if key in keyed_b]
    if not common:
        raise InputError("the sweeps have no point in common")
    return Pairing(
        tuple(keyed_a[key] for key in common),
        tuple(keyed_b[key] for key in common),
        len(keyed_a) - len(common),
        len(keyed_b) - len(common),
    )


def other_units(pairing: Pairing) -> tuple[str, str] | None:
    """What the rates of the sides count where that is not the same: each side's kind of workload with its unit."""
    for pair in zip(pairing.a, pairing.b, strict=True):
        workloads = [point.config["workload"] for point in pair]
        units = [words_of(workload).unit for workload in workloads]
        if units[0] != units[1]:
            told = [
                f"{unit} (workload {workload.get('kind')})" for unit, workload in zip(units, workloads, strict=True)
            ]
            return told[0], told[1]
    return None


def check_units(pairing: Pairing, measure: str | None) -> None:
    """Refuses to compare rates that count different things.

    Raises:
        InputError: The measure is such a rate, or would be one if none is named.
    """
    if measure in (None, RATE) and (units := other_units(pairing)) is not None:
        raise InputError(
            f"A has {units[0]} and B {units[1]}: rates of different things cannot be compared; "
            "allowed: --measure with one that both have, such as elapsed_s"
        )


def workload_differences(pairing: Pairing) -> Differences:
    """The values of the workload in which paired points differ: verdicts are then about more than the design.

    Returns:
        By dotted name below `workload`, A's value and B's at the first pair that differs; None where a side has none.
    """
    found: Differences = {}
    for a, b in zip(pairing.a, pairing.b, strict=True):
        _add_apart(found, "", a.config["workload"], b.config["workload"])
    return found


def system_differences(pairing: Pairing) -> Differences:
    """The values of fabric, placement and machine in which paired points differ, as `workload_differences`.

    Of machines of other names the names are all that is said, below `machine`. Prices of a library's own code are no
    part of a machine: they are factors in `library.code`.
    """
    found: Differences = {}
    for a, b in zip(pairing.a, pairing.b, strict=True):
        own, other = (point.config.get("machine", {}) for point in (a, b))
        if own.get("name") != other.get("name"):
            found.setdefault("machine", (own.get("name"), other.get("name")))
    for section in ("fabric", "placement", "machine"):
        if section not in found:
            for a, b in zip(pairing.a, pairing.b, strict=True):
                _add_apart(found, f"{section}.", a.config.get(section, {}), b.config.get(section, {}))
    return found


def _add_apart(found: Differences, prefix: str, own: JsonObject, other: JsonObject) -> None:
    """Adds the values in which two sections differ, but for those that an earlier pair of points differs in."""
    one, another = dict(leaves(own)), dict(leaves(other))
    for pointer in one | another:
        if one.get(pointer) != another.get(pointer):
            found.setdefault(prefix + dotted(pointer), (one.get(pointer), another.get(pointer)))


def shared_prices(pairing: Pairing) -> tuple[str, str] | None:
    """The names of two designs with the same prices of code, at the first pair of points that has such."""
    for pair in zip(pairing.a, pairing.b, strict=True):
        (own, prices), (other, others) = map(_name_and_prices, pair)
        if own != other and prices == others:
            return own, other
    return None


def _name_and_prices(point: Point) -> tuple[str, tuple[object, object]]:
    library = point.config.get("library", {})
    return str(library.get("name", "")), (point.config.get("machine", {}).get("software"), library.get("code"))
