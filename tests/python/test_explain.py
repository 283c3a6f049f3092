"""`contend explain`."""

import csv
import json
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import contend
from contend.catalogs import PROFILES
from contend.cli import main
from contend.core import core
from contend.cost_groups import MECHANISMS, SECTIONS, groups_of, section_of
from contend.explanation import explain
from contend.price_bases import PriceBases, PriceBasis
from contend.scenario import Point
from contend.speedups import Effort, Findings, Speedup, _less, changes, choose_effort, coarse, find_speedups
from fakes import EXPLAIN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contend.measures import Measure
    from fakes import FakeCore

Capture = pytest.CaptureFixture[str]
BASE = "fig5_2a_base"
SMALL = {
    "run.replications": 2, "workload.iterations": 2, "workload.warmup_iterations": 1, "workload.window": 16,
    "workload.pairs": 4,
}  # fmt: skip


GROUPED = (
    BASE, "fig5_7_rma_put_haswell", "L01_locks", "ring", "fig4_wait_shared_memory_one_core", "fig4_parallel_pack",
)  # fmt: skip


@pytest.mark.core
class TestTheGroups:
    def test_every_section_with_a_cost_has_a_name(self) -> None:
        every: set[str] = set()
        for name in GROUPED:
            costs = json.loads(core().costs(contend.resolve(name).points[0].config_json))
            every |= {str(cost["path"]) for cost in costs}
        assert {section_of(path) for path in every} == {*SECTIONS, "machine."}
        assert {path for path in every if section_of(path) == "machine."} == {"machine.noise"}
        grouped = {path for paths in groups_of(sorted(every)).values() for path in paths}
        assert every - grouped == {"machine.noise"}  # alone, it is no group
        assert {path for paths in MECHANISMS.values() for path in paths} <= every

    @pytest.mark.parametrize("name", GROUPED)
    def test_what_a_short_budget_simulates_lowers_every_cost(self, name: str) -> None:
        wanted = changes(contend.resolve(name).points[0])
        kept = coarse(wanted)
        assert {path for speedup, _ in kept for path in speedup.paths} == {
            path for speedup, _ in wanted for path in speedup.paths
        }
        assert len(kept) < len(wanted) / 2
        groups = [frozenset(speedup.paths) for speedup, _ in kept]
        assert len(set(groups)) == len(groups)

    def test_the_prices_of_locks_are_a_group(self) -> None:
        locks = "locks: atomics, sleeping, spinning"
        for name in GROUPED:
            priced = json.loads(core().costs(contend.resolve(name).points[0].config_json))
            costs = [cost for cost in priced if not cost["free"]]
            groups = groups_of([str(cost["path"]) for cost in costs])
            assert {"machine.cache.atomic_hit", "machine.locks.pause"} <= set(groups[locks])
            # All that a thread may pay for sleeping and waking up is a part of it, and no transfer of lines is.
            sleeping = {str(cost["path"]) for cost in costs if section_of(cost["path"]) == "machine.futex."}
            assert sleeping <= set(groups[locks])
            assert not [path for path in groups[locks] if "transfer" in path]

    def test_locks_that_cost_half_are_among_the_speed_ups(self) -> None:
        changes = {"workload.acquisitions": 200, "workload.threads": 1, "run.replications": 2}
        point = contend.load("L01_locks").with_(changes)
        frame = contend.explain(point, progress=False).speedup_frame()
        (row,) = frame.filter(cost="locks: atomics, sleeping, spinning").rows(named=True)
        assert row["halved"] > 1.0
        assert row["removed"] > row["halved"]

    def test_one_sided_prices_are_among_the_groups(self) -> None:
        by_name = {speedup.name: speedup for speedup, _ in changes(contend.resolve(GROUPED[1]).points[0])}
        for name in ("one-sided operations at the interface", "all of the network interface", "posting work requests"):
            assert "machine.rdma.store_post" in by_name[name].paths


def _with_profile(folder: Path, **changes: str) -> contend.Scenario:
    """A scenario upon a profile of its own, of which a price is said to be known in another way."""
    _, profile = PROFILES.load("alembert")
    profile["name"] = "mine"
    profile["nic"]["doorbell"] |= changes
    (folder / "mine.json").write_text(json.dumps(profile))
    document = {
        "schema_version": 1, "name": "small",
        "machine": {"profile": str(folder / "mine.json"), "noise": "1 ns"},
        "fabric": {"latency": "1 us", "bandwidth": "100 Gbit/s"},
        "library": {"preset": "ob1-base"},
        "workload": {"kind": "multirate", "pairs": 2, "window": 8, "iterations": 1, "warmup_iterations": 0},
        "run": {"replications": 1},
    }  # fmt: skip
    (folder / "small.json").write_text(json.dumps(document))
    return contend.load(folder / "small.json")


@pytest.mark.core
class TestWhereThePricesAreKnownFrom:
    @pytest.fixture(autouse=True)
    def _own_profiles(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("CONTEND_PROFILES", str(tmp_path))
        monkeypatch.chdir(tmp_path)

    @pytest.mark.parametrize(
        ("changes", "basis", "is_uncertain"),
        [
            ({"basis": "measured", "uncertainty": "±5 %"}, "measured", False),
            ({"basis": "guess", "uncertainty": "±5 %"}, "guess", True),
            ({"basis": "calibrated", "uncertainty": "unknown"}, "calibrated", True),
            ({"basis": "calibrated", "uncertainty": "not estimated: a fit"}, "calibrated", True),
        ],
    )
    def test_a_profile_says_it(
        self, tmp_path: Path, changes: dict[str, str], basis: str, *, is_uncertain: bool
    ) -> None:
        resolved = _with_profile(tmp_path, **changes).resolved
        price = resolved.document["machine"]["nic"]["doorbell"]
        path = "machine.nic.doorbell"
        assert PriceBases(resolved).of(path, price) == PriceBasis(basis, is_uncertain)
        # The scenario with all its values, as results have it, no longer says where they are from.
        again = contend.Scenario(tmp_path / "again.json", (), json.dumps(resolved.document)).resolved
        assert PriceBases(again).of(path, price) == PriceBasis(basis, is_uncertain)
        changed = contend.load(tmp_path / "small.json").with_({path: "3 ns"}).resolved
        assert PriceBases(changed).of(path, "3 ns") == PriceBasis("command line")
        again = contend.Scenario(tmp_path / "again.json", (), json.dumps(changed.document)).resolved
        assert PriceBases(again).of(path, "3 ns") == PriceBasis("scenario")
        swept = contend.load(tmp_path / "small.json").over({path: ["3 ns", "4 ns"]}).resolved
        assert PriceBases(swept).of(path, "4 ns") == PriceBasis("sweep")

    def test_guesses_are_marked_wherever_gains_are_shown(self, tmp_path: Path, capsys: Capture) -> None:
        _with_profile(tmp_path, basis="calibrated", uncertainty="unknown")
        assert main(["explain", "small.json", "--out", "out/small", "--all"]) == 0
        shown = capsys.readouterr().out
        assert re.search(r"^ *nic\.doorbell .* calibrated † ", shown, re.MULTILINE)
        assert re.search(r"^ *software\.wait_call .* guess † ", shown, re.MULTILINE)
        assert re.search(r"^ *cache\.transfer_socket .* measured  ", shown, re.MULTILINE)
        assert re.search(r"^ *noise .* scenario  ", shown, re.MULTILINE)
        assert "a gain is no better known than its price" in " ".join(shown.split())
        written = json.loads(Path("out/small/explain.json").read_text())
        by_name = {entry["name"]: entry for entry in written["speedups"]}
        assert by_name["nic.doorbell"]["known_from"] == {"machine.nic.doorbell": "calibrated"}
        assert by_name["nic.doorbell"]["uncertain"] == ["machine.nic.doorbell"]
        assert by_name["cache.transfer_socket"]["uncertain"] == []
        assert "machine.nic.doorbell" in by_name["all of the network interface"]["uncertain"]
        assert main(["run", "small.json", "--quiet"]) == 0
        assert main(["report", "out/small"]) == 0
        page = Path("out/small/report.html").read_text()
        assert "<td>calibrated †</td>" in page
        assert "<td>guess †</td>" in page
        assert "a gain is no better known than its price" in page
        marks = dict(re.findall(r'"cost":"([^"†]*)( †)?"', page))
        assert len(marks) > 10
        assert all(bool(mark) == bool(by_name[name.strip()]["uncertain"]) for name, mark in marks.items())

    def test_the_picture_marks_them(self) -> None:
        from contend.explain_output import draw
        from contend.statistics import estimate

        explanation = contend.explain(contend.load(BASE).with_(SMALL), speedups=False)
        gain = estimate([1.1, 1.2])
        explanation.speedups = [
            Speedup("a", ("machine.a",), "1 ns", "", removed=gain, known_from={"machine.a": "guess"},
                    uncertain=("machine.a",)),
            Speedup("b", ("machine.b",), "1 ns", "", removed=gain, known_from={"machine.b": "measured"}),
        ]  # fmt: skip
        axes = draw(explanation).axes[1]
        assert [tick.get_text() for tick in axes.get_yticklabels()] == ["a †", "b"]
        assert any("no better known than its price" in text.get_text() for text in axes.texts)
        explanation.speedups = explanation.speedups[1:]
        assert not draw(explanation).axes[1].texts


@pytest.mark.core
def test_the_title_names_what_was_changed() -> None:
    from contend.explain_output import draw

    changed = contend.load(BASE).with_({**SMALL, "library.matching.engine": "list", "machine.cache.hit": "2 ns"})
    picture = draw(contend.explain(changed, speedups=False))
    title = " ".join(picture.get_suptitle().split())
    assert title.startswith(f"{BASE} iterations=2 warmup_iterations=1 window=16 pairs=4 engine=list hit=2 ns: ")
    assert "replications" not in title


@pytest.mark.core
@pytest.mark.parametrize("sharing", ["flows", "bursts"])
def test_wires_shared_as_flows_are_not_called_idle(sharing: str, tmp_path: Path, capsys: Capture) -> None:
    """A stage of 259 messages that carry megabytes was shown as 0.0 % busy, and as no limit of the rate."""
    is_counted = sharing == "bursts"
    words = ["--set", f"fabric.sharing={sharing}", "--replications", "1", "--no-speedups", "--out", str(tmp_path)]
    assert main(["explain", "partitioned/send_persistent", *words]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert (
        "no stage of the interfaces limits the rate" in shown or "this stage limits the rate" in shown
    ) == is_counted
    assert ("which no stage of the interfaces counts" in shown) == (not is_counted)
    written = json.loads((tmp_path / "explain.json").read_text())
    assert written["counts_large_transfers"] == is_counted
    assert any("flows (fabric.sharing)" in remark for remark in written["remarks"]) == (not is_counted)


@pytest.mark.core
def test_the_picture_without_speedups_has_room_for_its_legend() -> None:
    from contend.explain_output import draw
    from contend.plots import figure_bytes

    picture = draw(contend.explain(contend.load(BASE).with_(SMALL), speedups=False))
    figure_bytes(picture, ("png",))
    legend = picture.axes[0].get_legend()
    assert legend is not None
    assert len(legend.get_texts()) > 6  # two rows
    assert all(text.get_window_extent().y0 > 0 for text in legend.get_texts())


class TestTheRealCore:
    def test_at_chooses_a_point_that_no_override_can(self, tmp_path: Path, capsys: Capture) -> None:
        document = {
            "schema_version": 1, "name": "two",
            "machine": {"profile": "alembert"},
            "fabric": {"latency": "1 us", "bandwidth": "100 Gbit/s"},
            "library": {"preset": "ob1-base"},
            "workload": {"kind": "multirate", "pairs": 2, "window": 8, "iterations": 1, "warmup_iterations": 0},
            "run": {"replications": 1},
            "sweep": {"library.preset": {"as it is": {"preset": "ob1-base"}, "instances": {"preset": "ob1-cri"}}},
        }  # fmt: skip
        (tmp_path / "two.json").write_text(json.dumps(document))
        words = ["explain", str(tmp_path / "two.json"), "--no-speedups"]
        assert main(words) == 0
        shown = capsys.readouterr()
        assert "this is the last, preset=instances (--at chooses, for example --at 'preset=as it is')" in shown.err
        assert main([*words, "--at", "preset=as it is"]) == 0
        shown = capsys.readouterr()
        assert "preset=as it is" in shown.out
        assert not shown.err.startswith("contend: the sweep")
        assert main([*words, "--at", "preset=neither"]) == 2
        assert "no such point; preset is 'as it is', instances" in capsys.readouterr().err

    pytestmark = pytest.mark.core

    def test_every_cost_is_halved_and_removed_within_its_bounds(self) -> None:
        point = contend.resolve(BASE, SMALL).points[0]
        wanted = changes(point)
        names = [speedup.name for speedup, _ in wanted]
        assert len(set(names)) == len(names)
        assert {"matching.element", "nic.empty_poll", "fabric.latency", "out-of-sequence fragments"} <= set(names)
        assert "locks.backoff_minimum" not in names  # zero already
        by_name = {speedup.name: pair for speedup, pair in wanted}
        halved, removed = by_name["matching.element"]
        element = point.config["machine"]["matching"]["element"]
        assert element == "3.8 ns"
        assert halved.config["machine"]["matching"]["element"] == "1.9 ns"
        assert removed.config["machine"]["matching"]["element"] == "0 ns"
        assert removed.at_bound == ()
        _, removed = by_name["nic.empty_poll"]
        assert removed.config["machine"]["nic"]["empty_poll"] == "1 ps"
        assert removed.at_bound == ("machine.nic.empty_poll",)
        for _, pair in wanted:
            for change in pair:
                # Nothing else changes.
                for path in change.paths:
                    node, original = change.config, point.config
                    *way, key = path.split(".")
                    for step in way:
                        node, original = node[step], original[step]
                    node[key] = original[key]
                assert change.config == point.config

    def test_the_numbers_agree_with_those_of_a_run(self) -> None:
        resolved = contend.resolve(BASE, SMALL)
        explanation = explain(resolved, resolved.points[0], jobs=2, speedups=False)
        plain = contend.run(BASE, SMALL).points[0]
        assert plain.message_rate is not None
        assert explanation.rate == plain.message_rate
        assert explanation.time_by_category_ns == plain.time_by_category_ns
        lock_wait = sum(times["lock_wait"] for times in explanation.time_by_category_ns.values())
        in_locks = sum(lock["wait_ns"] + lock["release_ns"] for lock in explanation.locks)
        assert 0 < in_locks <= lock_wait * (1 + 1e-9)
        for lock in explanation.locks:
            assert sum(entry["time_ns"] for entry in lock["waits"]) == pytest.approx(lock["wait_ns"])
        waits = [lock["wait_ns"] for lock in explanation.locks]
        assert waits == sorted(waits, reverse=True)

    def test_waits_add_up_to_the_time_asleep_and_at_barriers(self) -> None:
        resolved = contend.resolve(BASE, SMALL)
        explanation = explain(resolved, resolved.points[0], jobs=2, speedups=False)
        told: dict[tuple[str, str], float] = {}
        for place in explanation.places:
            assert sum(entry["time_ns"] for entry in place["by_role"]) == pytest.approx(place["wait_ns"])
            for_threads = sum(entry["time_ns"] for entry in place["by_role"] if entry["awaited"])
            assert sum(entry["time_ns"] for entry in place["awaited"]) == pytest.approx(for_threads)
            assert sum(place["meanwhile_ns"].values()) <= for_threads * (1 + 1e-9)  # one makes progress at a time
            for entry in place["by_role"]:
                key = (entry["waiter"], entry["category"])
                told[key] = told.get(key, 0.0) + entry["time_ns"]
        for role, times in explanation.time_by_category_ns.items():
            for category in ("blocked", "barrier"):
                assert told[role, category] == pytest.approx(times[category])
            assert told[role, "poll_idle"] <= times["poll_idle"] * (1 + 1e-9)
        waits = [place["wait_ns"] for place in explanation.places]
        assert waits == sorted(waits, reverse=True)
        assert {"rank 1/others' progress", "rank 1/thread barrier", "polling"} <= {
            place["name"] for place in explanation.places
        }

    def test_a_remark_says_where_the_timed_part_is_not_all_that_counts(self) -> None:
        def remarks(name: str, overrides: dict[str, object]) -> list[str]:
            resolved = contend.resolve(name, {**overrides, "run.replications": 2})
            return explain(resolved, resolved.points[0], jobs=2, speedups=False).remarks

        assert remarks(BASE, SMALL) == []
        (remark,) = remarks("fig4_query_some_complete", {"workload.iterations": 5})
        assert remark.startswith("times, locks, queues and interfaces are of the ")

    def test_speedups_are_ratios_of_the_same_replications(self) -> None:
        resolved = contend.resolve(BASE, {**SMALL, "workload.pairs": 2})
        point = resolved.points[0]
        explanation = explain(resolved, point, jobs=2)
        effects = [entry.effect for entry in explanation.speedups]
        assert effects == sorted(effects, reverse=True)
        assert effects[0] > 0.05
        entry = next(entry for entry in explanation.speedups if entry.name == "software.send_call")
        cheaper = contend.run(BASE, {**SMALL, "workload.pairs": 2, "machine.software.send_call": "0 ns"}).points[0]
        assert cheaper.message_rate is not None
        assert entry.removed is not None
        assert entry.removed.samples == pytest.approx(
            [a / b for a, b in zip(cheaper.message_rate.samples, explanation.rate.samples, strict=True)]
        )
        # A cost that never occurs makes no difference at all: equal random numbers.
        copying = next(entry for entry in explanation.speedups if entry.name == "cache.transfer_smt")
        assert copying.removed is not None
        assert set(copying.removed.samples) == {1.0}

    def test_the_command_prints_and_writes(self, tmp_path: Path, capsys: Capture) -> None:
        words = [word for path, value in SMALL.items() for word in ("--set", f"{path}={value}")]
        folder, file = tmp_path / "out", tmp_path / "e.json"
        arguments = ["explain", BASE, *words, "--pairs", "2", "--out", str(folder), "--json", str(file), "-j", "2"]
        assert main(arguments) == 0
        output = capsys.readouterr()
        for text in ("where the time goes", "who waits for whom", "queues", "network interfaces", "virtual speed-ups"):
            assert text in output.out
        assert sorted(path.name for path in folder.iterdir()) == [
            "explain.json", "explain.png", "explain.svg", "speedups.csv",
        ]  # fmt: skip
        document = json.loads(file.read_text())
        assert document == json.loads((folder / "explain.json").read_text())
        assert document["scenario"]["workload"]["pairs"] == 2
        rows = list(csv.DictReader((folder / "speedups.csv").read_text().splitlines()))
        assert [row["name"] for row in rows] == [entry["name"] for entry in document["speedups"]]
        assert all(float(row["removed"]) > 0 for row in rows)

    def test_what_a_table_leaves_out_is_to_be_had_with_an_option(self, capsys: Capture) -> None:
        words = [word for path, value in SMALL.items() for word in ("--set", f"{path}={value}")]
        arguments = ["explain", BASE, *words, "--set", "library.instances.count=8", "--no-speedups"]
        assert main(arguments) == 0
        output = " ".join(capsys.readouterr().out.split())
        assert output.count(" more: --json FILE or --out DIR writes all") == 3  # of locks, queues and stages
        assert "explain.json" not in output

    def test_a_design_that_breaks_under_a_change_says_so(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from contend import runner
        from contend.errors import SimulationFailedError

        original = runner.CoreEngine.run_point

        def fragile(self: runner.CoreEngine, point: Point, replication: int, *, trace_hash: bool) -> str:
            if point.config["machine"]["nic"]["doorbell"] == "0 ns":
                raise SimulationFailedError("deadlock at 5 ps:\n  thread a waits")
            return original(self, point, replication, trace_hash=trace_hash)

        monkeypatch.setattr(runner.CoreEngine, "run_point", fragile)
        resolved = contend.resolve(BASE, {**SMALL, "workload.pairs": 1})
        explanation = explain(resolved, resolved.points[0], jobs=2)
        entry = next(entry for entry in explanation.speedups if entry.name == "nic.doorbell")
        assert entry.failures == {"removed": "deadlock at 5 ps:"}
        assert entry.removed is None
        assert entry.halved is not None

    def test_a_short_budget_gives_shorter_runs_and_says_so(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def at_a_second_a_run(  # whatever the machine needs for one
            point: Point,
            measure: "Measure",
            rates: "Sequence[float]",
            run_s: float,
            *,
            jobs: int,
            budget_s: float,
            **others: Any,
        ) -> Findings:
            assert run_s > 0
            return find_speedups(point, measure, rates, 1.0, jobs=jobs, budget_s=budget_s, **others)

        monkeypatch.setattr("contend.explanation.find_speedups", at_a_second_a_run)
        resolved = contend.resolve(BASE, {**SMALL, "run.replications": 6, "workload.iterations": 40})
        point = resolved.points[0]
        whole_s = 6.0 * sum(len(pair) for _, pair in changes(point))
        explanation = explain(resolved, point, jobs=1, budget_s=whole_s / 8)
        effort = explanation.effort
        assert effort is not None
        assert (effort.replications, effort.groups_only) == (3, False)
        assert effort.iterations is not None
        assert 4 <= effort.iterations < 40
        assert (
            f"3 replications of {effort.iterations} iterations in place of 6 replications of 40"
            in explanation.remarks[0]
        )
        document = explanation.to_json()
        assert document["speedups_from"]["iterations"] == effort.iterations
        # The ratios are those of runs of that length.
        short = {**SMALL, "run.replications": 3, "workload.iterations": effort.iterations}
        plain = contend.run(BASE, short).points[0].message_rate
        cheaper = contend.run(BASE, {**short, "machine.software.send_call": "0 ns"}).points[0].message_rate
        assert plain is not None
        assert cheaper is not None
        assert explanation.speedups_rate == plain
        entry = next(entry for entry in explanation.speedups if entry.name == "software.send_call")
        assert entry.removed is not None
        assert entry.removed.samples == pytest.approx(
            [a / b for a, b in zip(cheaper.samples, plain.samples, strict=True)]
        )

    def test_no_time_gives_no_speedups(self) -> None:
        resolved = contend.resolve(BASE, SMALL)
        explanation = contend.explain(contend.load(BASE).with_(SMALL), budget_s=0.0)
        assert explanation.speedups == []
        assert "left out" in explanation.remarks[0]
        assert explanation.rate == explain(resolved, resolved.points[0], jobs=2, speedups=False).rate

    @pytest.mark.parametrize("wrong", [-1.0, float("nan")])
    def test_a_time_below_none_is_refused(self, wrong: float) -> None:
        with pytest.raises(contend.InputError, match="allowed: a time in seconds from 0 on"):
            contend.explain(contend.load(BASE).with_(SMALL), budget_s=wrong)

    def test_a_simulation_that_was_stopped_is_no_failing_change(self) -> None:
        from contend.speedups import _Tolerant

        engine = _Tolerant()
        point = contend.resolve(BASE, SMALL).points[0]
        engine.stop()
        with pytest.raises(contend.SimulationFailedError, match="stopped"):
            engine.run_point(point, 0, trace_hash=False)
        engine.reset()
        assert "message_rate" in json.loads(engine.run_point(point, 0, trace_hash=False))

    def test_ctrl_c_keeps_the_speedups_that_are_complete(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Capture
    ) -> None:
        from contend.terminal import ProgressReport

        calls = []
        long = {**SMALL, "workload.iterations": 20}

        def advance(self: ProgressReport, amount: float) -> None:
            del self
            calls.append(amount)
            if len(calls) == 30:
                raise KeyboardInterrupt

        monkeypatch.setattr(ProgressReport, "advance", advance)
        words = [word for path, value in long.items() for word in ("--set", f"{path}={value}")]
        assert main(["explain", BASE, *words, "--out", str(tmp_path), "--all", "-j", "1"]) == 130
        output = capsys.readouterr()
        assert "virtual speed-ups" in output.out
        assert "note: Interrupted: " in output.out
        assert "interrupted; what had finished is above and in the files" in output.err
        document = json.loads((tmp_path / "explain.json").read_text())
        assert document["interrupted"] is True
        # Two replications of the point, then pairs of replications: 14 changes were complete, groups of costs first.
        known = [entry[name] for entry in document["speedups"] for name in ("halved", "removed") if entry[name]]
        every = sum(len(pair) for _, pair in changes(contend.resolve(BASE, long).points[0]))
        assert 14 <= len(known) < every
        assert any(entry["value"] is None for entry in document["speedups"])
        calls.clear()
        with pytest.raises(contend.InterruptedRunError) as caught:
            contend.explain(contend.load(BASE).with_(long), jobs=1)
        assert caught.value.explanation is not None
        assert caught.value.explanation.speedups
        calls[:] = [0.0] * 29  # at once
        with pytest.raises(contend.InterruptedRunError, match="nothing was explained"):
            contend.explain(contend.load(BASE).with_(long), jobs=1)


PARTITIONED: dict[str, Any] = {
    "schema_version": 1, "name": "partitions",
    "machine": {"profile": "xc40-haswell"},
    "fabric": {"latency": "1 us", "bandwidth": "100 Gbit/s"},
    "library": {"preset": "partitioned-persistent-ugni"},
    "workload": {
        "kind": "partitioned", "partitions": 4, "iterations": 2, "warmup_iterations": 0, "buffer_size": "1 MiB",
        "compute_time": "10 ms", "noise_pct": 4.0,
    },
    "run": {"replications": 2},
}  # fmt: skip


@pytest.mark.core
class TestTheMeasure:
    def test_partitions_are_explained_by_their_perceived_bandwidth(self) -> None:
        explanation = contend.explain(PARTITIONED)
        assert explanation.measure.name == "perceived_bandwidth"
        assert explanation.to_json()["perceived_bandwidth"]["unit"] == "MiB/s"
        point = contend.run(PARTITIONED).points[0]
        assert explanation.rate == point.estimates["perceived_bandwidth"]
        # Next to 10 ms of computation every price is nothing, in the perceived bandwidth it is not.
        by_rate = contend.explain(PARTITIONED, measure="message_rate")
        assert max(entry.effect for entry in explanation.speedups) > 0.05
        assert max(entry.effect for entry in by_rate.speedups) < 0.03

    def test_of_a_time_the_ratio_says_how_many_times_shorter_it_is(self, capsys: Capture, tmp_path: Path) -> None:
        path = tmp_path / "partitions.json"
        path.write_text(json.dumps(PARTITIONED))
        assert main(["explain", str(path), "--measure", "communication_time_s"]) == 0
        text = capsys.readouterr().out
        assert "the communication time if a cost were lower" in text
        assert "time without the change / time with it" in text
        explanation = contend.explain(PARTITIONED, measure="communication_time_s")
        wire = next(entry for entry in explanation.speedups if entry.name == "fabric.bandwidth")
        assert wire.halved is not None
        assert wire.halved.mean > 1.0

    def test_a_measure_that_the_workload_does_not_have(self, capsys: Capture) -> None:
        words = ["explain", BASE, "--pairs", "1", "--iterations", "1", "--replications", "1", "--measure"]
        assert main([*words, "perceived_bandwidth"]) == 2
        assert "no measure 'perceived_bandwidth' to explain" in capsys.readouterr().err
        assert main([*words, "message-rate"]) == 2
        assert "did you mean 'message_rate'" in capsys.readouterr().err


def _point(replications: int, iterations: int | None) -> Point:
    workload = {"warmup_iterations": 2} if iterations is None else {"warmup_iterations": 2, "iterations": iterations}
    return Point({}, {"workload": workload, "run": {"replications": replications}})


@pytest.mark.parametrize(
    ("replications", "iterations", "run_s", "budget_s", "wanted"),
    [
        (5, 100, 1.0, 1000.0, (5, 100, False)),  # exactly everything
        (5, 100, 1.0, math.inf, (5, 100, False)),
        (5, 100, 1.0, 800.0, (4, 100, False)),  # replications go first
        (2, 100, 1.0, 400.0, (2, 100, False)),  # two were asked for
        (5, 100, 1.0, 306.0, (3, 49, False)),  # half of 102 iterations, with the warm-up
        (5, 100, 10.0, 306.0, (3, 100, True)),  # 3 iterations tell too little
        (5, 100, 30.0, 306.0, (3, 31, True)),
        (5, 100, 3000.0, 306.0, None),
        (5, None, 1.0, 306.0, (5, None, True)),
        (5, 100, 0.0, 0.0, (5, 100, False)),
    ],
)
def test_the_effort_is_the_most_that_fits(
    replications: int,
    iterations: int | None,
    run_s: float,
    budget_s: float,
    wanted: tuple[int, int | None, bool] | None,
) -> None:
    effort = choose_effort(_point(replications, iterations), run_s, 380, 20, jobs=2, budget_s=budget_s)
    if wanted is None:
        assert effort is None
        return
    assert effort is not None
    assert (effort.replications, effort.iterations, effort.groups_only) == wanted
    assert effort.takes_s <= budget_s


@pytest.mark.parametrize(
    ("effort", "said"),
    [
        (Effort(5, 100, True, 1.0), "are of groups of costs: everything"),
        (Effort(3, 100, False, 1.0), "are from 3 replications in place of 5 replications: everything"),
        (Effort(5, 9, False, 1.0), "are from 9 iterations in place of 100: everything"),
        (
            Effort(3, 9, True, 1.0),
            "are of groups of costs, from 3 replications of 9 iterations in place of 5 replications of 100 iterations:",
        ),
    ],
)
def test_the_note_says_only_what_was_shortened(effort: Effort, said: str) -> None:
    assert said in _less(_point(5, 100), effort, 60.0, 10.0)


@pytest.mark.core
def test_a_point_of_no_sweep_is_refused(capsys: Capture) -> None:
    assert main(["explain", "fig5_2a_base", "--pairs", "20", "--at", "pairs=4"]) == 2
    message = "--at pairs=4: no such point; nothing is swept, there is one point only\n"
    assert capsys.readouterr().err == f"contend: error: {message}"


def test_the_explained_point_is_named(core: "FakeCore", scenario: Path, capsys: Capture) -> None:
    assert main(["explain", str(scenario), "--no-speedups", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    assert core.calls == 3
    assert main(["explain", str(scenario), "--no-speedups"]) == 0
    output = capsys.readouterr()
    assert "this is the last, pairs=4 lock=mcs" in output.err
    assert "receiver, for receiver 75%" in output.out


def _slow_thread(name: str, times: float, time_ns: float) -> dict[str, object]:
    return {"thread": name, "how": "arrived last", "times": times, "time_ns": time_ns}


def test_waits_of_many_threads_are_a_few_lines(
    core: "FakeCore", scenario: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    barrier = {
        "name": "rank 0/thread barrier",
        "waits": 400,
        "wait_ns": 1e6,
        "by_role": [
            {"waiter": "sender", "category": "barrier", "awaited": "sender", "how": "arrived last", "time_ns": 9e5},
            {"waiter": "sender", "category": "barrier", "awaited": "", "how": "", "time_ns": 1e5},
        ],
        "awaited": [_slow_thread("sender 7", 10, 5e5), *(_slow_thread(f"sender {i}", 1, 4e4) for i in range(8, 18))],
        "meanwhile_ns": {"blocked": 3e5, "compute": 1.5e5},
    }
    monkeypatch.setitem(EXPLAIN, "waiting_places", [*EXPLAIN["waiting_places"], barrier])
    monkeypatch.setenv("COLUMNS", "300")
    assert main(["explain", str(scenario), "--no-speedups", "--json", "e.json"]) == 0
    shown = capsys.readouterr().out
    lines = [" ".join(line.split()) for line in shown.splitlines()]
    first = next(i for i, line in enumerate(lines) if line.startswith("rank 0/thread barrier"))
    assert lines[first].endswith("sender 90% sender arrived last 50% sender 7, last in 50% 50% nobody at it")
    assert lines[first + 1 : first + 3] == ["10% nobody 4% sender 8, last in 5% 33% blocked", "36% 9 more 17% compute"]
    assert lines[first + 3].endswith("receiver 75% receiver completed requests 75% receiver 0 75% matching")
    assert lines[first + 4] == "25% nobody 25% poll idle"
    written = json.loads(Path("e.json").read_text())
    assert [place["name"] for place in written["waiting_places"]] == [
        "rank 0/thread barrier", "rank 1/others' progress",
    ]  # fmt: skip
    assert len(written["waiting_places"][0]["awaited"]) == 11  # all of them
    assert core.calls > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["explain"], "Missing argument"),
        (["explain", "smal.json"], "no scenario file"),
        (["explain", "small.json", "--pairs", "0"], "--pairs"),
        (["explain", "small.json", "--set", "nonsense"], "expected dotted.path=value"),
        (["explain", "zzz"], "the shipped ones, such as dissertation/fig5_2a_base"),
    ],
)
def test_bad_input_is_one_message_and_2(
    core: "FakeCore", scenario: Path, capsys: Capture, arguments: list[str], message: str
) -> None:
    del core, scenario
    assert main(arguments) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert message in output.err


@pytest.mark.parametrize("words", [["explain", "--no-speedups", "-o", "new/out"], ["run", "-o", "new/out"]])
def test_a_simulation_that_fails_leaves_no_folder(
    core: "FakeCore", scenario: Path, capsys: Capture, words: list[str]
) -> None:
    core.fail_at = 4
    before = sorted(scenario.parent.iterdir())
    assert main([*words, str(scenario), "--quiet"]) == 1
    assert capsys.readouterr().err
    assert sorted(scenario.parent.iterdir()) == before
