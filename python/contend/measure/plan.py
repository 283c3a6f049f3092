"""The plan: a campaign expanded into cells. A cell is one combination of everything; it is launched several times."""

from __future__ import annotations

import hashlib
import itertools
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from contend.common.errors import InputError
from contend.common.misfits import shown
from contend.common.nearest import proposal
from contend.datasets.programs import BENCHMARKS, Benchmark
from contend.measure.command_lines import ranks
from contend.measure.libraries import NO_LIBRARY, known_keys
from contend.measure.transports import TRANSPORTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from contend.measure.campaign import Campaign, Effort, Experiment

NO_TRANSPORT = "none"
_OPTION = "options."


@dataclass(frozen=True)
class Cell:
    """What one launch measures.

    `parameters` are the values of the experiment's axes, `workload` all options of the program, `options` those of the
    library; both have the axes' values in them.
    """

    experiment: Experiment
    library: str
    transport: str
    parameters: dict[str, Any]
    workload: dict[str, Any]
    options: dict[str, Any]
    effort: Effort

    @property
    def benchmark(self) -> Benchmark:
        """The program."""
        return BENCHMARKS[self.experiment.benchmark]

    @property
    def dataset(self) -> str:
        """Name of the dataset that the cell belongs to."""
        if not self.benchmark.needs_mpi:
            return self.experiment.name
        return f"{self.library}_{self.transport}_{self.experiment.name}"

    @property
    def key(self) -> str:
        """Names the cell in the journal, across versions of the plan."""
        values = ",".join(f"{name}={_text(value)}" for name, value in self.parameters.items())
        return f"{self.dataset}[{values}]"

    @property
    def identity(self) -> str:
        """Hash over what is measured: a journal of another plan does not fit. The header has how long and how often."""
        content = [self.key, self.benchmark.name, self.workload, self.options, self.experiment.netem]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


def _text(value: object) -> str:
    return json.dumps(value) if isinstance(value, bool | list) else str(value)


def expand(campaign: Campaign, libraries: set[str] | None = None, transports: set[str] | None = None) -> list[Cell]:
    """All cells of a campaign.

    Args:
        campaign: What to measure.
        libraries: Only these, if given (programs without MPI stay).
        transports: Only these, if given.

    Raises:
        InputError: A cell makes no sense, or none is left.
    """
    for what, chosen, known in (("library", libraries, known_keys()), ("transport", transports, TRANSPORTS)):
        for name in sorted(chosen or ()):
            if name not in known:
                raise InputError(f"--{what}: found {shown(name)}; allowed: {', '.join(known)}{proposal(name, known)}")
    cells = [
        cell
        for experiment in campaign.experiments
        for cell in _cells(campaign, experiment)
        if (libraries is None or cell.library in libraries or not cell.benchmark.needs_mpi)
        and (transports is None or cell.transport in transports or not cell.benchmark.needs_mpi)
    ]
    if not cells:
        raise InputError("nothing to measure: no experiment of the campaign has these libraries and transports")
    return cells


def _cells(campaign: Campaign, experiment: Experiment) -> Iterator[Cell]:
    effort = campaign.effort_of(experiment)
    hosts = list(itertools.product(experiment.libraries, experiment.transports)) or [(NO_LIBRARY.key, NO_TRANSPORT)]
    points = [
        dict(zip(experiment.sweep, values, strict=True)) for values in itertools.product(*experiment.sweep.values())
    ]
    for (library, transport), point in itertools.product(hosts, points):
        workload = dict(experiment.workload) | {k: v for k, v in point.items() if not k.startswith(_OPTION)}
        options = dict(experiment.options) | {
            k.removeprefix(_OPTION): v for k, v in point.items() if k.startswith(_OPTION)
        }
        try:
            ranks(BENCHMARKS[experiment.benchmark], workload)
        except ValueError as error:
            raise InputError(f"{experiment.name}: {error}") from error
        parameters = {k.removeprefix(_OPTION): v for k, v in point.items()}
        yield Cell(experiment, library, transport, parameters, workload, options, effort)


def plan_hash(cells: list[Cell]) -> str:
    """A hash over all cells, whatever their order."""
    return hashlib.sha256("\n".join(sorted(cell.identity for cell in cells)).encode()).hexdigest()[:16]
