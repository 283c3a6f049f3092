import errno
import os
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

from contend.common import files
from contend.common.errors import ContendError, InputError


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_writes_all_files(tmp_path: Path) -> None:
    paths = files.write_files(tmp_path, {"a": b"1", "b": b"2"})
    assert [path.read_bytes() for path in paths] == [b"1", b"2"]
    assert names(tmp_path) == ["a", "b"]


def test_mode_follows_the_umask(tmp_path: Path) -> None:
    previous = os.umask(0o027)
    try:
        files.write_file(tmp_path / "a", b"")
    finally:
        os.umask(previous)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("failing", [1, 2])
def test_full_disk_leaves_nothing_and_keeps_the_old(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: int
) -> None:
    files.write_files(tmp_path, {"a": b"old", "b": b"old"})
    calls = 0

    def full(_: int) -> None:
        nonlocal calls
        calls += 1
        if calls == failing:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(ContendError, match="no space left"):
        files.write_files(tmp_path, {"a": b"new", "b": b"new"})
    assert names(tmp_path) == ["a", "b"]
    assert {path.read_bytes() for path in tmp_path.iterdir()} == {b"old"}


def test_a_failure_half_way_says_what_is_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files.write_files(tmp_path, {"a": b"old", "b": b"old"})
    original = Path.replace

    def replace(self: Path, target: Path) -> Path:
        if target.name == "b":
            raise OSError(errno.EACCES, "Permission denied")
        return original(self, target)

    monkeypatch.setattr(Path, "replace", replace)
    with pytest.raises(ContendError, match=r"cannot write .*b: permission denied; new already: a"):
        files.write_files(tmp_path, {"a": b"new", "b": b"new"})
    assert names(tmp_path) == ["a", "b"]
    assert (tmp_path / "b").read_bytes() == b"old"


@pytest.fixture(params=["unnamed", "named"])
def kind(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """How a file is on its way: without a name, or, as on NFS, with one."""
    if request.param == "named":
        monkeypatch.setattr(files, "_DESCRIPTORS", "/proc/none")
    return str(request.param)


def test_a_file_on_its_way(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    previous = os.umask(0o027)
    target = tmp_path / "a.json"
    target.write_bytes(b"old")
    try:
        with files.staged_file(target) as staged:
            staged.write_bytes(b"new, and longer")
            assert staged.stat().st_size == 15
            there = names(tmp_path)
            assert target.read_bytes() == b"old"
    finally:
        os.umask(previous)
    assert len(there) == (1 if kind == "unnamed" else 2)
    assert names(tmp_path) == ["a.json"]
    assert target.read_bytes() == b"new, and longer"
    assert target.stat().st_mode & 0o777 == 0o640
    with pytest.raises(ZeroDivisionError), files.staged_file(target) as staged:
        staged.write_bytes(bytes(1 // 0))
    files.write_files(tmp_path, {"a.json": b"1", "b": b"2"})
    assert names(tmp_path) == ["a.json", "b"]
    monkeypatch.setattr(files.os, "fsync", Mock(side_effect=OSError(errno.ENOSPC, "No space left on device")))
    with pytest.raises(ContendError, match="no space left"):
        files.write_file(target, b"3" * 100_000)
    assert names(tmp_path) == ["a.json", "b"]
    assert target.read_bytes() == b"1"


def test_a_writer_that_is_killed_leaves_nothing_for_ever(kind: str, tmp_path: Path) -> None:
    """Neither where files on their way have names: the next writer takes them away, and those of nobody else."""
    target = tmp_path / "a.json"
    program = f"""
import pathlib, time
from contend.common import files
files._DESCRIPTORS = {files._DESCRIPTORS!r}
with files.staged_file(pathlib.Path({str(target)!r})) as staged:
    staged.write_bytes(b"large")
    print("written", flush=True)
    time.sleep(60)
"""
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stdout.readline() == b"written\n"
    left = names(tmp_path)
    for path in tmp_path.iterdir():
        os.utime(path, (0, 0))
    with files.staged_file(target) as staged:  # beside it, as long as it lives
        staged.write_bytes(b"1")
    assert names(tmp_path) == sorted([*left, "a.json"])
    child.kill()
    child.communicate()
    if kind == "unnamed":
        assert names(tmp_path) == ["a.json"]
    else:
        assert len(names(tmp_path)) == 2
        young = tmp_path / ".a.json.contend-0123abcd.tmp"
        others = [tmp_path / name for name in (".a.json.settings.tmp", ".b.json.contend-0123abcd.tmp")]
        for path in (young, *others):
            path.write_bytes(b"")
        for path in others:
            os.utime(path, (0, 0))
        files.write_file(target, b"2")
        with files.staged_file(target) as staged:
            staged.write_bytes(b"3")
        assert names(tmp_path) == sorted(["a.json", young.name, *(path.name for path in others)])


def test_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ContendError, match="cannot write to the folder"):
        files.make_writable_directory(tmp_path / "file" / "below")


def test_an_output_folder_that_stays_empty_goes_away(tmp_path: Path) -> None:
    def fail(folder: Path) -> None:
        with files.output_folder(folder):
            assert folder.is_dir()
            raise ContendError("nothing came")

    with pytest.raises(ContendError, match="nothing came"):
        fail(tmp_path / "a" / "b")
    assert names(tmp_path) == []
    with files.output_folder(tmp_path / "a" / "b"):
        (tmp_path / "a" / "kept").touch()
    assert names(tmp_path / "a") == ["kept"]
    (tmp_path / "was there").mkdir()
    with files.output_folder(tmp_path / "was there"), files.output_folder(None):
        pass
    assert names(tmp_path) == ["a", "was there"]
    with pytest.raises(ContendError, match="a part of the path is a file"), files.output_folder(tmp_path / "a/kept/c"):
        pass


def test_a_dash_is_no_standard_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="'-' is not standard output here"):
        files.write_file(Path("-"), b"")
    with pytest.raises(InputError, match="'-' is not"), files.output_folder(Path("-")):
        pass
    with pytest.raises(InputError, match="'-' is not"), files.output_file(Path("-")):
        pass
    assert names(tmp_path) == []


def test_target_that_is_a_folder(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    with pytest.raises(ContendError, match="that is a folder"):
        files.write_files(tmp_path, {"a": b"", "b": b""})
    assert names(tmp_path) == ["b"]


def test_a_pipe_or_device_is_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(ContendError, match="no ordinary file"):
        files.write_file(pipe, b"1")
    with pytest.raises(ContendError, match="no ordinary file"), files.staged_file(pipe):
        pass
    assert pipe.is_fifo()
    assert names(tmp_path) == ["pipe"]


def test_a_symbolic_link_stays_and_its_target_is_written(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("target")
    files.write_file(tmp_path / "link", b"1")
    with files.staged_file(tmp_path / "link") as staged:
        staged.write_bytes(b"2")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_bytes() == b"2"


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="no such file system")
def test_a_folder_that_takes_no_files_is_not_said_to_be_missing() -> None:
    with pytest.raises(ContendError, match=r"cannot write to the folder /proc/self: (?!no such folder)"):
        files.make_writable_directory(Path("/proc/self"))
