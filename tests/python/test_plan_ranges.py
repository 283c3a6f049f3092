"""Ends of ranges, and the most points that a sweep may have: without a scenario."""

import pytest

from contend.common.errors import InputError
from contend.sweeps.plans import MOST_POINTS, Grid, LatinHypercube, Range, require_room


def test_a_range_of_whole_numbers_ends_at_its_last_one() -> None:
    assert [Range(1, 4).at(share) for share in (0.0, 0.24, 0.25, 0.75, 1.0)] == [1, 1, 2, 4, 4]


def test_a_range_may_have_one_value() -> None:
    assert Range(3, 3).at(0.5) == 3
    assert Range("1 us", "1 us", log=True).at(0.5) == "1000 ns"


def test_edges_have_each_end_and_each_choice_and_a_single_value_once() -> None:
    ends = LatinHypercube({"a": (1, 4), "b": (3, 3), "c": ["x", "y", "z"]}, samples=1).edges()
    assert ends == [{"a": 1, "b": 3, "c": "x"}, {"a": 4, "b": 3, "c": "y"}, {"a": 1, "b": 3, "c": "z"}]
    assert LatinHypercube({"b": (3, 3)}, samples=1).edges() == [{"b": 3}]


def test_a_sweep_may_have_as_many_points_as_are_allowed() -> None:
    require_room(MOST_POINTS, "the sweep")
    with pytest.raises(InputError, match="the sweep: "):
        require_room(MOST_POINTS + 1, "the sweep")
    assert len(Grid({"a": range(MOST_POINTS)}).rows()) == MOST_POINTS
