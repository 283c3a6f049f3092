"""The files of a run."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from contend.common.errors import ContendError, InterruptedRunError
from contend.common.files import remove_files, write_files
from contend.common.reading import json_object
from contend.common.spelling import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from contend.common.interruption import HeldBack
    from contend.results.results import Results


# The file that everything else about a run is made from.
RESULTS = "results.json"
# What made a sweep; of one with many points there is no results.json.
SWEEP = "sweep.json"
# Where an interrupted run puts what had finished, in a folder that has complete results.
INTERRUPTED_FOLDER = "interrupted"
# The formats of every picture that a command writes beside its numbers.
_KINDS = ("png", "svg")


def default_directory(name: str) -> Path:
    """Where the results of a scenario go unless told otherwise: out/NAME."""
    return Path("out") / (re.sub(r"[^\w.+-]+", "_", name).strip("._") or "scenario")


def result_numbers(results: Results) -> dict[str, bytes]:
    """results.json, .csv and .parquet, by file name."""
    contents = {RESULTS: results.json_bytes()}
    if results.points:
        contents["results.csv"] = results.csv_bytes()
        contents["results.parquet"] = results.parquet_bytes()
    return contents


def result_pictures(results: Results) -> Pictures | None:
    """What draws plot.png and .svg; None if there is nothing to draw."""

    def draw() -> dict[str, bytes]:
        from contend.plots import picture_bytes

        return picture_bytes(results)

    return Pictures("plot", draw) if results.points else None


def has_complete_results(directory: Path) -> bool:
    """Whether a folder has results of a run or a sweep that was not interrupted."""
    documents = (json_object(directory / name) for name in (RESULTS, SWEEP))
    return any(
        document is not None and "points" in document and not document.get("interrupted", False)
        for document in documents
    )


@dataclass(frozen=True)
class Pictures:
    """The picture of some numbers, in its formats: NAME.png, NAME.svg."""

    name: str
    draw: Callable[[], Mapping[str, bytes]]
    """Gives the content of each file by its ending, or none where there is nothing to see."""

    @property
    def files(self) -> list[str]:
        """The names of the files."""
        return [f"{self.name}.{kind}" for kind in _KINDS]

    def drawn(self) -> dict[str, bytes]:
        """The content of each file by its name."""
        return {f"{self.name}.{kind}": content for kind, content in self.draw().items()}


@dataclass(frozen=True)
class Saved:
    """What was written. Where pictures are missing, `shortfall` says so, and why: what the command ends with."""

    paths: list[Path]
    shortfall: ContendError | None = None

    @property
    def was_interrupted(self) -> bool:
        """Whether a request to end came before the pictures were drawn."""
        return isinstance(self.shortfall, InterruptedRunError)

    def raise_shortfall(self, interruption: str = "") -> None:
        """Ends a command that has told the user what it wrote.

        Args:
            interruption: What to say of simulations that were interrupted; "" if none was.

        Raises:
            InterruptedRunError: Simulations were interrupted, or drawing.
            ContendError: The pictures could not be drawn or written.
        """
        if interruption:
            raise InterruptedRunError(f"{interruption}; {self.shortfall}" if self.shortfall else interruption)
        if self.shortfall is not None:
            raise self.shortfall


def save(
    directory: Path, numbers: Mapping[str, bytes], pictures: Pictures | None, held: HeldBack, *, again: str = ""
) -> Saved:
    """Writes numbers, all of them or none, and then their picture, without which they stand as well.

    Pictures that were there before are of other numbers: they are gone from when these are written.

    Args:
        directory: The folder, which is there.
        numbers: Content by file name.
        pictures: What to draw; None for nothing.
        held: Requests to end that waited until the numbers are written. From then on they leave the picture out.
        again: How to get the picture later, in words.

    Raises:
        ContendError: The numbers cannot be written. Nothing else is then.
    """
    paths = write_files(directory, numbers)
    if pictures is None:
        try:
            held.release()
        except KeyboardInterrupt:
            return Saved(paths, InterruptedRunError(f"interrupted; everything is in {directory}"))
        return Saved(paths)
    kept = f"without {listed(pictures.files)}, all else is in {directory}{again and f' ({again})'}"
    try:
        remove_files(directory, pictures.files)
        held.release()
        return Saved(paths + write_files(directory, pictures.drawn()))
    except KeyboardInterrupt:
        shortfall: ContendError = InterruptedRunError(f"interrupted while drawing: {kept}")
    except ContendError as error:
        shortfall = ContendError(f"{error}; {kept}")
    except Exception as error:  # noqa: BLE001 - whatever it is, hours of simulations do not depend on it
        reason = "not enough memory" if isinstance(error, MemoryError) else f"{type(error).__name__}: {error}"
        shortfall = ContendError(f"cannot draw {listed(pictures.files)}: {reason} (--debug shows where); {kept}")
        shortfall.__cause__ = error
    return Saved(paths, shortfall)


def plot_draws(directory: Path) -> str:
    """How to get the picture of results that is missing, in words."""
    return f"`contend plot {shlex.quote(str(directory))}` draws them"
