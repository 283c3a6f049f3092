"""The compiled core, through the package and the command line."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import contend
from contend.cli import main
from contend.core import core
from contend.paths import scenarios_directory
from contend.scenario import resolve_scenario
from fakes import REPOSITORY

pytestmark = pytest.mark.core

SMALL = {"run.replications": 2, "workload.iterations": 2, "workload.warmup_iterations": 1, "workload.window": 16}
BASE = "fig5_2a_base"


def small_options() -> list[str]:
    return [word for path, value in SMALL.items() for word in ("--set", f"{path}={value}")]


def test_has_the_version_of_the_package() -> None:
    assert core().version() == contend.__version__


@pytest.mark.parametrize("path", sorted(scenarios_directory().glob("*/*.json")), ids=lambda path: path.stem)
def test_every_shipped_scenario_resolves(path: Path) -> None:
    resolved = resolve_scenario(path)
    assert resolved.points
    assert resolved.origins


@pytest.mark.parametrize("path", sorted(scenarios_directory().glob("*/*.json")), ids=lambda path: path.stem)
def test_a_resolved_scenario_needs_no_other_file(path: Path, tmp_path: Path) -> None:
    """What results.json carries gives the very same points again: reports simulate from it."""
    resolved = resolve_scenario(path)
    (tmp_path / "again.json").write_text(json.dumps(resolved.document))
    again = resolve_scenario(tmp_path / "again.json")
    assert [(p.parameters, p.config) for p in again.points] == [(p.parameters, p.config) for p in resolved.points]


@pytest.mark.parametrize("kind", ["scenario", "profile", "preset"])
def test_schemas_are_the_committed_ones(kind: str) -> None:
    assert json.loads(core().schema(kind)) == json.loads((REPOSITORY / f"schemas/{kind}.schema.json").read_text())


def test_a_small_run_keeps_the_books() -> None:
    results = contend.run(BASE, SMALL)
    for point in results.points:
        pairs = point.parameters["pairs"]
        assert isinstance(pairs, int)
        assert point.counters["messages_received"] == point.counters["messages_sent"]
        assert point.counters["messages_sent"] >= pairs * 2 * 16
        assert point.message_rate is not None
        assert point.message_rate.mean * (point.scalars["elapsed_s"]) == pytest.approx(pairs * 2 * 16, rel=0.05)
        assert {"sender", "receiver"} <= set(point.time_by_category_ns)


def test_the_same_bytes_every_time(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", BASE, "--check-determinism", "-j", "2", *small_options()]) == 0
    assert "the same bytes" in capsys.readouterr().out


def test_another_seed_gives_other_samples() -> None:
    one = contend.run(BASE, {**SMALL, "workload.pairs": 2, "run.seed": 1})
    two = contend.run(BASE, {**SMALL, "workload.pairs": 2, "run.seed": 2})
    assert one.canonical_hash() != two.canonical_hash()


def test_unknown_key_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", BASE, "--set", "workload.piars=3"]) == 2
    assert "pairs" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["run"], ["compare", BASE], ["report"]])
def test_a_pipe_as_scenario_is_refused_and_not_waited_for(command: list[str], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    answer = subprocess.run(
        [sys.executable, "-m", "contend", *command, "pipe.json"],
        cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert answer.returncode == 2
    assert answer.stderr == "contend: error: pipe.json: cannot read the file: it is not a regular file\n"
