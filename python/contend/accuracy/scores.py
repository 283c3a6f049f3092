"""Errors, coverage and rankings of predictions, in all and by group; the result that has them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from contend.accuracy.baselines import MODELS, baseline
from contend.accuracy.curves import knee_agreement, knees
from contend.accuracy.document import point_rows, sections
from contend.common.documents import misfit
from contend.common.errors import InputError
from contend.common.reading import read_json
from contend.common.statistics import kendall_tau

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from contend.accuracy.predicted import Predicted
    from contend.calibrate.problem import Unpredicted
    from contend.common.jsontypes import JsonObject

_FEWEST_IN_RANKING = 2


@dataclass(frozen=True)
class Ranking:
    """Whether designs come in the right order at one thread count.

    `differences` are those of the pairs of designs whose measured intervals do not overlap: measured, and predicted.
    """

    threads: int
    setting: str
    designs: int
    differences: tuple[tuple[float, float], ...]

    @property
    def pairs(self) -> int:
        """How many pairs of designs have a measured order."""
        return len(self.differences)

    @property
    def tau(self) -> float | None:
        """Kendall's tau; None if no pair has a measured order."""
        return kendall_tau(self.differences)


Value: TypeAlias = Callable[[int], float]


def rankings(points: Sequence[Predicted], value: Value) -> list[Ranking]:
    """Rankings at each thread count among designs over the same transport with the same messages.

    Args:
        points: Held-out points.
        value: What was predicted for each, by index; NaN leaves it out.
    """
    groups: dict[tuple[int, str], list[int]] = {}
    for index, point in enumerate(points):
        if point.threads and math.isfinite(value(index)):
            groups.setdefault((point.threads, ", ".join(point.setting)), []).append(index)
    found = []
    for (threads, setting), members in sorted(groups.items()):
        if len(members) < _FEWEST_IN_RANKING:
            continue
        differences = []
        for a, b in combinations(members, 2):
            low, high = sorted((a, b), key=lambda i: points[i].point.median)
            below, above = points[low].point.interval, points[high].point.interval
            if below is not None and above is not None and below[1] < above[0]:
                differences.append((points[high].point.median - points[low].point.median, value(high) - value(low)))
        found.append(Ranking(threads, setting, len(members), tuple(differences)))
    return found


def tau_of(found: Sequence[Ranking]) -> float | None:
    """Kendall's tau over all pairs of all rankings; None if there are none."""
    return kendall_tau(pair for one in found for pair in one.differences)


def error_summary(errors: Sequence[float]) -> JsonObject:
    """Median and 90th percentile of absolute errors in percent."""
    if not errors:
        return {"points": 0, "median_abs_error_pct": None, "p90_abs_error_pct": None}
    return {
        "points": len(errors),
        "median_abs_error_pct": round(float(np.median(errors)), 2),
        "p90_abs_error_pct": round(float(np.quantile(errors, 0.9)), 2),
    }


def summary(points: Sequence[Predicted]) -> JsonObject:
    """Errors, coverage and ranking of some points."""
    found = rankings(points, lambda index: points[index].median)
    tau = tau_of(found)
    return error_summary([point.abs_error_pct for point in points]) | {
        "coverage_95": round(sum(point.covered for point in points) / len(points), 3) if points else None,
        "kendall_tau": _rounded(tau),
        "ranked_pairs": sum(one.pairs for one in found),
        **draw_counts([(point.used_draws, point.failed_draws) for point in points]),
    }


def draw_counts(points: Sequence[tuple[int, int | None]]) -> JsonObject:
    """The fewest and the most draws that an interval of some points is from, and how many failed in all.

    Results of old versions did not count those that failed, which is None here.
    """
    used = [draws for draws, _ in points]
    failed = [count for _, count in points if count is not None]
    return {
        "draws": [min(used), max(used)] if used else None,
        "failed_draws": sum(failed) if len(failed) == len(points) else None,
    }


def by_group(points: Sequence[Predicted]) -> JsonObject:
    """Summaries by library, transport, design and thread count."""
    keys: dict[str, Callable[[Predicted], str]] = {
        "library": lambda point: point.dataset.library_key,
        "transport": lambda point: point.dataset.transport,
        "design": lambda point: point.design,
        "threads": lambda point: str(point.threads),
    }
    result: JsonObject = {}
    for name, key in keys.items():
        groups: dict[str, list[Predicted]] = {}
        for point in points:
            groups.setdefault(key(point), []).append(point)
        ordered = sorted(groups, key=lambda text: (len(text), text) if name == "threads" else (0, text))
        result[name] = {group: summary(groups[group]) for group in ordered}
    return result


def baseline_predictions(points: Sequence[Predicted]) -> dict[str, dict[int, float]]:
    """What each baseline predicts, by its name and the index of the held-out point: it may have none for some."""
    return {name: baseline(model, points) for name, model in MODELS.items()}


def baseline_summaries(points: Sequence[Predicted], predicted: dict[str, dict[int, float]]) -> JsonObject:
    """The baselines on held-out points, and the simulation on the same ones."""
    result: JsonObject = {}
    for name, predictions in predicted.items():
        some = [points[index] for index in sorted(predictions)]
        values = [predictions[index] for index in sorted(predictions)]
        tau = tau_of(rankings(some, lambda at, v=values: v[at]))  # type: ignore[misc]
        result[name] = error_summary([p.error_of(v) for p, v in zip(some, values, strict=True)]) | {
            "kendall_tau": _rounded(tau),
            "simulation_on_the_same_points": error_summary([point.abs_error_pct for point in some]),
        }
    return result


def result_json(
    profile: str, points: Sequence[Predicted], unpredicted: Sequence[Unpredicted], options: JsonObject
) -> JsonObject:
    """The validation result as it is written."""
    held_out = [point for point in points if point.held_out]
    fitted = [point for point in points if not point.held_out]
    simpler = baseline_predictions(points)
    rows = [
        _point_json(point) | {"baselines": {name: _significant(of[i]) for name, of in simpler.items() if i in of}}
        for i, point in enumerate(points)
    ]
    found = knees(rows)
    ranks = rankings(held_out, lambda index: held_out[index].median)
    return {
        "profile": profile,
        "options": options,
        "summary": {
            "held_out": summary(held_out),
            "calibration": summary(fitted),
            "by": by_group(held_out),
            "baselines": baseline_summaries(points, simpler),
            "ranking_by_threads": [
                {"threads": one.threads, "setting": one.setting, "designs": one.designs, "pairs": one.pairs,
                 "kendall_tau": _rounded(one.tau)}
                for one in ranks
            ],
            "knees": knee_agreement(found),
        },
        "knees": found,
        "points": rows,
        "not_predicted": [
            {"dataset": one.dataset.name, "parameters": one.point.parameters, "reason": one.reason}
            for one in unpredicted
        ],
        "stand_ins": sorted({point.stand_in for point in points if point.stand_in}),
    }  # fmt: skip


def read_result(path: Path) -> JsonObject:
    """Reads what `contend validate --json` wrote.

    Raises:
        InputError: It is something else.
    """
    document = read_json(path, "validation result")
    if not isinstance(document, dict) or not isinstance(document.get("points"), list):
        raise InputError(f"{path} is no result of 'contend validate --json': it has no list of points")
    try:
        sections(document)
        point_rows(document)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise InputError(f"{path} is no result of 'contend validate --json': {misfit(error)}") from error
    return document


def _point_json(point: Predicted) -> JsonObject:
    found = point.point.spread
    assert found is not None  # noqa: S101 - for the type checker
    return {
        "dataset": point.dataset.name,
        "machine": point.dataset.machine_id,
        "library": point.dataset.library_key,
        "transport": point.dataset.transport,
        "design": point.design,
        "threads": point.threads,
        "parameters": point.point.parameters,
        "unit": point.point.unit,
        "measured": {
            "median": found.median,
            "iqr": list(found.quartiles),
            "ci95": None if found.ci95 is None else list(found.ci95),
            "cov": None if found.cov is None else round(found.cov, 4),
            "samples": found.count,
        },
        "predicted": {
            "median": _significant(point.median),
            "ci95": [_significant(point.low), _significant(point.high)],
            "draws": point.used_draws,
            "failed_draws": point.failed_draws,
            "interval_from": point.interval_from,
        },
        "held_out": point.held_out,
        "scored_against_interval": point.is_scored_against_interval,
        "abs_error_pct": round(point.abs_error_pct, 2),
        "covered": point.covered,
    }


def _rounded(tau: float | None) -> float | None:
    return None if tau is None else round(tau, 3)


def _significant(value: float) -> float:
    return float(f"{value:.6g}")
