"""What a mapping names must be there: values of scenarios, keys of workloads, measures. Else it would do nothing."""

from __future__ import annotations

import functools
import json
from typing import TYPE_CHECKING, Any, NoReturn

from contend.common.errors import InputError
from contend.common.misfits import pointer, shown
from contend.common.nearest import proposal
from contend.common.paths import data_directory
from contend.common.reading import read_text
from contend.datasets.dataset import METRICS
from contend.results.measures import ESTIMATED, SCALARS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from contend.calibrate.mapping import Mapping
    from contend.common.jsontypes import JsonObject

# Keys of conditions that are about the library and about the machine's C library, not about the workload or an option.
LIBRARY, LIBC = "library", "libc"
# The sections of a scenario that a mapping has layers for: the others are the dataset's.
SECTIONS = ("machine", "fabric", "library", "placement")
_MEASURES = (*ESTIMATED, *SCALARS)


def check_mapping(path: Path, mapping: Mapping) -> None:
    """Refuses a mapping that names what is not there.

    Args:
        path: The file, for the message.
        mapping: Of the right form.

    Raises:
        InputError: A condition, layer, path or metric is not known; the message names the place and the nearest.
    """
    _check_conditions(path, mapping)
    for keys, layers in _layers(mapping):
        for section, layer in layers.items():
            _check_layer(path, [*keys, section], section, layer)
    paths = [(["options", name, "path"], option.path) for name, option in mapping.options.items()]
    paths += [(["unknowns", str(index), "path"], unknown.path) for index, unknown in enumerate(mapping.unknowns)]
    for keys, name in paths:
        if name is not None and name not in _scenario_paths():
            _refuse(path, keys, f"found {shown(name)}, which is no value of a scenario", name, _scenario_paths())
    for metric, measure in mapping.metrics.items():
        if metric not in METRICS:
            _refuse(path, ["metrics", metric], f"unknown key {shown(metric)}", metric, METRICS, is_listed=True)
        if measure not in _MEASURES:
            _refuse(path, ["metrics", metric], f"found {shown(measure)}", measure, _MEASURES, is_listed=True)


def _refuse(
    path: Path, keys: Sequence[str], problem: str, name: str, known: Iterable[str], *, is_listed: bool = False
) -> NoReturn:
    allowed = f"; allowed: {', '.join(known)}" if is_listed else ""
    raise InputError(f"{path}: {pointer(keys)}: {problem}{allowed}{proposal(name, known)}")


def _layers(mapping: Mapping) -> Iterator[tuple[list[str], dict[str, JsonObject]]]:
    """All layers with their places."""
    yield ["layers"], {str(section): layer for section, layer in mapping.layers.items()}
    for index, case in enumerate(mapping.cases):
        yield ["cases", str(index), "layers"], case.layers
    for name, option in mapping.options.items():
        yield ["options", name, "layers"], option.layers


def _check_layer(path: Path, keys: list[str], name: str, layer: JsonObject) -> None:
    """A section of a scenario, or a part of one: every key is one that it has there."""
    if name not in SECTIONS and "." not in name:
        _refuse(path, keys, f"unknown key {shown(name)}", name, SECTIONS, is_listed=True)
    inner = [one.removeprefix(f"{name}.").partition(".")[0] for one in _scenario_paths() if one.startswith(f"{name}.")]
    known = list(dict.fromkeys(inner))
    for key, value in layer.items():
        if key not in known:
            _refuse(path, [*keys, key], f"unknown key {shown(key)}", key, known, is_listed=True)
        if isinstance(value, dict) and f"{name}.{key}" not in _scenario_paths():
            _check_layer(path, [*keys, key], f"{name}.{key}", value)


def _check_conditions(path: Path, mapping: Mapping) -> None:
    """A condition on a key that no dataset has would never hold, and nobody would know."""
    conditions = [(index, key) for index, case in enumerate(mapping.cases) for key in case.when]
    known = {LIBRARY, LIBC, *mapping.options}
    if all(key in known for _, key in conditions):
        return
    known |= _workload_keys()
    for index, key in conditions:
        if key not in known:
            raise InputError(
                f"{path}: /cases/{index}/when/{key}: unknown key {key!r}; allowed: {LIBRARY}, {LIBC}, options of the "
                f"mapping, and keys of a workload{proposal(key, known)}"
            )


@functools.cache
def _schema() -> JsonObject:
    schema: JsonObject = json.loads(read_text(data_directory("schemas") / "scenario.schema.json", "schema"))
    return schema


@functools.cache
def _workload_keys() -> frozenset[str]:
    """The keys that some kind of workload has in a scenario."""
    kinds = [entry for name, entry in _schema()["$defs"].items() if name.startswith("workload_")]
    return frozenset(key for kind in kinds for key in kind["properties"])


@functools.cache
def _scenario_paths() -> dict[str, None]:
    """The dotted paths of all values that a mapping may set, in alphabetical order."""
    properties = _schema()["properties"]
    found = {one for one in properties["sweep"]["properties"] if one.partition(".")[0] in SECTIONS}
    for section in SECTIONS:
        found |= set(_values(properties[section], section))
    return dict.fromkeys(sorted(found))


def _values(schema: Any, path: str) -> Iterator[str]:  # noqa: ANN401 - a part of a JSON Schema
    for form in (schema, *schema.get("oneOf", ()), *schema.get("anyOf", ())):
        for key, entry in form.get("properties", {}).items():
            name = f"{path}.{key}"
            yield from _values(entry, name) if "properties" in entry else (name,)
