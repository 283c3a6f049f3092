"""What contend-partitioned measured: its points as workloads of a scenario.

The simulated workload follows the study of partitioned communication (Parallel Computing 108, 2021) unless told; where
the program (validation/native/partitioned) does something else, keys of the workload say so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from contend.common.jsontypes import JsonObject
    from contend.datasets.dataset import Dataset

# The kind of workload that the program says it measured, and which of its methods has that name, too.
PARTITIONED = "partitioned"
_BY_PARTITION = "partitioned"
_PROGRAM = "contend-partitioned"
# How the program runs an iteration (main.cpp): threads compute in a loop that reads the clock, meet at a pthread
# barrier, and the receiver starts once both processes have met; a sample is the median of its iterations. Left out, as
# nothing timed comes after: the receiver's answer at the end of an iteration.
_AS_MEASURED: JsonObject = {
    "compute_until": "clock",
    "fork": "sleep",
    "receiver_starts": "after",
    "statistic": "median",
}


def is_from_program(dataset: Dataset) -> bool:
    """Whether the program described here measured a dataset."""
    return dataset.kind == PARTITIONED and dataset.program == _PROGRAM


def partitioned_workload(measured: JsonObject) -> JsonObject:
    """The workload of a scenario for one point that the program measured.

    The receiver looks for the first partition with MPI_Parrived, and for the first of several messages with
    MPI_Waitany; for a single message it waits at once.

    Args:
        measured: The dataset's workload with the point's parameters.
    """
    looks = measured.get("method", _BY_PARTITION) != "single-send"
    return _AS_MEASURED | {"receiver_polls": looks} | measured


def longest_partitioned(known: JsonObject, messages: int) -> int:
    """The most iterations of a simulation with about so many messages, one for each partition."""
    partitions = known.get("partitions")
    return max(3, messages // max(1, partitions if isinstance(partitions, int) else 1))
