"""Prices that are fitted to some of a study's numbers, and what is expected of them meanwhile."""

from __future__ import annotations

import json
import math
import shutil
from typing import TYPE_CHECKING

import pytest

from contend.cli import main
from contend.cli.claims import _check_machine as check_machine
from contend.common.errors import InputError
from contend.common.paths import repository
from contend.engine.runner import make_engine
from contend.scenarios.resolution import resolve_scenario
from contend.studies.claims import load_claims
from contend.studies.evidence import Evidence
from contend.studyfit.description import Price, StudyFit, Target, load_fit
from contend.studyfit.posterior import load_posterior
from contend.studyfit.search import _cost as cost
from contend.studyfit.search import fit
from contend.sweeps.store import ResultStore

if TYPE_CHECKING:
    from pathlib import Path

    from contend.common.jsontypes import JsonObject

ROOT = repository()
assert ROOT is not None
SCENARIO = ROOT / "scenarios" / "dissertation" / "fig5_2a_base.json"
SHORT = [("workload.pairs", "1"), ("workload.iterations", "3"), ("workload.warmup_iterations", "1")]


def test_a_price_stays_in_its_range_and_its_ends_are_two_deviations_away() -> None:
    price = Price("software.send_call", 600e-9, 200e-9, 2e-6, "time")
    assert price.at(0.0) == "600 ns"
    assert (price.at(-2.0), price.at(-9.0)) == ("200 ns", "200 ns")
    assert (price.at(2.0), price.at(9.0)) == ("2 us", "2 us")
    assert price.at(1.0) == "1.1 us"  # half of the way by its logarithm
    assert Price("software.send_call", 0.6e-9, 0.2e-9, 2e-9, "time").at(0.0) == "0.6 ns"
    assert Price("memory.page", 4096.0, 1024.0, 16384.0, "size").at(0.0) == "4 KiB"
    lines = Price("nic.completion_lines", 3, 0, 5, "number")
    assert [lines.at(x) for x in (-2.0, -0.7, 0.0, 1.0, 2.0)] == [0, 2, 3, 4, 5]


def test_what_a_target_costs() -> None:
    point = resolve_scenario(SCENARIO, SHORT).points[0]
    rate = Target(point, "message_rate", 500e3, 0.1, absolute=False)
    assert rate.read({"message_rate": 4e5}) == 4e5
    assert rate.cost(500e3) == 0.0
    assert rate.cost(500e3 * math.e**0.2) == pytest.approx(4.0)
    with pytest.raises(InputError, match="no counter 'unexpcted' to fit to; there are: message_rate, unexpected"):
        Target(point, "unexpcted", 1.0, 0.1, absolute=False).read({"counters": {"unexpected": 1}})
    share = Target(point, "out_of_sequence", 0.83, 0.025, absolute=True)
    assert share.read({"counters": {"out_of_sequence": 30, "messages_received": 40}}) == 0.75
    assert share.cost(0.88) == pytest.approx(4.0)


def test_a_share_of_nothing_is_no_failed_simulation() -> None:
    point = resolve_scenario(SCENARIO, SHORT).points[0]
    share = Target(point, "out_of_sequence", 0.03, 0.025, absolute=True)
    rate = Target(point, "message_rate", 500e3, 0.1, absolute=False)
    study = StudyFit("alembert", (), (), {}, (share, rate), "")
    assert cost(study, (), (0.0, 500e3)) == pytest.approx(1.2**2)
    for failed in ((math.nan, 500e3), (0.03, math.nan), (0.03, 0.0), (0.03, math.inf)):
        assert cost(study, (), failed) == 1e6


def test_a_fit_finds_the_prices_that_made_the_numbers() -> None:
    # One pair with a slow sender: the rate is that of its calls, and the time of a match tells the other price.
    made = [("machine.software.send_call", "6 us"), ("machine.matching.attempt", "16 ns")]
    engine = make_engine("contend")
    truth = resolve_scenario(SCENARIO, [*SHORT, *made]).points[0]
    results = [json.loads(engine.run_point(truth, replication, trace_hash=False)) for replication in range(4)]
    point = resolve_scenario(SCENARIO, SHORT).points[0]
    targets = [Target(point, measure, 1.0, 0.01, absolute=False) for measure in ("message_rate", "match_time_ns")]
    targets = [
        Target(point, target.measure, sum(map(target.read, results)) / len(results), 0.01, absolute=False)
        for target in targets
    ]
    study = StudyFit(
        "alembert",
        (),
        (
            Price("software.send_call", 4e-6, 2e-6, 9e-6, "time"),
            Price("matching.attempt", 10e-9, 5e-9, 40e-9, "time"),
        ),
        {},
        tuple(targets),
        "",
    )
    found = fit(study, engine, jobs=2, evaluations=140)
    send, attempt = (str(found.values[path]) for path in ("software.send_call", "matching.attempt"))
    assert float(send.removesuffix(" us")) == pytest.approx(6.0, rel=0.1)
    assert float(attempt.removesuffix(" ns")) == pytest.approx(16.0, rel=0.25)
    assert min(found.costs) < 8
    assert found == fit(study, engine, jobs=1, evaluations=140)  # whatever the number of jobs


def test_prices_that_follow_others_have_their_value() -> None:
    point = resolve_scenario(SCENARIO, SHORT).points[0]
    study = StudyFit(
        "alembert",
        (),
        (
            Price("futex.wake_call", 2e-6, 1e-6, 3e-6, "time"),
            Price("nic.post", 55e-9, 40e-9, 75e-9, "time"),
        ),
        {"scheduler.wake_call": "futex.wake_call"},
        (Target(point, "message_rate", 400e3, 0.1, absolute=False),),
        "",
    )
    found = fit(study, make_engine("contend"), jobs=2, evaluations=14)
    assert found.values["scheduler.wake_call"] == found.values["futex.wake_call"]


def test_the_shipped_fit_can_be_read() -> None:
    study = load_fit(ROOT, "dissertation")
    assert study.profile == "alembert"
    assert {target.measure for target in study.targets} == {"message_rate", "out_of_sequence", "match_time_ns"}
    # Single pairs and the counters of serial progress, nothing else of the study.
    assert all(
        target.point.parameters["pairs"] == 1 if target.measure == "message_rate" else True for target in study.targets
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d["prices"].update({"nic.pots": "1 ns"}), "has no nic.pots"),
        (lambda d: d["prices"].update({"nic.post": "1 ms"}), "nic.post is expected at 1 ms, outside its range"),
        (lambda d: d["prices"].update({"nic.post": "1 KiB"}), "nic.post is expected at 1 KiB, which has another unit"),
        (lambda d: d["prices"].update({"nic.post": "1 tick"}), "nic.post: '1 tick' is no number and no value with"),
        (lambda d: d["targets"][0]["parameters"].update(pairs=99), "0 points of fig5_2a.json have"),
        (lambda d: d["targets"][0].update(scenario="fig9"), "fig9"),
        (lambda d: d.pop("tied"), "fit.json is no fit: .*tied"),
        (lambda d: d["prices"].update({"post": "1 ns"}), "fit.json is no fit"),
        (lambda d: d["targets"][0].update(spread="wide"), "fit.json is no fit: one of its values"),
    ],
)
def test_a_fit_that_names_what_is_not_there_is_refused(tmp_path: Path, change: object, message: str) -> None:
    for folder in ("validation/dissertation", "calibration/profiles", "scenarios", "libraries"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    file = tmp_path / "validation" / "dissertation" / "fit.json"
    document = json.loads(file.read_text(encoding="utf-8"))
    change(document)  # type: ignore[operator]
    file.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(InputError, match=message):
        load_fit(tmp_path, "dissertation")


def test_the_written_claims_belong_to_the_fit() -> None:
    study = load_fit(ROOT, "dissertation")
    claims = {item.id: item for item in load_claims(ROOT / "validation" / "dissertation" / "claims")}
    written: list[JsonObject] = json.loads(
        (ROOT / "validation" / "dissertation" / "claims.json").read_text(encoding="utf-8")
    )
    machines = {
        scenario: resolve_scenario(ROOT / "scenarios" / "dissertation" / f"{scenario}.json").document["machine"]["name"]
        for entry in written
        for scenario in entry["scenarios"]
    }
    drawn = {entry["id"] for entry in written if "over_draws" in entry}
    assert drawn == {name for name in claims if name.startswith(study.over_draws)}
    # A draw is of the prices of one machine.
    assert {machines[name] for entry in written if entry["id"] in drawn for name in entry["scenarios"]} == {
        study.profile
    }
    # Each counter that is a target is said to be one, and so is what is beside a target or was moved by hand.
    assert {entry["id"] for entry in written if entry["calibrated"]} == {
        f"counters-{counter}-{instances}" for counter in ("out-of-sequence", "match-time") for instances in (1, 10, 20)
    } | {
        "many-to-one-rate", "one-to-many-1024-best", "process-1024-peak", "process-1024-saturation",
        "a'-plateau-low", "a'-plateau-high", "b'-plateau-at-20", "b'-plateau-high",
    }  # fmt: skip
    table = (ROOT / "validation/dissertation/claims.md").read_text(encoding="utf-8")
    assert f"`alembert` {len(drawn)} claims are also computed with 30 draws of its prices' posterior" in table


def test_which_claims_are_judged_how_does_not_make_it_another_fit(tmp_path: Path) -> None:
    for folder in ("validation/dissertation", "calibration/profiles", "scenarios", "libraries"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    file = tmp_path / "validation" / "dissertation" / "fit.json"
    document = json.loads(file.read_text(encoding="utf-8"))
    document["over_draws"] = ["a-"]
    file.write_text(json.dumps(document), encoding="utf-8")
    assert load_fit(tmp_path, "dissertation").digest == load_fit(ROOT, "dissertation").digest
    document["targets"][0]["value"] = 400000
    file.write_text(json.dumps(document), encoding="utf-8")
    assert load_fit(tmp_path, "dissertation").digest != load_fit(ROOT, "dissertation").digest


PROFILE = "calibration/profiles/alembert.json"


def price_of(profile: JsonObject, path: str) -> JsonObject:
    section, name = path.split(".")
    entry: JsonObject = profile[section][name]
    return entry


@pytest.mark.parametrize(
    ("file", "change", "is_another"),
    [
        (PROFILE, lambda d: price_of(d, "nic.post").update(range=["30 ns", "90 ns"]), True),
        (PROFILE, lambda d: price_of(d, "cache.hit").update(value="1.8 ns"), True),
        ("scenarios/dissertation/fig5_2a.json", lambda d: d["workload"].update(window=64), True),
        # What a fit writes, and words.
        (PROFILE, lambda d: price_of(d, "nic.post").update(value="70 ns"), False),
        (PROFILE, lambda d: price_of(d, "scheduler.wake_call").update(value="1 us"), False),
        (PROFILE, lambda d: price_of(d, "nic.post").update(identified_by="a fit"), False),
        ("scenarios/dissertation/fig5_2a.json", lambda d: d.update(name="another", description="text"), False),
        ("scenarios/dissertation/fig5_2a.json", lambda d: d["run"].update(replications=3), False),
    ],
)
def test_what_makes_it_another_fit(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    file: str,
    change: object,
    is_another: bool,  # noqa: FBT001
) -> None:
    """Ranges, and all that the simulations of its numbers depend on, but not what a fit itself writes."""
    for folder in ("validation/dissertation", "calibration/profiles", "scenarios", "libraries"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    shipped = load_fit(ROOT, "dissertation")
    monkeypatch.setenv("CONTEND_PROFILES", str(tmp_path / "calibration/profiles"))
    document = json.loads((tmp_path / file).read_text(encoding="utf-8"))
    change(document)  # type: ignore[operator]
    (tmp_path / file).write_text(json.dumps(document), encoding="utf-8")
    study = load_fit(tmp_path, "dissertation")
    assert (study.digest != shipped.digest) == is_another
    kept = ROOT / "validation" / "dissertation" / "posterior.json"
    if is_another:
        with pytest.raises(InputError, match="the ranges of its prices or its scenarios have changed"):
            load_posterior(kept, study)
    else:
        assert load_posterior(kept, study).digest == study.digest


def test_draws_are_for_the_claims_that_the_fit_names(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["validate", "claims", "dissertation", "--iterations", "2", "--replications", "2"]
    assert main([*words, "--only", "credits-mended", "--draws", "2", "--json"]) == 2
    assert "none of these claims is judged with draws" in capsys.readouterr().err
    assert main(["validate", "claims", "bluegene", "--draws", "2"]) == 2
    assert "nothing is fitted to bluegene" in capsys.readouterr().err


def test_draws_are_of_one_machine(tmp_path: Path) -> None:
    study = load_fit(ROOT, "dissertation")
    evidence = Evidence(
        ROOT / "scenarios" / "dissertation", make_engine("contend"), jobs=1, store=ResultStore(tmp_path)
    )
    check_machine("a claim", ["fig5_2a_base"], evidence, study)
    with pytest.raises(InputError, match=r"a claim, whose scenario fig5_7_rma_put_haswell .* trinitite-haswell"):
        check_machine("a claim", ["fig5_2a_base", "fig5_7_rma_put_haswell"], evidence, study)


def test_a_study_without_a_fit_says_so() -> None:
    with pytest.raises(InputError, match="nothing is fitted to bluegene"):
        load_fit(ROOT, "bluegene")
