"""The benchmark programs of validation/native, from which datasets come: which there are, and what they measure."""

from __future__ import annotations

from dataclasses import dataclass


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
