"""Scores of predictions: errors, coverage, rankings, ratios, knees, and their sums over results."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from calibrating import dataset, launched_each, metric, rates, time_of, write
from contend.accuracy.curves import knee_agreement, knees
from contend.accuracy.document import sections
from contend.accuracy.pooled import pool
from contend.accuracy.predicted import Predicted
from contend.accuracy.ratios import as_ratios
from contend.accuracy.scores import (
    draw_counts,
    rankings,
    result_json,
    summary,
    tau_of,
)
from contend.common.jsontypes import JsonObject
from contend.datasets.reading import read_dataset
from predicting import COUNTS, curve, predicted, result


def test_errors_and_coverage_are_those_of_the_definition(tmp_path: Path) -> None:
    one = curve(tmp_path, "a", lambda _n: 100.0)
    points = predicted(one, dict(zip(COUNTS, (110.0, 90.0, 150.0, 100.0, 100.0, 200.0), strict=True)))
    found = summary([point for point in points if point.held_out])
    assert [point.threads for point in points if point.held_out] == [2, 8, 20]
    assert found["points"] == 3
    assert found["median_abs_error_pct"] == pytest.approx(10.0)
    assert found["p90_abs_error_pct"] == pytest.approx(np.quantile([10.0, 0.0, 100.0], 0.9))
    assert found["coverage_95"] == pytest.approx(2 / 3, abs=1e-3)


def test_a_noisy_point_is_scored_against_its_interval(tmp_path: Path) -> None:
    document = rates("a", {2: [50.0, 60.0, 100.0, 140.0, 150.0]})
    one = read_dataset(write(tmp_path, launched_each(document)))
    (point,) = one.points
    assert point.interval is not None
    low, high = point.interval
    inside = Predicted(one, point, (low + high) / 2, 1, 2, held_out=True, stand_in="")
    above = Predicted(one, point, 1.5 * high, 1, 2, held_out=True, stand_in="")
    assert inside.is_scored_against_interval
    assert inside.abs_error_pct == pytest.approx(0.0)
    assert above.abs_error_pct == pytest.approx(50.0)


def test_samples_of_one_launch_give_no_interval_to_score_against(tmp_path: Path) -> None:
    one = read_dataset(write(tmp_path, rates("a", {2: [50.0, 60.0, 100.0, 140.0, 150.0]})))
    (point,) = one.points
    assert point.interval is None
    (found,) = predicted(one, {2: 110.0})
    assert not found.is_scored_against_interval
    assert found.abs_error_pct == pytest.approx(10.0)


def test_medians_of_one_launch_are_not_ranked(tmp_path: Path) -> None:
    one = read_dataset(write(tmp_path, rates("a", {2: [100.0, 101.0, 102.0]})))
    other = read_dataset(write(tmp_path, launched_each(rates("b", {2: [200.0, 201.0, 202.0]}))))
    points = [*predicted(one, {2: 1.0}), *predicted(other, {2: 2.0})]
    assert tau_of(rankings(points, lambda index: points[index].median)) is None


def test_rankings_are_kendalls_where_intervals_do_not_overlap(tmp_path: Path) -> None:
    truth = {"a": 100.0, "b": 200.0, "c": 300.0, "d": 400.0}
    guess = {"a": 1.0, "b": 3.0, "c": 2.0, "d": 4.0}
    points = [
        point
        for name, rate in truth.items()
        for point in predicted(curve(tmp_path, name, lambda _n, r=rate: r), dict.fromkeys(COUNTS, guess[name]))
        if point.threads == 8
    ]
    (found,) = rankings(points, lambda index: points[index].median)
    assert found.tau == pytest.approx(stats.kendalltau(list(truth.values()), list(guess.values())).statistic)
    assert tau_of([found]) == pytest.approx(4 / 6)


def test_equal_predictions_are_neither_right_nor_wrong(tmp_path: Path) -> None:
    def points(guess: dict[str, float]) -> list[Predicted]:
        return [
            point
            for name, rate in {"a": 100.0, "b": 200.0, "c": 300.0}.items()
            for point in predicted(curve(tmp_path, name, lambda _n, r=rate: r), dict.fromkeys(COUNTS, guess[name]))
            if point.threads == 8
        ]

    assert summary(points({"a": 5.0, "b": 5.0, "c": 5.0}))["kendall_tau"] == 0.0
    assert summary(points({"a": 5.0, "b": 5.0, "c": 6.0}))["kendall_tau"] == pytest.approx(2 / 3, abs=1e-3)
    assert summary(points({"a": 5.0, "b": 5.0, "c": 4.0}))["kendall_tau"] == pytest.approx(-2 / 3, abs=1e-3)


def test_designs_that_cannot_be_told_apart_are_not_ranked(tmp_path: Path) -> None:
    points = [
        point
        for name, rate in {"a": 100.0, "b": 101.0}.items()
        for point in predicted(curve(tmp_path, name, lambda _n, r=rate: r, spread=0.3), dict.fromkeys(COUNTS, 5.0))
        if point.threads == 2
    ]
    assert tau_of(rankings(points, lambda index: points[index].median)) is None


def interval_of(point: Predicted, low: float, high: float) -> Predicted:
    """The same with another interval of what was measured."""
    assert point.point.spread is not None
    found = replace(point.point.spread, median=(low + high) / 2, ci95=(low, high))
    return replace(point, point=replace(point.point, spread=found))


def test_intervals_that_touch_tell_no_order_and_those_apart_do_in_any_order(tmp_path: Path) -> None:
    one, other = (
        next(point for point in predicted(curve(tmp_path, name, lambda _n: 100.0), dict.fromkeys(COUNTS, guess))
             if point.threads == 8)
        for name, guess in (("a", 1.0), ("b", 2.0))
    )  # fmt: skip
    low, high = interval_of(one, 90.0, 100.0), interval_of(other, 100.5, 110.0)
    for points in ([low, high], [high, low]):
        (found,) = rankings(points, lambda index, points=points: points[index].median)  # type: ignore[misc]
        assert found.differences == ((pytest.approx(10.25), pytest.approx(1.0)),)
    points = [low, interval_of(other, 100.0, 110.0)]
    (found,) = rankings(points, lambda index: points[index].median)
    assert found.pairs == 0


def test_a_point_that_was_not_predicted_is_not_ranked(tmp_path: Path) -> None:
    one, other = (predicted(curve(tmp_path, name, lambda _n: 100.0), dict.fromkeys(COUNTS, 1.0)) for name in "ab")
    assert len(rankings([*one, *other], lambda _index: 1.0)) == len(COUNTS)
    assert not rankings([*one, *other], lambda index: math.nan if index < len(one) else 1.0)


@pytest.mark.parametrize("what", ["transport", "message_size"])
def test_other_transports_and_messages_are_not_ranked(what: str, tmp_path: Path) -> None:
    one, other = rates("a", {2: [100.0]}, message_size=8), rates("b", {2: [200.0]}, message_size=8)
    if what == "transport":
        other["transport"] = "shm"
    else:
        other["workload"]["message_size"] = 16
    points = [one for document in (one, other) for one in predicted(read_dataset(write(tmp_path, document)), {2: 1.0})]
    assert not rankings(points, lambda _index: 1.0)


def test_draws_are_counted_with_those_that_failed(tmp_path: Path) -> None:
    assert draw_counts([(3, 1), (5, 0), (4, 2)]) == {"draws": [3, 5], "failed_draws": 3}
    assert draw_counts([(3, 1), (5, None)]) == {"draws": [3, 5], "failed_draws": None}
    assert draw_counts([]) == {"draws": None, "failed_draws": 0}
    (point,) = predicted(read_dataset(write(tmp_path, rates("a", {2: [100.0]}))), {2: 1.0})
    point = replace(point, draws=(1.0, math.nan, 2.0, math.inf))
    assert (point.used_draws, point.failed_draws) == (2, 2)


@pytest.mark.parametrize(("cov", "noisy"), [(0.19, 0), (0.2, 0), (0.21, 1)])
def test_a_point_is_noisy_from_a_fifth_on(cov: float, noisy: int, tmp_path: Path) -> None:
    one = read_dataset(write(tmp_path, launched_each(rates("a", {2: [99.0, 100.0, 100.0, 100.0, 101.0]}))))
    (point,) = predicted(one, {2: 110.0})
    assert point.point.spread is not None
    point = replace(point, point=replace(point.point, spread=replace(point.point.spread, cov=cov)))
    assert point.is_scored_against_interval == bool(noisy)


def test_windows_and_sizes_are_apart_by_powers_of_two(tmp_path: Path) -> None:
    for size, expected in ((0, 0.0), (1, 1.0), (1023, 10.0)):
        document = rates("a", {2: [100.0]}, window=64, message_size=size)
        (point,) = predicted(read_dataset(write(tmp_path, document)), {2: 1.0})
        assert point.messages == (6.0, expected)


def test_a_ratio_divides_all_that_was_measured_and_each_draw_by_its_own(tmp_path: Path) -> None:
    first, second = predicted(read_dataset(write(tmp_path, rates("a", {1: [100.0, 200.0], 2: [300.0, 600.0]}))),
                              {1: 2.0, 2: 6.0})  # fmt: skip
    first = replace(first, draws=(1.0, 2.0, 4.0))
    (found,) = as_ratios([first, replace(second, draws=(6.0, 6.0, 6.0))])
    assert found.draws == (6.0, 3.0, 1.5)
    assert found.median == pytest.approx(3)
    assert found.point.samples == pytest.approx((2.0, 4.0))
    assert found.point.spread is not None
    assert found.point.spread.median == pytest.approx(3)
    assert found.point.spread.quartiles == pytest.approx((375 / 150, 525 / 150))


def test_a_ratio_has_the_discrepancy_of_two_points(tmp_path: Path) -> None:
    """Both sides are off by as much, independently: the interval is that of sqrt(2) of it."""
    points = predicted(read_dataset(write(tmp_path, rates("a", {1: [100.0] * 3, 2: [300.0] * 3}))), {1: 2.0, 2: 6.0})
    (found,) = as_ratios([replace(point, discrepancy=(1.0,)) for point in points])
    error = math.hypot(*(point.point.log_error for point in points))
    half = float(stats.t.ppf(0.975, 4)) * math.hypot(math.sqrt(2), error)
    assert math.log(found.high / 3) == pytest.approx(half, rel=0.15)
    assert math.log(3 / found.low) == pytest.approx(half, rel=0.15)


def test_windows_are_not_ranked_against_each_other(tmp_path: Path) -> None:
    one = predicted(curve(tmp_path, "a", lambda _n: 100.0), dict.fromkeys(COUNTS, 1.0))
    other = predicted(curve(tmp_path, "b", lambda _n: 200.0, window=16), dict.fromkeys(COUNTS, 2.0))
    assert not rankings([*one, *other], lambda _i: 1.0)


@pytest.mark.parametrize("what", ["machine", "metric", "pattern"])
def test_what_cannot_be_compared_is_not_ranked(what: str, tmp_path: Path) -> None:
    one = rates("a", {2: [100.0, 101.0, 102.0]})
    other = rates("b", {2: [200.0, 201.0, 202.0]})
    if what == "machine":
        other["machine"] = {"id": "another", "cpu": "a processor"}
    elif what == "metric":
        other["points"] = [{"parameters": {"pairs": 2}, "time_per_operation": metric(200.0, 201.0, 202.0, unit="s")}]
    else:
        other["workload"]["pattern"] = "all-to-all"
    points = [
        point for document in (one, other) for point in predicted(read_dataset(write(tmp_path, document)), {2: 1.0})
    ]
    assert not rankings(points, lambda _i: 1.0)


SHAPE = {1: 5.0, 2: 3.0, 4: 1.0, 8: 2.0, 16: 4.0, 20: 4.5}


def test_knees_are_where_curves_turn(tmp_path: Path) -> None:
    right = predicted(curve(tmp_path, "a", lambda n: SHAPE[n]), SHAPE, fitted=())
    beside = predicted(curve(tmp_path, "b", lambda n: SHAPE[n]), SHAPE | {2: 0.5}, fitted=())
    found = result_json("box", [*right, *beside], [], {})
    assert found["knees"][0]["lowest"] == {"measured": 4, "predicted": 4, "held_out": True}
    assert found["summary"]["knees"] == {
        "highest": {"curves": 2, "right": 2, "within_one": 2}, "lowest": {"curves": 2, "right": 1, "within_one": 2},
    }  # fmt: skip


def test_a_knee_at_a_point_of_the_fit_is_no_prediction(tmp_path: Path) -> None:
    one = curve(tmp_path, "a", lambda n: SHAPE[n])

    def of(fitted: tuple[int, ...]) -> JsonObject:
        return result_json("box", predicted(one, SHAPE, fitted=fitted), [], {})

    nothing = {"curves": 0, "right": 0, "within_one": 0}
    assert of((1, 4))["summary"]["knees"] == {"highest": nothing, "lowest": nothing}
    assert not any("thread count is predicted" in part for part in sections(of((1, 4))))
    assert of((1,))["summary"]["knees"] == {"highest": nothing, "lowest": {"curves": 1, "right": 1, "within_one": 1}}
    (said,) = (part for part in sections(of((1,))) if "thread count is predicted" in part)
    assert said.endswith("is predicted for the lowest in 1 of 1 (within one measured count: 1).")


def test_a_knee_two_counts_beside_is_not_near() -> None:
    near = {"measured": 8, "predicted": 4, "held_out": True}
    far = {"measured": 1, "predicted": 4, "held_out": True}
    found = knee_agreement([{"threads": [1, 2, 4, 8], "highest": near, "lowest": far}])
    assert found["highest"] == {"curves": 1, "right": 0, "within_one": 1}
    assert found["lowest"] == {"curves": 1, "right": 0, "within_one": 0}


def test_whether_a_knee_is_held_out_is_told_where_it_was_measured() -> None:
    rows = [
        {"machine": "box", "dataset": "a", "design": "d", "threads": threads, "parameters": {"pairs": threads},
         "measured": {"median": measured}, "predicted": {"median": predicted}, "held_out": threads == 2}
        for threads, measured, predicted in ((1, 2.0, 1.0), (2, 3.0, 2.0), (4, 1.0, 3.0))
    ]  # fmt: skip
    (found,) = knees(rows)
    assert found["highest"] == {"measured": 2, "predicted": 4, "held_out": True}
    assert found["lowest"] == {"measured": 4, "predicted": 1, "held_out": False}
    assert not knees(rows[:2])  # of two points both are ends


def test_a_ranking_counts_in_a_pool_by_its_pairs() -> None:
    ranked = [{"pairs": 3, "kendall_tau": 1.0}, {"pairs": 1, "kendall_tau": -1.0}, {"pairs": 0, "kendall_tau": None}]
    results = [{"points": [], "summary": {"ranking_by_threads": [one]}} for one in ranked]
    assert pool(results)["summary"]["held_out"]["kendall_tau"] == 0.5


def test_a_curve_is_of_one_machine(tmp_path: Path) -> None:
    rows = result_json("box", predicted(curve(tmp_path, "a", lambda n: SHAPE[n]), SHAPE, fitted=()), [], {})["points"]
    other = [{**row, "machine": "another", "predicted": {**row["predicted"], "median": row["threads"]}} for row in rows]
    found = knees([*rows, *other])
    assert [one["machine"] for one in found] == ["box", "another"]
    assert [one["highest"]["predicted"] for one in found] == [1, 20]
    assert knee_agreement(found)["highest"] == {"curves": 2, "right": 1, "within_one": 1}


def test_ratios_are_to_the_first_point_of_a_curve(tmp_path: Path) -> None:
    points = predicted(curve(tmp_path, "a", lambda n: 100.0 * n), {n: 7.0 * n for n in COUNTS})
    found = as_ratios(points)
    assert [point.threads for point in found] == [2, 4, 8, 16, 20]
    assert [point.median for point in found] == pytest.approx([2, 4, 8, 16, 20])
    assert [point.point.median for point in found] == pytest.approx([2, 4, 8, 16, 20])
    assert all(point.abs_error_pct == pytest.approx(0) and point.covered for point in found)


def test_the_first_point_of_a_curve_has_the_fewest_threads(tmp_path: Path) -> None:
    points = predicted(curve(tmp_path, "a", lambda n: 100.0 * n), {n: 7.0 * n for n in COUNTS})
    found = as_ratios(points[::-1])
    assert [point.threads for point in found] == [20, 16, 8, 4, 2]
    assert [point.median for point in found] == pytest.approx([20, 16, 8, 4, 2])
    assert [point.point.median for point in found] == pytest.approx([20, 16, 8, 4, 2])


def two_curves(tmp_path: Path, **parameters: dict[int, str]) -> list[Predicted]:
    """Rates of 1, 2 pairs with a small and with a large size."""
    document = rates("two", {})
    for size, rate in ((0, 350.0), (4096, 175.0)):
        for pairs in (1, 2):
            more = {name: values[pairs] for name, values in parameters.items()}
            point = {"pairs": pairs, "message_size": size, **more}
            document["points"].append({"parameters": point, "message_rate": metric(rate / pairs**2)})
    one = read_dataset(write(tmp_path, document))
    return [Predicted(one, point, 3 * point.median, 1, 2, held_out=True, stand_in="") for point in one.points]


def test_sizes_of_a_dataset_are_curves_of_their_own(tmp_path: Path) -> None:
    found = as_ratios(two_curves(tmp_path))
    assert [point.point.parameters["message_size"] for point in found] == [0, 4096]
    assert [(point.median, point.point.median) for point in found] == [(0.25, 0.25)] * 2


@pytest.mark.parametrize(("kind", "name"), [("waiting", "requests"), ("partitioned", "partitions")])
def test_without_threads_a_curve_begins_with_the_fewest_requests_or_partitions(
    tmp_path: Path, kind: str, name: str
) -> None:
    points = [time_of(1e-7 * count, **{name: count}) for count in (256, 1, 16)]
    one = read_dataset(write(tmp_path, dataset("a", {"kind": kind}, points)))
    found = as_ratios([Predicted(one, p, 2 * p.median, 1, 2, held_out=True, stand_in="") for p in one.points])
    assert [point.point.parameters[name] for point in found] == [256, 16]
    assert [point.point.median for point in found] == pytest.approx([256, 16])


def test_the_interval_of_a_ratio_has_the_errors_of_both_medians(tmp_path: Path) -> None:
    def ratio(first: float, second: float) -> Predicted:
        values = {n: [100.0 * n * (1 + s * e) for e in (-2, -1, 0, 1, 2)] for n, s in ((1, first), (2, second))}
        one = read_dataset(write(tmp_path, launched_each(rates("a", values))))
        points = [Predicted(one, p, p.median, 1, 2, held_out=True, stand_in="") for p in one.points]
        (found,) = as_ratios(points)
        errors = [point.point.log_error for point in points]
        assert found.point.log_error == pytest.approx(math.hypot(*errors))
        assert found.point.interval is not None
        beyond = math.exp(1.959964 * math.hypot(*errors))
        assert found.point.interval == pytest.approx((2 / beyond, 2 * beyond))
        return found

    exact, of_first, of_second, of_both = (ratio(*each) for each in ((0, 0), (0.1, 0), (0, 0.1), (0.1, 0.1)))
    assert of_first.point.log_error == pytest.approx(of_second.point.log_error, rel=0.01)
    assert exact.point.log_error < of_first.point.log_error < of_both.point.log_error


def test_a_ratio_to_a_median_of_one_launch_has_no_interval(tmp_path: Path) -> None:
    document = launched_each(rates("a", {1: [100.0] * 5, 2: [210.0, 190.0, 200.0, 205.0, 195.0]}))
    document["points"][0]["message_rate"]["launch"] = [0] * 5
    one = read_dataset(write(tmp_path, document))
    assert [point.interval is None for point in one.points] == [True, False]
    (found,) = as_ratios([Predicted(one, p, p.median, 1, 2, held_out=True, stand_in="") for p in one.points])
    assert found.point.interval is None


def test_a_curve_is_a_series_where_points_name_it(tmp_path: Path) -> None:
    found = as_ratios(two_curves(tmp_path, series={1: "one", 2: "two"}))
    assert [point.point.parameters["pairs"] for point in found] == [1, 2]
    assert [(point.median, point.point.median) for point in found] == [(0.5, 0.5)] * 2


def test_a_result_has_what_others_read(tmp_path: Path) -> None:
    found = json.loads(json.dumps(result(tmp_path), allow_nan=False))
    point = found["points"][0]
    assert set(point) >= {"dataset", "parameters", "measured", "predicted", "held_out", "abs_error_pct", "covered"}
    assert set(point["measured"]) >= {"median", "iqr"}
    assert set(point["predicted"]) == {"median", "ci95", "draws", "failed_draws", "interval_from"}
    held_out = found["summary"]["held_out"]
    assert set(held_out) >= {"median_abs_error_pct", "p90_abs_error_pct", "coverage_95", "kendall_tau"}
    assert set(found["summary"]["baselines"]) == {"usl", "serial_lock"}
    assert set(found["summary"]["by"]) == {"library", "transport", "design", "threads"}
    assert list(found["summary"]["by"]["threads"]) == ["2", "8", "20"]
    assert held_out["median_abs_error_pct"] == pytest.approx(20)


def test_one_result_pooled_has_its_own_scores(tmp_path: Path) -> None:
    points = []
    for name, spread in (("calm", 0.01), ("noisy", 0.4)):
        one = curve(tmp_path, name, lambda n: 1e5 / n**0.7, spread=spread)
        points += predicted(one, dict(zip(COUNTS, (9e4, 8e4, 2e4, 3e4, 1e4, 9e3), strict=True)))
    alone = result_json("box", points, [], {})["summary"]
    assert any(point.is_scored_against_interval for point in points)
    together = pool([json.loads(json.dumps(result_json("box", points, [], {})))])["summary"]
    for part in ("held_out", "calibration"):
        for key in ("points", "median_abs_error_pct", "p90_abs_error_pct", "coverage_95"):
            assert together[part][key] == pytest.approx(alone[part][key], abs=0.02), (part, key)
    for name, one in alone["baselines"].items():
        for key in ("points", "median_abs_error_pct", "p90_abs_error_pct"):
            assert together["baselines"][name][key] == pytest.approx(one[key], abs=0.02), (name, key)


def test_a_baseline_of_one_result_predicts_no_other(tmp_path: Path) -> None:
    fitted = predicted(curve(tmp_path, "a", lambda n: 1000.0 * n), dict.fromkeys(COUNTS, 1.0))
    other = predicted(curve(tmp_path, "b", lambda n: 500.0 * n, window=16), dict.fromkeys(COUNTS, 1.0), fitted=())
    first, second = (result_json("box", points, [], {}) for points in (fitted, other))
    found = pool([first, second])["summary"]["baselines"]["usl"]
    alone = first["summary"]["baselines"]["usl"]
    assert (found["points"], found["median_abs_error_pct"]) == (3, alone["median_abs_error_pct"])
    assert second["summary"]["baselines"]["usl"]["points"] == 0


def test_results_are_pooled_by_points_not_by_averages(tmp_path: Path) -> None:
    good = curve(tmp_path, "good", lambda n: 1e5 / n)
    bad = curve(tmp_path, "bad", lambda n: 1e5 / n, communicator_per_pair=True)
    results = [
        result_json("box", predicted(good, {n: 1e5 / n for n in COUNTS}), [], {}),
        result_json("box", predicted(good, {n: 1e5 / n for n in COUNTS}), [], {}),
        result_json("box", predicted(bad, {n: 2e5 / n for n in COUNTS}), [], {}),
    ]
    found = pool(results)["summary"]["held_out"]
    assert found["points"] == 9
    assert found["median_abs_error_pct"] == pytest.approx(0)  # the mean of the medians is 33
    assert found["p90_abs_error_pct"] == pytest.approx(100)
    assert found["coverage_95"] == pytest.approx(2 / 3, abs=1e-3)


def test_a_median_that_is_not_there_counts_as_nothing() -> None:
    assert summary([])["median_abs_error_pct"] is None
