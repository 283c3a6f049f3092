"""Scores, baselines, documents and pictures of a validation, on points made by hand."""

import json
import math
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from scipy import stats

from calibrating import mapping, metric, rates, write
from contend.accuracy.baselines import baseline, fit_curve, serial_lock, usl
from contend.accuracy.comparisons import comparisons, find_comparison, regenerate
from contend.accuracy.document import as_markdown, html_section
from contend.accuracy.fits import fit_sections
from contend.accuracy.page import accuracy_page
from contend.accuracy.pictures import pictures
from contend.accuracy.pooled import pool
from contend.accuracy.predict import Predicted, as_ratios, draws_from_ranges, median_sample, predict, residual_spread
from contend.accuracy.predict import _interval as interval
from contend.accuracy.scores import (
    baseline_predictions,
    baseline_summaries,
    knee_agreement,
    knees,
    rankings,
    result_json,
    summary,
    tau_of,
)
from contend.calibrate.evaluations import Task
from contend.calibrate.mapping import get_path
from contend.calibrate.problem import Builder, Target, Unpredicted
from contend.catalogs import PROFILES, parameters
from contend.cli import main
from contend.datasets import Dataset, read_dataset
from contend.errors import InputError
from contend.prices import parse_price
from contend.scenario import check_profile
from fakes import REPOSITORY

COUNTS = (1, 2, 4, 8, 16, 20)
FITTED = (1, 4, 16)


def predicted(
    dataset: Dataset, means: dict[int, float], *, width: float = 1.2, fitted: tuple[int, ...] = FITTED
) -> list[Predicted]:
    found = []
    for point in dataset.points:
        pairs = int(str(point.parameters["pairs"]))
        mean = means[pairs]
        found.append(Predicted(dataset, point, mean, mean / width, mean * width, pairs not in fitted, ""))
    return found


def curve(tmp_path: Path, name: str, rate: Any, *, spread: float = 0.01, **workload: Any) -> Dataset:
    values = {n: [rate(n) * (1 + spread * e) for e in (-1.0, -0.5, 0.0, 0.5, 1.0)] for n in COUNTS}
    return read_dataset(write(tmp_path, rates(name, values, **workload)))


def test_errors_and_coverage_are_those_of_the_definition(tmp_path: Path) -> None:
    one = curve(tmp_path, "a", lambda _n: 100.0)
    points = predicted(one, dict(zip(COUNTS, (110.0, 90.0, 150.0, 100.0, 100.0, 200.0), strict=True)))
    found = summary([point for point in points if point.held_out])
    assert [point.threads for point in points if point.held_out] == [2, 8, 20]
    assert found["points"] == 3
    assert found["median_abs_error_pct"] == pytest.approx(10.0)
    assert found["p90_abs_error_pct"] == pytest.approx(np.quantile([10.0, 0.0, 100.0], 0.9))
    assert found["coverage_95"] == pytest.approx(2 / 3, abs=1e-3)


def test_replications_of_a_long_sample_count_by_their_time() -> None:
    # A second at 300 and three at 100 messages per second: 600 messages in 4 s, whatever the order.
    assert median_sample([300.0, 100.0], 2, 1) == pytest.approx(600 / 4)
    assert median_sample([math.nan, 200.0, 200.0], 5, 1) == pytest.approx(200.0)
    assert math.isnan(median_sample([math.nan], 1, 1))


def test_the_median_of_short_samples_is_that_of_the_replications() -> None:
    rates = [100.0, 300.0, 301.0, 302.0, 120.0]
    assert median_sample(rates, 1, 1) == 300.0
    # Three at a time have two states in them, and are between the median and the rate of all.
    assert 1 / np.mean(1 / np.array(rates)) < median_sample(rates, 3, 1) < 300.0


def test_a_draw_that_failed_takes_its_discrepancy_with_it() -> None:
    drawn, discrepancy = [math.nan, 100.0, math.nan, 120.0], [2.0, 0.01, 2.0, 0.02]
    known = interval(100.0, np.array(drawn[1::2]), discrepancy[1::2], 0.005, 1)
    assert interval(100.0, np.array(drawn), discrepancy, 0.005, 1) == known


def test_without_a_draw_the_interval_is_from_the_whole_discrepancy() -> None:
    widths = [0.01, 0.3, 0.3, 0.3]
    low, high = interval(100.0, np.full(4, math.nan), widths, 0.005, 1)
    assert (low, high) == interval(100.0, np.full(4, 100.0), widths, 0.005, 1)
    assert high / low > 1.3


def test_without_a_posterior_residuals_tell_the_discrepancy(tmp_path: Path) -> None:
    one = curve(tmp_path, "a", lambda _n: 100.0)
    target = Target(one, one.points[0], {}, (), "message_rate")

    def part(scope: str, median: float) -> dict[str, Any]:
        return {"parameters": [{"name": "x", "path": "machine.x", "scope": scope}], "error_pct": {"median": median}}

    profile = {"calibration": {"fits": [part("another", 50.0), part("alib/tcp", 10.0), part("alib", 30.0)]}}
    # Half of a normal distribution's deviations are within 0.6745 of its standard deviation.
    (spread,) = residual_spread(profile, target)
    assert spread == pytest.approx(math.log(1.1) / 0.6745, rel=1e-3)
    deviations = np.abs(np.random.default_rng(1).normal(0.0, spread, 20_001))
    assert np.median(deviations) == pytest.approx(math.log(1.1), rel=0.03)
    for scope in ("tcp", "alib"):
        assert residual_spread({"calibration": {"fits": [part(scope, 10.0)]}}, target) == [pytest.approx(spread)]
    # Nothing was fitted to what this point depends on: nothing is known.
    for other in ({}, {"calibration": {"fits": []}}, {"calibration": {"fits": [part("another", 10.0)]}}):
        assert residual_spread(other, target) == []


def test_a_noisy_point_is_scored_against_its_interval(tmp_path: Path) -> None:
    document = rates("a", {2: [50.0, 60.0, 100.0, 140.0, 150.0]})
    (point,) = read_dataset(write(tmp_path, document)).points
    one = read_dataset(tmp_path / "a.json")
    low, high = point.interval
    inside = Predicted(one, point, (low + high) / 2, 1, 2, held_out=True, stand_in="")
    above = Predicted(one, point, 1.5 * high, 1, 2, held_out=True, stand_in="")
    assert inside.is_noisy
    assert inside.abs_error_pct == pytest.approx(0.0)
    assert above.abs_error_pct == pytest.approx(50.0)


def test_rankings_are_kendalls_where_intervals_do_not_overlap(tmp_path: Path) -> None:
    truth = {"a": 100.0, "b": 200.0, "c": 300.0, "d": 400.0}
    guess = {"a": 1.0, "b": 3.0, "c": 2.0, "d": 4.0}
    points = [
        point
        for name, rate in truth.items()
        for point in predicted(curve(tmp_path, name, lambda _n, r=rate: r), dict.fromkeys(COUNTS, guess[name]))
        if point.threads == 8
    ]
    (found,) = rankings(points, lambda index: points[index].mean)
    assert found.tau == pytest.approx(stats.kendalltau(list(truth.values()), list(guess.values())).statistic)
    assert tau_of([found]) == pytest.approx(4 / 6)


def test_designs_that_cannot_be_told_apart_are_not_ranked(tmp_path: Path) -> None:
    points = [
        point
        for name, rate in {"a": 100.0, "b": 101.0}.items()
        for point in predicted(curve(tmp_path, name, lambda _n, r=rate: r, spread=0.3), dict.fromkeys(COUNTS, 5.0))
        if point.threads == 2
    ]
    assert tau_of(rankings(points, lambda index: points[index].mean)) is None


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


@pytest.mark.parametrize("counts", [(1, 4, 16), (1, 2, 4, 8, 16, 20)])
def test_a_law_gives_its_own_curve_back(counts: tuple[int, ...]) -> None:
    parameters = np.log([1000.0, 0.3, 0.002])
    n = np.array(counts, dtype=float)
    fit = fit_curve(usl, n, np.exp(usl(n, parameters)))
    between = np.array([2.0, 8.0, 12.0])
    assert usl(between, fit) == pytest.approx(usl(between, parameters), abs=0.02)


def test_one_serial_lock_is_flat_past_its_knee() -> None:
    n = np.array([1.0, 4.0, 16.0])
    truth = np.log([1e-6, 3e-6])
    fit = fit_curve(serial_lock, n, np.exp(serial_lock(n, truth)))
    assert np.exp(serial_lock(np.array([8.0, 20.0]), fit)) == pytest.approx([1e6, 1e6], rel=0.02)
    assert np.exp(serial_lock(np.array([2.0]), fit)) == pytest.approx([2 / 4e-6], rel=0.02)


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


def test_knees_are_where_curves_turn(tmp_path: Path) -> None:
    shape = {1: 5.0, 2: 3.0, 4: 1.0, 8: 2.0, 16: 4.0, 20: 4.5}
    right = predicted(curve(tmp_path, "a", lambda n: shape[n]), shape)
    beside = predicted(curve(tmp_path, "b", lambda n: shape[n]), shape | {2: 0.5})
    found = knees([*right, *beside])
    assert found[0]["lowest"] == {"measured": 4, "predicted": 4}
    assert knee_agreement(found) == {
        "curves": 2, "highest_right": 2, "highest_within_one": 2, "lowest_right": 1, "lowest_within_one": 2,
    }  # fmt: skip


def test_ratios_are_to_the_first_point_of_a_curve(tmp_path: Path) -> None:
    points = predicted(curve(tmp_path, "a", lambda n: 100.0 * n), {n: 7.0 * n for n in COUNTS})
    found = as_ratios(points)
    assert [point.threads for point in found] == [2, 4, 8, 16, 20]
    assert [point.mean for point in found] == pytest.approx([2, 4, 8, 16, 20])
    assert [point.point.median for point in found] == pytest.approx([2, 4, 8, 16, 20])
    assert all(point.abs_error_pct == pytest.approx(0) and point.covered for point in found)


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
    assert [(point.mean, point.point.median) for point in found] == [(0.25, 0.25)] * 2


def test_a_curve_is_a_series_where_points_name_it(tmp_path: Path) -> None:
    found = as_ratios(two_curves(tmp_path, series={1: "one", 2: "two"}))
    assert [point.point.parameters["pairs"] for point in found] == [1, 2]
    assert [(point.mean, point.point.median) for point in found] == [(0.5, 0.5)] * 2


def result(tmp_path: Path) -> dict[str, Any]:
    points = []
    for index, name in enumerate(("shared", "separate")):
        one = curve(tmp_path, name, lambda n: 1e5 / n, communicator_per_pair=bool(index))
        points += predicted(one, {n: 1.2e5 / n for n in COUNTS})
    lost = Unpredicted(points[0].dataset, points[0].point, "no mapping for x|y over z")
    return result_json("box", points, [lost], {"draws": 4})


def test_a_result_has_what_others_read(tmp_path: Path) -> None:
    found = json.loads(json.dumps(result(tmp_path), allow_nan=False))
    point = found["points"][0]
    assert set(point) >= {"dataset", "parameters", "measured", "predicted", "held_out", "abs_error_pct", "covered"}
    assert set(point["measured"]) >= {"median", "iqr"}
    assert set(point["predicted"]) == {"mean", "ci95", "draws", "failed_draws"}
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
    assert any(point.is_noisy for point in points)
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


def test_documents_have_every_held_out_point_and_what_was_left_out(tmp_path: Path) -> None:
    found = result(tmp_path)
    text = as_markdown(found, "Predictions of box")
    assert text.count("| shared | pairs=") == 3
    assert "1 points: no mapping for x|y over z" in text
    page = html_section(found, "Predictions <of> box")
    assert page.startswith("<section")
    assert "Predictions &lt;of&gt; box" in page
    assert page.count("<svg") == 3


def test_pictures_are_the_same_every_time(tmp_path: Path) -> None:
    found = result(tmp_path)
    first, second = pictures(found), pictures(found)
    assert set(first) == {f"{name}.{kind}" for name in ("agreement", "curves", "residuals") for kind in ("png", "svg")}
    assert all(first[name] == second[name] for name in first if name.endswith(".svg"))


def test_the_page_is_made_of_results_only(tmp_path: Path) -> None:
    folder = tmp_path / "validation" / "here"
    folder.mkdir(parents=True)
    (folder / "comparison.json").write_text(json.dumps({
        "schema_version": 1, "title": "This machine", "text": "Runs of two libraries.",
        "runs": [{"name": name, "title": name, "profile": "box", "datasets": ["*.json"]} for name in ("tcp", "shm")],
        "pooled": [{"title": "Both together", "runs": ["tcp", "shm"]}],
    }))  # fmt: skip
    with pytest.raises(InputError, match=r"contend validate comparison here"):
        accuracy_page(tmp_path)
    for name in ("tcp", "shm"):
        (folder / f"{name}.json").write_text(json.dumps(result(tmp_path)))
    (tmp_path / "validation" / "study").mkdir()
    (tmp_path / "validation" / "study" / "claims.json").write_text(json.dumps([
        {"id": "x", "statement": "falls", "expected": "<= 1", "predicted": 2.5, "verdict": "misses",
         "remark": "expected"},
        {"id": "y", "statement": "rises", "expected": ">= 1", "predicted": 2.5, "verdict": "holds"},
    ]))  # fmt: skip
    (tmp_path / "validation" / "locks").mkdir()
    rows = [{"error": error, "fitted": error == 0.0} for error in (0.0, 0.1, -0.2)]
    (tmp_path / "validation" / "locks" / "results.json").write_text(json.dumps([
        {"set": "L0", "grade": "A", "measure": "ns", "median_error": 0.15, "kendall_tau": {"2": 1.0, "4": 0.5},
         "holds": False, "rows": rows},
        {"set": "empty", "grade": "B", "measure": "ns", "median_error": None, "kendall_tau": {}, "holds": None,
         "rows": []},
    ]))  # fmt: skip
    page = accuracy_page(tmp_path)
    assert "| L0 | A | ns | 2 | 15% | 0.50 | MISSED |" in page
    assert "empty" not in page
    assert "1 of 2 statements hold" in page
    assert "| x | falls | <= 1 | 2.5 | expected |" in page
    assert page.count("| held-out points | 6 | 20 % |") == 2
    assert "### Both together" in page
    assert page.count("| held-out points | 12 | 20 % |") == 1


def test_samples_of_fitted_runs_are_predicted_whole() -> None:
    chosen = find_comparison(REPOSITORY, "vm-2core")
    fitted = [run for run in chosen.description.runs if run.calibrate is not None]
    assert fitted
    for run in fitted:
        files = [path for pattern in run.datasets for path in (chosen.folder / "..").glob(pattern.removeprefix("../"))]
        known = [(d.workload | one.parameters, one.iterations) for d in map(read_dataset, files) for one in d.points]
        samples = [int(str(w["pairs"])) * int(str(w["window"])) * n for w, n in known if n and "pairs" in w]
        assert samples
        assert run.messages >= max(samples), run.name


def test_a_median_that_is_not_there_counts_as_nothing() -> None:
    assert summary([])["median_abs_error_pct"] is None


def comparison(tmp_path: Path, **changes: Any) -> Path:
    folder = tmp_path / "validation" / "here"
    folder.mkdir(parents=True)
    run = {"name": "tcp", "title": "Over TCP", "profile": "made.json", "datasets": ["../data/*.json"],
           "fit_datasets": ["micro.json"], "calibrate": {"base": "alembert", "threads": [1]}, **changes}  # fmt: skip
    document = {"schema_version": 1, "title": "Here", "text": "Runs.", "runs": [run]}
    (folder / "comparison.json").write_text(json.dumps(document))
    return folder


def test_a_comparison_makes_its_profile_and_writes_beside_itself(tmp_path: Path) -> None:
    folder = comparison(tmp_path)
    (tmp_path / "validation" / "data").mkdir()
    measured = write(tmp_path / "validation" / "data", rates("a", {1: [5.0]}))
    (folder / "micro.json").write_text("{}")
    found = result(tmp_path)
    calls: list[tuple[str, Any]] = []

    def make(run: Any, datasets: list[Path], mappings: list[Path], out: Path, work: Path) -> None:
        calls.append(("make", (run.calibrate.threads, datasets, mappings, out, work.name)))
        out.write_text("{}")

    def validate(*words: Any) -> dict[str, Any]:
        calls.append(("validate", words))
        return found

    results, written = regenerate(tmp_path, find_comparison(tmp_path, "here"), validate, make)
    profile = folder / "made.json"
    assert results == [found]
    assert calls[0] == ("make", ([1], [folder / "micro.json", measured], [], profile, "here"))
    assert calls[1][1][:2] == (str(profile), [measured])
    assert {path.name for path in written} == {
        "made.json", "tcp.json", "tcp.md", "tcp-agreement.svg", "tcp-curves.svg", "tcp-residuals.svg",
    }  # fmt: skip
    assert json.loads((folder / "tcp.json").read_text())["profile"] == "box"


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"datasets": []}, "/runs/0/datasets"), ({"name": "a b"}, "/runs/0/name"), ({"drows": 3}, "/runs/0/drows"),
     ({"calibrate": {"base": "x", "starts": 0}}, "/runs/0/calibrate/starts")],
)  # fmt: skip
def test_bad_comparisons_are_refused_with_the_place(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    comparison(tmp_path, **changes)
    with pytest.raises(InputError, match=message):
        find_comparison(tmp_path, "here")


def test_only_runs_that_are_there_are_pooled(tmp_path: Path) -> None:
    path = comparison(tmp_path) / "comparison.json"
    document = json.loads(path.read_text())
    path.write_text(json.dumps(document | {"pooled": [{"title": "All", "runs": ["tcp", "shm"]}]}))
    with pytest.raises(InputError, match="no run 'shm'; there are: tcp"):
        find_comparison(tmp_path, "here")


def test_a_comparison_that_is_not_there_is_named(tmp_path: Path) -> None:
    comparison(tmp_path)
    with pytest.raises(InputError, match="no comparison 'there'; there are: here"):
        find_comparison(tmp_path, "there")
    with pytest.raises(InputError, match=r"no file \.\./data"):
        regenerate(tmp_path, find_comparison(tmp_path, "here"), lambda *_: {}, lambda *_: None)
    with pytest.raises(InputError, match="here has no run 'shm'; there are: tcp"):
        regenerate(tmp_path, find_comparison(tmp_path, "here"), lambda *_: {}, lambda *_: None, only=["shm"])


def test_the_shipped_comparisons_are_usable() -> None:
    names = {one.folder.name for one in comparisons(REPOSITORY)}
    assert {"published", "vm-2core"} <= names


def on_two_threads(profile: dict[str, Any], tmp_path: Path, **changes: Any) -> Target:
    one = read_dataset(write(tmp_path, rates("a", {2: [5e5]})))
    problem = Builder(profile, [mapping(**changes)], messages=200).build([(one, one.points[0])])
    assert not problem.unpredicted
    return problem.targets[0]


def drawn(configs: list[dict[str, Any]], path: str) -> list[float]:
    return [parse_price(get_path(config, path)).value for config in configs]


class TestDrawsFromRanges:
    """Intervals of a profile without stored draws."""

    def test_what_a_mapping_sets_stays(self, tmp_path: Path) -> None:
        profile = PROFILES.load("alembert")[1]
        layers = {"machine": {"software": {"send_call": "30 ns"}}, "library": {"preset": "ob1-base"},
                  "fabric": {"latency": "1 us", "bandwidth": "10 GB/s"}}  # fmt: skip
        configs = draws_from_ranges(profile, on_two_threads(profile, tmp_path, layers=layers), 8, 1)
        assert drawn(configs, "machine.software.send_call") == [30e-9] * 8
        assert len(set(drawn(configs, "machine.software.receive_call"))) == 8

    def test_a_value_of_the_library_is_drawn_from_its_own_range(self, tmp_path: Path) -> None:
        profile = PROFILES.load("alembert")[1]
        profile["calibration"] = {"scopes": {"alib": {
            "machine.software.send_call": {"value": "864 ns", "range": ["800 ns", "900 ns"]},
            "machine.software.wait_call": {"value": "1 us"},
            "fabric.latency": {"value": "2 us", "range": ["2 us", "3 us"]},
        }}}  # fmt: skip
        configs = draws_from_ranges(profile, on_two_threads(profile, tmp_path), 8, 1)
        assert all(800e-9 <= value <= 900e-9 for value in drawn(configs, "machine.software.send_call"))
        assert len(set(drawn(configs, "machine.software.send_call"))) == 8
        assert drawn(configs, "machine.software.wait_call") == [1e-6] * 8
        assert all(2e-6 <= value <= 3e-6 for value in drawn(configs, "fabric.latency"))

    def test_every_priced_value_of_a_profile_is_drawn(self, tmp_path: Path) -> None:
        profile = PROFILES.load("alembert")[1]
        target = on_two_threads(profile, tmp_path)
        (first, second) = draws_from_ranges(profile, target, 2, 1)
        priced = [
            f"machine.{one.path}" for one in parameters(profile)
            if len(set(get_path(profile, one.path).get("range", ()))) > 1
            and parse_price(one.value).kind in {"time", "rate"}
        ]  # fmt: skip
        assert len(priced) > 40
        assert all(get_path(first, path) != get_path(second, path) for path in priced)


PROFILE_FILES = [
    *(REPOSITORY / "calibration/profiles").glob("*.json"), *(REPOSITORY / "validation").rglob("*-profile.json"),
]  # fmt: skip


@pytest.mark.parametrize("path", sorted(PROFILE_FILES), ids=lambda path: path.stem)
def test_every_committed_profile_resolves(path: Path) -> None:
    check_profile(path, with_messages="software" in json.loads(path.read_text()))


class TestNothingPredicted:
    def test_a_profile_that_is_not_whole_is_named_with_the_place(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        profile = PROFILES.load("alembert")[1]
        del profile["waiting"]
        (tmp_path / "broken.json").write_text(json.dumps(profile))
        write(tmp_path, rates("a", {1: [5e5], 2: [4e5]}))
        words = [str(tmp_path / name) for name in ("broken.json", "a.json")]
        assert main(["validate", *words, "--json", str(tmp_path / "r.json"), "--work", str(tmp_path / "w")]) == 2
        error = capsys.readouterr().err.replace("\n", " ")
        assert "broken.json" in error
        assert "/machine/waiting: is missing" in error
        assert not (tmp_path / "r.json").exists()

    def test_no_mapping_for_any_point_is_an_error(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        measured = write(tmp_path, rates("a", {1: [5e5], 2: [4e5]}) | {"transport": "pigeons"})
        assert main(["validate", "alembert", str(measured), "--work", str(tmp_path / "w")]) == 2
        assert "2 points: no mapping for alib over pigeons" in capsys.readouterr().err.replace("\n", " ")


def fit(scope: str, dataset: str, posterior: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"parameters": [{"name": "x", "path": "machine.x", "scope": scope}], "fitted": ["x"],
            "set_back_to_base": [], "points": [{"dataset": dataset}], "error_pct": {"median": 39.35, "p90": 41.0},
            "posterior": posterior, **more}  # fmt: skip


def test_a_run_says_from_its_profile_what_was_fitted(tmp_path: Path) -> None:
    found = result(tmp_path)
    made = {"method": "emcee", "steps": 5000, "rhat": 1.0269, "parameters": ["x"]}
    refused = fit("blib", "b", {"refused": "0.87 of noise"}, cross_validation={"folds": [1, 2]})
    split = {"threads": [1, 4], "window": 128, "excluded": ["c"]}
    record = {"base": "box", "identified_directly": [], "split": split, "fits": [fit("alib", "shared", made), refused]}
    text = "\n".join(fit_sections({"calibration": record}, found))
    assert "points with 1, 4 threads or pairs and window 128, without those of `c`" in text
    assert "| alib | 1 of 1 | 1 | 39.4 % | 41 % | emcee: 1 parameter, 5000 steps, R-hat 1.0269 |" in text
    assert "refused: 0.87 of noise; 2 fits without a thread count instead" in text
    assert "No fit has points of" not in text
    record["fits"] = [refused]
    assert fit_sections({"calibration": record}, found)[-1] == "No fit has points of: alib over tcp."
    assert "no parameter was fitted" in fit_sections(None, found)[0]


def test_nothing_is_said_by_hand_of_what_was_fitted() -> None:
    texts = [
        (file, json.loads(file.read_text())["stand_in"]) for file in REPOSITORY.glob("validation/*/mappings/*.json")
    ]
    for one in comparisons(REPOSITORY):
        texts += [(one.folder, one.description.text), *((one.folder, run.remark) for run in one.description.runs)]
    assert len(texts) > 3
    for where, text in texts:
        assert not re.search(r"posterior|emulator|calibrated on|(is|are) fitted", text), where


def test_the_page_is_that_of_the_results() -> None:
    assert (REPOSITORY / "docs/accuracy.md").read_text() == accuracy_page(REPOSITORY)


def test_what_several_mappings_leave_out_is_said_once() -> None:
    page = (REPOSITORY / "docs/accuracy.md").read_text()
    said = re.findall("^What the scenarios leave out: (.*)[.]$", page, re.MULTILINE)
    assert any("; " in line for line in said)
    for line in said:
        parts = line.split("; ")
        assert len(set(parts)) == len(parts)


def test_coverage_is_shown_with_the_draws_and_those_that_failed(tmp_path: Path) -> None:
    points = predicted(curve(tmp_path, "a", lambda _n: 100.0), dict.fromkeys(COUNTS, 100.0))
    few = [replace(point, draws=(90.0, 100.0, 110.0)) for point in points]
    found = result_json("box", few, [], {})
    assert found["points"][0]["predicted"]["draws"] == 3
    assert "| 100% (3 draws) |" in as_markdown(found, "Box")
    failed = [replace(few[0], held_out=True, draws=(90.0, math.nan, 110.0)), *few[1:]]
    found = result_json("box", failed, [], {})
    assert "| 100% (2 to 3 draws, 1 failed) |" in as_markdown(found, "Box")
    together = pool([found])["summary"]["held_out"]
    assert (together["draws"], together["failed_draws"]) == ([2, 3], 1)
    found["points"][1]["predicted"]["failed_draws"] = None
    assert pool([found])["summary"]["held_out"]["failed_draws"] is None


def test_draws_have_replications_that_no_fit_has_seen(tmp_path: Path) -> None:
    seen: list[Task] = []

    def run(tasks: list[Task]) -> list[float]:
        seen.extend(tasks)
        return [5e5] * len(tasks)

    one = read_dataset(write(tmp_path, rates("a", {1: [5e5], 2: [4e5]})))
    profile = PROFILES.load("alembert")[1]
    found, _ = predict(profile, [one], [mapping()], cast("Any", SimpleNamespace(run=run)), messages=200, draws=4)
    replications = [task.replication for task in seen]
    drawn = [r for r in replications if r >= 200]
    assert sorted(drawn) == sorted([200, 201, 202, 203] * 2)
    assert min(replications) >= 100
    assert [point.used_draws for point in found] == [4, 4]
