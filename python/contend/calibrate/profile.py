"""The profile that a calibration writes: values with how they were found, split, posterior, what stays unknown."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

from contend.calibrate import edges
from contend.calibrate.fit_record import discrepancies_json, folds_json, part_json
from contend.calibrate.mapping import scope_keys
from contend.calibrate.pipeline import Calibration, KeptFit, KeptFits
from contend.calibrate.problem import MACHINE
from contend.calibrate.slow_cores import slow_cores_of
from contend.calibrate.split import split_record
from contend.common.documents import get_path, set_path
from contend.common.paths import version
from contend.common.spelling import counted
from contend.profiles.prices import format_price, parse_price

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contend.calibrate.identification import Identified
    from contend.calibrate.parts import Part
    from contend.calibrate.sensitivity import Sight
    from contend.common.jsontypes import JsonObject

_MOST_TEXT = 900
_PREFIX = "machine."


def calibrated_profile(
    base: JsonObject, base_name: str, name: str, calibration: Calibration, mappings: dict[str, str]
) -> JsonObject:
    """The document of the new profile.

    Args:
        base: The base profile's document; what the calibration did not touch stays as it is, values of a scope
            included, and points that it was fitted to stay points of a fit.
        base_name: What to call the base.
        name: The new profile's name.
        calibration: What was found.
        mappings: What each mapping that was used leaves out, by name.
    """
    document = copy.deepcopy(base)
    earlier = document.pop("calibration", None) or {}
    used = [dataset for dataset, _ in calibration.fitted]
    used += [target.dataset for part in calibration.parts for target in part.problem.targets]
    machines = {dataset.machine_id: dataset.machine for dataset in used if dataset.names_machine}
    document["name"] = name
    document["description"] = _description(base_name, calibration)
    if len(machines) == 1 and isinstance(cpu := next(iter(machines.values())).get("cpu"), str) and cpu:
        document["cpu"] = cpu
    record: JsonObject = {
        "made_by": f"contend calibrate {version()}",
        "base": base_name,
        "options": calibration.options.to_json(),
        "made_from": calibration.made_from,
        "machines": {key: _machine(value) for key, value in machines.items()},
        "mappings": mappings,
        "split": split_record(calibration.split, calibration.fitted, calibration.held_out, earlier.get("split")),
        "not_fitted": [
            {"dataset": one.dataset.name, "parameters": one.point.parameters, "reason": one.reason}
            for one in calibration.problem.unpredicted
        ],
        "identified_directly": [_identified_json(one) for one in calibration.identified],
        "not_identified_directly": [
            {"parameter": one.rule.path, "scope": one.scope, "reason": one.reason} for one in calibration.skipped
        ],
        "fits": [part_json(part, calibration.options.draws, calibration.options.seed) for part in calibration.parts],
    }
    if (found := calibration.discrepancies) is not None:
        record["discrepancy"] = discrepancies_json(found)
    scopes: dict[str, JsonObject] = copy.deepcopy(earlier.get("scopes") or {})
    for one in calibration.identified:
        _put(document, scopes, one.rule.path, one.scope, base, _identified_entry(one))
    scopes = _uncovering(scopes, calibration.parts)
    for part in calibration.parts:
        for index, parameter in enumerate(part.problem.parameters):
            entry = _fitted_entry(part, index, base)
            if entry is not None:
                _put(document, scopes, parameter.path, parameter.scope, base, entry)
    if scopes:
        record["scopes"] = scopes
    # Before the sections, so that a reader of the file sees first where the values are from.
    order = ["schema_version", "name", "description", "cpu", "network", "calibration"]
    document["calibration"] = record
    return {key: document[key] for key in order if key in document} | {
        key: value for key, value in document.items() if key not in order
    }


def _uncovering(scopes: dict[str, JsonObject], parts: Sequence[Part]) -> dict[str, JsonObject]:
    """Scopes of a base profile and of direct identification.

    Without values that would hide what was fitted now for a more general scope, from points that they apply to.
    """
    for part in parts:
        for target in part.problem.targets:
            order = [MACHINE, *scope_keys(target.dataset)]
            for index in target.unknowns:
                parameter = part.problem.parameters[index]
                if index in part.settled:
                    for scope in order[order.index(parameter.scope) + 1 :]:
                        scopes.get(scope, {}).pop(parameter.path, None)
    return {scope: entries for scope, entries in scopes.items() if entries}


def kept_fits(document: JsonObject) -> KeptFits:
    """The fits of a calibrated profile, for a calibration that keeps them."""
    record = document["calibration"]
    return KeptFits(
        [
            KeptFit(tuple(fit["fitted"]), [(point["dataset"], point["parameters"]) for point in fit["points"]])
            for fit in record["fits"]
        ],
        [(one["dataset"], one["parameters"]) for one in record.get("not_fitted", [])],
        slow_cores_of(document),
    )


def with_folds(document: JsonObject, calibration: Calibration) -> JsonObject:
    """A calibrated profile with what its fits say of thread counts that were left out; all else stays."""
    result = copy.deepcopy(document)
    record = result["calibration"]
    for fit, part in zip(record["fits"], calibration.parts, strict=True):
        fit.pop("cross_validation", None)
        if part.folds:
            fit["cross_validation"] = folds_json(part)
    # As a whole calibration writes it: in front of the scopes.
    scopes = record.pop("scopes", None)
    record.pop("discrepancy", None)
    if (found := calibration.discrepancies) is not None:
        record["discrepancy"] = discrepancies_json(found)
    if scopes is not None:
        record["scopes"] = scopes
    return result


def _description(base_name: str, calibration: Calibration) -> str:
    fitted = sum(len(part.problem.targets) for part in calibration.parts)
    return (
        f"Made by contend calibrate from {len(calibration.identified)} direct identifications and a fit to "
        f"{counted(fitted, 'measured point')}, upon the profile {base_name}. "
        f"What the data do not see is as in {base_name}."
    )[:_MOST_TEXT]


def _machine(machine: JsonObject) -> JsonObject:
    return {key: machine[key] for key in ("cpu", "cores", "topology", "kernel", "virtual") if key in machine}


def _put(  # noqa: PLR0917 - all of one stage
    document: JsonObject, scopes: dict[str, JsonObject], path: str, scope: str, base: JsonObject, entry: JsonObject
) -> None:
    """Puts an entry where its scope says; a note of the base stays."""
    if scope != MACHINE:
        scopes.setdefault(scope, {})[path] = entry
        return
    place = path.removeprefix(_PREFIX)
    old = get_path(base, place) or {}
    set_path(document, place, entry | ({"note": old["note"]} if "note" in old and "note" not in entry else {}))


def _identified_entry(one: Identified) -> JsonObject:
    low, high = one.low, one.high
    where = ", ".join(one.datasets)
    value = format_price(one.value, one.kind)
    return {
        "value": value,
        "source": f"measured: {one.rule.what} ({where}, {counted(one.points, 'point')})"[:_MOST_TEXT],
        "uncertainty": one.interval_text,
        "basis": "measured",
        "range": _range(value, low, high, one.kind),
        "identified_by": ("direct measurement" if one.rule.isolates else "direct measurement, to begin a fit with")
        + f": {one.rule.what}",
    }


def _identified_json(one: Identified) -> JsonObject:
    return {
        "parameter": one.rule.path,
        "scope": one.scope,
        "value": one.value,
        "interval95": [one.low, one.high],
        "isolates": one.rule.isolates,
        "what": one.rule.what,
        "datasets": list(one.datasets),
    }


def _range(value: str | float, low: float, high: float, kind: str) -> list[str | float]:
    """A range as a profile writes it. It contains the value, rounded as it is."""
    exact = parse_price(value).value
    limits = [format_price(min(low, exact), kind), format_price(max(high, exact), kind)]
    below, above = (parse_price(limit).value for limit in limits)
    return [value if below > exact else limits[0], value if above < exact else limits[1]]


def _fitted_entry(part: Part, index: int, base: JsonObject) -> JsonObject | None:
    """The entry of a fitted parameter; None where the base's own stays, because the data do not determine it."""
    parameter = part.problem.parameters[index]
    sight = part.sights[index]
    old = get_path(base, parameter.path.removeprefix(_PREFIX)) if parameter.path.startswith(_PREFIX) else None
    if index not in part.settled:
        if parameter.scope != MACHINE or not isinstance(old, dict):
            return None
        return old | {"identified_by": f"nothing in this calibration: {sight.verdict}; value and range are the base's"}
    value = parameter.text(part.value(index))
    low, high = parameter.low, parameter.high
    uncertainty = f"not known: {part.refused}"
    if (ends := edges.interval(part, index)) is not None:
        low, high = ends
        uncertainty = f"{parameter.text(low)} to {parameter.text(high)}, 95 %"
    if remark := edges.remark(part, index):
        uncertainty += f"{',' if edges.is_outside(part, index) else ';'} {remark}"
    return {
        "value": value,
        "source": _fit_source(part)[:_MOST_TEXT],
        "uncertainty": uncertainty[:_MOST_TEXT],
        "basis": "calibrated",
        "range": _range(value, low, high, parameter.kind),
        "identified_by": _fit_how(sight)[:_MOST_TEXT],
    }


def _fit_source(part: Part) -> str:
    names = sorted({target.dataset.name for target in part.problem.targets})
    return f"fit to {counted(len(part.problem.targets), 'point')} of {', '.join(names)}"


def _fit_how(sight: Sight) -> str:
    text = f"global fit: {sight.verdict}; most felt by {sight.where}"
    if sight.tied:
        text += "; known in combination with " + ", ".join(f"{name} ({value:+.2f})" for name, value in sight.tied)
    return text


def profile_bytes(document: JsonObject) -> bytes:
    """The file's content: indented, but lists of plain values on one line each."""
    return (_render(document, 0) + "\n").encode()


def _render(value: Any, depth: int) -> str:  # noqa: ANN401 - any JSON value
    inner, outer = "  " * (depth + 1), "  " * depth
    if isinstance(value, dict) and value:
        body = ",\n".join(
            f"{inner}{json.dumps(k, ensure_ascii=False)}: {_render(v, depth + 1)}" for k, v in value.items()
        )
        return f"{{\n{body}\n{outer}}}"
    if isinstance(value, list) and value and any(isinstance(item, dict | list) for item in value):
        body = ",\n".join(f"{inner}{_one_line(item) if _is_flat(item) else _render(item, depth + 1)}" for item in value)
        return f"[\n{body}\n{outer}]"
    return _one_line(value)


def _is_flat(value: object) -> bool:
    if isinstance(value, dict):
        return not any(isinstance(item, dict | list) and item for item in value.values())
    return isinstance(value, list) and not any(isinstance(item, dict | list) for item in value)


def _one_line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
