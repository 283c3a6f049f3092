import dataclasses
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest
from rich.console import Console

import contend
import contend.common.statistics
from contend.common.amounts import interval_text, rate_text
from contend.common.errors import InputError
from contend.common.files import write_files
from contend.plots import picture_bytes
from contend.results.output import default_directory, result_numbers
from contend.results.results import Results
from contend.results.tables import render
from contend.scenarios.axes import curves, representative, x_axis

if TYPE_CHECKING:
    from fakes import FakeCore


@pytest.fixture
def results(core: "FakeCore", scenario: Path) -> Results:
    del core
    return contend.run(scenario, jobs=2)


def test_has_what_the_contract_names(results: Results) -> None:
    document = json.loads(results.json_bytes())
    assert set(document) >= {"contend_version", "scenario", "seed", "points"}
    point = document["points"][0]
    assert point["parameters"] == {"pairs": 1, "lock": "mutex"}
    rate = point["message_rate"]
    assert rate["ci95"][0] < rate["mean"] < rate["ci95"][1]
    assert (rate["unit"], rate["replications"]) == ("msg/s", 3)
    assert point["counters"]["messages_sent"] == 1280
    assert isinstance(point["counters"]["messages_sent"], int)
    assert point["counters"]["out_of_sequence"] == 101
    assert {"sender", "receiver"} == set(point["time_by_category_ns"])
    assert {"simulated_s", "wall_s", "events"} <= set(point)


def test_what_only_somebodys_own_workload_measures_is_kept(core: "FakeCore", scenario: Path) -> None:
    original = core.run_point
    own = {"round_trip_s": 2.5e-3, "gap_ns": 700.0, "naps_per_s": 4.0, "depth": 3}

    def run_point(config: str, replication: int, *options: bool | str | int) -> str:
        result = json.loads(original(config, replication, *options))  # type: ignore[arg-type]
        also = {"depth": 3 + replication, "threads": {"sender": 1}, "odd": True, "text": "word", "none": None}
        return json.dumps(result | own | also)

    core.run_point = run_point  # type: ignore[method-assign]
    results = contend.run(scenario)
    expected = {"elapsed_s": 1e-3, **own, "depth": 4.0}  # the mean of 3, 4 and 5
    assert results.points[0].scalars == expected
    assert expected.items() <= results.to_json()["points"][0].items()
    again = Results.from_json(results.to_json())
    assert again.points[0].scalars == expected
    frame = again.frame()
    assert frame["depth"].to_list() == [4.0] * 6
    assert {name: again.units.get(name) for name in own} == {
        "round_trip_s": "s", "gap_ns": "ns", "naps_per_s": "1/s", "depth": None,
    }  # fmt: skip
    shown = Console(file=io.StringIO(), width=300, record=True)
    shown.print(render(again))
    text = shown.export_text()
    for cell in ("round trip", "2.5 ms", "gap", "700 ns", "naps", "4 1/s", "depth"):
        assert cell in text


def test_an_axis_that_changes_nothing_is_named(core: "FakeCore", scenario: Path) -> None:
    original = core.run_point
    events = 0

    def blind_to_locks(config: str, replication: int, *options: bool | str | int) -> str:
        document = json.loads(config)
        lock = document["lock"]
        result = json.loads(original(json.dumps(document | {"lock": "mutex"}), replication, *options))  # type: ignore[arg-type]
        result["events"] += events if lock == "mcs" else 0
        return json.dumps(result)

    assert not any("changes nothing" in note for note in contend.run(scenario).notes)
    core.run_point = blind_to_locks  # type: ignore[method-assign]
    blind = contend.run(scenario)
    assert blind.notes == ["lock changes nothing here: all its values give the same simulation"]
    assert contend.Results.from_json(blind.to_json()).notes == blind.notes
    assert blind.select(lock="mcs").notes == []
    few = dataclasses.replace(blind, points=blind.points[1:])
    assert few.notes == [], "one value has no counterpart"
    events = 3
    assert contend.run(scenario).notes == []


def test_one_replication_says_so(core: "FakeCore", scenario: Path) -> None:
    del core
    results = contend.run(scenario, {"run.replications": 1})
    assert results.to_json()["points"][0]["message_rate"]["ci95"] == [None, None]
    Console(file=io.StringIO()).print(render(results))
    assert picture_bytes(results)["svg"]


def test_canonical_bytes_leave_out_only_what_may_differ(core: "FakeCore", scenario: Path) -> None:
    del core
    first, second = contend.run(scenario, jobs=1), contend.run(scenario, jobs=3)
    assert first.canonical_bytes() == second.canonical_bytes()
    assert first.canonical_hash() == second.canonical_hash()
    assert b"wall_s" not in first.canonical_bytes()
    other = contend.run(scenario, {"run.replications": 2})
    assert first.canonical_hash() != other.canonical_hash()


def test_files_round_trip(results: Results, tmp_path: Path) -> None:
    write_files(tmp_path, result_numbers(results))
    assert contend.load_results(tmp_path).json_bytes() == results.json_bytes()
    frame = pl.read_parquet(tmp_path / "results.parquet")
    assert frame.equals(results.frame())
    assert frame.height == 6
    assert pl.read_csv(tmp_path / "results.csv").columns == frame.columns
    assert {"pairs", "lock", "message_rate", "message_rate_ci95_low", "receiver_matching_ns"} <= set(frame.columns)


def test_results_without_samples_have_empty_cells(results: Results) -> None:
    document = results.to_json()
    for point in document["points"][:2]:
        del point["message_rate"]["samples"]
    frame = contend.Results.from_json(document).samples()
    assert frame.columns == results.samples().columns
    assert frame["message_rate"].to_list() == [None] * 6 + results.samples()["message_rate"].to_list()[6:]


def test_not_results(tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text("{}")
    with pytest.raises(InputError, match=r"not the content of a results\.json: it has no 'scenario'"):
        contend.load_results(tmp_path)
    (tmp_path / "results.json").write_text("[]")
    with pytest.raises(InputError, match=r"not the content of a results\.json: one of its values is of another kind"):
        contend.load_results(tmp_path)
    (tmp_path / "results.json").write_text("{")
    with pytest.raises(InputError, match="not JSON"):
        contend.load_results(tmp_path)


def test_pictures_are_the_same_bytes_every_time(results: Results) -> None:
    first, second = picture_bytes(results), picture_bytes(results)
    assert first == second
    assert first["png"].startswith(b"\x89PNG")
    assert b"<dc:date>" not in first["svg"]


def test_curves(results: Results) -> None:
    axis = x_axis(results.points)
    assert axis == "pairs"
    groups = curves(results.points, axis)
    assert [curve.label for curve in groups] == ["lock=mutex", "lock=mcs"]
    assert [point.parameters["pairs"] for point in groups[0].points] == [1, 2, 4]


def test_picture_without_a_number_to_sweep(core: "FakeCore", scenario: Path) -> None:
    core.pairs = [4]
    results = contend.run(scenario)
    assert x_axis(results.points) is None
    assert picture_bytes(results)["svg"]


def test_some_points_of_many(core: "FakeCore", scenario: Path) -> None:
    core.pairs = list(range(1, 21))
    results = contend.run(scenario)
    assert [point.parameters["pairs"] for point in representative(results.points)] == [1, 11, 20, 1, 11, 20]
    ends = [(point.parameters["lock"], point.parameters["pairs"]) for point in representative(results.points, 3)]
    assert ends == [("mutex", 20), ("mcs", 20)]


def test_counters_say_that_they_have_the_warm_up(results: Results) -> None:
    console = Console(width=100, file=io.StringIO(), record=True)
    console.print(render(results))
    text = console.export_text()
    assert "mean of one replication, warm-up included" in text[text.index("OMPI_SPC_ISEND") :]


def test_tables(results: Results) -> None:
    text = io.StringIO()
    Console(file=text, width=200).print(render(results))
    for expected in ("± ", "7.9%", "where the time went", "matching", "OMPI_SPC_OUT_OF_SEQUENCE", "50 ns"):
        assert expected in text.getvalue()


def test_texts() -> None:
    assert rate_text(140199) == "140.2 k"
    assert rate_text(1.5) == "1.5"
    assert interval_text(contend.common.statistics.estimate([1.0])) == "-"
    assert default_directory("a b/../c") == Path("out/a_b_.._c")


def test_results_with_values_of_another_kind(core: "FakeCore", scenario: Path, tmp_path: Path) -> None:
    del core
    document = contend.run(scenario).to_json()
    document["points"][0]["message_rate"] = "fast"
    (tmp_path / "results.json").write_text(json.dumps(document))
    with pytest.raises(InputError, match="one of its values is of another kind"):
        contend.load_results(tmp_path)
