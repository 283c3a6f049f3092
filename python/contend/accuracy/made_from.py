"""What a validation result was made from, and whether that has changed since.

Digests are of what predictions depend on: the values and ranges of a profile, what its fits draw and which points they
have, the model of a mapping, the file of a dataset. What is only said of them (sources, descriptions) is left out. The
simulator itself is not among them: another version of it may or may not predict the same.
"""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

from contend.calibrate.mapping import load_mappings, without_strange_cases
from contend.common.reading import read_text
from contend.datasets.reading import read_dataset
from contend.profiles.catalogs import PROFILES

if TYPE_CHECKING:
    from collections.abc import Mapping as Dictionary
    from collections.abc import Sequence
    from pathlib import Path

    from contend.calibrate.mapping import Mapping
    from contend.common.jsontypes import JsonObject

KEY = "made_from"
_DIGITS = 16
# Of what a profile says of a price, what a prediction depends on.
_OF_A_PRICE = ("value", "range")
_WORDS = {"name", "description", "cpu", "calibration"}
# Of what calibration has left in a profile, the same.
_CALIBRATED = ("scopes", "discrepancy")
# And of a fit, what intervals are made of. Results of earlier versions do not say it.
_DRAWS = "draws"
_OF_A_FIT = ("parameters", "fitted_to", "error_pct")
_OF_A_POSTERIOR = ("parameters", "draws", "discrepancy_draws")


def made_from(profile: JsonObject, mappings: Sequence[Mapping], datasets: Sequence[Path]) -> JsonObject:
    """Digests of what predictions are made from, by name.

    Args:
        profile: The document of the machine profile.
        mappings: Those that the datasets may be predicted with.
        datasets: Their files.

    Raises:
        ContendError: A file cannot be read.
    """
    read = [read_dataset(file) for file in sorted(set(datasets))]
    return {
        "profile": _digest(_prices(profile)),
        _DRAWS: _digest(_drawn(profile.get("calibration") or {})),
        "mappings": {
            one.name: _digest(_model(without_strange_cases(one, read)))
            for one in sorted(mappings, key=lambda one: one.name)
        },
        "datasets": {
            f"{file.parent.name}/{file.stem}": _hash(read_text(file, "dataset")) for file in sorted(set(datasets))
        },
    }


def changes(result: JsonObject, profile: str, mappings: Sequence[Path], datasets: Sequence[Path]) -> list[str] | None:
    """What a result was made from that is another one now, in words; None where the result does not say.

    Args:
        result: What `contend validate --json` wrote.
        profile: Name or file of the profile that it is validated with.
        mappings: Files of mappings besides the shipped ones.
        datasets: The datasets' files.

    Raises:
        ContendError: A file cannot be read.
        InputError: A file is not usable.
    """
    said = result.get(KEY)
    if not isinstance(said, dict):
        return None
    models = load_mappings(mappings)
    now = made_from(PROFILES.load(profile)[1], models, datasets)
    # What earlier versions said of a mapping has cases of other libraries in it, too.
    whole = {one.name: _digest(_model(one)) for one in models}
    found = [] if said["profile"] == now["profile"] else ["the profile"]
    if said.get(_DRAWS, now[_DRAWS]) != now[_DRAWS]:
        found.append("the draws or the split of the profile")
    for key, word in (("mappings", "mapping"), ("datasets", "dataset")):
        known = (now[key], whole) if key == "mappings" else (now[key],)
        found += [f"the {word} {name}" for name in said[key] if said[key][name] not in {d.get(name) for d in known}]
    found += [f"the dataset {name}" for name in now["datasets"] if name not in said["datasets"]]
    return found


def _prices(profile: JsonObject) -> JsonObject:
    calibration = profile.get("calibration") or {}
    machine = {key: value for key, value in profile.items() if key not in _WORDS}
    return {"machine": _bare(machine), "calibration": _bare({key: calibration.get(key) for key in _CALIBRATED})}


def _drawn(calibration: JsonObject) -> JsonObject:
    """What the fits of a profile give intervals, and which points are held out of them."""
    fits = []
    for fit in calibration.get("fits", ()):
        posterior, folds = fit.get("posterior") or {}, fit.get("cross_validation") or {}
        fits.append({
            "fit": {key: fit.get(key) for key in _OF_A_FIT},
            "posterior": {key: posterior.get(key) for key in _OF_A_POSTERIOR},
            "folds": [folds.get("parameters"), [one["place"] for one in folds.get("folds", ())]],
        })  # fmt: skip
    return {"fits": fits, "split": calibration.get("split")}


def _bare(entry: Any) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(entry, list):
        return [_bare(one) for one in entry]
    if not isinstance(entry, dict):
        return entry
    if "value" in entry:
        return {key: entry[key] for key in _OF_A_PRICE if key in entry}
    return {key: _bare(value) for key, value in entry.items()}


def _model(mapping: Mapping) -> Dictionary[str, Any]:
    return mapping.model_dump(mode="json", exclude={"description", "stand_in"})


def _digest(document: object) -> str:
    return _hash(json.dumps(document, sort_keys=True))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]
