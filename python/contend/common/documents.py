"""JSON documents value by value, and what is known of where values came from."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from contend.common.jsontypes import JsonObject


def leaves(value: object, pointer: str = "") -> Iterator[tuple[str, object]]:
    """All values of a JSON document with their JSON pointers (RFC 6901); a list of plain values is one value."""
    if isinstance(value, dict) and value:
        for key, entry in value.items():
            escaped = str(key).replace("~", "~0").replace("/", "~1")
            yield from leaves(entry, f"{pointer}/{escaped}")
    elif isinstance(value, list) and any(isinstance(entry, dict | list) for entry in value):
        for index, entry in enumerate(value):
            yield from leaves(entry, f"{pointer}/{index}")
    else:
        yield pointer, value


def values_by_path(document: object, path: str = "") -> Iterator[tuple[str, object]]:
    """All values of a JSON document by the paths that users write ("workload.pairs"); every list is one value."""
    if isinstance(document, dict):
        for key, entry in document.items():
            yield from values_by_path(entry, f"{path}.{key}" if path else str(key))
    else:
        yield path, document


def dotted(pointer: str) -> str:
    """A JSON pointer as users write paths: "workload.pairs"."""
    return pointer.lstrip("/").replace("/", ".")


def misfit(error: KeyError | IndexError | TypeError | ValueError | AttributeError) -> str:
    """What is wrong with a document that is not what it was read as, in words.

    Args:
        error: What reading it ended with.

    Examples:
        >>> misfit(KeyError("points"))
        "it has no 'points'"
    """
    if isinstance(error, KeyError):
        return f"it has no {error.args[0]!r}"
    return "one of its lists is too short" if isinstance(error, IndexError) else "one of its values is of another kind"


def origin(origins: Mapping[str, str], pointer: str) -> str:
    """Where a value came from: what is said of it, or of the nearest thing around it."""
    while pointer not in origins and pointer:
        pointer = pointer.rpartition("/")[0]
    return origins.get(pointer, "")


def json_bytes(document: object, indent: int = 2) -> bytes:
    """A document as the files that people read have it.

    Args:
        document: Of plain values, objects and arrays.
        indent: How many columns a level is set in; 1 in files of thousands of lines.

    Raises:
        ValueError: A number in it is not finite.
    """
    return (json.dumps(document, indent=indent, ensure_ascii=False, allow_nan=False) + "\n").encode()


def set_path(document: JsonObject, path: str, value: object) -> None:
    """Sets a dotted path, with the objects on the way."""
    *parents, last = path.split(".")
    for key in parents:
        document = document.setdefault(key, {})
    document[last] = value


def with_values(document: JsonObject, values: Mapping[str, object]) -> JsonObject:
    """A document with other values at some dotted paths. It shares what is beside them: only to be read."""
    changed = dict(document)
    copies: dict[str, JsonObject] = {"": changed}
    for path, value in values.items():
        *parents, last = path.split(".")
        around, place = changed, ""
        for key in parents:
            place += f".{key}"
            if place not in copies:
                around[key] = copies[place] = dict(around.get(key, {}))
            around = copies[place]
        around[last] = value
    return changed


def get_path(document: JsonObject, path: str) -> Any:  # noqa: ANN401 - any JSON value
    """The value at a dotted path; None if there is none."""
    value: Any = document
    for key in path.split("."):
        if not isinstance(value, dict) or key not in value:
            return None
        value = value[key]
    return value
