# ruff: noqa: INP001 - a program, not a package
"""Times the regeneration of the study's two-sided figures.

Three panels of six curves of 20 points, with and without overtaking.

    ./.venv/bin/python benchmarks/figures.py [-j 2] [--linear]

The target is 180 s on two cores with five replications. --linear runs one panel with 10, 20 and 40 iterations instead
and prints the CPU time per simulated message, warm-up included.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import contend
from contend.scenario import find_scenario

TARGET_S = 180.0
FIGURES = [f"fig5_2{panel}{kind}" for panel in "abc" for kind in ("", "_overtaking")]


def existing() -> list[str]:
    """The figures, without those whose scenario is not there."""
    folder = Path(__file__).resolve().parent.parent / "scenarios" / "dissertation"
    return [name for name in FIGURES if (folder / f"{name}.json").exists()]


def figures(jobs: int) -> None:
    """Runs all figures and prints the time of each, the sum, and the slowest points."""
    slowest: list[tuple[float, str]] = []
    begin = time.monotonic()
    for name in existing():
        started = time.monotonic()
        results = contend.run(str(find_scenario(name)), jobs=jobs)
        runs = sum(point.replications for point in results.points)
        print(f"{name:22} {len(results.points):4} points {runs:5} runs {time.monotonic() - started:7.1f} s", flush=True)
        for point in results.points:
            label = " ".join(f"{key}={value}" for key, value in point.parameters.items())
            slowest.append((point.wall_s, f"{name} {label}"))
    total = time.monotonic() - begin
    print(f"{'all':22} {total:.1f} s with -j{jobs}; the target is {TARGET_S:.0f} s")
    print("slowest points, seconds of one replication:")
    for wall_s, label in sorted(slowest, reverse=True)[:5]:
        print(f"  {wall_s:6.2f}  {label}")


def linear() -> None:
    """Prints the CPU time per message for growing numbers of iterations."""
    for name in existing():
        for iterations in (10, 20, 40):
            begin = time.process_time()
            changes = {"workload.iterations": iterations, "workload.pairs": 20, "run.replications": 2}
            results = contend.run(str(find_scenario(name)), changes, jobs=1)
            spent = time.process_time() - begin
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
