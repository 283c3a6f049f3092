"""What of the things that contend needs is on this machine."""

from __future__ import annotations

import importlib
import platform
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from contend.common.errors import ContendError
from contend.common.paths import data_directory, executable, repository, version

_INCLUDE_FOLDERS = (Path("/usr/include"), Path("/usr/local/include"))
_TIMEOUT_S = 20


@dataclass(frozen=True)
class Finding:
    """One thing: whether it is there, which version, what for, and how to get it."""

    name: str
    is_ok: bool
    version: str
    purpose: str
    remedy: str
    is_required: bool


def _program(command: str, package: str, purpose: str, *, is_required: bool) -> Finding:
    path = shutil.which(command)
    text = ""
    if path is not None:
        try:
            answer = subprocess.run(
                [path, "--version"], capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
            )
            match = re.search(r"\d+\.\d+[\w.-]*", answer.stdout + answer.stderr)
            text = match.group(0) if match else "?"
        except (OSError, subprocess.TimeoutExpired):
            path = None
    return Finding(command, path is not None, text, purpose, f"apt-get install {package}", is_required)


def _header(name: str, header: str, pattern: str, package: str, purpose: str) -> Finding:
    """A library, known by a header; `pattern` finds the parts of its version in it."""
    for folder in _INCLUDE_FOLDERS:
        path = folder / header
        if path.is_file():
            numbers = re.findall(pattern, path.read_text(encoding="utf-8", errors="replace"), re.MULTILINE)
            return Finding(name, is_ok=True, version=".".join(numbers[:3]).replace("_", "."), purpose=purpose,
                           remedy="", is_required=True)  # fmt: skip
    return Finding(name, is_ok=False, version="", purpose=purpose, remedy=f"apt-get install {package}",
                   is_required=True)  # fmt: skip


def _python_package(name: str, purpose: str, *, is_required: bool) -> Finding:
    remedy = "./contend installs it; delete .venv to redo that" if repository() else f"pip install {name}"
    try:
        return Finding(name, is_ok=True, version=metadata.version(name), purpose=purpose, remedy=remedy,
                       is_required=is_required)  # fmt: skip
    except metadata.PackageNotFoundError:
        return Finding(name, is_ok=False, version="", purpose=purpose, remedy=remedy, is_required=is_required)


def _core() -> Finding:
    purpose = "simulating"
    remedy = "./contend builds it; the log is .contend/setup.log" if repository() else "install contend again"
    try:
        module = importlib.import_module("contend._core")
        built = str(module.version())
    except ImportError as error:
        return Finding("contend._core", is_ok=False, version=str(error), purpose=purpose, remedy=remedy,
                       is_required=True)  # fmt: skip
    is_ok = built == version()
    return Finding("contend._core", is_ok, built if is_ok else f"{built}, not {version()}", purpose, remedy,
                   is_required=True)  # fmt: skip


def _cpu() -> Finding:
    model = ""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        match = re.search(r"^model name\s*:\s*(.+)$", cpuinfo.read_text(encoding="utf-8"), re.MULTILINE)
        model = match.group(1) if match else ""
    from contend.engine.runner import default_jobs

    text = f"{model or platform.machine()}, {default_jobs()} usable"
    return Finding("CPU", is_ok=True, version=text, purpose="default of -j", remedy="", is_required=False)


def _data() -> Finding:
    try:
        folders = [data_directory(name) for name in ("schemas", "scenarios", "libraries", "calibration/profiles")]
    except ContendError as error:  # pragma: no cover - only in a broken installation
        return Finding("data files", is_ok=False, version=str(error), purpose="", remedy="", is_required=True)
    missing = [str(folder) for folder in folders if not folder.is_dir()]
    count = sum(1 for folder in folders if folder.is_dir() for _ in folder.rglob("*.json"))
    text = f"missing {', '.join(missing)}" if missing else f"{count} files"
    return Finding("data files", not missing, text, "scenarios, presets, profiles, schemas", "get contend again",
                   is_required=True)  # fmt: skip


def examine() -> list[Finding]:
    """Looks for everything. In a checkout the tools that build contend are required too."""
    in_checkout = repository() is not None
    simgrid = executable("contend-simgrid")
    findings = [
        Finding("contend", is_ok=True, version=version(), purpose="", remedy="", is_required=True),
        Finding("Python", sys.version_info >= (3, 11), platform.python_version(), sys.executable,
                "set CONTEND_PYTHON to a Python >= 3.11", is_required=True),
        _cpu(),
        _core(),
        Finding("contend-simgrid", simgrid is not None, str(simgrid or ""), "platforms, second engine",
                "built with the core when libsimgrid-dev is there", is_required=in_checkout),
        _data(),
    ]  # fmt: skip
    if in_checkout:
        findings += [
            _program("g++", "build-essential", "building the core", is_required=True),
            _program("cmake", "cmake", "building the core", is_required=True),
            _program("ninja", "ninja-build", "building the core", is_required=True),
            _program("pkg-config", "pkg-config", "building the core", is_required=True),
            _header("SimGrid", "simgrid/version.h", r"SIMGRID_VERSION_(?:MAJOR|MINOR|PATCH)\s+(\d+)", "libsimgrid-dev",
                    "platforms, second engine"),
            _header("Boost", "boost/version.hpp", r'^#define BOOST_LIB_VERSION "([\d_]+)"', "libboost-context-dev",
                    "fibers"),
            _header("nlohmann-json", "nlohmann/detail/abi_macros.hpp",
                    r"^#define NLOHMANN_JSON_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", "nlohmann-json3-dev", "scenarios"),
            _header("Catch2", "catch2/catch.hpp", r"#define CATCH_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", "catch2",
                    "C++ tests"),
        ]  # fmt: skip
    findings += [_python_package(name, "command line", is_required=True) for name in ("typer", "rich")]
    findings += [_python_package(name, "results", is_required=True) for name in ("polars", "matplotlib", "scipy")]
    findings += [
        _python_package(name, "reports", is_required=True) for name in ("altair", "vl-convert-python", "jinja2")
    ]
    if in_checkout:
        findings += [
            _python_package(name, purpose, is_required=True)
            for name, purpose in (
                ("nanobind", "building the core"),
                ("pytest", "./contend test"),
                ("mkdocs-material", "./contend docs"),
                ("ruff", "./contend lint"),
                ("mypy", "./contend lint"),
            )
        ]
        findings += [
            _program("clang++-16", "clang-16", "sanitizers, comparison", is_required=False),
            _program("clang-tidy-16", "clang-tidy-16", "./contend lint", is_required=False),
            _program("clang-format-16", "clang-format-16", "./contend lint", is_required=False),
            _program("valgrind", "valgrind", "./contend bench", is_required=False),
            _program(
                "chromedriver", "chromium-headless-shell chromium-driver", "./contend test (pages)", is_required=False
            ),
        ]
    return findings
