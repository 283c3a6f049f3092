"""How the values of shipped profiles were identified, and that this is what the fits say that made them."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING

import pytest

from contend.calibrate.inputs import Inputs, differences
from contend.calibrate.split import Split
from contend.cli import main
from contend.common.paths import repository
from contend.profiles.catalogs import parameters
from contend.studies.lock_fit import how_identified as how_by_locks
from contend.studies.locks import load_sets
from contend.studyfit.description import load_fit
from contend.studyfit.posterior import POSTERIOR_FILE, load_posterior
from contend.studyfit.posterior import how_identified as how_by_study

if TYPE_CHECKING:
    from pathlib import Path

    from contend.common.jsontypes import JsonObject

ROOT = repository()
assert ROOT is not None
SHIPPED = sorted((ROOT / "calibration" / "profiles").glob("*.json"))
# How the words begin, by the basis of a value. One that another price of a fit gives is not known on its own.
BEGINNINGS = {
    "guess": ("not identified: ", "not on its own: "),
    "literature": ("not fitted: literature", "not identified: not used here"),
    "measured": ("direct ", "worked out of ", "difference of two direct ", "read from "),
    "calibrated": (
        "fit ", "search ", "choice ", "solved for, ", "worked out of ", "moved by hand ", "not on its own: ",
        "taken over from profile ", "an earlier fit",
    ),
}  # fmt: skip


def document_of(profile: Path) -> JsonObject:
    document: JsonObject = json.loads(profile.read_text(encoding="utf-8"))
    return document


@pytest.mark.parametrize("profile", SHIPPED, ids=lambda path: path.stem)
def test_every_value_of_a_shipped_profile_says_how_it_was_identified(profile: Path) -> None:
    found = list(parameters(document_of(profile)))
    assert found
    for one in found:
        assert one.identified_by.startswith(BEGINNINGS[one.basis]), (one.path, one.basis, one.identified_by)


def test_prices_that_the_lock_study_fits_say_so() -> None:
    assert ROOT is not None
    fitted: dict[str, dict[str, str]] = {}
    for one in load_sets(ROOT, []):
        fitted.setdefault(one.entry["profile"], {}).update(how_by_locks(one))
    for name, expected in fitted.items():
        for one in parameters(document_of(ROOT / "calibration" / "profiles" / f"{name}.json")):
            if one.path in expected:
                assert one.identified_by == expected[one.path], (name, one.path)
            else:  # what a source says of a fit that the study does not make is marked
                claims_fit = one.basis == "calibrated" and "validate locks --fit" in one.source
                assert one.identified_by.startswith("an earlier fit") == claims_fit, (name, one.path)
    assert fitted["graviton1"]["cache.transfer_socket"].startswith("not on its own: 4.3 times cache.transfer_cluster")
    assert "points with 2 threads of published set L06" in fitted["e5-2680v4"]["cache.transfer_smt"]


def test_prices_that_are_fitted_to_a_study_say_how_far_it_tells_them() -> None:
    assert ROOT is not None
    study = load_fit(ROOT, "dissertation")
    posterior = load_posterior(ROOT / "validation" / "dissertation" / POSTERIOR_FILE, study)
    expected = how_by_study(study, "dissertation", posterior.narrowed)
    assert set(expected) == study.paths
    profile = document_of(ROOT / "calibration" / "profiles" / f"{study.profile}.json")
    said = {one.path: one.identified_by for one in parameters(profile)}
    assert {path: said[path] for path in expected} == expected
    assert expected["scheduler.wake_call"] == "not on its own: futex.wake_call, in the same fit"


@pytest.mark.core
def test_words_about_identification_do_not_make_it_another_base_of_a_fit() -> None:
    profile = document_of(SHIPPED[0])
    split = Split((1, 2), None)
    now = Inputs([], profile, [], split).digests()
    other = copy.deepcopy(profile)
    other["cache"]["hit"]["identified_by"] = "by looking closely"
    assert differences(Inputs([], other, [], split).digests(), now) == []
    other["cache"]["hit"]["value"] = "9 ns"
    assert differences(Inputs([], other, [], split).digests(), now) == ["the base profile"]


def test_showing_a_profile_says_how_values_were_identified(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["profile", "show", "i5-3450", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert "published set L08" in shown["cache"]["transfer_socket"]["identified_by"]
    assert main(["profile", "show", "i5-3450"]) == 0
    assert "identified by" in capsys.readouterr().out
