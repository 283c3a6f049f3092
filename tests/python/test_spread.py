"""What samples say of a cell, and how well their median is known: by definitions that can be worked out on paper."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from calibrating import dataset, metric, write
from contend.datasets.dataset import MeasuredPoint
from contend.datasets.reading import read_dataset
from contend.datasets.spread import Spread, spread


def point_of(folder: Path, entry: dict[str, Any]) -> MeasuredPoint:
    document = dataset("a", {}, [{"parameters": {"pairs": 1}, "message_rate": entry}])
    (found,) = read_dataset(write(folder, document)).points
    return found


def test_spread_is_that_of_a_sample_not_of_all_there_is() -> None:
    found = spread([[1.0, 2.0], [3.0, 4.0, 5.0]])
    assert found is not None
    assert (found.count, found.launches, found.median, found.quartiles) == (5, 2, 3.0, (2.0, 4.0))
    assert found.cov == pytest.approx(math.sqrt(10 / 4) / 3)


def test_precision_is_half_the_interval_over_the_median() -> None:
    found = Spread(5, 2, median=10.0, quartiles=(9.5, 10.5), cov=0.05, ci95=(9.0, 11.0))
    assert found.precision == pytest.approx(0.1)
    assert replace(found, median=-10.0).precision == pytest.approx(0.1)
    assert replace(found, median=0.0).precision is None
    assert replace(found, ci95=None).precision is None


def test_the_interval_of_a_median_has_95_percent_of_its_resamples() -> None:
    # Of nine launches drawn again, the median is at most the second one's value where five of them are the first two.
    at_most_second, at_most_third = (float(stats.binom.sf(4, 9, k / 9)) for k in (2, 3))
    assert 0.025 < at_most_second < 0.05 < at_most_third
    found = spread([[float(value)] for value in range(1, 10)])
    assert found is not None
    assert found.ci95 == (2.0, 8.0)


def test_the_median_of_one_launch_has_the_error_of_its_samples_and_that_of_launches(tmp_path: Path) -> None:
    cov = math.sqrt(5 / 3) / 2.5  # of 1, 2, 3 and 4
    own = math.sqrt(math.pi / 2) * cov / math.sqrt(4)  # of normal samples a median is that much less sure than a mean
    found = point_of(tmp_path, metric(1.0, 2.0, 3.0, 4.0))
    assert found.log_error == pytest.approx(math.hypot(own, 0.1))


def test_no_median_is_known_better_than_to_half_a_percent(tmp_path: Path) -> None:
    found = point_of(tmp_path, metric(*[5.0] * 6, launches=3))
    assert found.interval == (5.0, 5.0)
    assert found.log_error == pytest.approx(0.005)
