"""Sweeps: resuming, failures, clusters."""

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
from contend.common.errors import InputError
from contend.scenarios.resolution import Point
from contend.sweeps.clusters import Cluster
from contend.sweeps.store import ResultStore, count_stored
from contend.sweeps.sweep import Sweep, SweepResults
from contend.sweeps.tasks import Failed
from sweeping import BASE, GRID, same

pytestmark = pytest.mark.core


def test_a_failing_point_does_not_stop_the_others(small: contend.Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
    from contend.common.errors import SimulationFailedError
    from contend.engine.runner import CoreEngine

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
