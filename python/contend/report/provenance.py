"""Whether an explanation or a trace in a results folder is of these results: an earlier run may have left it there."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from contend.common.documents import values_by_path
from contend.common.spelling import parameters_text, shortened, value_text
from contend.report.source import EXPLANATION, TRACE
from contend.report.texts import label
from contend.results.measures import main_measure, measure_named
from contend.results.output import RESULTS

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

    from contend.common.jsontypes import JsonObject
    from contend.report.source import ExplanationFile, RateEntry
    from contend.results.measures import Measure
    from contend.results.results import PointResult, Results

# What changes nothing of what a point is: names, and how many replications there are.
_OF_NO_ACCOUNT = frozenset({"name", "description", "run.replications"})
# A trace is of one replication, and shows the same however long that goes on.
_OF_NO_ACCOUNT_IN_TRACES = _OF_NO_ACCOUNT | {"workload.iterations"}
_MOST_NAMED = 2
_LONGEST_VALUE = 40
_NOTHING = object()


def explained_point(results: Results, explanation: ExplanationFile) -> tuple[PointResult | None, str]:
    """The point of the results that an explanation is of, or why it is of none.

    The same settings make it that; where they differ or are not told, equal rates of all replications do: no other
    simulation gives them.

    Args:
        results: The folder's results.
        explanation: The folder's explanation.
    """
    named = next((point for point in results.points if point.parameters == explanation.parameters), None)
    settings = explanation.scenario
    differences = _differences(results.scenario, settings, _OF_NO_ACCOUNT) if settings is not None else []
    if named is not None and settings is not None and not differences:
        return named, ""
    rate = explanation.rate
    measure = explanation.explained or ""
    same = [point for point in results.points if rate is not None and agree(point, measure, rate)]
    if same:
        return named if named in same else same[0], ""
    if settings is None:
        reason = "none of the results has its rate"
    elif differences:
        reason = _differences_text(differences)
    else:
        reason = f"the results do not have its point, {label(explanation.parameters)}"
    return None, f"{EXPLANATION} of the folder is of other settings and left aside: {reason}."


def explained_measure(results: Results, explanation: ExplanationFile | None) -> Measure:
    """The measure that an explanation is about, of which its speed-ups are; that of the results if it does not say."""
    name = explanation.explained if explanation is not None else None
    return measure_named(name, results.words) if name else main_measure(results)


def agree(point: PointResult, measure: str, rate: RateEntry) -> bool:
    """Whether a point has the same rate as an explanation, replication by replication, as far as both have these."""
    estimate = point.estimates.get(measure)
    if estimate is None:  # of other measures results have means only
        mean = point.scalars.get(measure)
        return mean is not None and point.replications == rate.replications and math.isclose(mean, rate.mean)
    ours, theirs = set(estimate.samples), set(rate.samples)
    return (ours <= theirs or theirs <= ours) if ours and theirs else math.isclose(estimate.mean, rate.mean)


def trace_misfit(results: Results, chosen: PointResult, information: Mapping[str, object]) -> str:
    """Why a trace is not of the chosen point; empty if it is, as far as one can tell.

    Args:
        results: The folder's results.
        chosen: The point that the report draws over time.
        information: What the trace says about itself (`otherData`).
    """
    left_aside = f"{TRACE} of the folder is left aside: "
    settings = information.get("scenario")
    if isinstance(settings, dict):
        parameters = information.get("parameters")
        differences = _differences(results.scenario, settings, _OF_NO_ACCOUNT_IN_TRACES)
        if _gives_rate_of(chosen, information) or (not differences and parameters == chosen.parameters):
            return ""
        if differences:
            return f"{left_aside}it is of other settings, {_differences_text(differences)}."
        where = f", {label(parameters)}" if isinstance(parameters, dict) else ""
        return f"{left_aside}it is of another point{where}."
    # Traces of earlier versions have their title only.
    title = str(information.get("title", ""))
    words = re.fullmatch(r"(?P<what>.*), replication \d+", title, re.DOTALL)
    expected = ", ".join(filter(None, (results.name, parameters_text(chosen.parameters))))
    return f"{left_aside}its title is {title!r}." if words is not None and words["what"] != expected else ""


def _gives_rate_of(point: PointResult, information: Mapping[str, object]) -> bool:
    """Whether the traced replication has the rate of one of the point's replications."""
    result = information.get("result")
    if not isinstance(result, dict):
        return False
    found = [result.get(name) in estimate.samples for name, estimate in point.estimates.items()]
    return bool(found) and all(found)


def _differences(
    ours: JsonObject, theirs: JsonObject, of_no_account: Container[str]
) -> list[tuple[str, object, object]]:
    """Values of two resolved scenarios that differ: path, value in the results, value in the other file."""
    here, there = dict(values_by_path(ours)), dict(values_by_path(theirs))
    return [
        (path, here.get(path, _NOTHING), there.get(path, _NOTHING))
        for path in dict.fromkeys([*here, *there])
        if path not in of_no_account and here.get(path, _NOTHING) != there.get(path, _NOTHING)
    ]


def _differences_text(differences: list[tuple[str, object, object]]) -> str:
    named = [f"{path} is {_text(there)} there, {_text(here)} in {RESULTS}" for path, here, there in differences]
    more = len(named) - _MOST_NAMED
    return "; ".join([*named[:_MOST_NAMED], *([f"{more} more differ"] if more > 0 else [])])


def _text(value: object) -> str:
    return "not given" if value is _NOTHING else shortened(value_text(value), _LONGEST_VALUE)
