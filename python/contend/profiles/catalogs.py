"""Files that scenarios use by name, machine profiles and library presets: finding, reading and flattening them."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from contend.common.errors import InputError
from contend.common.file_kinds import PRESET, PROFILE, kind_of
from contend.common.nearest import nearest_names
from contend.common.paths import preset_directories, profile_directories
from contend.common.reading import json_object, keys_of, read_json
from contend.profiles.prices import parse_price

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from contend.common.jsontypes import JsonObject


@dataclass(frozen=True)
class Parameter:
    """One value of a file with what is known about it."""

    path: str
    value: Any
    unit: str
    source: str
    uncertainty: str
    basis: str = ""
    identified_by: str = ""


# What a profile says about how it was made: no values of the machine.
CALIBRATION = "calibration"
# The file that another one changes.
EXTENDS = "extends"


@dataclass(frozen=True)
class Catalog:
    """All files of one kind.

    Attributes:
        what: One of them, in words.
        directories: Where they are.
        marks: Keys that each of them has, and that no scenario has together.
        extend: Whether one may extend another.
    """

    what: str
    directories: Callable[[], list[Path]]
    marks: frozenset[str]
    extend: bool = False

    def available(self) -> dict[str, Path]:
        """All files by name; the first folder wins."""
        found: dict[str, Path] = {}
        for directory in self.directories():
            for path in sorted(directory.glob("*.json")):
                found.setdefault(path.stem, path)
        return found

    def recognised(self) -> dict[str, Path]:
        """Those of the available files that look like one of these, by name."""
        return {name: path for name, path in self.available().items() if not self._why_none(path)}

    def left_out(self) -> dict[Path, str]:
        """Those that do not, and what they are."""
        reasons = {path: self._why_none(path) for path in self.available().values()}
        return {path: reason for path, reason in reasons.items() if reason}

    def _why_none(self, file: Path) -> str:
        """Why a file is none of these; empty if it looks like one, be it with mistakes."""
        document = json_object(file)
        if document is None:
            return "no JSON object that can be read"
        if (kind := kind_of(document)) not in ("", self.what):
            return f"a {kind}"
        looks_like_one = document.keys() & self.marks or next(parameters(document), None) is not None
        return "" if looks_like_one else "no values in it"

    def has(self, file: Path) -> bool:
        """Whether a file looks like one of these, wherever it is; what else is wrong with it says the core."""
        return keys_of(file) >= self.marks

    def summaries(self) -> dict[str, str]:
        """What each file stands for, in a line: processors and network, or the first sentence about it.

        Where several have the same processors and network, the sentence comes as well: it says what tells them apart.
        """
        documents = {name: json_object(path) or {} for name, path in self.recognised().items()}
        hardware = {
            name: "; ".join(str(document[key]) for key in ("cpu", "network") if document.get(key))
            for name, document in documents.items()
        }
        shared = Counter(hardware.values())
        found = {}
        for name, document in documents.items():
            sentence = str(document.get("description", "")).partition(". ")[0]
            is_enough = hardware[name] and shared[hardware[name]] == 1
            found[name] = hardware[name] if is_enough else "; ".join(filter(None, (hardware[name], sentence)))
        return found

    def load(self, name: str) -> tuple[Path, JsonObject]:
        """Reads a file, with the values of those that it extends below its own.

        Args:
            name: A name, or the path of a file.

        Raises:
            InputError: There is none, it is not JSON, what it says of its calibration cannot be used, or files extend
                each other in a circle.
        """
        first, document = self._read(name)
        layers, paths = [document], [first]
        while self.extend and isinstance(reference := layers[-1].get(EXTENDS), str):
            is_path = reference.endswith(".json") or "/" in reference
            path, layer = self._read(str(paths[-1].parent / reference) if is_path else reference)
            if any(path.samefile(other) for other in paths):
                chain = " -> ".join(one.name for one in (*paths, path))
                raise InputError(f"{paths[-1]}: {self.what}s extend each other in a circle: {chain}")
            layers.append(layer)
            paths.append(path)
        complete = layers.pop()
        while layers:
            complete = _upon(complete, layers.pop())
        return first, complete

    def _read(self, name: str) -> tuple[Path, JsonObject]:
        path = Path(name)
        if path.is_dir() or not path.exists():
            known = self.available()
            if name not in known:
                # A family's name ('ob1') stands for nothing, and is near to none in particular.
                near = [file for file in known if file.startswith(f"{name.casefold()}-")]
                near = near or nearest_names(name, known)
                hint = (
                    f"; did you mean {', '.join(map(repr, near))}?"
                    if near
                    else f"; there are: {', '.join(known) or 'none'}"
                )
                raise InputError(f"no {self.what} {name!r}{hint}")
            path = known[name]
        document = read_json(path, self.what)
        if not isinstance(document, dict):
            raise InputError(f"{path}: a {self.what} is a JSON object")
        if (kind := kind_of(document)) not in ("", self.what):
            raise InputError(f"{path} is a {kind}, not a {self.what}")
        if document.get(CALIBRATION) is not None:
            from contend.profiles.calibration_record import check_calibration

            check_calibration(path, document)
        return path, document


def _upon(lower: JsonObject, upper: JsonObject) -> JsonObject:
    """A file's values upon those of the one that it extends: sections merge, values with their sources win whole."""
    merged = {**lower, **upper}
    for key in lower.keys() & upper.keys():
        below, above = lower[key], upper[key]
        if isinstance(below, dict) and isinstance(above, dict) and "value" not in below and "value" not in above:
            merged[key] = _upon(below, above)
    return merged


PROFILES = Catalog("machine profile", profile_directories, PROFILE)
PRESETS = Catalog("library preset", preset_directories, PRESET, extend=True)


def parameters(document: JsonObject, prefix: str = "") -> Iterator[Parameter]:
    """All values of a file, in its order: objects that have a "value"."""
    for key, entry in document.items():
        path = f"{prefix}{key}"
        if not isinstance(entry, dict) or path == CALIBRATION:
            continue
        if "value" in entry:
            yield Parameter(
                path,
                entry["value"],
                _text(entry.get("unit")),
                _text(entry.get("source")),
                _text(entry.get("uncertainty")),
                _text(entry.get("basis")),
                _text(entry.get("identified_by")),
            )
        else:
            yield from parameters(entry, f"{path}.")


def scopes(document: JsonObject) -> dict[str, list[Parameter]]:
    """Values of a profile that are for one library or transport only, by scope."""
    found = (document.get(CALIBRATION) or {}).get("scopes") or {}
    return {
        scope: [
            Parameter(
                path, entry["value"], "", _text(entry.get("source")), _text(entry.get("uncertainty")),
                _text(entry.get("basis")), _text(entry.get("identified_by")),
            )
            for path, entry in entries.items()
        ]
        for scope, entries in found.items()
    }  # fmt: skip


@dataclass(frozen=True)
class Difference:
    """A parameter that two files differ in; None where one does not have it. `ratio` is the second over the first."""

    path: str
    first: Parameter | None
    second: Parameter | None
    ratio: float | None


def differences(first: JsonObject, second: JsonObject, *, values_only: bool = False) -> list[Difference]:
    """What differs between two files: values, and unless told otherwise also what is said about them."""
    pairs: dict[str, list[Parameter | None]] = {}
    for index, document in enumerate((first, second)):
        for parameter in _all_parameters(document):
            pairs.setdefault(parameter.path, [None, None])[index] = parameter
    found = []
    for path, (one, other) in pairs.items():
        if one is not None and other is not None:
            is_same = one.value == other.value if values_only else one == other
            if is_same:
                continue
        found.append(Difference(path, one, other, _ratio(one, other)))
    return found


# What a file is called and says of itself is no property of what it describes.
_NOT_COMPARED = frozenset({"$schema", "schema_version", "name", "title", "description", EXTENDS, CALIBRATION})


def _all_parameters(document: JsonObject) -> Iterator[Parameter]:
    yield from _facts({key: entry for key, entry in document.items() if key not in _NOT_COMPARED})
    yield from parameters(document)
    for scope, entries in scopes(document).items():
        for entry in entries:
            yield replace(entry, path=f"{entry.path}@{scope}")


def _facts(document: JsonObject, prefix: str = "") -> Iterator[Parameter]:
    """Values that stand without a source: what the processor and the network are, how many cores there are."""
    for key, entry in document.items():
        if not isinstance(entry, dict):
            yield Parameter(f"{prefix}{key}", entry, "", "", "")
        elif "value" not in entry:
            yield from _facts(entry, f"{prefix}{key}.")


def _ratio(one: Parameter | None, other: Parameter | None) -> float | None:
    if one is None or other is None:
        return None
    try:
        first, second = parse_price(one.value), parse_price(other.value)
    except InputError:
        return None
    return second.value / first.value if first.value and first.kind == second.kind else None


def _text(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
