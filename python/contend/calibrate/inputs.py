"""What a calibration is made from, and as digests: whether a later one may keep its fits."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from contend.calibrate.mapping import find_mapping
from contend.calibrate.split import FITTED_KINDS, calibration_side
from contend.engine.core import fingerprint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contend.calibrate.mapping import Mapping
    from contend.calibrate.split import Split
    from contend.common.jsontypes import JsonObject
    from contend.datasets.dataset import Dataset

_NAMED = {"mappings": "mapping", "microbenchmarks": "dataset", "measurements": "dataset"}
# What profiles of earlier versions do not say: of that nothing is known to differ.
_NOT_ALWAYS_SAID = {"measurements"}
# Of what a dataset says of its machine, what a fit depends on.
_OF_A_MACHINE = ("cpus", "topology", "cores")


@dataclass(frozen=True)
class Inputs:
    """All that a calibration is made from, besides its options.

    `base` is the base profile's document, `datasets` what was measured, and `split` says what of it is held out.
    `mappings` are those that datasets may have; the ones that count are those that they do have.
    """

    datasets: Sequence[Dataset]
    base: JsonObject
    mappings: Sequence[Mapping]
    split: Split

    @property
    def chosen_mappings(self) -> list[Mapping]:
        """The mappings that datasets have, in their order."""
        found = (find_mapping(self.mappings, dataset) for dataset in self.datasets)
        return [mapping for mapping in found if mapping is not None]

    def digests(self) -> JsonObject:
        """Digests of all that a fit depends on but the points of its split, which a profile lists.

        Raises:
            ContendError: The compiled core is missing.
        """
        used = calibration_side(self.datasets, self.split)
        return {
            "base": _digest(_without_words(self.base)),
            "mappings": {mapping.name: _digest(mapping.model_dump()) for mapping in self.chosen_mappings},
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
