"""Reads measured datasets: files and folders of them, and what is wrong with one that is none."""

from __future__ import annotations

import hashlib
import json
import math
import statistics
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from contend.common.errors import InputError
from contend.common.file_kinds import DATASET, kind_of
from contend.common.nearest import nearest_names, proposal
from contend.common.reading import parse_json, read_json, read_text
from contend.datasets.dataset import METRICS, Dataset, MeasuredPoint
from contend.datasets.launch_lengths import iterations_of_a_sample, launch_lengths
from contend.datasets.processor_use import measured_use
from contend.datasets.spread import spread

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from contend.common.jsontypes import JsonObject

# Version of what a dataset has; every one says of which it is.
FORMAT = 1
# Whole numbers that a workload, or the parameters of a point, may have: the least.
_COUNTS = {"iterations": 1, "warmup_iterations": 0} | dict.fromkeys(
    ("pairs", "senders", "receivers", "threads", "window", "partitions", "receive_partitions", "requests"), 1
)
_MOST_COUNTED = 2**62
# No rate and no time is beyond these.
SMALLEST_SAMPLE, LARGEST_SAMPLE = 1e-30, 1e30


def read_datasets(paths: Iterable[Path]) -> list[Dataset]:
    """Reads dataset files, and all in folders.

    Raises:
        ContendError: A file cannot be read.
        InputError: A file is not usable, two have the same name, or there is none.
    """
    found: dict[tuple[str, str], Dataset] = {}
    for file in dataset_files(paths):
        dataset = read_dataset(file)
        key = (dataset.machine_id, dataset.name)
        if key in found and found[key].path.resolve() != file.resolve():
            raise InputError(f"{found[key].path} and {file} are both the dataset {dataset.name!r} of one machine")
        found[key] = dataset
    if not found:
        raise InputError("no datasets were given")
    return list(found.values())


def dataset_files(paths: Iterable[Path]) -> Iterator[Path]:
    """The files that are given, and the datasets in folders.

    Raises:
        InputError: A folder has none, or a file that cannot be read.
    """
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        files = _datasets_in(path)
        if not files:
            raise InputError(f'the folder {path} has no datasets (*.json with "dataset" and "points")')
        yield from files


def _datasets_in(folder: Path) -> list[Path]:
    """The datasets among the JSON files of a folder. What cannot be read is an error: it may have been one."""
    files = [file for file in sorted(folder.rglob("*.json")) if not file.is_dir()]
    return [file for file in files if _is_marked(read_json(file, "file"))]


def _is_marked(document: object) -> bool:
    return isinstance(document, dict) and document.keys() >= DATASET


def read_dataset(path: Path) -> Dataset:
    """Reads one dataset.

    Raises:
        InputError: It cannot be read, or is not a dataset; the message says where.
    """
    return parse_dataset(read_text(path, "dataset"), path)


def parse_dataset(text: str, path: Path) -> Dataset:
    """What a dataset's text says.

    Args:
        text: The content of its file, which need not be there yet.
        path: The file, for messages.

    Raises:
        InputError: It is not a dataset; the message says where.
    """
    document = parse_json(text, str(path))
    if not isinstance(document, dict):
        raise InputError(f"{path}: a dataset is a JSON object")
    _check_mark(path, document)
    _check_format(path, document)
    points = _get(path, document, "points", list)
    library = _get(path, document, "library", dict)
    if library.get("options") is not None:
        _check_values(path, "/library/options", library["options"])
    workload = _get(path, document, "workload", dict)
    _check_counts(path, "/workload", workload)
    read = [_point(path, f"/points/{index}", point) for index, point in enumerate(points)]
    _check_doubles(path, [point for point, _ in read])
    between = _between_launches([launches for _, launches in read])
    return Dataset(
        name=_get(path, document, "dataset", str),
        path=path,
        digest=hashlib.sha256(text.encode()).hexdigest(),
        description=str(document.get("description", "")),
        machine=_get(path, document, "machine", dict),
        library=library,
        transport=_get(path, document, "transport", str),
        workload=workload,
        points=tuple(replace(point, between_launches=between) for point, _ in read),
        program=str(_entry(document, "benchmark", "program") or ""),
        bind=str(_entry(document, "placement", "bind") or "none"),
    )


def _check_mark(path: Path, document: JsonObject) -> None:
    """Whether it has what all datasets have; one that nearly has it is a dataset with a mistake, not another file."""
    missing = sorted(DATASET - document.keys())
    others = [key for key in document if key not in DATASET]
    if len(missing) == 1 and (near := nearest_names(missing[0], others)):
        raise InputError(f"{path}: /{near[0]}: unknown key; did you mean {missing[0]!r}?")
    if missing and (kind := kind_of(document)):
        raise InputError(f"{path} is a {kind}, not a measured dataset")


def _entry(document: JsonObject, section: str, key: str) -> object:
    found = document.get(section)
    return found.get(key) if isinstance(found, dict) else None


def _check_format(path: Path, document: JsonObject) -> None:
    if "format" not in document:
        hint = proposal("format", document)
        raise InputError(f"{path}: /format: is missing; allowed: {FORMAT}{hint}")
    found = document["format"]
    if type(found) is not int or found != FORMAT:
        raise InputError(f"{path}: /format: found {json.dumps(found)[:40]}; this program reads version {FORMAT}")


def _get(path: Path, document: JsonObject, key: str, kind: type, where: str = "") -> Any:  # noqa: ANN401
    value = document.get(key)
    if not isinstance(value, kind):
        if key not in document:
            raise InputError(f"{path}: {where}/{key}: is missing; allowed: {_NAMES[kind]}")
        raise _refusal(path, f"{where}/{key}", value, _NAMES[kind])
    return value


def _refusal(path: Path, where: str, found: object, allowed: str) -> InputError:
    return InputError(f"{path}: {where}: found {json.dumps(found)[:40]}; allowed: {allowed}")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def _is_count(value: object, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= _MOST_COUNTED


def _check_values(path: Path, where: str, values: object) -> None:
    """Values by name, such as options of a library."""
    if not isinstance(values, dict):
        raise _refusal(path, where, values, _NAMES[dict])
    for name, value in values.items():
        if not (value is None or isinstance(value, str | bool) or _is_number(value)):
            raise _refusal(path, f"{where}/{name}", value, "a text, a number, true, false or null")


def _check_counts(path: Path, where: str, workload: JsonObject) -> None:
    """Numbers of iterations, threads and messages, in a workload or among the parameters of a point."""
    for name, value in workload.items():
        least = _COUNTS.get(name.removeprefix("workload."))
        swept = value if isinstance(value, list) and "iterations" not in name else [value]
        if least is not None and not all(_is_count(one, least) for one in swept):
            raise _refusal(path, f"{where}/{name}", value, f"a whole number from {least}")


def _check_doubles(path: Path, points: Sequence[MeasuredPoint]) -> None:
    """Points that cannot be told apart: nothing says which of them a prediction is of."""
    seen: dict[str, int] = {}
    for index, point in enumerate(points):
        first = seen.setdefault(json.dumps(point.parameters, sort_keys=True), index)
        if first != index:
            raise InputError(f"{path}: /points/{index}/parameters: are those of /points/{first}; allowed: others")


_NAMES: dict[type, str] = {dict: "an object", list: "an array", str: "a text"}


def _point(path: Path, where: str, point: object) -> tuple[MeasuredPoint, list[list[float]]]:
    """A point, and its clean samples by launch."""
    if not isinstance(point, dict):
        raise InputError(f"{path}: {where}: a point is an object")
    parameters = _get(path, point, "parameters", dict, where)
    _check_values(path, f"{where}/parameters", parameters)
    _check_counts(path, f"{where}/parameters", parameters)
    outcome = str(point.get("outcome", "ok"))
    metric = next((name for name in METRICS if name in point), None)
    if metric is None:
        if outcome != "ok":
            return MeasuredPoint(parameters, next(iter(METRICS)), "", (), None, outcome), []
        near = next((f"; did you mean {found[0]!r}?" for key in point if (found := nearest_names(key, METRICS))), "")
        raise InputError(f"{path}: {where}: has none of {', '.join(METRICS)}{near}")
    entry = _get(path, point, metric, dict, where)
    samples = _get(path, entry, "samples", list, f"{where}/{metric}")
    for index, sample in enumerate(samples):
        if not _is_number(sample) or not sample > 0:
            raise _refusal(path, f"{where}/{metric}/samples/{index}", sample, "a positive number")
        if not SMALLEST_SAMPLE <= sample <= LARGEST_SAMPLE:  # spread and bootstrap take squares of it
            allowed = f"a number from {SMALLEST_SAMPLE:g} to {LARGEST_SAMPLE:g}"
            raise _refusal(path, f"{where}/{metric}/samples/{index}", sample, allowed)
    if samples:
        _check_unit(path, f"{where}/{metric}", entry, METRICS[metric])
    launches = _launches(path, where, point)
    groups, kept = _by_launch(path, f"{where}/{metric}", entry, samples)
    medians = tuple(statistics.median(group) for group in groups) if entry.get("launch") else ()
    read = MeasuredPoint(
        parameters, metric, METRICS[metric] if samples else "", tuple(kept), spread(groups), outcome,
        iterations_of_a_sample(launches), _iteration_range(launches), launch_medians=medians,
        use=measured_use(path, where, point, launches), lengths=launch_lengths(point, launches),
    )  # fmt: skip
    return read, groups


def _between_launches(points: Sequence[Sequence[Sequence[float]]]) -> float | None:
    """What launches usually differ by: the standard deviation of the logarithms of their medians.

    The median over points, so that one whose launches are in different states does not speak for all. That of few
    launches is too small by the median of a chi-squared variable over its degrees of freedom (Wilson and Hilferty
    1931). None where no point has several launches.
    """
    found = []
    for launches in points:
        freedom = len(launches) - 1
        if freedom > 0:
            deviation = statistics.stdev(math.log(statistics.median(samples)) for samples in launches)
            found.append(deviation / (1 - 2 / (9 * freedom)) ** 1.5)
    return statistics.median(found) if found else None


def _check_unit(path: Path, where: str, entry: JsonObject, unit: str) -> None:
    """Samples in another unit would be taken for so many of this one."""
    if "unit" not in entry:
        raise InputError(f"{path}: {where}/unit: is missing; allowed: {json.dumps(unit)}")
    if entry["unit"] != unit:
        raise _refusal(path, f"{where}/unit", entry["unit"], json.dumps(unit))


def _launches(path: Path, where: str, point: JsonObject) -> list[JsonObject]:
    """What a point says of each launch."""
    if point.get("per_launch") is None:
        return []
    launches: list[JsonObject] = _get(path, point, "per_launch", list, where)
    for index, launch in enumerate(launches):
        place = f"{where}/per_launch/{index}"
        if not isinstance(launch, dict):
            raise _refusal(path, place, launch, _NAMES[dict])
        if launch.get("iterations") is not None:
            for number, count in enumerate(_get(path, launch, "iterations", list, place)):
                if not _is_count(count, 1):
                    raise _refusal(path, f"{place}/iterations/{number}", count, "a whole number from 1")
        if launch.get("iteration_s") is not None:
            times = _get(path, launch, "iteration_s", dict, place)
            for key in ("p25", "p75"):
                if times.get(key) is not None and not _is_number(times[key]):
                    raise _refusal(path, f"{place}/iteration_s/{key}", times[key], "a number")
    return launches


def _iteration_range(launches: Sequence[JsonObject]) -> float | None:
    """The median over the launches."""
    times = [launch.get("iteration_s") for launch in launches]
    found = [
        float(one["p75"]) - float(one["p25"])
        for one in times
        if isinstance(one, dict) and all(isinstance(one.get(key), int | float) for key in ("p25", "p75"))
    ]
    return statistics.median(found) if found else None


def _by_launch(
    path: Path, where: str, entry: JsonObject, samples: Sequence[float]
) -> tuple[list[list[float]], list[float]]:
    """The clean samples by launch (all of them if none is clean). Without launches each sample is one."""
    launches = entry.get("launch")
    clean = entry.get("clean")
    for name, values in (("launch", launches), ("clean", clean)):
        if values is not None and (not isinstance(values, list) or len(values) != len(samples)):
            raise InputError(f"{path}: {where}/{name}: needs one entry per sample ({len(samples)})")
        for index, value in enumerate(values or []):
            if name == "launch" and (isinstance(value, bool) or not isinstance(value, int | str)):
                raise _refusal(path, f"{where}/launch/{index}", value, "a whole number or a text")
            if name == "clean" and not isinstance(value, bool):
                raise _refusal(path, f"{where}/clean/{index}", value, "true or false")
    keep = [True] * len(samples) if not clean or not any(clean) else [bool(flag) for flag in clean]
    grouped: dict[object, list[float]] = {}
    for index, sample in enumerate(samples):
        if keep[index]:
            grouped.setdefault(launches[index] if launches else index, []).append(float(sample))
    return list(grouped.values()), [sample for group in grouped.values() for sample in group]
