"""Measured datasets, as `contend measure` and `contend import` write them, for calibration and validation."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from contend.datasets.programs import BENCHMARKS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import polars as pl

    from contend.common.jsontypes import JsonObject, Scalar
    from contend.datasets.launch_lengths import LaunchLengths
    from contend.datasets.processor_use import ProcessorUse
    from contend.datasets.spread import Spread

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
    launch_medians: tuple[float, ...] = ()
    """Of each launch's clean samples, in `unit`; none where the dataset does not say which launch gave a sample."""
    use: Mapping[str, ProcessorUse] = field(default_factory=dict)
    """What the operating system counted, by side; empty where the dataset does not say it."""
    lengths: LaunchLengths | None = None
    """How many iterations its launches made; None where the dataset does not say it."""

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
        from contend.results.frames import frame_of, plain_parameters

        parameters = plain_parameters([point.parameters for point in self.points])
        names = dict.fromkeys(name for plain in parameters for name in plain)
        return frame_of(
            {name: plain.get(name) for name in names} | _summary(point)
            for plain, point in zip(parameters, self.points, strict=True)
        )
