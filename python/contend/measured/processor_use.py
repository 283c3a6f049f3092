"""What the operating system counted of measured processes, beside what it counts in their simulation."""

from __future__ import annotations

import statistics
from dataclasses import asdict, fields
from typing import TYPE_CHECKING

from contend.datasets.processor_use import ProcessorUse

if TYPE_CHECKING:
    from contend.common.jsontypes import JsonObject
    from contend.datasets.dataset import MeasuredPoint
    from contend.results.results import PointResult

# Where each message has an answer which its rate counts as well.
_ANSWERED = frozenset({"latency"})


def simulated_use(result: PointResult, kind: str) -> dict[str, ProcessorUse]:
    """What a simulated operating system counts, by side, for each message from the senders to the receivers.

    Args:
        result: Means over replications, of their timed parts.
        kind: The kind of workload.

    Returns:
        Nothing where no message was counted.
    """
    rate, elapsed = result.message_rate, result.scalars.get("elapsed_s", 0.0)
    # All replications send as many: their number is the mean time over the mean time of a message.
    samples = [] if rate is None else [sample for sample in rate.samples if sample > 0]
    messages = elapsed / statistics.fmean(1 / sample for sample in samples) if samples else 0.0
    if kind in _ANSWERED:
        messages /= 2
    if messages <= 0:
        return {}
    counted = [field.name for field in fields(ProcessorUse)]
    return {
        side: ProcessorUse(**{name: used[name] / messages for name in counted})
        for side, used in result.usage.items()
        if used
    }


def use_beside(point: MeasuredPoint, result: PointResult, kind: str) -> JsonObject:
    """Measured and predicted use of processors, by side and by what is counted; empty where one of them is not known.

    Args:
        point: What was measured.
        result: Its simulation.
        kind: The kind of workload.
    """
    predicted = simulated_use(result, kind)
    return {
        side: {
            name: {"measured": value, "predicted": getattr(predicted[side], name)}
            for name, value in asdict(measured).items()
        }
        for side, measured in point.use.items()
        if side in predicted
    }
