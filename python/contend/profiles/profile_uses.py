"""What a machine profile has prices for, and which profiles have those that a scenario lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contend.common.reading import json_object
from contend.profiles.catalogs import PROFILES

if TYPE_CHECKING:
    from contend.common.jsontypes import JsonObject

# What may run on a profile, by the sections that it takes.
_USES = {
    "network interface": ("nic", "rdma"),
    "tcp": ("tcp",),
    "shared-memory": ("shared_memory",),
    "shared cores": ("scheduler",),
    "coroutines": ("coroutines", "memory"),
}
_LOCKS = "locks without messages"
# How the core says that a profile lacks one of them (sim/scenario/checks, sim/scenario/loader.cpp).
_LACKING = {
    "gives no prices of processes that are coroutines": "coroutines",
    'the transport "tcp" needs prices that the machine does not give': "tcp",
    'the transport "shared-memory" needs prices that the machine does not give': "shared-memory",
    "has no network (nic, software, ...)": "network interface",
}


def uses(profile: JsonObject) -> list[str]:
    """What a profile has prices for: transports, threads that share cores, processes that are coroutines."""
    found = [use for use, sections in _USES.items() if all(section in profile for section in sections)]
    return found if "software" in profile else [_LOCKS, *found]


def profiles_for(message: str) -> str:
    """Which profiles have the prices that a message of the core says are missing; empty if it says nothing of that.

    Args:
        message: What the core has against a scenario.
    """
    lines = []
    for said, use in _LACKING.items():
        if said in message:
            have = [name for name, path in PROFILES.available().items() if use in uses(json_object(path) or {})]
            lines.append(f"\n  profiles with prices for that ({use}): {', '.join(have) or 'none'}")
    return "".join(lines)
