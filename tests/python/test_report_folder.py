"""`contend report FOLDER`: what it takes from the files there, and what it leaves aside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from contend.cli import main
from contend.report import source
from reporting import a_trace, page_of

if TYPE_CHECKING:
    from fakes import FakeCore

Capture = pytest.CaptureFixture[str]
pytestmark = pytest.mark.usefixtures("no_chart_library", "unrendered")


def test_what_a_run_leaves_of_an_earlier_one_is_said(results: Path, scenario: Path, capsys: Capture) -> None:
    for name in ("report.html", "trace.json"):
        (results / name).write_text("{}")
    assert main(["report", str(scenario), "--seed", "9", "--no-speedups"]) == 0
    left = "contend: replaced results of other settings in out/small (--results DIR keeps both); trace.json there is of"
    assert capsys.readouterr().err == f"{left} earlier ones\n"


def test_results_of_a_page_can_go_elsewhere(results: Path, scenario: Path, capsys: Capture) -> None:
    """The page's own place says nothing of theirs."""
    before = {path.name: path.read_bytes() for path in results.iterdir()}
    words = ["report", str(scenario), "--seed", "9", "--no-speedups", "--results"]
    assert main([*words, "seed 9", "--out", "page.html"]) == 0
    assert main([*words, "with page"]) == 0
    assert capsys.readouterr().err == ""
    assert {path.name: path.read_bytes() for path in results.iterdir()} == before
    written = {"results.json", "results.csv", "results.parquet", "plot.png", "plot.svg"}
    assert {path.name for path in Path("seed 9").iterdir()} == written
    assert {path.name for path in Path("with page").iterdir()} == written | {"report.html"}
    assert page_of(Path("page.html")).text.count("seed")
    assert main(["report", str(results), "--results", "elsewhere"]) == 2
    assert (
        "out/small has results already: --set, --seed, --replications, --iterations, --results want"
        in capsys.readouterr().err
    )
    Path("own").mkdir()
    own = scenario.rename("own/results.json")
    Path("link.json").symlink_to(own)
    capsys.readouterr()
    assert main(["report", "link.json", "--results", "own"]) == 2
    assert "--results own: results.json is the scenario itself" in capsys.readouterr().err


def test_what_the_folder_has_is_not_simulated(core: FakeCore, results: Path, scenario: Path) -> None:
    assert main(["explain", str(scenario), "--out", str(results), "--quiet"]) == 0
    (results / "trace.json").write_text(json.dumps(a_trace()))
    before = core.calls
    assert main(["report", str(results), "--quiet"]) == 0
    assert core.calls == before
    assert page_of(results / "report.html").data["charts"]["timeline"]


def test_files_of_other_settings_are_left_aside(core: FakeCore, results: Path, scenario: Path, capsys: Capture) -> None:
    """Beside new results stands what an earlier run was explained and traced with."""
    other = ["--set", "workload.window=7"]
    assert main(["explain", str(scenario), "--out", str(results), "--no-speedups", "--quiet", *other]) == 0
    assert main(["run", str(scenario), "--trace", str(results / "trace.json"), "--quiet", *other]) == 0
    explanation = json.loads((results / "explain.json").read_text())
    explanation["message_rate"]["samples"] = [number + 1.0 for number in explanation["message_rate"]["samples"]]
    (results / "explain.json").write_text(json.dumps(explanation))
    trace = json.loads((results / "trace.json").read_text())
    trace["otherData"]["result"]["message_rate"] += 1.0
    (results / "trace.json").write_text(json.dumps(trace))
    before = core.calls
    assert main(["report", str(results), "--no-simulate"]) == 0
    notes = capsys.readouterr().out
    differs = "workload.window is 7 there, not given in results.json."
    explained = f"explain.json of the folder is of other settings and left aside: {differs}"
    traced = f"trace.json of the folder is left aside: it is of other settings, {differs}"
    assert f"note: {explained}\nnote: {traced}\n" in notes
    page = page_of(results / "report.html")
    assert explained in page.text
    assert traced in page.text
    sections = {attributes.get("id") for tag, attributes in page.elements if tag == "section"}
    assert not sections & {"explain", "timeline"}
    assert core.calls == before
    assert main(["report", str(results), "--quiet", "--no-speedups"]) == 0
    assert core.calls > before
    page = page_of(results / "report.html")
    sections = {attributes.get("id") for tag, attributes in page.elements if tag == "section"}
    assert sections >= {"explain", "timeline"}


def test_files_that_do_not_say_their_settings_are_judged_by_rate_and_title(
    results: Path, scenario: Path, capsys: Capture
) -> None:
    assert main(["explain", str(scenario), "--out", str(results), "--no-speedups", "--quiet"]) == 0
    explanation = json.loads((results / "explain.json").read_text())
    explanation.pop("scenario")
    (results / "explain.json").write_text(json.dumps(explanation))
    (results / "trace.json").write_text(json.dumps(a_trace()))

    def notes() -> str:
        assert main(["report", str(results), "--no-simulate"]) == 0
        return capsys.readouterr().out

    assert "left aside" not in notes()
    explanation["message_rate"]["samples"][0] += 1.0
    (results / "explain.json").write_text(json.dumps(explanation))
    assert "explain.json of the folder is of other settings and left aside: none of the results has its rate." in (
        notes()
    )
    for title in ("another, pairs=4 lock=mcs, replication 0", "small, pairs=2 lock=mcs, replication 0"):
        trace = a_trace()
        trace["otherData"]["title"] = title
        (results / "trace.json").write_text(json.dumps(trace))
        assert f"trace.json of the folder is left aside: its title is '{title}'." in notes()


def test_files_of_the_same_simulation_are_used_whatever_they_are_called(
    core: FakeCore, results: Path, scenario: Path, capsys: Capture
) -> None:
    """A point of the sweep that was simulated by itself, with fewer replications."""
    core.pairs = [4]
    options = ["--replications", "2", "--at", "lock=mcs"]
    assert main(["explain", str(scenario), "--out", str(results), "--no-speedups", "--quiet", *options]) == 0
    explanation = json.loads((results / "explain.json").read_text())
    explanation["parameters"] = {}
    explanation["scenario"]["workload"]["pairs"] = 4
    (results / "explain.json").write_text(json.dumps(explanation))
    assert main(["run", str(scenario), "--trace", str(results / "trace.json"), "--quiet", "--at", "lock=mcs"]) == 0
    before = core.calls
    capsys.readouterr()
    assert main(["report", str(results)]) == 0
    assert core.calls == before
    assert "note:" not in capsys.readouterr().out
    assert "One point, pairs = 4, lock = mcs" in page_of(results / "report.html").text
    assert main(["report", str(results), "--at", "lock=mutex", "--no-simulate"]) == 0
    notes = capsys.readouterr().out
    assert "note: explain.json of the folder explains pairs = 4, lock = mcs." in notes
    assert "trace.json of the folder is left aside: it is of another point, pairs = 4, lock = mcs." in notes


def test_an_explanation_with_another_rate_is_noticed(results: Path, scenario: Path, capsys: Capture) -> None:
    assert main(["explain", str(scenario), "--out", str(results), "--no-speedups", "--quiet"]) == 0
    explanation = json.loads((results / "explain.json").read_text())
    explanation["message_rate"]["samples"][0] += 1.0
    (results / "explain.json").write_text(json.dumps(explanation))
    assert main(["report", str(results), "--no-simulate"]) == 0
    assert "note: explain.json of the folder says a rate of" in capsys.readouterr().out


def test_no_simulate_shows_what_there_is(core: FakeCore, results: Path) -> None:
    before = core.calls
    assert main(["report", str(results), "--no-simulate", "--quiet"]) == 0
    assert core.calls == before
    sections = {
        attributes.get("id") for tag, attributes in page_of(results / "report.html").elements if tag == "section"
    }
    assert "rate" in sections
    assert not sections & {"explain", "timeline"}


def test_another_engine_is_noticed(core: FakeCore, results: Path) -> None:
    """The point simulated again has to give what the file says."""
    path = results / "results.json"
    document = json.loads(path.read_text())
    document["points"][-1]["message_rate"]["samples"][0] += 1.0
    path.write_text(json.dumps(document))
    del core
    assert main(["report", str(results), "--quiet"]) == 0
    assert "it is from another version, or was edited" in page_of(results / "report.html").text


def test_a_scenario_of_another_version_still_gives_a_page(
    core: FakeCore, results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> str:
        raise core.ScenarioError("unknown key 'library.old'")

    monkeypatch.setattr(core, "resolve", refuse)
    assert main(["report", str(results), "--quiet"]) == 0
    assert "cannot be simulated by contend" in page_of(results / "report.html").text


def test_explanations_of_explain_are_read(core: FakeCore, scenario: Path) -> None:
    del core
    assert main(["explain", str(scenario), "--out", "here", "--quiet"]) == 0
    explanation = source.read_explanation(Path("here"))
    assert explanation is not None
    assert explanation.locks[0].waits[0].waiter == "receiver"
