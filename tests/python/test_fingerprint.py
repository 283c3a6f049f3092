"""The fingerprint of a machine: where its processors are."""

from pathlib import Path
from typing import Any

import pytest

from contend.measure import machine
from contend.measure.machine import fingerprint


def test_processors_have_their_socket_and_core(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
