"""What one point of a curve is to another, measured and predicted."""

from typing import Any

import pytest
from pydantic import ValidationError

from contend.accuracy.shapes import Place, Shape, shape_section
from contend.common.errors import InputError


def point(dataset: str, threads: int, measured: float, predicted: float) -> dict[str, Any]:
    return {
        "dataset": dataset,
        "threads": threads,
        "measured": {"median": measured},
        "predicted": {"median": predicted},
    }


RESULT = {
    "points": [
        point("one", 1, 8.0, 9.0),
        point("one", 2, 4.0, 9.9),
        point("two", 2, 5.0, 8.0),
        point("two", 2, 6.0, 8.0),
    ]
}


def shape(at: tuple[str, int], over: tuple[str, int], **bound: float) -> Shape:
    places = [Place(dataset=dataset, threads=threads) for dataset, threads in (at, over)]
    return Shape(statement="falls", at=places[0], over=places[1], **bound)


def test_measurement_and_prediction_are_judged_apart() -> None:
    falls = shape(("one", 2), ("one", 1), at_most=0.7)
    rises = shape(("one", 1), ("one", 2), at_least=0.5)
    text = shape_section([falls, rises], RESULT)
    assert "| falls | at most 0.7 | 0.50 | 1.10 | yes | no |" in text
    assert "| falls | at least 0.5 | 2.00 | 0.91 | yes | yes |" in text
    assert text.endswith("predicted as it was measured for 1 of 2.")


def test_a_shape_that_holds_for_neither_is_predicted_as_it_was_measured() -> None:
    text = shape_section([shape(("one", 2), ("one", 1), at_most=0.4)], RESULT)
    assert "| falls | at most 0.4 | 0.50 | 1.10 | no | no |" in text
    assert text.endswith("predicted as it was measured for 1 of 1.")


def test_a_shape_holds_at_its_bound() -> None:
    least, most = shape(("one", 1), ("one", 2), at_least=2), shape(("one", 1), ("one", 2), at_most=2)
    assert [least.holds(ratio) for ratio in (1.99, 2.0, 2.01)] == [False, True, True]
    assert [most.holds(ratio) for ratio in (1.99, 2.0, 2.01)] == [True, True, False]


@pytest.mark.parametrize(
    ("at", "message"),
    [
        (("oen", 1), "no dataset 'oen'; did you mean 'one'"),
        (("one", 3), "one has 0 points of 3 threads; it has 1, 2"),
        (("two", 2), "two has 2 points of 2 threads"),
    ],
)
def test_a_place_is_one_point(at: tuple[str, int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        shape_section([shape(at, ("one", 1), at_least=1)], RESULT)


@pytest.mark.parametrize("bounds", [{}, {"at_least": 1.0, "at_most": 2.0}])
def test_a_shape_has_one_bound(bounds: dict[str, float]) -> None:
    with pytest.raises(ValidationError, match="at_least or at_most"):
        shape(("one", 1), ("one", 2), **bounds)
