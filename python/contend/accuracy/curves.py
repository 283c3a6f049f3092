"""Curves over threads: which points of a result are one, and where it has its highest and its lowest value (knees)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from contend.calibrate.split import curve_axes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from contend.common.jsontypes import JsonObject

_FEWEST_POINTS = 3


def count_of(point: JsonObject) -> int:
    """Where on its curve a point is: its number of threads; without one of requests, or of partitions."""
    parameters = point["parameters"]
    return int(point["threads"] or parameters.get("requests") or parameters.get("partitions") or 0)


@dataclass(frozen=True)
class Curve:
    """Points of a machine's dataset that differ in their number of threads, requests or partitions.

    `others`: what else all of them have.
    """

    points: tuple[JsonObject, ...]
    others: JsonObject

    @property
    def first(self) -> JsonObject:
        """One that stands for all."""
        return self.points[0]


def curves(points: Iterable[JsonObject]) -> list[Curve]:
    """The curves that the points of a result are on.

    Args:
        points: As `contend validate --json` writes them.
    """
    datasets: dict[tuple[str, str], list[JsonObject]] = {}
    for point in points:
        datasets.setdefault((point["machine"], point["dataset"]), []).append(point)
    found: dict[tuple[str, str, str], tuple[JsonObject, list[JsonObject]]] = {}
    for key, members in datasets.items():
        axes = curve_axes(point["parameters"] for point in members)
        for point in members:
            others = {name: value for name, value in point["parameters"].items() if name not in axes}
            found.setdefault((*key, json.dumps(others, sort_keys=True)), (others, []))[1].append(point)
    return [Curve(tuple(sorted(members, key=count_of)), others) for others, members in found.values()]


def knees(points: Iterable[JsonObject]) -> list[JsonObject]:
    """The thread counts at which each curve has its highest and its lowest rate, measured and predicted.

    Beside each is whether the point that was measured there is held out: one of the fit is no prediction.
    """
    found = []
    for curve in curves(point for point in points if point["threads"]):
        members, first = curve.points, curve.first
        if len(members) < _FEWEST_POINTS:
            continue
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
    predicted = extreme(members, key=lambda point: float(point["predicted"]["median"]))
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
