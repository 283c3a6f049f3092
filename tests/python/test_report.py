"""`contend report` with the stand-in for the core: what the page holds."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from contend.cli import main
from contend.common.errors import InputError
from contend.explanations.speedups import Findings
from contend.report.timeline import Window, choose_window
from fakes import REPOSITORY
from reporting import MEASURED, NASTY, Page, a_trace, page_of

if TYPE_CHECKING:
    from fakes import FakeCore

Capture = pytest.CaptureFixture[str]
pytestmark = pytest.mark.usefixtures("no_chart_library", "unrendered")


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


def test_the_same_results_give_the_same_page(results: Path) -> None:
    assert main(["report", str(results), "--quiet"]) == 0
    first = (results / "report.html").read_bytes()
    assert main(["report", str(results), "--quiet"]) == 0
    assert (results / "report.html").read_bytes() == first


def test_what_the_explanation_left_out_is_said(results: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    budgets = []

    def find(*_: object, budget_s: float, **__: object) -> Findings:
        budgets.append(budget_s)
        return Findings([], None, None, ["Virtual speed-ups are left out: too long."])

    monkeypatch.setattr("contend.explanations.explanation.find_speedups", find)
    assert main(["report", str(results), "--budget", "2"]) == 0
    assert "note: Virtual speed-ups are left out" in capsys.readouterr().out
    assert "Virtual speed-ups are left out: too long." in page_of(results / "report.html").text
    assert main(["report", str(results), "--no-speedups"]) == 0
    assert "left out" not in capsys.readouterr().out
    assert budgets == [120.0]


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
