"""The compiled core, through the package and the command line."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import contend
from contend.cli import main
from contend.common.errors import ContendError, SimulationFailedError
from contend.common.paths import scenarios_directory
from contend.engine.core import core, fingerprint
from contend.engine.simgrid import PlatformRoutes
from contend.scenarios.resolution import find_scenario, resolve_scenario
from fakes import REPOSITORY

pytestmark = pytest.mark.core

SMALL = {"run.replications": 2, "workload.iterations": 2, "workload.warmup_iterations": 1, "workload.window": 16}
BASE = "fig5_2a_base"


def small_options() -> list[str]:
    return [word for path, value in SMALL.items() for word in ("--set", f"{path}={value}")]


def test_has_the_version_of_the_package() -> None:
    assert core().version() == contend.__version__


def stand_in(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = SimpleNamespace(__file__=str(file))
    monkeypatch.setitem(sys.modules, "contend._core", module)  # type: ignore[arg-type]
    monkeypatch.setattr(contend, "_core", module, raising=False)


def test_the_fingerprint_is_of_the_core_that_was_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A notebook goes on with it after a build: its results are none of the new core."""
    file = tmp_path / "core.so"
    file.write_bytes(b"old")
    stand_in(file, monkeypatch)
    core()
    file.write_bytes(b"new")
    assert fingerprint() == f"{contend.__version__}-{hashlib.sha256(b'old').hexdigest()[:16]}"
    file.unlink()
    assert fingerprint().endswith(hashlib.sha256(b"old").hexdigest()[:16])


def test_a_core_that_could_not_be_read_has_no_fingerprint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "none.so"
    stand_in(file, monkeypatch)
    assert core() is sys.modules["contend._core"]
    file.write_bytes(b"new")
    with pytest.raises(ContendError, match=r"cannot read the compiled core .*none.so: no such"):
        fingerprint()


def test_the_fingerprint_of_this_core() -> None:
    loaded = Path(str(core().__file__)).read_bytes()  # type: ignore[attr-defined]
    assert fingerprint() == f"{contend.__version__}-{hashlib.sha256(loaded).hexdigest()[:16]}"


def test_ctrl_c_while_a_platform_is_read_is_no_problem_of_the_platform(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("contend.scenarios.resolution.PlatformRoutes", lambda: interrupted)
    with pytest.raises(KeyboardInterrupt):
        resolve_scenario(find_scenario(BASE))


def test_a_platform_that_changed_is_read_again(tmp_path: Path) -> None:
    shipped = (scenarios_directory() / "platforms/alembert.xml").read_text()
    platform = tmp_path / "platform.xml"
    latencies = []
    for text in (shipped, shipped.replace("700ns", "900ns"), shipped.replace("700ns", "1100ns")):
        platform.write_text(text)
        latencies.append(PlatformRoutes()(str(platform), "node0", "node1")[0])
    assert latencies == pytest.approx([700e-9, 900e-9, 1100e-9])
    platform.unlink()
    key, problem = PlatformRoutes()(str(platform), "node0", "node1")
    assert (key, problem) == ("platform", "there is no such file")


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


TAKING_TURNS = {
    "placement.threads": "pinned", "placement.cores": 1, "workload.pairs": 4, "workload.window": 8,
    "workload.iterations": 2, "library.progress.engine": "serial-try-lock", "run.replications": 1,
}  # fmt: skip


def test_threads_that_poll_by_turns_on_a_core_are_not_taken_for_endless() -> None:
    point = contend.run(BASE, TAKING_TURNS).points[0]
    assert point.message_rate is not None
    assert point.events > 20_000_000


@pytest.mark.parametrize(
    ("option", "steps"), [("run.steps_per_operation", 100_000), ("run.steps_without_operation", 1_000_000)]
)
def test_a_run_with_too_many_steps_names_the_option(option: str, steps: int) -> None:
    with pytest.raises(SimulationFailedError, match=rf"steps.*{option} allows no more"):
        contend.run(BASE, {**TAKING_TURNS, option: steps})


def test_operations_that_take_no_time_have_no_rate() -> None:
    alone = {"workload.processes_per_os_process": 1, "workload.os_processes_per_node": 1, "workload.nodes": 1}
    program = contend.load("barrier_layered").with_({**alone, "run.replications": 1})
    with pytest.raises(SimulationFailedError, match="operations of the timed part take no time, so they have no rate"):
        contend.run(program)


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


@pytest.mark.parametrize(
    ("values", "place", "problem"),
    [
        ({"from": "nod0"}, "4: /fabric/from", "no host is called 'nod0' (did you mean 'node0'?); hosts: node0, node1"),
        ({"to": "gateway"}, "5: /fabric/to", "no host is called 'gateway'; hosts: node0, node1"),
        (
            {"platform": "plain.xml"},
            "3: /fabric/platform",
            "it is not a SimGrid platform: there is no <platform> element",
        ),
        ({"platform": "missing.xml"}, "3: /fabric/platform", "no such file"),
    ],
)
def test_an_error_in_a_platform_has_one_place(  # noqa: PLR0917
    values: dict[str, str], place: str, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plain.xml").write_text("no XML")
    fabric = {
        "platform": str(scenarios_directory() / "platforms/alembert.xml"),
        "from": "node0",
        "to": "node1",
    } | values
    scenario = resolve_scenario(find_scenario(BASE)).document | {"fabric": fabric}
    lines = [f'"{key}": {json.dumps(value)}' for key, value in fabric.items()]
    rest = json.dumps({key: value for key, value in scenario.items() if key != "fabric"})
    (tmp_path / "s.json").write_text('{"fabric":\n{\n' + ",\n".join(lines) + "}," + rest.removeprefix("{"))
    assert main(["run", "s.json"]) == 2
    assert capsys.readouterr().err == f'contend: error: s.json:{place}: platform "{fabric["platform"]}": {problem}\n'


@pytest.mark.parametrize("words", [[], ["--check-determinism"]])
def test_threads_that_share_cores_are_refused_before_the_second_engine_starts(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("contend.engine.simgrid.SimgridEngine.run_point", lambda *_, **__: pytest.fail("it simulates"))
    monkeypatch.chdir(tmp_path)
    sweep = json.dumps({"placement.threads": ["one-per-core", "pinned"]})
    command = ["run", BASE, "--set", "workload.pairs=2", "--set", f"sweep={sweep}", "--engine", "simgrid"]
    assert main([*command, *words]) == 2
    assert (
        '/sweep/placement.threads: found "pinned" (at threads=pinned); allowed with the engine simgrid: "one-per-core"'
        in capsys.readouterr().err
    )
    assert not list(tmp_path.iterdir())
    with pytest.raises(contend.InputError, match='/placement/threads: found "floating"; allowed'):
        contend.run(BASE, {"workload.pairs": 1, "placement.threads": "floating"}, engine="simgrid")
