"""The files of a run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from contend.files import json_object, write_files

if TYPE_CHECKING:
    from contend.results import Results


# The file that everything else about a run is made from.
RESULTS = "results.json"
# What made a sweep; of one with many points there is no results.json.
SWEEP = "sweep.json"
# Where an interrupted run puts what had finished, in a folder that has complete results.
INTERRUPTED_FOLDER = "interrupted"


def default_directory(name: str) -> Path:
    """Where the results of a scenario go unless told otherwise: out/NAME."""
    return Path("out") / (re.sub(r"[^\w.+-]+", "_", name).strip("._") or "scenario")


def result_contents(results: Results) -> dict[str, bytes]:
    """results.json, .csv, .parquet and the picture, by file name."""
    contents = {RESULTS: results.json_bytes()}
    if results.points:
        from contend.plots import picture_bytes

        contents["results.csv"] = results.csv_bytes()
        contents["results.parquet"] = results.parquet_bytes()
        for kind, picture in picture_bytes(results).items():
            contents[f"plot.{kind}"] = picture
    return contents


def has_complete_results(directory: Path) -> bool:
    """Whether a folder has results of a run or a sweep that was not interrupted."""
    documents = (json_object(directory / name) for name in (RESULTS, SWEEP))
    return any(
        document is not None and "points" in document and not document.get("interrupted", False)
        for document in documents
    )


def write_results(results: Results, directory: Path) -> list[Path]:
    """Writes results.json, .csv, .parquet and the picture: all of them or none.

    Raises:
        ContendError: The disk is full, or the folder cannot be written to.
    """
    return write_files(directory, result_contents(results))
