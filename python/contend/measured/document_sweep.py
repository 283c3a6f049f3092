"""Documents that differ in some values, as one that has what they share and a sweep over the rest."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from contend.common.documents import set_path, values_by_path
from contend.common.quantities import parse_quantity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contend.common.jsontypes import JsonObject

_ITERATIONS = "workload.iterations"


def swept(documents: Sequence[JsonObject], value_of: Any) -> tuple[JsonObject, list[JsonObject]]:  # noqa: ANN401
    """What all documents have in common, and for each the values that differ, by their paths."""
    flat = [dict(values_by_path(document)) for document in documents]
    paths = list(dict.fromkeys(path for one in flat for path in one))
    differing = [path for path in paths if any(path not in one or one[path] != flat[0].get(path) for one in flat)]
    # The workload first, as its numbers are what curves are drawn over; last how long a point is measured.
    differing.sort(key=lambda path: (path == _ITERATIONS, not path.startswith("workload.")))
    if not differing:
        return documents[0], [{} for _ in documents]
    common: JsonObject = {}
    for path, value in flat[0].items():
        if path not in differing:
            set_path(common, path, value)
    samples = [
        {path: one[path] if path in one else value_of(index, path) for path in differing}
        for index, one in enumerate(flat)
    ]
    return common, samples


def alike(samples: Sequence[JsonObject]) -> list[list[int]]:
    """The indices of samples that have the same values, whichever units these are written in."""
    found: dict[str, list[int]] = {}
    for index, sample in enumerate(samples):
        values = {path: _plain(value) for path, value in sample.items()}
        found.setdefault(json.dumps(values, sort_keys=True), []).append(index)
    return list(found.values())


def _plain(value: object) -> object:
    if isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    found = parse_quantity(value)
    return value if found is None else [found.value, found.unit]
