"""Which cache lines move between threads, by a trace of the memory accesses of one.

contend-lines (validation/native/lines) marks which phase it is in, and which imagined thread its calls are given to. A
line moves when the thread that touches it does not have the copy that it needs: the latest one to load, the only one to
store. Loads are counted one by one, as a thread waits for each; stores to lines that it does not have go through a
store buffer side by side, and are counted apart.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from contend.common.errors import ContendError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from contend.common.jsontypes import JsonObject

# Slots of the page of marks, as marks.hpp has them: 64 phase + thread, of 8 bytes each.
_SIGNATURE = (511, 384, 509, 386, 507, 388, 505, 390)
_SLOT, _SLOTS_OF_PHASE, _ROUND = 8, 64, 63
_PAGE = 4096
_LINE_BITS = 6
# How far from the program's first local variable its stack reaches: accesses there are no other thread's.
_STACK_BELOW, _STACK_ABOVE = 0x60000, 0x10000
# A line that moves in so many of a phase's calls is the same in every call.
_EVERY = 0.4
# Rounds in which the library fills its free lists and caches.
_FIRST_ROUND = 4
# Accesses in lackey's words: load, store, or both.
_ACCESS = re.compile(rb"^ ([LSM]) ([0-9a-f]+),", re.MULTILINE)


class Phase(StrEnum):
    """What calls do, by the numbers of marks.hpp: the place in this list."""

    none = "outside"
    post = "posting"
    progress = "completing"
    wait = "waiting"
    idle = "a turn that finds nothing"


_PHASES = tuple(Phase)


@dataclass(frozen=True)
class Moved:
    """Lines that move in a call of one phase; where calls complete several requests, for each of these.

    `every` and `own`: loads that a thread waits for, of lines that move in every call (by their addresses), and of the
    others, a call; `fetched` and `taken`: stores to lines that the thread did not have, and of which it had a copy that
    others had as well, a call; `written`: lines that every call stores to and that move each time.
    """

    calls: int
    every: tuple[int, ...]
    own: float
    fetched: float
    taken: float
    written: tuple[int, ...]

    def to_json(self) -> JsonObject:
        """As it is written to a file."""
        return {
            "calls": self.calls,
            "loads_same_in_every_call": [f"{line << _LINE_BITS:#x}" for line in self.every],
            "loads_of_the_request": round(self.own, 3),
            "stores_to_lines_not_had": round(self.fetched, 3),
            "stores_to_lines_shared": round(self.taken, 3),
            "stores_same_in_every_call": [f"{line << _LINE_BITS:#x}" for line in self.written],
        }


@dataclass
class _Tally:
    calls: int = 0
    loads: Counter[int] = field(default_factory=Counter)
    fetched: Counter[int] = field(default_factory=Counter)
    taken: Counter[int] = field(default_factory=Counter)

    def moved(self) -> Moved:
        calls = max(self.calls, 1)
        often = _EVERY * calls
        stores = self.fetched + self.taken
        return Moved(
            self.calls,
            tuple(sorted(line for line, count in self.loads.items() if count > often)),
            sum(count for count in self.loads.values() if count <= often) / calls,
            self.fetched.total() / calls,
            self.taken.total() / calls,
            tuple(sorted(line for line, count in stores.items() if count > often)),
        )


def accesses(chunks: Iterable[bytes]) -> Iterator[tuple[bytes, int]]:
    """Loads, stores and both ("M") of a trace with their addresses; instructions and messages are left out."""
    rest = b""
    for chunk in chunks:
        text = rest + chunk
        whole, _, rest = text.rpartition(b"\n")
        for kind, address in _ACCESS.findall(whole):
            yield kind, int(address, 16)
    for kind, address in _ACCESS.findall(rest):
        yield kind, int(address, 16)


def moved_lines(trace: Iterable[tuple[bytes, int]]) -> dict[Phase, Moved]:
    """What moves in each phase.

    Args:
        trace: Accesses of one process in their order, see accesses().

    Raises:
        ContendError: It is no trace of contend-lines, or has too few rounds.
    """
    steps = iter(trace)
    marks, begin, end, stack = _announced(steps)
    low, high = stack - _STACK_BELOW, stack + _STACK_ABOVE
    tallies = {phase: _Tally() for phase in Phase}
    holders: dict[int, int] = {}  # of each line the threads that have a copy, as bits
    rounds, phase, me = 0, Phase.none, 1
    tally = tallies[phase]
    counts = False
    for kind, address in steps:
        if marks <= address < marks + _PAGE:
            if kind == b"L":
                continue
            slot = (address - marks) // _SLOT
            if slot == _ROUND:
                rounds += 1
                continue
            phase, thread = _PHASES[slot // _SLOTS_OF_PHASE], slot % _SLOTS_OF_PHASE
            me, tally = 1 << thread, tallies[phase]
            counts = rounds > _FIRST_ROUND and phase is not Phase.none
            tally.calls += counts
            continue
        if low <= address <= high or begin <= address <= end:
            continue
        line = address >> _LINE_BITS
        had = holders.get(line, 0)
        if kind == b"L":
            holders[line] = had | me
            if counts and had and not had & me:
                tally.loads[line] += 1
            continue
        holders[line] = me
        if counts and had & ~me:
            if kind == b"M" and not had & me:
                tally.loads[line] += 1
            elif had & me:
                tally.taken[line] += 1
            else:
                tally.fetched[line] += 1
    tallies[Phase.progress].calls = tallies[Phase.post].calls  # one mark for all of a round
    if rounds <= _FIRST_ROUND:
        raise ContendError(f"the trace has {rounds} rounds; more than {_FIRST_ROUND} are needed")
    return {phase: tally.moved() for phase, tally in tallies.items() if phase is not Phase.none}


def _announced(steps: Iterator[tuple[bytes, int]]) -> tuple[int, int, int, int]:
    """The page of marks, the program's first and last byte, and a place on its stack: the first that it stores to."""
    last = [0] * len(_SIGNATURE)
    for kind, address in steps:
        if kind != b"S":
            continue
        last = [*last[1:], address]
        page = last[0] - _SLOT * _SIGNATURE[0]
        if page % _PAGE == 0 and all(
            found == page + _SLOT * slot for found, slot in zip(last, _SIGNATURE, strict=True)
        ):
            stores = (address for kind, address in steps if kind == b"S")
            found = [next(stores, None) for _ in range(3)]
            if None not in found:
                return (page, *(one for one in found if one is not None))  # type: ignore[return-value]
    raise ContendError("no marks of contend-lines in the trace: it ended before its first round")
