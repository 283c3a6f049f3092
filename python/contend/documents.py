"""JSON documents value by value, and what is known of where values came from."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


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


def dotted(pointer: str) -> str:
    """A JSON pointer as users write paths: "workload.pairs"."""
    return pointer.lstrip("/").replace("/", ".")


def origin(origins: Mapping[str, str], pointer: str) -> str:
    """Where a value came from: what is said of it, or of the nearest thing around it."""
    while pointer not in origins and pointer:
        pointer = pointer.rpartition("/")[0]
    return origins.get(pointer, "")
