"""Baselines of a validation: the scalability law, one serial lock, the nearest curve."""

from pathlib import Path

import numpy as np
import pytest

from calibrating import dataset, metric, rates, write
from contend.accuracy.baselines import Model, baseline, fit_curve, serial_lock, usl
from contend.accuracy.predicted import Predicted
from contend.accuracy.scores import (
    baseline_predictions,
    baseline_summaries,
    summary,
)
from contend.datasets.reading import read_dataset
from predicting import COUNTS, curve, predicted


@pytest.mark.parametrize("counts", [(1, 4, 16), (1, 2, 4, 8, 16, 20)])
def test_a_law_gives_its_own_curve_back(counts: tuple[int, ...]) -> None:
    parameters = np.log([1000.0, 0.3, 0.002])
    n = np.array(counts, dtype=float)
    fit = fit_curve(usl, n, np.exp(usl(n, parameters)))
    assert fit is not None
    between = np.array([2.0, 8.0, 12.0])
    assert usl(between, fit) == pytest.approx(usl(between, parameters), abs=0.02)


def test_the_scalability_law_is_gunthers() -> None:
    found = np.exp(usl(np.array([1.0, 4.0]), np.log([2.0, 0.1, 0.01])))
    assert found == pytest.approx([2.0, 2 * 4 / (1 + 0.1 * 3 + 0.01 * 4 * 3)])


def test_a_time_is_that_of_each_thread_s_turn(tmp_path: Path) -> None:
    """With one lock whose turn takes 3 us, n threads wait for n turns."""
    points = [{"parameters": {"pairs": n}, "time_per_operation": metric(3e-6 * n, unit="s")} for n in COUNTS]
    one = read_dataset(write(tmp_path, dataset("a", {"kind": "multirate", "window": 64}, points)))
    found = baseline(serial_lock, predicted(one, dict.fromkeys(COUNTS, 1.0)))
    held_out = [n for n in COUNTS if n in (2, 8, 20)]
    assert list(found.values()) == pytest.approx([3e-6 * n for n in held_out], rel=0.02)


def test_one_serial_lock_is_flat_past_its_knee() -> None:
    n = np.array([1.0, 4.0, 16.0])
    truth = np.log([1e-6, 3e-6])
    fit = fit_curve(serial_lock, n, np.exp(serial_lock(n, truth)))
    assert fit is not None
    assert np.exp(serial_lock(np.array([8.0, 20.0]), fit)) == pytest.approx([1e6, 1e6], rel=0.02)
    assert np.exp(serial_lock(np.array([2.0]), fit)) == pytest.approx([2 / 4e-6], rel=0.02)


def test_the_fit_is_the_best_of_several_starts() -> None:
    """At a lock that is taken all the time a rate says nothing of the work outside: some starts end there, far off."""
    # A lock of 1 us with 0.7 us of own work: the last start does not get there. With two numbers of threads only the
    # first one does.
    for n in ([1.0, 2.0, 4.0, 8.0], [1.0, 2.0]):
        fit = fit_curve(serial_lock, n, [1 / 1.7e-6, *([1e6] * (len(n) - 1))])
        assert fit is not None
        assert np.exp(fit) == pytest.approx([1e-6, 0.7e-6], rel=0.02)
    # Here squares of 0.78 are where the first one ends, and of 0.72 where the last one does.
    n, rate = np.array([1.0, 2.0, 4.0, 8.0]), np.array([1.0, 0.82, 2.22, 2.57])
    fit = fit_curve(serial_lock, n, rate)
    assert fit is not None
    assert float(((serial_lock(n, fit) - np.log(rate)) ** 2).sum()) == pytest.approx(0.409, abs=0.002)


def test_two_numbers_of_threads_tell_contention_and_no_coherence() -> None:
    n = np.array([1.0, 2.0, 2.0])
    amdahl = np.array([np.log(1000.0), np.log(0.1), -np.inf])
    fit = fit_curve(usl, n, np.exp(usl(n, amdahl)))
    assert fit is not None
    assert np.exp(usl(np.array([16.0]), fit)) == pytest.approx(np.exp(usl(np.array([16.0]), amdahl)), rel=0.02)


@pytest.mark.parametrize("model", [usl, serial_lock])
def test_one_number_of_threads_tells_nothing(model: Model, tmp_path: Path) -> None:
    assert fit_curve(model, [4.0, 4.0], [1e6, 1.1e6]) is None
    one = curve(tmp_path, "a", lambda n: 1e6 / n)
    points = predicted(one, {n: 1e6 / n for n in COUNTS})
    only = min(point.threads for point in points if not point.held_out)
    assert not baseline(model, [point for point in points if point.held_out or point.threads == only])


def test_baselines_see_fitted_points_only(tmp_path: Path) -> None:
    def rate(n: int) -> float:
        return float(np.exp(usl(np.array([float(n)]), np.log([1000.0, 0.2, 0.003])))[0])

    one = curve(tmp_path, "a", rate)
    points = predicted(one, {n: rate(n) * 1.5 for n in COUNTS})
    found = baseline(usl, points)
    assert sorted(points[index].threads for index in found) == [2, 8, 20]
    sums = baseline_summaries(points, baseline_predictions(points))
    assert sums["usl"]["median_abs_error_pct"] < 2
    assert sums["usl"]["simulation_on_the_same_points"]["median_abs_error_pct"] == pytest.approx(50, abs=2)
    # Held-out truth must not matter to the baseline.
    shifted = [
        p if not p.held_out else Predicted(p.dataset, p.point, 1.0, 1.0, 1.0, held_out=True, stand_in="")
        for p in points
    ]
    assert baseline(usl, shifted) == found


def test_a_baseline_is_ranked_by_what_it_predicts_itself(tmp_path: Path) -> None:
    one = predicted(curve(tmp_path, "a", lambda n: 1000.0 * n), dict.fromkeys(COUNTS, 9e9))
    other = predicted(curve(tmp_path, "b", lambda n: 2000.0 * n), dict.fromkeys(COUNTS, 1.0))
    points = [*one, *other]
    assert summary([point for point in points if point.held_out])["kendall_tau"] == -1.0
    assert baseline_summaries(points, baseline_predictions(points))["usl"]["kendall_tau"] == 1.0


def test_a_curve_without_fitted_points_takes_the_nearest(tmp_path: Path) -> None:
    one = predicted(curve(tmp_path, "a", lambda n: 1000.0 * n), dict.fromkeys(COUNTS, 1.0))
    other = predicted(curve(tmp_path, "b", lambda n: 500.0 * n, window=16), dict.fromkeys(COUNTS, 1.0), fitted=())
    found = baseline(usl, [*one, *other])
    assert found[len(one)] == pytest.approx(1000.0, rel=0.02)  # one pair of b, by the curve of a
    assert not baseline(usl, other)


def test_the_nearest_curve_is_that_of_the_nearest_messages(tmp_path: Path) -> None:
    fitted = []
    for name, rate, window, size in (("a", 1.0, 1, 0), ("b", 2.0, 128, "4 KiB"), ("c", 4.0, 128, 0)):
        one = curve(tmp_path, name, lambda n, r=rate: r * n, window=window, message_size=size)
        fitted += predicted(one, dict.fromkeys(COUNTS, 1.0))
    for window, size, rate in ((2, 0, 1.0), (64, 0, 4.0), (128, 2048, 2.0), (128, "8 B", 4.0)):
        other = curve(tmp_path, "d", lambda n: 7.0 * n, window=window, message_size=size)
        asked = predicted(other, dict.fromkeys(COUNTS, 1.0), fitted=())
        points = [*fitted, *asked]
        assert baseline(usl, points)[len(points) - len(COUNTS)] == pytest.approx(rate, rel=0.02), (window, size)


def test_a_curve_of_another_machine_is_not_near(tmp_path: Path) -> None:
    one = predicted(curve(tmp_path, "a", lambda n: 1000.0 * n), dict.fromkeys(COUNTS, 1.0))
    document = rates("b", {n: [500.0 * n] for n in COUNTS}, window=16) | {"machine": {"id": "another"}}
    other = predicted(read_dataset(write(tmp_path, document)), dict.fromkeys(COUNTS, 1.0), fitted=())
    assert max(baseline(usl, [*one, *other])) < len(one)
