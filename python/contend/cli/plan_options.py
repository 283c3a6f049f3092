"""Which points a sweep has, as options say it: --grid, --sample with --samples, or --list."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

from contend.common.errors import InputError
from contend.common.reading import read_json, read_text, require_regular
from contend.common.spelling import counted, shortened
from contend.sweeps.plans import Grid, LatinHypercube, Range, Samples, require_room

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from contend.sweeps.plans import Plan


def read_plan(
    grid: list[str], sample: list[str], samples: int | None, sample_seed: int, list_: Path | None
) -> Plan | None:
    """The plan that the options describe; None for the scenario's own sweep.

    Raises:
        InputError: They do not go together, or cannot be read.
    """
    if sum(map(bool, (grid, sample, list_))) > 1:
        raise InputError("--grid, --sample and --list exclude each other")
    if bool(sample) != (samples is not None):
        raise InputError("--sample and --samples go together")
    if grid:
        return Grid(_by_path("--grid", map(_axis, grid)), "--grid")
    if sample and samples is not None:
        return LatinHypercube(_by_path("--sample", map(_dimension, sample)), samples, sample_seed, "--sample")
    return _read_list(list_) if list_ is not None else None


def _by_path(option: str, given: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Values by their path, each given once: of several lists, all but one would count for nothing."""
    found: dict[str, Any] = {}
    for path, values in given:
        if path in found:
            raise InputError(f"{option} {path} is given twice: put all its values into one list")
        found[path] = values
    return found


def _split(option: str, text: str) -> tuple[str, str]:
    path, separator, values = text.partition("=")
    if not separator or not path.strip() or not values.strip():
        raise InputError(f"{option} {text!r}: expected dotted.path=values, for example workload.pairs=1,2,4")
    return path.strip(), values.strip()


def _word(text: str) -> Any:  # noqa: ANN401 - any JSON value
    """A value as on the command line: JSON, or a plain word."""

    def refuse(constant: str) -> None:
        raise ValueError(constant)  # Python's NaN is no JSON

    try:
        return json.loads(text, parse_constant=refuse)
    except ValueError:  # no JSON, or a number of thousands of digits
        return text.strip()


def _axis(text: str) -> tuple[str, list[Any]]:
    """`PATH=1,2,4`, `PATH=1..20`, `PATH=1..20:2`, `PATH=[...]`."""
    path, values = _split("--grid", text)
    if values.startswith("["):
        found = _word(values)
        if not isinstance(found, list):
            raise InputError(f"--grid {text!r}: not a JSON list")
        return path, found
    if ".." in values:
        ends, _, step = values.partition(":")
        low, high = (_word(end) for end in ends.split("..", 1))
        stride = _word(step) if step else 1
        if not all(isinstance(number, int) for number in (low, high, stride)) or stride < 1 or low > high:
            raise InputError(
                f"--grid {shortened(text)!r}: a range is of whole numbers, upwards, such as 1..20 or 1..20:2"
            )
        require_room((high - low) // stride + 1, f"--grid {shortened(text)!r}")
        return path, list(range(low, high + 1, stride))
    return path, [_word(value) for value in values.split(",")]


def _dimension(text: str) -> tuple[str, Any]:
    """`PATH=LOW..HIGH`, `PATH=log:LOW..HIGH`, or choices."""
    path, values = _split("--sample", text)
    logarithmic = values.startswith("log:")
    values = values.removeprefix("log:")
    if ".." in values:
        low, high = (_word(end) for end in values.split("..", 1))
        return path, Range(low, high, log=logarithmic)
    return path, [_word(value) for value in values.split(",")]


def _read_list(path: Path) -> Plan:
    """Points from a file."""
    import polars as pl

    kind = path.suffix.lower()
    if kind not in {".csv", ".json", ".parquet"}:
        raise InputError(f"{path}: a list of points is a .csv, .json or .parquet file")
    require_regular(path, "list of points")
    try:
        if kind == ".json":
            points = read_json(path, "list of points")
            if not isinstance(points, list) or not all(isinstance(point, dict) for point in points):
                raise InputError(f"{path}: expected a list of objects, each path: value")
            return Samples(points, str(path))
        if kind == ".csv":
            return _read_csv(path)
        return Samples(pl.read_parquet(path), str(path))
    except pl.exceptions.PolarsError as error:
        raise InputError(f"{path}: cannot be read as {kind[1:]} ({error})") from error


def _read_csv(path: Path) -> Plan:
    """Points from a table. Each cell is a value by itself: a reader of columns makes all of one text by a wrong one."""
    reader = csv.reader(io.StringIO(read_text(path, "list of points").removeprefix("\ufeff")), strict=True)
    names: list[str] = []
    points, lines = [], []
    try:
        for cells in filter(None, reader):
            if not names:
                names = _column_names(cells, f"{path}:{reader.line_num}")
                continue
            if len(cells) != len(names):
                found = counted(len(cells), "value")
                raise InputError(f"{path}:{reader.line_num}: found {found}; allowed: {len(names)}, one for each column")
            points.append(dict(zip(names, map(_word, cells), strict=True)))
            lines.append(reader.line_num)
    except csv.Error as error:
        raise InputError(f"{path}:{reader.line_num}: cannot be read as csv ({error})") from error
    if names and not points:
        raise InputError(f"{path} has a header and no points")
    return Samples(points, str(path), lines)


def _column_names(cells: list[str], place: str) -> list[str]:
    """The paths in the first line of a table.

    Raises:
        InputError: They are not separated by commas, or one is there twice.
    """
    names = [cell.strip() for cell in cells]
    for index, name in enumerate(names):
        if ";" in name or "\t" in name:
            raise InputError(f"{place}: found the column {shortened(name)!r}; allowed: columns separated by commas")
        if name in names[:index]:
            raise InputError(f"{place}: found the column {shortened(name)!r} twice; allowed: each path once")
    return names
