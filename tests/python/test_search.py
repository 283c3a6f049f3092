"""The global search: which of its ends counts."""

from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pytest

from contend.calibrate.search import BASE, CHECK_REPLICATIONS, Fit, History, search

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contend.calibrate.problem import Vector

TRUTH = np.array([0.3, 0.6, 0.5, 0.7])


class Exact:
    """Eight points that four parameters move in different ways; measured where the parameters are TRUTH."""

    dimensions = len(TRUTH)

    def __init__(self, base: "Vector") -> None:
        self.base = base
        self.ways = np.random.default_rng(1).normal(size=(self.dimensions, 8))
        self.measured = TRUTH @ self.ways

    def simulate(
        self, _evaluator: object, places: "Sequence[Vector]", replications: "Sequence[int]" = (0,)
    ) -> "Vector":
        assert tuple(replications) in {(0,), CHECK_REPLICATIONS}
        return np.asarray(np.array(places) @ self.ways, dtype=float)


def found(base: "Vector", history: History, *, is_over: bool) -> Fit:
    problem = cast("Any", Exact(base))
    noise = np.full(8, 0.01)
    return search(problem, cast("Any", None), history, noise, starts=2, seed=1, is_over=lambda: is_over)


def test_a_search_that_ends_early_is_not_worse_than_its_base() -> None:
    history = History()
    fit = found(TRUTH, history, is_over=True)
    assert fit.place == pytest.approx(TRUTH)
    assert [start.reason for start in fit.starts] == ["the budget is spent", BASE]
    assert fit.starts[1].checked < fit.starts[0].checked
    assert fit.misfit == fit.starts[1].misfit
    assert fit.starts[1].places == 1
    # An emulator learns from the places of searches, as ever.
    assert len(history.places) == fit.starts[0].places


def test_a_search_that_comes_further_counts() -> None:
    fit = found(np.full(4, 0.5), History(), is_over=False)
    *starts, base = fit.starts
    assert base.reason == BASE
    assert len(starts) == 2
    assert fit.place is min(starts, key=lambda start: start.checked).place
    assert fit.place == pytest.approx(TRUTH, abs=0.05)
