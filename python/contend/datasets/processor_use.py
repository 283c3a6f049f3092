"""What the operating system counted of the processes that were measured (getrusage(2)), for each message."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from contend.common.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from contend.common.jsontypes import JsonObject

# The two sides of a measurement, as programs and results call them.
SIDES = ("sender", "receiver")
# What a program counts of a side.
_COUNTED = ("user_s", "system_s", "voluntary_switches", "involuntary_switches")


@dataclass(frozen=True)
class ProcessorUse:
    """Of all threads of one side, for each message that went from the senders to the receivers.

    `processor_s` is seconds of processor time, of user and kernel together. A voluntary switch is a thread that fell
    asleep; an involuntary one gave its core to another thread without that, also in sched_yield().
    """

    processor_s: float
    voluntary_switches: float
    involuntary_switches: float


def measured_use(path: Path, where: str, point: JsonObject, launches: Sequence[JsonObject]) -> dict[str, ProcessorUse]:
    """What launches of a point counted, by side; nothing where one of them did not, or nobody counted messages.

    Both cover all that the threads did: warm-up and trials as well as what was timed.

    Args:
        path: The dataset, for messages.
        where: The point's place in it.
        point: The point.
        launches: What it says of each launch.

    Raises:
        InputError: A count is no number, or less than nothing.
    """
    counters = point.get("counters")
    messages = counters.get("messages_sent") if isinstance(counters, dict) else None
    used = [launch.get("usage") for launch in launches]
    if not used or not isinstance(messages, int) or messages <= 0 or not all(isinstance(one, dict) for one in used):
        return {}
    totals: dict[str, Mapping[str, float]] = {}
    for side in SIDES:
        total = dict.fromkeys(_COUNTED, 0.0)
        for index, sides in enumerate(used):
            place = f"{where}/per_launch/{index}/usage/{side}"
            counts = sides.get(side) if isinstance(sides, dict) else None
            for name in _COUNTED:
                value = counts.get(name) if isinstance(counts, dict) else None
                if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
                    raise InputError(f"{path}: {place}/{name}: found {json.dumps(value)}; allowed: a number from 0")
                total[name] += value
        totals[side] = total
    return {
        side: ProcessorUse(
            (total["user_s"] + total["system_s"]) / messages,
            total["voluntary_switches"] / messages,
            total["involuntary_switches"] / messages,
        )
        for side, total in totals.items()
    }
