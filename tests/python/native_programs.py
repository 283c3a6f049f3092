"""Building and running the benchmark programs of validation/native; finding an MPI library.

A library is looked for in the folders of CONTEND_TEST_MPI (separated by colons), in those that `contend measure` has
installed, and beside an mpicxx on the path.
"""

import fcntl
import json
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]
SOURCE = REPOSITORY / "validation/native"
TIME_LIMIT_S = 120


@dataclass(frozen=True)
class Outcome:
    """How a program ended, and what it printed."""

    status: int
    document: dict[str, Any] | None
    errors: str


Run = Callable[..., Outcome]


def build(folder: str, *definitions: str) -> Path:
    """Configures and builds in build/<folder>, one process at a time; returns the folder of the programs.

    Sources are compiled in batches and with few optimisations, which takes a fifth of the time; who measures compiles
    them one by one and with all.
    """
    target = REPOSITORY / "build" / folder
    target.mkdir(parents=True, exist_ok=True)
    quick = ["-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=16", "-DCMAKE_CXX_FLAGS_RELEASE=-O1"]
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    commands: list[list[str | Path]] = [
        ["cmake", "-S", SOURCE, "-B", target, *generator, "-DCONTEND_WERROR=ON", *quick, *definitions],
        ["cmake", "--build", target, "--parallel", "2"],
    ]
    with (target / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for command in commands:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stdout + done.stderr
    return target / "bin"


def run(command: list[str | Path], **environment: str) -> Outcome:
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT_S,
        check=False,
        env={**os.environ, **environment},
    )
    document = json.loads(done.stdout) if done.stdout.startswith("{") else None
    return Outcome(done.returncode, document, done.stderr)


def mpi_folder() -> Path | None:
    """A library with headers, an own launcher and a compiler wrapper or library to link."""
    named = [Path(part) for part in os.environ.get("CONTEND_TEST_MPI", "").split(":") if part]
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "contend"
    measured = sorted((Path(os.environ.get("CONTEND_CACHE") or cache) / "mpi").glob("*"))
    wrapper = shutil.which("mpicxx")
    on_path = [Path(wrapper).parent.parent] if wrapper else []
    for folder in (*named, *measured, *on_path):
        if (folder / "include/mpi.h").exists() and (folder / "bin/mpiexec").exists():
            return folder
    return None
