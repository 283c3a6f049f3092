"""Plans of sweeps: grids, lists and samples of points."""

import math
import re
from typing import Any

import numpy as np
import polars as pl
import pytest

import contend
from contend.sweeps.plans import MOST_POINTS
from sweeping import GRID, same

pytestmark = pytest.mark.core


class TestPlans:
    def test_a_grid_is_what_a_run_of_it_gives(self, small: contend.Scenario) -> None:
        swept = contend.sweep(small, GRID)
        assert [point.parameters for point in swept.points] == [
            {"pairs": pairs, "instances": count} for pairs in (1, 2, 4) for count in (1, 2)
        ]
        assert same(swept, contend.run(small.over(GRID)))

    def test_samples_by_themselves(self, small: contend.Scenario) -> None:
        points = [
            {"workload.pairs": 1, "library.preset": "ob1-cri"},
            {"workload.pairs": 2, "library.preset": "ob1-base"},
            {"workload.pairs": 4, "library.preset": "ob1-cri"},
        ]
        for plan in (points, pl.DataFrame(points), contend.Samples(points)):
            swept = contend.sweep(small, plan)
            assert [point.parameters["preset"] for point in swept.points] == ["ob1-cri", "ob1-base", "ob1-cri"]
        alone = contend.run(small.with_({"workload.pairs": 4, "library.preset": "ob1-cri"}))
        assert swept.points[2].counters == alone.points[0].counters
        assert swept.points[2].message_rate == alone.points[0].message_rate

    def test_a_latin_hypercube_covers_every_range(self, small: contend.Scenario) -> None:
        plan = contend.LatinHypercube(
            {
                "machine.futex.wake_latency": contend.Range("1 us", "100 us", log=True),
                "workload.pairs": (1, 4),
                "library.matching.lock": ["mcs", "ttas"],
                "machine.cache.proximity_bias": (0.0, 1.0),
            },
            samples=8,
        )
        rows = plan.rows()
        assert rows == plan.rows()
        assert sorted(row["workload.pairs"] for row in rows) == [1, 1, 2, 2, 3, 3, 4, 4]
        assert sum(row["library.matching.lock"] == "mcs" for row in rows) == 4
        assert sorted(int(8 * row["machine.cache.proximity_bias"]) for row in rows) == list(range(8))
        frame = contend.sweep(small, plan, replications=1).frame()
        assert frame.height == 8
        assert sum(value < 1e-5 for value in frame["wake_latency"]) == 4
        assert contend.LatinHypercube(plan.ranges, 8, seed=2).rows() != rows

    def test_whole_numbers_of_numpy_are_welcome(self) -> None:
        ranges = {"workload.pairs": (1, 9)}
        plan = contend.LatinHypercube(ranges, samples=np.int64(3), seed=np.uint8(4))
        assert plan.rows() == contend.LatinHypercube(ranges, 3, 4).rows()

    def test_what_a_sample_draws_twice_counts_once(self) -> None:
        rows = contend.LatinHypercube({"workload.pairs": (1, 3)}, 9).rows()
        assert sorted(row["workload.pairs"] for row in rows) == [1, 2, 3]

    def test_what_the_scenario_sweeps_multiplies(self, small: contend.Scenario) -> None:
        swept = contend.sweep(small.over({"workload.pairs": [1, 2]}), [{"workload.window": 8}, {"workload.window": 16}])
        assert [tuple(point.parameters.values()) for point in swept.points] == [(1, 8), (1, 16), (2, 8), (2, 16)]
        assert len(contend.sweep(small.over({"workload.pairs": [1, 2]}), {"workload.pairs": [4]}).points) == 1
        assert len(contend.sweep(small.over({"workload.pairs": [1, 2]})).points) == 2

    def test_combinations_that_make_no_sense(self, small: contend.Scenario) -> None:
        grid = {"library.matching.engine": ["ob1", "offload"], "workload.pairs": [1, 2]}
        with pytest.raises(contend.InputError, match="offload"):
            contend.sweep(small, grid)
        swept = contend.sweep(small, grid, skip_invalid=True)
        assert len(swept.points) == 2
        assert [row["library.matching.engine"] for row, _ in swept.skipped] == ["offload"] * 2
        with pytest.raises(contend.InputError, match="no point of the sweep is usable"):
            contend.sweep(small, {"library.matching.engine": ["offload"]}, skip_invalid=True)
        presets = {"library.preset": ["ob1-base", "ob1-shared-memory"]}
        assert [row for row, _ in contend.sweep(small, presets, skip_invalid=True).skipped] == [
            {"library.preset": "ob1-shared-memory"}
        ]

    @pytest.mark.parametrize(
        ("plan", "message"),
        [
            ({"library.matching.lock": ["mcs", "mcz"]}, "^library.matching.lock: found \"mcz\".*did you mean 'mcs'"),
            ({"workload.pairs": [1, 0]}, "^workload.pairs: found 0; allowed: a whole number from 1"),
            ({"workload.pears": [1]}, "did you mean 'workload.pairs'"),
            ({"library.preset": ["ob1-base", "ob1-bass"]}, 'unknown preset "ob1-bass"'),
            ({"library.preset": ["ob1-base", {"mine": {"matching": {"lock": "mcz"}}}]}, "did you mean 'mcs'"),
            ([{"workload.pairs": 1}, {"workload.window": 2}], "other values than the first"),
        ],
    )
    def test_what_is_wrong_by_itself_is_no_combination(self, small: contend.Scenario, plan: Any, message: str) -> None:
        with pytest.raises(contend.InputError, match=message):
            contend.sweep(small, plan, skip_invalid=True)

    @pytest.mark.parametrize(
        ("plan", "message"),
        [
            ({"workload.pears": [1]}, r"did you mean 'workload\.pairs'"),
            ({"workload.pairs": []}, "is empty"),
            ({"workload.pairs": 3}, "a list of values is needed"),
            ([], "list of points is empty"),
            ([{"workload.pairs": 1}, {"workload.window": 2}], "other values than the first"),
            ([{"library.preset": 7}], "the name of a preset"),
            (
                [{"workload.pairs": 1}, {"workload.pairs": "abc"}],
                '^the list of points: point 2: workload.pairs: found "abc"; allowed: a whole number',
            ),
            ({"workload.pairs": [1, "abc"]}, '^workload.pairs: found "abc"; allowed: a whole number'),
            (5, r"points: a list of mappings or a data frame; not 5$"),
            ("workload.pairs=1,2", r"a sweep takes a mapping .*; not 'workload.pairs=1,2'$"),
            ([{"workload.pairs": 1}, 2], "^the list of points: point 2: found 2; allowed: a mapping of dotted paths"),
            (
                pl.DataFrame({"workload.pairs": [1.0, float("nan")]}),
                "^the list of points: point 2: workload.pairs: no value$",
            ),
            (
                contend.LatinHypercube({"workload.pairs": (3, 1)}, 2),
                "^workload.pairs: the range from 3 to 1 is empty: the smaller end comes first$",
            ),
            (contend.LatinHypercube({"workload.pairs": (1, "2 us")}, 2), "two kinds"),
            (
                contend.LatinHypercube({"machine.futex.wake_latency": ("1 us", "20 B")}, 2),
                "^machine.futex.wake_latency: the range from '1 us' to '20 B' has two kinds of values; allowed: ends",
            ),
            (contend.LatinHypercube({"workload.pairs": (None, 3)}, 2), "^workload.pairs: None is no end of a range"),
            (contend.LatinHypercube({"workload.pairs": (True, 3)}, 2), "^workload.pairs: True is no end of a range"),
            (contend.LatinHypercube({"workload.pairs": (1, math.inf)}, 2), "^workload.pairs: inf is no end of a range"),
            (contend.LatinHypercube({"workload.pairs": (1, 10**400)}, 2), r"^workload.pairs: 10+\.\.\. is no end"),
            (contend.LatinHypercube({"workload.pairs": (0, 400)}, 2), "^workload.pairs: found 0; allowed: a whole"),
            (
                contend.LatinHypercube({"workload.pairs": (1, 3), "machine.futex.wake_latency": (1, 2)}, 2),
                "^machine.futex.wake_latency: found 1, which has no unit",
            ),
            (
                contend.LatinHypercube({"library.matching.lock": ["mcs", "mcz"], "workload.pairs": (1, 2)}, 1),
                '^library.matching.lock: found "mcz"; allowed',
            ),
            (contend.LatinHypercube({"workload.pairs": ("one", "2 us")}, 2), "no end of a range"),
            (contend.LatinHypercube({}, 2), "at least one range"),
            *(
                (
                    contend.LatinHypercube({"workload.pairs": (1, 3)}, samples=samples),
                    rf"^samples={re.escape(repr(samples))}: at least one sample is needed; allowed: a whole number",
                )
                for samples in (2.5, "2", None, 0, -1)
            ),
            *(
                (
                    contend.LatinHypercube({"workload.pairs": (1, 3)}, 2, seed=seed),
                    rf"^seed={re.escape(repr(seed))}: no seed of a sample; allowed: a whole number from 0 on",
                )
                for seed in (-1, 1.5, "1", None)
            ),
            (
                contend.LatinHypercube({"workload.pairs": contend.Range(0, 9, log=True)}, 2),
                "no logarithms; allowed: ends above 0",
            ),
            ({"workload.pairs": range(10**22)}, "workload.pairs: more than 100000 values; allowed: at most that many"),
            (
                {"workload.pairs": range(1, 401), "workload.window": range(1, 401)},
                "all combinations of the grid: 160000 points; allowed: at most 100000 in a sweep",
            ),
            (contend.LatinHypercube({"workload.pairs": (1, 3)}, 100_001), "the Latin hypercube: 100001 points"),
            (
                {"machine.futex.wake_latency": ["1 us", "1000 ns"]},
                "^found the point of machine.futex.wake_latency=1 us again; allowed: each point once$",
            ),
            ([{"workload.pairs": 1}] * 100_001, "the sweep: 100001 points; allowed: at most 100000"),
            (
                [{"workload.pairs": 1}, {"workload.pairs": 2}, {"workload.pairs": 1}],
                "^the list of points: point 3: found the point of the list of points: point 1 again; allowed: each",
            ),
        ],
    )
    def test_mistakes(self, small: contend.Scenario, plan: Any, message: str) -> None:
        with pytest.raises(contend.InputError, match=message):
            contend.sweep(small, plan)

    def test_a_sweep_may_have_as_many_points_as_a_scenario(self, small: contend.Scenario) -> None:
        """Else nothing could read the scenario of sweep.json."""
        axis = {"from": 1, "to": MOST_POINTS + 1, "step": 1}
        with pytest.raises(contend.InputError, match=f"more than {MOST_POINTS} points"):
            small.over({"workload.iterations": axis})
