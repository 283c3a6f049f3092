#!/usr/bin/env python3
"""Whether two builds of the simulator give the same results, to the last bit and in the same order of events.

Runs the first and the last point of every shipped scenario once with each build, for example those of two compilers:

    cmake --preset clang && cmake --build --preset clang
    .venv/bin/python tests/compare_builds.py build/release build/clang
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HOST_KEYS = ("wall_s",)  # what a result says of the machine that made it


def hashes(most: int) -> dict[str, str | None]:
    """Runs the points with the build that is on the path.

    Args:
        most: Points with more operations than that are left out.

    Returns:
        A hash of the results and of the sequence of events, by scenario and number of the point; None for what was left
        out.
    """
    from contend.engine.core import core
    from contend.scenarios.resolution import resolve_scenario

    found: dict[str, str | None] = {}
    for file in sorted((ROOT / "scenarios").rglob("*.json")):
        points = resolve_scenario(file, []).points
        for number in sorted({0, len(points) - 1}):
            point = core().point(points[number].config_json)
            name = f"{file.relative_to(ROOT / 'scenarios')}, point {number}"
            if point.operations > most:
                found[name] = None
                continue
            result = json.loads(point.run(0, trace_hash=True))
            for key in HOST_KEYS:
                result.pop(key, None)
            found[name] = hashlib.sha256(json.dumps(result, sort_keys=True).encode()).hexdigest()
    return found


def started(build: Path, most: int) -> subprocess.Popen[str]:
    """This program in a process of its own, with a build's core."""
    module = build.resolve() / "python"
    if not list(module.glob("contend/_core.*")):
        raise SystemExit(f"{build} has no simulator: cmake --build {build}")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (ROOT / "python", module)))}
    return subprocess.Popen(
        [sys.executable, "-P", __file__, "--hashes", "--most", str(most)],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )


def main() -> int:
    """Compares two builds.

    Returns:
        0 if all results are the same.
    """
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("builds", nargs="*", type=Path, metavar="BUILD", help="two build folders")
    parser.add_argument("--most", type=int, default=60_000, help="largest number of operations of a point")
    parser.add_argument("--hashes", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.hashes:
        json.dump(hashes(arguments.most), sys.stdout)
        return 0
    try:
        first, second = arguments.builds
    except ValueError:
        parser.error("expected two build folders")
    processes = [started(build, arguments.most) for build in (first, second)]
    answers = [process.communicate()[0] for process in processes]
    if any(process.returncode != 0 for process in processes):
        return 1
    one, other = (json.loads(answer) for answer in answers)
    different = [name for name in one if one[name] != other.get(name)]
    for name in different:
        print(f"different: {name}")
    left_out = sum(answer is None for answer in one.values())
    print(
        f"{len(one) - left_out} points, {len(different)} different; {left_out} left out, of more than "
        f"{arguments.most} operations (--most)"
    )
    return 1 if different or left_out == len(one) or one.keys() != other.keys() else 0


if __name__ == "__main__":
    sys.exit(main())
