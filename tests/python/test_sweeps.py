"""Sweeps: resuming, failures, clusters, the command."""

import dataclasses
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import contend
from contend.cli import main
from contend.clusters import Cluster
from contend.errors import InputError, InterruptedRunError
from contend.scenario import Point
from contend.store import ResultStore, count_stored
from contend.sweep_tasks import Failed
from contend.sweeps import Sweep, SweepResults
from sweeping import BASE, GRID, SMALL, same

pytestmark = pytest.mark.core


def test_a_failing_point_does_not_stop_the_others(small: contend.Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    from contend.errors import SimulationFailedError
    from contend.runner import CoreEngine

    run = CoreEngine.run_point

    def fail(self: CoreEngine, point: Point, replication: int, *, trace_hash: bool) -> str:
        if point.config["workload"]["pairs"] == 2:
            raise SimulationFailedError("deadlock: nobody moves")
        return run(self, point, replication, trace_hash=trace_hash)

    with monkeypatch.context() as patch:
        patch.setattr(CoreEngine, "run_point", fail)
        swept = contend.sweep(small, GRID)
    assert len(swept.points) == 4
    assert [failure.parameters["pairs"] for failure in swept.failures] == [2, 2]
    assert "deadlock" in swept.failure_frame()["message"][0]
    assert contend.sweep(small, GRID).simulated == 4


def test_a_value_twice_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", "fig5_2a_base", "--grid", "workload.pairs=1,2,1"]) == 2
    assert "workload.pairs: found 1 again; allowed: each value once" in capsys.readouterr().err


def test_a_change_of_the_library_is_made_in_every_preset(tmp_path: Path) -> None:
    rates = {}
    for lock in ("mcs", "ttas"):
        changes = [
            "--set",
            f"library.matching.lock={lock}",
            "--set",
            "workload.pairs=20",
            "--set",
            "workload.iterations=1",
        ]
        words = [*changes, "--replications", "1", "--store", str(tmp_path / "store"), "-q", "-o", str(tmp_path / lock)]
        assert main(["sweep", "fig5_2a_base", "--grid", "library.preset=ob1-base,ob1-cri", *words]) == 0
        rates[lock] = contend.load_results(tmp_path / lock).frame()["message_rate"].to_list()
    assert all(mcs != ttas for mcs, ttas in zip(rates["mcs"], rates["ttas"], strict=True))


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_what_a_failed_point_says_does_not_depend_on_who_ends_first(
    small: contend.Scenario, order: tuple[int, int], tmp_path: Path
) -> None:
    part = Sweep(small, {"workload.pairs": [1]}, ResultStore(tmp_path), skip_invalid=False, share=None)
    for number in order:
        part.take(part.tasks[number], Failed(f"deadlock of replication {part.tasks[number].replication}"))
    assert part.results().failures[0].message == "deadlock of replication 0"


def test_parts_of_a_sweep(small: contend.Scenario) -> None:
    parts = [contend.sweep(small, GRID, share=(index, 4)) for index in range(4)]
    assert [part.simulated for part in parts] == [4, 4, 2, 2]
    whole = contend.sweep(small, GRID)
    assert (whole.simulated, whole.reused) == (0, 12)
    last = contend.sweep(small, GRID, share=(np.int64(3), np.int64(4)))
    assert last.points == parts[3].points


@pytest.mark.parametrize(
    "share", [(4, 4), (-1, 4), (0, 0), (0, 1, 2), (0,), 3, "02", ("0", 2), (0, 2.0), (None, 2), [], object()]
)
def test_what_is_no_part_of_a_sweep(small: contend.Scenario, share: Any) -> None:
    with pytest.raises(contend.InputError, match=rf"^share={re.escape(repr(share))}: allowed: two whole numbers"):
        contend.sweep(small, GRID, share=share)


def command(*words: str, environment: dict[str, str] | None = None) -> subprocess.Popen[str]:
    package = Path(contend.__file__).parents[1]
    paths = os.pathsep.join([str(package), *(p for p in sys.path if p and Path(p, "contend").is_dir())])
    # A shell starts background jobs with Ctrl-C ignored, nohup with SIGHUP, and their children inherit that.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    hangup = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    try:
        return subprocess.Popen(
            [sys.executable, "-m", "contend", "sweep", *words],
            env={**os.environ, "PYTHONPATH": paths, **(environment or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
    finally:
        signal.signal(signal.SIGINT, before)
        signal.signal(signal.SIGHUP, hangup)


LONG = [
    BASE, "--grid", "workload.pairs=1..4", "--grid", "workload.window=16..30", "--set", "workload.iterations=60",
    "--replications", "2", "--json",
]  # fmt: skip
LONG_RUNS = 4 * 15 * 2


def test_killed_in_the_middle(tmp_path: Path) -> None:
    """kill -9, the same command again: nothing that was finished is simulated again, and the results are the same."""
    interrupted, whole = tmp_path / "interrupted", tmp_path / "whole"
    arguments = [*LONG, "--store", str(interrupted), "--out", str(tmp_path / "out"), "-j", "2"]
    process = command(*arguments)
    try:
        deadline = time.monotonic() + 60
        while count_stored(interrupted) < LONG_RUNS // 5:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.005)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    kept = count_stored(interrupted)
    assert LONG_RUNS // 5 <= kept < LONG_RUNS
    assert not (tmp_path / "out" / "results.parquet").exists()

    again = command(*arguments)
    output, messages = again.communicate(timeout=120)
    assert again.returncode == 0, messages
    manifest = json.loads(output)
    assert (manifest["reused"], manifest["simulated"], manifest["damaged"]) == (kept, LONG_RUNS - kept, 0)

    other = command(*LONG, "--store", str(whole), "--out", str(tmp_path / "other"), "-j", "1")
    output, messages = other.communicate(timeout=120)
    assert json.loads(output)["simulated"] == LONG_RUNS, messages
    frames = [
        pl.read_parquet(tmp_path / name / "results.parquet").drop("wall_s", "events") for name in ("out", "other")
    ]
    assert frames[0].equals(frames[1])
    assert frames[0].height == 60
    samples = [pl.read_parquet(tmp_path / name / "samples.parquet") for name in ("out", "other")]
    assert samples[0].equals(samples[1])


@pytest.mark.parametrize(
    ("sent", "signals", "code"),
    [(signal.SIGINT, 1, 130), (signal.SIGINT, 4, 130), (signal.SIGTERM, 1, 143), (signal.SIGHUP, 1, 129)],
)
def test_interrupted(sent: signal.Signals, signals: int, code: int, tmp_path: Path) -> None:
    """Ctrl-C: what had finished is written and kept, the exit code says so, and the same command goes on.

    A key that is held down, or a launcher that passes Ctrl-C on, makes several signals of one press. A batch system
    that takes its machine back sends another signal, and a terminal that is closed a third.
    """
    arguments = [*LONG, "--set", "workload.iterations=400", "--store", str(tmp_path / "store"), "--out", str(tmp_path)]
    process = command(*arguments)
    deadline = time.monotonic() + 60
    while count_stored(tmp_path / "store") < 10:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.005)
    for _ in range(signals):
        process.send_signal(sent)
        time.sleep(0.02)
    output, messages = process.communicate(timeout=50)
    assert process.returncode == code, messages
    assert "the same sweep goes on from there" in messages
    manifest = json.loads(output)
    assert manifest["interrupted"] is True
    assert 10 <= manifest["simulated"] < LONG_RUNS
    assert pl.read_parquet(tmp_path / "results.parquet").height == manifest["points"] > 0


def test_without_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> Path:
        raise RuntimeError("Could not determine home directory.")

    for name in ("CONTEND_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", nobody)
    with pytest.raises(contend.InputError, match="no home folder to keep results in: set CONTEND_CACHE"):
        contend.sweep(BASE, {"workload.pairs": [1]})


class TestCommand:
    def run(self, *words: str) -> int:
        swept = {word.partition("=")[0] for word in words} | (
            {"workload.pairs", "workload.window"} if "--list" in words else set()
        )
        fixed = [f"--set={path}={value}" for path, value in SMALL.items() if path not in swept]
        return main(["sweep", BASE, *fixed, *words])

    def test_of_many_points_the_first_are_printed(
        self,
        small: contend.Scenario,
        tmp_path: Path,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        del small
        monkeypatch.setattr("contend.cli.sweep._MOST_ROWS_SHOWN", 2)
        for values, said in (("1..2", ""), ("1..3", "1 more point; all 3 are in results.parquet"),
                             ("1..4", "2 more points; all 4 are in results.parquet")):  # fmt: skip
            assert self.run("--grid", f"workload.pairs={values}", "--out", str(tmp_path)) == 0
            shown = capsys.readouterr().out
            assert re.findall(r"^ *(\d+) .* s *$", shown, re.MULTILINE) == ["1", "2"]
            assert said in shown
            assert ("more point" in shown) == bool(said)

    def test_results_of_another_sweep_are_not_replaced_without_a_word(
        self, small: contend.Scenario, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        del small
        replaced = f"contend: replaced results of other settings in {tmp_path / 's'}\n"
        for values, said in (("1,2", ""), ("1,2", ""), ("3,4", replaced)):
            assert self.run("--grid", f"workload.pairs={values}", "--out", str(tmp_path / "s")) == 0
            assert [line for line in capsys.readouterr().err.splitlines(keepends=True) if "replaced" in line] == (
                [said] if said else []
            )

    def test_ctrl_c_leaves_complete_results_alone(
        self,
        small: contend.Scenario,
        tmp_path: Path,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        whole = contend.sweep(small, GRID)
        part = dataclasses.replace(whole, points=whole.points[:1], interrupted=True)

        def interrupted(*_: object, **__: object) -> SweepResults:
            raise InterruptedRunError("interrupted", results=part)

        folder = tmp_path / "out"
        grid = ["--grid", "workload.pairs=1,2", "--out", str(folder)]
        with monkeypatch.context() as patch:
            patch.setattr("contend.sweeps.sweep", interrupted)
            assert self.run(*grid) == 130
        assert not (folder / "interrupted").exists(), "there was nothing to leave alone"
        assert self.run(*grid) == 0
        monkeypatch.setattr("contend.sweeps.sweep", interrupted)
        for kept in ("results.json", "sweep.json"):  # a sweep of many points has no results.json
            files = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
            capsys.readouterr()
            assert self.run(*grid, "--json") == 130
            output = capsys.readouterr()
            assert f"is in {folder}/interrupted: {folder} has complete results of an earlier run" in output.err
            assert "replaced" not in output.err
            assert set(json.loads(output.out)["files"]) >= {f"{folder}/interrupted/{kept}"}
            assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == files
            assert contend.load_results(folder / "interrupted").interrupted
            (folder / "results.json").unlink(missing_ok=True)

    def test_writes_and_says_what_it_did(
        self, small: contend.Scenario, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        del small
        grid = ["--grid", "workload.pairs=1..3:2", "--grid", "library.preset=ob1-base,ob1-cri", "--out", str(tmp_path)]
        assert self.run(*grid) == 0
        shown = capsys.readouterr().out
        assert "4 points; 8 simulations done, 0 were there already" in shown
        assert "messages/s" in shown
        assert sum("ob1-cri" in line for line in shown.splitlines()) == 2  # a row for each point
        names = {path.name for path in tmp_path.iterdir() if path.is_file()}
        assert names >= {"results.parquet", "samples.parquet", "sweep.json", "results.json", "results.csv", "plot.svg"}
        frame = pl.read_parquet(tmp_path / "results.parquet")
        assert frame["pairs"].to_list() == [1, 1, 3, 3]
        assert json.loads(pl.read_parquet_metadata(tmp_path / "results.parquet")["contend.units"])["message_rate"]
        assert contend.load_results(tmp_path).frame().equals(frame)
        # sweep.json holds a scenario that gives the same points.
        document = json.loads((tmp_path / "sweep.json").read_text())["scenario"]
        assert [point.parameters for point in contend.load(document).points] == [
            point.parameters for point in contend.load_results(tmp_path).points
        ]

    def test_samples_and_lists(self, small: contend.Scenario, tmp_path: Path) -> None:
        del small
        cube = ["--sample", "workload.pairs=1..4", "--sample", "machine.futex.wake_latency=log:1 us..50 us"]
        assert self.run(*cube, "--sample", "library.matching.lock=mcs,ttas", "--samples=6", "--out", str(tmp_path)) == 0
        frame = pl.read_parquet(tmp_path / "results.parquet")
        assert frame.height == 6
        points = frame.select(pl.col("pairs").alias("workload.pairs")).unique(maintain_order=True)
        points.write_csv(tmp_path / "points.csv")
        points.write_parquet(tmp_path / "points.parquet")
        (tmp_path / "points.json").write_text(json.dumps(points.to_dicts()))
        for kind in ("csv", "parquet", "json"):
            out = tmp_path / kind
            assert self.run("--list", str(tmp_path / f"points.{kind}"), "--out", str(out)) == 0
            assert pl.read_parquet(out / "results.parquet")["pairs"].to_list() == points["workload.pairs"].to_list()

    def test_a_failed_point_is_told_with_its_reason(
        self, small: contend.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:  # fmt: skip
        from contend.errors import SimulationFailedError
        from contend.runner import CoreEngine

        def fail(*_: object, **__: object) -> str:
            raise SimulationFailedError("deadlock: nobody moves\n  thread a waits")

        del small
        monkeypatch.setattr(CoreEngine, "run_point", fail)
        grid = ["--grid", "workload.pairs=2", "--grid", "library.instances.count=1", "--out", str(tmp_path)]
        assert self.run(*grid) == 1
        assert "failed: pairs=2, instances=1: deadlock: nobody moves\n" in capsys.readouterr().out

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (["--grid", "workload.pairs=0,1"], "--grid workload.pairs: found 0; allowed: a whole number"),
            (["--grid", "workload.pairs=1,1"], "--grid workload.pairs: found 1 again; allowed: each value once"),
            (["--grid", "workload.pears=1,2"], '--grid workload.pears: unknown path "workload.pears"; did you mean'),
            (["--grid", "library.preset=ob1,ch4"], '--grid library.preset: unknown preset "ob1"; available:'),
            (["--grid", "workload.pairs=1,64"], "--grid: 64 pairs need 64 hardware threads"),
            (["--sample", "workload.pairs=3..1", "--samples", "2"], "--sample workload.pairs: the range from 3 to 1"),
            (["--sample", "workload.pairs=0..9", "--samples", "2"], "--sample workload.pairs: found 0; allowed: a"),
            (
                ["--grid", "workload.pears=1,2", "--set", "sweep.workload.pairs=[1,2]"],
                '--grid workload.pears: unknown path "workload.pears"; did you mean',
            ),
            # What the scenario sweeps itself is not of the option.
            (["--grid", "workload.window=1,2", "--set", "sweep.workload.pairs=[0]"], "command line: /sweep/workload.p"),
        ],
    )
    def test_mistakes_of_an_option_name_it(
        self, small: contend.Scenario, capsys: pytest.CaptureFixture[str], words: list[str], message: str
    ) -> None:
        del small
        assert self.run(*words) == 2
        told = capsys.readouterr().err
        assert told.startswith(f"contend: error: {message}")
        assert "again; allowed: each point once" not in told  # which is no mistake, but what follows from one

    def test_what_is_skipped_is_told_with_its_reason(
        self, small: contend.Scenario, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        del small
        grid = ["--skip-invalid", "--out", str(tmp_path), "--grid", "library.matching.lock=mcs"]
        assert self.run(*grid, "--grid", "workload.pairs=2,70,80") == 0
        reason = "70 pairs need 70 hardware threads on each host"
        shown = "library.matching.lock=mcs, workload.pairs=70: " + reason
        assert f"2 combinations make no sense (all in sweep.json), such as {shown}" in capsys.readouterr().out
        skipped = json.loads((tmp_path / "sweep.json").read_text())["skipped"]
        assert [entry["parameters"]["workload.pairs"] for entry in skipped] == [70, 80]
        assert skipped[0]["message"].startswith(reason)
        assert self.run(*grid, "--grid", "workload.pairs=2,70") == 0
        assert f"1 combination makes no sense (in sweep.json): {shown}" in capsys.readouterr().out
        assert self.run(*grid, "--grid", "workload.pairs=2,70", "--array-index", "0", "--array-size", "1") == 0
        assert f"1 combination makes no sense: {shown}" in capsys.readouterr().out

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (
                "workload.pairs\n1\nabc\n",
                'l.csv:3: workload.pairs: found "abc"; allowed: a whole number from 1 to 4096',
            ),
            ("\ufeffworkload.pairs, workload.window\n\n1,x\n", 'l.csv:3: workload.window: found "x"; allowed: a whole'),
            ("workload.pairs,workload.window\n1,\n", 'l.csv:2: workload.window: found ""; allowed: a whole number'),
            ("workload.pairs\nNaN\n", 'l.csv:2: workload.pairs: found "NaN"; allowed: a whole number'),
            ("workload.pears\n1\n", 'l.csv:2: workload.pears: unknown path "workload.pears"; did you mean'),
            (
                "workload.pairs;workload.window\n1;2\n",
                "l.csv:1: found the column 'workload.pairs;workload.window'; allowed: columns separated by commas",
            ),
            ("workload.pairs,workload.pairs\n1,2\n", "l.csv:1: found the column 'workload.pairs' twice; allowed: each"),
            ("workload.pairs,workload.window\n1\n", "l.csv:2: found 1 value; allowed: 2, one for each column"),
            ('workload.pairs\n"1\n', "l.csv:2: cannot be read as csv (unexpected end of data)"),
            ("workload.pairs\n", "l.csv is empty"),
            ("workload.pairs\n1\n80\n", "l.csv: 80 pairs need 80 hardware threads"),
        ],
    )
    def test_mistakes_in_a_table(  # noqa: PLR0917
        self, small: contend.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str], content: str, message: str,
    ) -> None:  # fmt: skip
        """The place is that in the file, and rows beside a wrong one are not blamed."""
        del small
        monkeypatch.chdir(tmp_path)
        Path("l.csv").write_text(content)
        assert self.run("--list", "l.csv") == 2
        complaint = capsys.readouterr().err
        assert complaint.startswith(f"contend: error: {message}")
        assert complaint.count("\n") == 1

    def test_the_place_in_a_table_whatever_the_scenario_sweeps(self, small: contend.Scenario, tmp_path: Path) -> None:
        rows = [{"workload.pairs": 1}, {"workload.pairs": "abc"}]
        plan = contend.Samples(rows, "l.csv", [2, 7])
        with pytest.raises(contend.InputError, match=r"^l\.csv:7: workload\.pairs: found \"abc\"; allowed: [^\n]*$"):
            contend.sweep(small.over({"workload.window": [8, 16, 32]}), plan)

    def test_job_array(
        self, small: contend.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:  # fmt: skip
        """The indices one after another, as SLURM would run them, then all put together."""
        del small
        grid = ["--grid", "workload.pairs=1..4", "--store", str(tmp_path / "shared"), "--out", str(tmp_path / "out")]
        monkeypatch.setenv("SLURM_ARRAY_TASK_COUNT", "3")
        for index in range(3):
            assert self.run(*grid, "--array-index", str(index), "--json") == 0
            assert json.loads(capsys.readouterr().out)["simulated"] == (4, 2, 2)[index]
        assert not (tmp_path / "out").exists()
        assert self.run(*grid, "--json") == 0
        assert json.loads(capsys.readouterr().out)["simulated"] == 0
        assert pl.read_parquet(tmp_path / "out" / "results.parquet").height == 4
        assert self.run(*grid, "--array-index", "3") == 2

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (["--grid", "workload.pairs"], "expected dotted.path=values"),
            (["--grid", "workload.pairs=a..b"], "whole numbers"),
            (["--grid", "workload.pairs=20..1"], "a range is of whole numbers, upwards"),
            (["--grid", "workload.pairs=[1,"], "not a JSON list"),
            (
                ["--grid", "workload.pairs=1..200000"],
                "--grid 'workload.pairs=1..200000': 200000 points; allowed: at most 100000 in a sweep",
            ),
            (["--grid", f"workload.pairs=1..1{'0' * 22}"], f": 1{'0' * 22} points; allowed: at most 100000"),
            (["--grid", f"workload.pairs=1..1{'0' * 5000}"], "a range is of whole numbers"),
            (["--grid", "workload.pairs=1..3", "--grid", "workload.pairs=4"], "workload.pairs is given twice"),
            (
                ["--sample", "workload.pairs=1..3", "--sample", "workload.pairs=4..5", "--samples", "2"],
                "--sample workload.pairs is given twice",
            ),
            (["--grid", "workload.pairs=1", "--list", "x.csv"], "exclude each other"),
            (["--sample", "workload.pairs=1..2"], "go together"),
            (["--list", "x.txt"], "is a .csv, .json or .parquet file"),
            (["--list", "x.json"], "cannot read the list of points x.json: no such file"),
            (["--list", "x.csv"], "cannot read the list of points x.csv: no such file"),
            (["--array-size", "2"], "goes with --array-index"),
            (["--array-index", "2"], "SLURM_ARRAY_TASK_COUNT is not set"),
            (["--cluster", "tcp://127.0.0.1:9"], "no Dask scheduler answers"),
            (["--grid", "run.seed=1,2", "--seed", "9"], "--grid gives each point its own run.seed, --seed gives all"),
            (["--grid", "run.replications=1,2", "--replications", "3"], "own run.replications, --replications gives"),
            (["--grid", "workload.iterations=1,2", "--iterations", "3"], "workload.iterations, --iterations gives"),
            (["--grid", "workload.pairs=1,2", "--set", "workload.pairs=3"], "workload.pairs, --set workload.pairs"),
            (
                ["--sample", "workload.pairs=1..2", "--samples", "2", "--set", "workload.pairs=3"],
                "--sample gives each point its own workload.pairs, --set workload.pairs gives all of them one",
            ),
        ],
    )
    def test_mistakes(  # noqa: PLR0917
        self, small: contend.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str], words: list[str], message: str,
    ) -> None:  # fmt: skip
        del small
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr("contend.clusters._CONNECT_S", 0.5)
        assert self.run(*words) in (1, 2)
        assert message in capsys.readouterr().err


def test_a_list_and_an_option_that_give_the_same_are_refused(
    small: contend.Scenario, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    del small
    points = tmp_path / "points.csv"
    points.write_text("workload.pairs,run.seed\n1,1\n2,2\n")
    assert main(["sweep", "fig5_2a_base", "--list", str(points), "--seed", "3"]) == 2
    assert f"--list {points} gives each point its own run.seed, --seed gives all" in capsys.readouterr().err


@pytest.mark.parametrize("address", ["nonsense", "tcp://nonsense", "host:port", "htp://host:8786"])
def test_what_is_no_address_of_a_cluster_never_reaches_dask(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"allowed: tcp://HOST:PORT, or a scheduler file NAME\.json"):
        Cluster(address)


class TestCluster:
    """A real Dask cluster of processes on this machine."""

    @pytest.mark.slow
    def test_workers_killed_on_the_way(self, small: contend.Scenario, tmp_path: Path) -> None:
        distributed = pytest.importorskip("distributed")
        plan = {"workload.pairs": [1, 2, 3, 4], "workload.window": list(range(16, 41))}
        scenario = small.with_({"workload.iterations": 120, "run.replications": 2})
        with distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50,
        ) as cluster:  # fmt: skip
            killed = kill_workers_soon(cluster, tmp_path / "store", every=40, times=2)
            swept = contend.sweep(scenario, plan, cluster=cluster.scheduler_address, store=tmp_path / "store")
            assert killed.wait() == 2
        assert isinstance(swept, SweepResults)
        assert swept.simulated == 200
        assert not swept.failures
        here = contend.sweep(scenario, plan, store=tmp_path / "other")
        assert here.simulated == 200
        assert same(swept, here)
        # What a cluster found is there for this machine, too.
        assert contend.sweep(scenario, plan, store=tmp_path / "store").simulated == 0


def kill_workers_soon(cluster: Any, folder: Path, *, every: int, times: int) -> Any:
    """Kills one worker each time that so many more results are there; `wait()` says how many were killed."""
    killed: list[int] = []

    def work() -> None:
        deadline = time.monotonic() + 60
        for number in range(1, times + 1):
            while count_stored(folder) < number * every and time.monotonic() < deadline:
                time.sleep(0.01)
            workers = [worker for worker in cluster.workers.values() if worker.process is not None and worker.pid]
            victim = workers[number % len(workers)].pid
            os.kill(victim, signal.SIGKILL)
            killed.append(victim)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()

    class Killed:
        @staticmethod
        def wait() -> int:
            thread.join(60)
            return len(set(killed))

    return Killed()
