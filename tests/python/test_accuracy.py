"""Documents, pictures and the page about how accurate predictions are."""

import json
import math
import re
import statistics
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from contend.accuracy.comparisons import comparisons
from contend.accuracy.document import as_markdown, html_section, plain_note
from contend.accuracy.fits import fit_sections
from contend.accuracy.page import accuracy_page
from contend.accuracy.pooled import pool
from contend.accuracy.scores import (
    result_json,
)
from contend.calibrate.recovery import Recovered, coverage
from contend.calibrate.sensitivity import Verdict
from contend.common.errors import InputError
from fakes import REPOSITORY
from predicting import COUNTS, curve, predicted, result


def test_documents_have_every_held_out_point_and_what_was_left_out(tmp_path: Path) -> None:
    found = result(tmp_path)
    text = as_markdown(found, "Predictions of box")
    assert text.count("| shared | pairs=") == 3
    assert "1 point: no mapping for x|y over z" in text
    page = html_section(found, "Predictions <of> box")
    assert page.startswith("<section")
    assert "Predictions &lt;of&gt; box" in page
    assert page.count("<svg") == 3


def test_noisy_points_are_counted_and_scored_by_their_medians_as_well(tmp_path: Path) -> None:
    found = result(tmp_path)
    assert plain_note(found) == ""
    noisy = next(point for point in found["points"] if point["held_out"])
    noisy |= {"scored_against_interval": True, "abs_error_pct": 0}
    noisy["predicted"] |= {"median": 1.5 * noisy["measured"]["median"]}
    note = plain_note(found)
    held_out = sum(point["held_out"] for point in found["points"])
    assert note.startswith(f"1 of the {held_out} held-out points have samples that spread by more than 20 %")
    assert "which is none for 1." in note
    errors = [
        abs(point["predicted"]["median"] / point["measured"]["median"] - 1)
        for point in found["points"]
        if point["held_out"]
    ]
    assert f"a median error of {100 * statistics.median(errors):.3g} %" in note
    assert note in as_markdown(found, "Box")


def test_the_page_is_made_of_results_only(tmp_path: Path) -> None:
    folder = tmp_path / "validation" / "here"
    folder.mkdir(parents=True)
    (folder / "comparison.json").write_text(json.dumps({
        "schema_version": 1, "title": "This machine", "text": "Runs of two libraries.",
        "runs": [{"name": name, "title": name, "profile": "box", "datasets": ["*.json"]} for name in ("tcp", "shm")],
        "pooled": [{"title": "Both together", "runs": ["tcp", "shm"]}],
    }))  # fmt: skip
    with pytest.raises(InputError, match=r"contend validate comparison here"):
        accuracy_page(tmp_path)
    for name in ("tcp", "shm"):
        (folder / f"{name}.json").write_text(json.dumps(result(tmp_path)))
    (tmp_path / "validation" / "study").mkdir()
    (tmp_path / "validation" / "study" / "claims.json").write_text(json.dumps([
        {"id": "x", "statement": "falls", "expected": "<= 1", "predicted": 2.5, "verdict": "misses",
         "remark": "expected"},
        {"id": "y", "statement": "rises", "expected": ">= 1", "predicted": 2.5, "verdict": "holds"},
    ]))  # fmt: skip
    (tmp_path / "validation" / "locks").mkdir()
    errors = (0.0, 0.1, -0.2)
    rows = [{"kind": "mcs", "error": error, "reference": error == 0.0} for error in errors]
    twice = [row | {"error": 1.0 if row["reference"] else row["error"]} for row in rows]
    (tmp_path / "validation" / "locks" / "results.json").write_text(json.dumps([
        {"set": "L0", "grade": "A", "measure": "ns", "median_error": 0.15, "kendall_tau": {"2": 1.0, "4": 0.5},
         "holds": False, "profile": "box", "rows": rows},
        {"set": "ratios", "grade": "B", "measure": "ns", "median_error": 0.5, "kendall_tau": {}, "holds": None,
         "profile": "box", "rows": twice},
        {"set": "empty", "grade": "B", "measure": "ns", "median_error": None, "kendall_tau": {}, "holds": None,
         "profile": "bag", "rows": []},
    ]))  # fmt: skip
    page = accuracy_page(tmp_path)
    assert "| L0 | A | ns | 2 | 15% | 19% | 0.50 | MISSED | box |" in page
    assert "| ratios | B | ns | 2 | 50% | 58% | - | - | box |" in page
    assert "| empty | B | ns | - | - | - | - | - | bag |" in page
    assert "1 of 2 statements hold" in page
    assert "| x | falls | <= 1 | 2.5 | expected |" in page
    assert page.count("| held-out points | 6 | 20 % |") == 2
    assert "### Both together" in page
    assert page.count("| held-out points | 12 | 20 % |") == 1


def fit(scope: str, dataset: str, posterior: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"parameters": [{"name": "x", "path": "machine.x", "scope": scope}], "fitted": ["x"],
            "set_back_to_base": [], "points": [{"dataset": dataset}], "error_pct": {"median": 39.35, "p90": 41.0},
            "posterior": posterior, **more}  # fmt: skip


def test_a_search_that_was_stopped_is_said_to_be(tmp_path: Path) -> None:
    found = result(tmp_path)
    searched = fit("alib", "shared", {"refused": "no"}, at_edge_of_range=["x"],
                   search={"starts": [{"ended": "maxfevals"}, {"ended": "the budget is spent"}]})  # fmt: skip
    record = {"base": "box", "identified_directly": [], "fits": [searched],
              "split": {"threads": [1], "window": None, "excluded": [], "calibration": []}}  # fmt: skip
    assert "| 2 starts, none converged; 1 value at an end of its range |" in "\n".join(
        fit_sections({"calibration": record}, found)
    )
    searched["search"]["starts"][1]["ended"] = "tolfun"
    assert "| 2 starts, 1 converged; " in "\n".join(fit_sections({"calibration": record}, found))
    # The base's own place is no start.
    for start, checked in zip(searched["search"]["starts"], (-1.0, -2.0), strict=True):
        start["checked"] = checked
    searched["search"]["starts"].append({"ended": "base", "checked": -1.5})
    assert "| 2 starts, 1 converged; " in "\n".join(fit_sections({"calibration": record}, found))
    searched["search"]["starts"][2]["checked"] = -3.0
    assert "| 2 starts, 1 converged, none better than the base; " in "\n".join(
        fit_sections({"calibration": record}, found)
    )


def test_a_run_says_from_its_profile_what_was_fitted(tmp_path: Path) -> None:
    found = result(tmp_path)
    made = {"method": "emcee", "steps": 5000, "rhat": 1.0269, "parameters": ["x"]}
    refused = fit("blib", "b", {"refused": "0.87 of noise"}, cross_validation={"folds": [1, 2]})
    listed = [{"machine": "box", "dataset": name} for name in ("shared", "separate", "b")]
    split = {"threads": [1, 4], "window": 128, "excluded": ["c"], "calibration": listed}
    record = {"base": "box", "identified_directly": [], "split": split, "fits": [fit("alib", "shared", made), refused]}
    text = "\n".join(fit_sections({"calibration": record}, found))
    assert "points with 1, 4 threads or pairs and window 128, without those of `c`" in text
    assert "| alib | 1 of 1 | 1 | 39.4 % | 41 % | - | emcee: 1 parameter, 5000 steps, R-hat 1.0269 |" in text
    assert "refused: 0.87 of noise; 2 fits without a thread count instead" in text
    assert "No fit has points of" not in text
    record["fits"] = [refused]
    assert fit_sections({"calibration": record}, found)[-1] == "No fit has points of: alib over tcp."
    assert "no parameter was fitted" in fit_sections(None, found)[0]
    (direct,) = fit_sections({"calibration": record | {"fits": []}}, found)
    assert direct.endswith(" identified directly; nothing was fitted.")
    # Another machine's datasets of the same names are in no fit.
    record["fits"] = [fit("alib", "shared", made)]
    split["calibration"] = [{**one, "machine": "another"} for one in listed]
    assert fit_sections({"calibration": record}, found)[-1] == "No fit has points of: alib over tcp."


def test_nothing_is_said_by_hand_of_what_was_fitted() -> None:
    texts = [
        (file, json.loads(file.read_text()).get("stand_in", ""))
        for file in REPOSITORY.glob("validation/*/mappings/*.json")
    ]
    for one in comparisons(REPOSITORY):
        texts += [(one.folder, one.description.text), *((one.folder, run.remark) for run in one.description.runs)]
    assert len(texts) > 3
    for where, text in texts:
        assert not re.search(r"posterior|emulator|calibrated on|(is|are) fitted", text), where


def test_the_page_is_that_of_the_results() -> None:
    assert (REPOSITORY / "docs/accuracy.md").read_text() == accuracy_page(REPOSITORY)


def test_statements_of_a_fitted_machine_are_told_from_others(tmp_path: Path) -> None:
    folder = tmp_path / "validation" / "study"
    folder.mkdir(parents=True)
    (folder / "fit.json").write_text(json.dumps({"profile": "few", "targets": [{}, {}]}))

    def judged(name: str, verdict: str, **more: Any) -> dict[str, Any]:
        return {"id": name, "statement": "s", "expected": ">= 1", "predicted": 2.0, "verdict": verdict, **more}

    drawn = {"over_draws": {"median": 2.0, "ci95": [1.0, 3.0], "held": 1.0, "draws": 5}}
    claims = [
        judged("a", "misses", calibrated=True, **drawn),
        judged("b", "holds", **drawn),
        judged("c", "holds"),
        judged("d", "misses"),
    ]
    (folder / "claims.json").write_text(json.dumps(claims))
    page = " ".join(accuracy_page(tmp_path).split())
    assert "The prices of profile `few` stay where their sources expect them unless 2 numbers of the study" in page
    assert "2 of the statements, those that the fit is for, were computed with 5 draws" in page
    assert "2 of these hold with every draw, and 0 with none" in page
    assert "1 of these hold, and 1 of the 2 that have no draws" in page
    assert "2 of 3 statements hold that were no targets of calibration, and 0 of 1 that were" in page
    # Without draws nothing is said of a fit.
    (folder / "claims.json").write_text(json.dumps(claims[2:]))
    assert "most probable prices" not in accuracy_page(tmp_path)


def test_known_parameters_that_were_given_back_are_on_the_page(tmp_path: Path) -> None:
    trial = [
        Recovered("software.receive_call", Verdict.identified, 2.0, (1.0, 3.0)),
        Recovered("nic.registration", Verdict.unseen, 2.0, None),
    ]
    other = [Recovered("software.receive_call", Verdict.weak, 4.0, (1.0, 3.0)), trial[1]]
    (tmp_path / "validation/recovery").mkdir(parents=True)
    file = tmp_path / "validation/recovery/results.json"
    file.write_text(json.dumps({"profile": "box", "first": 1, **coverage([trial, other])}))
    page = accuracy_page(tmp_path)
    assert "a calibration upon `box`" in page
    assert "--trials 2 --json validation/recovery/results.json`" in page
    assert "| `software.receive_call` | identified 1, weakly identified 1 | 1 of 2 |" in page
    assert "| `nic.registration` | not seen by the data 2 | none claimed |" in page
    assert (
        "Of 2 intervals 1 contain the truth, where 95 % would be 2; those of a trial all do in 1\nof 2 trials" in page
    )


def test_results_of_recovery_are_there() -> None:
    results = json.loads((REPOSITORY / "validation/recovery/results.json").read_text())
    assert results["trials"] >= 20


def test_what_several_mappings_leave_out_is_said_once() -> None:
    page = (REPOSITORY / "docs/accuracy.md").read_text()
    said = re.findall("^What the scenarios leave out: (.*)[.]$", page, re.MULTILINE)
    assert any("; " in line for line in said)
    for line in said:
        parts = line.split("; ")
        assert len(set(parts)) == len(parts)


def test_coverage_is_shown_with_the_draws_and_those_that_failed(tmp_path: Path) -> None:
    points = predicted(curve(tmp_path, "a", lambda _n: 100.0), dict.fromkeys(COUNTS, 100.0))
    few = [replace(point, draws=(90.0, 100.0, 110.0)) for point in points]
    found = result_json("box", few, [], {})
    assert found["points"][0]["predicted"]["draws"] == 3
    assert "| 100% (3 draws) |" in as_markdown(found, "Box")
    failed = [replace(few[0], held_out=True, draws=(90.0, math.nan, 110.0)), *few[1:]]
    found = result_json("box", failed, [], {})
    assert "| 100% (2 to 3 draws, 1 failed) |" in as_markdown(found, "Box")
    together = pool([found])["summary"]["held_out"]
    assert (together["draws"], together["failed_draws"]) == ([2, 3], 1)
    found["points"][1]["predicted"]["failed_draws"] = None
    assert pool([found])["summary"]["held_out"]["failed_draws"] is None
