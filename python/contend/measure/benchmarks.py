"""The benchmark programs of validation/native: which there are, what they need, and their command lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@dataclass(frozen=True)
class Benchmark:
    """A program.

    `axis` is what its picture has on the x axis; `metric` what its picture and table show.
    `has_target`: a repetition can be asked to take so many seconds.
    """

    name: str
    needs_mpi: bool
    axis: str
    metric: str
    has_target: bool = False

    @property
    def program(self) -> str:
        """Name of the executable, and of its build target."""
        return f"contend-{self.name}"

    @property
    def workload_kind(self) -> str:
        """The kind of workload that it measures, as its output names it."""
        return "rma-mt" if self.name == "rma" else self.name


BENCHMARKS: dict[str, Benchmark] = {
    benchmark.name: benchmark
    for benchmark in (
        Benchmark("multirate", needs_mpi=True, axis="pairs", metric="message_rate", has_target=True),
        Benchmark("latency", needs_mpi=True, axis="receivers", metric="latency", has_target=True),
        Benchmark("rma", needs_mpi=True, axis="threads", metric="message_rate", has_target=True),
        Benchmark("partitioned", needs_mpi=True, axis="partitions", metric="perceived_bandwidth"),
        Benchmark("waiting", needs_mpi=True, axis="requests", metric="time_per_operation"),
        Benchmark("primitives", needs_mpi=True, axis="depth", metric="time_per_operation"),
        Benchmark("locks", needs_mpi=False, axis="threads", metric="acquisition_rate"),
        Benchmark("machine", needs_mpi=False, axis="", metric="time_per_operation"),
    )
}


def ranks(benchmark: Benchmark, workload: Mapping[str, object]) -> tuple[int, int]:
    """How many ranks each side has.

    Raises:
        ValueError: The workload's mode is none.
    """
    if benchmark.name != "multirate":
        return (1, 1)
    is_pairwise = workload.get("pattern", "pairwise") == "pairwise"
    senders = _count(workload.get("pairs" if is_pairwise else "senders", 1))
    receivers = _count(workload.get("pairs" if is_pairwise else "receivers", 1))
    by_mode = {
        "thread": (1, 1),
        "process": (senders, receivers),
        "process-to-thread": (senders, 1),
        "thread-to-process": (1, receivers),
    }
    mode = str(workload.get("mode", "thread"))
    if mode not in by_mode:
        raise ValueError(f"multirate has no mode '{mode}' ({', '.join(by_mode)})")
    return by_mode[mode]


def _count(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError(f"'{value}' is no number of pairs")
    return value


def arguments(workload: Mapping[str, object]) -> list[str]:
    """The workload's values as options of a program."""
    words = []
    for name, value in workload.items():
        if isinstance(value, bool):
            text = "true" if value else "false"
        elif isinstance(value, list):
            text = ",".join(str(entry) for entry in value)
        else:
            text = str(value)
        words.append(f"--{name.replace('_', '-')}={text}")
    return words


def program_words(
    program: Path, benchmark: Benchmark, workload: Mapping[str, object], repetitions: int, target_s: float
) -> list[str]:
    """Program and arguments of a launch."""
    words = [str(program), *arguments(workload), f"--repetitions={repetitions}"]
    if benchmark.has_target and "target_seconds" not in workload:
        words.append(f"--target-seconds={target_s:g}")
    return words
