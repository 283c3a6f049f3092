"""How a measured dataset becomes a scenario: the files in calibration/mappings. Strict: an unknown key is an error.

A mapping is for some libraries over some transports. It gives the layers of a scenario (machine, fabric, library) that
stand for them, says what the options of the library mean, and which parameters may be fitted in what scope.
"""

from __future__ import annotations

import copy
import fnmatch
import json
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from contend.calibrate.lock_workload import LOCKS, lock_workload
from contend.calibrate.mapping_checks import LIBC, LIBRARY, check_mapping
from contend.calibrate.partitioned_points import is_from_program, partitioned_workload
from contend.calibrate.process_layouts import LAYOUT, refuse_layout
from contend.common.documents import set_path
from contend.common.errors import InputError
from contend.common.misfits import misfit_of
from contend.common.nearest import proposal
from contend.common.paths import data_directory
from contend.common.reading import parse_json, read_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from contend.common.jsontypes import JsonObject, Scalar
    from contend.datasets.dataset import Dataset, MeasuredPoint
    from contend.datasets.launch_lengths import LaunchLengths

# What datasets of locks, which need no library, have in its place.
_NO_LIBRARY = "none"
Scope = Literal["machine", "library", "transport", "library-transport"]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Unknown(_Strict):
    """A parameter that data of this mapping may be fitted to.

    `path` starts with "machine." or "fabric."; a fabric has no place in a profile, so its scope is not "machine".
    `range` replaces that of the base profile.
    """

    path: str = Field(pattern=r"^(machine|fabric)\.[a-z_0-9.]+$")
    scope: Scope = "machine"
    range: tuple[str | float, str | float] | None = None


class Option(_Strict):
    """What an option of the library stands for: the value of a path, as it is or translated; or whole layers."""

    path: str | None = None
    values: dict[str, Any] | None = None
    layers: dict[str, dict[str, Any]] = Field(default_factory=dict)


class Case(_Strict):
    """Layers that apply when workload, options, "library" and "libc" have these values.

    The name of a library and that of the machine's C library ("glibc 2.36") may have wildcards.
    """

    when: dict[str, str | int | float | bool]
    layers: dict[str, dict[str, Any]]


class Mapping(_Strict):
    """One file of calibration/mappings.

    `libraries` are short names ("openmpi-5") or releases ("mpich-4.0.2"), with wildcards; `device` is MPICH's, where it
    matters. `stand_in` says what the layers leave out of the real thing; empty where nothing is known to be left out.
    `metrics` names a dataset's metric in a simulation's result, where the names differ.
    """

    schema_version: Literal[1]
    name: str = Field(min_length=1)
    description: str = Field(min_length=1)
    libraries: list[str] = Field(min_length=1)
    transports: list[str] = Field(min_length=1)
    device: str | None = None
    stand_in: str = ""
    layers: dict[Literal["machine", "fabric", "library", "placement"], dict[str, Any]]
    cases: list[Case] = Field(default_factory=list)
    options: dict[str, Option] = Field(default_factory=dict)
    unknowns: list[Unknown] = Field(default_factory=list)
    metrics: dict[str, str] = Field(default_factory=dict)

    def fits(self, dataset: Dataset) -> bool:
        """Whether this mapping is for a dataset's library over its transport."""
        return self.fits_library(dataset) and any(
            fnmatch.fnmatchcase(dataset.transport, one) for one in self.transports
        )

    def fits_library(self, dataset: Dataset) -> bool:
        """Whether this mapping is for a dataset's library over some transport. A device that is not known is any."""
        is_called = any(_is_called(dataset, one) for one in self.libraries)
        return is_called and self.device in (None, dataset.library.get("device") or self.device)


def _is_called(dataset: Dataset, pattern: str) -> bool:
    names = (dataset.library_key, dataset.release)
    return any(name is not None and fnmatch.fnmatchcase(name, pattern) for name in names)


def read_mapping(path: Path) -> Mapping:
    """Reads one file.

    Raises:
        InputError: It is not a mapping; the message says where.
    """
    text = read_text(path, "mapping")
    document = parse_json(text, str(path))  # of keys that occur twice the model would take the last
    try:
        mapping = Mapping.model_validate_json(text)
    except ValidationError as error:
        raise InputError(f"{path}: {misfit_of(error, document, Mapping)}") from error
    check_mapping(path, mapping)
    return mapping


def mapping_files(given: Iterable[Path]) -> list[Path]:
    """The files that are given, and all in folders."""
    return [file for path in given for file in (sorted(path.glob("*.json")) if path.is_dir() else [path])]


def load_mappings(extra: Iterable[Path] = ()) -> list[Mapping]:
    """All mappings: those given first, then the shipped ones in order of their names."""
    paths = mapping_files(extra)
    paths += sorted(data_directory("calibration/mappings").glob("*.json"))
    return [read_mapping(path) for path in paths]


def find_mapping(mappings: Iterable[Mapping], dataset: Dataset) -> Mapping | None:
    """The first mapping for a dataset."""
    return next((one for one in mappings if one.fits(dataset)), None)


def why_no_mapping(mappings: Sequence[Mapping], dataset: Dataset) -> str:
    """What to say of a dataset that no mapping is for.

    Over what transports there are mappings of its library, or of what libraries there are any.
    """
    said = f"no mapping says what stands for {dataset.library_key} over {dataset.transport}"
    transports = sorted({one for mapping in mappings if mapping.fits_library(dataset) for one in mapping.transports})
    if transports:
        also = " (InfiniBand and RoCE are 'fabric')" if "fabric" in transports else ""
        return f"{said}; of {dataset.library_key} there are mappings over: {', '.join(transports)}{also}"
    libraries = sorted({one for mapping in mappings for one in mapping.libraries if one != _NO_LIBRARY})
    return f"{said}; libraries of mappings: {', '.join(libraries)}{proposal(dataset.library_key, libraries)}"


def scope_key(scope: Scope, dataset: Dataset) -> str:
    """What a parameter's value is for: "machine", "openmpi-5", "tcp", or "openmpi-5/tcp"."""
    return {
        "machine": "machine",
        "library": dataset.library_key,
        "transport": dataset.transport,
        "library-transport": f"{dataset.library_key}/{dataset.transport}",
    }[scope]


def scope_keys(dataset: Dataset) -> list[str]:
    """The scopes whose values apply to a dataset, the most special last."""
    return [scope_key(scope, dataset) for scope in ("transport", "library", "library-transport")]


def scoped_entries(profile: JsonObject, dataset: Dataset) -> list[tuple[str, JsonObject]]:
    """Paths of a scenario with what a calibrated profile has there for a dataset's library and transport only.

    A more special value comes after the one that it replaces.
    """
    scopes = (profile.get("calibration") or {}).get("scopes") or {}
    return [(path, entry) for key in scope_keys(dataset) for path, entry in scopes.get(key, {}).items()]


def _merge(lower: JsonObject, upper: JsonObject) -> None:
    for key, value in upper.items():
        if isinstance(value, dict) and isinstance(lower.get(key), dict) and "value" not in value:
            _merge(lower[key], value)
        else:
            lower[key] = copy.deepcopy(value)


# Keys of a measured workload that say how it was run, not what it was; and axes of library options.
_NOT_OF_A_SCENARIO = {"seconds", "bind", "target_seconds", "repetitions", "spread"}
_OPTIONS = "options."
# After how many steps a message a simulation of a measured point has failed, where no search waits for it: sixteen
# threads that all poll under one lock for all requests were measured with 130 messages a second, and take two million.
STEPS_OF_MEASURED = 5_000_000
# How programs time a repetition, where that is not what a scenario has unless told: part of the workload.
_TIMING = {
    ("multirate", "contend-multirate"): "slowest-process",
    ("latency", "contend-latency"): "slowest-process",
    ("rma-mt", "contend-rma"): "first-thread",
}

# The least of a repetition that trials take before the first one, where nobody counted iterations (mpi/timed_run.cpp).
_TRIAL = 0.25


def scenario_layers(
    mapping: Mapping,
    dataset: Dataset,
    point: MeasuredPoint,
    *,
    iterations: int | None = None,
    in_all: int | None = None,
) -> JsonObject:
    """The scenario of one measured point, without machine profile: what the mapping says about it.

    Args:
        mapping: For the dataset's library and transport.
        dataset: Where the point is from.
        point: What was measured.
        iterations: Timed iterations to simulate, at most; as many as measured if not given. Of locks: acquisitions of
            all threads, at the measured rate.
        in_all: Timed iterations and those before them that are not the dataset's own warm-up, at most; those before are
            left out first. As many as there were if not given.

    Raises:
        InputError: An option of the library is not in the mapping, or no scenario has the lock or the processes.
    """
    refuse_layout(dataset, point)
    workload: dict[str, Any] = {key: value for key, value in dataset.workload.items() if key not in _NOT_OF_A_SCENARIO}
    if (how := _TIMING.get((dataset.kind, dataset.program))) is not None:
        workload.setdefault("timing", how)
    options: dict[str, Scalar] = dict(dataset.library.get("options") or {})
    for key, value in point.parameters.items():
        name = key.removeprefix(_OPTIONS)
        if key.startswith(_OPTIONS) or name in mapping.options:
            options[name] = value
        else:
            workload[name.removeprefix("workload.")] = value
    workload = {key: value for key, value in workload.items() if key not in LAYOUT}  # the one that a scenario has
    document: JsonObject = {}
    _merge(document, {str(section): layer for section, layer in mapping.layers.items()})
    known = workload | options
    for case in mapping.cases:
        if all(_holds(key, value, dataset, known) for key, value in case.when.items()):
            _merge(document, case.layers)
    for name, value in options.items():
        _apply_option(mapping, document, name, value)
    if dataset.bind == "compact":
        placement: dict[str, Any] = document.setdefault("placement", {})
        placement["threads"] = "pinned"
        placement.pop("start", None)  # of threads that float
    _set_length(workload, point, iterations, in_all)
    if isinstance(size := workload.get("message_size"), int):
        workload["message_size"] = f"{size} B"
    if dataset.kind == LOCKS:
        most_s = None if iterations is None or point.spread is None else iterations / point.median
        workload = lock_workload({"seconds": dataset.workload.get("seconds")} | workload, most_s=most_s)
    if is_from_program(dataset):
        workload = partitioned_workload(workload)
    document["workload"] = workload
    return document


def _set_length(workload: dict[str, Any], point: MeasuredPoint, most: int | None, in_all: int | None) -> None:
    """Gives a scenario a measured sample's iterations, `most` at most, and as many before it for each as measured."""
    if "iterations" not in workload:
        return
    # Those of the dataset are one point's where the benchmark chose them by time.
    measured = point.iterations or int(workload["iterations"])
    timed = workload["iterations"] = measured if most is None else min(measured, most)
    if "warmup_iterations" in workload and point.lengths is not None:
        warmup = int(workload["warmup_iterations"])
        before = round(_iterations_before(point.lengths, warmup) * timed / measured)
        workload["warmup_iterations"] = warmup + (before if in_all is None else min(before, max(0, in_all - timed)))


def _iterations_before(lengths: LaunchLengths, warmup: int) -> float:
    """How many iterations a launch has made before a sample, its warm-up not counted, in the mean over its samples.

    Threads that share cores begin in one state and may go on in another. The programs try for how many iterations a
    repetition takes before they repeat.
    """
    tried = lengths.before_repetitions(warmup)
    trials = _TRIAL * lengths.timed if tried is None else tried
    return trials + (lengths.repetitions - 1) / 2 * lengths.timed


def without_strange_cases(mapping: Mapping, datasets: Iterable[Dataset]) -> Mapping:
    """A mapping without its cases for libraries and C libraries that no dataset has: they do nothing there.

    Args:
        mapping: Of some libraries.
        datasets: What it is used for.
    """
    known = list(datasets)

    def may_apply(case: Case) -> bool:
        wanted = {key: value for key, value in case.when.items() if key in {LIBRARY, LIBC}}
        return any(all(_holds(key, value, one, {}) for key, value in wanted.items()) for one in known)

    return mapping.model_copy(update={"cases": [case for case in mapping.cases if may_apply(case)]})


def _holds(key: str, value: Scalar, dataset: Dataset, known: JsonObject) -> bool:
    """A condition of a case."""
    if key == LIBRARY:
        return _is_called(dataset, str(value))
    if key == LIBC:
        return fnmatch.fnmatchcase(str(dataset.machine.get(LIBC, "")), str(value))
    return _same(known.get(key), value)


def _same(found: object, wanted: object) -> bool:
    return found == wanted and isinstance(found, bool) == isinstance(wanted, bool)


def _apply_option(mapping: Mapping, document: JsonObject, name: str, value: Scalar) -> None:
    option = mapping.options.get(name)
    if option is None:
        raise InputError(f"the mapping {mapping.name!r} does not say what the library's option {name!r} means")
    _merge(document, option.layers)
    if option.path is None:
        return
    if option.values is not None:
        key = value if isinstance(value, str) else json.dumps(value)
        if key not in option.values:
            raise InputError(f"the mapping {mapping.name!r} does not know the value {key} of the option {name!r}")
        value = option.values[key]
    set_path(document, option.path, value)
