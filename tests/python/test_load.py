"""Which launches are marked: by counters of a machine that are made by hand."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from contend.measure import load
from contend.measure.load import Load, Mark, Monitor, Snapshot, snapshot

if TYPE_CHECKING:
    from pathlib import Path

QUIET = Load(foreign_cores=0.0, steal_share=0.0, busy_before_cores=0.0, reference_s=1e-3, throttle_events=0)


@pytest.mark.parametrize(
    ("clean", "marked", "mark"),
    [
        ({"foreign_cores": 0.1}, {"foreign_cores": 0.101}, Mark.foreign_load),
        # A tick of 10 ms in the 60 ms before a launch is no more than the counter's error.
        ({"busy_before_cores": 0.26}, {"busy_before_cores": 0.27}, Mark.busy_before),
        ({"steal_share": 0.02}, {"steal_share": 0.021}, Mark.steal),
        ({"throttle_events": 0}, {"throttle_events": 1}, Mark.throttled),
        ({"reference_s": 1.14e-3}, {"reference_s": 1.16e-3}, Mark.slow_clock),
    ],
)
def test_a_launch_is_marked_from_these_values_on(clean: dict[str, float], marked: dict[str, float], mark: Mark) -> None:
    assert replace(QUIET, **clean).marks(1e-3) == []
    assert replace(QUIET, **marked).marks(1e-3) == [str(mark)]


BEGIN = Snapshot(at=100.0, busy_s=50.0, steal_s=7.0, own_s=3.0, throttle_events=4, others_s={1: 10.0, 2: 20.0})


def seen(monkeypatch: pytest.MonkeyPatch, after: Snapshot, before: Snapshot = BEGIN) -> Load:
    """What a monitor on four cores says of a launch between two snapshots, with another one a second earlier."""
    early = replace(before, at=before.at - 1.0, busy_s=before.busy_s - 0.5)
    moments = iter([replace(BEGIN, at=0.0, busy_s=0.0, throttle_events=0), early, before, before, after])
    monkeypatch.setattr(load, "snapshot", lambda: next(moments))
    monkeypatch.setattr(load, "reference_work_s", lambda: 2e-3)
    monkeypatch.setattr(load, "_BEFORE_S", 0.0)
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    monitor = Monitor()
    monitor.start()
    return monitor.stop()


def test_a_launch_with_nothing_besides_is_clean(monkeypatch: pytest.MonkeyPatch) -> None:
    """It used its three seconds of processor time in two seconds, and all that was busy was busy with it."""
    found = seen(monkeypatch, replace(BEGIN, at=102.0, busy_s=53.0, own_s=6.0))
    assert found == Load(0.0, 0.0, busy_before_cores=0.5, reference_s=2e-3, throttle_events=0)


@pytest.mark.parametrize(
    ("busy_s", "others_s", "cores"),
    [
        (54.0, {1: 10.0, 2: 20.0}, 0.5),  # one second of four is nobody's: processes that came and went
        (53.0, {1: 10.5, 2: 20.3}, 0.4),  # hidden by what the kernel charges to the launch
        (53.6, {1: 10.5, 2: 20.3}, 0.4),  # the larger of the two, not both
        (54.0, {1: 10.5, 2: 20.3}, 0.5),
        (53.0, {1: 10.0, 2: 20.0, 3: 0.6}, 0.3),  # a process that began meanwhile
        (53.0, {1: 10.4, 2: 19.0}, 0.2),  # another one has the number of one that ended
        (52.0, {}, 0.0),
    ],
)
def test_foreign_load_is_the_larger_of_what_nobody_explains_and_what_others_used(
    busy_s: float, others_s: dict[int, float], cores: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = seen(monkeypatch, replace(BEGIN, at=102.0, busy_s=busy_s, own_s=6.0, others_s=others_s))
    assert found.foreign_cores == pytest.approx(cores)


def test_steal_is_a_share_of_all_cores_and_throttling_counts_from_the_launch_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = seen(monkeypatch, replace(BEGIN, at=102.0, steal_s=7.4, throttle_events=6))
    assert found.steal_share == pytest.approx(0.4 / 2 / 4)
    assert found.throttle_events == 2
    assert seen(monkeypatch, replace(BEGIN, at=102.0, steal_s=6.0)).steal_share == 0.0


def test_a_snapshot_adds_up_what_the_kernel_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def put(name: str, text: str) -> None:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def stat(number: int, name: str, flags: int) -> str:
        # State, parent, group, session, terminal, its group, flags, four faults; user and system time; of children.
        return f"{number} ({name}) S 1 1 1 0 -1 {flags} 1 1 1 1 150 70 5000 5000 20 0 1 0"

    put("proc/7/stat", stat(7, "a) S (b", 0x00400000))
    put("proc/8/stat", stat(8, "kworker", 0x00200040))
    put("proc/9/stat", stat(9, "contend", 0x00400000))
    put("proc/10/stat", "")
    put("proc/self/stat", stat(9, "contend", 0x00400000))
    put("sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "3\n")
    put("sys/devices/system/cpu/cpu1/thermal_throttle/package_throttle_count", "2\n")
    put("sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_max_time_ms", "90\n")
    put("sys/fs/cgroup/cpu.stat", "usage_usec 900\nnr_periods 80\nnr_throttled 4\nthrottled_usec 70\n")
    monkeypatch.setattr(load, "Path", lambda name: tmp_path / name.removeprefix("/"))
    monkeypatch.setattr("os.getpid", lambda: 9)
    monkeypatch.setattr("os.sysconf", {"SC_CLK_TCK": 100}.__getitem__)
    times = SimpleNamespace(user=5.0, nice=0.25, system=2.0, idle=80.0, iowait=9.0, irq=7.0, softirq=3.0, steal=0.5)
    monkeypatch.setattr("psutil.cpu_times", lambda: times)
    used = {load.resource.RUSAGE_SELF: (1.0, 0.5), load.resource.RUSAGE_CHILDREN: (4.0, 0.25)}
    monkeypatch.setattr("resource.getrusage", lambda who: SimpleNamespace(ru_utime=used[who][0], ru_stime=used[who][1]))
    found = snapshot()
    assert found == Snapshot(found.at, busy_s=7.25, steal_s=0.5, own_s=5.75, throttle_events=9, others_s={7: 2.2})
