"""What an earlier run left in an output folder, and what a new run into it makes of that."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from contend.common.reading import json_object
from contend.common.spelling import listed
from contend.results.output import RESULTS, SWEEP

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from contend.common.jsontypes import JsonObject

# What commands write about a run into its folder.
_FILES = (
    RESULTS, "results.csv", "results.parquet", "samples.parquet", SWEEP, "plot.png", "plot.svg", "report.html",
    "explain.json", "explain.png", "explain.svg", "speedups.csv", "trace.json", "trace.png", "trace.svg",
)  # fmt: skip


@dataclass(frozen=True)
class Earlier:
    """A folder before a run writes into it, with the document that says what was in it; None if nothing can be read."""

    directory: Path
    document: JsonObject | None

    def note(self, document: JsonObject, written: Iterable[Path], *, other: str, what: str) -> str:
        """What a user must know where the new files took the place of others; empty if nothing.

        Args:
            document: The new one.
            written: The files that the run wrote.
            other: The option that names another folder, as "--out DIR", where nobody chose this one; else "".
            what: What was replaced, in words.
        """
        names = {path.name for path in written if path.parent == self.directory}
        if self.document is None or not names or _settings(self.document) == _settings(document):
            return ""
        stale = [name for name in _FILES if name not in names and (self.directory / name).is_file()]
        hint = f" ({other} keeps both)" if other else ""
        still = f"; {listed(stale)} there {'are' if len(stale) > 1 else 'is'} of earlier ones" if stale else ""
        return f"replaced {what} in {self.directory}{hint}{still}"


def earlier_in(directory: Path, names: Iterable[str] = (RESULTS, SWEEP)) -> Earlier:
    """What is in an output folder before a run.

    Args:
        directory: The folder; it need not be there.
        names: Files that say what is in it; the first that is there counts.
    """
    documents = (json_object(directory / name) for name in names)
    return Earlier(directory, next(filter(None, documents), None))


# What makes a document comparable with others, by what it is: a run or sweep, or a comparison of two.
_SETTINGS = (("scenario", "engine"), ("scenario_a", "scenario_b", "interval", "measure"))


def _settings(document: JsonObject) -> JsonObject:
    """What makes a document comparable with others: its scenarios, all values included, and how; else everything."""
    keys = next((keys for keys in _SETTINGS if keys[0] in document), None)
    said = {key: document.get(key) for key in keys} if keys else document
    settings: JsonObject = json.loads(json.dumps(said))  # as a file gives them back
    return settings
