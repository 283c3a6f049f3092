"""Fitted values at an end of their range, and intervals that do not contain their value.

A search that ends at a bound would have gone on: the value is then the bound's, not what the data say. A posterior has
no peak there to be around, so that its central interval may begin beyond the value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from contend.common.spelling import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from contend.calibrate.parts import Part

# As a share of the range, in logarithms: searches stop that close to a bound.
_EDGE = 0.02


def edge(part: Part, index: int) -> str:
    """The end of its range that the fitted value of a parameter lies at, "lower" or "upper"; empty if at none."""
    if index not in part.settled:
        return ""
    position = float(part.place[index])
    return "lower" if position < _EDGE else "upper" if position > 1 - _EDGE else ""


def interval(part: Part, index: int) -> tuple[float, float] | None:
    """The 95 % interval of a parameter by the posterior, in base units; None if there is none."""
    if part.posterior is None or index not in part.kept:
        return None
    low, high = part.posterior.interval(part.kept.index(index))
    parameter = part.problem.parameters[index]
    return parameter.at(low), parameter.at(high)


def is_outside(part: Part, index: int) -> bool:
    """Whether the 95 % interval of a fitted parameter does not contain its value."""
    found = interval(part, index)
    return found is not None and index in part.settled and not found[0] <= part.value(index) <= found[1]


def remark(part: Part, index: int) -> str:
    """What is to be said of a fitted value beside its interval; empty if nothing."""
    parts = []
    if is_outside(part, index):
        parts.append("which does not contain the value")
    if end := edge(part, index):
        parameter = part.problem.parameters[index]
        limit = parameter.text(parameter.low if end == "lower" else parameter.high)
        parts.append(f"the value lies at the {end} end of its range, {limit}")
    return "; ".join(parts)


def warnings(parts: Sequence[Part]) -> list[str]:
    """Sentences about the values of some fits that lie at an end of their range or outside of their interval."""
    at_edge = _names(parts, edge)
    outside = [name for name in _names(parts, is_outside) if name not in at_edge]
    found = []
    if at_edge:
        found.append(
            f"{counted(len(at_edge), 'value')} {_lie(at_edge)} at the edge of {_their(at_edge)} range: the model "
            f"cannot reach these data, or the range is too narrow: {', '.join(at_edge)}"
        )
    if outside:
        found.append(
            f"{counted(len(outside), 'value')} {_lie(outside)} outside of {_their(outside)} 95 % interval: the best "
            f"fit is not where most of the posterior is: {', '.join(outside)}"
        )
    return found


def _names(parts: Sequence[Part], is_meant: Callable[[Part, int], object]) -> list[str]:
    return [
        parameter.name
        for part in parts
        for index, parameter in enumerate(part.problem.parameters)
        if is_meant(part, index)
    ]


def _lie(names: Sequence[str]) -> str:
    return "lies" if len(names) == 1 else "lie"


def _their(names: Sequence[str]) -> str:
    return "its" if len(names) == 1 else "their"
