# ruff: noqa: INP001 - a program, not a package
"""Times a million simulated MPI processes and measures the memory that the simulator needs for each.

    ./.venv/bin/python benchmarks/processes.py [--processes 1000000]

Runs each layout and operation in a process of its own: one barrier, broadcast or reduction of all processes. The
targets are 60 s and 12 GB for a million of them.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time

TARGET_S = 60.0
TARGET_GB = 12.0
OPERATIONS = ("barrier", "broadcast", "reduce")


def layouts(processes: int) -> dict[str, tuple[int, int, int]]:
    """Processes in an OS process, OS processes on a node, nodes."""
    return {
        "one OS process": (processes, 1, 1),
        "one node": (processes // 8, 8, 1),
        "125 nodes": (processes // 1000, 8, 125),
    }


def child(layout: tuple[int, int, int], operation: str) -> None:
    """Runs one point and prints what it took."""
    from contend.scenarios.resolution import find_scenario, resolve_scenario

    overrides = [("sweep.workload.operation", json.dumps([operation]))]
    names = ("processes_per_os_process", "os_processes_per_node", "nodes")
    overrides += [(f"workload.{name}", str(count)) for name, count in zip(names, layout, strict=True)]
    point = resolve_scenario(find_scenario("scale_colocated"), overrides).points[0]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.monotonic()
    result = json.loads(point.compiled.run(0))
    took = time.monotonic() - begin
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(json.dumps({"s": took, "bytes": (after - before) * 1024, "simulated_s": result["elapsed_s"]}))


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--processes", type=int, default=1_000_000)
    parser.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        *layout, operation = options.child
        child((int(layout[0]), int(layout[1]), int(layout[2])), operation)
        return
    print(f"targets for a million: {TARGET_S:.0f} s, {TARGET_GB:.0f} GB")
    for name, layout in layouts(options.processes).items():
        for operation in OPERATIONS:
            command = [sys.executable, __file__, "--child", *map(str, layout), operation]
            out = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            count = layout[0] * layout[1] * layout[2]
            print(
                f"{name:16} {operation:10} {count:10,} processes  {out['s']:6.2f} s  {out['bytes'] / 1e9:6.3f} GB  "
                f"{out['bytes'] / count:5.0f} B each  simulated {out['simulated_s'] * 1e3:.3f} ms",
                flush=True,
            )


if __name__ == "__main__":
    main()
