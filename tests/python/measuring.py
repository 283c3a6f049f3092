"""Parts for the tests of `contend measure`: campaigns and a workshop around the fake benchmark."""

import sys
import time
from pathlib import Path
from typing import Any

from contend.measure.campaign import Campaign, shape_campaign
from contend.measure.journal import Journal
from contend.measure.plan import Cell, expand
from contend.measure.runner import Job, Network
from contend.measure.session import Ending, Session, header
from contend.measure.transports import UnsupportedError, needs_veth
from contend.measure.workshop import NOT_HAD

FAKE = Path(__file__).with_name("fake_benchmark.py")
MACHINE = {"id": "0123456789ab", "cpu": "fake"}
SOURCES = "0" * 16


def campaign(experiments: list[dict[str, Any]], **changes: Any) -> Campaign:
    base = {"benchmark": "multirate", "libraries": ["openmpi-5"], "transports": ["shm"]}
    effort = {"launches": 3, "launches_max": 3, "repetitions": 4, "timeout_s": 5, **changes.pop("effort", {})}
    document = {"name": "test", "description": "", "budget_s": 60, "effort": effort,
                "experiments": [base | experiment for experiment in experiments], **changes}  # fmt: skip
    return shape_campaign(document, "test")  # the fake benchmark has options of its own


class FakeWorkshop:
    """Jobs of the fake benchmark; the workload's `behave` tells it what to do."""

    def __init__(self, version: str = "1") -> None:
        self.version = version

    def job(self, cell: Cell) -> Job:
        if not self.version:
            raise UnsupportedError("the library is not there")
        if cell.workload.get("behave") == "impossible":
            raise UnsupportedError("there is no such transport")
        words = [f"--{name}={value}" for name, value in cell.workload.items()]
        command = (sys.executable, str(FAKE), *words, f"--repetitions={cell.effort.repetitions}")
        return Job(command, {}, Network(veth=needs_veth(cell.transport)), cell.effort.timeout_s)

    def library(self, key: str) -> dict[str, Any]:
        if not self.version:
            return {"name": key, "version": "", "how_obtained": NOT_HAD}
        return {"name": "fake", "version": self.version, "how_obtained": key}


class Silent:
    """A watcher that keeps what it was told."""

    def __init__(self) -> None:
        self.shown: list[tuple[int, int, float, float, str]] = []

    def show(self, done: int, remaining: int, elapsed_s: float, left_s: float, now: str) -> None:
        self.shown.append((done, remaining, elapsed_s, left_s, now))


def measure(
    wanted: Campaign, path: Path, watcher: Silent | None = None, library: str = "1"
) -> tuple[Ending, list[dict[str, Any]]]:
    """Measures with a version of the fake library; none: it is not there."""
    cells = expand(wanted)
    with Journal(path) as journal:
        if not journal.entries:
            journal.append(header(wanted, cells, MACHINE, SOURCES))
        session = Session(wanted, cells, FakeWorkshop(library), journal, started=time.monotonic())
        return session.run(watcher or Silent()), journal.entries
