"""Libraries and programs in the cache folder: two campaigns that need the same one set it up once."""

import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from contend.common.errors import ContendError
from contend.measure import building, libraries
from contend.measure.libraries import NO_LIBRARY, Family, Installation, installed, obtain
from contend.measure.locking import locked

LONG_S = 0.3


class Record:
    """What was begun and ended, in order, by threads that stand for campaigns."""

    def __init__(self) -> None:
        self.steps: list[str] = []
        self.said: list[str] = []

    def slowly(self, work: Callable[..., None]) -> Callable[..., None]:
        def wrapped(*arguments: Any) -> None:
            self.steps.append("begin")
            time.sleep(LONG_S)
            work(*arguments)
            self.steps.append("end")

        return wrapped

    def twice(self, use: Callable[[], object]) -> None:
        threads = [threading.Thread(target=use) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Record:
    monkeypatch.setenv("CONTEND_CACHE", str(tmp_path / "cache"))
    return Record()


def test_two_campaigns_install_a_library_once(record: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    def install(library: libraries.Library) -> None:
        prefix = libraries.wheel_installation(library).compiler.parent.parent
        prefix.mkdir(parents=True)  # not while another one is at it
        (prefix / "contend-installed.json").write_text("{}")

    monkeypatch.setattr(libraries, "_install", record.slowly(install))
    record.twice(lambda: obtain("mpich-5", record.said.append))
    assert record.steps == ["begin", "end"]
    assert installed("mpich-5") is not None
    assert any("waiting for another campaign that sets up mpich-5" in text for text in record.said)


def test_two_campaigns_build_a_program_once(record: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    def build(_installation: object, program: str, folder: Path, _say: object) -> None:
        (folder / "bin").mkdir(parents=True)
        (folder / "bin" / program).touch()
        (folder / f"{program}.stamp").write_text(building.source_hash())

    monkeypatch.setattr(building, "_build", record.slowly(build))
    record.twice(lambda: building.build(NO_LIBRARY, "contend-locks", record.said.append))
    assert record.steps == ["begin", "end"]


def test_installations_of_one_version_do_not_share_programs(record: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    folders: list[Path] = []
    monkeypatch.setattr(building, "_build", lambda _installation, _program, folder, _say: folders.append(folder))
    for prefix in ("/opt/before", "/opt/after"):
        compiler, launcher = (Path(prefix) / "bin" / name for name in ("mpicxx", "mpiexec"))
        of_system = Installation("system", Family.open_mpi, "3.0.0a1", compiler, launcher, "on the PATH")
        building.build(of_system, "contend-multirate", record.said.append)
    assert len(set(folders)) == len(folders) == 2


def test_a_build_that_fails_leaves_no_stamp_of_an_earlier_one(
    record: Record, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def succeed(*_: object, **__: object) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess([], 0)

    def fail(*_: object, **__: object) -> None:
        raise OSError("no compiler")

    monkeypatch.setattr(building.subprocess, "run", succeed)
    building.build(NO_LIBRARY, "contend-locks", record.said.append)
    assert list(tmp_path.rglob("contend-locks.stamp"))
    monkeypatch.setattr(building, "source_hash", lambda: "of other sources")
    monkeypatch.setattr(building.subprocess, "run", fail)
    with pytest.raises(ContendError, match="no compiler"):
        building.build(NO_LIBRARY, "contend-locks", record.said.append)
    assert not list(tmp_path.rglob("contend-locks.stamp"))


def test_a_lock_that_cannot_be_had_is_no_crash(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ContendError, match="cannot lock"), locked(tmp_path / "file/library", print):
        pass
