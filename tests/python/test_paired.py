"""Samples of two sides in pairs: intervals and verdicts."""

import math
import random

import pytest
from scipy import stats

from contend.common.errors import InputError
from contend.common.statistics import estimate
from contend.comparisons.paired import (
    bootstrap,
    bootstrap_remark,
    compare_samples,
    pooled_reduction,
    relative_differences,
    sample_variance,
)


def test_the_interval_is_that_of_the_paired_t_test() -> None:
    a = [10.0, 12.0, 11.5, 9.0, 10.4]
    b = [11.0, 12.5, 12.8, 10.1, 10.2]
    found = compare_samples("message_rate", a, b)
    expected = stats.ttest_rel(b, a).confidence_interval(0.95)
    assert found.difference.mean == pytest.approx(sum(b) / 5 - sum(a) / 5)
    assert (found.difference.low, found.difference.high) == (pytest.approx(expected.low), pytest.approx(expected.high))


@pytest.mark.parametrize("interval", ["t", "bootstrap"])
def test_the_ratio_is_that_of_the_means_and_says_what_the_difference_says(interval: str) -> None:
    source = random.Random(4)
    told = 0
    for _ in range(400 if interval == "t" else 2):
        shared = [source.gauss(100, 10) for _ in range(6)]
        a = [value + source.gauss(0, 20) for value in shared]
        b = [value + source.uniform(0, 60) for value in shared]
        found, turned = compare_samples("x", a, b, interval), compare_samples("x", b, a, interval)
        assert found.ratio.value == pytest.approx(found.b.mean / found.a.mean)
        assert found.ratio.low is not None
        assert found.ratio.high is not None
        assert found.ratio.low < found.ratio.value < found.ratio.high
        if interval == "t":
            assert turned.ratio.low == pytest.approx(1 / found.ratio.high)
            assert turned.ratio.high == pytest.approx(1 / found.ratio.low)
            assert found.difference.low is not None
            assert (found.ratio.low > 1) == (found.difference.low > 0)
            told += found.ratio.low > 1
    assert interval != "t" or 50 < told < 350  # both happen


def test_the_ratio_of_the_means_is_covered_in_nineteen_cases_of_twenty() -> None:
    source = random.Random(5)
    covered = 0
    for _ in range(1000):
        shared = [source.gauss(0, 10) for _ in range(5)]
        a = [100 + chance + source.gauss(0, 3) for chance in shared]
        b = [150 + chance + source.gauss(0, 3) for chance in shared]
        ratio = compare_samples("x", a, b).ratio
        assert ratio.low is not None
        assert ratio.high is not None
        covered += ratio.low <= 1.5 <= ratio.high
    assert 930 <= covered <= 970  # 950 expected, standard deviation 6.9


def test_a_ratio_to_what_may_be_zero_has_no_ends() -> None:
    ratio = compare_samples("x", [1.0, 199.0], [300.0, 310.0]).ratio
    assert ratio.value == pytest.approx(3.05)
    assert ratio.low is None
    assert ratio.high is None


def test_a_ratio_whose_end_would_be_negative_ends_at_zero() -> None:
    """Of samples that are all above zero no mean of B, and so no ratio, can be below it."""
    ratio = compare_samples("x", [10.0, 10.1, 9.9], [0.1, 5.0, 1.0]).ratio
    assert ratio.low == 0.0
    assert ratio.high is not None
    assert ratio.high > 0.61


@pytest.mark.parametrize("interval", ["t", "bootstrap"])
@pytest.mark.parametrize("end", [0.0, -1.0])
def test_samples_that_are_not_all_positive_give_a_ratio_without_ends(interval: str, end: float) -> None:
    positive, other = [10.0, 11.0, 12.0, 11.5, 10.5, 11.0], [9.0, 10.0, 11.0, 10.5, 9.5, end]
    for a, b in ((positive, other), (other, positive)):
        ratio = compare_samples("x", a, b, interval).ratio
        assert ratio.value == pytest.approx(sum(b) / sum(a))
        assert (ratio.low, ratio.high) == (None, None)


def test_a_negative_mean_has_a_ratio_and_its_size_says_what_is_alike() -> None:
    found = compare_samples("x", [-100.0, -101.0, -99.0], [-200.0, -202.0, -198.0])
    assert found.ratio.value == pytest.approx(2)
    assert (found.ratio.low, found.ratio.high) == (None, None)
    assert compare_samples("x", [-100.0, -100.0, -100.0], [-99.0, -101.0, -100.0]).verdict == "no difference"


def test_what_is_alike_is_a_share_of_the_first_side() -> None:
    """Half a percent of 1000 is 5, of what is 5 more a bit more: so much less is no difference, so much more is one."""
    assert compare_samples("x", [1000.0, 1000.0], [1005.0, 1005.0]).verdict == "no difference"
    assert compare_samples("x", [1000.0, 1000.0], [1005.01, 1005.01]).verdict == "higher"
    assert compare_samples("x", [1000.0, 1000.0], [994.99, 994.99]).verdict == "lower"


def test_a_bootstrap_of_equal_ratios_is_that_ratio() -> None:
    a = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    ratio = compare_samples("x", a, [2 * value for value in a], "bootstrap").ratio
    assert (ratio.value, ratio.low, ratio.high) == (2.0, 2.0, 2.0)


def test_what_pairing_gains_is_the_variance_of_both_sides_over_that_of_differences() -> None:
    # Variances of 2 and 18; the differences are 1 and 5, and have one of 8.
    assert compare_samples("x", [1.0, 3.0], [2.0, 8.0]).variance_reduction == pytest.approx(20 / 8)


def test_relative_differences_are_in_units_of_the_own_mean() -> None:
    assert relative_differences(estimate([1.0, 3.0]), estimate([2.0, 8.0])) == pytest.approx([-0.1, 0.1])


def test_chance_that_hits_both_sides_drops_out() -> None:
    source = random.Random(1)
    shared = [source.gauss(100, 10) for _ in range(20)]
    a = [value + source.gauss(0, 0.1) for value in shared]
    b = [value + 1 + source.gauss(0, 0.1) for value in shared]
    found = compare_samples("x", a, b)
    assert found.verdict == "higher"
    assert found.variance_reduction is not None
    assert found.variance_reduction > 1000
    shuffled = compare_samples("x", a, b[1:] + b[:1])
    assert shuffled.verdict == "undecided"
    assert shuffled.variance_reduction is not None
    assert shuffled.variance_reduction < 4


def test_what_nobody_could_measure_is_no_difference() -> None:
    same = [100.0, 100.1, 99.9, 100.05]
    assert compare_samples("x", same, [value * 1.0004 for value in same]).verdict == "no difference"
    assert compare_samples("x", same, [value * 1.02 for value in same]).verdict == "higher"
    assert compare_samples("x", same, [value * 0.98 for value in same]).verdict == "lower"


@pytest.mark.parametrize("interval", ["t", "bootstrap"])
def test_swapping_the_sides_turns_the_verdict(interval: str) -> None:
    a, b = [10.0, 10.1, 9.9, 10.05, 10.1, 9.95], [12.0, 12.2, 11.9, 12.1, 12.0, 12.15]
    one, other = compare_samples("x", a, b, interval), compare_samples("x", b, a, interval)
    assert (one.verdict, other.verdict) == ("higher", "lower")
    assert one.ratio.value is not None
    assert other.ratio.value == pytest.approx(1 / one.ratio.value)


def test_the_bootstrap_is_reproducible_and_near_t_for_many_samples() -> None:
    source = random.Random(2)
    samples = [source.gauss(5, 1) for _ in range(60)]
    assert bootstrap(samples) == bootstrap(samples)
    half = bootstrap(samples).half_width
    assert half is not None
    assert half == pytest.approx(stats.t.ppf(0.975, 59) * math.sqrt(sample_variance(samples) / 60), rel=0.15)


def test_under_the_null_hypothesis_the_verdict_errs_in_one_case_of_twenty() -> None:
    source = random.Random(3)
    wrong = sum(
        compare_samples("x", [source.gauss(10, 1) for _ in range(5)], [source.gauss(10, 1) for _ in range(5)]).verdict
        in ("higher", "lower")
        for _ in range(2000)
    )
    assert 60 <= wrong <= 145  # 100 expected, standard deviation 9.7


def test_a_wide_interval_is_no_proof_that_nothing_differs() -> None:
    wide = compare_samples("x", [90.0, 110.0, 100.0], [112.0, 94.0, 100.0])
    assert wide.verdict == "undecided"
    # Differences of 22, -16 and 0 have a standard deviation of 19.1: about two of them over the root of n are to be 5.
    assert wide.replications_to_decide == 59
    assert compare_samples("x", [100.0, 101.0, 100.0], [101.0, 100.0, 100.0]).verdict == "no difference"
    assert compare_samples("x", [0.0, 0.0], [0.0, 0.0]).verdict == "no difference"
    assert compare_samples("x", [0.0, 0.0, 0.0], [0.0, 0.0, 4.0]).verdict == "undecided"


@pytest.mark.parametrize("spread", [1.0, 2.0, 5.0, 19.0, 60.0])
def test_the_replications_that_decide_are_the_fewest_that_do(spread: float) -> None:
    found = compare_samples("x", [100.0] * 3, [100 - spread, 100.0, 100 + spread]).replications_to_decide
    assert found is not None

    def half_width(count: int) -> float:
        return float(stats.t.ppf(0.975, count - 1)) * spread / math.sqrt(count)

    assert half_width(found) <= 5
    assert found == 2 or half_width(found - 1) > 5
    # With 5 % four would be enough of a normal distribution, which has no degrees of freedom to lose.
    assert spread != 5.0 or found == 7


def test_a_bootstrap_over_few_replications_is_said_to_cover_less() -> None:
    for count in (6, 19):
        assert f"over {count} replications covers less than 95 %" in bootstrap_remark("bootstrap", count)
    assert not bootstrap_remark("bootstrap", 20)
    assert not bootstrap_remark("t", 6)


def test_a_bootstrap_covers_what_its_remark_says() -> None:
    stream = random.Random(6)
    covered = 0
    for _ in range(200):
        found = bootstrap([stream.gauss(5, 1) for _ in range(6)])
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= 5 <= found.high
    assert 160 <= covered <= 187  # 174 expected, standard deviation 4.8; 190 were 95 %


def test_corner_cases() -> None:
    assert compare_samples("x", [1.0], [2.0]).verdict == "undecided"
    assert compare_samples("x", [3.0, 3.0], [3.0, 3.0]).verdict == "no difference"
    assert compare_samples("x", [3.0, 3.0], [4.0, 4.0]).verdict == "higher"
    assert compare_samples("x", [0.0, 0.0], [4.0, 4.0]).ratio.value is None
    with pytest.raises(InputError, match="a bootstrap over 2 replications covers 50% at most, not 95 %: at least 6"):
        compare_samples("x", [3.0, 4.0], [4.0, 4.5], "bootstrap")
    assert pooled_reduction([1.0], [0.0]) is None
    with pytest.raises(InputError, match="cannot be paired"):
        compare_samples("x", [1.0], [1.0, 2.0])
    with pytest.raises(InputError, match="there are no replications to compare"):
        compare_samples("x", [], [])
    with pytest.raises(InputError, match="no interval"):
        compare_samples("x", [1.0], [2.0], "wald")
