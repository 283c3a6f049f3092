"""Shapes of curves: what one point is to another, as measured and as predicted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from contend.accuracy.document import markdown_table
from contend.common.errors import InputError
from contend.common.nearest import proposal

if TYPE_CHECKING:
    from contend.common.jsontypes import JsonObject

HEAD = ("shape", "expected", "measured", "predicted", "holds as measured", "as predicted")


class Place(BaseModel):
    """A point of a curve: the one of a dataset with so many threads or pairs."""

    model_config = ConfigDict(extra="forbid")
    dataset: str
    threads: int = Field(ge=1)


class Shape(BaseModel):
    """A statement about the metric at one place over that at another: at least, or at most, so much."""

    model_config = ConfigDict(extra="forbid")
    statement: str = Field(min_length=1)
    at: Place
    over: Place
    at_least: float | None = Field(default=None, gt=0)
    at_most: float | None = Field(default=None, gt=0)

    @model_validator(mode="after")
    def _one_bound(self) -> Self:
        if (self.at_least is None) == (self.at_most is None):
            raise ValueError("a shape has at_least or at_most")
        return self

    @property
    def expected(self) -> str:
        """The bound in words."""
        return f"at least {self.at_least:g}" if self.at_least is not None else f"at most {self.at_most:g}"

    def holds(self, ratio: float) -> bool:
        """Whether a ratio is on the right side of the bound."""
        return ratio >= self.at_least if self.at_least is not None else ratio <= (self.at_most or 0.0)


def shape_section(shapes: list[Shape], result: JsonObject) -> str:
    """A table of what the shapes are in a result, of medians, and on how many measurement and prediction agree.

    Raises:
        InputError: A place is none, or several, of the result's points.
    """
    rows = []
    agree = 0
    for shape in shapes:
        at, over = _find(shape.at, result), _find(shape.over, result)
        measured, predicted = (at[kind]["median"] / over[kind]["median"] for kind in ("measured", "predicted"))
        holds = [shape.holds(ratio) for ratio in (measured, predicted)]
        agree += holds[0] == holds[1]
        verdicts = ("yes" if one else "no" for one in holds)
        rows.append((shape.statement, shape.expected, f"{measured:.2f}", f"{predicted:.2f}", *verdicts))
    told = f"Whether a shape holds is predicted as it was measured for {agree} of {len(shapes)}."
    return f"{markdown_table(HEAD, rows)}\n\n{told}"


def _find(place: Place, result: JsonObject) -> JsonObject:
    points: list[JsonObject] = [point for point in result["points"] if point["dataset"] == place.dataset]
    found = [point for point in points if point["threads"] == place.threads]
    if len(found) == 1:
        return found[0]
    if not points:
        names = list(dict.fromkeys(point["dataset"] for point in result["points"]))
        raise InputError(f"shapes: no dataset {place.dataset!r}{proposal(place.dataset, names)}")
    counts = ", ".join(str(point["threads"]) for point in points)
    raise InputError(f"shapes: {place.dataset} has {len(found)} points of {place.threads} threads; it has {counts}")
