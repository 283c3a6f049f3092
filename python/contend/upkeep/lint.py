"""Checks the sources of a checkout with clang-format, clang-tidy, ruff, mypy and import-linter."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from contend.common.errors import EXIT_FAILURE, ContendError
from contend.common.paths import require_repository
from contend.engine.runner import default_jobs
from contend.upkeep.testing import call, configure

if TYPE_CHECKING:
    from collections.abc import Callable

CPP_FOLDERS = ("sim", "tests", "benchmarks")
PYTHON_FOLDERS = ("python", "tests/python", "validation", "docs/_site")
# clang-tidy reads how files are compiled from this preset; it is configured, not built.
TIDY_PRESET = "tidy"


@dataclass(frozen=True)
class Check:
    """One tool's verdict."""

    name: str
    is_ok: bool
    summary: str
    seconds: float


def cpp_files(root: Path, *suffixes: str) -> list[Path]:
    """Our C++ files with these suffixes."""
    return sorted(
        path
        for folder in CPP_FOLDERS
        for path in (root / folder).rglob("*")
        if path.suffix in suffixes and path.is_file()
    )


def _tool(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        raise ContendError(f"{name} is not installed: apt-get install {name} (./contend lint does it when it may)")
    return path


def _clang_format(root: Path, *, fix: bool) -> tuple[bool, str]:
    files = cpp_files(root, ".cpp", ".hpp")
    if not files:
        return True, "no files"
    mode = ["-i"] if fix else ["--dry-run", "--Werror"]
    status = call([_tool("clang-format-16"), "--style=file", *mode, *files], root)
    return status == 0, f"{len(files)} files"


class _TidyCache:
    """Remembers which units clang-tidy found clean, by everything that it reads of ours."""

    def __init__(self, root: Path) -> None:
        self._folder = root / "build" / "tidy-cache"
        self._folder.mkdir(parents=True, exist_ok=True)
        shared = hashlib.sha256((root / ".clang-tidy").read_bytes())
        for header in cpp_files(root, ".hpp"):
            shared.update(str(header.relative_to(root)).encode() + header.read_bytes())
        self._shared = shared.hexdigest()

    def entry(self, unit: _Unit) -> Path:
        """The file that exists if `unit` is clean."""
        key = hashlib.sha256(f"{self._shared}\0{unit.command}\0".encode())
        for source in unit.sources:
            key.update(str(source).encode() + b"\0" + source.read_bytes())
        return self._folder / key.hexdigest()


@dataclass(frozen=True)
class _Unit:
    """What clang-tidy reads at once: one source, or a batch of them that a unity build's file includes."""

    file: Path
    command: str
    sources: tuple[Path, ...]


def _units(build: Path, ours: set[Path], checks: list[str]) -> list[_Unit]:
    """The units of a configured build folder that hold sources of `ours`."""
    units = []
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        file = Path(entry["file"])
        sources = [file]
        if file.is_relative_to(build) and file.is_file():
            sources = [Path(name) for name in re.findall(r'^#include "(.+)"$', file.read_text("utf-8"), re.MULTILINE)]
        if ours.issuperset(sources):
            units.append(_Unit(file, " ".join([str(entry["command"]), *checks]), tuple(sources)))
    return sorted(units, key=lambda unit: -sum(source.stat().st_size for source in unit.sources))


def _clang_tidy(root: Path, *, fix: bool, jobs: int, with_tests: bool, analyze: bool) -> tuple[bool, str]:
    tidy = _tool("clang-tidy-16")
    configure(TIDY_PRESET, root, f"-DCONTEND_TESTS={'ON' if with_tests else 'OFF'}")
    build = root / "build" / TIDY_PRESET
    ours = {path for path in cpp_files(root, ".cpp") if with_tests or not path.is_relative_to(root / "tests")}
    checks = ["--checks=clang-analyzer-*"] if analyze else []  # in addition to those of .clang-tidy
    work = _units(build, ours, checks)
    cache = _TidyCache(root)
    todo = [unit for unit in work if not cache.entry(unit).exists()]
    # clang-tidy looks for its settings beside the file, and a batch lies in the build folder.
    options = ["--quiet", "--warnings-as-errors=*", f"--config-file={root / '.clang-tidy'}", "-p", str(build)]

    def check(unit: _Unit) -> tuple[_Unit, bool, str]:
        answer = subprocess.run(
            [tidy, *options, *checks, *(["--fix"] if fix else []), str(unit.file)],
            capture_output=True,
            text=True,
            cwd=root,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        return unit, answer.returncode == 0, answer.stdout

    failed = 0
    # Repairs of a header that several units include must not run at once.
    with ThreadPoolExecutor(max_workers=1 if fix else jobs) as pool:
        for unit, is_ok, output in pool.map(check, todo):
            if is_ok:
                cache.entry(unit).touch()
            else:
                failed += 1
                print(output.strip() or f"{unit.file}: clang-tidy failed", flush=True)
    files = sum(len(unit.sources) for unit in work)
    return failed == 0, f"{files} files in {len(work)} units, {len(work) - len(todo)} unchanged" + (
        f", {failed} bad" if failed else ""
    )


def _python_folders(root: Path) -> list[str]:
    return [folder for folder in PYTHON_FOLDERS if (root / folder).is_dir()]


def _ruff(root: Path, *, fix: bool) -> tuple[bool, str]:
    ruff = [sys.executable, "-P", "-m", "ruff"]
    folders = _python_folders(root)
    check = call([*ruff, "check", "--quiet", *(["--fix"] if fix else []), *folders], root)
    layout = call([*ruff, "format", "--quiet", *([] if fix else ["--diff"]), *folders], root)
    parts = [name for name, status in (("rules", check), ("format", layout)) if status]
    return not parts, " and ".join(parts) or "rules and format"


def _mypy(root: Path) -> tuple[bool, str]:
    status = call([sys.executable, "-P", "-m", "mypy", "--no-error-summary"], root)
    return status == 0, "strict"


def _imports(root: Path) -> tuple[bool, str]:
    tool = Path(sys.executable).with_name("lint-imports")
    answer = subprocess.run(
        [tool, "--no-cache", root / "pyproject.toml"],
        capture_output=True,
        text=True,
        cwd=root,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    verdict = re.search(r"^Contracts: (.*)\.$", answer.stdout, re.MULTILINE)
    if answer.returncode != 0:
        print((answer.stdout + answer.stderr).strip(), flush=True)
    return answer.returncode == 0, verdict[1] if verdict else "no verdict"


def run_lint(*, fix: bool, jobs: int | None, with_tests: bool, analyze: bool = False) -> int:
    """Runs all checks, each of them even if another failed.

    Args:
        fix: Repair what can be repaired.
        jobs: Files looked at at once.
        with_tests: Let clang-tidy look at the tests too, which takes as long again.
        analyze: Ask clang's static analyzer too, which takes three times as long.

    Returns:
        0 if all are content.
    """
    root = require_repository("lint")
    count = jobs or default_jobs()
    checks: dict[str, Callable[[], tuple[bool, str]]] = {
        "clang-format": lambda: _clang_format(root, fix=fix),
        "ruff": lambda: _ruff(root, fix=fix),
        "mypy": lambda: _mypy(root),
        "imports": lambda: _imports(root),
        "clang-tidy": lambda: _clang_tidy(root, fix=fix, jobs=count, with_tests=with_tests, analyze=analyze),
    }
    verdicts = []
    for name, check in checks.items():
        started = time.monotonic()
        try:
            is_ok, summary = check()
        except ContendError as error:
            is_ok, summary = False, str(error)
        verdicts.append(Check(name, is_ok, summary, time.monotonic() - started))
    for verdict in verdicts:
        state = "ok    " if verdict.is_ok else "FAILED"
        print(f"lint: {state} {verdict.name} ({verdict.summary}; {verdict.seconds:.1f} s)")
    return 0 if all(verdict.is_ok for verdict in verdicts) else EXIT_FAILURE
