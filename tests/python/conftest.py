"""Fixtures for all tests."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING

import pytest

import contend
from fakes import FakeCore
from sweeping import BASE, SMALL

if TYPE_CHECKING:
    from pathlib import Path

# The test runner's workers say that their terminal has 80 columns; they have none.
os.environ.pop("COLUMNS", None)


@pytest.fixture
def core(monkeypatch: pytest.MonkeyPatch) -> FakeCore:
    fake = FakeCore()
    monkeypatch.setitem(sys.modules, "contend._core", fake)  # type: ignore[arg-type]
    monkeypatch.setattr(contend, "_core", fake, raising=False)
    return fake


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
