# ruff: noqa: INP001 - a program, not a package
"""simpy_engine.py WORKLOAD EVENTS [ties]: the workloads of workload.hpp on SimPy, with the same hash and output.

Delays are drawn before the clock starts: the arithmetic of the generator is slow in Python and no matter of the engine.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from typing import TYPE_CHECKING

import simpy

if TYPE_CHECKING:
    from collections.abc import Generator
    from typing import TypeAlias

    Processing: TypeAlias = Generator[simpy.Event, object, None]

MASK = (1 << 64) - 1
HOLD_PROCESSES = 40
LOCK_PROCESSES = 20
HELD_PS = 100_000
AWAY_PS = 50_000


def delays(process: int, count: int, *, ties: bool) -> list[int]:
    """The first delays of one process of hold (class Delays in workload.hpp)."""
    state = (process * 0x9E3779B97F4A7C15 + 0x632BE59BD9B4E019) & MASK
    shift, unit = (54, 1) if ties else (44, 64)
    values = []
    for _ in range(count):
        state = (state * 6364136223846793005 + 1442695040888963407) & MASK
        values.append(((state >> shift) + 1) * unit)
    return values


def sequence_hash(steps: list[tuple[int, int]]) -> str:
    """The hash of class Recorder in workload.hpp."""
    value = 0xCBF29CE484222325
    for time_ps, process in steps:
        value = ((value ^ (time_ps * 64 + process) & MASK) * 0x100000001B3) & MASK
    return f"{value:016x}"


def hold(
    env: simpy.Environment, process: int, spans: list[int], steps: list[tuple[int, int]], events: int
) -> Processing:
    """One process of hold."""
    yield env.timeout(process)
    for span in spans:
        yield env.timeout(span)
        if len(steps) == events:
            return
        steps.append((int(env.now), process))


def lock(
    env: simpy.Environment, process: int, mutex: simpy.Resource, steps: list[tuple[int, int]], events: int
) -> Processing:
    """One process of lock."""
    while True:
        request = mutex.request()
        yield request
        if len(steps) == events:
            mutex.release(request)
            return
        steps.append((int(env.now), process))
        yield env.timeout(HELD_PS)
        mutex.release(request)
        yield env.timeout(AWAY_PS)


def prepare(workload: str, events: int, *, ties: bool) -> tuple[simpy.Environment, list[tuple[int, int]]]:
    """Builds a simulation; returns it, and where its steps will be."""
    env = simpy.Environment()
    steps: list[tuple[int, int]] = []
    if workload == "hold":
        # Each process makes about events / processes steps; none makes half as many again in a long run.
        count = events // HOLD_PROCESSES * 3 // 2 + 1_000
        for process in range(HOLD_PROCESSES):
            env.process(hold(env, process, delays(process, count, ties=ties), steps, events))
    else:
        mutex = simpy.Resource(env, capacity=1)
        for process in range(LOCK_PROCESSES):
            env.process(lock(env, process, mutex, steps, events))
    return env, steps


def main() -> int:
    """Runs the task of the command line."""
    workload, events, ties = sys.argv[1], int(sys.argv[2]), "ties" in sys.argv[3:]
    env, steps = prepare(workload, events, ties=ties)
    gc.collect()
    wall, cpu = time.perf_counter(), time.process_time()
    env.run()
    cpu_s, wall_s = time.process_time() - cpu, time.perf_counter() - wall
    if len(steps) != events:
        print(f"the simulation ended {events - len(steps)} events early", file=sys.stderr)
        return 1
    print(json.dumps({"events": events, "cpu_s": cpu_s, "wall_s": wall_s, "hash": sequence_hash(steps)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
