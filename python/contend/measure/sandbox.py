"""Runs a command so that nothing of it stays: a program of its own, started by `runner` (standard library only).

It is the first process of new namespaces (processes, mounts, network) where the system allows that. Then the kernel
kills everything inside when it ends or when the starting process is killed, even by kill -9, and network devices and
files in shared memory vanish with it: no network namespace ever gets a name. Where namespaces are not allowed it adopts
orphaned descendants and kills all of them itself.

In the command the word `@remote` stands for the words that start a program on the other host: in a second network
namespace at the other end of a veth pair. Usage: sandbox.py SPECIFICATION, a JSON object with

    command        list of words
    isolated       true: this is process 1 of new namespaces
    veth           true: make a second host; `netem` (words for tc) then delays or limits both directions
    deadline_s     end everything after so long, should nobody else do so
    report         file descriptor; gets a JSON object with the command's exit status and resource usage
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

REMOTE = "@remote"
DEVICE = "contend0"
NEAR, FAR = "10.213.77.1", "10.213.77.2"
_SET_PDEATHSIG, _SET_CHILD_SUBREAPER = 1, 36
_SETUP_FAILED = 125
_NOT_STARTED = 127
_MAIN_ENDED_GRACE_S = 2.0


def _descendants(root: int) -> list[int]:
    """All living descendants of a process, by /proc."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                fields = (entry / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
                if fields[0] != "Z":
                    children.setdefault(int(fields[1]), []).append(int(entry.name))
    found: list[int] = []
    waiting = [root]
    while waiting:
        more = children.get(waiting.pop(), [])
        found += more
        waiting += more
    return found


def kill_descendants() -> None:
    """Kills all descendants; those that they leave behind become children of this process, so it ends with none."""
    while pids := _descendants(os.getpid()):
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)


def _end(_signal: int, _frame: object) -> NoReturn:
    kill_descendants()
    os._exit(128 + signal.SIGTERM)


def _run(*words: str) -> None:
    subprocess.run(words, check=True, stdin=subprocess.DEVNULL, capture_output=True)


def _make_private_directories() -> None:
    """Gives the command a /dev/shm and a TMPDIR of its own, in memory."""
    _run("mount", "-t", "tmpfs", "-o", "mode=1777", "tmpfs", "/dev/shm")  # noqa: S108 - where libraries put segments
    private = Path("/dev/shm/tmp")  # noqa: S108
    private.mkdir()
    os.environ["TMPDIR"] = str(private)


def _make_second_host(netem: list[str]) -> tuple[int, list[str]]:
    """Joins this network namespace with a new one.

    Returns:
        The process that holds the new namespace, and the words that start a program in it.
    """
    holder = subprocess.Popen(["unshare", "--net", "sh", "-c", "echo; exec sleep infinity"], stdout=subprocess.PIPE)
    if holder.stdout is not None:
        holder.stdout.readline()
    remote = ["nsenter", f"--net=/proc/{holder.pid}/ns/net", "--"]
    peer = f"{DEVICE}p"
    _run("ip", "link", "add", DEVICE, "type", "veth", "peer", "name", peer)
    _run("ip", "link", "set", peer, "netns", str(holder.pid))
    # Both ends have the same name, so that one option names the device on both hosts.
    _run(*remote, "ip", "link", "set", peer, "name", DEVICE)
    # Programs read the devices of their own network namespace from a file system that is mounted in it.
    with contextlib.suppress(subprocess.CalledProcessError):
        _run("mount", "-t", "sysfs", "sysfs", "/sys")
    for prefix, address in (([], NEAR), (remote, FAR)):
        _run(*prefix, "ip", "link", "set", "lo", "up")
        _run(*prefix, "ip", "address", "add", f"{address}/30", "dev", DEVICE)
        _run(*prefix, "ip", "link", "set", DEVICE, "up")
        if netem:
            _run(*prefix, "tc", "qdisc", "add", "dev", DEVICE, "root", "netem", *netem)
    return holder.pid, remote


def _set_up(specification: dict[str, Any]) -> tuple[set[int], list[str]]:
    """Prepares the surroundings; returns helper processes and the command to start."""
    libc = ctypes.CDLL(None, use_errno=True)
    signal.signal(signal.SIGTERM, _end)
    signal.signal(signal.SIGALRM, _end)
    signal.alarm(max(1, int(specification["deadline_s"])))
    helpers: set[int] = set()
    remote: list[str] = []
    if specification["isolated"]:
        _make_private_directories()
        if specification["veth"]:
            holder, remote = _make_second_host(specification["netem"])
            helpers.add(holder)
        elif specification["network"]:
            _run("ip", "link", "set", "lo", "up")
    else:
        parent = os.getppid()
        libc.prctl(_SET_PDEATHSIG, signal.SIGTERM)
        libc.prctl(_SET_CHILD_SUBREAPER, 1)
        if os.getppid() != parent:
            os._exit(128 + signal.SIGTERM)
    return helpers, [word for entry in specification["command"] for word in (remote if entry == REMOTE else [entry])]


def _wait_for(main: int, helpers: set[int]) -> tuple[int, resource.struct_rusage]:
    """Reaps everything until the main process has ended; returns its status and the usage of all that ended."""
    while True:
        pid, status, _ = os.wait4(-1, 0)
        if pid == main:
            break
    # What the launcher started may end a moment after it; its usage belongs to the run.
    until = time.monotonic() + _MAIN_ENDED_GRACE_S
    with contextlib.suppress(ChildProcessError):
        while time.monotonic() < until:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                if helpers.issuperset(_descendants(os.getpid())):
                    break
                time.sleep(0.005)
    return status, resource.getrusage(resource.RUSAGE_CHILDREN)


def main(text: str) -> int:
    """Runs the command of a specification; returns the exit code for this program."""
    specification = json.loads(text)
    report = int(specification["report"])
    os.set_inheritable(report, False)
    try:
        helpers, command = _set_up(specification)
    except (OSError, subprocess.CalledProcessError) as error:
        reason = str(error)
        if isinstance(error, subprocess.CalledProcessError):
            reason = f"{error.cmd[0]}: {error.stderr.decode(errors='replace').strip()}"
        print(f"contend-sandbox: {reason}", file=sys.stderr)
        return _SETUP_FAILED
    started = time.monotonic()
    try:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    except OSError as error:
        print(f"contend-sandbox: cannot start {command[0]}: {error.strerror}", file=sys.stderr)
        return _NOT_STARTED
    status, usage = _wait_for(process.pid, helpers)
    answer = {
        "exit_code": os.waitstatus_to_exitcode(status),
        "wall_s": time.monotonic() - started,
        "user_s": usage.ru_utime,
        "system_s": usage.ru_stime,
        "voluntary_switches": usage.ru_nvcsw,
        "involuntary_switches": usage.ru_nivcsw,
    }
    os.write(report, json.dumps(answer).encode())
    kill_descendants()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
