"""One launch: start it, wait for it with a time-out, end whatever it started, and say what became of it."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from contend.measure import sandbox

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Variables that steer MPI libraries: none of the user's may change what is measured without being on record.
_STEERING = re.compile(r"^(OMPI_|OPAL_|PMIX_|PRTE_|PMI_|UCX_|FI_|I_MPI_|MPIR_|MPICH_|HYDRA_|LD_LIBRARY_PATH$)")
# How launchers say that a rank died of a signal.
_SIGNALLED = re.compile(
    r"exited on signal \d+ \([^)]*\)|EXIT STRING: [^\n(]*\(signal \d+\)|KILLED BY SIGNAL: \d+ \([^)]*\)"
    r"|signal \d+ \([^)]*\)|Segmentation fault"
)
_STDERR_KEPT = 4000
_SIGNAL_BASE, _SIGNAL_LAST = 128, 128 + 64
_GRACE_S = 5.0
_DEADLINE_SLACK_S = 15


class Outcome(StrEnum):
    """What became of a launch; all of them are results."""

    ok = "ok"
    timed_out = "timed out"
    crashed = "crashed"
    failed = "failed"
    unsupported = "unsupported"


@dataclass(frozen=True)
class Network:
    """The network of a launch.

    `veth`: two network namespaces joined by a pair of virtual interfaces. `netem`: words for `tc qdisc ... netem`, such
    as ("delay", "50us"), applied to both directions.
    """

    veth: bool = False
    netem: tuple[str, ...] = ()


@dataclass(frozen=True)
class Job:
    """What to launch."""

    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    network: Network = Network()
    timeout_s: float = 60.0
    # False for launchers that log in to other hosts, which must see the user and the processes of this one.
    in_namespaces: bool = True


@dataclass(frozen=True)
class Record:
    """What became of a launch."""

    outcome: Outcome
    detail: str
    exit_code: int | None
    wall_s: float
    usage: Mapping[str, float]
    document: dict[str, Any] | None
    stderr: str


@functools.cache
def isolation_words(*, network: bool) -> tuple[str, ...] | None:
    """The words that start a program in namespaces of its own; None where the system does not allow that.

    Args:
        network: Also a network namespace, which needs privileges over it.
    """
    if not all(map(shutil.which, ("unshare", "setpriv", "nsenter", "mount"))):
        return None
    words = ["setpriv", "--pdeathsig", "KILL", "unshare", "--pid", "--fork", "--kill-child=KILL", "--mount",
             "--mount-proc"]  # fmt: skip
    if os.geteuid() != 0:
        words += ["--user", "--map-root-user"]
    if network:
        words.append("--net")
    try:
        trial = subprocess.run(
            [*words, "mount", "-t", "tmpfs", "tmpfs", "/dev/shm"],  # noqa: S108
            stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=_GRACE_S,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    return tuple(words) if trial.returncode == 0 else None


def clean_environment(extra: Mapping[str, str]) -> dict[str, str]:
    """This process's environment without variables that steer MPI libraries, and with those of the launch."""
    kept = {name: value for name, value in os.environ.items() if not _STEERING.match(name)}
    return kept | dict(extra)


def launch(job: Job) -> Record:
    """Runs a job to its end or its time-out. Nothing of it is alive, mounted or configured afterwards."""
    isolation = isolation_words(network=job.network.veth) if job.in_namespaces else None
    if job.network.veth and isolation is None:
        return Record(Outcome.unsupported, "network namespaces are not allowed here", None, 0.0, {}, None, "")
    reader, writer = os.pipe()
    specification = {
        "command": list(job.command),
        "isolated": isolation is not None,
        "network": job.network.veth,
        "veth": job.network.veth,
        "netem": list(job.network.netem),
        "deadline_s": job.timeout_s + _DEADLINE_SLACK_S,
        "report": writer,
    }
    program = [sys.executable, "-I", "-S", str(Path(sandbox.__file__)), json.dumps(specification)]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, os.fdopen(reader, "rb") as report:
        started = time.monotonic()
        process = subprocess.Popen(
            [*(isolation or ()), *program], stdin=subprocess.DEVNULL, stdout=out, stderr=err, pass_fds=(writer,),
            env=clean_environment(job.environment), start_new_session=True,
        )  # fmt: skip
        os.close(writer)
        try:
            try:
                process.wait(timeout=job.timeout_s)
                is_late = False
            except subprocess.TimeoutExpired:
                is_late = True
        finally:
            busy_s = _end(process, isolated=isolation is not None)
        wall_s = time.monotonic() - started
        answer = json.loads(report.read() or b"{}")  # ends when no process holds the pipe
        out.seek(0)
        err.seek(0)
        stdout = out.read().decode(errors="replace")
        stderr = err.read().decode(errors="replace")
    if is_late:
        detail = f"no end within {job.timeout_s:g} s, {busy_s / wall_s:.2f} cores busy"
        return Record(Outcome.timed_out, detail, None, wall_s, {}, None, _tail(stderr))
    usage = {name: value for name, value in answer.items() if name != "exit_code"}
    code = answer.get("exit_code", process.returncode)
    if code != 0:
        # Hydra says on standard output that a rank died.
        stderr += "\n" + _tail(stdout)
    outcome, detail = classify(code, stderr)
    document = None
    if outcome is Outcome.ok:
        document = last_document(stdout)
        if document is None:
            outcome, detail = Outcome.failed, "no result on standard output"
    return Record(outcome, detail, code, wall_s, usage, document, _tail(stderr))


def _end(process: subprocess.Popen[bytes], *, isolated: bool) -> float:
    """Ends a launch that still runs; returns the processor time that it had used."""
    if process.poll() is not None:
        return 0.0
    busy_s = _processor_time(process.pid)
    process.send_signal(signal.SIGKILL if isolated else signal.SIGTERM)
    try:
        process.wait(timeout=_GRACE_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    return busy_s


def _processor_time(root: int) -> float:
    import psutil

    total = 0.0
    with contextlib.suppress(psutil.Error):
        for process in psutil.Process(root).children(recursive=True):
            with contextlib.suppress(psutil.Error):
                times = process.cpu_times()
                total += times.user + times.system
    return total


def classify(code: int, messages: str) -> tuple[Outcome, str]:
    """What an exit code and the messages mean; launchers hide the program's own code, its message tells."""
    if code == 0:
        return Outcome.ok, ""
    said = re.search(r"^contend-[a-z]+: error (\d+): (.*)$", messages, re.MULTILINE)
    if said:
        own, message = int(said.group(1)), said.group(2)
        kinds = {3: Outcome.unsupported, 5: Outcome.timed_out}
        return kinds.get(own, Outcome.failed), message
    signalled = _SIGNALLED.search(messages)
    if code < 0:
        return Outcome.crashed, signal.Signals(-code).name
    # The shell's convention for signals; but launchers end the other ranks of a failed one by SIGTERM.
    if signalled or (_SIGNAL_BASE < code <= _SIGNAL_LAST and code != _SIGNAL_BASE + signal.SIGTERM):
        return Outcome.crashed, signalled.group(0) if signalled else f"exit code {code}"
    return Outcome.failed, first_words(messages) or f"exit code {code}"


def first_words(messages: str) -> str:
    """The line of a library's messages that says most: the first that is no frame, prompt or boilerplate.

    MPICH and its relatives print a stack of errors, of which the innermost is the last.
    """
    lines = messages.splitlines()
    if "error stack" in messages:
        lines.reverse()
    for line in lines:
        text = line.strip()
        if text and not set(text) <= set("-=* ") and not text.startswith(("Abort(", "[", "By default", "Warning")):
            return text[:200]
    return ""


def last_document(stdout: str) -> dict[str, Any] | None:
    """The JSON object of the last line that is one."""
    for line in reversed(stdout.splitlines()):
        if line.startswith("{"):
            with contextlib.suppress(json.JSONDecodeError):
                value = json.loads(line, parse_constant=lambda _: None)
                if isinstance(value, dict):
                    return value
    return None


def _tail(text: str) -> str:
    return text if len(text) <= _STDERR_KEPT else "…" + text[-_STDERR_KEPT:]


def describe_isolation() -> Sequence[tuple[str, bool, str]]:
    """What of the isolation works here: name, whether, what it is for."""
    return (
        ("process namespace", isolation_words(network=False) is not None, "ends everything that a run started"),
        ("network namespace", isolation_words(network=True) is not None, "transports over veth"),
    )
