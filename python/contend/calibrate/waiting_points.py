"""What contend-waiting measured: which of its points isolate a price, and what its metric is in a simulation's result.

A call over n requests has several parts that grow with n. Which points tell them apart depends on how a library's calls
go through their requests, which its sources say (docs/decisions/0045-handles-of-a-call.md).
"""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from contend.common.jsontypes import JsonObject, Scalar
    from contend.datasets.dataset import Dataset, MeasuredPoint

# The kind of workload that the program says it measured.
WAITING = "waiting"
# Its metric in the result of a scenario.
RESULT_METRICS = {"time_per_operation": "time_per_operation_s"}

MANY, FEW, ONE = 256, 16, 1


def waiting_point(call: str, requests: int, complete: int) -> dict[str, Scalar]:
    """The parameters of a point."""
    return {"call": call, "requests": requests, "complete": complete}


@dataclass(frozen=True)
class Isolating:
    """Points of some libraries, by wildcards, that isolate prices of their calls.

    `handles`: two that differ by the handles of MANY requests. `looks`: two that differ by MANY - FEW handles, and so
    many looks at as many requests as `looks_each` says.
    """

    libraries: tuple[str, ...]
    handles: tuple[dict[str, Scalar], dict[str, Scalar]]
    looks: tuple[dict[str, Scalar], dict[str, Scalar]]
    looks_each: int


_NOTHING_COMPLETE = (waiting_point("testsome", MANY, 0), waiting_point("testsome", FEW, 0))
ISOLATING = (
    # MPI_Testall looks no further than the first request that is not complete, however many there are.
    Isolating(("openmpi-5*",), (waiting_point("testall", MANY, 0), waiting_point("testall", ONE, 0)),
              _NOTHING_COMPLETE, 1),
    # MPI_Testall looks at all of them again; MPI_Testany stops at the first that is complete. A test that finds nothing
    # looks whether each is active, where to make progress, and before and after that whether it is complete.
    Isolating(("mpich-5*",), (waiting_point("testany", MANY, MANY), waiting_point("testany", ONE, ONE)),
              _NOTHING_COMPLETE, 4),
)  # fmt: skip


def isolates(dataset: Dataset, point: MeasuredPoint) -> bool:
    """Whether a price is identified from a point, which is then no prediction."""
    return dataset.kind == WAITING and any(
        point.parameters in (*one.handles, *one.looks)
        for one in ISOLATING
        if any(fnmatch.fnmatchcase(dataset.library_key, pattern) for pattern in one.libraries)
    )


def result_metric(dataset: Dataset, metric: str) -> str:
    """What a measured metric is called in the result of a scenario."""
    return RESULT_METRICS.get(metric, metric) if dataset.kind == WAITING else metric


def longest_waiting(known: JsonObject, messages: int) -> int:
    """The most iterations of a simulation with about so many messages."""
    complete = known.get("complete")
    return max(3, messages // max(1, complete if isinstance(complete, int) else 1))
