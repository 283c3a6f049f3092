"""From a cell to a job: the libraries installed, the programs built, the command line put together."""

from __future__ import annotations

import os
import re
from dataclasses import asdict
from typing import TYPE_CHECKING, Protocol

from contend.common.errors import ContendError
from contend.common.paths import cache_directory
from contend.measure.building import build, source_hash
from contend.measure.command_lines import program_words, ranks
from contend.measure.libraries import NO_LIBRARY, Family, Installation, obtain
from contend.measure.runner import Job, Network
from contend.measure.transports import (
    FABRIC,
    TRANSPORTS,
    UnsupportedError,
    command,
    fabric_command,
    needs_veth,
    recipe_for,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from contend.common.jsontypes import JsonObject
    from contend.measure.plan import Cell


# How a library that is not there was obtained.
NOT_HAD = "could not be had"
_NETWORKS = frozenset(name for name in TRANSPORTS if not name.endswith("shm") and name != FABRIC)


class Workshop(Protocol):
    """Makes jobs of cells."""

    def job(self, cell: Cell) -> Job:
        """The job of a cell.

        Raises:
            UnsupportedError: It cannot be measured here; the message says why.
        """

    def library(self, key: str) -> JsonObject:
        """What the record says about a library; `how_obtained` is NOT_HAD where it is not there."""


class NativeWorkshop:
    """Installs real libraries and builds the programs of validation/native."""

    def __init__(self, cells: Iterable[Cell], say: Callable[[str], None], hosts: tuple[str, str] | None = None) -> None:
        """Prepares everything that the cells need; a library that cannot be had makes its cells unsupported.

        Args:
            cells: What will be measured.
            say: Told what takes time.
            hosts: For the transport `fabric`.
        """
        self._hosts = hosts
        self._installations: dict[str, Installation] = {}
        self._programs: dict[tuple[str, str], Path] = {}
        self._problems: dict[tuple[str, str], str] = {}
        for key, program in sorted({(cell.library, cell.benchmark.program) for cell in cells}):
            try:
                if key not in self._installations:
                    self._installations[key] = NO_LIBRARY if key == NO_LIBRARY.key else obtain(key, say)
                self._programs[key, program] = build(self._installations[key], program, say)
            except ContendError as error:
                self._problems[key, program] = str(error).splitlines()[0]
                say(f"left out: {error}")
        self.source_hash = source_hash()

    def job(self, cell: Cell) -> Job:
        """See Workshop."""
        effort = cell.effort
        if problem := self._problems.get((cell.library, cell.benchmark.program)):
            raise UnsupportedError(problem)
        built = self._programs[cell.library, cell.benchmark.program]
        program = program_words(built, cell.benchmark, cell.workload, effort.repetitions, effort.target_s)
        if not cell.benchmark.needs_mpi:
            return Job(tuple(program), timeout_s=effort.timeout_s)
        installation = self._installations[cell.library]
        if cell.benchmark.name == "rma" and installation.family is Family.open_mpi and cell.transport in _NETWORKS:
            raise UnsupportedError("Open MPI's one-sided code reaches ranks of its own host by shared memory")
        recipe = recipe_for(installation, cell.transport, cell.options)
        if cell.transport == FABRIC:
            if self._hosts is None:
                raise UnsupportedError("no two hosts: name them with --hosts A,B, or run in a SLURM allocation of two")
            sides = ranks(cell.benchmark, cell.workload)
            far = fabric_command(installation, recipe, sides, program, self._hosts)
            return Job(tuple(far), recipe.environment, timeout_s=effort.timeout_s, in_namespaces=False)
        veth = needs_veth(cell.transport)
        words = command(installation, recipe, ranks(cell.benchmark, cell.workload), program, far_host=veth)
        netem = tuple(cell.experiment.netem.split())
        return Job(tuple(words), recipe.environment, Network(veth, netem), effort.timeout_s)

    def library(self, key: str) -> JsonObject:
        """See Workshop."""
        found = self._installations.get(key)
        if found is None:
            return {"name": key, "version": "", "how_obtained": NOT_HAD}
        record = asdict(found)
        kept = {name: record[name] for name in ("key", "version", "device") if record[name]}
        return {"name": str(found.family), **kept, "how_obtained": without_machine_paths(found.obtained)}


def without_machine_paths(text: str) -> str:
    """A text of a record with the cache and home folders under names, so that it fits any machine."""
    text = text.replace(str(cache_directory()), "$CONTEND_CACHE")
    home = os.path.expanduser("~")  # noqa: PTH111 - may be no path at all
    return re.sub(re.escape(home) + r"(?=/)", "$HOME", text) if len(home) > 1 else text
