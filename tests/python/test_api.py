"""What `import contend` offers: scenarios as values, runs, comparisons, explanations, their frames and their looks."""

import dataclasses
import doctest
import importlib
import json
import math
import pickle
import re
import shlex
import signal
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import polars as pl
import pytest

import contend
from contend.common.quantities import parse_quantity
from contend.scenarios.resolution import find_scenario, resolve_scenario
from contend.scenarios.scenario import Scenario
from fakes import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.core

BASE = "fig5_2a_base"
TCP = REPOSITORY / "validation" / "data" / "vm-2core" / "openmpi-5_tcp_shared.json"
QUICK = {"workload.pairs": 2, "workload.iterations": 1, "workload.window": 16, "run.replications": 2}


@pytest.fixture(scope="module")
def small() -> Scenario:
    return contend.load(BASE).with_(QUICK)


def test_every_public_name_is_there() -> None:
    for name in contend.__all__:
        assert getattr(contend, name) is not None
    assert set(contend.__all__) <= set(dir(contend))
    with pytest.raises(AttributeError, match="no attribute 'swep'"):
        _ = contend.swep  # type: ignore[attr-defined]


OF_FUNCTIONS = "common.quantities scenarios.scenario api sweeps.plans sweeps.sweep results.frames traces.timelines"


@pytest.mark.parametrize("name", [*OF_FUNCTIONS.split(), "plots", "notebook_html", "listings"])
def test_examples_in_docstrings(name: str) -> None:
    module = importlib.import_module(f"contend.{name}")
    found = doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert found.failed == 0


class TestScenario:
    def test_a_change_makes_another_one(self, small: Scenario) -> None:
        changed = small.with_({"machine.futex.wake_latency": "2 us"}, workload__pairs=4)
        assert changed["workload.pairs"] == 4
        assert changed["machine.futex.wake_latency"] == "2 us"
        assert small["workload.pairs"] == 2
        assert changed != small
        assert changed.with_({"workload.pairs": 2}) != small
        assert small.with_({"workload.pairs": 2}) == small
        assert len({small, small.with_({"workload.pairs": 2})}) == 1

    def test_none_takes_away_what_the_file_says(self) -> None:
        over_a_platform = contend.load("interfaces_by_tag")
        route = {"fabric.platform": None, "fabric.latency": "1 us", "fabric.bandwidth": "1 GB/s"}
        plain = over_a_platform.with_(route | {"sweep.workload.tags": None})
        assert over_a_platform.origin("fabric.latency").startswith("platform ")
        assert plain.origin("fabric.latency") == "command line"
        assert list(plain.axes) == ["workload.pairs"]
        with pytest.raises(contend.InputError, match=r'^changes: "fabric.platfrom": null takes away what the scenario'):
            over_a_platform.with_({"fabric.platfrom": None})
        # The preset of the file goes, too, not only in the command line.
        with pytest.raises(contend.InputError, match=r'library.preset": null takes away .*, which is nothing'):
            contend.load(BASE).with_({"library.preset": None})

    def test_what_clashes_with_a_preset_is_told_of_the_scenario(self, small: Scenario) -> None:
        with pytest.raises(contend.InputError) as caught:
            small.with_({"library.preset": "ch4-vci-tag", "workload.any_tag": True})
        assert str(caught.value) == (
            "changes: /workload/any_tag: a receive with any tag cannot know its instance when tags decide on it; "
            'library.instances.mapping is "tag"'
        )

    def test_what_is_no_scenario_and_no_change_is_told(self, small: Scenario) -> None:
        nothing: Any = 3
        for use in (contend.load, contend.run, small.compare):
            with pytest.raises(contend.InputError, match=r"a scenario is a file, .* not 3"):
                use(nothing)
        for change in (small.with_, small.over):
            with pytest.raises(contend.InputError, match="changes are a mapping of dotted paths to values, not 3"):
                change(nothing)
            with pytest.raises(contend.InputError, match=r"a path is a word such as 'workload.pairs', not 3"):
                change({nothing: 4})
        for look in (small.__getitem__, small.origin):
            with pytest.raises(contend.InputError, match=r"a path is a word such as 'workload.pairs', not 3"):
                look(nothing)
        with pytest.raises(TypeError, match="not iterable"):
            list(cast("Any", small))
        with pytest.raises(contend.InputError, match="changes are a mapping of dotted paths to values, not 3"):
            contend.run(small, nothing)
        with pytest.raises(contend.InputError, match="a set has no JSON form"):
            contend.run(small, {"workload.pairs": {1}})
        for jobs in ("2", 0, 1.5):
            with pytest.raises(
                contend.InputError, match=r"jobs=.*: at least one job is needed; allowed: a whole number"
            ):
                contend.run(small, jobs=cast("Any", jobs))
        for length in (-1.0, 0.0, math.nan, math.inf):
            with pytest.raises(contend.InputError, match="cannot be shown; allowed: a length above 0"):
                contend.timeline(small, length_us=length)
        with pytest.raises(contend.InputError, match="cannot begin at nan us"):
            contend.timeline(small, begin_us=math.nan)

    @pytest.mark.parametrize("point", [["pairs"], "pairs", 4, [("pairs", 4)], {"pairs"}])
    def test_a_point_of_a_dataset_is_a_mapping(self, point: Any) -> None:
        with pytest.raises(contend.InputError, match=r"^a point is a mapping of parameters to values, .* not "):
            contend.load_measured(TCP, point)

    def test_numbers_of_numpy_are_numbers_everywhere(self, small: Scenario) -> None:
        three = cast("Any", np.int64(3))
        results = contend.run(small, {"workload.pairs": three}, replications=three, jobs=three)
        assert results.scenario["workload"]["pairs"] == results.points[0].replications == 3
        assert contend.resolve(small, {"workload.pairs": three}) == small.with_({"workload.pairs": 3}).resolved
        assert contend.load_measured(TCP, {"pairs": np.int64(4)})["workload.pairs"] == 4

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"workload.pears": 2}, "did you mean 'pairs'"),
            ({"wokload.pairs": 2}, "did you mean 'workload'"),
            ({"workload.pairs": 0}, "a whole number from 1"),
            ({"workload.pairs": "4"}, 'found "4"'),
            ({"workload.pairs": 4.5}, "found 4.5"),
            ({"workload.pairs": 100}, "hardware threads"),
            ({"machine.futex.wake_latency": "2"}, "unit"),
            ({"machine.futex.wake_latency": float("nan")}, "cannot stand in a scenario"),
            ({"library.matching.lock": "pthread-mutx"}, "did you mean 'pthread-mutex'"),
            ({"library.preset": "ob1-bse"}, "ob1-base"),
            ({"workload.pairs": object()}, "cannot stand in a scenario"),
        ],
    )
    def test_a_change_is_checked_at_once(self, small: Scenario, change: dict[str, object], message: str) -> None:
        with pytest.raises(contend.InputError, match=message):
            small.with_(change)

    def test_a_preset_among_overrides_is_the_whole_design(self) -> None:
        path = find_scenario("fig5_2a_base")
        asked = [("library.matching.lock", '"mcs"'), ("library.preset", '"ob1-cri"')]
        resolved = resolve_scenario(path, asked)
        library = resolved.points[0].config["library"]
        assert library["name"] == "ob1-cri"
        assert library["progress"]["engine"] == "concurrent"  # the file says "ownership"
        assert library["instances"]["count"] == 20
        assert library["matching"]["lock"] == "mcs"
        assert resolved.origins["/library/progress/engine"].startswith("preset ob1-cri")
        (remark,) = resolved.remarks
        assert "ob1-cri is the whole library design" in remark
        assert "(instances.count, instances.assignment, " in remark
        assert resolve_scenario(find_scenario("pairwise_two_processes_two_cores"), asked).remarks == ()
        assert resolve_scenario(path).remarks == ()

    def test_a_preset_replaces_the_whole_design(self, small: Scenario) -> None:
        # The file gives its own values, which would win over the preset as a layer.
        changed = small.with_({"library.preset": "ob1-cri", "library.instances.count": 3})
        assert changed["library.name"] == "ob1-cri"
        assert changed["library.progress.engine"] == "concurrent"
        assert changed["library.instances.count"] == 3

    def test_looking_up(self, small: Scenario) -> None:
        assert "workload.pairs" in small
        assert "workload.pears" not in small
        with pytest.raises(contend.InputError, match=r"did you mean 'workload\.pairs'"):
            _ = small["workload.pears"]
        with pytest.raises(contend.InputError, match=r"workload\.window"):
            _ = small["window"]
        assert small.origin("workload.pairs") == "command line"
        assert small.origin("machine.futex.wake_latency").startswith("profile alembert")

    def test_mistakes_are_where_they_were_made(self, small: Scenario) -> None:
        with pytest.raises(contend.InputError, match=r"^changes: /workload: unknown key \"pears\""):
            small.with_({"workload.pears": 3})
        with pytest.raises(contend.InputError, match=r"^changes: /library/preset: unknown preset \"ob1-bse\""):
            small.with_({"library.preset": "ob1-bse"})
        with pytest.raises(contend.InputError, match=r"^changes: /library/preset: unknown preset \"ob1-bse\""):
            small.over({"library.preset": ["ob1-cri", "ob1-bse"]})
        with pytest.raises(contend.InputError, match=r"^overrides: /workload: unknown key \"pears\""):
            contend.run(small, {"workload.pears": 3})
        with pytest.raises(contend.InputError, match=r"^changes: \"extends\" stays as the file has it"):
            small.with_({"extends": "x.json"})
        with pytest.raises(contend.InputError, match=r"^changes: workload\.iterations: the workload 'lock' has none"):
            contend.load("locks/L06_core_to_core").with_({"workload.iterations": 3})
        with pytest.raises(contend.InputError, match=r"^the sweep: found an empty object; allowed: an object of path"):
            contend.sweep(small, {})

    def test_every_value_with_its_origin(self, small: Scenario) -> None:
        frame = small.frame()
        assert frame.columns == ["path", "value", "origin"]
        assert frame.filter(pl.col("path") == "workload.pairs").row(0) == ("workload.pairs", "2", "command line")

    def test_sweeps(self) -> None:
        scenario = contend.load("fig5_2a")
        assert list(scenario.axes) == ["workload.pairs", "library.instances.count", "library.instances.assignment"]
        one = scenario.at(pairs=20, instances=10, assignment="dedicated")
        assert [point.parameters for point in one.points] == [{"pairs": 20, "instances": 10, "assignment": "dedicated"}]
        with pytest.raises(contend.InputError, match="6 points have"):
            scenario.at(pairs=20)
        with pytest.raises(contend.InputError, match=r"'pair'; did you mean 'pairs'\? \(swept: pairs, inst"):
            scenario.at(pair=20)
        with pytest.raises(contend.InputError, match=r"did you mean 'dedicated'\? \(assignment: round-"):
            scenario.at(pairs=20, assignment="dedicate")
        designs = contend.load(BASE).with_({"workload.pairs": 4}).over({"library.preset": ["ob1-base", "ob1-cri"]})
        assert [point.config["library"]["name"] for point in designs.points] == ["ob1-base", "ob1-cri"]
        assert designs.at(preset="ob1-cri")["library.name"] == "ob1-cri"
        assert len(designs.over({"workload.pairs": range(1, 4)}).points) == 6
        # An earlier design does not win over these, single changes do.
        again = contend.load(BASE).with_({"workload.pairs": 4}).with_({"library.preset": "ch4-global"})
        assert again.over({"library.preset": ["ob1-base", "ob1-cri"]}) == designs
        counted = (
            contend.load(BASE)
            .with_({"workload.pairs": 4, "library.instances.count": 7})
            .over({"library.preset": ["ob1-base", "ob1-cri"]})
        )
        assert [point.config["library"]["instances"]["count"] for point in counted.points] == [7, 7]
        assert [point.config["library"]["name"] for point in counted.points] == ["ob1-base", "ob1-cri"]

    def test_several_values_of_one(self) -> None:
        for text in ("1,2,4", "[1, 2, 4]", "1..4"):
            with pytest.raises(contend.InputError, match="several values are a sweep: contend sweep") as refused:
                len(contend.load(BASE).with_({"workload.pairs": json.loads(text) if text[0] == "[" else text}).points)
            assert f"--grid {shlex.quote(f'workload.pairs={text}')}" in str(refused.value)
        with pytest.raises(contend.InputError) as refused:
            len(contend.load(BASE).with_({"workload.pairs": "many"}).points)
        assert "sweep" not in str(refused.value)

    def test_a_scenario_that_is_called_like_its_profile(self, small: Scenario, tmp_path: Path) -> None:
        document = small.document | {"machine": {"profile": "alembert"}, "library": {"preset": "ob1-base"}}
        document["fabric"] = {"latency": "1 us", "bandwidth": "12 GB/s"}
        for name in ("alembert", "ob1-base"):
            (tmp_path / f"{name}.json").write_text(json.dumps(document))
            assert contend.load(tmp_path / f"{name}.json").origin("machine.cache.hit").startswith("profile alembert")

    def test_a_document_by_itself(self, small: Scenario) -> None:
        again = contend.load(small.document)
        assert again == small
        assert contend.run(again).points[0].counters == contend.run(small).points[0].counters
        with pytest.raises(contend.InputError, match="did you mean 'machine'"):
            contend.load({**small.document, "machin": {}})

    def test_goes_to_other_processes(self, small: Scenario) -> None:
        assert pickle.loads(pickle.dumps(small)) == small

    def test_shows_itself(self, small: Scenario) -> None:
        assert repr(contend.load(BASE)) == "<Scenario fig5_2a_base: 20 points>"
        assert "workload.pairs=2" in repr(small)
        html = small._repr_html_()
        assert "alembert" in html
        assert "library.matching.engine" in html
        assert "&lt;" in small.with_({"name": "<b>"})._repr_html_()


class TestRun:
    def test_frames(self, small: Scenario) -> None:
        results = contend.run(small.with_({"sweep.workload.message_size": ["0 B", "1 KiB"]}))
        frame = results.frame()
        assert frame["message_size"].to_list() == [0, 1024]
        assert results.units["message_size"] == "B"
        assert results.units["message_rate"] == "msg/s"
        assert results.samples().height == 4
        assert results.samples().group_by("message_size", maintain_order=True).mean()["message_rate"].to_list() == (
            pytest.approx(frame["message_rate"].to_list())
        )
        times = results.times()
        assert times.columns == ["message_size", "role", "category", "time_ns", "share"]
        totals = times.group_by("message_size", "role").agg(pl.col("share").sum())
        assert totals["share"].to_list() == pytest.approx([1.0] * 4)

    def test_parameters_that_are_called_as_measures_are(self, small: Scenario) -> None:
        values = ["9.5 GB/s", "11.4 GB/s"]
        sized = small.with_({"workload.message_size": "1 KiB"})
        for swept in (
            sized.with_({"sweep": {"fabric.bandwidth": values}}),
            sized.with_({"sweep": [{"fabric.bandwidth": value} for value in values]}),
        ):
            results = contend.run(swept)
            frame = results.frame()
            assert frame["fabric.bandwidth"].to_list() == [9.5e9, 11.4e9]
            assert frame["bandwidth"].to_list() == [point.mean_of("bandwidth") for point in results.points]
            assert (results.units["fabric.bandwidth"], results.units["bandwidth"]) == ("B/s", "MiB/s")
            samples = results.samples()
            assert samples["fabric.bandwidth"].unique().sort().to_list() == [9.5e9, 11.4e9]
            assert samples["bandwidth"].max() < 9e5
            assert "fabric.bandwidth" in results.times().columns
        again = contend.Results.from_json(results.to_json())
        assert again.frame().equals(frame)
        alone = dataclasses.replace(results, scenario={}).frame()
        assert alone["parameters.bandwidth"].to_list() == [9.5e9, 11.4e9], "where nothing says the path"

    def test_units_travel_with_parquet(self, small: Scenario, tmp_path: Path) -> None:
        results = contend.run(small)
        (tmp_path / "a.parquet").write_bytes(results.parquet_bytes())
        metadata = pl.read_parquet_metadata(tmp_path / "a.parquet")
        assert json.loads(metadata["contend.units"]) == results.units
        assert json.loads(metadata["contend.provenance"])["contend_version"] == contend.__version__

    def test_pandas(self, small: Scenario) -> None:
        pytest.importorskip("pandas")
        results = contend.run(small)
        frame = results.to_pandas()
        assert list(frame.columns) == results.frame().columns
        assert frame.attrs["units"] == results.units

    def test_points_by_their_parameters(self, small: Scenario) -> None:
        results = contend.run(small.over({"workload.pairs": [1, 2]}), replications=1)
        assert results.point(pairs=2).parameters == {"pairs": 2}
        assert len(results.select(pairs=1).points) == 1
        with pytest.raises(contend.InputError, match="2 points have no parameters"):
            results.point()
        with pytest.raises(contend.InputError, match=r"no point has pairs=3; did you mean '2'\? \(pairs: 1, 2\)"):
            results.select(pairs=3)
        with pytest.raises(contend.InputError, match=r"no parameter 'pear'; did you mean 'pairs'"):
            results.point(pear=3)

    def test_are_keys(self, small: Scenario, tmp_path: Path) -> None:
        results = contend.run(small, replications=1)
        names = {results: "first", results.points[0]: "its point"}
        again = contend.Results.from_json(results.to_json())
        assert names[again] == "first"
        assert names[again.points[0]] == "its point"
        swept = contend.sweep(small, {"workload.pairs": [1]}, store=tmp_path, replications=1)
        assert swept in {swept, results}

    def test_shows_itself(self, small: Scenario) -> None:
        results = contend.run(small.over({"workload.pairs": list(range(1, 21))}), replications=1)
        assert repr(results) == "<Results of fig5_2a_base: 20 points>"
        assert results._repr_html_().count("<tr>") == 21

    def test_other_threads_go_on_meanwhile(self) -> None:
        """The interpreter's lock is released: a thread counts while one simulation runs."""
        long = contend.load(BASE).with_({"workload.pairs": 20, "workload.iterations": 20, "run.replications": 1})
        ticks: list[float] = []
        ended = threading.Event()

        def tick() -> None:
            while not ended.wait(0.002):
                ticks.append(time.monotonic())

        thread = threading.Thread(target=tick)
        thread.start()
        begin = time.monotonic()
        contend.run(long, jobs=1)
        took = time.monotonic() - begin
        ended.set()
        thread.join()
        assert len(ticks) > 0.1 * took / 0.002

    def test_ctrl_c_stops_within_a_second_and_keeps_what_finished(self) -> None:
        quick = contend.load(BASE).over({"workload.pairs": list(range(1, 21))}).with_({"workload.iterations": 400})
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        pressed: list[float] = []

        def press() -> None:
            time.sleep(1.0)
            pressed.append(time.monotonic())
            signal.raise_signal(signal.SIGINT)

        try:
            threading.Thread(target=press).start()
            with pytest.raises(contend.InterruptedRunError, match=r"sys\.last_value\.results") as caught:
                contend.run(quick, jobs=2)
        finally:
            signal.signal(signal.SIGINT, before)
        assert time.monotonic() - pressed[0] < 1.0
        results = caught.value.results
        assert results is not None
        assert results.interrupted
        assert 1 <= len(results.points) < 20
        # And the next run is not stopped by the last one's request.
        assert contend.run(quick.at(pairs=1), {"workload.iterations": 1}).points


@pytest.mark.parametrize("jobs", [0, -1])
def test_less_than_one_job_is_refused(jobs: int, small: Scenario, tmp_path: Path) -> None:
    uses: list[Callable[[], object]] = [
        lambda: contend.run(small, jobs=jobs),
        lambda: contend.sweep(small, jobs=jobs, store=tmp_path),
        lambda: contend.compare(small, small, jobs=jobs),
        lambda: contend.explain(small, jobs=jobs, speedups=False),
    ]
    for use in uses:
        with pytest.raises(contend.InputError, match="at least one job is needed"):
            use()


def test_sides_of_a_comparison_have_short_names(small: Scenario) -> None:
    section = {"machine.futex": {"wait_call": "500 ns", "wake_call": "2 us", "empty_wake_call": "250 ns"}}
    contest = contend.compare(small.with_(section), small.with_({"library.preset": "ob1-cri"}))
    assert contest.name_a.startswith('fig5_2a_base with machine.futex={"wait_call"')
    assert len(contest.name_a) < 80
    assert contest.name_b == "fig5_2a_base with library=ob1-cri"


def test_compare(small: Scenario) -> None:
    contest = contend.compare(small, small.with_({"workload.pairs": 4}), replications=3)
    row = contest.frame().row(0, named=True)
    assert row["ratio"] == pytest.approx(row["b"] / row["a"], rel=0.02)
    assert row["difference"] == pytest.approx(row["b"] - row["a"])
    assert contest.name_b == "fig5_2a_base with workload.pairs=4"
    assert contest.frame("messages_sent")["ratio"].to_list() == pytest.approx([2.0])
    with pytest.raises(contend.InputError, match="there is no measure 'mesages_sent'; did you mean 'messages_sent'"):
        contest.frame("mesages_sent")
    assert "B = fig5_2a_base with" in contest._repr_html_()
    assert re.fullmatch(r"<Comparison of fig5_2a_base with [^:]*: \d+ points?; .*>", repr(contest))
    assert contest.points[0].rate.a.samples == contend.run(small, replications=3).points[0].estimates[
        "message_rate"
    ].samples  # fmt: skip


def test_explain(small: Scenario) -> None:
    explanation = contend.explain(small)
    assert explanation.times()["share"].sum() == pytest.approx(2.0)
    locks = explanation.lock_frame()
    assert locks["wait_ns"].to_list() == sorted(locks["wait_ns"].to_list(), reverse=True)
    assert set(explanation.wait_frame().columns) == {"lock", "waiter", "holder", "time_ns"}
    waits = explanation.place_frame()
    assert set(waits.columns) == {"place", "waiter", "category", "awaited", "how", "time_ns"}
    assert explanation.awaited_frame()["time_ns"].sum() == pytest.approx(
        waits.filter(waits["awaited"] != "")["time_ns"].sum()
    )
    assert explanation.queue_frame().height > 0
    assert explanation.stage_frame()["busy"].max() < 1.0
    speedups = explanation.speedup_frame()
    assert contend.explain(small, speedups=False).speedup_frame().columns == speedups.columns
    assert speedups["removed"].drop_nulls()[0] >= 1.0
    assert "virtual speed-ups" in explanation._repr_html_()
    assert re.fullmatch(r"<Explanation of [^:]*: message_rate [\d.e+]+; longest waits at .*>", repr(explanation))
    assert explanation.draw()._repr_png_().startswith(b"\x89PNG")


def test_timeline(small: Scenario, tmp_path: Path) -> None:
    shown = contend.timeline(small, length_us=30)
    assert shown.end_us - shown.begin_us == pytest.approx(30)
    frame = shown.frame()
    assert frame["begin_us"].max() < shown.end_us
    held: dict[str, float] = {}
    for span in shown.lock_spans():
        if not span.waits:
            assert span.begin >= held.get(span.lock, 0.0) - 1e-9  # one holder at a time
            held[span.lock] = span.end
    assert held
    from contend.traces.tracing import write_trace

    write_trace(small.points[0], tmp_path / "t.json")
    again = contend.timeline(trace=tmp_path / "t.json", begin_us=shown.begin_us, length_us=30)
    assert again.frame().equals(frame)
    write_trace(small.points[0], tmp_path / "cut.json", limit_mb=0.3)
    assert "the trace ends here" in (tmp_path / "cut.json").read_text()
    assert contend.timeline(trace=tmp_path / "cut.json", length_us=30).lock_spans()
    for arguments in ({}, {"scenario": small, "trace": "t.json"}):
        with pytest.raises(contend.InputError, match="either a scenario or a trace"):
            contend.timeline(**arguments)
    with pytest.raises(contend.InputError, match="nothing happens"):
        contend.timeline(small, begin_us=1e9)


def test_quantities() -> None:
    for text, value in (("1 us", 1e-6), ("1.5 KiB", 1536.0), ("100 Gbit/s", 12.5e9), ("85ns", 85e-9)):
        quantity = parse_quantity(text)
        assert quantity is not None
        assert quantity.value == value
    for text in ("1", "us", "1 furlong", "1 us s", 5, None):
        assert parse_quantity(text) is None


@pytest.mark.core
def test_a_scheduler_that_nobody_uses_is_named() -> None:
    small = contend.load("fig5_2a_base").with_({"workload.pairs": 1, "workload.iterations": 1, "run.replications": 1})
    changed = small.with_({"machine.scheduler.tick_cost": "400 us"})
    told = "machine.scheduler.tick_cost changes nothing here: each thread has a core to itself (placement.threads)"
    assert told in contend.run(changed).notes
    assert not any("machine.scheduler" in note for note in contend.run(small).notes)
    shared = changed.with_({"placement.threads": "pinned"})
    assert not any("machine.scheduler" in note for note in contend.run(shared).notes)
