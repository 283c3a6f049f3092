"""The lock study: errors, rankings, fits, and that its files fit together."""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from contend.common.errors import InputError, InterruptedRunError
from contend.engine.runner import CoreEngine
from contend.profiles.prices import parse_price
from contend.scenarios.resolution import Point
from contend.studies.lock_fit import fit, write_to_profile
from contend.studies.locks import (
    LockSet,
    MeasuredPoint,
    Row,
    SetResult,
    as_markdown,
    load_sets,
    predict,
    scored_errors,
)
from fakes import REPOSITORY, ctrl_c_after

if TYPE_CHECKING:
    from fakes import FakeCore

STUDY = json.loads((REPOSITORY / "validation/locks/sets.json").read_text())
PUBLISHED = {entry["id"]: entry for entry in json.loads((REPOSITORY / "validation/locks/published.json").read_text())}


def lock_set(**changes: Any) -> LockSet:
    entry = {
        "set": "L00",
        "grade": "A",
        "profile": "box",
        "measure": "ns",
        "value": "interval_ns",
        "fit": ["cache.transfer_socket", "futex.wake_call"],
        "tied": {"futex.wake_further": ["futex.wake_call", 1.0]},
        "fit_threads": [1, 2],
        "oversubscribed_from": 5,
        "kinds": {"a": {"scenario": "s", "parameters": {}}, "b": {"scenario": "s", "parameters": {}}},
        "not_simulated": {},
    }
    points = [{"config": k, "threads": n, "value": 10.0 * n} for k in ("a", "b") for n in (1, 2, 3, 4, 8)]
    return LockSet({**entry, **changes}, {"points": points}, Path())


def rows(errors: dict[tuple[str, int], float]) -> list[Row]:
    return [Row(kind, n, 10.0 * n, 10.0 * n * (1 + e), n <= 2, n >= 5) for (kind, n), e in errors.items()]


def test_fitted_points_do_not_count() -> None:
    result = SetResult(lock_set(), rows({("a", 1): 9.0, ("a", 2): 9.0, ("a", 3): 0.1, ("a", 4): -0.3}))
    assert sorted(result.errors()) == pytest.approx([0.1, 0.3])
    assert result.median_error() == pytest.approx(0.2)


def test_kinds_may_be_left_out_of_a_fit() -> None:
    assert [lock_set().may_fit("a", threads) for threads in (1, 2, 3)] == [True, True, False]
    assert not lock_set(not_fitted=["b"]).may_fit("b", 2)
    for entry in STUDY["sets"]:
        assert set(entry.get("not_fitted", ())) <= set(entry["kinds"]), entry["set"]


def test_pairs_that_repeats_do_not_tell_apart_have_a_tau_of_their_own() -> None:
    measured = {"a": 10.0, "b": 10.5, "c": 20.0, "d": 30.0}
    predicted = {"a": 12.0, "b": 11.0, "c": 40.0, "d": 30.0}
    found = [Row(kind, 3, measured[kind], predicted[kind], reference=False) for kind in measured]
    result = SetResult(lock_set(noise=0.09), found)
    assert result.taus()[3] == pytest.approx((4 - 2) / 6)
    assert result.taus_of_told_apart()[3] == pytest.approx((4 - 1) / 5)
    assert "more than 9% apart: 3: 0.60." in as_markdown([result])
    assert SetResult(lock_set(), found).taus_of_told_apart() == {}


def test_kinds_that_are_predicted_to_be_equal_are_neither_right_nor_wrong() -> None:
    def tau(measured: list[float], predicted: list[float]) -> float:
        pairs = zip("abc", measured, predicted, strict=True)
        found = [Row(kind, 3, one, other, reference=False) for kind, one, other in pairs]
        return SetResult(lock_set(), found).taus()[3]

    assert tau([1, 2, 3], [3, 3, 3]) == 0
    assert tau([1, 2, 3], [3, 3, 4]) == pytest.approx(2 / 3)
    assert tau([3, 3, 3], [1, 2, 3]) == 1  # there is no order that could be missed


def test_points_that_share_cores_count_and_are_told_apart() -> None:
    result = SetResult(lock_set(), rows({("a", 1): 9.0, ("a", 3): 0.1, ("a", 8): 0.5}))
    assert result.errors() == pytest.approx([0.1, 0.5])
    assert result.median_error(shared_cores=False) == pytest.approx(0.1)
    assert result.median_error(shared_cores=True) == pytest.approx(0.5)
    assert "| L00 | A | 1, 2 | 2 | 30% | - | missed | 1 | 50% | - |" in as_markdown([result])


def test_grade_b_counts_ratios_to_the_fitted_point() -> None:
    errors = {("a", 1): 1.0, ("a", 2): 3.0, ("a", 3): 1.0, ("a", 4): 0.0}
    assert SetResult(lock_set(grade="B"), rows(errors)).errors() == pytest.approx([0.0, 0.5])
    unfitted = SetResult(lock_set(grade="B", fit_threads=[]), [Row("a", 3, 10.0, 13.0, reference=False)])
    assert unfitted.errors() == pytest.approx([0.3])


def test_a_set_holds_only_within_both_limits() -> None:
    near = {(kind, n): 0.1 for kind in "abc" for n in (1, 2, 3, 4)}
    assert SetResult(lock_set(), _distinct(near)).holds() is True
    far = dict.fromkeys(near, 0.5)
    assert SetResult(lock_set(), _distinct(far)).holds() is False
    turned = [Row(row.kind, row.threads, row.measured, 100 - row.measured, row.reference) for row in _distinct(near)]
    assert SetResult(lock_set(), turned).holds() is False
    assert SetResult(lock_set(grade="B"), _distinct(near)).holds() is None
    assert SetResult(lock_set(), []).holds() is None


def _distinct(errors: dict[tuple[str, int], float]) -> list[Row]:
    """Kinds that differ, so that they can be ranked."""
    return [Row(k, n, 5.0 * n + ord(k), (5.0 * n + ord(k)) * (1 + e), n <= 2) for (k, n), e in errors.items()]


def test_report_has_every_row() -> None:
    chosen = lock_set(not_simulated={"z": "why"}, left_out={"8": "too many"})
    text = as_markdown([SetResult(chosen, rows({("a", 1): 0.0, ("b", 3): 0.25}))])
    assert "| L00 | A | 1, 2 | 1 | 25% | - | missed | - | - | - |" in text
    assert "| a | 10 / 10 |  |" in text
    assert "| b |  | 30 / 37.5 |" in text
    assert "- left out: 8 threads: too many" in text
    assert "- not simulated: z: why" in text


def test_a_picture_has_a_panel_for_each_kind(tmp_path: Path) -> None:
    from contend.plots.acquisitions import draw_lock_set

    errors = {(kind, n): 0.1 for kind in "abcde" for n in (1, 2, 3, 8)}
    picture = draw_lock_set(SetResult(lock_set(), rows(errors)))
    titles = [axes.get_title(loc="left") for axes in picture.axes if axes.lines]
    assert titles == list("abcde")
    assert picture.save(tmp_path / "set.png").stat().st_size > 0


def test_measured_values_are_those_that_can_be_simulated() -> None:
    assert list(lock_set().measured("a")) == [1, 2, 3, 4, 8]
    assert list(lock_set(left_out={"8": "why"}).measured("a")) == [1, 2, 3, 4]
    assert lock_set().measured("c") == {}
    assert lock_set().shares_cores(8)
    assert not lock_set().shares_cores(4)


class AnalyticEngine:
    """Interval = transfer times threads plus wake call."""

    name = "analytic"

    def run_point(self, point: Point, replication: int, *, trace_hash: bool) -> str:
        machine = point.config["machine"]
        assert machine["futex"]["wake_further"] == machine["futex"]["wake_call"]
        threads = point.config["workload"]["threads"]
        transfer, wake = machine["cache"]["transfer_socket"], machine["futex"]["wake_call"]
        interval = threads * parse_price(transfer).value + parse_price(wake).value
        operations = threads * point.config["workload"]["acquisitions"]
        elapsed = interval * operations
        return json.dumps({"elapsed_s": elapsed, "message_rate": operations / elapsed})

    def stop(self) -> None: ...

    def reset(self) -> None: ...


def test_a_fit_recovers_what_made_the_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measured = {"points": [{"config": "a", "threads": n, "value": 40.0 * n + 700} for n in (1, 2, 4)]}
    chosen = LockSet({**lock_set().entry, "kinds": {"a": {"scenario": "s", "parameters": {}}}}, measured, Path())

    def point_of(self: LockSet, kind: str, threads: int) -> Point:
        machine = {"cache": {}, "futex": {}}
        workload = {"threads": threads, "acquisitions": 10}
        return Point({}, {"machine": machine, "workload": workload, "run": {"replications": 2}})

    monkeypatch.setattr(LockSet, "point_of", point_of)
    entry = {"source": "s", "uncertainty": "u", "basis": "calibrated", "range": ["1ns", "10 us"]}
    profile = {
        "name": "box",
        "cache": {"transfer_socket": {"value": "20ns", **entry}},
        "futex": {"wake_call": {"value": "1 us", **entry}, "wake_further": {"value": "1 us", **entry}},
    }
    file = tmp_path / "box.json"
    file.write_text(json.dumps(profile))
    evaluations: list[float] = []
    found = fit(chosen, file, AnalyticEngine(), jobs=1, evaluations=600, progress=evaluations.append)
    assert 10 < sum(evaluations) <= 620
    assert found.points == 2
    assert found.cost_after < found.cost_before / 100
    assert parse_price(found.values["cache.transfer_socket"]).value == pytest.approx(40e-9, rel=0.05)
    assert parse_price(found.values["futex.wake_call"]).value == pytest.approx(700e-9, rel=0.02)
    write_to_profile(file, found.values, {"futex.wake_call": "fit to two points"})
    written = json.loads(file.read_text())
    assert written["futex"]["wake_further"]["value"] == found.values["futex.wake_call"]
    profile["cache"]["transfer_socket"]["value"] = found.values["cache.transfer_socket"]  # type: ignore[index]
    for name in ("wake_call", "wake_further"):
        profile["futex"][name]["value"] = found.values["futex.wake_call"]  # type: ignore[index]
    profile["futex"]["wake_call"]["identified_by"] = "fit to two points"  # type: ignore[index]
    assert written == profile


def test_ctrl_c_leaves_no_half_of_a_set(core: FakeCore) -> None:
    core.seconds_per_run = 0.05
    point = Point({}, {"workload": {"pairs": 1}, "lock": "mcs", "run": {"replications": 50}})
    with (
        ctrl_c_after(core, runs=4),
        pytest.raises(InterruptedRunError, match="interrupted in set L00: nothing was compared"),
    ):
        predict(lock_set(), [MeasuredPoint("a", 3, 30.0, None, point)], CoreEngine(), 1)


def test_errors_of_written_rows_are_those_of_the_study() -> None:
    results = json.loads((REPOSITORY / "validation/locks/results.json").read_text())
    assert {one["grade"] for one in results} == {"A", "B"}
    for one in results:
        sides = [
            [(row["kind"], row["error"]) for row in one["rows"] if row["reference"] == side] for side in (False, True)
        ]
        entry = next(entry for entry in STUDY["sets"] if entry["set"] == one["set"])
        for row in one["rows"]:
            is_of_fit = row["reference"] and row["kind"] not in entry.get("not_fitted", ())
            assert row["fitted"] == is_of_fit, (one["set"], row["kind"], row["threads"])
        if errors := scored_errors(one["grade"], *sides):
            assert statistics.median(errors) == pytest.approx(one["median_error"], abs=2e-3), one["set"]


def test_no_set_of_that_name() -> None:
    with pytest.raises(InputError, match="L99"):
        load_sets(REPOSITORY, ["L01", "L99"])


@pytest.mark.parametrize("entry", STUDY["sets"], ids=lambda entry: entry["set"])
def test_every_published_row_is_accounted_for(entry: dict[str, Any]) -> None:
    published = PUBLISHED[entry["set"]]
    configs = {point.get("config", "") for point in published["points"]}
    known = set(entry["kinds"]) | set(entry["not_simulated"])
    if "clusters" not in entry:
        assert configs == known
    assert entry["grade"] == published["grade"]
    assert not set(entry["kinds"]) & set(entry["not_simulated"])


@pytest.mark.parametrize("entry", STUDY["sets"], ids=lambda entry: entry["set"])
def test_only_prices_of_cache_lines_and_futexes_are_fitted(entry: dict[str, Any]) -> None:
    profile = json.loads((REPOSITORY / f"calibration/profiles/{entry['profile']}.json").read_text())
    assert set(entry["fit_threads"]) <= {1, 2}
    for path in entry["fit"]:
        section, name = path.split(".")
        assert section in {"cache", "futex"}
        assert profile[section][name]["basis"] == "calibrated"
    for path in entry["tied"]:
        assert path.split(".")[0] in {"cache", "futex"}


@pytest.mark.core
@pytest.mark.parametrize("entry", STUDY["sets"], ids=lambda entry: entry["set"])
def test_every_row_that_can_be_simulated_has_its_point(entry: dict[str, Any]) -> None:
    (chosen,) = load_sets(REPOSITORY, [entry["set"]])
    for kind in chosen.entry["kinds"]:
        measured = chosen.measured(kind)
        assert measured
        for threads in measured:
            point = chosen.point_of(kind, threads)
            workload = point.config["workload"]
            assert workload["kind"] == "lock"
            shares_cores = point.config["placement"]["threads"] != "one-per-core"
            with_its_own = str(workload["lock"]).startswith("flat-combining")  # threads of locks come on top
            assert shares_cores == (chosen.shares_cores(threads) or with_its_own)
            more_than_cores = chosen.shares_cores(threads)
            if "parameter_of_threads" not in entry or (more_than_cores and chosen.axis == "threads"):
                assert workload[chosen.axis] == threads
