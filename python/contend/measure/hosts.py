"""The two hosts of the transport `fabric`: those that the user names, or the first two of a SLURM allocation."""

from __future__ import annotations

import os
import subprocess

from contend.common.errors import InputError

_TIMEOUT_S = 20
_TWO = 2


def parse_hosts(text: str) -> tuple[str, str]:
    """Reads "A,B".

    Raises:
        InputError: These are not two names.
    """
    names = [name.strip() for name in text.split(",")]
    if len(names) != _TWO or not all(names) or any(name.startswith("-") for name in names):
        raise InputError(f"--hosts wants two names, such as node1,node2, not '{text}'")
    return names[0], names[1]


def allocated_hosts() -> tuple[str, str] | None:
    """The first two hosts of the SLURM allocation that this runs in; None if there are not two."""
    if not os.environ.get("SLURM_JOB_NODELIST"):
        return None
    try:
        answer = subprocess.run(["scontrol", "show", "hostnames"], stdin=subprocess.DEVNULL, capture_output=True,
                                text=True, check=False, timeout=_TIMEOUT_S)  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    names = answer.stdout.split()
    return (names[0], names[1]) if answer.returncode == 0 and len(names) >= _TWO else None
