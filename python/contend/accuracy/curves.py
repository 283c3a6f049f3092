"""Curves over threads: which points of a result are one, and where it has its highest and its lowest rate (knees)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from contend.calibrate.split import THREADS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from contend.jsontypes import JsonObject

_FEWEST_POINTS = 3


def curves(points: Iterable[JsonObject]) -> list[list[JsonObject]]:
    """The points of each curve, by threads: those of a machine's dataset that differ in nothing else.

    Args:
        points: As `contend validate --json` writes them.
    """
    found: dict[tuple[str, str, str], list[JsonObject]] = {}
    for point in points:
        others = json.dumps(other_parameters(point), sort_keys=True)
        found.setdefault((point["machine"], point["dataset"], others), []).append(point)
    return [sorted(members, key=lambda point: int(point["threads"])) for members in found.values()]


def other_parameters(point: JsonObject) -> JsonObject:
    """What a point has besides its number of threads."""
    return {name: value for name, value in point["parameters"].items() if name not in THREADS}


def knees(points: Iterable[JsonObject]) -> list[JsonObject]:
    """The thread counts at which each curve has its highest and its lowest rate, measured and predicted.

    Beside each is whether the point that was measured there is held out: one of the fit is no prediction.
    """
    found = []
    for members in curves(point for point in points if point["threads"]):
        if len(members) < _FEWEST_POINTS:
            continue
        first = members[0]
        found.append(
            {
                "dataset": first["dataset"],
                "machine": first["machine"],
                "design": first["design"],
                "threads": [point["threads"] for point in members],
                "highest": _knee(members, max),
                "lowest": _knee(members, min),
            }
        )
    return found


def _knee(members: Sequence[JsonObject], extreme: Callable[..., JsonObject]) -> JsonObject:
    measured = extreme(members, key=lambda point: float(point["measured"]["median"]))
    predicted = extreme(members, key=lambda point: float(point["predicted"]["mean"]))
    return {
        "measured": measured["threads"],
        "predicted": predicted["threads"],
        "held_out": measured["held_out"],
    }


def knee_agreement(found: Sequence[JsonObject]) -> JsonObject:
    """How many curves have their highest and lowest rate where it was measured, or one measured thread count beside.

    Of those curves that have it, as measured, at a point that is held out.
    """
    result: JsonObject = {}
    for end in ("highest", "lowest"):
        steps = [
            abs(one["threads"].index(one[end]["measured"]) - one["threads"].index(one[end]["predicted"]))
            for one in found
            if one[end]["held_out"]
        ]
        result[end] = {
            "curves": len(steps),
            "right": sum(step == 0 for step in steps),
            "within_one": sum(step <= 1 for step in steps),
        }
    return result
