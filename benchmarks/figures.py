# ruff: noqa: INP001 - a program, not a package
"""Times the regeneration of the study's two-sided figures.

Three panels of six curves of 20 points, with and without overtaking.

    ./.venv/bin/python benchmarks/figures.py [-j 2] [--linear]

The target is 180 s on two cores with five replications: 360 s of CPU time, which other programs disturb less. --linear
runs one point of each panel with more and more iterations instead and prints the CPU time per simulated message,
warm-up included.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

import contend
from contend.scenarios.resolution import find_scenario

TARGET_S = 180.0
FIGURES = [f"fig5_2{panel}{kind}" for panel in "abc" for kind in ("", "_overtaking")]


def existing() -> list[str]:
    """The figures, without those whose scenario is not there."""
    folder = Path(__file__).resolve().parent.parent / "scenarios" / "dissertation"
    return [name for name in FIGURES if (folder / f"{name}.json").exists()]


def cpu_time() -> float:
    """Of this process and those that it waited for, in seconds."""
    return sum(os.times()[:4])


def figures(jobs: int) -> None:
    """Runs all figures and prints the time of each, the sum, and the slowest points."""
    slowest: list[tuple[float, str]] = []
    begin, cpu_begin = time.monotonic(), cpu_time()
    for name in existing():
        started, spent = time.monotonic(), cpu_time()
        results = contend.run(str(find_scenario(name)), jobs=jobs)
        runs = sum(point.replications for point in results.points)
        took = f"{time.monotonic() - started:7.1f} s, CPU {cpu_time() - spent:7.1f} s"
        print(f"{name:22} {len(results.points):4} points {runs:5} runs {took}", flush=True)
        for point in results.points:
            label = " ".join(f"{key}={value}" for key, value in point.parameters.items())
            slowest.append((point.wall_s, f"{name} {label}"))
    total = time.monotonic() - begin
    took = f"{total:.1f} s with -j{jobs}, CPU {cpu_time() - cpu_begin:.1f} s"
    print(f"{'all':22} {took}; the target is {TARGET_S:.0f} s")
    print("slowest points, seconds of one replication:")
    for wall_s, label in sorted(slowest, reverse=True)[:5]:
        print(f"  {wall_s:6.2f}  {label}")


def linear() -> None:
    """Prints the CPU time per message for growing numbers of iterations: 20 pairs, 20 dedicated instances."""
    point = {"workload.pairs": 20, "library.instances.count": 20, "library.instances.assignment": "dedicated"}
    for name in existing():
        for iterations in (5, 20, 80):
            begin = cpu_time()
            changes = {**point, "workload.iterations": iterations, "run.replications": 1}
            results = contend.run(str(find_scenario(name)), changes, jobs=1)
            spent = cpu_time() - begin
            messages = sum(p.counters["messages_received"] * p.replications for p in results.points)
            cost = 1e6 * spent / messages
            print(f"{name:22} {iterations:4} iterations {messages:12,.0f} messages {cost:6.2f} us each")


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("--linear", action="store_true")
    options = parser.parse_args()
    if options.linear:
        linear()
    else:
        figures(options.jobs)


if __name__ == "__main__":
    main()
