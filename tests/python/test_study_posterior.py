"""How probable fitted prices are, and what statements and predictions come out at over them."""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from contend.cli import main
from contend.cli.claims import _Place as Place
from contend.common.documents import json_bytes
from contend.common.errors import ContendError, InputError
from contend.common.paths import repository
from contend.common.statistics import Central
from contend.engine.core import fingerprint
from contend.engine.runner import make_engine
from contend.profiles.prices import parse_price
from contend.scenarios.resolution import Point, resolve_scenario
from contend.studies.claims import at_least, claim
from contend.studyfit.description import Price, StudyFit, Target, load_fit
from contend.studyfit.draws import Draws, judge_over, predict_over
from contend.studyfit.posterior import Posterior, load_posterior, moved, sample, to_json, widening
from contend.sweeps.store import ResultStore

if TYPE_CHECKING:
    from pathlib import Path

    from contend.common.jsontypes import JsonObject
    from contend.studies.evidence import Evidence

ROOT = repository()
assert ROOT is not None
SCENARIOS = ROOT / "scenarios" / "dissertation"
FITTED = ROOT / "validation" / "dissertation"
SHORT = [("workload.pairs", "1"), ("workload.iterations", "3"), ("workload.warmup_iterations", "1")]
SEND = Price("software.send_call", 4e-6, 2e-6, 8e-6, "time")
LINES = Price("nic.completion_lines", 3, 0, 5, "number")


def one_pair(value: float, spread: float) -> StudyFit:
    point = resolve_scenario(SCENARIOS / "fig5_2a_base.json", SHORT).points[0]
    target = Target(point, "message_rate", value, spread, absolute=False)
    return StudyFit("alembert", (), (SEND, LINES), {}, (target,), "12ab")


def test_an_assimilation_is_bayes_rule_where_the_model_is_linear() -> None:
    stream = np.random.default_rng(3)
    places = stream.normal(size=(20_000, 2))
    slope = np.array([[1.0, 0.5], [0.0, 2.0], [1.0, -1.0]])
    wanted, spreads = np.array([1.0, -1.0, 0.3]), np.array([0.5, 0.4, 1.0])
    for _ in range(4):
        places = moved(places, places @ slope.T, wanted, spreads * math.sqrt(4), stream)
    precision = np.eye(2) + slope.T @ np.diag(spreads**-2) @ slope
    covariance = np.linalg.inv(precision)
    assert places.mean(axis=0) == pytest.approx(covariance @ slope.T @ (wanted / spreads**2), abs=0.02)
    assert np.cov(places.T) == pytest.approx(covariance, abs=0.01)


def test_prices_that_a_number_tells_are_narrowed_and_others_are_not() -> None:
    # A sender of 4 us makes about 250 thousand messages per second; the study has fewer.
    study = one_pair(180e3, 0.02)
    found = sample(study, make_engine("contend"), jobs=2, members=60, assimilations=4, draws=5)
    assert len(found.draws) == 5
    assert found.members == 60
    assert set(found.draws[0]) == {"software.send_call", "nic.completion_lines"}
    assert found.narrowed["software.send_call"] < 0.25
    assert 0.7 < found.narrowed["nic.completion_lines"] < 1.3
    assert found.targets[0].low < 180e3 < found.targets[0].high
    assert found.targets[0].median == pytest.approx(180e3, rel=0.02)
    assert widening(study, found) == {"message_rate": 1.0}
    assert found.digest == study.digest
    assert found.core == fingerprint()
    assert found == sample(study, make_engine("contend"), jobs=1, members=60, assimilations=4, draws=5)


def test_numbers_that_no_price_gives_widen_what_is_predicted() -> None:
    study = one_pair(20e3, 0.1)
    found = sample(study, make_engine("contend"), jobs=2, members=20, assimilations=2, draws=1)
    assert found.targets[0].low > 60e3
    assert widening(study, found)["message_rate"] > 5


def test_prices_that_nothing_can_be_simulated_with() -> None:
    study = one_pair(180e3, 0.02)
    point = study.targets[0].point
    nothing = Point(point.parameters, {**point.config, "workload": {}})
    broken = replace(study, targets=(replace(study.targets[0], point=nothing),))
    with pytest.raises(ContendError, match="10 of 10 sets of prices cannot be simulated"):
        sample(broken, make_engine("contend"), jobs=2, members=10, assimilations=1, draws=1)


def test_a_posterior_is_written_and_read(tmp_path: Path) -> None:
    study = one_pair(180e3, 0.02)
    posterior = Posterior(
        ({"software.send_call": "5 us", "nic.completion_lines": 2},),
        7,
        {"software.send_call": 0.1, "nic.completion_lines": 1.0},
        {"software.send_call": ("5 us", "4 us", "6 us"), "nic.completion_lines": (3, 1, 5)},
        (Central(181e3, 170e3, 190e3),),
        "12ab",
    )
    file = tmp_path / "posterior.json"
    whole = to_json(study, posterior)
    file.write_bytes(json_bytes(whole))
    assert load_posterior(file, study) == posterior
    assert "core" not in whole
    made = replace(posterior, core="1.2.3-fedc")
    file.write_bytes(json_bytes(to_json(study, made)))
    assert load_posterior(file, study) == made
    with pytest.raises(InputError, match=r"there is no .*nothing.json: validate claims STUDY --fit writes it"):
        load_posterior(tmp_path / "nothing.json", study)

    def refused(changed: JsonObject, message: str) -> None:
        file.write_text(json.dumps(changed), encoding="utf-8")
        with pytest.raises(InputError, match=message):
            load_posterior(file, study)

    for key in ("draws", "prices", "targets", "fit"):
        refused({name: value for name, value in whole.items() if name != key}, f"is no posterior: it has no '{key}'")
    refused({**whole, "fit": "34cd"}, "is of another fit: fit.json beside it, the ranges of its prices or its scenar")
    refused({**whole, "draws": []}, "each of its draws must have all prices of the fit")
    refused({**whole, "draws": [{"software.send_call": "5 us"}]}, "each of its draws must have all prices of the fit")
    refused(
        {**whole, "draws": [{**whole["draws"][0], "software.send_call": None}]}, "one of its values is of another kind"
    )
    refused({**whole, "targets": []}, "it must have what each target of the fit comes out at")
    for median, message in ((-1, "no number that it can have"), (0, "no number that it can have"), (math.nan, "NaN")):
        refused({**whole, "targets": [{**whole["targets"][0], "median": median}]}, message)
    file.write_bytes(json_bytes(whole)[:-40])
    with pytest.raises(InputError, match=r"posterior.json:\d+:\d+: "):
        load_posterior(file, study)


@pytest.fixture
def draws(tmp_path: Path) -> Draws:
    """Three senders, of which each is faster than the one before."""
    study = one_pair(180e3, 0.1)
    prices = tuple({"software.send_call": call} for call in ("6 us", "4 us", "2 us"))
    posterior = Posterior(prices, 3, {}, {}, (Central(180e3 * math.exp(0.2), 1.0, 1e9),), "12ab")
    overrides = [("workload.pairs", "1"), *SHORT[1:], ("sweep", "{}")]
    return Draws(study, posterior, SCENARIOS, make_engine("contend"), 2, ResultStore(tmp_path / "cache"), overrides)


def test_claims_are_judged_with_each_draw(draws: Draws) -> None:
    @claim("fast", source="s", statement="a sender is fast", expected=at_least(180e3, "msg/s"))
    def rate(e: Evidence) -> float:
        return e.rate("fig5_2a_base")

    @claim("none", source="s", statement="what is not there", expected=at_least(0, ""))
    def none(e: Evidence) -> float:
        return e.rate("fig5_2a_base", pairs=77)

    done: list[float] = []
    found = judge_over([rate, none], draws, done.append)
    assert set(found) == {"fast"}
    assert found["fast"].held == pytest.approx(2 / 3)
    assert 180e3 < found["fast"].number.median < 220e3
    assert found["fast"].number.low < 160e3
    assert found["fast"].number.high > 300e3
    assert found["fast"].draws == 3
    assert sum(done) == 6
    # What the caller sets comes before what was drawn.
    same = replace(draws, overrides=[*draws.overrides, ("machine.software.send_call", "2 us")])
    number = judge_over([rate], same)["fast"].number
    assert number.low == number.high > 300e3


def test_predictions_like_a_fitted_number_have_its_error(draws: Draws, tmp_path: Path) -> None:
    file = tmp_path / "claims" / "predictions.py"
    file.parent.mkdir()
    file.write_text(
        "from contend.studies.claims import Given, Scaled\n"
        "def predictions(e):\n"
        "    rate = e.rate('fig5_2a_base')\n"
        "    return {'study': {\n"
        "        'plain': [rate], 'scaled': Scaled([rate / 1e3], 'message_rate', 1e-3),\n"
        "        'bounded': Scaled([rate], 'message_rate', 1.0, 1e5), 'given': Given([1])}}\n",
        encoding="utf-8",
    )
    found = predict_over(file, draws)["study"]
    assert found["given"] == [1]
    (plain,), ((low, high),) = found["plain"], found["plain_ci95"]
    (scaled,), ((wide_low, wide_high),) = found["scaled"], found["scaled_ci95"]
    assert scaled * 1e3 == pytest.approx(plain, rel=0.1)
    # A tenth, twice as much since the fitted number came out so far off: a factor of exp(0.4) and more.
    assert wide_low * 1e3 < 0.8 * low
    assert wide_high * 1e3 > 1.25 * high
    assert found["bounded"] == [1e5]
    assert predict_over(file, draws)["study"] == found


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--evaluations", "50"], "--evaluations is for a fit: it does nothing without --fit"),
        (["--only", "a-ded", "--draws", "5000"], "--draws 5000: .*posterior.json has"),
        (["--fit", "--only", "a-ded"], "--fit judges everything"),
        (["--fit", "--iterations", "3"], "--fit judges everything"),
        (["--fit", "--draws", "3"], "--fit judges everything"),
    ],
)
def test_options_that_do_nothing_are_refused(
    capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert main(["validate", "claims", "dissertation", *words]) == 2
    assert re.search(message, capsys.readouterr().err)


def test_claims_over_draws_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shipped = (FITTED / "claims.json").read_bytes()
    words = ["validate", "claims", "dissertation", "--only", "a-contention", "--iterations", "2"]
    words += ["--replications", "2", "--draws", "3", "--out", str(tmp_path)]
    assert main(words) == 0
    printed = capsys.readouterr().out
    assert "over the posterior" in printed
    (judged,) = json.loads((tmp_path / "claims.json").read_text(encoding="utf-8"))
    over = judged["over_draws"]
    assert over["draws"] == 3
    assert over["ci95"][0] < over["median"] < over["ci95"][1]
    assert over["held"] in {0, 1 / 3, 2 / 3, 1}
    low, high = over["single_runs"]
    assert low <= judged["predicted"] * 1.05
    assert high >= judged["predicted"] * 0.95
    assert "| single runs | over the prices' posterior (95 %) | holds in |" in (tmp_path / "claims.md").read_text()
    assert (FITTED / "claims.json").read_bytes() == shipped


@pytest.mark.parametrize(("core", "is_said"), [(None, False), ("", False), ("1.2.3-fedc", True)])
def test_draws_of_another_build_are_said_to_be(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    core: str | None,
    is_said: bool,  # noqa: FBT001
) -> None:
    study = load_fit(ROOT, "dissertation")
    kept = replace(load_posterior(FITTED / "posterior.json", study), core=fingerprint() if core == "" else core)
    file = tmp_path / "validation/dissertation/posterior.json"
    file.parent.mkdir(parents=True)
    file.write_bytes(json_bytes(to_json(study, kept)))
    place = Place(tmp_path, "dissertation", make_engine("contend"), 1, ResultStore(tmp_path / "store"), ())
    assert place.draws(study).posterior == kept
    said = f"another build of the simulator made the draws of {file} (1.2.3-fedc; this is {fingerprint()})"
    assert (said in capsys.readouterr().err) == is_said


def test_the_kept_posterior_is_of_the_shipped_fit() -> None:
    study = load_fit(ROOT, "dissertation")
    posterior = load_posterior(FITTED / "posterior.json", study)
    assert set(posterior.prices) == {price.path for price in study.prices}
    assert all(known.low < known.median < known.high for known in posterior.targets)
    for price in study.prices:
        for draw in posterior.draws:
            assert price.low <= parse_price(draw[price.path]).value <= price.high
    judged = json.loads((FITTED / "claims.json").read_text(encoding="utf-8"))
    assert {entry["over_draws"]["draws"] for entry in judged if "over_draws" in entry} == {len(posterior.draws)}
    predicted = json.loads((FITTED / "predictions.json").read_text(encoding="utf-8"))
    assert predicted["predicted_with"]["draws"] == len(posterior.draws)
    own = predicted["with_the_most_probable_prices_and_the_error_of_simulations_only"]["dissertation"]
    for name, column in predicted["dissertation"].items():
        assert column["instances"] == own[name]["instances"]
        for _, high in column["out_of_sequence_ci95"]:
            assert high <= 2_585_600
        for (low, high), value in zip(column["match_time_ms_ci95"], column["match_time_ms"], strict=True):
            assert low < 0.9 * value  # a tenth is what the fit allows
            assert high > 1.1 * value
