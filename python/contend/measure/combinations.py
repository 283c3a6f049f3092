"""Which options of a program of validation/native go together, as the programs themselves check it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contend.measure.options import size_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# The tags that MPI guarantees.
_TAGS = 32768
_WORD = 8


def combination_problem(benchmark: str, workload: Mapping[str, object]) -> str | None:
    """Why a program refuses options that are right one by one; None if it takes them.

    Args:
        benchmark: Its name.
        workload: All its options, each of its own form.
    """
    check = _CHECKS.get(benchmark)
    return next((message for is_one, message in check(workload) if is_one), None) if check else None


def _multirate_problems(given: Mapping[str, object]) -> Iterator[tuple[bool, str]]:
    """As Workload::check() of validation/native/multirate, and the thread level of its main()."""
    pattern, mode = given.get("pattern", "pairwise"), given.get("mode", "thread")
    pairs, senders, receivers = (_whole(given, name, 1) for name in ("pairs", "senders", "receivers"))
    is_pairwise = pattern == "pairwise"
    meets = given.get("barrier_every_iteration", True) is not False
    has_windows = given.get("completion", "window") == "window"
    has_tags = given.get("tags", "window") == "pair"
    tells_apart = given.get("communicator_per_pair") or (has_tags and not given.get("any_tag")) or mode != "thread"
    needed = (_whole(given, "window", 128) + 2) * pairs
    yield is_pairwise and not senders == receivers == 1, "the pattern pairwise takes pairs, not senders and receivers"
    yield not is_pairwise and pairs != 1, f"the pattern {pattern} takes senders and receivers, not pairs"
    yield not is_pairwise and not meets, "only the pattern pairwise can do without barrier_every_iteration"
    yield not is_pairwise and not has_windows, "only the pattern pairwise keeps requests in flight one by one"
    yield not has_windows and meets, "requests that are posted again one by one need barrier_every_iteration false"
    yield not has_windows and given.get("handshake", "pair") != "pair", "requests one by one have no handshakes"
    yield not is_pairwise and given.get("handshake", "pair") != "pair", "only the pattern pairwise has handshakes"
    yield not is_pairwise and has_tags, "only the pattern pairwise has tags of pairs"
    yield has_tags and needed > _TAGS, f"tags of pairs need (window + 2) x pairs = {needed} tags; MPI has {_TAGS}"
    yield (
        is_pairwise and has_windows and pairs > 1 and not meets and not tells_apart,
        (
            "threads that share a communicator and do not meet can take each other's messages; they need "
            "barrier_every_iteration, communicator_per_pair, or tags of pairs without any_tag"
        ),
    )
    yield pattern == "one-to-many" and senders != 1, f"the pattern one-to-many has one sender, not {senders}"
    yield pattern == "many-to-one" and receivers != 1, f"the pattern many-to-one has one receiver, not {receivers}"
    level = given.get("thread_level", "")
    yield mode != "process" and level not in ("", "multiple"), f"the mode {mode} needs the thread level multiple"


def _rma_problems(given: Mapping[str, object]) -> Iterator[tuple[bool, str]]:
    """As RmaWorkload::check() of validation/native/rma."""
    size = _size(given, "message_size", _WORD)
    operation = given.get("operation", "put")
    yield size < 1, "message_size is at least 1 B for one-sided operations"
    yield operation == "accumulate" and size % _WORD != 0, "accumulate needs a message_size in multiples of 8 B"
    yield operation == "fetch-and-op" and size != _WORD, "fetch-and-op needs a message_size of 8 B"


def _partitioned_problems(given: Mapping[str, object]) -> Iterator[tuple[bool, str]]:
    """As PartitionedWorkload::check() of validation/native/partitioned."""
    size = _size(given, "buffer_size", 1 << 20)
    sent, received = _whole(given, "partitions", 4), _whole(given, "receive_partitions", 1)
    yield (
        size == 0 or size % sent != 0 or size % received != 0,
        f"a buffer_size of {size} B cannot be divided into {sent} and {received} partitions",
    )
    is_partitioned = given.get("method", "partitioned") == "partitioned"
    yield not is_partitioned and received != 1, "receive_partitions is for the method partitioned"


def _whole(given: Mapping[str, object], name: str, default: int) -> int:
    value = given.get(name, default)
    return value if isinstance(value, int) else default


def _size(given: Mapping[str, object], name: str, default: int) -> int:
    size = size_bytes(given.get(name, default))
    return default if size is None else size


_CHECKS = {"multirate": _multirate_problems, "rma": _rma_problems, "partitioned": _partitioned_problems}
