# ruff: noqa: INP001 - a program, not a package
"""What the sweep machinery costs: 10,000 short scenarios, with it and without.

Without it, the same configurations are simulated on as many threads, and the answers thrown away; with it, points are
laid out, and results kept and made into tables. The two take turns with parts of the points, so that a machine whose
speed changes is the same to both; --rounds 1 is one sweep of all. Then again, with everything in the store. With --kill
the command line runs in a process of its own, is killed with SIGKILL in the middle, runs again, and its results are
compared with those of the uninterrupted sweep.

    .venv/bin/python benchmarks/sweep.py --json sweep.json --kill
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

import contend
from contend.common.workers import Crew
from contend.engine.runner import CoreEngine, default_jobs
from contend.sweeps.store import count_stored

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contend.scenarios.resolution import Point

GRID = {
    "workload.pairs": list(range(1, 21)),
    "library.instances.count": [1, 2, 4, 8, 16],
    "workload.window": list(range(29, 129)),
}
OVERRIDES = {"workload.iterations": 1, "run.replications": 1}
VOLATILE = ("wall_s", "events")


def measured(what: Any) -> tuple[Any, dict[str, float]]:  # noqa: ANN401
    """Calls something; wall and processor time in s."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    begin = time.monotonic()
    result = what()
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - usage.ru_utime - usage.ru_stime
    return result, {"wall_s": time.monotonic() - begin, "cpu_s": cpu}


def simulate_only(points: Sequence[Point], jobs: int) -> None:
    """The simulations and nothing else."""
    engine = CoreEngine()
    for done in Crew(lambda point: engine.run_point(point, 0, trace_hash=False), points, jobs):
        if done.error is not None:
            raise done.error


def killed(
    scenario: contend.Scenario, folder: Path, count: int, jobs: int, reference: contend.Results
) -> dict[str, Any]:
    """The same sweep by the command line, killed in the middle and run again."""
    points = [dict(zip(GRID, point.parameters.values(), strict=True)) for point in scenario.over(GRID).points[:count]]
    (folder / "points.json").write_text(json.dumps(points))
    words = [
        sys.executable, "-P", "-m", "contend", "sweep", "fig5_2a_base", "--list", str(folder / "points.json"), "--json",
        "--store", str(folder / "killed"), "--out", str(folder / "out"), "-j", str(jobs),
        *(f"--set={path}={value}" for path, value in OVERRIDES.items()),
    ]  # fmt: skip
    process = subprocess.Popen(words, start_new_session=True, stdout=subprocess.DEVNULL)
    while count_stored(folder / "killed") < count // 2 and process.poll() is None:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    kept = count_stored(folder / "killed")
    manifest = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    again = pl.read_parquet(folder / "out" / "results.parquet").drop(VOLATILE)
    return {
        "kept_when_killed": kept,
        "simulated_again": manifest["simulated"],
        "reused": manifest["reused"],
        "identical": again.equals(reference.frame().drop(VOLATILE)),
    }


def main() -> None:
    """Measures, prints, and writes JSON if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=10_000)
    parser.add_argument("--jobs", type=int, default=default_jobs())
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--kill", action="store_true")
    arguments = parser.parse_args()
    count, jobs = arguments.points, arguments.jobs
    scenario = contend.load("fig5_2a_base").with_(OVERRIDES)
    gridded = scenario.over(GRID)
    rows = [dict(zip(GRID, point.parameters.values(), strict=True)) for point in gridded.points[:count]]
    points = gridded.points[:count]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def sweep(rows: list[dict[str, Any]]) -> contend.Results:
            results = contend.sweep(scenario, rows, store=folder / "store", jobs=jobs, progress=False)
            results.parquet_bytes()
            return results

        simulate_only(points[:100], jobs)  # the first runs are slower
        bare, full = {"wall_s": 0.0, "cpu_s": 0.0}, {"wall_s": 0.0, "cpu_s": 0.0}
        for part in range(arguments.rounds):
            _, took = measured(functools.partial(simulate_only, points[part :: arguments.rounds], jobs))
            bare = {name: bare[name] + took[name] for name in bare}
            _, took = measured(functools.partial(sweep, rows[part :: arguments.rounds]))
            full = {name: full[name] + took[name] for name in full}
        results, cached = measured(lambda: sweep(rows))
        if (results.simulated, results.reused) != (0, count):
            raise SystemExit(f"simulated {results.simulated} again")
        report: dict[str, Any] = {
            "points": count,
            "jobs": jobs,
            "rounds": arguments.rounds,
            "simulations_only": bare,
            "sweep": full,
            "sweep_from_store": cached,
            "overhead": full["wall_s"] / bare["wall_s"] - 1,
            "overhead_cpu": full["cpu_s"] / bare["cpu_s"] - 1,
        }
        if arguments.kill:
            report["kill"] = killed(scenario, folder, count, jobs, results)
    text = json.dumps(report, indent=1)
    print(text)
    if arguments.json is not None:
        arguments.json.write_text(text + "\n")


if __name__ == "__main__":
    main()
