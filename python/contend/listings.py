"""What scenarios can name: library presets, machine profiles, shipped scenarios, and the parts of designs."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

from contend.common.reading import json_object
from contend.engine.core import core
from contend.part_words import KINDS
from contend.profiles.catalogs import PRESETS, PROFILES
from contend.profiles.profile_uses import uses
from contend.results.measures import unknown
from contend.scenarios.resolution import shipped_scenarios

if TYPE_CHECKING:
    import polars as pl

    from contend.profiles.catalogs import Catalog

__all__ = ["Listing", "list_parts", "list_presets", "list_profiles", "list_scenarios"]


@dataclass(frozen=True, repr=False)
class Listing(Sequence[str]):
    """Names with a line about each: a list of the names that shows itself as a table.

    Examples:
        >>> presets = list_presets()
        >>> "ob1-base" in presets, presets[0]
        (True, 'ch4-global')
        >>> list_parts("assignments")
        assignment of instances (library.instances.assignment)
          dedicated    a thread keeps the instance that it got at its first use
          round-robin  every operation takes the next instance, from a counter that all threads share
    """

    title: str
    """What is listed."""
    rows: tuple[dict[str, str], ...]
    """What is known of each: `name`, `description`, and what else there is, alike in all rows."""

    @property
    def names(self) -> list[str]:
        """The names, in order."""
        return [row["name"] for row in self.rows]

    def frame(self) -> pl.DataFrame:
        """One row a name: `name`, `description`, and what else is known."""
        from contend.results.frames import frame_of

        return frame_of(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        """A name, or several, by place."""
        return self.names[index]

    def __repr__(self) -> str:
        width = max(map(len, self.names), default=0)
        kinds = dict.fromkeys(row.get("kind", "") for row in self.rows)
        lines = [self.title]
        for kind in kinds:
            if len(kinds) > 1:
                lines.append(f"{kind}:")
            lines += [
                f"  {row['name']:{width}}  {row['description']}" for row in self.rows if row.get("kind", "") == kind
            ]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from contend.notebook_html import listing_html

        return listing_html(self)


def list_presets() -> Listing:
    """Library designs that `library.preset` can name: shipped ones, and those in folders of CONTEND_PRESETS.

    Returns:
        Their names, with the first sentence about each; `frame()` has the `file` as well.
    """
    return _of_catalog(PRESETS, "library presets (library.preset)")


def list_profiles() -> Listing:
    """Machines that `machine.profile` can name: shipped ones, and those in folders of CONTEND_PROFILES.

    Returns:
        Their names, with processors and network of each; `frame()` has the `file`, and in `has_prices_for` what it has
        prices for: transports, threads that share cores, processes that are coroutines.
    """
    has = {name: ", ".join(uses(json_object(path) or {})) for name, path in PROFILES.recognised().items()}
    return _of_catalog(PROFILES, "machine profiles (machine.profile)", {"has_prices_for": has})


def _of_catalog(catalog: Catalog, title: str, more: dict[str, dict[str, str]] | None = None) -> Listing:
    """The files of a catalogue; `more` has further columns, each by name of a file."""
    about = catalog.summaries()
    return Listing(
        title,
        tuple(
            {
                "name": name,
                "description": about[name],
                **{column: texts[name] for column, texts in (more or {}).items()},
                "file": str(path),
            }
            for name, path in catalog.recognised().items()
        ),
    )


def list_scenarios() -> Listing:
    """Shipped scenarios, which `load`, `run` and all commands take by these names, and without the folder.

    Returns:
        Their names with folders, and the first sentence about each; `frame()` has the `file` as well.
    """
    rows = []
    for name, path in shipped_scenarios().items():
        description = str((json_object(path) or {}).get("description", "")).partition(". ")[0]
        rows.append({"name": name, "description": description.removesuffix("."), "file": str(path)})
    return Listing("shipped scenarios", tuple(rows))


def list_parts(kind: str | None = None) -> Listing:
    """Parts that a design or a workload is made of: kinds of locks, matching engines, progress engines and others.

    Args:
        kind: Of one kind only: "locks", "matching", "progress", "assignments", "notifications", "idling", "transports",
            "window_paths", "partitioned", "buffer_transfers", "schedulers", "process_queues" or "workloads". All if not
            given.

    Returns:
        Their names, with a line about each; `frame()` has the `kind` as well, and the `paths` of scenarios that take
        such a name.

    Raises:
        ContendError: The core is not built.
        InputError: There is no such kind.

    Examples:
        >>> "mcs" in list_parts("locks"), "ob1" in list_parts("matching")
        (True, True)
    """
    known: dict[str, list[str]] = json.loads(core().known_names())
    if kind is not None and kind not in known:
        raise unknown(f"there are no parts of kind {kind!r}", kind, list(KINDS))
    wanted = list(KINDS) if kind is None else [kind]
    rows = []
    for one in wanted:
        words = KINDS[one]
        about = _workloads() if one == "workloads" else words.about
        rows += [
            {"name": name, "description": about.get(name, ""), "kind": one, "paths": ", ".join(words.paths)}
            for name in known[one]
        ]
    title = "parts of designs" if kind is None else f"{KINDS[kind].what} ({', '.join(KINDS[kind].paths)})"
    return Listing(title, tuple(rows))


def _workloads() -> dict[str, str]:
    """What each kind of workload is, as the schema of scenarios says."""
    parts = json.loads(core().schema("scenario"))["$defs"]
    prefix = "workload_"
    return {
        name.removeprefix(prefix): str(part.get("description", "")).removesuffix(".")
        for name, part in parts.items()
        if name.startswith(prefix)
    }
