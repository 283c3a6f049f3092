"""`contend run --trace` and `contend trace-plot`."""

import contextlib
import errno
import itertools
import json
import math
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import contend
from contend.cli import main
from contend.common import files
from contend.traces.picture import LENGTH_US, draw, load, stretch
from contend.traces.timelines import busiest_begin
from fakes import ctrl_c_when
from trace_format import check, read, slices_of

if TYPE_CHECKING:
    from fakes import FakeCore

Capture = pytest.CaptureFixture[str]
BASE = "fig5_2a_base"
SMALL = {"workload.iterations": 2, "workload.warmup_iterations": 1, "workload.window": 16, "workload.pairs": 4}

WINDOW = ["--set", "workload.window=16"]

DESIGNS: dict[str, dict[str, object]] = {
    "base": {},
    "one pair": {"workload.pairs": 1},
    "dedicated instances": {"library.instances.count": 4, "library.instances.assignment": "dedicated"},
    "serial progress, mcs": {"library.progress.engine": "serial-blocking", "library.progress.lock": "mcs"},
    "try-lock": {"library.progress.engine": "serial-try-lock", "library.instances.lock": "ttas"},
    "overtaking": {"workload.allow_overtaking": True, "workload.any_tag": True},
    "processes": {"workload.mode": "process", "workload.message_size": "1 KiB"},
    "scarce queues": {"machine.nic.send_queue_depth": 8, "machine.nic.send_completion_batch": 4},
    "free interface": {"machine.nic.nic_gap": "0 ns", "machine.nic.context_gap": "0 ns", "machine.nic.post": "0 ns"},
}


def options(overrides: dict[str, object]) -> list[str]:
    values = {**SMALL, **overrides}
    return [word for path, value in values.items() for word in ("--set", f"{path}={json.dumps(value)}")]


class TestFormat:
    pytestmark = pytest.mark.core

    @pytest.mark.parametrize("design", DESIGNS)
    def test_traces_are_valid_and_complete(self, design: str, tmp_path: Path, capsys: Capture) -> None:
        file = tmp_path / "trace.json"
        assert main(["run", BASE, "--trace", str(file), "--json", *options(DESIGNS[design])]) == 0
        summary = json.loads(capsys.readouterr().out)
        document = read(file)
        by_phase = check(document)
        assert summary["bytes"] == file.stat().st_size
        assert summary["events"] == len(document["traceEvents"])
        assert summary["complete"] is True
        counters = summary["result"]["counters"]
        # Every message of the workload has its arrow; those of barriers have one, too.
        assert len(by_phase["s"]) == len(by_phase["f"]) == summary["messages"]
        assert summary["messages"] >= counters["messages_received"]
        names = {event["name"] for event in by_phase["X"]}
        assert {"MPI_Isend", "MPI_Irecv", "MPI_Waitall", "progress", "deliver", "lock_wait", "lock_release"} <= names
        # Handing over the ownership of progress is charged to lock_wait too, but waits for no lock.
        waits = [e for e in by_phase["X"] if e["name"] == "lock_wait" and "args" in e]
        assert waits
        assert all(event["args"]["lock"].startswith("rank ") for event in waits)
        assert any("holder" in event["args"] for event in waits) != (design in ("one pair", "processes"))
        lengths = {event["name"] for event in by_phase["C"]}
        assert any(name.endswith("/posted") for name in lengths)
        assert any(name.endswith("/completions") for name in lengths)
        if counters["out_of_sequence"]:
            assert "out of sequence" in lengths
        if counters["delayed_sends"]:
            assert "delayed sends" in lengths

    @pytest.mark.parametrize("size", ["8 B", "32 KiB"])
    @pytest.mark.parametrize("preset", ["ob1-tcp", "ob1-shared-memory", "mpich-shared-memory"])
    def test_messages_without_an_interface_are_followed(
        self, preset: str, size: str, tmp_path: Path, capsys: Capture
    ) -> None:
        scenario, file = tmp_path / "scenario.json", tmp_path / "trace.json"
        design = {
            "schema_version": 1,
            "name": "no interface",
            "machine": {"profile": "vm-2core"},
            "fabric": {"latency": "1 us", "bandwidth": "10 GB/s"},
            "placement": {"hosts": 1, "threads": "floating"},
            "library": {"preset": preset},
            "workload": {"kind": "multirate", "message_size": size, "window": 16, "iterations": 2, "pairs": 1},
        }
        scenario.write_text(json.dumps(design))
        assert main(["run", str(scenario), "--trace", str(file), "--json"]) == 0
        summary = json.loads(capsys.readouterr().out)
        by_phase = check(read(file))
        assert len(by_phase["s"]) == len(by_phase["f"]) == summary["messages"]
        assert summary["messages"] >= summary["result"]["counters"]["messages_received"] > 0
        incoming = [event for event in by_phase["C"] if event["name"].endswith("/incoming")]
        assert max(event["args"]["length"] for event in incoming) > 0

    def test_calls_of_coroutines_are_said_not_to_be_traced(self, tmp_path: Path, capsys: Capture) -> None:
        path = tmp_path / "trace.json"
        point = ["--at", "processes_per_os_process=16", "--set", "workload.iterations=2"]
        assert main(["run", "fine-grain/ring", "--trace", str(path), *point]) == 0
        said = capsys.readouterr().out
        assert "messages, " not in said
        assert "their calls and messages are not traced" in said
        events = json.loads(path.read_text())["traceEvents"]
        tracks = {event["args"]["name"] for event in events if event["name"] == "thread_name"}
        assert tracks == {"OS process 0"}

    @pytest.mark.parametrize(
        ("operation", "synchronisation", "calls"),
        [
            ("put", "flush", {"MPI_Put", "MPI_Win_flush", "MPI_Win_lock", "MPI_Win_unlock"}),
            ("get", "lock-all", {"MPI_Get", "MPI_Win_lock_all", "MPI_Win_unlock_all"}),
            ("accumulate", "flush-all", {"MPI_Accumulate", "MPI_Win_flush_all"}),
            ("fetch-and-op", "fence", {"MPI_Fetch_and_op", "MPI_Win_fence", "MPI_Barrier"}),
        ],
    )
    def test_one_sided_operations_are_followed(
        self, operation: str, synchronisation: str, calls: set[str], tmp_path: Path, capsys: Capture
    ) -> None:
        file = tmp_path / "trace.json"
        values: dict[str, object] = {
            "workload.operation": operation,
            "workload.synchronisation": synchronisation,
            "workload.threads": 3,
            "workload.message_size": "8 B",
            "workload.operations": 20,
        }
        words = [word for path, value in values.items() for word in ("--set", f"{path}={json.dumps(value)}")]
        assert main(["run", "fig5_7_rma_put_haswell", "--trace", str(file), "--json", *words]) == 0
        summary = json.loads(capsys.readouterr().out)
        by_phase = check(read(file))
        assert calls <= {event["name"] for event in by_phase["X"]}
        # Each operation has an arrow: from the thread over both interfaces to the thread that takes its completion.
        operations = summary["result"]["counters"]["one_sided_completed"]
        assert operations >= 3 * 20 * 2
        assert len(by_phase["s"]) == len(by_phase["f"]) == summary["messages"] >= operations
        assert len(by_phase["t"]) >= 2 * operations

    def test_slices_of_a_thread_add_up_to_its_life(self, tmp_path: Path, capsys: Capture) -> None:
        file = tmp_path / "trace.json"
        assert main(["run", BASE, "--trace", str(file), *options({})]) == 0
        capsys.readouterr()
        document = read(file)
        threads = {
            event["tid"]
            for event in document["traceEvents"]
            if event["ph"] == "M" and event["name"] == "thread_name" and event["args"]["name"].startswith("receiver")
        }
        assert len(threads) == SMALL["workload.pairs"]
        for thread, slices in slices_of([e for e in document["traceEvents"] if e["ph"] == "X"]).items():
            if thread in threads:
                end = max(event["ts"] + event["dur"] for event in slices)
                covered, until = 0, 0
                for event in slices:
                    covered += max(0, event["ts"] + event["dur"] - max(until, event["ts"]))
                    until = max(until, event["ts"] + event["dur"])
                assert covered >= 0.999 * end

    def test_a_lock_has_one_holder_at_a_time(self, tmp_path: Path, capsys: Capture) -> None:
        file = tmp_path / "trace.json"
        assert main(["run", BASE, "--trace", str(file), *options({})]) == 0
        capsys.readouterr()
        document = read(file)
        locks = {
            e["pid"] for e in document["traceEvents"] if e["name"] == "process_name" and e["args"]["name"] == "locks"
        }
        holds = slices_of([e for e in document["traceEvents"] if e["ph"] == "X" and e["pid"] in locks])
        assert holds
        for track in holds.values():
            for hold, following in itertools.pairwise(track):
                assert hold["ts"] + hold["dur"] <= following["ts"]

    def test_the_same_bytes_every_time(self, tmp_path: Path, capsys: Capture) -> None:
        one, two = tmp_path / "one.json", tmp_path / "two.json"
        for file in (one, two):
            assert main(["run", BASE, "--trace", str(file), *options({})]) == 0
        capsys.readouterr()
        assert one.read_bytes() == two.read_bytes()

    def test_the_limit_ends_it_cleanly(self, tmp_path: Path, capsys: Capture) -> None:
        file = tmp_path / "trace.json"
        assert main(["run", BASE, "--trace", str(file), "--trace-limit", "0.2", *options({})]) == 0
        assert "it ends at its limit" in capsys.readouterr().out
        document = read(file)
        check(document)
        assert file.stat().st_size < 220_000
        assert document["otherData"]["complete"] is False
        assert "size limit" in document["traceEvents"][-1]["name"]

    @pytest.mark.parametrize("limit", ["inf", "1e30"])
    def test_a_limit_that_nothing_reaches(self, limit: str, tmp_path: Path, capsys: Capture) -> None:
        file = tmp_path / "trace.json"
        assert main(["run", BASE, "--trace", str(file), "--trace-limit", limit, "--json", *options({})]) == 0
        assert json.loads(capsys.readouterr().out)["complete"] is True

    @pytest.mark.parametrize("limit", [0.0, -1.0, math.nan])
    def test_a_limit_that_leaves_nothing(self, limit: float) -> None:
        with pytest.raises(contend.InputError, match="allowed: a limit above 0"):
            contend.timeline(BASE, limit_mb=limit)

    def test_the_result_is_that_of_a_run_without_a_trace(self, tmp_path: Path, capsys: Capture) -> None:
        assert main(["run", BASE, "--trace", str(tmp_path / "t.json"), "--json", *options({})]) == 0
        traced = json.loads(capsys.readouterr().out)["result"]
        plain = contend.run(BASE, {**SMALL, "run.replications": 1}).points[0]
        assert plain.message_rate is not None
        assert traced["message_rate"] == plain.message_rate.mean
        assert traced["events"] == plain.events

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
    def test_a_full_disk_is_one_message(self, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(files._Staged, "path", Path("/dev/full"))
        assert main(["run", BASE, "--trace", str(tmp_path / "t.json"), *options({})]) == 1
        assert "no space left" in capsys.readouterr().err
        assert list(tmp_path.iterdir()) == []


def sizes_of_open_files(folder: Path) -> list[int]:
    """Bytes of the files in a folder that this process has open, those without a name too."""
    sizes = []
    for link in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            if str(link.readlink()).startswith(str(folder)):
                sizes.append(link.stat().st_size)
    return sizes


class TestPicture:
    pytestmark = pytest.mark.core

    def test_a_stretch_ends_with_the_trace(self) -> None:
        def event(begin: float, duration: float) -> dict[str, object]:
            return {"ph": "X", "name": "software", "pid": 1, "tid": 1, "ts": begin, "dur": duration}

        thread = {"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": "sender 0"}}
        document = {"traceEvents": [thread, event(1.0, 2.0), event(3.0, 1.5)]}
        assert stretch(document, 0.0, None).end == 4.5
        assert stretch(document, 0.0, 50.0).end == 4.5
        assert stretch(document, 0.0, 4.0).end == 4.0
        assert stretch(document, 10.0, None).end == 10.0 + LENGTH_US  # nothing happens there
        assert draw(stretch(document, 0.0, None)).axes[0].get_xlim() == (0.0, 4.5)

    def test_the_title_names_the_point(self, tmp_path: Path) -> None:
        file = tmp_path / "trace.json"
        assert main(["run", "fig5_2a", "--trace", str(file), "--at", "pairs=2", "--at", "instances=1", *WINDOW]) == 0
        assert load(file)["otherData"]["title"] == (
            "fig5_2a with window=16, pairs=2 instances=1 assignment=dedicated, replication 0"
        )

    def test_the_title_names_what_was_changed(self, tmp_path: Path) -> None:
        file = tmp_path / "trace.json"
        changes = ["--set", "workload.pairs=2", "--iterations", "1", *WINDOW]
        assert main(["run", BASE, "--trace", str(file), *changes]) == 0
        title = load(file)["otherData"]["title"]
        assert title == f"{BASE} with pairs=2, window=16, iterations=1, replication 0"
        timeline = contend.timeline(contend.load(BASE).with_({"workload.pairs": 2, "workload.iterations": 1}))
        assert timeline.shown.title == f"{BASE} with pairs=2, iterations=1, replication 0"

    def test_ctrl_c_ends_it_soon_and_keeps_what_there_is(self, tmp_path: Path, capsys: Capture) -> None:
        def something_is_written() -> None:
            """The file has no name before it is whole."""
            deadline = time.monotonic() + 30  # a trace without limit would fill the disk
            while time.monotonic() < deadline and not any(size > 100_000 for size in sizes_of_open_files(tmp_path)):
                time.sleep(0.01)

        file = tmp_path / "trace.json"
        with ctrl_c_when(something_is_written):
            arguments = ["--trace-limit", "inf", "--iterations", "1000000", "--set", "workload.pairs=2"]
            assert main(["run", BASE, "--trace", str(file), *arguments]) == 130
        assert f"interrupted; the trace until there is in {file}" in capsys.readouterr().err
        document = read(file)
        assert document["otherData"]["complete"] is False
        assert any(event["name"] == "the trace ends here: the run ended early" for event in document["traceEvents"])
        assert any(event["ph"] == "X" for event in document["traceEvents"])

    def test_a_stretch_is_drawn(self, tmp_path: Path, capsys: Capture) -> None:
        file = tmp_path / "trace.json"
        assert main(["run", BASE, "--trace", str(file), *options({})]) == 0
        for kind, magic in (("png", b"\x89PNG"), ("svg", b"<?xml")):
            picture = tmp_path / f"picture.{kind}"
            assert main(["trace-plot", str(file), "--from", "100", "--to", "180", "--out", str(picture)]) == 0
            assert picture.read_bytes().startswith(magic)
        start = busiest_begin(load(file), LENGTH_US)
        in_ms = ["--from", "0.1 ms", "--to", "180us"]
        assert main(["trace-plot", str(file), *in_ms, "--out", str(tmp_path / "again.png")]) == 0
        assert (tmp_path / "again.png").read_bytes() == (tmp_path / "picture.png").read_bytes()
        assert main(["trace-plot", str(file)]) == 0
        assert main(["trace-plot", str(file), "--out", str(tmp_path / "a.png")]) == 0
        assert (tmp_path / "a.png").read_bytes() == (tmp_path / "trace.png").read_bytes()
        assert main(["trace-plot", str(file), "--from", str(start), "--out", str(tmp_path / "b.png")]) == 0
        assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
        assert start > 0
        shown = stretch(load(file), 100, 180)
        assert {track.name for track in shown.tracks if track.slices} >= {"sender 0", "receiver 0"}
        assert any(entry.level > 1 for track in shown.tracks for entry in track.slices)
        flows = [line for line in draw(shown).axes[0].lines if line.get_zorder() == 4]
        assert flows
        for line in flows:  # whole within the stretch, or a stub at its end that is inside
            (begin, end) = line.get_xdata()
            assert (begin >= 100 and end <= 180) or end - begin < 0.5
        capsys.readouterr()
        assert main(["trace-plot", str(file), "--from", "1234567.25", "--out", str(tmp_path / "p.png")]) == 2
        complaint = capsys.readouterr().err
        assert "nothing happens from 1234567.25 us to 1234667.25 us; the trace ends at " in complaint


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "small.json", "--trace", "t.json", "--engine", "simgrid"], "--trace excludes"),
        (["run", "small.json", "--trace", "t.json", "--out", "here"], "--trace excludes --out"),
        (["run", "small.json", "--trace", "t.json", "--print-resolved"], "--print-resolved excludes --trace"),
        (["run", "small.json", "--trace", "t.json", "--check-determinism"], "--check-determinism excludes --trace"),
        (["run", ".", "--trace", "t.json"], "is a folder; --trace wants a single scenario"),
        (["run", "small.json", "--trace-limit", "5"], "goes with --trace"),
        (["run", "small.json", "--print-resolved", "--at", "pairs=1"], "--at goes with --trace"),
        (["run", "small.json", "--trace", "t.json", "--trace-limit", "0"], "--trace-limit"),
        (["trace-plot", "small.json"], "not a trace"),
        (["trace-plot", "small.json", "--out", "p.gif"], "a .png or a .svg"),
        (["trace-plot", "small.json", "--from", "5", "--to", "5"], "--to 5 us is not after --from 5 us"),
        (["trace-plot", "small.json", "--from", "5 kB"], "--from 5 kB: not a time"),
        (["trace-plot", "small.json", "--to=-5"], "--to -5: not a time"),
        (["trace-plot", "picture.png"], "the picture would replace the trace"),
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


THREAD = {"ph": "M", "name": "thread_name", "pid": 1, "tid": 3, "args": {"name": "sender 0"}}
SLICE = {"ph": "X", "name": "compute", "pid": 1, "tid": 3, "ts": 0.0, "dur": 2.5}


@pytest.mark.parametrize(
    ("event", "message"),
    [
        ({}, "/traceEvents/1: an event without 'ph'"),
        (5, "/traceEvents/1: an event that is no object"),
        ({"ph": "X"}, "/traceEvents/1: an event of phase 'X' with no 'name'"),
        (SLICE | {"dur": "long"}, "an event of phase 'X' with 'dur' of another kind"),
        (SLICE | {"args": 1}, "an event of phase 'X' with 'args' of another kind"),
        (SLICE | {"tid": 7}, "/traceEvents/1: an event of the thread 7, which has no thread_name"),
        ({"ph": "C", "name": "n", "pid": 1, "ts": 0, "args": {}}, "an event of phase 'C' with no 'length'"),
        ({"ph": "M", "name": "process_name", "pid": 1, "args": {}}, "an event of phase 'M' with no 'name'"),
        ({"ph": "M", "name": "thread_name", "pid": 1, "args": {"name": "a"}}, "an event of phase 'M' with no 'tid'"),
        ({"ph": "b"}, "an event of phase 'b' with no 'ts'"),
    ],
)
def test_what_a_trace_lacks_is_told_in_words(event: object, message: str, tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "trace.json"
    file.write_text(json.dumps({"traceEvents": [THREAD, event]}))
    assert main(["trace-plot", str(file), "--out", str(tmp_path / "p.svg")]) == 2
    complaint = capsys.readouterr().err
    assert complaint.startswith(f"contend: error: {file}: not a trace that contend wrote: /traceEvents/1: an event")
    assert message in complaint


@pytest.mark.parametrize("words", [[], ["--only", "sender 0"], ["--from", "5", "--to", "6"]])
def test_a_trace_without_events_is_said_to_have_none(words: list[str], tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "trace.json"
    file.write_text(json.dumps({"traceEvents": []}))
    assert main(["trace-plot", str(file), *words]) == 2
    message = "the trace holds no events of threads, locks or network interfaces"
    assert capsys.readouterr().err == f"contend: error: {message}\n"
    assert list(tmp_path.iterdir()) == [file]


def test_a_trace_with_the_least_that_there_must_be_is_drawn(tmp_path: Path) -> None:
    file = tmp_path / "trace.json"
    file.write_text(json.dumps({"traceEvents": [THREAD, SLICE]}))
    assert main(["trace-plot", str(file), "--out", str(tmp_path / "p.svg")]) == 0
    file.write_text(json.dumps({"traceEvents": [THREAD, SLICE], "otherData": []}))
    assert main(["trace-plot", str(file), "--out", str(tmp_path / "p.svg")]) == 2


def test_the_traced_point_is_named(core: "FakeCore", scenario: Path, capsys: Capture) -> None:
    assert main(["run", str(scenario), "--trace", "t.json"]) == 0
    output = capsys.readouterr()
    assert "the sweep has 6 points; this is the last, pairs=4 lock=mcs" in output.err
    assert core.calls == 1
    assert json.loads(Path("t.json").read_text())["traceEvents"] == []


def test_nothing_is_left_of_a_trace_that_cannot_be_written(
    core: "FakeCore", scenario: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> str:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(core, "run_point", full)
    assert main(["run", str(scenario), "--trace", "t.json"]) == 1
    assert "cannot write t.json: no space left" in capsys.readouterr().err
    assert [path.name for path in Path().iterdir()] == ["small.json"]
    assert main(["run", str(scenario), "--trace", "new/folder/t.json"]) == 1
    assert "no space left" in capsys.readouterr().err
    assert [path.name for path in Path().iterdir()] == ["small.json"]


def test_folders_of_traces_and_pictures_are_made(core: "FakeCore", scenario: Path) -> None:
    core.trace = {"traceEvents": [THREAD, SLICE]}
    assert main(["run", str(scenario), "--trace", "new/folder/t.json"]) == 0
    assert main(["trace-plot", "new/folder/t.json", "--out", "another/p.svg"]) == 0
    assert Path("another/p.svg").is_file()


def test_folders_of_a_trace_that_is_not_written_are_taken_away(core: "FakeCore", scenario: Path) -> None:
    assert main(["run", str(scenario), "--trace", "new/folder/t.json", "--at", "pairs=99"]) == 2
    assert not Path("new").exists()
    assert core.calls == 0


def test_a_failed_run_keeps_its_trace(core: "FakeCore", scenario: Path, capsys: Capture) -> None:
    core.fail_at = 4
    assert main(["run", str(scenario), "--trace", "t.json"]) == 1
    error = capsys.readouterr().err
    assert "deadlock" in error
    assert "the trace until there is in t.json" in error
    assert Path("t.json").exists()
