"""Measured points of several processes with threads: no scenario has them.

A scenario has the threads of a side in one process. Where a program ran several such processes on a side, a point says
by parameters of its own how many they were; without them, or with one of each, it had one, or processes of one
thread each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from contend.calibrate.split import merged
from contend.common.errors import InputError

if TYPE_CHECKING:
    from contend.common.jsontypes import Scalar
    from contend.datasets.dataset import Dataset, MeasuredPoint

PROCESS_PAIRS, _SENDING, _RECEIVING = "process_pairs", "sending_processes", "receiving_processes"
LAYOUT = frozenset({PROCESS_PAIRS, _SENDING, _RECEIVING})
_WHY = "scenarios have the threads of a side in one process"


def process_layout(senders: int, receivers: int) -> dict[str, Scalar]:
    """The parameters of a point whose threads are those of several processes on a side.

    Args:
        senders: Sending processes.
        receivers: Receiving processes.
    """
    return {PROCESS_PAIRS: senders} if senders == receivers else {_SENDING: senders, _RECEIVING: receivers}


def why_not_simulated(dataset: Dataset, point: MeasuredPoint) -> str | None:
    """Why no scenario stands for how the threads of a point were spread over processes; None where one does."""
    known = merged(dataset, point)
    if known.get(PROCESS_PAIRS, 1) != 1:
        return f"several pairs of processes: {_WHY}"
    if any(known.get(name, 1) != 1 for name in (_SENDING, _RECEIVING)):
        return f"several processes with threads on a side: {_WHY}"
    return None


def refuse_layout(dataset: Dataset, point: MeasuredPoint) -> None:
    """Refuses a point that no scenario stands for.

    Raises:
        InputError: It is one; says why.
    """
    if (why := why_not_simulated(dataset, point)) is not None:
        raise InputError(why)


def not_simulated(dataset: Dataset) -> list[str]:
    """The reasons of why_not_simulated, one for each point that has one."""
    return [why for point in dataset.points if (why := why_not_simulated(dataset, point)) is not None]
