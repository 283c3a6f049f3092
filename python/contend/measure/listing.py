"""What can be measured on this machine, and why the rest cannot."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from contend.measure.hosts import allocated_hosts
from contend.measure.libraries import (
    LIBRARIES,
    SYSTEM_KEYS,
    Installation,
    installed,
    missing_system_reason,
    unavailable_reason,
    wheel_installation,
)
from contend.measure.runner import Job, Network, Outcome, describe_isolation, launch
from contend.measure.transports import FABRIC, TRANSPORTS, UnsupportedError, command, needs_veth, recipe_for

if TYPE_CHECKING:
    from collections.abc import Callable

_NETEM_TIMEOUT_S = 10
_TRIAL_TIMEOUT_S = 20


@dataclass(frozen=True)
class Row:
    """One library or ability: its name, whether it can be used, and how or why not."""

    name: str
    is_usable: bool
    remark: str


def abilities() -> list[Row]:
    """What the machine allows."""
    rows = [
        Row("C++ compiler", shutil.which("c++") is not None or shutil.which("g++") is not None, "builds the programs"),
        Row("cmake", shutil.which("cmake") is not None, "builds the programs"),
    ]
    rows += [Row(name, works, purpose if works else f"not allowed here; without it no {purpose}")
             for name, works, purpose in describe_isolation()]  # fmt: skip
    works, remark = _netem()
    rows.append(Row("netem", works, remark))
    cores = len(os.sched_getaffinity(0))
    rows.append(
        Row(f"{cores} cores", cores > 1, "more threads than cores are oversubscribed: noisy over shared memory")
    )
    devices = [path.name for path in Path("/sys/class/infiniband").glob("*")]
    rows.append(Row("InfiniBand", bool(devices), ", ".join(devices) or "no device"))
    return rows


def _netem() -> tuple[bool, str]:
    """Whether delays and rate limits can be added, found by adding one."""
    record = launch(Job(("true",), network=Network(veth=True, netem=("delay", "1ms")), timeout_s=_NETEM_TIMEOUT_S))
    if record.exit_code == 0:
        return True, "adds delay and rate limits to veth"
    reason = record.stderr.strip().removeprefix("contend-sandbox: ") or record.detail
    return False, f"no delay or rate limits here ({reason[:120]})"


def library_rows() -> list[Row]:
    """Every library: installed, or how it is obtained, or why it cannot be had."""
    rows = []
    for library in LIBRARIES:
        name = f"{library.key} ({library.family} {library.version})"
        if reason := unavailable_reason(library):
            rows.append(Row(name, is_usable=False, remark=reason))
        else:
            rows.append(
                Row(name, is_usable=True, remark="installed" if installed(library.key) else "from PyPI on first use")
            )
    for key in SYSTEM_KEYS:
        found = installed(key)
        remark = missing_system_reason(key) if found is None else f"{found.family} {found.version}, {found.obtained}"
        rows.append(Row(key, found is not None, remark))
    return rows


def candidates() -> list[Installation]:
    """Installations of all libraries that are there or could be."""
    found = [
        installed(library.key) or wheel_installation(library)
        for library in LIBRARIES
        if not unavailable_reason(library)
    ]
    return found + [system for key in SYSTEM_KEYS if (system := installed(key)) is not None]


def transport_rows(installation: Installation, trial: Callable[[str], str] | None = None) -> list[Row]:
    """Every transport of a library.

    Args:
        installation: The library.
        trial: Launches two ranks over a transport and returns what went wrong, empty if nothing; None: ask nobody.
    """
    rows = []
    for transport in TRANSPORTS:
        if transport == FABRIC:
            hosts = allocated_hosts()
            remark = "between " + " and ".join(hosts) if hosts else "needs --hosts A,B or a SLURM allocation of two"
            rows.append(Row(transport, hosts is not None, remark))
            continue
        try:
            recipe_for(installation, transport, {})
        except UnsupportedError as error:
            rows.append(Row(transport, is_usable=False, remark=str(error)))
            continue
        problem = trial(transport) if trial is not None else ""
        rows.append(Row(transport, not problem, problem or ("works" if trial is not None else "")))
    return rows


def try_transport(installation: Installation, program: Path, transport: str) -> str:
    """Launches a short benchmark over a transport; returns what went wrong, empty if nothing."""
    recipe = recipe_for(installation, transport, {})
    words = [str(program), "--pairs=2", "--iterations=20", "--window=16", "--warmup-iterations=2"]
    veth = needs_veth(transport)
    whole = command(installation, recipe, (1, 1), words, far_host=veth)
    record = launch(Job(tuple(whole), recipe.environment, Network(veth), _TRIAL_TIMEOUT_S))
    return "" if record.outcome is Outcome.ok else f"{record.outcome}: {record.detail}"
