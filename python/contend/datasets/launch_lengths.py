"""How many iterations launches of a point made: of samples, of what is timed, and of all."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contend.common.jsontypes import JsonObject


# What counts and times are below: products of two of them are numbers.
_LARGEST = 1e150


@dataclass(frozen=True)
class LaunchLengths:
    """In the mean over the launches of a point.

    Attributes:
        repetitions: Of a launch; each gives a sample.
        timed: Iterations of a repetition.
        in_all: Iterations of a launch with warm-up and trials; None where nobody counted.
    """

    repetitions: float
    timed: float
    in_all: float | None

    def before_repetitions(self, warmup: int) -> float | None:
        """Iterations after the warm-up and before the first repetition: trials that say how long repetitions become."""
        return None if self.in_all is None else max(0.0, self.in_all - warmup - self.repetitions * self.timed)


def launch_lengths(point: JsonObject, launches: Sequence[JsonObject]) -> LaunchLengths | None:
    """Reads the lengths from what a point says of its launches; None where a launch does not say them.

    Args:
        point: A point of a dataset, for the messages that its launches counted.
        launches: Its launches.
    """
    counts = [launch.get("iterations") or [] for launch in launches]
    if not counts or not all(counts):
        return None
    timed = sum(map(sum, counts))
    repetitions = sum(map(len, counts))
    counted = _messages_counted(point)
    per_iteration = _messages_per_iteration(point, timed, repetitions)
    in_all = None if counted is None or per_iteration is None else counted / per_iteration / len(counts)
    if in_all is not None and in_all < timed / len(counts):
        in_all = None  # not of all launches
    return LaunchLengths(repetitions / len(counts), timed / repetitions, in_all)


def _messages_counted(point: JsonObject) -> int | None:
    counters = point.get("counters")
    sent = counters.get("messages_sent") if isinstance(counters, dict) else None
    return sent if isinstance(sent, int) and _is_number(sent) and sent > 0 else None


def _messages_per_iteration(point: JsonObject, timed: int, repetitions: int) -> int | None:
    """Of one direction: rates count both of a round trip."""
    rates, elapsed = (_samples(point.get(name)) for name in ("message_rate", "elapsed"))
    if not len(rates) == len(elapsed) == repetitions:
        return None
    messages = sum(rate * time for rate, time in zip(rates, elapsed, strict=True)) / timed
    if not math.isfinite(messages):
        return None
    return max(1, round(messages / 2 if "latency" in point else messages))


def _samples(entry: object) -> list[float]:
    samples = entry.get("samples") if isinstance(entry, dict) else None
    return samples if isinstance(samples, list) and all(map(_is_number, samples)) else []


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _LARGEST


def iterations_of_a_sample(launches: Sequence[JsonObject]) -> int | None:
    """The median over the samples: the benchmark chooses them by time, so that points of a dataset differ."""
    found = [count for launch in launches for count in (launch.get("iterations") or [])]
    return round(statistics.median(found)) if found else None
