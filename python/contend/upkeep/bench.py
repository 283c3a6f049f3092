"""Measures how fast the engine is, beside a bare event loop, SimGrid and SimPy (see docs/benchmarks.md).

The engines run the same two workloads in turn, several times, on one core. Every run is checked: the hash of its steps
must be that of the bare event loop for the same number of events, so nobody is fast by doing something else.
"""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from contend.common.errors import ContendError
from contend.common.files import write_file
from contend.common.paths import require_repository

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from rich.table import Table

    from contend.common.jsontypes import JsonObject

WORKLOADS = ("hold", "lock")
ENGINES = ("contend", "bare_heap", "simgrid_s4u", "simpy")
BASELINES = ENGINES[1:]
TARGETS = {("hold", "bare_heap"): 0.6, ("hold", "simgrid_s4u"): 12.0, ("lock", "simgrid_s4u"): 35.0}
PROGRAMS = ("contend-bench-engine", "contend-bench-simgrid")

_CHECKED_EVENTS = 20_000
_RUN_S = 0.8  # aimed at, so that no run is shorter than half a second
_CALLGRIND_EVENTS = (50_000, 150_000)
_SCENARIO = "fig5_2a_base"
_SCENARIO_PAIRS = 20
_SCENARIO_RUN_S = 2.0


@dataclass
class Programs:
    """Where the benchmark programs are, and how to run a task on each engine."""

    folder: Path
    sources: Path

    def command(self, engine: str, workload: str, events: int, *, ties: bool = False) -> list[str]:
        """The command that runs `events` events of a workload on an engine."""
        task = [workload, str(events), *(["ties"] if ties else [])]
        if engine == "simpy":
            return [sys.executable, str(self.sources / "simpy_engine.py"), *task]
        if engine == "simgrid_s4u":
            return [str(self.folder / PROGRAMS[1]), *task]
        return [str(self.folder / PROGRAMS[0]), engine, *task]


@dataclass
class Measurements:
    """Events per second by (workload, engine), one value per repetition."""

    rates: dict[tuple[str, str], list[float]] = field(default_factory=dict)

    def rate(self, workload: str, engine: str) -> float:
        """Median rate of an engine."""
        return statistics.median(self.rates[workload, engine])

    def ratios(self, workload: str, engine: str) -> list[float]:
        """How many times as fast contend was in each repetition; neighbours in time share what disturbs them."""
        pairs = zip(self.rates[workload, "contend"], self.rates[workload, engine], strict=True)
        return [ours / theirs for ours, theirs in pairs]


def _run(command: Sequence[str]) -> JsonObject:
    """Runs a program that prints one line of JSON.

    Raises:
        ContendError: It cannot be started or failed.
    """
    try:
        answer = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise ContendError(f"cannot start {command[0]}: {error.strerror}") from error
    if answer.returncode:
        raise ContendError(f"{' '.join(command)} failed:\n{answer.stderr.strip()}")
    result: JsonObject = json.loads(answer.stdout)
    return result


class _Bench:
    """Runs tasks and checks each result against the bare event loop."""

    def __init__(self, programs: Programs) -> None:
        self._programs = programs
        self._hashes: dict[tuple[str, int, bool], str] = {}

    def expected_hash(self, workload: str, events: int, *, ties: bool) -> str:
        """Hash of the steps that the bare event loop takes."""
        key = (workload, events, ties)
        if key not in self._hashes:
            self._hashes[key] = str(_run(self._programs.command("bare_heap", workload, events, ties=ties))["hash"])
        return self._hashes[key]

    def rate(self, engine: str, workload: str, events: int, *, ties: bool = False) -> float:
        """Events per second of CPU time.

        Raises:
            ContendError: The engine took other steps than the bare event loop.
        """
        result = _run(self._programs.command(engine, workload, events, ties=ties))
        expected = self.expected_hash(workload, events, ties=ties)
        if result["hash"] != expected:
            raise ContendError(
                f"{engine} took other steps than the bare event loop in {events} events of {workload}: "
                f"hash {result['hash']}, not {expected}"
            )
        return events / float(result["cpu_s"])

    def events_for(self, engine: str, workload: str, seconds: float) -> int:
        """How many events take about that long; also checks the engine's order of equal dates where it has one."""
        if engine != "simgrid_s4u":  # its order of equal dates is that of its action heap
            self.rate(engine, workload, _CHECKED_EVENTS, ties=True)
        estimate = self.rate(engine, workload, _CHECKED_EVENTS)
        estimate = self.rate(engine, workload, max(_CHECKED_EVENTS, int(estimate * 0.1)))
        return max(_CHECKED_EVENTS, int(estimate * seconds / 1_000) * 1_000)

    def measure(self, repetitions: int) -> Measurements:
        """All engines and workloads, interleaved."""
        tasks = {(w, e): self.events_for(e, w, _RUN_S) for w in WORKLOADS for e in ENGINES}
        measured = Measurements({task: [] for task in tasks})
        for _ in range(repetitions):
            for (workload, engine), events in tasks.items():
                measured.rates[workload, engine].append(self.rate(engine, workload, events))
        return measured

    def instructions_per_event(self, workload: str) -> float:
        """Instructions that callgrind counts, as the difference of two runs, so that the start-up cancels."""
        counts = []
        for events in _CALLGRIND_EVENTS:
            command = self._programs.command("contend", workload, events)
            options = ["--tool=callgrind", "--callgrind-out-file=/dev/null"]
            answer = subprocess.run(["valgrind", *options, *command], capture_output=True, text=True, check=False)
            found = re.search(r"Collected : (\d+)", answer.stderr)
            if answer.returncode or found is None:
                raise ContendError(f"callgrind failed on {workload}:\n{answer.stderr.strip()}")
            if json.loads(answer.stdout)["hash"] != self.expected_hash(workload, events, ties=False):
                raise ContendError(f"{workload} takes other steps under callgrind")
            counts.append(int(found[1]))
        return (counts[1] - counts[0]) / (_CALLGRIND_EVENTS[1] - _CALLGRIND_EVENTS[0])


@contextmanager
def _one_core() -> Iterator[int]:
    """Pins this process, and so its children, to the last core it may use."""
    allowed = os.sched_getaffinity(0)
    core = max(allowed)
    os.sched_setaffinity(0, {core})
    try:
        yield core
    finally:
        os.sched_setaffinity(0, allowed)


def _simulate_scenario() -> JsonObject:
    """Simulates the base scenario at 20 pairs again and again in this process; run in a process of its own."""
    from contend.engine.runner import CoreEngine
    from contend.scenarios.resolution import find_scenario, resolve_scenario

    resolved = resolve_scenario(find_scenario(_SCENARIO))
    points = [p for p in resolved.points if _SCENARIO_PAIRS in p.parameters.values()]
    if len(points) != 1:
        raise ContendError(f"the scenario {_SCENARIO} has no single point with {_SCENARIO_PAIRS} pairs")
    engine = CoreEngine()
    messages = simulated_s = 0.0
    events = runs = 0
    started = time.perf_counter()
    while (wall_s := time.perf_counter() - started) < _SCENARIO_RUN_S or runs == 0:
        result = json.loads(engine.run_point(points[0], runs, trace_hash=False))
        messages += result["counters"]["messages_received"]
        simulated_s += result["simulated_s"]
        events += result["events"]
        runs += 1
    return {
        "messages_per_wall_s": messages / wall_s,
        "real_time_factor": simulated_s / wall_s,
        "peak_rss_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "events_per_wall_s": events / wall_s,
        "events_per_message": events / messages,
        "runs": runs,
    }


def measure_scenario() -> JsonObject:
    """Speed and memory of the base scenario at 20 pairs, simulated in a fresh process.

    Raises:
        ContendError: It cannot be simulated.
    """
    return _run([sys.executable, "-P", "-m", "contend.upkeep.bench"])


def _ratio_table(measured: Measurements) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(title="contend against other engines (ratio of rates: median, smallest to largest)", box=box.SIMPLE)
    table.add_column("workload")
    table.add_column("events/s")
    for baseline in BASELINES:
        table.add_column(f"/ {baseline}", justify="right")
    for workload in WORKLOADS:
        cells = []
        for baseline in BASELINES:
            ratios = measured.ratios(workload, baseline)
            middle = statistics.median(ratios)
            target = TARGETS.get((workload, baseline))
            color = "" if target is None else ("[green]" if middle >= target else "[red]")
            wanted = "" if target is None else f" (target {target:g})"
            cells.append(f"{color}{middle:.3g}{wanted}\n[dim]{min(ratios):.3g} to {max(ratios):.3g}")
        table.add_row(workload, f"{measured.rate(workload, 'contend') / 1e6:.1f} M", *cells)
    return table


def _document(measured: Measurements) -> JsonObject:
    """The rates and ratios as they go to the JSON file."""
    document: JsonObject = {
        workload: {engine: measured.rate(workload, engine) for engine in ENGINES} for workload in WORKLOADS
    }
    document["ratios"] = {
        workload: {
            f"contend/{baseline}": {
                "median": statistics.median(ratios),
                "min": min(ratios),
                "max": max(ratios),
                "samples": ratios,
            }
            for baseline in BASELINES
            for ratios in [measured.ratios(workload, baseline)]
        }
        for workload in WORKLOADS
    }
    return document


def run(json_path: Path | None, *, repetitions: int = 5, folder: Path | None = None) -> int:
    """Measures everything, prints tables, and writes the JSON file.

    Args:
        json_path: Where the figures go; nowhere if None.
        repetitions: How often each engine runs each workload.
        folder: Folder of the benchmark programs; they are built first if it is not given.

    Returns:
        0 when every target was met, else 1.

    Raises:
        ContendError: An engine could not be run, or took other steps than the others.
    """
    from rich.console import Console

    root = require_repository("bench")
    if folder is None:
        from contend.upkeep.testing import build

        build("bench", root, targets=PROGRAMS)
        folder = root / "build" / "bench" / "bin"
    console = Console()
    bench = _Bench(Programs(folder, root / "benchmarks"))
    with _one_core() as core:
        console.print(f"{repetitions} repetitions on core {core}; about {repetitions * 10} s ...")
        measured = bench.measure(repetitions)
        document = _document(measured)
        console.print(_ratio_table(measured))
        document["instructions_per_event"] = _instructions(bench)
        try:
            document["scenario_base_20_pairs"] = scenario = measure_scenario()
            console.print(
                f"base scenario, {_SCENARIO_PAIRS} pairs: {scenario['messages_per_wall_s'] / 1e6:.2f} M simulated "
                f"messages per second, {scenario['events_per_message']:.1f} events each, real-time factor "
                f"{scenario['real_time_factor']:.3g}, {scenario['peak_rss_bytes'] / 2**20:.0f} MiB"
            )
        except ContendError as error:
            document["scenario_base_20_pairs"] = None
            console.print(f"the scenario could not be measured: {error}", markup=False)
    if json_path is not None:
        write_file(json_path, (json.dumps(document, indent=2) + "\n").encode())
    missed = [
        f"{workload} against {baseline}"
        for (workload, baseline), target in TARGETS.items()
        if statistics.median(measured.ratios(workload, baseline)) < target
    ]
    if missed:
        console.print(f"[red]below target: {', '.join(missed)}")
    return 1 if missed else 0


def _instructions(bench: _Bench) -> JsonObject | None:
    """Instructions per event by workload; None without valgrind."""
    if shutil.which("valgrind") is None:
        print("valgrind is not there: instructions are not counted")
        return None
    counts = {workload: bench.instructions_per_event(workload) for workload in WORKLOADS}
    print("instructions per event: " + ", ".join(f"{name} {value:.0f}" for name, value in counts.items()))
    return counts


def main() -> int:
    """What `contend bench` runs in a process of its own: simulates the base scenario and prints its figures."""
    try:
        print(json.dumps(_simulate_scenario()))
    except ContendError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
