"""The options of the programs in validation/native: what each takes, so that a campaign is checked before a launch."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from contend.common.nearest import nearest_names

_SIZE = re.compile(r"(\d{1,19}) *(B|KiB|MiB|GiB)?", re.ASCII)
_DIGITS = re.compile(r"\d{1,12}", re.ASCII)
_FACTORS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


@dataclass(frozen=True)
class Whole:
    """A whole number; several of them, where the program takes a list."""

    least: int
    most: int
    many: bool = False

    @property
    def allowed(self) -> str:
        """What it takes, in words."""
        one = f"a whole number from {self.least} to {self.most}"
        return one + (", or a list of such" if self.many else "")

    def takes(self, value: object) -> bool:
        """Whether a single value is one."""
        return isinstance(value, int) and not isinstance(value, bool) and self.least <= value <= self.most


@dataclass(frozen=True)
class Number:
    """A number."""

    least: float
    most: float
    many: bool = field(default=False, init=False)

    @property
    def allowed(self) -> str:
        """What it takes, in words."""
        return f"a number from {self.least:g} to {self.most:g}"

    def takes(self, value: object) -> bool:
        """Whether a value is one."""
        return isinstance(value, int | float) and not isinstance(value, bool) and self.least <= value <= self.most


@dataclass(frozen=True)
class Size:
    """Bytes, or a whole number with a unit."""

    most: int
    many: bool = False

    @property
    def allowed(self) -> str:
        """What it takes, in words."""
        one = f'bytes or a size such as "1 KiB", from 0 to {self.most} B'
        return one + (", or a list of such" if self.many else "")

    def takes(self, value: object) -> bool:
        """Whether a single value is one."""
        size = size_bytes(value)
        return size is not None and 0 <= size <= self.most


@dataclass(frozen=True)
class Choice:
    """One of some words; several of them, where the program takes a list."""

    words: tuple[str, ...]
    many: bool = False

    @property
    def allowed(self) -> str:
        """What it takes, in words."""
        return ", ".join(self.words) + (", or a list of such" if self.many else "")

    def takes(self, value: object) -> bool:
        """Whether a single value is one."""
        return value in self.words


@dataclass(frozen=True)
class Flag:
    """On or off."""

    many: bool = field(default=False, init=False)
    allowed: str = field(default="true or false", init=False)

    def takes(self, value: object) -> bool:
        """Whether a value is one."""
        return isinstance(value, bool)


@dataclass(frozen=True)
class Text:
    """A text of its own form."""

    form: str
    allowed: str
    many: bool = field(default=False, init=False)

    def takes(self, value: object) -> bool:
        """Whether a value is one."""
        return isinstance(value, str) and re.fullmatch(self.form, value, re.ASCII) is not None


Option = Whole | Number | Size | Choice | Flag | Text

_MOST_ENTITIES = 4096
_MOST_ITERATIONS = 10_000_000
_GIB = 1 << 30
_HOOK = Whole(-1, 1_000_000_000)
_LEVELS = ("single", "funneled", "serialized", "multiple")
_ITERATIONS: dict[str, Option] = {
    "iterations": Whole(1, _MOST_ITERATIONS),
    "warmup_iterations": Whole(0, _MOST_ITERATIONS),
}
_COMMON: dict[str, Option] = {"crash": _HOOK, "deadlock": _HOOK}
_BIND: dict[str, Option] = {"bind": Choice(("none", "compact"))}
_MPI: dict[str, Option] = {
    **_BIND,
    "counters": Flag(),
    "counter_filter": Text(r"[^\x00-\x1f\x7f]*", "parts of names of counters, with commas between them, or all"),
    **_COMMON,
}

# By benchmark, with underscores for the dashes of the command line. tests/python/test_campaign_checks.py reads the
# programs' sources for the same names.
PROGRAM_OPTIONS: dict[str, dict[str, Option]] = {
    "multirate": {
        "pattern": Choice(("pairwise", "one-to-many", "many-to-one", "many-to-many")),
        "mode": Choice(("thread", "process", "process-to-thread", "thread-to-process")),
        "pairs": Whole(1, _MOST_ENTITIES),
        "senders": Whole(1, _MOST_ENTITIES),
        "receivers": Whole(1, _MOST_ENTITIES),
        "message_size": Size(_GIB),
        "window": Whole(1, 65536),
        **_ITERATIONS,
        "barrier_every_iteration": Flag(),
        "completion": Choice(("window", "test", "testany", "waitany")),
        "communicator_per_pair": Flag(),
        "handshake": Choice(("pair", "world")),
        "tags": Choice(("window", "pair")),
        "allow_overtaking": Flag(),
        "any_tag": Flag(),
        "target_seconds": Number(0, 1e5),
        "thread_level": Choice((*_LEVELS, "")),
        "iteration_times": Choice(("distribution", "all")),
        "verify": Flag(),
        "corrupt": _HOOK,
        **_MPI,
    },
    "latency": {
        "senders": Whole(1, _MOST_ENTITIES),
        "receivers": Whole(1, _MOST_ENTITIES),
        "message_size": Size(_GIB),
        **_ITERATIONS,
        "target_seconds": Number(0, 1e5),
        "thread_level": Choice((*_LEVELS, "")),
        "verify": Flag(),
        "corrupt": _HOOK,
        **_MPI,
    },
    "rma": {
        "operation": Choice(("put", "get", "accumulate", "fetch-and-op")),
        "synchronisation": Choice(("flush", "flush-all", "flush-local", "lock", "lock-all", "fence")),
        "synchronised_by": Choice(("every-thread", "one-thread")),
        "window_per_thread": Flag(),
        "threads": Whole(1, _MOST_ENTITIES),
        "message_size": Size(_GIB),
        "operations": Whole(1, 10_000_000),
        **_ITERATIONS,
        "target_seconds": Number(0, 1e5),
        "verify": Flag(),
        "corrupt": Flag(),
        **_MPI,
    },
    "partitioned": {
        "method": Choice(("partitioned", "persistent", "multi-send", "single-send")),
        "partitions": Whole(1, _MOST_ENTITIES),
        "receive_partitions": Whole(1, _MOST_ENTITIES),
        "buffer_size": Size(_GIB),
        "compute_ms": Number(0, 1e5),
        "noise_pct": Number(0, 1e4),
        **_ITERATIONS,
        "verify": Flag(),
        "corrupt": _HOOK,
        **_MPI,
    },
    "waiting": {
        "call": Choice(("testsome", "testany", "testall", "waitsome", "waitany", "waitall"), many=True),
        "requests": Whole(1, 20_000, many=True),
        "complete": Text(r"(\d{1,6}|all)(,(\d{1,6}|all))*", 'numbers and all, with commas between them, as "0,1,all"'),
        "iterations": Whole(1, _MOST_ITERATIONS),
        "thread_level": Choice(_LEVELS),
        **_MPI,
    },
    "primitives": {
        "primitive": Choice(
            (
                "team_begin", "isend", "irecv", "test_empty", "iprobe_empty", "latency", "message", "match_posted",
                "match_unexpected",
            ),
            many=True,
        ),
        "message_size": Size(1 << 24, many=True),
        "depth": Whole(0, 30_000, many=True),
        "iterations": Whole(1, 100_000_000),
        "thread_level": Choice(_LEVELS),
        **_MPI,
    },
    "locks": {
        "lock": Choice(("mutex", "spin", "ttas", "ticket", "mcs", "trylock"), many=True),
        "threads": Whole(1, _MOST_ENTITIES, many=True),
        "critical_section_ns": Whole(0, 1_000_000_000, many=True),
        "outside_ns": Whole(0, 1_000_000_000),
        "seconds": Number(1e-4, 1e4),
        **_BIND,
        **_COMMON,
    },
    "machine": {
        "probe": Choice(
            (
                "clock", "cache_line", "atomic", "futex_wake", "context_switch", "yield", "memcpy", "thread_create",
                "busy_cores", "futex_calls", "busy_wake", "guarded_wake", "socket", "socket_answers", "socket_polls",
                "socket_queue", "socket_turns", "turns",
            ),
            many=True,
        ),
        "cores": Whole(0, 65535, many=True),
        "iterations": Whole(1, 1_000_000_000),
        **_COMMON,
    },
}  # fmt: skip

_MOST_CONTEXTS = 65536
# Options of a library by name; what they mean says contend.measure.transports.
LIBRARY_OPTIONS: dict[str, Option] = {
    "contexts": Whole(1, _MOST_CONTEXTS),
    "dedicated": Flag(),
    "progress_threads": Whole(1, _MOST_CONTEXTS),
    "yield": Flag(),
    "spc": Flag(),
}


def size_bytes(value: object) -> int | None:
    """A size as programs read it, in bytes; None if it is none."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    match = _SIZE.fullmatch(value) if isinstance(value, str) else None
    return int(match[1]) * _FACTORS[match[2] or "B"] if match else None


def misfits(option: Option, value: object) -> list[tuple[int | None, object]]:
    """The parts of a value that an option does not take: their index in a list, and what they are.

    Args:
        option: What is asked for.
        value: What was given: one value, or a list where the option takes several.
    """
    if isinstance(value, list):
        if not option.many or not value:
            return [(None, value)]
        return [(index, one) for index, one in enumerate(value) if not option.takes(one)]
    if option.many and isinstance(value, str):
        # As on the command line, so that a sweep can have lists for values.
        parts = [int(part) if _DIGITS.fullmatch(part) else part for part in value.split(",")]
        return [] if all(option.takes(part) for part in parts) else [(None, value)]
    return [] if option.takes(value) else [(None, value)]


def nearest_words(option: Option, value: object) -> list[str]:
    """The word that was probably meant, where an option takes words."""
    return nearest_names(value, option.words) if isinstance(option, Choice) and isinstance(value, str) else []
