"""What users say of a workload beside the output of its program: `--workload KEY=VALUE`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from contend.common.errors import InputError
from contend.common.nearest import proposal
from contend.common.spelling import shortened, value_text
from contend.engine.core import core

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contend.common.jsontypes import JsonObject, Scalar
    from contend.importers.formats import Imported

_SIDES = ("senders", "receivers")


def added_workload(words: Sequence[str], found: Imported) -> JsonObject:
    """What the output does not say, as the dataset has it: also without what it says itself.

    Args:
        words: KEY=VALUE each.
        found: What the output says.

    Raises:
        InputError: A word has another form, its key is none of the workload, or its value none of the key or not what
            the output says.
    """
    if not words:
        return {}  # and the core is not needed
    said = _said(found)
    assumed = {key for one in found.values for key in one.assumed}
    fields = _fields(str(found.workload["kind"])) | found.own_parameters
    known = sorted({*fields, *said, *assumed})
    added: JsonObject = {}
    for word in words:
        key, separator, text = word.partition("=")
        if not separator or not key:
            raise InputError(f"--workload {shortened(word)!r}: expected KEY=VALUE")
        if key not in known:
            hint = proposal(key, known)
            kind, names = found.workload["kind"], ", ".join(name for name in known if name not in said) or "none"
            raise InputError(
                f"--workload {shortened(word)}: no key {shortened(key)!r} in a workload of kind {kind!r}; "
                f"allowed, as the output does not say them: {names}{hint}"
            )
        value = _parsed(text)
        if not all(_same(value, one) for one in said.get(key, ())):
            values = shortened(", ".join(map(value_text, said[key])))
            raise InputError(
                f"--workload {shortened(word)}: contradicts the output of {found.program}, which says {key}={values}"
            )
        if key in fields and key not in said:
            _check(word, value, fields[key])
        if key not in said or key in assumed:
            added[key] = value
    return added


def _said(found: Imported) -> dict[str, list[Scalar]]:
    """Every key that the output gives a value, with all its values.

    Those who send and receive are either pairs or two numbers: who says one says the other.
    """
    said: dict[str, list[Scalar]] = {key: [value] for key, value in found.workload.items()}
    for one in found.values:
        for key, value in one.parameters.items():
            if key not in one.assumed and value not in (values := said.setdefault(key, [])):
                values.append(value)
    if "pairs" in said:
        for side in _SIDES:
            said[side] = said.get(side, []) + said["pairs"]
    elif found.workload["kind"] == "multirate":
        said["pairs"] = ["none"]
    return said


def _fields(kind: str) -> dict[str, JsonObject]:
    """The keys of a kind of workload with their schemas; none if no scenario has that kind."""
    definitions = json.loads(core().schema("scenario"))["$defs"]
    fields: dict[str, JsonObject] = definitions.get(f"workload_{kind}", {}).get("properties", {})
    return fields


def _parsed(text: str) -> Any:  # noqa: ANN401 - any JSON value
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _same(one: object, other: object) -> bool:
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def _check(word: str, value: object, schema: JsonObject) -> None:
    """Refuses a value that a scenario refuses, too; quantities are left to it."""
    if "enum" in schema:
        is_allowed, allowed = value in schema["enum"], ", ".join(schema["enum"])
    elif schema.get("type") == "boolean":
        is_allowed, allowed = isinstance(value, bool), "true, false"
    elif schema.get("type") == "integer":
        least, most = schema["minimum"], schema.get("maximum")
        is_allowed = type(value) is int and least <= value and (most is None or value <= most)
        allowed = f"a whole number from {least}" + ("" if most is None else f" to {most}")
    elif schema.get("type") == "string":
        is_allowed, allowed = isinstance(value, str), "a text"
    else:
        return
    if not is_allowed:
        hint = proposal(str(value), schema.get("enum", ()))
        raise InputError(
            f"--workload {shortened(word)}: found {shortened(value_text(value))!r}; allowed: {allowed}{hint}"
        )
