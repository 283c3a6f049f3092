"""The installed package: what `pip install .` puts there works without the checkout.

To be quick, the wheel is made without compiling, and what CMake would add is installed from the build that the tests
use anyway.
With CONTEND_TEST_WHEEL=1 the real thing is done: build the wheel, install it into an empty environment.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from contend.common.paths import version
from fakes import REPOSITORY

pytestmark = [pytest.mark.core, pytest.mark.slow]
BUILD = REPOSITORY / "build" / "release"


def call(*command: str | Path, cwd: Path) -> str:
    """Runs a program outside the checkout, without the checkout's environment variables."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("CONTEND_", "PYTHON"))}
    answer = subprocess.run(
        list(map(str, command)), cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert answer.returncode == 0, f"{command}\n{answer.stdout}{answer.stderr}"
    return answer.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, without the compiled part."""
    folder = tmp_path_factory.mktemp("wheel")
    call(
        sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--quiet",
        "--config-settings=wheel.cmake=false",
        "-w", folder, REPOSITORY, cwd=folder,
    )  # fmt: skip
    return next(folder.glob("contend-*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the package; the packages that it depends on are those of the tests."""
    folder = tmp_path_factory.mktemp("installed")
    call(sys.executable, "-m", "venv", folder / "venv", cwd=folder)
    python = folder / "venv" / "bin" / "python"
    call(python, "-m", "pip", "install", "--no-deps", "--no-index", "--quiet", wheel, cwd=folder)
    packages = Path(call(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder).strip())
    call("cmake", "--install", BUILD, "--component", "python", "--prefix", packages, cwd=folder)
    # Only this folder joins the path: path files in it, such as the checkout's own, are not read.
    (packages / "dependencies.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    return folder / "venv" / "bin"


def test_the_wheel_has_everything(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    package = REPOSITORY / "python" / "contend"
    wanted = {
        f"contend/{path.relative_to(package).as_posix()}"
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path.suffix not in (".so", ".pyi")
    }
    for data, source in (
        ("scenarios", "scenarios"), ("schemas", "schemas"), ("libraries", "libraries"),
        ("calibration/profiles", "calibration/profiles"),
    ):  # fmt: skip
        folder = REPOSITORY / source
        wanted |= {f"contend/data/{data}/{path.relative_to(folder).as_posix()}" for path in folder.rglob("*.json")}
        wanted |= {f"contend/data/{data}/{path.relative_to(folder).as_posix()}" for path in folder.rglob("*.xml")}
    assert wanted <= names, sorted(wanted - names)
    assert not any("tests/" in name or name.endswith(".sh") for name in names)


def test_the_command_is_on_the_path(installed: Path, tmp_path: Path) -> None:
    assert call(installed / "contend", "--version", cwd=tmp_path).strip() == f"contend {version()}"
    assert "alembert" in call(installed / "contend", "profile", "list", cwd=tmp_path)


def test_it_simulates_and_reports_without_the_checkout(installed: Path, tmp_path: Path) -> None:
    small = ["--set", "workload.pairs=2", "--iterations", "1", "--replications", "2"]
    call(installed / "contend", "run", "fig5_2a_base", *small, "--out", "out", cwd=tmp_path)
    assert len(json.loads((tmp_path / "out" / "results.json").read_text())["points"]) == 1
    call(installed / "contend", "report", "out", "--no-speedups", cwd=tmp_path)
    assert (tmp_path / "out" / "report.html").stat().st_size > 100_000


def test_it_can_be_imported(installed: Path, tmp_path: Path) -> None:
    code = """
import contend, pathlib
assert "site-packages" in contend.__file__, contend.__file__
results = contend.run("fig5_2a_base", overrides={"workload.pairs": 1, "workload.iterations": 1, "run.replications": 1})
print(results.frame().height)
"""
    assert call(installed / "python", "-c", code, cwd=tmp_path).strip() == "1"


@pytest.mark.skipif(
    not os.environ.get("CONTEND_TEST_WHEEL"), reason="compiles everything; CONTEND_TEST_WHEEL=1 does it"
)
def test_pip_install_in_an_empty_environment(tmp_path: Path) -> None:
    call(sys.executable, "-m", "venv", tmp_path / "venv", cwd=tmp_path)
    pip = [tmp_path / "venv" / "bin" / "python", "-m", "pip"]
    call(*pip, "wheel", "--no-deps", "-w", tmp_path, REPOSITORY, cwd=tmp_path)
    call(*pip, "install", next(tmp_path.glob("contend-*.whl")), cwd=tmp_path)
    small = ["--set", "workload.pairs=2", "--iterations", "1", "--replications", "2"]
    call(tmp_path / "venv" / "bin" / "contend", "run", "fig5_2a_base", *small, cwd=tmp_path)
    call(tmp_path / "venv" / "bin" / "contend", "run", "fig5_2a_base", *small, "--engine", "simgrid", cwd=tmp_path)
    call(tmp_path / "venv" / "bin" / "contend", "report", "out/fig5_2a_base", "--no-speedups", cwd=tmp_path)
