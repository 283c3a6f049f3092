"""What each kind of workload counts, and who its threads are: words for tables and pictures.

Results have the same names for all kinds: `message_rate`, and the roles "sender" and "receiver".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from contend.common.spelling import plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from contend.common.jsontypes import JsonObject
    from contend.scenarios.axes import Located


# The threads of workloads that are programs.
_OS_PROCESS = "OS process"


@dataclass(frozen=True)
class WorkloadWords:
    """How a kind of workload is spoken of."""

    counted: str
    """What its rate counts, one of it."""
    sender: str = "sender"
    receiver: str = "receiver"
    measures: tuple[str, ...] = ()
    """Names of what only this kind measures, other than those in `contend.results.measures`."""

    @property
    def rate(self) -> str:
        """What its rate is called."""
        return f"{self.counted} rate"

    @property
    def unit(self) -> str:
        """The unit of its rate."""
        return f"{plural(self.counted)}/s"

    @property
    def is_of_messages(self) -> bool:
        """Whether columns about matching belong into its tables."""
        return self.counted in ("message", "partition")

    @property
    def is_of_coroutines(self) -> bool:
        """Whether its processes are coroutines of OS processes."""
        return self.sender == _OS_PROCESS

    def role(self, name: str) -> str:
        """A role of results in words."""
        return {"sender": self.sender, "receiver": self.receiver}.get(name, name)


class _OperationWords(WorkloadWords):
    """Words of a workload that has an operation: its rate has the operation's name, and counts operations."""

    @property
    def unit(self) -> str:
        return "operations/s"


_MESSAGES = WorkloadWords("message")
_ITERATIONS = WorkloadWords("iteration", _OS_PROCESS)
WORDS: Mapping[str, WorkloadWords] = {
    "multirate": _MESSAGES,
    "neighbour": WorkloadWords("message", "root", "neighbour"),
    "ping-pong": WorkloadWords("message", "first side", "second side"),
    "partitioned": WorkloadWords("partition"),
    "latency": WorkloadWords("message"),
    "rma-mt": _OperationWords("operation", "origin", "target"),
    "waiting": WorkloadWords("call", "sender", "caller"),
    "pack": WorkloadWords("pack", "packing side", "other side"),
    "lock": _OperationWords("operation", "thread", "lock thread"),
    "ping": WorkloadWords("message", _OS_PROCESS),
    "ring": WorkloadWords("message", _OS_PROCESS),
    "receivers": WorkloadWords("message", _OS_PROCESS),
    "collective": _OperationWords("operation", _OS_PROCESS),
    "exchange": _ITERATIONS,
    "matrix-product": _ITERATIONS,
    "pipeline": _ITERATIONS,
    "flocking": _ITERATIONS,
    "nas": _ITERATIONS,
}
# Of a kind that is not among them, such as one of somebody's own: nothing is said that could be wrong.
_UNKNOWN = _OperationWords("operation")
# Operations that are counted under a noun of their own; of others the operations are.
_COUNTED = {
    "lock": {"lock": "acquisition", "try-lock": "acquisition", "execute": "section"},
    "collective": {"barrier": "barrier", "broadcast": "broadcast", "reduce": "reduction", "pi": "sum"},
}
# What words depend on besides the kind, which no sweep changes.
_OPERATION = "workload.operation"


def words_of(workload: JsonObject) -> WorkloadWords:
    """The words of a scenario's workload: of messages where its kind is not said, neutral ones where that has none."""
    words = WORDS.get(str(workload["kind"]), _UNKNOWN) if "kind" in workload else _MESSAGES
    operation = workload.get("operation")
    if operation is None:
        return words
    if noun := _COUNTED.get(str(workload.get("kind")), {}).get(str(operation)):
        return WorkloadWords(noun, words.sender, words.receiver)
    return replace(words, counted=str(operation)) if isinstance(words, _OperationWords) else words


def common_words(workloads: Iterable[JsonObject]) -> WorkloadWords:
    """The words of several workloads, such as those of the points of a sweep: of what they differ in, neutral ones.

    Args:
        workloads: At least one.

    Examples:
        >>> common_words([{"kind": "rma-mt", "operation": operation} for operation in ("put", "get")]).rate
        'operation rate'
    """
    found = list(dict.fromkeys(map(words_of, workloads)))
    if len(found) == 1:
        return found[0]
    roles = {(words.sender, words.receiver) for words in found}
    names = roles.pop() if len(roles) == 1 else ()
    if len({words.counted for words in found}) == 1:
        return WorkloadWords(found[0].counted, *names)
    return WorkloadWords("operation", *names)


def workloads_of(scenario: JsonObject, points: Sequence[Located]) -> list[JsonObject]:
    """The workloads of points of a scenario that may have other words, each once.

    Args:
        scenario: With every default filled in, as results have it.
        points: Some of its points.
    """
    workload: JsonObject = scenario.get("workload", {})
    sweep = scenario.get("sweep") or {}
    if not points or _OPERATION not in (sweep[0] if isinstance(sweep, list) else sweep):
        return [workload]
    operations = dict.fromkeys(point.parameters[_OPERATION.rpartition(".")[2]] for point in points)
    return [workload | {"operation": operation} for operation in operations]
