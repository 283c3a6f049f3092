"""Whether a sample can be trusted: who else used the processors, and whether they ran at their speed.

Foreign load is found in two ways, of which the larger holds. One is what /proc/stat counts as user and system time
beyond what the launch itself used: interrupt time is left out, because a network benchmark causes it itself, but where
the kernel charges it to the launch's processes it hides as much foreign load. The other is what all other processes
used that were alive at the end: that misses only those which came and went, such as compilers. In a virtual machine
`steal` is what the host took. Throttling shows in the kernel's counters where it has them, and in how long a fixed
piece of work takes just before a launch.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import resource
import time
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

if TYPE_CHECKING:
    from collections.abc import Iterable

# A launch is marked from so many foreign cores (average over the launch), such a share of stolen time, and so much
# slower reference work than the fastest of the campaign. The clock of /proc/stat ticks at 100 Hz: over a launch of a
# second on two cores its own error is about two ticks in two hundred.
FOREIGN_CORES = 0.10
STEAL_SHARE = 0.02
SLOWER_BY = 0.15
_BEFORE_S = 0.06
_REFERENCE_BYTES = bytes(256 * 1024)
_REFERENCE_TRIES = 4
_KERNEL_THREAD = 0x00200000  # PF_KTHREAD


class Mark(StrEnum):
    """Why a sample may be off."""

    foreign_load = "foreign load"
    busy_before = "busy before"
    steal = "steal"
    throttled = "throttled"
    slow_clock = "slow clock"


@dataclass(frozen=True)
class Snapshot:
    """Counters of the machine at one moment."""

    at: float
    busy_s: float
    steal_s: float
    own_s: float
    throttle_events: int
    others_s: dict[int, float]


@dataclass(frozen=True)
class Load:
    """What the machine did besides, during one launch."""

    foreign_cores: float
    steal_share: float
    busy_before_cores: float
    reference_s: float
    throttle_events: int

    def marks(self, fastest_reference_s: float) -> list[str]:
        """Why the launch's samples may be off; empty for clean ones."""
        found = {
            Mark.foreign_load: self.foreign_cores > FOREIGN_CORES,
            Mark.busy_before: self.busy_before_cores > FOREIGN_CORES + 0.01 / _BEFORE_S,
            Mark.steal: self.steal_share > STEAL_SHARE,
            Mark.throttled: self.throttle_events > 0,
            Mark.slow_clock: self.reference_s > fastest_reference_s * (1 + SLOWER_BY),
        }
        return [str(mark) for mark, is_so in found.items() if is_so]


def _throttle_files() -> Iterable[Path]:
    return Path("/sys/devices/system/cpu").glob("cpu[0-9]*/thermal_throttle/*_throttle_count")


def _throttle_events() -> int:
    total = 0
    for path in _throttle_files():
        with contextlib.suppress(OSError, ValueError):
            total += int(path.read_text(encoding="ascii"))
    # A container with a processor quota is throttled by its control group.
    with contextlib.suppress(OSError, ValueError):
        for line in Path("/sys/fs/cgroup/cpu.stat").read_text(encoding="ascii").splitlines():
            if line.startswith("nr_throttled "):
                total += int(line.split()[1])
    return total


def _process_times() -> dict[int, float]:
    """Processor time of all processes but this one and the kernel's threads."""
    tick = os.sysconf("SC_CLK_TCK")
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            with contextlib.suppress(OSError, ValueError, IndexError):
                # From the state on: the name before it may contain anything. See proc(5).
                fields = (entry / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
                if not int(fields[6]) & _KERNEL_THREAD:
                    found[int(entry.name)] = (int(fields[11]) + int(fields[12])) / tick
    return found


def snapshot() -> Snapshot:
    """Reads the counters."""
    times = psutil.cpu_times()
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return Snapshot(
        at=time.monotonic(),
        busy_s=times.user + times.nice + times.system,
        steal_s=getattr(times, "steal", 0.0),
        own_s=sum(entry.ru_utime + entry.ru_stime for entry in usage),
        throttle_events=_throttle_events(),
        others_s=_process_times(),
    )


def reference_work_s() -> float:
    """How long a fixed piece of work takes: the shortest of a few tries, some milliseconds in all."""
    best = float("inf")
    for _ in range(_REFERENCE_TRIES):
        started = time.perf_counter()
        hashlib.sha256(_REFERENCE_BYTES).digest()
        best = min(best, time.perf_counter() - started)
    return best


class Monitor:
    """Watches the machine around launches."""

    def __init__(self) -> None:
        self._cores = os.cpu_count() or 1
        self._before = snapshot()
        self._busy_before = 0.0
        self._reference_s = 0.0

    def start(self) -> None:
        """Call right before a launch."""
        first = snapshot()
        time.sleep(_BEFORE_S)
        second = snapshot()
        self._busy_before = _foreign_cores(first, second)
        self._reference_s = reference_work_s()
        self._before = snapshot()

    def stop(self) -> Load:
        """Call right after it, when its processes have been waited for."""
        after = snapshot()
        elapsed = max(after.at - self._before.at, 1e-6)
        return Load(
            foreign_cores=_foreign_cores(self._before, after),
            steal_share=max(0.0, after.steal_s - self._before.steal_s) / elapsed / self._cores,
            busy_before_cores=self._busy_before,
            reference_s=self._reference_s,
            throttle_events=after.throttle_events - self._before.throttle_events,
        )


def _foreign_cores(first: Snapshot, second: Snapshot) -> float:
    elapsed = max(second.at - first.at, 1e-6)
    unexplained = second.busy_s - first.busy_s - (second.own_s - first.own_s)
    others = sum(max(0.0, used - first.others_s.get(pid, 0.0)) for pid, used in second.others_s.items())
    return max(0.0, unexplained, others) / elapsed
