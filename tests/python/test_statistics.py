import math
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from contend.common.statistics import central, estimate, kendall_tau, mean_number

FLOATS = st.floats(min_value=1.0, max_value=1e9)


def test_one_sample_has_no_interval() -> None:
    value = estimate([3.0])
    assert (value.mean, value.low, value.high, value.half_width) == (3.0, None, None, None)


def test_equal_samples_have_an_empty_interval() -> None:
    assert estimate([2.5, 2.5, 2.5]).high == 2.5


def test_no_samples_is_an_error() -> None:
    with pytest.raises(ValueError, match="at least one"):
        estimate([])


@given(st.lists(FLOATS, min_size=2, max_size=20).filter(lambda xs: max(xs) - min(xs) > 1e-3 * max(xs)))
def test_interval_agrees_with_scipy(samples: list[float]) -> None:
    value = estimate(samples)
    expected = stats.t.interval(0.95, len(samples) - 1, loc=value.mean, scale=stats.sem(samples))
    assert value.low == pytest.approx(expected[0], rel=1e-6, abs=1e-6 * value.mean)
    assert value.high == pytest.approx(expected[1], rel=1e-6)


def test_an_interval_of_less_confidence_is_that_of_scipy_too() -> None:
    value = estimate([1.0, 2.0, 4.0], confidence=0.8)
    expected = stats.t.interval(0.8, 2, loc=7 / 3, scale=stats.sem([1.0, 2.0, 4.0]))
    assert (value.low, value.high) == (pytest.approx(expected[0]), pytest.approx(expected[1]))


def test_draws_are_told_by_their_median_and_central_95_percent() -> None:
    found = central([float(value) for value in range(1001)])
    assert (found.median, found.low, found.high) == (pytest.approx(500), pytest.approx(25), pytest.approx(975))


@given(st.lists(FLOATS, min_size=1, max_size=20), st.randoms())
def test_mean_does_not_depend_on_order(samples: list[float], random) -> None:  # noqa: ANN001
    shuffled = samples.copy()
    random.shuffle(shuffled)
    assert estimate(samples).mean == estimate(shuffled).mean


def test_mean_of_equal_ints_stays_an_int() -> None:
    assert mean_number([4, 4, 4]) == 4
    assert isinstance(mean_number([4, 4, 4]), int)
    assert math.isclose(mean_number([4, 5]), 4.5)


def tau(measured: list[float], predicted: list[float]) -> float | None:
    pairs = combinations(zip(measured, predicted, strict=True), 2)
    return kendall_tau((a[0] - b[0], a[1] - b[1]) for a, b in pairs)


def test_kendall_tau() -> None:
    assert tau([1, 2, 3, 4], [10, 20, 30, 40]) == 1
    assert tau([1, 2, 3, 4], [4, 3, 2, 1]) == -1
    assert tau([1, 2, 3], [1, 3, 2]) == pytest.approx(1 / 3)
    # Seven pairs agree, one does not, one is predicted to be equal; what was measured as equal does not count.
    assert tau([1, 2, 2, 5, 4], [2, 1, 3, 5, 5]) == pytest.approx((7 - 1) / 9)
    assert tau([1, 2, 3], [3, 3, 3]) == 0
    assert tau([3, 3, 3], [1, 2, 3]) is None


@given(st.permutations(range(6)))
def test_kendall_tau_agrees_with_scipy(predicted: list[float]) -> None:
    assert tau([0, 1, 2, 3, 4, 5], predicted) == pytest.approx(stats.kendalltau(range(6), predicted).statistic)
