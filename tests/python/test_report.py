"""`contend report` with the stand-in for the core: what the page holds and what it refuses."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from contend.cli import main
from contend.errors import InputError
from contend.report import page as report_page
from contend.report import source
from contend.report.timeline import Window, choose_window
from contend.speedups import Findings
from fakes import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Callable

    from fakes import FakeCore

Capture = pytest.CaptureFixture[str]
NASTY = "</script><img src=x onerror=alert(1)>\u2028{{7*7}}\"'"


@pytest.fixture(autouse=True)
def _no_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """The chart library is large and of no interest here."""
    monkeypatch.setattr(report_page, "chart_library", lambda: "/* charts */")


@pytest.fixture
def results(core: FakeCore, scenario: Path, capsys: Capture) -> Path:
    """A folder that `contend run` wrote."""
    core.trace = a_trace()
    assert main(["run", str(scenario), "--quiet"]) == 0
    capsys.readouterr()
    return Path("out/small")


def a_trace(spans: int = 400) -> dict[str, Any]:
    """Two threads that call and wait in turns, and a lock."""
    events: list[dict[str, Any]] = [
        {"ph": "M", "pid": 1, "name": "process_name", "args": {"name": "rank 0 on host 0"}},
        {"ph": "M", "pid": 2, "name": "process_name", "args": {"name": "locks"}},
        {"ph": "i", "s": "t", "pid": 1, "tid": 1, "ts": 20.0, "name": "timed part begins"},
    ]
    events += [
        {"ph": "M", "pid": pid, "tid": tid, "name": "thread_name", "args": {"name": name}}
        for pid, tid, name in ((1, 1, "sender 0"), (1, 2, "sender 1"), (2, 3, "rank 0/instance 0"))
    ]
    for number in range(spans):
        at = 0.5 * number
        tid = 1 + number % 2
        events += [
            {"ph": "X", "pid": 1, "tid": tid, "ts": at, "dur": 0.9, "name": "MPI_Isend"},
            {"ph": "X", "pid": 1, "tid": tid, "ts": at + 0.1, "dur": 0.3, "name": "lock_wait", "args": {"lock": NASTY}},
            {"ph": "X", "pid": 2, "tid": 3, "ts": at + 0.4, "dur": 0.4, "name": f"sender {number % 2}"},
            {"ph": "C", "pid": 1, "ts": at, "name": "posted", "args": {"length": number % 7}},
        ]
    return {"traceEvents": events, "otherData": {"title": "small, pairs=4 lock=mcs, replication 0", "complete": True}}


class Page(HTMLParser):
    """What a browser would see: elements with their attributes, and the text outside scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.scripts: list[str] = []
        self._inside: str | None = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self._inside = tag
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag == self._inside:
            self._inside = None

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.scripts[-1] += data
        else:
            self.text += data

    @property
    def data(self) -> dict[str, Any]:
        """The charts and their data."""
        document: dict[str, Any] = next(json.loads(text) for text in self.scripts if text.startswith("{"))
        return document


def page_of(path: Path) -> Page:
    return Page(path.read_text(encoding="utf-8"))


def test_the_page_of_a_folder_has_every_part(results: Path, capsys: Capture) -> None:
    assert main(["report", str(results)]) == 0
    assert "wrote out/small/report.html" in capsys.readouterr().out
    page = page_of(results / "report.html")
    sections = {attributes.get("id") for tag, attributes in page.elements if tag == "section"}
    assert sections >= {"rate", "time", "counters", "explain", "timeline", "points", "scenario", "provenance"}
    charts = page.data["charts"]
    assert set(charts) >= {"rate", "budget-0", "budget-1", "counters", "timeline", "queues"}
    places = {attributes["data-chart"] for _, attributes in page.elements if "data-chart" in attributes}
    assert places <= set(charts)
    assert len(page.data["data"]["points"]) == 6
    for expected in ("seed", "machine profile", "OMPI_SPC_OUT_OF_SEQUENCE", "rank 1/matching", "iterations"):
        assert expected in page.text


def test_what_a_chart_names_is_there(results: Path) -> None:
    """A chart without its data would be empty, without an error."""
    assert main(["report", str(results), "--quiet"]) == 0
    document = page_of(results / "report.html").data
    for name, chart in document["charts"].items():
        used = set(re.findall(r'"data": \{"name": "([^"]+)"\}', json.dumps(chart)))
        assert used, name
        assert all(isinstance(document["data"].get(data), list) for data in used), name


def test_numbers_are_those_of_the_results(results: Path) -> None:
    assert main(["report", str(results), "--quiet"]) == 0
    points = json.loads((results / "results.json").read_text())["points"]
    rows = page_of(results / "report.html").data["data"]["points"]
    assert [row["mean"] for row in rows] == [point["message_rate"]["mean"] for point in points]
    assert [[row["low"], row["high"]] for row in rows] == [point["message_rate"]["ci95"] for point in points]
    budgets = page_of(results / "report.html").data["data"]["budget-0"]
    for x in {row["x"] for row in budgets}:
        for curve in {row["curve"] for row in budgets}:
            shares = [row["share"] for row in budgets if row["x"] == x and row["curve"] == curve]
            assert sum(shares) == pytest.approx(1.0, abs=0.01)


def test_nothing_is_loaded_from_elsewhere(results: Path) -> None:
    assert main(["report", str(results), "--quiet"]) == 0
    page = page_of(results / "report.html")
    for tag, attributes in page.elements:
        for name in ("src", "href", "srcset", "action", "poster"):
            value = attributes.get(name)
            assert value is None or value.startswith(("#", "data:")), (tag, name, value)
    policy = next(a["content"] for _, a in page.elements if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    assert "unsafe-eval" not in policy


def test_names_from_files_are_text(results: Path) -> None:
    """Whatever a results.json says, it cannot become an element or end the script that holds the data."""
    path = results / "results.json"
    document = json.loads(path.read_text())
    document["scenario"]["name"] = NASTY
    document["scenario"]["description"] = NASTY
    document["scenario"]["workload"][NASTY] = NASTY
    document["contend_version"] = NASTY
    for point in document["points"]:
        point["parameters"] = {NASTY: point["parameters"]["pairs"], "lock": NASTY + point["parameters"]["lock"]}
        point["time_by_category_ns"][NASTY] = {NASTY: 5.0}
        point["counters"][NASTY] = 3
        point["notes"] = [NASTY]
    path.write_text(json.dumps(document))
    assert main(["report", str(results), "--no-simulate", "--quiet"]) == 0
    text = (results / "report.html").read_text()
    page = Page(text)
    assert "img" not in {tag for tag, _ in page.elements}
    assert all("onerror" not in attributes for _, attributes in page.elements)
    assert len([tag for tag, _ in page.elements if tag == "script"]) == 3
    assert NASTY in page.text
    assert NASTY in page.data["data"]["points"][0]["point"]
    charts = json.dumps(page.data["charts"])
    for expression in re.findall(r'"(?:expr|test|filter|labelExpr)": "([^"]*)"', charts):
        assert "onerror" not in expression, "names are data, never part of an expression"


@pytest.mark.parametrize(
    ("sizes", "values", "scale"),
    [
        (["0 B", "1 KiB", "64 KiB"], [0, 1024, 65536], "symlog"),
        (["1 KiB", "64 KiB", "2 MiB"], [1024, 65536, 2097152], "log"),
        (["1 B", "3 B", "4 B"], [1, 3, 4], None),
    ],
)
def test_sizes_stand_apart_and_have_their_unit(
    results: Path, sizes: list[str], values: list[int], scale: str | None
) -> None:
    path = results / "results.json"
    document = json.loads(path.read_text())
    points = [point for point in document["points"] if point["parameters"]["lock"] == "mutex"]
    for point, size in zip(points, sizes, strict=True):
        point["parameters"] = {"message_size": size}
    path.write_text(json.dumps({**document, "points": points}))
    assert main(["report", str(results), "--no-simulate", "--quiet"]) == 0
    charts = page_of(results / "report.html").data["charts"]
    x = charts["rate"]["layer"][0]["encoding"]["x"]
    assert x["axis"]["values"] == values
    assert x["axis"]["labelExpr"].startswith(json.dumps(sizes))
    assert x["scale"].get("type") == scale


def test_scenario_is_run_first(core: FakeCore, scenario: Path, capsys: Capture) -> None:
    core.trace = a_trace()
    options = ["--replications", "2", "--at", "lock=mutex", "--at", "pairs=2", "--out", "page.html"]
    assert main(["report", str(scenario), *options]) == 0
    assert Path("out/small/results.json").is_file()
    page = page_of(Path("page.html"))
    assert "One point, pairs = 2, lock = mutex" in page.text
    assert "command line" in page.text, "a scenario knows where its values are from"
    assert "wrote page.html" in capsys.readouterr().out


def test_what_a_run_leaves_of_an_earlier_one_is_said(results: Path, scenario: Path, capsys: Capture) -> None:
    for name in ("report.html", "trace.json"):
        (results / name).write_text("{}")
    assert main(["report", str(scenario), "--seed", "9", "--no-speedups"]) == 0
    left = "contend: replaced results of other settings in out/small; trace.json there is of earlier ones\n"
    assert capsys.readouterr().err == left


def test_the_same_results_give_the_same_page(results: Path) -> None:
    assert main(["report", str(results), "--quiet"]) == 0
    first = (results / "report.html").read_bytes()
    assert main(["report", str(results), "--quiet"]) == 0
    assert (results / "report.html").read_bytes() == first


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


def test_what_the_explanation_left_out_is_said(results: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    budgets = []

    def find(*_: object, budget_s: float, **__: object) -> Findings:
        budgets.append(budget_s)
        return Findings([], None, None, ["Virtual speed-ups are left out: too long."])

    monkeypatch.setattr("contend.explanation.find_speedups", find)
    assert main(["report", str(results), "--budget", "2"]) == 0
    assert "note: Virtual speed-ups are left out" in capsys.readouterr().out
    assert "Virtual speed-ups are left out: too long." in page_of(results / "report.html").text
    assert main(["report", str(results), "--no-speedups"]) == 0
    assert "left out" not in capsys.readouterr().out
    assert budgets == [120.0]


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


def test_interrupted_results_say_so(results: Path) -> None:
    path = results / "results.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"interrupted": True}))
    assert main(["report", str(results), "--no-simulate", "--quiet"]) == 0
    assert "The run was interrupted" in page_of(results / "report.html").text


def test_one_point_has_bars(core: FakeCore, scenario: Path) -> None:
    core.trace = a_trace()
    core.pairs = [4]
    assert main(["report", str(scenario), "--quiet"]) == 0
    charts = page_of(Path("out/small/report.html")).data["charts"]
    assert "rate" in charts
    assert "counters" not in charts, "nothing to draw it over"


def test_points_with_payload_have_a_bandwidth(results: Path) -> None:
    path = results / "results.json"
    document = json.loads(path.read_text())
    for mean, is_shown in ((12_500.0, True), (0.0, False)):
        for point in document["points"]:
            point["bandwidth"] = point["message_rate"] | {"mean": mean, "unit": "MiB/s"}
        path.write_text(json.dumps(document))
        assert main(["report", str(results), "--no-simulate", "--quiet"]) == 0
        text = page_of(results / "report.html").text
        assert ("bandwidth (MiB/s)" in text) == is_shown
        assert ("12.5 k" in text) == is_shown


def test_roles_and_categories_without_time_are_left_out(results: Path) -> None:
    path = results / "results.json"
    document = json.loads(path.read_text())
    for point in document["points"]:
        point["time_by_category_ns"] = {
            "sender": {"software": 900.0, "copy": 100.0, "lock_wait": 0.0, "matching": 0.1},
            "receiver": {"software": 0.0, "lock_wait": 0.0},
        }
    path.write_text(json.dumps(document))
    assert main(["report", str(results), "--no-simulate", "--quiet"]) == 0
    page = page_of(results / "report.html")
    assert {name for name in page.data["charts"] if name.startswith("budget-")} == {"budget-0"}
    assert "Receivers" not in page.text
    assert "senders 90.0% software, 10.0% copy." in " ".join(page.text.split())


MEASURED = {
    "dataset": "d", "metric": "message_rate", "predicted": 1.1e6, "median": 1e6, "interval": [0.9e6, 1.2e6], "cov": 0.1,
    "unit": "msg/s", "abs_error_pct": 10.0, "scored_against_interval": False, "fitted": True,
}  # fmt: skip


def test_what_was_measured_is_beside_what_is_predicted(results: Path) -> None:
    path = results / "results.json"
    document = json.loads(path.read_text())
    document["remarks"] = ["the profile is that of a laptop"]
    document["points"][0]["measured"] = MEASURED
    document["points"][1]["measured"] = {"predicted": None, "median": None, "outcome": "timed out"}
    document["points"][2]["measured"] = MEASURED | {"interval": None}
    path.write_text(json.dumps(document))
    assert main(["report", str(results), "--no-simulate", "--quiet"]) == 0
    page = page_of(results / "report.html")
    row, without = page.data["data"]["measured"]
    assert (row["mean"], row["low"], row["high"]) == (1e6, 0.9e6, 1.2e6)
    assert (without["low"], without["high"], without["interval"]) == (1e6, 1e6, "-")
    assert (row["error"], row["role"]) == ("10 %", "of the fit")
    assert row["x"] == page.data["data"]["points"][0]["x"]
    assert [layer["data"]["name"] for layer in page.data["charts"]["rate"]["layer"][-2:]] == ["measured", "measured"]
    text = (results / "report.html").read_text(encoding="utf-8")
    assert "the profile is that of a laptop" in text
    assert "measured, with the 95 % confidence interval of its median where that is known." in text
    document["points"][0]["measured"] = MEASURED | {"interval": None}
    path.write_text(json.dumps(document))
    assert main(["report", str(results), "--no-simulate", "--quiet"]) == 0
    text = (results / "report.html").read_text(encoding="utf-8")
    assert "&#9733; measured." in text
    assert "interval of its median" not in text


def _change(**fields: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda document: document | fields


def _change_point(**fields: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda document: document | {"points": [document["points"][0] | fields]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_change(points=[]), "no points"),
        (_change(points="many"), "points: Input should be a valid"),
        (_change(seed="1"), "seed: Input should be a valid integer"),
        (_change(scenario=[]), "scenario: Input should be"),
        (_change(scenario={"workload": 5}), "workload"),
        (_change_point(counters={"unexpected": "7"}), "points.0.counters.unexpected: should be a number"),
        (_change_point(message_rate={"mean": 1.0}), "points.0.message_rate.ci95: Field required"),
        (_change_point(time_by_category_ns={"sender": {"software": -1.0}}), "should not be negative"),
        (_change_point(events=10**400), "points.0.events: should be a finite number"),
        (_change_point(parameters=None), "points.0.parameters"),
        (_change_point(message_rate=None), "points.0: message_rate is null"),
        (_change_point(elapsed_s=None), "points.0: elapsed_s is null"),
        (_change_point(measured={"predicted": 1.0}), "points.0.measured.median: Field required"),
        (_change_point(measured={"predicted": 1.0, "median": 1.0}), "points.0.measured: a median without its interval"),
        (_change_point(measured=MEASURED | {"interval": [1.0]}), "points.0.measured.interval"),
        (_change_point(measured=MEASURED | {"median": "1"}), "points.0.measured.median: should be a number"),
        (_change(remarks=7), "remarks: Input should be a valid"),
        (_change(remarks=[7]), "remarks.0: Input should be a valid string"),
        (lambda _: [], "the whole"),
    ],
)
def test_results_that_are_nonsense(
    results: Path, capsys: Capture, change: Callable[[dict[str, Any]], Any], message: str
) -> None:
    path = results / "results.json"
    path.write_text(json.dumps(change(json.loads(path.read_text()))))
    assert main(["report", str(results)]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.startswith("contend: error: out/small/results.json")
    assert not (results / "report.html").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "cut off"),
        (b'{"contend_version": "0.1.0", "points": [{"para', "cut off"),
        (b"\xff\xfe\x00", ""),
        (b"[" * 100_000, "not JSON"),
        (b"plain text}", "not JSON"),
        (b'{"contend_version": "1", "scenario": {}, "seed": 1, "points": [{"wall_s": NaN}]}', "points.0"),
    ],
)
def test_results_that_are_no_json(results: Path, capsys: Capture, content: bytes, message: str) -> None:
    (results / "results.json").write_bytes(content)
    assert main(["report", str(results)]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert len(error) < 500


def test_results_with_a_key_that_occurs_twice(results: Path, capsys: Capture) -> None:
    path = results / "results.json"
    path.write_text(path.read_text().replace('"seed": 1,', '"seed": 2, "seed": 1,', 1))
    assert main(["report", str(results)]) == 2
    assert 'the key "seed" occurs twice in one object' in capsys.readouterr().err


def test_a_folder_without_results(results: Path, capsys: Capture) -> None:
    (results / "results.json").unlink()
    assert main(["report", str(results)]) == 2
    assert "has no results.json" in capsys.readouterr().err
    Path("out/summary.json").write_text("{}")
    assert main(["report", "out"]) == 2
    assert "several scenarios" in capsys.readouterr().err


@pytest.mark.parametrize(
    "trace", ["[]", "{", '{"traceEvents": [{"ph": "X"}]}', '{"traceEvents": [5]}', '{"traceEvents": []}']
)
def test_a_trace_that_is_none(results: Path, capsys: Capture, trace: str) -> None:
    (results / "trace.json").write_text(trace)
    assert main(["report", str(results), "--quiet"]) == 2
    assert "trace" in capsys.readouterr().err


def test_an_explanation_that_is_none(results: Path, capsys: Capture) -> None:
    (results / "explain.json").write_text('{"contend_version": "0.1.0"}')
    assert main(["report", str(results), "--quiet"]) == 2
    assert "explain.json: not as contend writes it" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--at", "pairs=3"], "no such point; pairs is 1, 2, 4"),
        (["--at", "colour=red"], "no such point; the sweep's are: pairs, lock"),
        (["--at", "pairs"], "expected NAME=VALUE"),
        (["--set", "workload.pairs=2"], "has results already"),
        (["--seed", "4"], "has results already"),
        (["--from", "5", "--to", "4"], "is not after"),
        (["--from", "1e9"], "nothing happens"),
        (["--from", "5 ms", "--to", "4999 us"], "--to 4999 us is not after --from 5000 us"),
        (["--from", "-5"], "--from -5: not a time"),
        (["--to", "5 KiB"], "--to 5 KiB: not a time"),
        (["--out", "."], "that is a folder; a report is one file, such as report.html"),
    ],
)
def test_options_that_cannot_be(results: Path, capsys: Capture, options: list[str], message: str) -> None:
    assert main(["report", str(results), *options]) == 2
    assert message in capsys.readouterr().err


def test_times_may_have_a_unit(results: Path) -> None:
    pages = []
    for begin, end in (("60", "90"), ("0.06 ms", "90 us"), ("60000 ns", "0.09ms")):
        assert main(["report", str(results), "--from", begin, "--to", end, "--quiet"]) == 0
        pages.append((results / "report.html").read_text(encoding="utf-8"))
    assert "<p>30 us of the first replication" in pages[0]
    assert ", from 60.000 us of simulated time" in pages[0]
    assert pages[0] == pages[1] == pages[2]


def test_the_folder_of_the_page_is_made(results: Path, capsys: Capture) -> None:
    assert main(["report", str(results), "--out", "new/folder/page.html", "--no-simulate", "--at", "pairs=77"]) == 2
    assert "no such point" in capsys.readouterr().err
    assert not Path("new").exists()
    assert main(["report", str(results), "--out", "new/folder/page.html", "--no-simulate", "--quiet"]) == 0
    assert Path("new/folder/page.html").is_file()


def test_a_missing_point_costs_no_simulation(core: FakeCore, scenario: Path, capsys: Capture) -> None:
    assert main(["report", str(scenario), "--at", "pairs=77"]) == 2
    assert "no such point" in capsys.readouterr().err
    assert core.calls == 0


def test_a_full_disk_keeps_the_old_page(results: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    (results / "report.html").write_text("old")

    def full(*_: object) -> None:
        raise OSError(28, "no space")

    monkeypatch.setattr("contend.files.os.fsync", full)
    assert main(["report", str(results), "--no-simulate", "--quiet"]) == 1
    assert "no space left" in capsys.readouterr().err
    assert (results / "report.html").read_text() == "old"
    assert sorted(path.name for path in results.iterdir() if path.name.startswith(".")) == []


def test_the_window_is_in_the_timed_part_and_not_too_full() -> None:
    shown = choose_window(a_trace(), Window())
    assert shown.begin > 20.0
    count = sum(len(track.slices) for track in shown.tracks)
    assert 100 < count <= 2500
    dense = choose_window(a_trace(20_000), Window())
    assert sum(len(track.slices) for track in dense.tracks) <= 2600
    with pytest.raises(InputError, match="too many"):
        choose_window(a_trace(20_000), Window(0.0, 1e5))


def test_the_stretch_shows_messages_where_the_middle_is_a_barrier() -> None:
    events = a_trace(0)["traceEvents"]
    for tid in (1, 2):
        events.append({"ph": "X", "pid": 1, "tid": tid, "ts": 500.0, "dur": 4500.0, "name": "MPI_Barrier"})
    for number in range(300):
        at = 5000.0 + number
        events += [
            {"ph": "X", "pid": 1, "tid": 1, "ts": at, "dur": 0.9, "name": "MPI_Isend"},
            {"ph": "s", "pid": 1, "tid": 1, "ts": at, "id": number, "name": "message"},
            {"ph": "f", "pid": 1, "tid": 2, "ts": at + 0.5, "id": number, "name": "message"},
        ]
    shown = choose_window({"traceEvents": events}, Window())
    assert 4900.0 <= shown.begin < 5300.0
    assert len(shown.flows) > 20
    # The trace ends as the timed part begins: there are messages in the warm-up.
    early = [
        {**event, "ts": event["ts"] - 4800.0} if event["ts"] >= 5000.0 else event for event in events if "ts" in event
    ]
    early += [event for event in events if "ts" not in event]
    early.append({"ph": "i", "s": "t", "pid": 1, "tid": 1, "ts": 4990.0, "name": "timed part begins"})
    shown = choose_window({"traceEvents": early}, Window())
    assert 200.0 <= shown.begin < 500.0
    assert len(shown.flows) > 20
    # What is asked for is shown all the same.
    assert choose_window({"traceEvents": events}, Window(begin=600.0, end=700.0)).flows == []


def test_a_trace_that_ends_before_the_timed_part_shows_what_it_has() -> None:
    trace = a_trace()
    for event in trace["traceEvents"]:
        if event["ph"] == "i":
            event["ts"] = 1e9
    shown = choose_window(trace, Window())
    assert any(track.slices for track in shown.tracks)


def test_explanations_of_explain_are_read(core: FakeCore, scenario: Path) -> None:
    del core
    assert main(["explain", str(scenario), "--out", "here", "--quiet"]) == 0
    explanation = source.read_explanation(Path("here"))
    assert explanation is not None
    assert explanation.locks[0].waits[0].waiter == "receiver"


def test_waits_without_a_lock_have_a_table(results: Path) -> None:
    assert main(["report", str(results), "--quiet", "--no-speedups"]) == 0
    text = " ".join(page_of(results / "report.html").text.split())
    assert "Waiting for other threads without a lock, longest first" in text
    row = text[text.index("rank 1/others' progress") :]
    assert row.startswith("rank 1/others' progress20")
    assert "75% receiver, completed requests25% nobody" in row
    assert "75% receiver 0" in row
    assert "75% matching25% poll idle" in row
    assert "meanwhile: what those do who are waited for" in row


def test_explanations_without_waits_have_no_table_of_them(results: Path, capsys: Capture) -> None:
    assert main(["explain", str(results / "../../small.json"), "--out", str(results), "--no-speedups", "--quiet"]) == 0
    path = results / "explain.json"
    explanation = json.loads(path.read_text())
    for places in (None, []):
        explanation.pop("waiting_places")
        if places is not None:
            explanation["waiting_places"] = places
        path.write_text(json.dumps(explanation))
        assert main(["report", str(results), "--quiet"]) == 0
        text = page_of(results / "report.html").text
        assert "rank 1/matching" in text
        assert "Waiting for other threads" not in text
        explanation["waiting_places"] = places
    explanation["waiting_places"] = [{"name": "rank 1/others' progress"}]
    path.write_text(json.dumps(explanation))
    assert main(["report", str(results), "--quiet"]) == 2
    assert "explain.json: not as contend writes it" in capsys.readouterr().err


def test_a_validation_becomes_a_section(results: Path, tmp_path: Path, capsys: Capture) -> None:
    shipped = REPOSITORY / "validation" / "published" / "threads.json"
    assert main(["report", str(results), "--no-simulate", "--validation", str(shipped), "--quiet"]) == 0
    page = (results / "report.html").read_text(encoding="utf-8")
    assert '<section class="validation" id="validation-1"><h2>Validation: threads</h2>' in page
    assert 'href="#validation-1"' in page
    assert "ucx-one-lock" in page
    is_none = "is no result of 'contend validate --json': it has no "
    for number, (text, problem) in enumerate((
        ("nonsense", ":1:1: not JSON"), ("[]", f" {is_none}list of points"), ("{}", f" {is_none}list of points"),
        ('{"points": 3}', f" {is_none}list of points"), ('{"points": []}', f" {is_none}'summary'"),
    )):  # fmt: skip
        bad = tmp_path / f"bad{number}.json"
        bad.write_text(text, encoding="utf-8")
        assert main(["report", str(results), "--no-simulate", "--validation", str(bad), "--quiet"]) == 2
        assert f"{bad}{problem}" in capsys.readouterr().err
