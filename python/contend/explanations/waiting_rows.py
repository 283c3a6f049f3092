"""Where threads wait for each other without a lock, as rows of a table.

From `waiting_places` of an explanation, for the terminal and for pages.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from contend.common.jsontypes import JsonObject
    from contend.results.workload_words import WorkloadWords

# What a reader must know about the table.
WAITING_WORDS = (
    "share: of the time of all threads of the role that waits; nobody: waking up, cache lines, calls; "
    "meanwhile: what those do who are waited for (who make progress, or come last)"
)
_SMALLEST_SHARE = 0.0005
_SMALLEST_WAIT = 0.01
_MOST_AWAITED = 3
_MOST_MEANWHILE = 4
# As the simulator says it.
_LAST_AT_A_BARRIER = "arrived last"
_NOBODY_AT_IT = "nobody at it"


@dataclass(frozen=True)
class Part:
    """A part of the waits of a row: its share, and what it is, in words."""

    share: float
    words: str


@dataclass(frozen=True)
class AwaitedRole:
    """For whom a role waits, and what that one did in the end; nobody where `how` is empty."""

    share: float
    role: str
    how: str


@dataclass(frozen=True)
class WaitingRow:
    """A place where a role waits, longest parts first.

    Attributes:
        place: What threads wait for, by process or host.
        waits: How many there were; 0 where several roles wait and they are not counted apart.
        wait_ns: The time of all of them.
        share: Of all time of the role that waits.
        waiter: That role, as the workload calls it.
        whom: For whom it waits.
        threads: Those threads, at a barrier with how often each was the last to come.
        meanwhile: What those that are waited for do.
    """

    place: str
    waits: float
    wait_ns: float
    share: float
    waiter: str
    whom: list[AwaitedRole]
    threads: list[Part]
    meanwhile: list[Part]


def waiting_rows(
    places: Sequence[JsonObject], times: Mapping[str, Mapping[str, float]], words: WorkloadWords
) -> list[WaitingRow]:
    """The rows of a table, longest wait first, without those that are next to nothing of a role's time.

    Args:
        places: `waiting_places` of an explanation.
        times: By role and category, its `time_by_category_ns`.
        words: What the workload calls its roles.
    """
    rows = []
    for part in (part for place in places for part in _by_waiter(place)):
        whole = sum(times.get(part["waiter"], {}).values())
        share = float(part["wait_ns"] / whole) if whole else 0.0
        if share >= _SMALLEST_SHARE:
            rows.append(
                WaitingRow(
                    part["name"], part["waits"], part["wait_ns"], share, words.role(part["waiter"]),
                    _whom(part, words), _threads(part), _meanwhile(part),
                )
            )  # fmt: skip
    return sorted(rows, key=lambda row: -row.wait_ns)


def coverage_text(places: Sequence[JsonObject], times: Mapping[str, Mapping[str, float]]) -> str:
    """Which part of the times that threads are blocked, at barriers and in idle polls the places account for."""
    parts = []
    for category in ("blocked", "barrier", "poll_idle"):
        whole = sum(by_category.get(category, 0.0) for by_category in times.values())
        told = sum(
            entry["time_ns"] for place in places for entry in place["by_role"] if entry["category"] == category
        )  # fmt: skip
        if told:
            parts.append(f"{told / whole if whole else 1.0:.0%} of {category.replace('_', ' ')}")
    return ", ".join(parts)


def _by_waiter(place: JsonObject) -> list[JsonObject]:
    """A place as each role sees that waits there, longest wait first; by role alone where several do."""
    roles = [entry["waiter"] for entry in _merged(place["by_role"], "waiter")]
    if len(roles) == 1:
        return [{**place, "waiter": roles[0]}]
    parts = []
    for role in roles:
        mine = [entry for entry in place["by_role"] if entry["waiter"] == role]
        parts.append({
            "name": place["name"], "waiter": role, "waits": 0, "wait_ns": sum(entry["time_ns"] for entry in mine),
            "by_role": mine, "awaited": [], "meanwhile_ns": {},
        })  # fmt: skip
    return parts


def _whom(place: JsonObject, words: WorkloadWords) -> list[AwaitedRole]:
    total = place["wait_ns"] or 1.0
    return [
        AwaitedRole(
            entry["time_ns"] / total, words.role(entry["awaited"]) if entry["awaited"] else "nobody", entry["how"]
        )
        for entry in _merged(place["by_role"], "awaited", "how")  # without the category
        if entry["time_ns"] >= _SMALLEST_WAIT * total
    ]


def _merged(entries: Sequence[JsonObject], *keys: str) -> list[JsonObject]:
    """Sums of times of entries that agree in some words, longest first."""
    sums: dict[tuple[str, ...], float] = {}
    for entry in entries:
        words = tuple(entry[key] for key in keys)
        sums[words] = sums.get(words, 0.0) + entry["time_ns"]
    merged = [{**dict(zip(keys, words, strict=True)), "time_ns": time_ns} for words, time_ns in sums.items()]
    return sorted(merged, key=lambda entry: -entry["time_ns"])


def _threads(place: JsonObject) -> list[Part]:
    """The threads that are waited for longest; at a barrier with how often each was the last to come."""
    total = place["wait_ns"] or 1.0
    rounds = sum(entry["times"] for entry in place["awaited"] if entry["how"] == _LAST_AT_A_BARRIER)
    threads = _merged(place["awaited"], "thread")
    shown = threads if len(threads) <= _MOST_AWAITED else threads[: _MOST_AWAITED - 1]
    parts = []
    for thread in shown:
        last = sum(
            entry["times"]
            for entry in place["awaited"]
            if entry["thread"] == thread["thread"] and entry["how"] == _LAST_AT_A_BARRIER
        )
        times = f", last in {last / rounds:.0%}" if last else ""
        parts.append(Part(thread["time_ns"] / total, f"{thread['thread']}{times}"))
    if more := threads[len(shown) :]:
        parts.append(Part(sum(thread["time_ns"] for thread in more) / total, f"{len(more)} more"))
    return parts


def _meanwhile(place: JsonObject) -> list[Part]:
    """What those that are waited for do meanwhile, with the time in which none of them is at it."""
    awaited_ns = sum(entry["time_ns"] for entry in place["by_role"] if entry["awaited"])
    times = dict(place["meanwhile_ns"])
    if not times or not awaited_ns:
        return []
    total = max(awaited_ns, sum(times.values()))
    times[_NOBODY_AT_IT] = total - sum(times.values())
    shown = sorted(times.items(), key=lambda item: -item[1])[:_MOST_MEANWHILE]
    return [
        Part(time_ns / total, category.replace("_", " "))
        for category, time_ns in shown
        if time_ns >= _SMALLEST_WAIT * total
    ]
