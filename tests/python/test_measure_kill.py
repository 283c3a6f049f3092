"""kill -9 and time-outs: nothing is left running, mounted, configured or half written, and a campaign goes on."""

import contextlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from contend.common.errors import ContendError, InputError
from contend.measure import runner
from contend.measure.journal import Journal, read_entries
from contend.measure.load import Load
from contend.measure.runner import Job, Network, Outcome, isolation_words, launch
from contend.measure.sandbox import DEVICE
from measuring import FAKE, campaign, measure

DRIVER = """
import sys
sys.path.insert(0, {tests!r})
from pathlib import Path
from contend.measure.load import Load
from measuring import campaign, measure
Load.marks = lambda self, fastest: []
measure(campaign([{{"name": "a", "transports": [{transport!r}], "workload": {{"sleep": 0.2, "token": {token!r}}},
                   "sweep": {{"pairs": [1, 2, 3]}}}}]), Path({journal!r}))
"""

needs_namespaces = pytest.mark.skipif(
    isolation_words(network=True) is None, reason="network namespaces are not allowed"
)


def alive(token: str) -> list[int]:
    """Processes that have a word on their command line."""
    return [
        process.pid
        for process in psutil.process_iter(["cmdline"])
        if process.pid != os.getpid() and any(token in word for word in process.info["cmdline"] or [])
    ]


def wait_until(condition: object, seconds: float = 5.0) -> bool:
    assert callable(condition)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if condition():
            return True
        time.sleep(0.02)
    return bool(condition())


@pytest.fixture(params=["namespaces", "process group"])
def isolation(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways to keep processes together."""
    if request.param == "process group":
        monkeypatch.setattr(runner, "isolation_words", lambda *, network: None)
    elif isolation_words(network=False) is None:
        pytest.skip("namespaces are not allowed")
    return str(request.param)


def test_a_deadlock_ends_with_all_its_processes(isolation: str, tmp_path: Path) -> None:
    token = f"contend-{tmp_path.name}-{os.getpid()}-{isolation.replace(' ', '')}"
    command = (sys.executable, str(FAKE), "--behave=deadlock", f"--token={token}", "--repetitions=1")
    record = launch(Job(command, timeout_s=1.5))
    assert record.outcome is Outcome.timed_out
    assert "cores busy" in record.detail
    assert wait_until(lambda: not alive(token)), alive(token)


def test_a_crash_is_told_from_a_failure(isolation: str) -> None:
    record = launch(Job((sys.executable, str(FAKE), "--behave=crash", "--repetitions=1"), timeout_s=20))
    assert (record.outcome, record.detail) == (Outcome.crashed, "SIGSEGV")
    missing = launch(Job(("/nowhere/mpiexec",), timeout_s=20))
    assert missing.outcome is Outcome.failed
    assert "cannot start /nowhere/mpiexec" in missing.detail


def test_usage_covers_what_the_launch_used(isolation: str) -> None:
    busy = "import time\nwhile time.process_time() < 0.3: pass\nprint('{}')"
    record = launch(Job((sys.executable, "-c", busy), timeout_s=20))
    assert record.outcome is Outcome.ok
    assert 0.28 < record.usage["user_s"] + record.usage["system_s"] < 1.0


def test_variables_that_steer_libraries_do_not_leak_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMPI_MCA_btl", "self")
    monkeypatch.setenv("UCX_TLS", "all")
    monkeypatch.setenv("HOME_OF_MINE", "kept")
    environment = runner.clean_environment({"UCX_TLS": "tcp"})
    assert "OMPI_MCA_btl" not in environment
    assert environment["UCX_TLS"] == "tcp"
    assert environment["HOME_OF_MINE"] == "kept"


@needs_namespaces
def test_two_hosts_see_each_other_and_nothing_else() -> None:
    script = "ip -o -4 address show | awk '{print $2, $4}' | sort | tr '\\n' ';'; echo; echo '{}'"
    near = launch(Job(("sh", "-c", f"({script}) >&2; echo '{{}}'"), network=Network(veth=True), timeout_s=20))
    far = launch(Job(("@remote", "sh", "-c", f"({script}) >&2; ping -c 1 -W 2 10.213.77.1 >&2 || true; echo '{{}}'"),
                     network=Network(veth=True), timeout_s=20))  # fmt: skip
    assert f"{DEVICE} 10.213.77.1/30" in near.stderr
    assert f"{DEVICE} 10.213.77.2/30" in far.stderr
    assert "eth0" not in near.stderr + far.stderr


def namespaces(pids: list[int] | None = None) -> set[str]:
    """Network namespaces of some processes, or of all."""
    found = set()
    for entry in Path("/proc").glob("[0-9]*/ns/net"):
        if pids is None or int(entry.parts[2]) in pids:
            with contextlib.suppress(OSError):
                found.add(str(entry.readlink()))
    return found


@pytest.mark.parametrize("transport", ["shm", pytest.param("tcp-veth", marks=needs_namespaces)])
def test_kill_9_leaves_nothing_and_the_campaign_goes_on(
    transport: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Load, "marks", lambda self, fastest: [])
    token = f"contend-{tmp_path.name}-{os.getpid()}-{transport}"
    journal = tmp_path / "journal.jsonl"
    text = DRIVER.format(tests=str(FAKE.parent), transport=transport, token=token, journal=str(journal))
    process = subprocess.Popen([sys.executable, "-c", text])

    def launches() -> int:
        data = journal.read_bytes() if journal.exists() else b""
        return sum(entry["type"] == "launch" for entry in read_entries(data)[0])

    def hosts() -> set[str]:
        children = [child.pid for child in psutil.Process(process.pid).children(recursive=True)]
        return namespaces(children) - namespaces([os.getpid()])

    try:
        assert wait_until(lambda: launches() >= 2, 30)
        assert wait_until(lambda: len(alive(token)) > 1)
        assert wait_until(lambda: len(hosts()) == (2 if transport.endswith("-veth") else 0), 20)
        theirs = hosts()
    finally:
        process.kill()
        process.wait()
    assert wait_until(lambda: not alive(token)), alive(token)
    assert wait_until(lambda: not theirs & namespaces())
    assert DEVICE not in {path.name for path in Path("/sys/class/net").glob("*")}
    assert [path.name for path in tmp_path.iterdir()] == ["journal.jsonl"]
    kept = launches()
    wanted = campaign([{"name": "a", "transports": [transport], "workload": {"sleep": 0.2, "token": token},
                        "sweep": {"pairs": [1, 2, 3]}}])  # fmt: skip
    ending, entries = measure(wanted, journal)
    assert ending.is_complete
    assert [len(course.entries) for course in ending.courses] == [3, 3, 3]
    assert kept >= 2
    assert sum(entry["type"] == "launch" for entry in entries) == 9
    orders = [entry["order"] for entry in entries if entry["type"] == "launch"]
    assert len(set(orders)) == 9


def test_a_torn_line_is_taken_away(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with Journal(path) as journal:
        journal.append({"type": "a"})
        journal.append({"type": "b"})
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"type": "c", "val')
    with Journal(path) as journal:
        assert [entry["type"] for entry in journal.entries] == ["a", "b"]
        journal.append({"type": "d"})
    assert path.read_bytes() == whole + json.dumps({"type": "d"}).encode() + b"\n"


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"my notes\n", 1),
        (b"my notes", 1),
        (b'{"type": "a"}\n{"type": \xff}\n{"type": "c"}\n', 2),
        (b'{"type": "a"}\n[1]\n', 2),
        (b'{"type": "a"}\n\n{"type": "c"', 2),
        (b"[" * 100_000 + b"\n", 1),
    ],
)
def test_what_is_no_journal_is_refused_and_stays(content: bytes, line: int, tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(content)
    with pytest.raises(InputError, match=rf"journal\.jsonl:{line}: no entry of a journal"):
        Journal(path)
    assert path.read_bytes() == content


def test_only_a_journal_that_was_made_and_stays_empty_is_taken_away(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with Journal(path):
        pass
    assert not path.exists()
    path.write_bytes(b'{"type": "torn')
    with Journal(path):
        pass
    assert path.exists()


def test_two_campaigns_do_not_share_a_folder(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal.jsonl"), pytest.raises(ContendError, match="another campaign"):
        Journal(tmp_path / "journal.jsonl")
    with Journal(tmp_path / "journal.jsonl"):
        pass
    assert not list(tmp_path.iterdir()), "a journal without entries leaves no file"
