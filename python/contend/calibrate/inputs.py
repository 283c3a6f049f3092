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

_NAMED = {"mappings": "mapping", "microbenchmarks": "dataset"}


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
    chosen = [mapping for dataset in datasets if (mapping := find_mapping(mappings, dataset)) is not None]
    return {
        "base": _digest(_without_words(base)),
        "mappings": {mapping.name: _digest(mapping.model_dump()) for mapping in chosen},
        "microbenchmarks": {
            dataset.name: _digest([point.digest for point in dataset.points])
            for dataset in calibration_side(datasets, split)
            if dataset.kind not in FITTED_KINDS
        },
        "core": fingerprint(),
    }


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
        one, other = earlier.get(key) or {}, now[key]
        found += [f"the {word} {name}" for name in sorted({*one, *other}) if one.get(name) != other.get(name)]
    return found


def _digest(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]
