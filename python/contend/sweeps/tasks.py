"""One replication as a piece of work, wherever it is done."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from contend.common.errors import SimulationFailedError

if TYPE_CHECKING:
    from contend.engine.runner import Engine
    from contend.scenarios.resolution import Point


@dataclass(frozen=True)
class Task:
    """A replication of a point.

    `key` is its place in the store; `weight` says roughly how much work it is.
    """

    key: str
    point: Point
    replication: int
    weight: float


@dataclass(frozen=True)
class Finished:
    """The engine's answer (JSON), and how long it took."""

    answer: str
    wall_s: float


@dataclass(frozen=True)
class Failed:
    """The simulation ended with an error, for example a deadlock in the modelled library."""

    message: str


def simulate(engine: Engine, point: Point, replication: int) -> Finished | Failed:
    """Runs one replication."""
    begin = time.perf_counter()
    try:
        answer = engine.run_point(point, replication, trace_hash=False)
    except SimulationFailedError as error:
        return Failed(str(error))
    return Finished(answer, time.perf_counter() - begin)
