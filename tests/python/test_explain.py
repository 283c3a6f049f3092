"""`contend explain`."""

import csv
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import contend
from contend.cli import main
from contend.explanations.explanation import explain
from contend.explanations.speedups import changes
from explaining import BASE, SMALL
from fakes import EXPLAIN

if TYPE_CHECKING:
    from fakes import FakeCore

Capture = pytest.CaptureFixture[str]


@pytest.mark.core
def test_the_title_names_what_was_changed() -> None:
    from contend.explanations.output import draw

    changed = contend.load(BASE).with_({**SMALL, "library.matching.engine": "list", "machine.cache.hit": "2 ns"})
    picture = draw(contend.explain(changed, speedups=False))
    title = " ".join(picture.get_suptitle().split())
    assert title.startswith(f"{BASE} iterations=2 warmup_iterations=1 window=16 pairs=4 engine=list hit=2 ns: ")
    assert "replications" not in title


@pytest.mark.core
def test_the_picture_without_speedups_has_room_for_its_legend() -> None:
    from contend.explanations.output import draw
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
        assert element == "4.02 ns"
        assert halved.config["machine"]["matching"]["element"] == "2.01 ns"
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
        assert "virtual speed-ups of the communication time: how many times shorter if a cost were lower" in text
        assert "communication time without the change / with it, 95 % CI" in text
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


def test_one_replication_has_no_interval_and_no_plural(core: "FakeCore", scenario: Path, capsys: Capture) -> None:
    del core
    words = ["explain", str(scenario), "--no-speedups", "--replications"]
    assert main([*words, "1"]) == 0
    assert " k messages/s, 1 replication\n" in capsys.readouterr().out
    assert main([*words, "2"]) == 0
    assert re.search(r" k messages/s ± .* \(.*%\), 2 replications\n", capsys.readouterr().out)
    html = contend.explain(contend.load(scenario), replications=1, speedups=False)._repr_html_()
    assert " k messages/s<br>where" in html


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
