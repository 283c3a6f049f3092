"""Statements of a study as checks: they can fail, and say so."""

import json
import math
from contextlib import contextmanager, nullcontext
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING, Any

import pytest
from scipy import stats

from contend.common.errors import ContendError, InputError, InterruptedRunError
from contend.engine.runner import CoreEngine
from contend.scenarios.resolution import resolve_scenario
from contend.studies.claims import (
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
    single_runs,
)
from contend.studies.evidence import Evidence, UnusableScenarioError
from contend.sweeps.store import ResultStore, count_stored, point_key, run_key
from fakes import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from contend.scenarios.resolution import ResolvedScenario
    from fakes import FakeCore


@pytest.fixture
def evidence(core: "FakeCore", scenario: Path) -> Evidence:
    del core
    return Evidence(scenario.parent, CoreEngine(), jobs=2, store=ResultStore(scenario.parent / "cache"))


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
        from contend.studies.claims import at_least, claim

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


def test_a_simulation_that_failed_is_a_miss_of_what_looks_at_its_point(evidence: Evidence, core: "FakeCore") -> None:
    core.fail_at = 4
    rates = [made(at_least(0, ""), lambda e, n=n: e.rate("small", pairs=n, lock="mcs")) for n in (2, 4)]
    fine, failed = judge(rates, evidence)
    assert (fine.verdict, fine.problem) == ("holds", None)
    assert fine.ci95 is not None
    assert (failed.verdict, failed.predicted) == ("misses", None)
    assert failed.problem == (
        "SimulationFailedError: small: the simulation of pairs=4 lock=mcs (replication 0) failed: deadlock: thread "
        "receiver 0 waits for lock matching"
    )
    calls = core.calls
    judge(rates, evidence)
    assert core.calls == calls


def test_what_the_engine_cannot_simulate_is_a_miss(scenario: Path, core: "FakeCore") -> None:
    class Picky(CoreEngine):
        def run_point(self, *_: Any, **__: Any) -> str:
            raise InputError("no engine for that")

    evidence = Evidence(scenario.parent, Picky(), jobs=1, store=ResultStore(scenario.parent / "cache"))
    (found,) = judge([made(at_least(0, ""), lambda e: e.rate("small", pairs=1, lock="mcs"))], evidence)
    assert found.problem == "InputError: no engine for that"


def test_what_is_no_fault_of_a_claim_is_no_miss(evidence: Evidence, scenario: Path) -> None:
    """Nor a claim without single runs."""

    def rate(e: Evidence) -> float:
        return e.rate("small", pairs=1, lock="mcs")

    there = made(at_least(0, ""), rate)
    nothing = made(at_least(0, ""), lambda e: e.rate("nothing", pairs=1))
    for look in (lambda item: judge([item], evidence), lambda item: single_runs(item, evidence)):
        with pytest.raises(UnusableScenarioError, match=r"cannot read the scenario .*nothing.json: no such file"):
            look(nothing)
        text = scenario.read_text()
        scenario.write_text(text[:-3])
        with pytest.raises(UnusableScenarioError, match=r"small.json: not JSON"):
            look(there)
        scenario.write_text(text)
        for error in (ContendError("cannot keep a result"), InterruptedRunError("interrupted")):
            with pytest.raises(type(error), match=str(error)):
                look(made(at_least(0, ""), lambda _, error=error: raising(error)))


def raising(error: Exception) -> float:
    raise error


def test_results_are_kept_until_something_changes(core: "FakeCore", scenario: Path) -> None:
    def look(**options: Any) -> float:
        store = ResultStore(scenario.parent / "cache")
        return Evidence(scenario.parent, CoreEngine(), jobs=1, store=store, **options).rate(
            "small", pairs=1, lock="mcs"
        )

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
    # What is more is simulated, and nothing else: a replication of each of the six points, a point of each lock.
    look(overrides=[("run.replications", "4")])
    assert core.calls == 3 * calls + 6
    core.pairs = [1, 2, 3, 4]
    look()
    assert core.calls == 3 * calls + 6 + 2 * 3


def test_a_damaged_result_is_simulated_again(core: "FakeCore", scenario: Path) -> None:
    def look() -> float:
        store = ResultStore(scenario.parent / "cache")
        return Evidence(scenario.parent, CoreEngine(), jobs=1, store=store).rate("small", pairs=1, lock="mcs")

    first = look()
    (results,) = (scenario.parent / "cache").rglob("*.results")
    results.write_bytes(results.read_bytes().replace(b"message_rate", b"massage_rate", 2))
    assert look() == first
    assert core.calls == 18 + 2


def test_a_stored_result_that_is_none_is_an_error(evidence: Evidence, scenario: Path) -> None:
    point = resolve_scenario(scenario).points[0]
    store = ResultStore(scenario.parent / "cache")
    store.put(run_key(point_key(point), 0), "no JSON", 0.5)
    with pytest.raises(ContendError, match=r"a stored result is none: \{.*; remove the store") as caught:
        judge([made(at_least(0, ""), lambda e: e.rate("small", pairs=1, lock="mutex"))], evidence)
    assert not isinstance(caught.value, InputError)


def test_each_replication_is_kept_as_soon_as_it_ends(core: "FakeCore", scenario: Path) -> None:
    """So that a kill costs what was under way, and others see what there is."""
    cache = scenario.parent / "cache"
    kept: list[int] = []

    @contextmanager
    def announce(_: "ResolvedScenario") -> "Iterator[Callable[[float], None]]":
        yield lambda _: kept.append(count_stored(cache))

    core.seconds_per_run = 0.06  # longer than until somebody looks what has ended
    store = ResultStore(cache)
    Evidence(scenario.parent, CoreEngine(), jobs=1, store=store, announce=announce).rate("small", pairs=1, lock="mcs")
    assert kept[0] == 0
    assert kept[-1] == 18
    assert len(set(kept)) > 9


def test_two_at_once_keep_what_both_simulate(core: "FakeCore", scenario: Path) -> None:
    """One looks while the other is in the middle of it, and neither takes away what is the other's."""

    def evidence(replications: int, announce: Any = lambda _: nullcontext(lambda _: None)) -> Evidence:
        overrides = [("run.seed", "1"), ("run.replications", str(replications))]
        store = ResultStore(scenario.parent / "cache")
        return Evidence(scenario.parent, CoreEngine(), jobs=1, store=store, overrides=overrides, announce=announce)

    other = evidence(5)
    others: list[float] = []

    @contextmanager
    def announce(_: "ResolvedScenario") -> "Iterator[Callable[[float], None]]":
        others.append(other.rate("small", pairs=1, lock="mcs"))
        yield lambda _: None

    one = evidence(2, announce).rate("small", pairs=1, lock="mcs")
    assert core.calls == 6 * (2 + 5)
    assert evidence(5).rate("small", pairs=1, lock="mcs") == others[0]
    assert evidence(2).rate("small", pairs=1, lock="mcs") == one
    assert core.calls == 6 * (2 + 5)


def test_what_had_finished_before_ctrl_c_is_kept(core: "FakeCore", scenario: Path) -> None:
    progressed: list[float] = []
    cache = scenario.parent / "cache"

    def evidence(limit: float) -> Evidence:
        progressed.clear()

        def advance(weight: float) -> None:
            progressed.append(weight)
            if sum(progressed) >= limit:
                raise KeyboardInterrupt

        folder = scenario.parent
        announce = lambda _: nullcontext(advance)  # noqa: E731 - needs no name
        return Evidence(folder, CoreEngine(), jobs=1, store=ResultStore(cache), announce=announce)

    core.seconds_per_run = 0.05
    # Two points of three replications are done, and one replication of the third; operations are pairs.
    with pytest.raises(InterruptedRunError, match="simulations that had finished are kept"):
        evidence(3 * 1 + 3 * 2 + 4).rate("small", pairs=1, lock="mcs")
    calls, kept = core.calls, count_stored(cache)
    assert 7 <= kept < 18
    assert calls - kept <= 1
    everything = sum(3 * pairs for pairs in (1, 2, 4)) * 2
    assert evidence(everything + 1).rate("small", pairs=1, lock="mcs") > 0
    assert core.calls - calls == 18 - kept
    assert sum(progressed) == everything


def test_a_parameter_that_changes_no_configuration_is_known_at_once(tmp_path: Path) -> None:
    document = json.loads((REPOSITORY / "scenarios/dissertation/fig5_2a_base.json").read_text())
    document["fabric"] = {"latency": "1 us", "bandwidth": "10 GB/s"}
    document["run"]["replications"] = 1
    document["workload"] |= {"iterations": 1, "warmup_iterations": 0}
    for sweep in ({"workload.pairs": [1, 2]}, {"workload.pairs": [1, 2], "workload.window": [128]}):
        (tmp_path / "same.json").write_text(json.dumps(document | {"sweep": sweep}))
        evidence = Evidence(tmp_path, CoreEngine(), jobs=1, store=ResultStore(tmp_path / "cache"))
        named = {name.rpartition(".")[2]: values[-1] for name, values in sweep.items()}
        assert evidence.rate("same", **named) > 0


def test_predictions_have_intervals_beside_them(evidence: Evidence, tmp_path: Path) -> None:
    file = tmp_path / "predictions.py"
    file.write_text(
        dedent("""
        from contend.studies.claims import Given

        def predictions(e):
            rates = [e.rate("small", pairs=n, lock="mcs") for n in (1, 2)]
            return {"system": {"column": {"pairs": Given([1, 2]), "rate": rates}}}
        """)
    )
    column = predict(file, evidence)["system"]["column"]
    assert set(column) == {"pairs", "rate", "rate_ci95"}
    for value, (low, high) in zip(column["rate"], column["rate_ci95"], strict=True):
        assert low < value < high
