"""Statements of a study as checks: they can fail, and say so."""

import json
import math
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING, Any

import pytest
from scipy import stats

from contend.claims import (
    Judged,
    about,
    at_least,
    at_most,
    between,
    claim,
    jackknife,
    judge,
    load_claims,
    predict,
)
from contend.cli import claims as command
from contend.cli import main
from contend.errors import InputError, InterruptedRunError
from contend.evidence import Evidence
from contend.runner import CoreEngine
from fakes import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Callable

    from contend.scenario import ResolvedScenario
    from fakes import FakeCore

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def evidence(core: "FakeCore", scenario: Path) -> Evidence:
    del core
    return Evidence(scenario.parent, CoreEngine(), jobs=2, cache=scenario.parent / "cache")


def made(expected: Any, value: Any, **options: Any) -> Any:
    return claim("x", source="s", statement="t", expected=expected, **options)(
        lambda e: value(e) if callable(value) else value
    )


def test_ranges() -> None:
    assert 1.0 in between(1, 2, "x")
    assert 2.5 not in between(1, 2, "x")
    assert math.nan not in at_least(0, "")  # noqa: PLW0177
    assert math.inf not in at_least(0, "")
    assert 1e9 in at_least(5, "")
    assert 6 not in at_most(5, "")
    assert (str(between(1.6, 2.4, "x")), str(at_least(8, "x")), str(at_most(1, ""))) == ("1.6..2.4 x", ">= 8 x", "<= 1")
    assert str(about(100, 0.1, "msg/s")) == "90..110 msg/s"
    with pytest.raises(ValueError, match="empty"):
        between(2, 2, "x")


def test_a_number_inside_holds_and_one_outside_misses(evidence: Evidence) -> None:
    def rate(e: Evidence) -> float:
        return e.rate("small", pairs=1, lock="mutex")

    truth = 1e5 / (1 + 1 / 8) * 1.01
    inside, outside = judge([made(about(truth, 0.01, ""), rate), made(at_least(2 * truth, ""), rate)], evidence)
    assert inside.predicted == pytest.approx(truth)
    assert (inside.verdict, outside.verdict) == ("holds", "misses")
    assert outside.to_json()["verdict"] == "misses"
    assert inside.scenarios == ("small",)


def test_the_interval_of_a_mean_is_students(evidence: Evidence) -> None:
    value, interval, _ = jackknife(lambda: evidence.rate("small", pairs=2, lock="mcs"), evidence)
    samples = [1e5 * 2 / (1 + 2 / 8) * (1 + 0.01 * replication) * 1.3 for replication in range(3)]
    assert value == pytest.approx(sum(samples) / 3)
    expected = stats.ttest_1samp(samples, 0).confidence_interval(0.95)
    assert interval == (pytest.approx(expected.low), pytest.approx(expected.high))


def test_an_interval_across_the_limit_is_not_clear(evidence: Evidence) -> None:
    def rate(e: Evidence) -> float:
        return e.rate("small", pairs=1, lock="mutex")

    truth = 1e5 / (1 + 1 / 8) * 1.01
    tight, wide = judge([made(at_least(truth * 0.999, ""), rate), made(at_least(truth * 0.5, ""), rate)], evidence)
    assert (tight.verdict, tight.is_clear) == ("holds", False)
    assert (wide.verdict, wide.is_clear) == ("holds", True)


def test_an_interval_that_has_the_whole_range_in_it_is_not_clear() -> None:
    beside, across = ((2.5, 3.0), (0.5, 3.0))
    found = [Judged(made(between(1, 2, "x"), 0.0), 2.7, interval, ()) for interval in (beside, across)]
    assert [one.verdict for one in found] == ["misses", "misses"]
    assert [one.is_clear for one in found] == [True, False]


@pytest.mark.parametrize(
    "compute",
    [
        lambda e: e.rate("nothing", pairs=1),
        lambda e: e.rate("small", pairs=3, lock="mcs"),
        lambda e: e.rate("small", pairs=1),
        lambda e: e.rate("small", pears=1),
        lambda e: e.counter("small", "no_such_counter", pairs=1, lock="mcs"),
        lambda e: e.axis("small", "no_such_axis"),
        lambda e: max([]),
        lambda e: 1 / 0,
        lambda e: math.nan,
        lambda e: math.inf,
        lambda e: {}[1],
    ],
)
def test_what_cannot_be_computed_misses(evidence: Evidence, compute: Any) -> None:
    (found,) = judge([made(at_least(-1e300, ""), compute)], evidence)
    assert found.verdict == "misses"
    assert found.problem
    assert found.to_json()["predicted"] is None
    assert found.to_json()["problem"]


def test_no_claims_is_an_error(evidence: Evidence, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no claims"):
        judge([], evidence)
    with pytest.raises(InputError, match="has no claims"):
        load_claims(tmp_path)


def test_two_claims_of_one_name_are_an_error(tmp_path: Path) -> None:
    text = """
        from contend.claims import at_least, claim

        @claim("same", source="", statement="", expected=at_least(1, ""))
        def one(e): return 1.0
    """
    for name in ("a", "b"):
        (tmp_path / f"{name}.py").write_text(dedent(text))
    with pytest.raises(InputError, match="several claims are called same"):
        load_claims(tmp_path)


def test_scenarios_with_other_replications_do_not_mix(evidence: Evidence, tmp_path: Path) -> None:
    (tmp_path / "more.json").write_text(json.dumps({"name": "more", "run": {"seed": 1, "replications": 7}}))
    (found,) = judge(
        [made(at_least(0, ""), lambda e: e.rate("small", pairs=1, lock="mcs") / e.rate("more", pairs=1, lock="mcs"))],
        evidence,
    )
    assert found.verdict == "misses"
    assert found.problem is not None
    assert "differ in their replications" in found.problem


def test_results_are_kept_until_something_changes(core: "FakeCore", scenario: Path) -> None:
    def look(**options: Any) -> float:
        cached = Evidence(scenario.parent, CoreEngine(), jobs=1, cache=scenario.parent / "cache", **options)
        return cached.rate("small", pairs=1, lock="mcs")

    first = look()
    calls = core.calls
    assert calls == 18
    assert look() == first
    assert core.calls == calls
    look(overrides=[("run.seed", "2")])
    assert core.calls == 2 * calls
    scenario.write_text(json.dumps({"name": "small", "workload": {"pairs": 1, "window": 3}}))
    look()
    assert core.calls == 3 * calls


def test_points_that_had_finished_before_ctrl_c_are_kept(core: "FakeCore", scenario: Path) -> None:
    progressed: list[float] = []

    def interrupted_at(limit: float) -> "Callable[[ResolvedScenario], Callable[[float], None]]":
        def advance(weight: float) -> None:
            progressed.append(weight)
            if sum(progressed) >= limit:
                raise KeyboardInterrupt

        return lambda _: advance

    def evidence(limit: float) -> Evidence:
        progressed.clear()
        folder = scenario.parent
        return Evidence(folder, CoreEngine(), jobs=1, cache=folder / "cache", announce=interrupted_at(limit))

    core.seconds_per_run = 0.05
    # Two points of three replications are done, and one replication of the third; operations are pairs.
    with pytest.raises(InterruptedRunError, match="points that had finished are kept"):
        evidence(3 * 1 + 3 * 2 + 4).rate("small", pairs=1, lock="mcs")
    calls = core.calls
    assert calls < 18
    everything = sum(3 * pairs for pairs in (1, 2, 4)) * 2
    assert evidence(everything + 1).rate("small", pairs=1, lock="mcs") > 0
    assert core.calls - calls <= 12
    assert sum(progressed) == everything


def test_a_parameter_that_changes_no_configuration_is_known_at_once(tmp_path: Path) -> None:
    document = json.loads((REPOSITORY / "scenarios/dissertation/fig5_2a_base.json").read_text())
    document["fabric"] = {"latency": "1 us", "bandwidth": "10 GB/s"}
    document["run"]["replications"] = 1
    document["workload"] |= {"iterations": 1, "warmup_iterations": 0}
    for sweep in ({"workload.pairs": [1, 2]}, {"workload.pairs": [1, 2], "workload.window": [128]}):
        (tmp_path / "same.json").write_text(json.dumps(document | {"sweep": sweep}))
        evidence = Evidence(tmp_path, CoreEngine(), jobs=1, cache=tmp_path / "cache")
        named = {name.rpartition(".")[2]: values[-1] for name, values in sweep.items()}
        assert evidence.rate("same", **named) > 0


def test_predictions_have_intervals_beside_them(evidence: Evidence, tmp_path: Path) -> None:
    file = tmp_path / "predictions.py"
    file.write_text(
        dedent("""
        from contend.claims import Given

        def predictions(e):
            rates = [e.rate("small", pairs=n, lock="mcs") for n in (1, 2)]
            return {"system": {"column": {"pairs": Given([1, 2]), "rate": rates}}}
        """)
    )
    column = predict(file, evidence)["system"]["column"]
    assert set(column) == {"pairs", "rate", "rate_ci95"}
    for value, (low, high) in zip(column["rate"], column["rate_ci95"], strict=True):
        assert low < value < high


@pytest.fixture
def system(core: "FakeCore", tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with one study, of which one statement is true and one is not."""
    del core
    monkeypatch.setattr("contend.paths.require_repository", lambda _: tmp_path)
    (tmp_path / "validation/study/claims").mkdir(parents=True)
    (tmp_path / "scenarios/study").mkdir(parents=True)
    (tmp_path / "scenarios/study/small.json").write_text(json.dumps({"name": "small"}))
    (tmp_path / "validation/study/claims/rates.py").write_text(
        dedent("""
        from contend.claims import at_least, claim

        @claim("true", source="fig. 1", statement="mcs is faster", expected=at_least(1.1, "x"))
        def first(e):
            return e.rate("small", pairs=1, lock="mcs") / e.rate("small", pairs=1, lock="mutex")

        @claim("false", source="fig. 2", statement="mcs is ten times faster", expected=at_least(10, "x"))
        def second(e):
            return e.rate("small", pairs=1, lock="mcs") / e.rate("small", pairs=1, lock="mutex")
        """)
    )
    return tmp_path / "validation/study"


def test_misses_are_listed_and_written(system: Path, capsys: Capture) -> None:
    assert main(["validate", "claims", "study"]) == 0
    text = capsys.readouterr().out
    assert "1 of 2 claims hold" in text
    assert "misses: false" in text
    entries = {entry["id"]: entry for entry in json.loads((system / "claims.json").read_text())}
    assert {name: entry["verdict"] for name, entry in entries.items()} == {"true": "holds", "false": "misses"}
    assert entries["true"]["expected"] == ">= 1.1 x"
    assert entries["true"]["predicted"] == pytest.approx(1.3)
    assert set(entries["true"]) >= {"id", "source", "statement", "expected", "predicted", "ci95", "verdict"}


def test_strict_fails_on_a_miss(system: Path, capsys: Capture) -> None:
    assert main(["validate", "claims", "study", "--strict", "--quiet"]) == 1
    assert "1 of 2 claims miss: false" in capsys.readouterr().err
    assert (system / "claims.json").exists()
    assert "| **misses** |" in (system / "claims.md").read_text()
    assert main(["validate", "claims", "study", "--strict", "--quiet", "--only", "true"]) == 0


def test_a_part_does_not_overwrite_the_whole(system: Path, capsys: Capture) -> None:
    assert main(["validate", "claims", "study", "--only", "true", "--quiet"]) == 0
    assert main(["validate", "claims", "study", "--replications", "2", "--json"]) == 0
    assert [entry["id"] for entry in json.loads(capsys.readouterr().out)] == ["true", "false"]
    assert not (system / "claims.json").exists()
    assert main(["validate", "claims", "study", "--only", "nothing"]) == 2


def test_unknown_study(system: Path, capsys: Capture) -> None:
    del system
    assert main(["validate", "claims", "stduy"]) == 2
    assert "no claims of 'stduy'; there are: study" in capsys.readouterr().err


STUDIES = sorted(path.parent.name for path in (REPOSITORY / "validation").glob("*/claims"))


@pytest.mark.parametrize("study", STUDIES)
def test_the_shipped_claims_are_complete(study: str) -> None:
    """They load, each has a source and a statement, and most of them are predictions."""
    claims = load_claims(REPOSITORY / "validation" / study / "claims")
    assert len(claims) >= (30 if study == "dissertation" else 10)
    for item in claims:
        assert item.source
        assert len(item.statement) > 20
        assert item.expected.unit
    assert sum(not item.calibrated for item in claims) >= (25 if study == "dissertation" else 0.7 * len(claims))


@pytest.mark.parametrize("study", STUDIES)
def test_the_files_of_the_shipped_claims_match_them(study: str) -> None:
    folder = REPOSITORY / "validation" / study
    written = json.loads((folder / command.CLAIMS_FILE).read_text())
    claims = load_claims(folder / "claims")
    assert [entry["id"] for entry in written] == [item.id for item in claims]
    assert [entry["expected"] for entry in written] == [str(item.expected) for item in claims]
    assert {entry["verdict"] for entry in written} <= {"holds", "misses"}
