"""Results of several validations as one: all of their points scored together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from contend.accuracy.baselines import MODELS
from contend.accuracy.predicted import error_pct
from contend.accuracy.scores import draw_counts, error_summary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contend.common.jsontypes import JsonObject


@dataclass(frozen=True)
class _Point:
    """A point as `contend validate --json` writes it."""

    row: JsonObject

    @property
    def held_out(self) -> bool:
        return bool(self.row["held_out"])

    def error_of(self, value: float) -> float:
        measured = self.row["measured"]
        interval = measured["ci95"] if self.row["scored_against_interval"] else None
        return error_pct(value, float(measured["median"]), interval)


def pool(results: Sequence[JsonObject]) -> JsonObject:
    """The summary of all points of some results, in the form of theirs.

    Designs are ranked within each result, and a baseline predicts with what it was fitted to in the point's own.
    """
    points = [_Point(row) for result in results for row in result["points"]]
    held_out = [point for point in points if point.held_out]
    fitted = [point for point in points if not point.held_out]
    return {
        "summary": {
            "held_out": _summary(held_out) | {"kendall_tau": _tau(results)},
            "calibration": _summary(fitted) | {"kendall_tau": None},
            "baselines": _baselines(points),
        },
        "points": [point.row for point in points],
    }


def _summary(points: Sequence[_Point]) -> JsonObject:
    covered = [bool(point.row["covered"]) for point in points]
    return error_summary([float(point.row["abs_error_pct"]) for point in points]) | {
        "coverage_95": round(sum(covered) / len(covered), 3) if covered else None,
        **draw_counts([(p.row["predicted"]["draws"], p.row["predicted"]["failed_draws"]) for p in points]),
    }


def _tau(results: Sequence[JsonObject]) -> float | None:
    """Kendall's tau over the pairs of designs of all results."""
    ranked = [one for result in results for one in result["summary"]["ranking_by_threads"] if one["pairs"]]
    pairs = sum(one["pairs"] for one in ranked)
    return round(sum(one["kendall_tau"] * one["pairs"] for one in ranked) / pairs, 3) if pairs else None


def _baselines(points: Sequence[_Point]) -> JsonObject:
    found: JsonObject = {}
    for name in MODELS:
        some = [point for point in points if name in point.row["baselines"]]
        found[name] = error_summary([point.error_of(point.row["baselines"][name]) for point in some]) | {
            "kendall_tau": None,
            "simulation_on_the_same_points": error_summary([float(point.row["abs_error_pct"]) for point in some]),
        }
    return found
