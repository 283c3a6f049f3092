#!/usr/bin/env python3
"""Rewrites the golden files under tests/ from what the tests give now.

Build the tests first (cmake --preset test && cmake --build --preset test), then look at the change with
`git diff tests` before committing it: a golden value that changes means that results change.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main() -> int:
    """Runs each test program that has golden tests with CONTEND_ACCEPT_GOLDEN set.

    Returns:
        0 when every program was found and passed.
    """
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = ROOT / "build" / "release"
    parser.add_argument("--build", type=Path, default=default, help="build folder (default: build/release)")
    arguments = parser.parse_args()
    programs = sorted((arguments.build / "bin").glob("contend_*_tests"))
    if not programs:
        print(f"no test programs in {arguments.build / 'bin'}: build the tests first", file=sys.stderr)
        return 1
    environment = dict(os.environ, CONTEND_ACCEPT_GOLDEN="1")
    for program in programs:
        listed = subprocess.run([program, "[golden]", "--list-test-names-only"], capture_output=True, check=False)
        if not listed.stdout.strip():
            continue
        if subprocess.run([program, "[golden]"], env=environment, check=False).returncode != 0:
            return 1
    return subprocess.run(["git", "-C", ROOT, "--no-pager", "diff", "--stat", "--", "tests"], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
