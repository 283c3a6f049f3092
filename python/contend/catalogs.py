"""Files that scenarios use by name, machine profiles and library presets: finding, reading and flattening them."""

from __future__ import annotations

import difflib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from contend.errors import InputError
from contend.files import read_text
from contend.paths import preset_directories, profile_directories

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from contend.jsontypes import JsonObject


@dataclass(frozen=True)
class Parameter:
    """One value of a file with what is known about it."""

    path: str
    value: Any
    unit: str
    source: str
    uncertainty: str


@dataclass(frozen=True)
class Catalog:
    """All files of one kind."""

    what: str
    directories: Callable[[], list[Path]]

    def available(self) -> dict[str, Path]:
        """All files by name; the first folder wins."""
        found: dict[str, Path] = {}
        for directory in self.directories():
            for path in sorted(directory.glob("*.json")):
                found.setdefault(path.stem, path)
        return found

    def load(self, name: str) -> tuple[Path, JsonObject]:
        """Reads a file.

        Args:
            name: A name, or the path of a file.

        Raises:
            InputError: There is none, or it is not JSON.
        """
        path = Path(name)
        if not path.is_file():
            known = self.available()
            if name not in known:
                near = difflib.get_close_matches(name, known, n=1)
                hint = f"; did you mean {near[0]!r}?" if near else f"; there are: {', '.join(known) or 'none'}"
                raise InputError(f"no {self.what} {name!r}{hint}")
            path = known[name]
        try:
            document = json.loads(read_text(path, self.what))
        except json.JSONDecodeError as error:
            raise InputError(f"{path}: not JSON: {error}") from error
        if not isinstance(document, dict):
            raise InputError(f"{path}: a {self.what} is a JSON object")
        return path, document


PROFILES = Catalog("machine profile", profile_directories)
PRESETS = Catalog("library preset", preset_directories)


def parameters(document: JsonObject, prefix: str = "") -> Iterator[Parameter]:
    """All values of a file, in its order: objects that have a "value"."""
    for key, entry in document.items():
        path = f"{prefix}{key}"
        if not isinstance(entry, dict):
            continue
        if "value" in entry:
            yield Parameter(
                path,
                entry["value"],
                _text(entry.get("unit")),
                _text(entry.get("source")),
                _text(entry.get("uncertainty")),
            )
        else:
            yield from parameters(entry, f"{path}.")


def _text(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
