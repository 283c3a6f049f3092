"""What a fit was made from, as digests: whether a later calibration may keep it."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from contend.calibrate.mapping import find_mapping
from contend.calibrate.split import FITTED_KINDS, calibration_side
from contend.core import fingerprint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contend.calibrate.mapping import Mapping
    from contend.calibrate.split import Split
    from contend.datasets import Dataset
    from contend.jsontypes import JsonObject

_NAMED = {"mappings": "mapping", "microbenchmarks": "dataset", "measurements": "dataset"}
# What profiles of earlier versions do not say: of that nothing is known to differ.
_NOT_ALWAYS_SAID = {"measurements"}
# Of what a dataset says of its machine, what a fit depends on.
_OF_A_MACHINE = ("cpus", "topology", "cores")


def inputs(base: JsonObject, mappings: Sequence[Mapping], datasets: Sequence[Dataset], split: Split) -> JsonObject:
    """Digests of all that a fit depends on besides its options and the points of its split, which a profile lists.

    Args:
        base: The base profile's document.
        mappings: Those that datasets may have; the ones that count are those that they do have.
        datasets: What was measured.
        split: What of it is held out.

    Raises:
        ContendError: The compiled core is missing.
    """
    used = calibration_side(datasets, split)
    chosen = [mapping for dataset in datasets if (mapping := find_mapping(mappings, dataset)) is not None]
    return {
        "base": _digest(_without_words(base)),
        "mappings": {mapping.name: _digest(mapping.model_dump()) for mapping in chosen},
        "microbenchmarks": {
            dataset.name: _digest([point.digest for point in dataset.points])
            for dataset in used
            if dataset.kind not in FITTED_KINDS
        },
        "measurements": {
            name: _digest([_measurement(dataset) for dataset in used if dataset.name == name])
            for name in sorted({dataset.name for dataset in used})
        },
        "core": fingerprint(),
    }


def _measurement(dataset: Dataset) -> list[object]:
    """How a dataset was measured, and of each point what its digest, of parameters and samples, does not have."""
    return [
        dataset.kind,
        dataset.workload,
        [dataset.library_key, dataset.release, dataset.library.get("options") or {}],
        dataset.transport,
        dataset.program,
        dataset.bind,
        {key: dataset.machine.get(key) for key in _OF_A_MACHINE},
        [[point.parameters, point.iterations, point.iteration_range_s] for point in dataset.points],
    ]


def _without_words(base: JsonObject) -> JsonObject:
    """A profile without what it says of how its values were identified: no fit depends on that."""

    def plain(node: object) -> object:
        if isinstance(node, list):
            return [plain(item) for item in node]
        if not isinstance(node, dict):
            return node
        return {key: plain(entry) for key, entry in node.items() if key != "identified_by"}

    return {key: plain(entry) for key, entry in base.items()}


def differences(earlier: JsonObject, now: JsonObject) -> list[str]:
    """What differs between the inputs of two fits, in words. The core is not looked at: every build is another one."""
    found = [] if earlier.get("base") == now["base"] else ["the base profile"]
    for key, word in _NAMED.items():
        if key in _NOT_ALWAYS_SAID and key not in earlier:
            continue
        one, other = earlier.get(key) or {}, now[key]
        found += [f"the {word} {name}" for name in sorted({*one, *other}) if one.get(name) != other.get(name)]
    return list(dict.fromkeys(found))


def _digest(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]
