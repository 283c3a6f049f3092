"""The search of a fit without a thread count, on an emulator that is the simulator itself."""

from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest

from contend.calibrate.cross_validation import _refit

if TYPE_CHECKING:
    from contend.calibrate.problem import Vector


class Straight:
    """Two points whose logarithms grow with all parameters alike; both measured higher than anything in the cube."""

    def __init__(self, base: list[float]) -> None:
        self.base = np.array(base)
        self.measured = np.array([0.5 * len(base) + 0.3, 0.45 * len(base) + 0.25])

    @staticmethod
    def predict(places: "Vector") -> "Vector":
        total = np.atleast_2d(places).sum(axis=1)
        return np.column_stack([0.5 * total, 0.45 * total])

    def simulate(self, _evaluator: object, places: "list[Vector]") -> "Vector":
        return self.predict(np.array(places))


@pytest.mark.parametrize("base", [[1.0], [0.0], [1.0, 1.0], [0.4, 1.0]])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_base_at_an_end_of_its_range_is_searched_from(base: list[float], seed: int) -> None:
    model = cast("Any", Straight(base))
    found = _refit(model, cast("Any", None), model, np.ones(2, dtype=bool), np.full(2, 0.01), seed)
    assert found == pytest.approx(np.ones(len(base)), abs=1e-3)
    assert (found <= 1).all()
