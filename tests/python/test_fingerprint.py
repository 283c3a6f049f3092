"""The fingerprint of a machine: what its id depends on, and where its processors are."""

import subprocess
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from contend.measure import machine
from contend.measure.machine import fingerprint

GIB = 2**30


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """The memory that the system says it has, in GiB."""
    found = {"gib": 125.6}
    said = lambda: SimpleNamespace(total=int(found["gib"] * GIB))  # noqa: E731 - stands for psutil's
    monkeypatch.setattr(machine.psutil, "virtual_memory", said)
    return found


def test_the_id_does_not_depend_on_what_the_kernel_keeps_for_itself(memory: dict[str, float]) -> None:
    one = fingerprint()
    memory["gib"] = 124.9
    other = fingerprint()
    assert one["id"] == other["id"]
    assert one["memory_bytes"] != other["memory_bytes"], "what it says stays in the record"
    memory["gib"] = 62.7
    assert fingerprint()["id"] != one["id"]


def test_the_id_does_not_depend_on_installed_tools(memory: dict[str, float], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine.shutil, "which", lambda name: None)
    without = fingerprint()
    answer = subprocess.CompletedProcess([], 0, stdout="some-hypervisor\n")
    monkeypatch.setattr(machine.shutil, "which", lambda name: f"/bin/{name}")
    monkeypatch.setattr(machine.subprocess, "run", lambda *_, **__: answer)
    found = fingerprint()
    assert found["virtual"] == "some-hypervisor"
    assert without["virtual"] in {"yes", "no"}
    assert found["id"] == without["id"]


@pytest.mark.parametrize("change", [{"model name": "another"}, {"flags": "fpu hypervisor"}, {"stepping": "9"}])
def test_another_processor_is_another_machine(
    change: dict[str, str], memory: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    fields = {"model name": "one", "model": "1", "stepping": "1", "flags": "fpu"}
    monkeypatch.setattr(machine, "_cpu_fields", lambda: fields)
    one = fingerprint()["id"]
    monkeypatch.setattr(machine, "_cpu_fields", lambda: fields | change)
    assert fingerprint()["id"] != one


def test_processors_have_their_socket_and_core(
    memory: dict[str, float], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: dict[int, tuple[str, str]] = {0: ("0", "0"), 1: ("1", "0"), 2: ("0", "0"), 3: ("-1", "0"), 10: ("1", "5")}
    for cpu, (package, core) in said.items():
        folder = tmp_path / f"cpu{cpu}/topology"
        folder.mkdir(parents=True)
        (folder / "physical_package_id").write_text(package + "\n")
        (folder / "core_id").write_text(core + "\n")
    monkeypatch.setattr(machine, "_CPU", tmp_path)
    found: dict[str, Any] = fingerprint()["cpus"]
    assert list(found) == ["0", "1", "2", "10"], "3 is not where it is known"
    assert found["0"] == found["2"] == {"socket": 0, "core": 0}
    assert found["1"] == {"socket": 1, "core": 0}
    assert found["10"] == {"socket": 1, "core": 5}
