"""Fixtures for all tests."""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as in the command line, and before NumPy is imported

import json
import sys
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

import contend
import contend.sweeps.sweep  # has the default store by its own name, from before it is another one
from contend.cli import main
from contend.plots import Picture, figure_bytes
from contend.report import page as report_page
from fakes import FakeCore
from reporting import a_trace
from sweeping import BASE, SMALL

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.figure import Figure

# The same draws every time, on slow machines as well; "long" is for whoever looks for what these do not find.
settings.register_profile("default", derandomize=True, deadline=None, database=None)
settings.register_profile("long", max_examples=5000, deadline=None)
settings.load_profile("default")

# The test runner's workers say that their terminal has 80 columns; they have none.
os.environ.pop("COLUMNS", None)


@pytest.fixture
def core(monkeypatch: pytest.MonkeyPatch) -> FakeCore:
    fake = FakeCore()
    monkeypatch.setitem(sys.modules, "contend._core", fake)  # type: ignore[arg-type]
    monkeypatch.setattr(contend, "_core", fake, raising=False)
    return fake


@pytest.fixture(autouse=True)
def _results_of_no_other_test(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """`compare` finds what the fake core has "simulated" in one test nowhere else, least of all in the user's cache."""
    folder = tmp_path_factory.getbasetemp()
    monkeypatch.setattr("contend.sweeps.store.default_store", lambda: folder / f"results-{uuid.uuid4().hex}")


@pytest.fixture
def scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A scenario file in an otherwise empty working directory."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "small.json"
    path.write_text(json.dumps({"name": "small"}))
    return path


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> contend.Scenario:
    """A scenario that is simulated at once, and a store of results of its own."""
    monkeypatch.setenv("CONTEND_CACHE", str(tmp_path / "cache"))
    return contend.load(BASE).with_(SMALL)


@pytest.fixture
def no_chart_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports without the library that draws their charts: it is large."""
    monkeypatch.setattr(report_page, "chart_library", lambda: "/* charts */")


@pytest.fixture
def unrendered(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands draw their pictures, but what becomes a file is not them: rendering takes most of the time of a run."""
    if request.node.get_closest_marker("pictures"):
        return

    def files(figure: Figure, kinds: Sequence[str] = ("png", "svg")) -> dict[str, bytes]:
        assert isinstance(figure, Picture)
        return {kind: f"a picture as {kind}".encode() for kind in kinds}

    _write_pictures_with(files, monkeypatch)


def _write_pictures_with(files: Callable[..., dict[str, bytes]], patch: pytest.MonkeyPatch) -> None:
    for module in ("contend.plots.summary", "contend.plots.contest", "contend.plots"):
        patch.setattr(f"{module}.figure_bytes", files)


_OF_A_RUN: dict[str, bytes] = {}


@pytest.fixture
def results(core: FakeCore, scenario: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A folder that `contend run` wrote: once for all tests, as the fake core has the same results each time."""
    core.trace = a_trace()
    folder = Path("out/small")
    if not _OF_A_RUN:
        with pytest.MonkeyPatch.context() as patch:
            _write_pictures_with(figure_bytes, patch)  # also for a test that asked for none
            assert main(["run", str(scenario), "--quiet"]) == 0
        capsys.readouterr()
        _OF_A_RUN.update({path.name: path.read_bytes() for path in folder.iterdir()})
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in _OF_A_RUN.items():
        (folder / name).write_bytes(content)
    return folder
