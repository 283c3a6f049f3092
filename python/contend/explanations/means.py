"""Means over replications of what a run says of waiting: locks, queues, stages of interfaces, places.

What is missing from a replication counts as zeros in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from contend.common.statistics import exact_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contend.common.jsontypes import JsonObject


def mean_entries(replications: Sequence[Sequence[JsonObject]]) -> list[JsonObject]:
    """Means of lists of entries that have a name, such as locks; of `maximum` the largest."""
    names = list(dict.fromkeys(entry["name"] for entries in replications for entry in entries))
    by_name = [{entry["name"]: entry for entry in entries} for entries in replications]
    result: list[JsonObject] = []
    for name in names:
        some = next(entries[name] for entries in by_name if name in entries)
        mean: JsonObject = {"name": name}
        for key, value in some.items():
            if key == "waits":
                mean[key] = _mean_waits([entries.get(name, {}).get(key, []) for entries in by_name])
            elif key == "maximum":
                mean[key] = max(entries.get(name, {}).get(key, 0) for entries in by_name)
            elif isinstance(value, int | float):
                mean[key] = exact_mean([entries.get(name, {}).get(key, 0) for entries in by_name])
        result.append(mean)
    return result


def _mean_waits(replications: Sequence[Sequence[JsonObject]]) -> list[JsonObject]:
    sums: dict[tuple[str, str], float] = {}
    for entries in replications:
        for entry in entries:
            key = (entry["waiter"], entry["holder"])
            sums[key] = sums.get(key, 0.0) + entry["time_ns"]
    means = [{"waiter": w, "holder": h, "time_ns": total / len(replications)} for (w, h), total in sums.items()]
    return sorted(means, key=lambda entry: -entry["time_ns"])


def mean_places(replications: Sequence[Sequence[JsonObject]]) -> list[JsonObject]:
    """Means of the places where threads wait without a lock, longest wait first."""
    count = len(replications)
    by_name = [{place["name"]: place for place in places} for places in replications]
    places: list[JsonObject] = []
    for name in dict.fromkeys(name for named in by_name for name in named):
        present = [named[name] for named in by_name if name in named]
        meanwhile: dict[str, float] = {}
        for place in present:
            for category, time_ns in place["meanwhile_ns"].items():
                meanwhile[category] = meanwhile.get(category, 0.0) + time_ns / count
        places.append(
            {
                "name": name,
                "waits": exact_mean([named.get(name, {}).get("waits", 0) for named in by_name]),
                "wait_ns": exact_mean([named.get(name, {}).get("wait_ns", 0.0) for named in by_name]),
                "by_role": _mean_times([place["by_role"] for place in present], count),
                "awaited": _mean_times([place["awaited"] for place in present], count),
                "meanwhile_ns": dict(sorted(meanwhile.items(), key=lambda item: -item[1])),
            }
        )
    return sorted(places, key=lambda place: -place["wait_ns"])


def _mean_times(replications: Sequence[Sequence[JsonObject]], count: int) -> list[JsonObject]:
    """Means over `count` replications of entries that have the same words, longest time first."""
    sums: dict[tuple[str, ...], JsonObject] = {}
    for entry in (entry for entries in replications for entry in entries):
        words = {key: value for key, value in entry.items() if isinstance(value, str)}
        total = sums.setdefault(tuple(words.values()), words)
        for key, value in entry.items():
            if key not in words:
                total[key] = total.get(key, 0) + value / count
    return sorted(sums.values(), key=lambda entry: -entry["time_ns"])
