"""Builds and runs the tests of a checkout, and adds up what the test runners found."""

from __future__ import annotations

import fcntl
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from typing import TYPE_CHECKING

from contend.common.errors import EXIT_FAILURE, ContendError
from contend.common.paths import require_repository
from contend.engine.runner import default_jobs

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@dataclass(frozen=True)
class Counts:
    """How many tests passed, failed (errors too) and were skipped."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.passed + other.passed, self.failed + other.failed, self.skipped + other.skipped)

    def __str__(self) -> str:
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def call(command: Sequence[str | Path], root: Path) -> int:
    """Runs a program in the checkout; its output is ours.

    Raises:
        ContendError: It cannot be started.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        words = [str(word) for word in command]
        return subprocess.run(words, cwd=root, stdin=subprocess.DEVNULL, check=False).returncode
    except OSError as error:
        hint = "'./contend doctor' says what is missing"
        raise ContendError(f"cannot start {command[0]}: {error.strerror}; {hint}") from error


def configure(preset: str, root: Path, *options: str) -> None:
    """Configures a CMake preset; says something only if that fails.

    Raises:
        ContendError: It failed.
    """
    command = ["cmake", "--preset", preset, *options]
    try:
        answer = subprocess.run(
            command, cwd=root, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
    except OSError as error:
        raise ContendError(f"cannot start cmake: {error.strerror}; './contend doctor' says what is missing") from error
    if answer.returncode:
        print(answer.stdout + answer.stderr, file=sys.stderr)
        raise ContendError(f"configuring the preset '{preset}' failed")


# The tests lie beside what they test.
_TESTED = {"test": "release"}


def _folder(preset: str, root: Path) -> Path:
    """Where a preset builds, as in CMakePresets.json."""
    return root / "build" / _TESTED.get(preset, preset)


def _lock(preset: str, root: Path) -> Path:
    """What two builds in one folder must not hold at the same time; in the folder of ./contend it is that script's."""
    lock = root / ".contend" / "lock" if preset in _TESTED else root / "build" / f"{preset}.lock"
    lock.parent.mkdir(exist_ok=True)
    return lock


def build(preset: str, root: Path, jobs: int | None = None, targets: Sequence[str] = ()) -> None:
    """Configures and builds a CMake preset.

    Raises:
        ContendError: It does not build.
    """
    command: list[str | Path] = ["cmake", "--build", "--preset", preset]
    if jobs is not None:
        command += ["--parallel", str(jobs)]
    if targets:
        command += ["--target", *targets]
    with _lock(preset, root).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        configure(preset, root)
        for _ in range(_BUILD_ATTEMPTS):
            started = time.time()
            if call(command, root):
                raise ContendError(f"building the preset '{preset}' failed")
            if not _changed_between(root, started, time.time()):
                return
            # Ninja takes an object for new when its compilation ended after the change, though it read the old text.
            print("a source changed during the build; building again", flush=True)
            for path in _folder(preset, root).rglob("*.o"):
                if path.stat().st_mtime >= started:
                    path.unlink()
    raise ContendError("the sources keep changing; try again when they are at rest")


_BUILD_ATTEMPTS = 3


def _changed_between(root: Path, start: float, end: float) -> bool:
    """Whether a C++ source was written between two moments (seconds since the epoch)."""
    folders = (root / name for name in ("sim", "tests", "benchmarks", "cmake"))
    sources = (path for folder in folders for path in folder.rglob("*") if path.suffix in (".cpp", ".hpp", ".txt"))
    return any(start < path.stat().st_mtime <= end for path in sources)


def read_counts(report: Path) -> Counts:
    """Adds up a JUnit report (ctest's or pytest's); none at all counts as one failure.

    Raises:
        ContendError: It is not a JUnit report.
    """
    if not report.is_file():
        return Counts(failed=1)
    try:
        cases = ET.parse(report).getroot().iter("testcase")  # noqa: S314 - written by our own test run
    except ET.ParseError as error:
        raise ContendError(f"{report} is not a test report: {error}") from error
    passed = failed = skipped = 0
    for case in cases:
        if case.find("failure") is not None or case.find("error") is not None:
            failed += 1
        elif case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
            skipped += 1
        else:
            passed += 1
    return Counts(passed, failed, skipped)


def _run_ctest(preset: str, keyword: str | None, jobs: int, root: Path) -> Counts:
    report = _folder(preset, root) / "ctest.xml"
    report.unlink(missing_ok=True)
    command: list[str | Path] = ["ctest", "--preset", preset, "--parallel", str(jobs), "--output-junit", report]
    if keyword:
        command += ["-R", keyword, "--no-tests=ignore"]
    status = call(command, root)
    if status == 0 and keyword and not report.is_file():
        return Counts()
    counts = read_counts(report)
    return counts if status == 0 or counts.failed else counts + Counts(failed=1)


_PYTEST_NOTHING_FOUND = 5


# Longest time of one cell of a notebook, in s.
_CELL_TIMEOUT_S = 120


def _run_pytest(keyword: str | None, root: Path, jobs: int) -> Counts:
    """Runs the Python tests, and every notebook from its beginning, in which an error in a cell is a failure."""
    report = root / "build" / "pytest.xml"
    report.parent.mkdir(exist_ok=True)
    report.unlink(missing_ok=True)
    command: list[str | Path] = [sys.executable, "-P", "-m", "pytest", f"--junitxml={report}"]
    # Notebooks are the longest of all, and at the end the one would be waited for that is left.
    command += ["--nbmake", f"--nbmake-timeout={_CELL_TIMEOUT_S}", "notebooks", "tests/python"]
    if jobs > 1:
        command += ["--numprocesses", str(jobs), "--dist", "loadfile"]  # the tests of a file share what is dear to make
    if keyword:
        command += ["-k", keyword]
    status = call(command, root)
    if status == _PYTEST_NOTHING_FOUND and keyword:
        return Counts()
    counts = read_counts(report)
    return counts if status == 0 or counts.failed else counts + Counts(failed=1)


def run_tests(*, preset: str, cpp: bool, python: bool, keyword: str | None, jobs: int | None) -> int:
    """Builds and runs the tests; prints the sum as the last line.

    Args:
        preset: CMake preset of the C++ tests.
        cpp: Run them.
        python: Run the Python tests.
        keyword: Only tests whose name matches.
        jobs: Tests and compilers at once.

    Returns:
        0 if all passed.

    Raises:
        ContendError: Something does not build.
    """
    root = require_repository("test")
    total = Counts()
    if cpp:
        print(f"== C++ tests (preset {preset})")
        build(preset, root, jobs)
        total += _run_ctest(preset, keyword, jobs or default_jobs(), root)
    if python:
        print("== notebooks and Python tests")
        total += _run_pytest(keyword, root, jobs or default_jobs())
    if not total.passed and not total.failed:
        raise ContendError("no test was run" + (f": none matches {keyword!r}" if keyword else ""))
    print(f"contend: {total}")
    return EXIT_FAILURE if total.failed else 0


# Beginnings of what the loader is fed, from the folder of the sources.
_FUZZ_SEEDS = ("tests/scenario/corpus", "tests/scenario/bad", "tests/scenario/valid")


def fuzz(seconds: int, jobs: int | None) -> int:
    """Builds the fuzz target of the scenario loader (libFuzzer, clang) and lets it run.

    What it learns, and the input of a crash, go to build/fuzz.

    Args:
        seconds: How long.
        jobs: Compilers at once.

    Returns:
        0 if nothing was found.

    Raises:
        ContendError: It does not build.
    """
    root = require_repository("test")
    build("fuzz", root, jobs)
    folder = _folder("fuzz", root)
    learnt = folder / "corpus"
    learnt.mkdir(exist_ok=True)
    program = folder / "bin" / "contend_scenario_fuzz"
    limits = (f"-max_total_time={seconds}", f"-artifact_prefix={folder}/", "-print_final_stats=1")
    status = call([program, *limits, learnt, *(root / seeds for seeds in _FUZZ_SEEDS)], root)
    if status:
        print(f"the loader failed; its input is in {folder}", file=sys.stderr)
        return EXIT_FAILURE
    return 0
