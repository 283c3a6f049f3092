"""When a cell of a campaign has been launched often enough, and when a campaign's time is over."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from contend.measure.journal import Journal
from contend.measure.load import Load
from contend.measure.plan import expand
from contend.measure.runner import Job, Outcome, Record
from contend.measure.session import Course, Ending, Session, header
from measuring import MACHINE, SOURCES, FakeWorkshop, Silent, campaign

if TYPE_CHECKING:
    from pathlib import Path

CALM, WILD = (100.0, 100.0, 101.0, 101.0), (10.0, 50.0, 100.0, 300.0)


def course(*entries: dict[str, Any], **effort: Any) -> Course:
    """A cell with these launches, of which three to six are wanted, with a median known to 2 %."""
    wanted = campaign([{"name": "a"}], effort={"launches_max": 6, "precision_pct": 2, **effort})
    (cell,) = expand(wanted)
    return Course(cell, list(entries))


def launched(
    *groups: tuple[float, ...], outcome: Outcome = Outcome.ok, marks: tuple[str, ...] = (), wall_s: float = 0.5
) -> dict[str, Any]:
    """A launch with samples of as many points."""
    points = [
        {"parameters": {"pairs": pairs}, "message_rate": {"samples": list(samples), "unit": "msg/s"}}
        for pairs, samples in enumerate(groups, 1)
    ]
    return {"outcome": outcome, "marks": list(marks), "wall_s": wall_s, "document": {"points": points}}


CRASHED = launched(outcome=Outcome.crashed)
DISTURBED = launched(WILD, marks=("steal",))


def test_a_cell_ends_when_its_median_is_known_and_not_before() -> None:
    assert not course(*[launched(CALM)] * 2).is_finished(), "three are wanted"
    assert course(*[launched(CALM)] * 3).is_finished()
    assert not course(*[launched(WILD)] * 5).is_finished()
    assert course(*[launched(WILD)] * 6).is_finished(), "the most there may be"


def test_every_point_of_a_cell_has_to_be_known() -> None:
    assert course(*[launched(CALM, CALM)] * 3).is_precise()
    assert not course(*[launched(CALM, WILD)] * 3).is_precise()
    assert not course(*[launched((100.0,))] * 3).is_precise(), "three samples tell no interval"
    assert not course(*[CRASHED] * 3).is_precise(), "nothing is known"


def test_precision_is_wanted_in_percent() -> None:
    # Resampled, a median of these is 96 or 104 more than one time in forty: 4 of 100.
    launches = [launched((96.0,) * 4), launched((100.0,) * 4), launched((104.0,) * 4)]
    assert course(*launches, precision_pct=4.1).is_precise()
    assert not course(*launches, precision_pct=3.9).is_precise()


def test_disturbed_launches_say_nothing_of_the_spread_and_do_not_count() -> None:
    assert course(*[launched(CALM)] * 3, *[DISTURBED] * 3).is_finished()
    assert not course(*[launched(CALM)] * 2, *[DISTURBED] * 9).is_finished()
    assert course(*[launched(CALM)] * 2, *[DISTURBED] * 10).is_finished(), "twice the most"


def test_a_cell_without_a_sample_is_given_up_and_one_with_a_sample_is_not() -> None:
    assert not course(CRASHED).is_finished()
    assert course(CRASHED, CRASHED).is_finished()
    assert not course(*[CRASHED] * 3, give_up_after=4).is_finished()
    assert not course(launched(WILD), CRASHED, CRASHED).is_finished()
    assert course(launched(WILD), *[CRASHED] * 5).is_finished(), "crashes are results, too"


def test_launches_without_a_clean_sample_count_half_in_the_rounds() -> None:
    assert course().round == 0
    assert course(launched(CALM), CRASHED).round == 1
    assert course(launched(CALM), CRASHED, DISTURBED, CRASHED).round == 2


def test_the_next_launch_is_expected_to_take_what_the_slowest_of_the_last_three_took() -> None:
    assert course().expected_s() == 4 * 0.15 + 1.0, "repetitions, and a second for the start"
    assert course(*[launched(CALM, wall_s=seconds) for seconds in (9.0, 1.0, 3.0, 2.0)]).expected_s() == 3.0


def test_a_cell_wants_a_launch_more_as_long_as_it_is_not_finished() -> None:
    assert course().launches_left() == 3
    assert course(launched(WILD)).launches_left() == 2
    assert course(*[launched(WILD)] * 4).launches_left() == 1
    assert course(*[launched(CALM)] * 3).launches_left() == 0


class Sessions:
    """Sessions of one campaign whose launches take no time; `outcomes` has what becomes of those of one experiment."""

    def __init__(self, path: Path, experiments: list[dict[str, Any]], **effort: Any) -> None:
        self._campaign = campaign(experiments, effort=effort)
        self._journal = path / "journal.jsonl"
        self.outcomes: dict[str, Outcome] = {}
        self.watcher = Silent()

    def run(self, began_s_ago: float = 0.0) -> Ending:
        cells = expand(self._campaign)
        with Journal(self._journal) as journal:
            if not journal.entries:
                journal.append(header(self._campaign, cells, MACHINE, SOURCES))
            started = time.monotonic() - began_s_ago
            session = Session(self._campaign, cells, FakeWorkshop(), journal, started=started, start=self._start)
            return session.run(self.watcher)

    def _start(self, job: Job) -> Record:
        words = dict(word.removeprefix("--").split("=", 1) for word in job.command[2:])
        outcome = self.outcomes.get(words.get("pairs", ""), Outcome.ok)
        document = {"points": [{"parameters": {}, "message_rate": {"samples": [1.0, 1.0, 1.0, 1.0], "unit": "msg/s"}}]}
        return Record(outcome, str(outcome), 0, 0.0, {}, document if outcome is Outcome.ok else None, "")


@pytest.fixture(autouse=True)
def _nothing_besides(monkeypatch: pytest.MonkeyPatch) -> None:
    """No snapshots of a busy machine."""
    quiet = Load(0.0, 0.0, 0.0, 1e-3, 0)
    monkeypatch.setattr("contend.measure.load.Monitor.start", lambda self: None)
    monkeypatch.setattr("contend.measure.load.Monitor.stop", lambda self: quiet)


def counts(ending: Ending) -> dict[str, int]:
    return {course.cell.experiment.name: len(course.entries) for course in ending.courses}


def test_no_launch_begins_that_is_not_expected_to_end_within_the_budget(tmp_path: Path) -> None:
    one = Sessions(tmp_path, [{"name": "a"}], target_s=10.0)  # 41 s of 60
    ending = one.run(began_s_ago=30.0)
    assert (counts(ending), ending.is_complete) == ({"a": 0}, False)
    assert one.watcher.shown[-1][3] < 31.0, "no more time is left than the budget has"
    ending = one.run(began_s_ago=10.0)
    assert (counts(ending), ending.is_complete) == ({"a": 3}, True)


def test_the_time_of_earlier_sessions_counts(tmp_path: Path) -> None:
    assert Sessions(tmp_path, [{"name": "a"}]).run(began_s_ago=30.0).is_complete
    more = Sessions(tmp_path, [{"name": "a"}], launches=4, launches_max=4)
    ending = more.run(began_s_ago=31.0)
    assert (counts(ending), ending.is_complete) == ({"a": 3}, False)
    assert ending.elapsed_s >= 61.0
    assert counts(more.run(began_s_ago=20.0)) == {"a": 4}


def test_a_library_is_given_up_for_these_options_and_this_program_only(tmp_path: Path) -> None:
    bad = {"workload": {"pairs": 2}}
    one = Sessions(
        tmp_path,
        [
            {"name": "bad", **bad}, {"name": "worse", **bad}, {"name": "worst", **bad},
            {"name": "options", "options": {"spc": True}},
            {"name": "transport", "transports": ["tcp"]},
            {"name": "library", "libraries": ["mpich-5"]},
        ],
        launches=1, launches_max=1,
    )  # fmt: skip
    one.outcomes["2"] = Outcome.failed
    ending = one.run()
    launches = counts(ending)
    assert sum(launches.pop(name) for name in ("bad", "worse", "worst")) == 2
    assert launches == {"options": 1, "transport": 1, "library": 1}
    assert list(ending.skipped.values()) == ["failed"] * len(ending.skipped)
