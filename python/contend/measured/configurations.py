"""Measured configurations as scenarios, and what was measured beside what is predicted.

A point of a dataset becomes the scenario by which `contend validate` predicts it, at the length of a measured sample:
the dataset's own workload, the layers of the mapping for its library and transport, and a machine profile with the
values that a calibration found for that library over that transport.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from contend.accuracy.predict import median_sample
from contend.accuracy.predicted import Predicted
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
from contend.calibrate.process_layouts import not_simulated, why_not_simulated
from contend.calibrate.split import FITTED_KINDS, merged, was_fitted
from contend.calibrate.waiting_points import result_metric
from contend.common.amounts import bare, quantity
from contend.common.documents import get_path, set_path
from contend.common.errors import InputError
from contend.common.spelling import listed
from contend.datasets.reading import read_dataset
from contend.measured.document_sweep import alike, swept
from contend.measured.machine import choose_profile
from contend.measured.points import point_text, select_points, short_name
from contend.measured.processor_use import use_beside
from contend.profiles.catalogs import CALIBRATION
from contend.scenarios.resolution import resolve_scenario

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from contend.calibrate.mapping import Mapping
    from contend.common.jsontypes import JsonObject
    from contend.datasets.dataset import Dataset, MeasuredPoint
    from contend.measured.machine import MachineProfile
    from contend.results.results import PointResult, Results
    from contend.scenarios.resolution import ResolvedScenario

# As many as `contend validate` takes of samples that are simulated in full.
_REPLICATIONS = 5
# How long a simulation is does not change what is simulated.
_LENGTHS = ("iterations", "warmup_iterations", "trial")
_KEPT_OF_AN_ENTRY = ("value", "source", "uncertainty", "basis")
# So many points are named in a description, and in the name of a scenario.
_NAMED, _NAMED_SHORT = 12, 2


def choose_mapping(mappings: Sequence[Mapping], dataset: Dataset) -> Mapping:
    """The mapping for a dataset.

    Raises:
        InputError: There is none, or no scenario stands for workloads of this kind or for any of the points.
    """
    if dataset.kind not in FITTED_KINDS:
        raise InputError(
            f"{dataset.name} measured {dataset.kind!r}; scenarios stand for points of {listed(FITTED_KINDS)}"
        )
    reasons = not_simulated(dataset)
    if reasons and len(reasons) == len(dataset.points):
        raise InputError(f"{dataset.name} can be shown, not simulated: {reasons[0]}")
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
        sweep = [samples[same[0]] for same in alike(samples)] if any(samples) else []
        head: JsonObject = {"schema_version": 1, "name": self.name, "description": self._description()}
        run = {"run": {"seed": 1, "replications": _REPLICATIONS, "steps_per_operation": STEPS_OF_MEASURED}}
        return head | common | run | ({"sweep": sweep} if sweep else {})

    def _swept(self, beside: Path | None = None) -> tuple[JsonObject, list[JsonObject]]:
        """What the scenarios of all points have in common, and for each point the values that differ."""
        documents = [self._system(point, self.profile.reference(beside)) for point in self.points]
        common, samples = swept(documents, self._value)
        # Values may differ in how they are written only.
        return (common, samples) if len(alike(samples)) > 1 else (documents[0], [{} for _ in documents])

    def resolve(self, overrides: Sequence[tuple[str, str]] = ()) -> ResolvedScenario:
        """The scenario with every value.

        Raises:
            InputError: Its parts do not go together, or an override is not usable.
        """
        name = Path(self.name.replace("/", "_"))
        return resolve_scenario(name, overrides, json.dumps(self.document()))

    def given_length(self) -> list[tuple[str, str]]:
        """The override that a number of iterations is where the dataset knows none; else it is only the most."""
        is_known = self.dataset.kind == LOCKS or any(self._measured_length(point) for point in self.points)
        return [] if self.iterations is None or is_known else [("workload.iterations", str(self.iterations))]

    def _measured_length(self, point: MeasuredPoint) -> int | None:
        """How many timed iterations a measured sample of a point had; None where that is not known, as of imports."""
        return point.iterations or merged(self.dataset, point).get("iterations")

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
            found.append(self.profile.doubt([self.dataset]))
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
        groups = alike(self._swept()[1])
        configs = {index: one.config for one, same in zip(resolved.points, groups, strict=True) for index in same}
        in_order = [configs[index] for index in range(len(self.points))]
        notes += self._shorter(in_order) + self._of_unknown_length(in_order)
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
            (config["workload"].get("iterations"), self._measured_length(point))
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

    def _of_unknown_length(self, configs: Sequence[JsonObject]) -> tuple[str, ...]:
        """A note where nothing says how many iterations a measured sample had, and so how many to simulate."""
        measured = [(config, point) for config, point in zip(configs, self.points, strict=True) if point.spread]
        simulated = [
            count
            for config, point in measured
            if (count := config["workload"].get("iterations")) and self._measured_length(point) is None
        ]
        if not simulated:
            return ()
        where = "" if len(simulated) == len(measured) else f" at {len(simulated)} of {len(measured)} points"
        count = _range_text(simulated)
        noun = "iteration was" if count == "1" else "iterations were"
        note = (
            f"{count} timed {noun} simulated{where}: how many a measured sample had is not known (--iterations N "
            "simulates others)"
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
        if use := use_beside(point, result, self.dataset.kind):
            entry["usage"] = use
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
    for point in points:
        if (why := why_not_simulated(dataset, point)) is not None:
            raise InputError(f"{dataset.name}: {point_text(point)}: can be shown, not simulated: {why}")
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
