"""Measured datasets, as `contend measure` and `contend import` write them, for calibration and validation."""

from __future__ import annotations

import hashlib
import json
import math
import statistics
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from contend.errors import InputError
from contend.file_kinds import DATASET, kind_of
from contend.files import keys_of, parse_json, read_json, read_text
from contend.measure.benchmarks import BENCHMARKS
from contend.measure.spread import Spread, spread
from contend.nearest import nearest_names, proposal

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    import polars as pl

    from contend.jsontypes import JsonObject, Scalar

# Version of what a dataset has; every one says of which it is.
FORMAT = 1
# Metrics that a point may be measured in, and the unit of each; the first that it has counts.
METRICS = {
    "latency": "s",
    "message_rate": "msg/s",
    "acquisition_rate": "1/s",
    "time_per_operation": "s",
    "perceived_bandwidth": "MiB/s",
}
# Spread of a single sample, which says nothing about itself: the usual one of a quiet machine.
_UNKNOWN_SPREAD = 0.1
# No median is known better than this, whatever its samples say.
_LEAST_ERROR = 0.005
# The standard error of a median over that of the mean, for a normal distribution.
_MEDIAN_OVER_MEAN = math.sqrt(math.pi / 2)
_NORMAL_95 = 1.959964
# Whole numbers that a workload, or the parameters of a point, may have: the least.
_COUNTS = {"iterations": 1, "warmup_iterations": 0} | dict.fromkeys(
    ("pairs", "senders", "receivers", "threads", "window", "partitions", "receive_partitions", "requests"), 1
)
_MOST_COUNTED = 2**62
# No rate and no time is beyond these.
SMALLEST_SAMPLE, LARGEST_SAMPLE = 1e-30, 1e30


@dataclass(frozen=True)
class MeasuredPoint:
    """One point of a dataset: clean samples of one metric, and what they say together.

    `samples` are in `unit`; `spread` is None where no launch gave a sample, and `outcome` says why. `iterations` are
    those of a sample, and `iteration_range_s` the interquartile range of their times within a launch, where these are
    known.
    """

    parameters: dict[str, Scalar]
    metric: str
    unit: str
    samples: tuple[float, ...]
    spread: Spread | None
    outcome: str
    iterations: int | None = None
    iteration_range_s: float | None = None
    between_launches: float | None = None
    """Standard deviation of the logarithms of launches' medians at the dataset's points that have several launches."""

    @property
    def median(self) -> float:
        """The median of the samples.

        Raises:
            ValueError: There are none.
        """
        if self.spread is None:
            raise ValueError("a point without samples has no median")
        return self.spread.median

    @property
    def log_error(self) -> float:
        """Standard error of the logarithm of the median.

        From the bootstrap interval over launches where there is one. Samples of a single launch share its luck: what
        launches of other points differ by, or a spread that is not known, is on top of their own.
        """
        found = self.spread
        if found is None:
            return math.inf
        if found.ci95 is not None and found.ci95[0] > 0:
            error = math.log(found.ci95[1] / found.ci95[0]) / (2 * _NORMAL_95)
        else:
            own = 0.0 if found.cov is None else _MEDIAN_OVER_MEAN * found.cov / math.sqrt(found.count)
            among = _UNKNOWN_SPREAD if self.between_launches is None else self.between_launches
            error = math.hypot(own, among)
        return max(error, _LEAST_ERROR)

    @property
    def digest(self) -> str | None:
        """Of parameters and clean samples: the same whatever its dataset is called. None without samples."""
        if not self.samples:
            return None
        text = json.dumps([self.metric, self.parameters, self.samples], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the median; None where launches do not give one.

        Samples of one launch share its luck, so that their quartiles say nothing of where the median would be in
        another one.
        """
        return None if self.spread is None else self.spread.ci95


def _summary(point: MeasuredPoint) -> dict[str, Scalar]:
    """What a row of a frame says of a point besides its parameters."""
    found, (low, high) = point.spread, point.interval or (None, None)
    return {
        "metric": point.metric,
        "unit": point.unit,
        "median": None if found is None else found.median,
        "median_ci95_low": low,
        "median_ci95_high": high,
        "cov": None if found is None else found.cov,
        "samples": len(point.samples),
        "outcome": point.outcome,
    }


# What `contend import` is told of a machine that it is told nothing of, and the id that it once made of that word.
UNKNOWN_MACHINE = "unknown"
_UNKNOWN_MACHINES = {UNKNOWN_MACHINE, hashlib.sha256(UNKNOWN_MACHINE.encode()).hexdigest()[:12]}

# What a program of ours measures, where it did not live to say so.
_KINDS_OF_PROGRAMS = {one.program: one.workload_kind for one in BENCHMARKS.values()}


# Short names that stand for whatever is installed.
_ANY_LIBRARY = {"system", "debian-openmpi", "debian-mpich"}
# Libraries by the name that they give themselves, and how short names of their releases begin.
_FAMILIES = {"Open MPI": "openmpi", "MPICH": "mpich", "Intel MPI": "intelmpi"}


@dataclass(frozen=True)
class Dataset:
    """One measured dataset. `program`: what measured it, where that is known; `bind`: whether it bound its threads."""

    name: str
    path: Path
    digest: str
    description: str
    machine: JsonObject
    library: JsonObject
    transport: str
    workload: JsonObject
    points: tuple[MeasuredPoint, ...]
    program: str = ""
    bind: str = "none"

    @property
    def library_key(self) -> str:
        """Short name of the library, with its major version where `contend measure` gave one ("openmpi-5").

        That of an installation which was found on a machine ("system") could be any library's: it is its release.
        """
        key = str(self.library.get("key") or self.library.get("name") or "none")
        return (self.release or key) if key in _ANY_LIBRARY else key

    @property
    def release(self) -> str | None:
        """The library by name and whole version ("mpich-4.0.2"), where both are known."""
        family = _FAMILIES.get(str(self.library.get("name")))
        version = self.library.get("version")
        return f"{family}-{version}" if family and version else None

    @property
    def machine_id(self) -> str:
        """What tells machines apart."""
        return str(self.machine.get("id") or self.machine.get("cpu") or UNKNOWN_MACHINE)

    @property
    def names_machine(self) -> bool:
        """Whether it says what machine it is of; one that does not is of the same machine as no other."""
        return self.machine_id not in _UNKNOWN_MACHINES

    @property
    def kind(self) -> str:
        """The kind of workload: "multirate", "machine", "locks", ..."""
        named = self.workload.get("kind") or _KINDS_OF_PROGRAMS.get(self.program)
        return str(named or "multirate")

    def frame(self) -> pl.DataFrame:
        """One row a point: its parameters in SI units, and what its clean samples say (all, where none is clean).

        Columns after the parameters: `metric` and its `unit`, `median`, `median_ci95_low` and `median_ci95_high` (null
        where launches give no interval), the coefficient of variation `cov`, the number of `samples`, and `outcome`.
        A point without samples has its outcome only.
        """
        from contend.frames import frame_of, plain_parameters

        parameters = plain_parameters([point.parameters for point in self.points])
        names = dict.fromkeys(name for plain in parameters for name in plain)
        return frame_of(
            {name: plain.get(name) for name in names} | _summary(point)
            for plain, point in zip(parameters, self.points, strict=True)
        )


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


def is_dataset(file: Path) -> bool:
    """Whether a file looks like a dataset; what else is wrong with it says read_dataset."""
    return keys_of(file) >= DATASET


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
    read = MeasuredPoint(
        parameters, metric, METRICS[metric] if samples else "", tuple(kept), spread(groups), outcome,
        _iterations(launches), _iteration_range(launches),
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


def _iterations(launches: Sequence[JsonObject]) -> int | None:
    """The median over the samples: the benchmark chooses them by time, so that points of a dataset differ."""
    found = [count for launch in launches for count in (launch.get("iterations") or [])]
    return round(statistics.median(found)) if found else None


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
