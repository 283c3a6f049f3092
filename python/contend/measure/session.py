"""A campaign's course: which cell is next, launching it, keeping what came out, and when to stop.

Launches go in rounds: every cell has its first launch before any has its second, in a random order that seed and round
decide; launches that gave nothing are made good for. So a drift of the machine spreads over all cells, an ended budget
leaves all cells about equally well known, and a resumed campaign goes on as if it had not stopped.
"""

from __future__ import annotations

import random
import shlex
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol

from contend.common.errors import ContendError
from contend.common.paths import version
from contend.datasets.spread import Spread, spread
from contend.measure.load import Monitor
from contend.measure.plan import Cell, plan_hash
from contend.measure.runner import Outcome, Record, launch
from contend.measure.transports import UnsupportedError
from contend.measure.workshop import NOT_HAD, without_machine_paths

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from contend.common.jsontypes import JsonObject
    from contend.measure.campaign import Campaign
    from contend.measure.journal import Journal
    from contend.measure.runner import Job
    from contend.measure.workshop import Workshop

_START_S = 1.0
FORMAT = 1
# A cell with many marked launches gets more than its maximum, but not for ever.
_MARKED_ALLOWANCE = 2


class Watcher(Protocol):
    """Told how a campaign goes."""

    def show(self, done: int, remaining: int, elapsed_s: float, left_s: float, now: str) -> None:
        """After each launch and before the first: counts of launches, times, and what is launched next."""


@dataclass
class Course:
    """What is known of a cell."""

    cell: Cell
    entries: list[JsonObject] = field(default_factory=list)

    @property
    def sampled(self) -> list[JsonObject]:
        """Launches that gave samples."""
        return [entry for entry in self.entries if entry["outcome"] == Outcome.ok]

    @property
    def clean(self) -> list[JsonObject]:
        """Launches that gave samples nobody disturbed."""
        return [entry for entry in self.sampled if not entry["marks"]]

    @property
    def round(self) -> int:
        """The round that the next launch belongs to: what gave no clean sample counts half.

        So a cell that often crashes or is disturbed is not the least known one when the budget ends, and one that
        always does takes no more than twice its share of it.
        """
        clean = len(self.clean)
        return clean + (len(self.entries) - clean) // 2

    def is_finished(self) -> bool:
        """Whether another launch is not worth it."""
        effort = self.cell.effort
        if len(self.entries) - len(self.sampled) >= effort.give_up_after and not self.sampled:
            return True
        if len(self.entries) >= effort.launches_max * _MARKED_ALLOWANCE:
            return True
        counted = len(self.clean) + len(self.entries) - len(self.sampled)
        if counted < effort.launches:
            return False
        return counted >= effort.launches_max or self.is_precise()

    def is_precise(self) -> bool:
        """Whether the median of every point is known as well as wanted."""
        points = spreads(self.cell, self.clean)
        wanted = self.cell.effort.precision_pct / 100
        return bool(points) and all(p.precision is not None and p.precision <= wanted for p in points)

    def expected_s(self) -> float:
        """How long the next launch will take, by the last ones or by what is asked."""
        if self.entries:
            return float(max(entry["wall_s"] for entry in self.entries[-3:]))
        return self.cell.effort.repetitions * self.cell.effort.target_s + _START_S

    def launches_left(self) -> int:
        """How many launches the cell surely still wants."""
        return 0 if self.is_finished() else max(1, self.cell.effort.launches - len(self.entries))


def spreads(cell: Cell, entries: Sequence[JsonObject]) -> list[Spread]:
    """Spread of the benchmark's metric at each point that a cell's launches have."""
    groups: dict[str, list[list[float]]] = {}
    for entry in entries:
        for point in entry["document"]["points"]:
            metric = point.get(cell.benchmark.metric)
            if metric is not None:
                groups.setdefault(str(sorted(point["parameters"].items())), []).append(metric["samples"])
    return [found for group in groups.values() if (found := spread(group)) is not None]


@dataclass(frozen=True)
class Ending:
    """How a campaign ended."""

    courses: list[Course]
    elapsed_s: float
    is_complete: bool
    skipped: dict[str, str]

    def outcomes(self) -> Counter[str]:
        """How many launches ended how."""
        return Counter(str(entry["outcome"]) for course in self.courses for entry in course.entries)


def header(campaign: Campaign, cells: list[Cell], machine: JsonObject, sources: str) -> JsonObject:
    """The first entry of a journal: what a campaign that goes on there must have in common with it.

    Args:
        campaign: What is measured.
        cells: Its cells.
        machine: The fingerprint of the machine.
        sources: The hash of the benchmark programs' sources.
    """
    samples = {
        cell.experiment.name: {"repetitions": cell.effort.repetitions, "target_s": cell.effort.target_s}
        for cell in cells
    }
    return {
        "type": "campaign", "format": FORMAT, "contend_version": version(), "campaign": campaign.name,
        "seed": campaign.seed, "plan": plan_hash(cells), "samples": samples, "sources": sources, "machine": machine,
        "started": _now(),
    }  # fmt: skip


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


_OTHERWISE = "--fresh starts over, --out DIR uses another folder"


def check_header(found: JsonObject, wanted: JsonObject) -> None:
    """Whether a journal belongs to this campaign on this machine.

    Launches of other programs, or with other numbers or lengths of samples, are not the same measurement.

    Raises:
        ContendError: It does not; the message says what differs.
    """
    for name, what in (("format", "format"), ("seed", "seed"), ("sources", "source of the benchmark programs")):
        _check_same(what, found.get(name), wanted[name])
    for experiment, samples in wanted["samples"].items():
        earlier = found.get("samples", {}).get(experiment, {})
        for name, value in samples.items() if earlier else ():
            _check_same(f"{name} of {experiment}", earlier.get(name), value)
    _check_same("plan", found.get("plan"), wanted["plan"])
    if found.get("machine", {}).get("id") != wanted["machine"]["id"]:
        raise ContendError(f"the journal there is of another machine; {_OTHERWISE}")


def _check_same(what: str, there: object, here: object) -> None:
    if there != here:
        raise ContendError(
            f"the journal there is of another campaign ({what} differs: {there} there, {here} now); {_OTHERWISE}"
        )


def _library_text(record: JsonObject | None) -> str:
    """A library as a message names it."""
    words = [str(record[name]) for name in ("name", "version", "device") if record.get(name)] if record else []
    return " ".join(words) + (f" ({record['how_obtained']})" if record else "not known")


class Session:
    """Runs a campaign with a journal."""

    def __init__(
        self,
        campaign: Campaign,
        cells: list[Cell],
        workshop: Workshop,
        journal: Journal,
        *,
        started: float,
        start: Callable[[Job], Record] = launch,
    ) -> None:
        """Takes up a campaign where its journal ends.

        Args:
            campaign: What is measured.
            cells: Its cells.
            workshop: Makes jobs of them.
            journal: Has at least the header.
            started: Monotonic time when the command began: setting up counts as well.
            start: Launches a job.
        """
        self._campaign = campaign
        self._workshop = workshop
        self._journal = journal
        self._started = started
        self._start = start
        self._courses = {cell.key: Course(cell) for cell in cells}
        self._before_s = 0.0
        self._skipped: dict[str, str] = {}
        self._libraries: dict[str, JsonObject] = {}
        for entry in journal.entries[1:]:
            if entry["type"] == "launch" and entry["cell"] in self._courses:
                self._courses[entry["cell"]].entries.append(entry)
                self._before_s = entry["elapsed_s"]
            elif entry["type"] == "library":
                self._libraries[entry["key"]] = entry["library"]

    def elapsed_s(self) -> float:
        """Time of the campaign, over all its sessions."""
        return self._before_s + time.monotonic() - self._started

    def run(self, watcher: Watcher) -> Ending:
        """Launches until every cell is finished or the budget is used up.

        Raises:
            ContendError: A library is not the one that earlier launches are of.
        """
        for key in dict.fromkeys(course.cell.library for course in self._courses.values()):
            self._record_library(key)
        monitor = Monitor()
        is_complete = True
        while (course := self._next()) is not None:
            if self.elapsed_s() + course.expected_s() > self._campaign.budget_s:
                is_complete = False
                break
            self._show(watcher, course.cell.key)
            self._launch(course, monitor)
        self._show(watcher, "")
        return Ending(list(self._courses.values()), self.elapsed_s(), is_complete, self._skipped)

    def _record_library(self, key: str) -> None:
        """Keeps in the journal what a library is; where it has launches, it must be what it was."""
        earlier, now = self._libraries.get(key), self._workshop.library(key)
        if earlier == now:
            return
        if any(course.entries for course in self._courses.values() if course.cell.library == key):
            if now["how_obtained"] == NOT_HAD:
                return  # nothing is launched with it
            raise ContendError(
                f"launches in the journal there are of another library ({key} differs: {_library_text(earlier)} "
                f"there, {_library_text(now)} now); {_OTHERWISE}"
            )
        self._journal.append({"type": "library", "key": key, "library": now})

    def _next(self) -> Course | None:
        """The next cell: of the lowest round, the first in that round's order that is worth a launch."""
        waiting = [c for c in self._courses.values() if c.cell.key not in self._skipped and not c.is_finished()]
        waiting = [course for course in waiting if not self._is_hopeless(course)]
        if not waiting:
            return None
        lowest = min(course.round for course in waiting)
        order = sorted(self._courses)
        random.Random(f"{self._campaign.seed}/{lowest}").shuffle(order)  # noqa: S311 - an order, no secret
        place = {key: index for index, key in enumerate(order)}
        return min(
            (course for course in waiting if course.round == lowest),
            key=lambda course: (len(course.entries), place[course.cell.key]),
        )

    def _is_hopeless(self, course: Course) -> bool:
        """Whether a library fails to start at all on this transport with these options."""
        alike = [
            entry
            for other in self._courses.values()
            if (other.cell.library, other.cell.transport) == (course.cell.library, course.cell.transport)
            and other.cell.options == course.cell.options
            and other.cell.benchmark.name == course.cell.benchmark.name
            for entry in other.entries
        ]
        refused = [entry for entry in alike if entry["outcome"] in {Outcome.failed, Outcome.unsupported}]
        if len(refused) >= max(2, course.cell.effort.give_up_after) and len(refused) == len(alike):
            self._skipped[course.cell.key] = refused[-1]["detail"]
            return True
        return False

    def _launch(self, course: Course, monitor: Monitor) -> None:
        cell = course.cell
        started = _now()
        try:
            job = self._workshop.job(cell)
        except UnsupportedError as error:
            self._skipped[cell.key] = without_machine_paths(str(error))
            return
        monitor.start()
        record = self._start(job)
        load = monitor.stop()
        marks = load.marks(min([load.reference_s, *self._references()])) if record.outcome is Outcome.ok else []
        words = [f"{name}={value}" for name, value in sorted(job.environment.items())] + list(job.command)
        entry: dict[str, Any] = {
            "type": "launch", "cell": cell.key, "order": len(self._journal.entries), "started": started,
            "command": without_machine_paths(shlex.join(words)), "outcome": str(record.outcome),
            "detail": without_machine_paths(record.detail), "exit_code": record.exit_code,
            "wall_s": round(record.wall_s, 4), "usage": dict(record.usage), "load": asdict(load), "marks": marks,
            "document": record.document, "elapsed_s": round(self.elapsed_s(), 3),
        }  # fmt: skip
        if record.outcome is not Outcome.ok:
            entry["stderr"] = without_machine_paths(record.stderr)
        self._journal.append(entry)
        course.entries.append(entry)

    def _references(self) -> Iterable[float]:
        for course in self._courses.values():
            for entry in course.entries:
                yield entry["load"]["reference_s"]

    def _show(self, watcher: Watcher, now: str) -> None:
        live = [course for course in self._courses.values() if course.cell.key not in self._skipped]
        left = [(course, course.launches_left()) for course in live]
        elapsed = self.elapsed_s()
        left_s = min(sum(n * c.expected_s() for c, n in left), max(0.0, self._campaign.budget_s - elapsed))
        done = sum(len(course.entries) for course in live)
        watcher.show(done, sum(n for _, n in left), elapsed, left_s, now)
