"""Measured configurations as scenarios, and what was measured beside what is predicted.

A point of a dataset becomes the scenario by which `contend validate` predicts it, at the length of a measured sample:
the dataset's own workload, the layers of the mapping for its library and transport, and a machine profile with the
values that a calibration found for that library over that transport.
"""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from contend.accuracy.predict import median_sample
from contend.accuracy.predicted import Predicted
from contend.amounts import bare, quantity
from contend.calibrate.lock_workload import LOCKS
from contend.calibrate.mapping import (
    STEPS_OF_MEASURED,
    find_mapping,
    load_mappings,
    mapping_files,
    scenario_layers,
    scoped_entries,
    why_no_mapping,
)
from contend.calibrate.split import FITTED_KINDS, was_fitted
from contend.calibrate.waiting_points import result_metric
from contend.catalogs import CALIBRATION, PROFILES
from contend.datasets import read_dataset
from contend.documents import get_path, set_path, values_by_path
from contend.errors import InputError
from contend.nearest import nearest_names
from contend.paths import data_directory, profile_directories, repository
from contend.quantities import parse_quantity
from contend.scenario import resolve_scenario
from contend.spelling import listed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from contend.calibrate.mapping import Mapping
    from contend.datasets import Dataset, MeasuredPoint
    from contend.jsontypes import JsonObject
    from contend.results import PointResult, Results
    from contend.scenario import ResolvedScenario

# As many as `contend validate` takes of samples that are simulated in full.
_REPLICATIONS = 5
_ITERATIONS = "workload.iterations"
# How long a simulation is does not change what is simulated.
_LENGTHS = ("iterations", "warmup_iterations", "trial")
_PREFIXES = ("workload.", "options.")
# How parameters that are sizes are called.
_SIZE = "size"
_KEPT_OF_AN_ENTRY = ("value", "source", "uncertainty", "basis")
# So many points are named in a description, and in the name of a scenario.
_NAMED, _NAMED_SHORT = 12, 2


def short_name(parameter: str) -> str:
    """What a parameter of a point is called: "pairs", also where a dataset says "workload.pairs"."""
    for prefix in _PREFIXES:
        parameter = parameter.removeprefix(prefix)
    return parameter


def point_text(point: MeasuredPoint) -> str:
    """A point's parameters as `--point` takes them."""
    return " ".join(f"{short_name(name)}={_text(value)}" for name, value in point.parameters.items())


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def select_points(dataset: Dataset, conditions: Sequence[str]) -> tuple[MeasuredPoint, ...]:
    """The points that meet all conditions; all of them if there is no condition.

    Args:
        dataset: Where they are.
        conditions: NAME=VALUE each; several values for one name are alternatives. A size may have a unit ("1 KiB").

    Raises:
        InputError: A condition is not of that form, or no point meets them; the message names the nearest.
    """
    if not dataset.points:
        raise InputError(f"the dataset {dataset.name} has no points")
    known: dict[str, list[str]] = {}
    for point in dataset.points:
        for name, value in point.parameters.items():
            values = known.setdefault(short_name(name), [])
            if _text(value) not in values:
                values.append(_text(value))
    wanted: dict[str, set[str]] = {}
    for condition in conditions:
        name, separator, value = condition.partition("=")
        name, value = short_name(name.strip()), value.strip()
        if not separator or not name or not value:
            raise InputError(f"--point {condition!r}: expected NAME=VALUE, for example pairs=4")
        if name not in known:
            near = nearest_names(name, known)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise InputError(
                f"the points of {dataset.name} have no {name!r}; they have: {', '.join(known) or 'nothing'}{hint}"
            )
        by_bytes = {_in_bytes(name, one): one for one in known[name]}
        if (in_bytes := _in_bytes(name, value)) not in by_bytes:
            raise InputError(
                f"no point of {dataset.name} has {name}={value}; measured: {', '.join(known[name])}"
                f"{_nearest(in_bytes, known[name])}"
            )
        value = by_bytes[in_bytes]
        wanted.setdefault(name, set()).add(value)
    found = tuple(
        point for point in dataset.points if all(_value_of(point, name) in values for name, values in wanted.items())
    )
    if not found:
        best = max(dataset.points, key=lambda point: sum(_value_of(point, n) in v for n, v in wanted.items()))
        raise InputError(
            f"no point of {dataset.name} has {' and '.join(conditions)} together; the nearest is {point_text(best)}"
        )
    return found


def _in_bytes(name: str, value: str) -> str:
    """A size as a dataset has it, in bytes, also where it is given as tables show it: "1 KiB"."""
    found = parse_quantity(value) if name.endswith(_SIZE) else None
    return value if found is None or found.unit != "B" or not found.value.is_integer() else str(int(found.value))


def _value_of(point: MeasuredPoint, name: str) -> str | None:
    return next((_text(value) for key, value in point.parameters.items() if short_name(key) == name), None)


def _nearest(value: str, known: Sequence[str]) -> str:
    """The nearest of what was measured: by size, for words by their letters."""
    try:
        wanted = float(value)
        near = min(known, key=lambda one: abs(math.log(float(one) / wanted)) if wanted > 0 else abs(float(one)))
    except (ValueError, ZeroDivisionError):
        close = nearest_names(value, known)
        if not close:
            return ""
        near = close[0]
    return f"; the nearest is {near}"


@dataclass(frozen=True)
class MachineProfile:
    """The profile that a dataset is predicted with.

    `is_of_machine` says whether it is known to be of the machine that was measured.
    """

    path: Path
    document: JsonObject
    is_of_machine: bool

    @property
    def name(self) -> str:
        """Its name."""
        return self.path.stem

    @property
    def shown(self) -> str:
        """Its name, and its file where other commands do not find it by name."""
        path = self.path.resolve()
        if path.parent in profile_directories():
            return self.name
        here = Path.cwd()
        return f"{self.name} ({path.relative_to(here) if path.is_relative_to(here) else path})"

    def reference(self, beside: Path | None = None) -> str:
        """How a scenario names it: a shipped one by its name, another by its file."""
        if self.path.parent.resolve() == data_directory("calibration/profiles").resolve():
            return self.name
        path = self.path.resolve()
        return str(path) if beside is None else os.path.relpath(path, beside.resolve())


def choose_profile(dataset: Dataset, name: str | None = None) -> MachineProfile:
    """The machine profile for a dataset.

    Args:
        dataset: What was measured.
        name: Name or file of a profile. If not given, one of the dataset's machine: that which was calibrated or
            validated with this dataset, else the first.

    Raises:
        InputError: It cannot be read; or none was named, and none is of the dataset's machine.
    """
    if name is not None:
        path, document = PROFILES.load(name)
        return MachineProfile(path, document, dataset.machine_id in _machines(document))
    of_machine = [
        (path, document)
        for path, document in map(PROFILES.load, map(str, _known_profiles()))
        if dataset.machine_id in _machines(document)
    ]
    if not of_machine:
        cpu = dataset.machine.get("cpu") or "processor not known"
        raise InputError(
            f"no profile is of the machine of {dataset.name} ({cpu}, id {dataset.machine_id}); --profile NAME takes "
            "another one (`contend profile list`), and `contend calibrate DATASETS --base PROFILE -o FILE` makes one"
        )
    path, document = next((one for one in of_machine if _was_made_for(one[1], dataset)), of_machine[0])
    return MachineProfile(path, document, is_of_machine=True)


def _known_profiles() -> list[Path]:
    """Profiles of the search path, then those that the comparisons of a checkout have calibrated."""
    found = list(PROFILES.available().values())
    if (root := repository()) is not None:
        from contend.accuracy.comparisons import comparisons

        made = [one.folder / run.profile for one in comparisons(root) for run in one.description.runs if run.calibrate]
        found += [path for path in made if path.is_file()]
    return found


def _machines(profile: JsonObject) -> JsonObject:
    record = profile.get(CALIBRATION)
    machines = record.get("machines") if isinstance(record, dict) else None
    return machines if isinstance(machines, dict) else {}


def _was_made_for(profile: JsonObject, dataset: Dataset) -> bool:
    split = (profile.get(CALIBRATION) or {}).get("split") or {}
    entries = [entry for side in ("calibration", "held_out") for entry in split.get(side, ())]
    return any(entry.get("dataset") == dataset.name and entry.get("machine") == dataset.machine_id for entry in entries)


def choose_mapping(mappings: Sequence[Mapping], dataset: Dataset) -> Mapping:
    """The mapping for a dataset.

    Raises:
        InputError: There is none, or no scenario stands for workloads of this kind.
    """
    if dataset.kind not in FITTED_KINDS:
        raise InputError(
            f"{dataset.name} measured {dataset.kind!r}; scenarios stand for points of {listed(FITTED_KINDS)}"
        )
    mapping = find_mapping(mappings, dataset)
    if mapping is None:
        raise InputError(f"{why_no_mapping(mappings, dataset)}; --mapping FILE gives one")
    return mapping


@dataclass(frozen=True)
class Configuration:
    """Points of a dataset with the scenario that stands for them: a sweep where they are several.

    Points that mean the same scenario are one point of the sweep, as where they differ in an option that the mapping
    knows to change nothing.
    """

    dataset: Dataset
    points: tuple[MeasuredPoint, ...]
    mapping: Mapping
    profile: MachineProfile
    iterations: int | None = None

    @property
    def name(self) -> str:
        """The scenario's name: the dataset's, and which point where it is one of several."""
        if len(self.points) == len(self.dataset.points):
            return self.dataset.name
        few = "; ".join(map(point_text, self.points))
        return f"{self.dataset.name}[{few if len(self.points) <= _NAMED_SHORT else f'{len(self.points)} points'}]"

    def document(self, beside: Path | None = None) -> JsonObject:
        """The scenario.

        Args:
            beside: The folder of the file that it will be, where files that it names are sought from; if not given
                their whole paths stand in it.

        Raises:
            InputError: The mapping does not know an option of the library.
        """
        common, samples = self._swept(beside)
        sweep = [samples[same[0]] for same in _alike(samples)] if any(samples) else []
        head: JsonObject = {"schema_version": 1, "name": self.name, "description": self._description()}
        run = {"run": {"seed": 1, "replications": _REPLICATIONS, "steps_per_operation": STEPS_OF_MEASURED}}
        return head | common | run | ({"sweep": sweep} if sweep else {})

    def _swept(self, beside: Path | None = None) -> tuple[JsonObject, list[JsonObject]]:
        """What the scenarios of all points have in common, and for each point the values that differ."""
        documents = [self._system(point, self.profile.reference(beside)) for point in self.points]
        common, samples = _swept(documents, self._value)
        # Values may differ in how they are written only.
        return (common, samples) if len(_alike(samples)) > 1 else (documents[0], [{} for _ in documents])

    def resolve(self, overrides: Sequence[tuple[str, str]] = ()) -> ResolvedScenario:
        """The scenario with every value.

        Raises:
            InputError: Its parts do not go together, or an override is not usable.
        """
        name = Path(self.name.replace("/", "_"))
        return resolve_scenario(name, overrides, json.dumps(self.document()))

    def _system(self, point: MeasuredPoint, profile: str) -> JsonObject:
        """The sections of one point that say what is simulated."""
        layers = scenario_layers(self.mapping, self.dataset, point, iterations=self.iterations)
        for path, entry in scoped_entries(self.profile.document, self.dataset):
            is_sourced = path.startswith("machine.")
            set_path(
                layers, path, {k: entry[k] for k in _KEPT_OF_AN_ENTRY if k in entry} if is_sourced else entry["value"]
            )
        machine = {"profile": profile} | layers.pop("machine", {})
        workload = layers.pop("workload")
        if self.iterations is not None and self.dataset.kind != LOCKS:
            workload.setdefault("iterations", self.iterations)  # foreign programs do not say how many they made
        return {"machine": machine, **layers, "workload": workload}

    def _value(self, index: int, path: str) -> Any:  # noqa: ANN401 - any JSON value
        """A value of a point that its own layers do not give."""
        alone = replace(self, points=(self.points[index],))
        return get_path(alone.resolve().points[0].config, path)

    def _description(self) -> str:
        dataset = self.dataset
        library = " ".join(str(dataset.library[key]) for key in ("name", "version") if dataset.library.get(key))
        what = (
            f"What the dataset {dataset.name} measured: {library or dataset.library_key} over {dataset.transport}, by "
            f"the mapping {self.mapping.name} upon the profile {self.profile.name}"
        )
        parts = [what]
        if route := self._route():
            parts.append(f"In this scenario {route}")
        if self.mapping.stand_in:
            parts.append(f"Left out: {self.mapping.stand_in}")
        if len(self.points) <= _NAMED:
            parts.append("Measured: " + "; ".join(f"{point_text(one)}: {_measured_text(one)}" for one in self.points))
        return ". ".join(parts) + "."

    def files(self, mappings: Iterable[Path] = ()) -> list[tuple[str, Path]]:
        """What it is read from, in words and as files: no output may take their place.

        Args:
            mappings: Files of mappings that were given, and folders of them.
        """
        return [
            ("dataset", self.dataset.path),
            ("profile", self.profile.path),
            *(("mapping", path) for path in mapping_files(mappings)),
        ]

    def notes(self, overrides: Sequence[tuple[str, str]] = ()) -> list[str]:
        """What a reader of a prediction should know.

        Args:
            overrides: What was changed in the scenario.
        """
        found = [f"predicted with the profile {self.profile.shown}, by the mapping {self.mapping.name}"]
        if not self.profile.is_of_machine:
            machine = self.dataset.machine.get("cpu") or "a machine that is not known"
            found.append(
                f"the profile {self.profile.name} ({self.profile.document.get('cpu', 'processor not known')}) is not "
                f"known to be of the machine that was measured ({machine}, id {self.dataset.machine_id})"
            )
        if route := self._route(overrides):
            found.append(route)
        if self.mapping.stand_in:
            found.append(f"the scenario leaves out: {self.mapping.stand_in}")
        return found

    def _route(self, overrides: Sequence[tuple[str, str]] = ()) -> str:
        """Where latency and bandwidth between the processes come from, which no dataset says.

        Empty if overridden, or where nothing is sent.
        """
        if self.dataset.kind == LOCKS:
            return ""
        changed = {path for path, _ in overrides}
        calibrated = dict(scoped_entries(self.profile.document, self.dataset))
        systems = [self._system(point, self.profile.name) for point in self.points]
        said: dict[str, list[str]] = {}
        for path in ("fabric.latency", "fabric.bandwidth"):
            if {"fabric", "fabric.platform", path} & changed:
                continue
            values = dict.fromkeys(str(get_path(system, path)) for system in systems)
            how = (
                f"calibrated, of the profile {self.profile.name}"
                if path in calibrated
                else f"set by the mapping {self.mapping.name}, not measured"
            )
            said.setdefault(how, []).append(f"{path.partition('.')[2]} {' or '.join(values)}")
        each = (f"{' and '.join(values)} ({how})" for how, values in said.items())
        return f"the route has {', '.join(each)}" if said else ""

    def beside(self, results: Results, resolved: ResolvedScenario) -> Results:
        """Results with what was measured at each point whose workload is still the measured one.

        Args:
            results: Of this configuration.
            resolved: The scenario that they are of, with whatever was overridden.
        """
        plain = self.resolve()
        same = len(plain.points) == len(resolved.points) and all(
            _without_lengths(one.config) == _without_lengths(other.config)
            for one, other in zip(plain.points, resolved.points, strict=True)
        )
        notes = tuple(self.notes(resolved.overrides))
        if not same:
            return replace(
                results, remarks=(*notes, "the workload was changed: there is nothing measured to compare with")
            )
        groups = _alike(self._swept()[1])
        configs = {index: one.config for one, same in zip(resolved.points, groups, strict=True) for index in same}
        notes += self._shorter([configs[index] for index in range(len(self.points))])
        wanted = {
            json.dumps(one.parameters): (one.config, same) for one, same in zip(resolved.points, groups, strict=True)
        }
        names = self._told_apart_by(groups)
        points = []
        for result in results.points:
            config, same_as = wanted[json.dumps(result.parameters)]
            for point in (self.points[index] for index in same_as):
                measured = self._compare(point, result, config, resolved.seed)
                own = {short_name(name): value for name, value in point.parameters.items() if name in names}
                parameters = result.parameters | {name: own[name] for name in own if name not in result.parameters}
                points.append(replace(result, parameters=parameters, measured=measured))
        planned = None if results.planned is None else len(self.points)
        return replace(results, points=tuple(points), planned=planned, remarks=notes)

    def _told_apart_by(self, groups: Sequence[Sequence[int]]) -> set[str]:
        """The parameters in which measured points of the same scenario differ."""
        of_groups = ([self.points[index].parameters for index in same] for same in groups)
        return {
            name
            for first, *others in of_groups
            for other in others
            for name in first | other
            if first.get(name) != other.get(name)
        }

    def _shorter(self, configs: Sequence[JsonObject]) -> tuple[str, ...]:
        """A note where samples are simulated with fewer iterations than measured."""
        lengths = [
            (config["workload"].get("iterations"), point.iterations or self.dataset.workload.get("iterations"))
            for config, point in zip(configs, self.points, strict=True)
        ]
        shorter = [(simulated, long) for simulated, long in lengths if simulated and long and simulated < long]
        if not shorter:
            return ()
        simulated, long = (_range_text(one) for one in zip(*shorter, strict=True))
        where = "" if len(shorter) == len(lengths) else f" at {len(shorter)} of {len(lengths)} points"
        noun = "iteration" if simulated == "1" else "iterations"
        note = (
            f"the samples simulated are shorter than those measured{where}: {simulated} {noun}, measured {long}; where "
            "threads change between a fast and a slow state that gives another prediction"
        )
        return (note,)

    def _compare(self, point: MeasuredPoint, result: PointResult, config: JsonObject, seed: int) -> JsonObject:
        metric = self.mapping.metrics.get(point.metric, result_metric(self.dataset, point.metric))
        samples = _samples_of(result, metric)
        simulated = max(1, int(config["workload"].get("iterations") or 1))
        length = (
            len(samples) if point.iterations is None and samples else max(1, round((point.iterations or 1) / simulated))
        )
        predicted = median_sample(samples, length, seed, is_time=point.unit == "s") if samples else None
        split = (self.profile.document.get(CALIBRATION) or {}).get("split")
        entry: JsonObject = {"dataset": self.dataset.name, "metric": point.metric, "predicted": predicted}
        if point.spread is None:
            return entry | {"median": None, "outcome": point.outcome, "unit": point.unit}
        interval = None if point.interval is None else list(point.interval)
        entry |= {"median": point.median, "interval": interval, "cov": point.spread.cov, "unit": point.unit}
        if predicted is not None:
            judged = Predicted(self.dataset, point, predicted, predicted, predicted, held_out=True, stand_in="")
            against_interval = judged.is_scored_against_interval
            entry |= {"abs_error_pct": judged.abs_error_pct, "scored_against_interval": against_interval}
        fitted = was_fitted(split, self.dataset, point)
        return entry | {"fitted": fitted, "held_out": bool((split or {}).get("calibration")) and not fitted}


def open_dataset(
    path: Path,
    conditions: Sequence[str] = (),
    *,
    profile: str | None = None,
    mappings: Iterable[Path] = (),
    iterations: int | None = None,
) -> Configuration:
    """The measured configurations of a dataset.

    Args:
        path: The dataset's file.
        conditions: Which points, as select_points takes them; all if there are none.
        profile: Name or file of a machine profile, as choose_profile takes it.
        mappings: Files and folders of mappings that come before the shipped ones.
        iterations: Timed iterations of a point, at most; as many as measured if not given.

    Raises:
        InputError: The dataset, the choice or a file is not usable, or no scenario stands for the dataset.
    """
    dataset = read_dataset(path)
    points = select_points(dataset, conditions)
    mapping = choose_mapping(load_mappings(mappings), dataset)
    return Configuration(dataset, points, mapping, choose_profile(dataset, profile), iterations)


def _samples_of(result: PointResult, metric: str) -> Sequence[float]:
    """What replications gave; their mean where a result has nothing else."""
    if (found := result.estimates.get(metric)) is not None:
        return found.samples
    mean = result.scalars.get(metric)
    return () if mean is None else (mean,)


def _range_text(numbers: Sequence[int]) -> str:
    low, high = min(numbers), max(numbers)
    return str(low) if low == high else f"{low} to {high}"


def _measured_text(point: MeasuredPoint) -> str:
    if point.spread is None:
        return f"no sample ({point.outcome})"
    interval = (
        "" if point.interval is None else " ({} to {})".format(*(bare(end, point.unit) for end in point.interval))
    )
    return f"{quantity(point.median, point.unit)}{interval}"


def _without_lengths(config: JsonObject) -> JsonObject:
    return {key: value for key, value in config["workload"].items() if key not in _LENGTHS}


def _swept(documents: Sequence[JsonObject], value_of: Any) -> tuple[JsonObject, list[JsonObject]]:  # noqa: ANN401
    """What all documents have in common, and for each the values that differ, by their paths."""
    flat = [dict(values_by_path(document)) for document in documents]
    paths = list(dict.fromkeys(path for one in flat for path in one))
    differing = [path for path in paths if any(path not in one or one[path] != flat[0].get(path) for one in flat)]
    # The workload first, as its numbers are what curves are drawn over; last how long a point is measured.
    differing.sort(key=lambda path: (path == _ITERATIONS, not path.startswith("workload.")))
    if not differing:
        return documents[0], [{} for _ in documents]
    common: JsonObject = {}
    for path, value in flat[0].items():
        if path not in differing:
            set_path(common, path, value)
    samples = [
        {path: one[path] if path in one else value_of(index, path) for path in differing}
        for index, one in enumerate(flat)
    ]
    return common, samples


def _alike(samples: Sequence[JsonObject]) -> list[list[int]]:
    """The indices of samples that have the same values, whichever units these are written in."""
    found: dict[str, list[int]] = {}
    for index, sample in enumerate(samples):
        values = {path: _plain(value) for path, value in sample.items()}
        found.setdefault(json.dumps(values, sort_keys=True), []).append(index)
    return list(found.values())


def _plain(value: object) -> object:
    if isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    found = parse_quantity(value)
    return value if found is None else [found.value, found.unit]
