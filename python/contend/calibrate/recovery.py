"""Synthetic recovery: does a calibration give back parameters that are known, because the simulator made the data?

A trial draws true values, simulates "measurements" with them (other random numbers than the fit will use), adds noise
as launches of real runs have it, and calibrates as if nothing were known. Parameters that the data determine must be
found within their intervals; parameters that the data never touch must be reported as such.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from contend.calibrate.evaluations import Evaluator
from contend.calibrate.inputs import Inputs
from contend.calibrate.mapping import Mapping, Unknown
from contend.calibrate.options import Options
from contend.calibrate.pipeline import calibrate
from contend.calibrate.problem import Builder
from contend.calibrate.sensitivity import Verdict
from contend.calibrate.slow_cores import with_cores_alike
from contend.calibrate.split import choose_split
from contend.datasets.reading import FORMAT, read_datasets

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from contend.calibrate.pipeline import Calibration
    from contend.common.jsontypes import JsonObject
    from contend.engine.runner import Engine

# Launches of real runs differ by some percent, and so do the samples of one launch (docs/measuring.md).
LAUNCHES = 3
SAMPLES = 4
LAUNCH_SPREAD = 0.03
SAMPLE_SPREAD = 0.03
_TRUTH_REPLICATIONS = tuple(range(4))
# Truth stays off the ends of the ranges, where an interval would have one side only.
_MARGIN = 0.15


@dataclass(frozen=True)
class Study:
    """What is simulated: unknown parameters with ranges, designs, thread counts, and how long a simulation is."""

    unknowns: tuple[tuple[str, str, str], ...]
    workloads: tuple[tuple[str, dict[str, object]], ...]
    pairs: tuple[int, ...]
    window: int = 32
    messages: int = 1500

    def mapping(self) -> Mapping:
        """The mapping of the made-up library."""
        return Mapping(
            schema_version=1, name="synthetic", description="made by the simulator", libraries=["synthetic"],
            transports=["synthetic"],
            layers={"library": {"preset": "ob1-base"}, "fabric": {"latency": "1 us", "bandwidth": "12.5 GB/s"}},
            unknowns=[Unknown(path=path, range=(low, high)) for path, low, high in self.unknowns],
        )  # fmt: skip


# Send and receive path, out-of-sequence handling, progress; and two prices that messages of 0 bytes never pay.
STANDARD = Study(
    unknowns=(
        ("machine.software.receive_call", "100 ns", "1.2 us"),
        ("machine.software.progress_call", "100 ns", "2 us"),
        ("machine.matching.fragment_allocate", "50 ns", "2 us"),
        ("machine.nic.registration", "8 us", "24 us"),
        ("machine.rdma.completion", "20 ns", "80 ns"),
    ),
    workloads=(
        ("shared", {}),
        ("separate", {"communicator_per_pair": True}),
        ("overtaking", {"allow_overtaking": True, "any_tag": True}),
    ),
    pairs=(1, 2, 4, 6, 8, 12),
)


@dataclass(frozen=True)
class Recovered:
    """One parameter of one trial: its verdict, the truth, and the 95 % interval (None without a posterior)."""

    name: str
    verdict: Verdict
    truth: float
    interval: tuple[float, float] | None

    @property
    def is_covered(self) -> bool:
        """Whether the interval has the truth."""
        return self.interval is not None and self.interval[0] <= self.truth <= self.interval[1]

    @property
    def is_known(self) -> bool:
        """Whether the calibration says that the data determine it."""
        return self.verdict in {Verdict.identified, Verdict.weak}


class MemoryLog:
    """A journal in memory."""

    name = "memory"

    def __init__(self) -> None:
        self.entries: list[JsonObject] = []

    def append(self, entry: JsonObject) -> None:
        """Adds an entry."""
        self.entries.append(entry)


class Silence:
    """A reporter that says nothing."""

    def plan(self, simulations: int) -> None:
        """Nothing."""

    def say(self, text: str) -> None:
        """Nothing."""


def run_trial(
    study: Study, profile: JsonObject, folder: Path, engine: Engine, *, seed: int, jobs: int, starts: int = 2
) -> tuple[list[Recovered], Calibration]:
    """One trial.

    Args:
        study: What is simulated.
        profile: The base profile. Its slow cores are left out: samples that are made up know no launches.
        folder: An empty folder for the datasets.
        engine: What simulates.
        seed: Of truth, noise and fit.
        jobs: Simulations at once.
        starts: Starts of the optimiser.
    """
    profile = with_cores_alike(profile)
    mapping = study.mapping()
    evaluator = Evaluator(engine, MemoryLog(), jobs=jobs)
    truth = write_synthetic(study, mapping, profile, folder, evaluator, seed)
    datasets = read_datasets([folder])
    split = choose_split(datasets)
    options = Options(seed=seed, starts=starts, messages=study.messages, is_cross_validated=False)
    found = calibrate(Inputs(datasets, profile, [mapping], split), evaluator, options, Silence())
    recovered = []
    for part in found.parts:
        for index, (parameter, sight) in enumerate(zip(part.problem.parameters, part.sights, strict=True)):
            interval = None
            if part.posterior is not None and index in part.kept:
                ends = part.posterior.interval(part.kept.index(index))
                interval = (parameter.at(ends[0]), parameter.at(ends[1]))
            recovered.append(Recovered(parameter.name, sight.verdict, truth[parameter.name], interval))
    # Parameters that no scenario uses at all are in no part; there are none in a study of one mapping.
    return recovered, found


def write_synthetic(  # noqa: PLR0917 - all of one stage
    study: Study, mapping: Mapping, profile: JsonObject, folder: Path, evaluator: Evaluator, seed: int
) -> dict[str, float]:
    """Writes datasets that the simulator made.

    Returns:
        The true values by name, in base units.
    """
    stream = np.random.default_rng(seed)
    documents = [_dataset(study, name, extra) for name, extra in study.workloads]
    for document in documents:  # points need some value before they can be mapped
        _write(folder, document)
    datasets = read_datasets([folder])
    points = [(dataset, point) for dataset in datasets for point in dataset.points]
    problem = Builder(profile, [mapping], messages=2 * study.messages, seed=1_000_000 + seed).build(points)
    place = stream.uniform(_MARGIN, 1 - _MARGIN, problem.dimensions)
    true = problem.simulate(evaluator, [place], _TRUTH_REPLICATIONS)[0]
    rates = {
        (target.dataset.name, target.point.parameters["pairs"]): float(rate)
        for target, rate in zip(problem.targets, true, strict=True)
    }
    for document in documents:
        for entry in document["points"]:
            pairs = entry["parameters"]["pairs"]
            entry["message_rate"] = _noisy(rates[document["dataset"], pairs], stream)
        _write(folder, document)
    return problem.values(place)


def _dataset(study: Study, name: str, extra: dict[str, object]) -> JsonObject:
    to_be_simulated = {"samples": [1.0], "unit": "msg/s"}  # the rates of a trial take its place
    return {
        "dataset": f"synthetic_{name}",
        "format": FORMAT,
        "machine": {"id": "synthetic", "cpu": "the simulator"},
        "library": {"name": "synthetic", "key": "synthetic", "options": {}},
        "transport": "synthetic",
        "workload": {
            "kind": "multirate",
            "window": study.window,
            "iterations": 100_000,
            "message_size": "0 B",
            **extra,
        },
        "points": [{"parameters": {"pairs": pairs}, "message_rate": to_be_simulated} for pairs in study.pairs],
    }


def _write(folder: Path, document: JsonObject) -> None:
    (folder / f"{document['dataset']}.json").write_text(json.dumps(document), encoding="utf-8")


def _noisy(log_rate: float, stream: np.random.Generator) -> JsonObject:
    samples: list[float] = []
    launches: list[int] = []
    for launch in range(LAUNCHES):
        luck = stream.normal(0, LAUNCH_SPREAD)
        for _ in range(SAMPLES):
            samples.append(math.exp(log_rate + luck + stream.normal(0, SAMPLE_SPREAD)))
            launches.append(launch)
    return {"samples": samples, "unit": "msg/s", "launch": launches, "clean": [True] * len(samples)}


def coverage(trials: Sequence[Sequence[Recovered]]) -> JsonObject:
    """What came of all trials."""
    known = [one for trial in trials for one in trial if one.is_known]
    names = list(dict.fromkeys(one.name for trial in trials for one in trial))
    return {
        "trials": len(trials),
        "known_parameters": len(known),
        "covered": sum(one.is_covered for one in known),
        "coverage": round(sum(one.is_covered for one in known) / len(known), 3) if known else None,
        "trials_with_all_covered": sum(
            any(one.is_known for one in trial) and all(one.is_covered for one in trial if one.is_known)
            for trial in trials
        ),
        "by_parameter": {
            name: {
                "verdicts": {
                    str(verdict): count
                    for verdict in Verdict
                    if (count := sum(o.verdict is verdict for t in trials for o in t if o.name == name))
                },
                "covered_when_known": sum(o.is_covered for t in trials for o in t if o.name == name and o.is_known),
            }
            for name in names
        },
    }
