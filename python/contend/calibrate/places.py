"""How two processors of a measured machine lie to each other: what moving a cache line between them costs by."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from contend.common.jsontypes import JsonObject


class Relation(StrEnum):
    """How two processors lie to each other."""

    siblings = "siblings"
    same_socket = "same socket"
    other_socket = "other socket"


def relation(machine: JsonObject, first: int, second: int) -> Relation | None:
    """How two different processors, by the system's numbers, lie to each other; None where it is not known.

    How a system numbers its processors says nothing: siblings may be k and k + 1 or k and k + cores, and sockets may
    take turns. So a record without places (`cpus`) tells only where all pairs are alike: one socket, no siblings.

    Args:
        machine: The record of the machine in a dataset, as measure.machine.fingerprint makes it.
        first: A processor.
        second: Another one.
    """
    places = machine.get("cpus")
    if isinstance(places, dict):
        one, other = places.get(str(first)), places.get(str(second))
        if not isinstance(one, dict) or not isinstance(other, dict):
            return None
        if one.get("socket") != other.get("socket"):
            return Relation.other_socket
        return Relation.siblings if one.get("core") == other.get("core") else Relation.same_socket
    counts = machine.get("topology")
    if not isinstance(counts, dict):
        return None
    are_alike = counts.get("sockets") == 1 and counts.get("cores") == counts.get("hardware_threads") is not None
    return Relation.same_socket if are_alike else None
