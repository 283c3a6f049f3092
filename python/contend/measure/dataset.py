"""From the journal to datasets, one file for each experiment, library and transport.

The format is the measured dataset that `contend calibrate` and `contend validate` read; docs/measuring.md describes it.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from contend.datasets.reading import FORMAT
from contend.datasets.spread import Spread, spread
from contend.measure.runner import Outcome
from contend.measure.transports import FABRIC

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contend.common.jsontypes import JsonObject
    from contend.measure.session import Course

_LAUNCH_FIELDS = ("cell", "order", "started", "command", "outcome", "detail", "exit_code", "wall_s", "usage", "load",
                  "marks")  # fmt: skip
# Parts of a program's points that are kept for each launch as they are.
_PER_LAUNCH = (
    "iteration_s",
    "iterations",
    "iteration_times_s",
    "begin_skew_s",
    "hold_s",
    "hand_over_s",
    "verification",
    "mpi_t",
    "usage",
)
_SIGNIFICANT = 6


def datasets(
    entries: Sequence[JsonObject], courses: Sequence[Course], skipped: dict[str, str], source_hash: str
) -> dict[str, JsonObject]:
    """All datasets of a campaign by name.

    Args:
        entries: The journal; its first entry is the header.
        courses: The campaign's cells with their launches.
        skipped: Why cells were not launched, by key.
        source_hash: Of the benchmark programs.
    """
    head = entries[0]
    libraries = {entry["key"]: entry["library"] for entry in entries if entry["type"] == "library"}
    grouped: dict[str, list[Course]] = {}
    for course in courses:
        grouped.setdefault(course.cell.dataset, []).append(course)
    found = {}
    for name, group in grouped.items():
        if any(course.entries for course in group):
            library = libraries.get(group[0].cell.library, {"name": "none"})
            found[name] = _dataset(name, group, head, library, skipped) | {
                "benchmark": {"program": group[0].cell.benchmark.program, "sources": source_hash},
            }
    return found


def _dataset(name: str, group: list[Course], head: JsonObject, of: JsonObject, skipped: dict[str, str]) -> JsonObject:
    cell = group[0].cell
    launches = sorted((entry for course in group for entry in course.entries), key=lambda entry: entry["order"])
    places = {entry["order"]: place for place, entry in enumerate(launches)}
    documents = [entry["document"] for entry in launches if entry["document"]]
    said = documents[0] if documents else {}
    library = dict(of)
    if text := said.get("library", {}).get("text"):
        library["text"] = text.splitlines()[0][:200]
    library["options"] = cell.experiment.options
    if level := said.get("library", {}).get("thread_level"):
        library["thread_level"] = level
    workload = dict(said.get("workload", {"kind": cell.benchmark.workload_kind, **cell.workload}))
    for key in cell.parameters:
        workload.pop(key, None)
    return {
        "dataset": name,
        "format": FORMAT,
        "description": cell.experiment.description,
        "machine": head["machine"],
        "library": library,
        "transport": cell.transport,
        "network": {
            "hosts": 2 if cell.transport.endswith("-veth") or cell.transport == FABRIC else 1,
            "netem": cell.experiment.netem,
        },
        "benchmark": {},
        "campaign": {key: head[key] for key in ("campaign", "seed", "plan", "started", "contend_version")},
        "workload": workload,
        "placement": said.get("placement", {}),
        "points": _alike([point for course in group for point in _points(course, places)], workload),
        "not_measured": [
            {"parameters": c.cell.parameters, "reason": skipped[c.cell.key]} for c in group if c.cell.key in skipped
        ],
        "launches": [{field: entry[field] for field in _LAUNCH_FIELDS} for entry in launches],
    }


def _points(course: Course, places: dict[int, int]) -> list[JsonObject]:
    """The points of one cell: those of its program, each over all launches."""
    cell = course.cell
    outcomes = dict(Counter(entry["outcome"] for entry in course.entries))
    merged: dict[str, tuple[JsonObject, list[tuple[JsonObject, JsonObject]]]] = {}
    for entry in course.sampled:
        document = entry["document"]
        spoken = {key: document.get("workload", {}).get(key, value) for key, value in cell.parameters.items()}
        for point in document["points"]:
            parameters = spoken | point["parameters"]
            merged.setdefault(json.dumps(parameters, sort_keys=True), (parameters, []))[1].append((entry, point))
    if not merged and course.entries:
        empty = {"samples": [], "unit": "", "launch": [], "clean": []}
        return [{"parameters": cell.parameters, cell.benchmark.metric: empty, "counters": {}, "outcomes": outcomes,
                 "outcome": course.entries[-1]["outcome"], "detail": course.entries[-1]["detail"]}]  # fmt: skip
    return [
        {
            "parameters": parameters,
            **{name: _metric(name, parts, places) for name in _metrics(parts)},
            "counters": _sum_counters([point.get("counters", {}) for _, point in parts]),
            "outcomes": outcomes,
            "outcome": str(Outcome.ok),
            "per_launch": [
                {"launch": places[entry["order"]]} | {name: point[name] for name in _PER_LAUNCH if name in point}
                for entry, point in parts
            ],
        }
        for parameters, parts in merged.values()
    ]


def _alike(points: list[JsonObject], workload: JsonObject) -> list[JsonObject]:
    """Points with the same parameters: programs name more than the sweep does, but none of a point without a sample."""
    names = dict.fromkeys(name for point in points for name in point["parameters"])
    for point in points:
        said = {name: workload[name] for name in names if name in workload}
        point["parameters"] = {**point["parameters"], **{n: v for n, v in said.items() if n not in point["parameters"]}}
    return points


def _metrics(parts: list[tuple[JsonObject, JsonObject]]) -> list[str]:
    names = {name: None for _, point in parts for name, value in point.items() if _is_metric(value)}
    return list(names)


def _is_metric(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("samples"), list)


def _metric(name: str, parts: list[tuple[JsonObject, JsonObject]], places: dict[int, int]) -> JsonObject:
    """Samples of all launches, which launch each is from, whether it is clean, and the spread of the clean ones."""
    having = [(entry, point[name]) for entry, point in parts if _is_metric(point.get(name))]
    samples, launches, clean = [], [], []
    for entry, metric in having:
        samples += metric["samples"]
        launches += [places[entry["order"]]] * len(metric["samples"])
        clean += [not entry["marks"]] * len(metric["samples"])
    trusted = [metric["samples"] for entry, metric in having if not entry["marks"]]
    found = spread(trusted or [metric["samples"] for _, metric in having])
    result = {"samples": samples, "unit": having[0][1].get("unit", ""), "launch": launches, "clean": clean}
    return result | _spread_json(found, of="clean" if trusted else "all")


def _spread_json(found: Spread | None, of: str) -> JsonObject:
    if found is None:
        return {}

    def rounded(value: float | None) -> float | None:
        return None if value is None else float(f"{value:.{_SIGNIFICANT}g}")

    return {
        "median": rounded(found.median),
        "iqr": [rounded(value) for value in found.quartiles],
        "cov": rounded(found.cov),
        "median_ci95": None if found.ci95 is None else [rounded(value) for value in found.ci95],
        "spread_of": of,
        "count": found.count,
        "launches": found.launches,
    }


def _sum_counters(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """Counters over all launches: sums, and the largest of those that are maxima."""
    total: dict[str, Any] = {}
    for part in parts:
        for name, value in part.items():
            if isinstance(value, int | float):
                total[name] = max(total.get(name, 0), value) if name.endswith("_max") else total.get(name, 0) + value
    return total


def dataset_bytes(dataset: JsonObject) -> bytes:
    """The file's content: one line per top-level value and point, so that changes can be read."""
    lines = []
    for key, value in dataset.items():
        if key in {"points", "launches", "not_measured"} and value:
            inner = ",\n".join("    " + _line(entry) for entry in value)
            lines.append(f"  {json.dumps(key)}: [\n{inner}\n  ]")
        else:
            lines.append(f"  {json.dumps(key)}: {_line(value)}")
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
