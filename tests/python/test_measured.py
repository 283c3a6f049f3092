"""Measured configurations become scenarios that are run, written and compared; what cannot is refused with a hint."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import contend
from calibrating import MACHINE, mapping, metric, rates, write
from contend.cli import main
from contend.common.errors import InputError
from contend.datasets.reading import read_dataset
from contend.measured.configurations import open_dataset
from contend.measured.machine import choose_profile
from contend.profiles.catalogs import PROFILES
from contend.results.results import Results
from contend.scenarios.axes import curves, x_axis
from fakes import REPOSITORY

Capture = pytest.CaptureFixture[str]
pytestmark = pytest.mark.usefixtures("unrendered")

DATA = REPOSITORY / "validation" / "data" / "vm-2core"
# The id that imports without --machine had in earlier versions.
IMPORTED_ID = "b23a6a8439c0"
SHARED = DATA / "openmpi-5_tcp_shared.json"


def profile_of(folder: Path, name: str, **calibration: Any) -> Path:
    """The profile alembert under another name, of the machine of the tests' datasets unless told otherwise."""
    _, document = PROFILES.load("alembert")
    path = folder / f"{name}.json"
    path.write_text(json.dumps({**document, "name": name, "calibration": {"machines": {"box": {}}, **calibration}}))
    return path


def work_in(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes a folder the working one, with a mapping of the tests' library and a profile of their datasets' machine."""
    monkeypatch.chdir(folder)
    profiles = folder / "profiles"
    profiles.mkdir()
    profile_of(profiles, "box")
    monkeypatch.setenv("CONTEND_PROFILES", str(profiles))
    (folder / "alib.map").write_text(mapping().model_dump_json())


@pytest.fixture
def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A dataset of a library that only the mapping beside it knows, a profile of its machine, in the working folder."""
    work_in(tmp_path, monkeypatch)
    document = rates("mine", {1: [1e5, 1.1e5], 2: [2e5], 4: [3e5, 3.1e5, 2.9e5] * 2}, pattern="pairwise", mode="thread",
                     message_size="0 B", iterations=3, warmup_iterations=1)  # fmt: skip
    document["points"].append({"parameters": {"pairs": 8}, "message_rate": metric(unit=""), "outcome": "crashed"})
    del document["points"][2]["message_rate"]["launch"]
    return write(tmp_path, document)


MAP = ("--mapping", "alib.map")


@pytest.mark.core
def test_run_shows_what_was_measured_beside_what_is_predicted(measured: Path, capsys: Capture) -> None:
    assert main(["run", str(measured), *MAP, "--replications", "2"]) == 0
    shown = capsys.readouterr().out
    assert "measured and predicted, msg/s" in shown
    assert re.search(r"^ *4 +300 k .* [+-]\d+ %", shown, re.MULTILINE)
    assert "crashed" in shown
    assert "predicted with the profile box, by the mapping alib" in shown
    loaded = contend.load_results("out/mine")
    assert [point.parameters for point in loaded.points] == [{"pairs": n} for n in (1, 2, 4, 8)]
    medians = [point.measured["median"] for point in loaded.points if point.measured]
    assert medians == [105e3, 200e3, 300e3, None]
    assert loaded.to_json() == json.loads(Path("out/mine/results.json").read_text())
    frame = loaded.frame()
    assert frame["measured"].to_list() == medians
    assert all(value > 0 for value in frame["predicted"])
    intervals = [point.measured["interval"] for point in loaded.points[:3] if point.measured]
    assert intervals[:2] == [None, None], "one launch each"
    assert intervals[2] is not None
    for point in loaded.points[:3]:
        assert point.measured is not None
        error = abs(point.measured["predicted"] / point.measured["median"] - 1) * 100
        assert point.measured["abs_error_pct"] == pytest.approx(error)
    assert main(["report", "out/mine"]) == 0


@pytest.mark.core
def test_held_out_points_are_named_whichever_are_chosen(measured: Path, capsys: Capture) -> None:
    fitted = {"dataset": "mine", "machine": "box", "points": [{"pairs": 4}], "samples": []}
    profile_of(Path("profiles"), "made", split={"calibration": [fitted], "held_out": []})
    few = ["run", str(measured), *MAP, "--iterations", "1", "--replications", "1", "--profile"]
    said = {"of the fit": "the profile was calibrated on this point", "held out": "calibrated on other points"}
    for pairs, role, other in ((2, "held out", "of the fit"), (4, "of the fit", "held out")):
        assert main([*few, "made", "--point", f"pairs={pairs}"]) == 0
        shown = " ".join(capsys.readouterr().out.split())
        assert f" % {role} " in shown
        assert f"{role}: " in shown
        assert said[role] in shown
        assert other not in shown
    assert main([*few, "box", "--point", "pairs=2"]) == 0
    shown = capsys.readouterr().out
    assert "held out" not in shown, "this profile was fitted to nothing"
    assert "of the fit" not in shown


@pytest.mark.core
def test_one_point_and_several(measured: Path, capsys: Capture) -> None:
    assert main(["run", str(measured), *MAP, "--point", "pairs=4", "--iterations", "1", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["scenario"]["workload"]["pairs"] == 4
    assert document["scenario"]["workload"]["iterations"] == 1
    (point,) = document["points"]
    assert point["measured"]["median"] == 300e3
    assert main(["run", str(measured), *MAP, "--point", "pairs=2", "--point", "pairs=4", "--json", "-o", "x"]) == 0
    assert [p["parameters"] for p in json.loads(capsys.readouterr().out)["points"]] == [{"pairs": 2}, {"pairs": 4}]
    # Who has measured does not always say how many iterations; the scenario's own number is replaced then, too.
    imported = json.loads(measured.read_text())
    imported["workload"].pop("iterations")
    other = measured.with_name("imported.json")
    other.write_text(json.dumps(imported))
    assert main(["run", str(other), *MAP, "--point", "pairs=2", "--iterations", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["scenario"]["workload"]["iterations"] == 2
    # More iterations than were measured make no longer samples.
    assert main(["run", str(measured), *MAP, "--point", "pairs=2", "--iterations", "50", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["scenario"]["workload"]["iterations"] == 3


@pytest.mark.core
def test_samples_shorter_than_measured_are_said_to_be(measured: Path, capsys: Capture) -> None:
    document = json.loads(measured.read_text())
    document["points"][0]["per_launch"] = [{"launch": 0, "iterations": [2]}]
    document["points"][1]["per_launch"] = [{"launch": 0, "iterations": [20]}]
    measured.write_text(json.dumps(document))

    def notes(*words: str) -> str:
        assert main(["run", str(measured), *MAP, "--replications", "1", "--json", *words]) == 0
        remarks = json.loads(capsys.readouterr().out)["remarks"]
        return " ".join(remark for remark in remarks if "shorter than those measured" in remark)

    assert notes() == ""
    assert "measured at 3 of 4 points: 2 iterations, measured 3 to 20; " in notes("--iterations", "2")
    assert "shorter than those measured: 1 iteration, measured 2 to 20; " in notes("--iterations", "1")
    few = ("--point", "pairs=2")
    assert "shorter than those measured: 5 iterations, measured 20; " in notes(*few, "--set", "workload.iterations=5")
    assert notes(*few, "--set", "workload.iterations=20") == ""


@pytest.mark.core
def test_how_long_a_sample_is_that_nobody_knows_the_length_of(measured: Path, capsys: Capture) -> None:
    document = json.loads(measured.read_text())
    del document["workload"]["iterations"]
    measured.write_text(json.dumps(document))

    def results(*words: str) -> Results:
        assert main(["run", str(measured), *MAP, "--point", "pairs=2", "--replications", "1", "--json", *words]) == 0
        return Results.from_json(json.loads(capsys.readouterr().out))

    def note(found: Results) -> str:
        return " ".join(one for one in found.remarks if "how many a measured sample had is not known" in one)

    found = results()
    assert note(found).startswith("10 timed iterations were simulated: ")
    assert found.scenario["workload"]["iterations"] == 10
    assert "workload.iterations" not in dict(found.overrides)
    found = results("--iterations", "1")
    assert note(found).startswith("1 timed iteration was simulated: ")
    assert dict(found.overrides)["workload.iterations"] == "1"
    assert "iterations=1" in found.changes
    document["points"][1]["parameters"]["iterations"] = 4
    measured.write_text(json.dumps(document))
    found = results("--iterations", "3")
    assert not note(found)
    assert "workload.iterations" not in dict(found.overrides), "the most that a point gets"
    assert found.scenario["workload"]["iterations"] == 3


@pytest.mark.core
def test_a_changed_workload_is_not_compared_and_a_changed_machine_is(measured: Path, capsys: Capture) -> None:
    few = ["--point", "pairs=2", "--replications", "1", "--json"]
    assert main(["run", str(measured), *MAP, *few, "--set", "workload.window=64"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert "measured" not in document["points"][0]
    assert any("nothing measured to compare" in remark for remark in document["remarks"])
    assert main(["run", str(measured), *MAP, *few, "--set", "machine.noise=0 ns"]) == 0
    assert json.loads(capsys.readouterr().out)["points"][0]["measured"]["median"] == 200e3


@pytest.mark.core
def test_a_written_scenario_runs_as_the_dataset_does(measured: Path, capsys: Capture) -> None:
    target = Path("deeper") / "four.json"
    assert main(["dataset", "scenario", str(measured), *MAP, "--point", "pairs=4", "-o", str(target)]) == 0
    assert "wrote deeper/four.json: 1 point" in capsys.readouterr().out
    text = target.read_text()
    assert str(measured.parent) not in text, "the file can be moved with what it names"
    assert "300 k msg/s" in json.loads(text)["description"]
    assert main(["run", str(target), "--json"]) == 0
    written = json.loads(capsys.readouterr().out)
    assert main(["run", str(measured), *MAP, "--point", "pairs=4", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["points"][0]["message_rate"] == written["points"][0]["message_rate"]
    from_python = contend.load_measured(SHARED, {"pairs": 4}, profile="vm-2core")
    assert from_python["workload.iterations"] == read_dataset(SHARED).points[2].iterations


@pytest.mark.core
@pytest.mark.parametrize("pairs", [(2,), (1, 2)])
def test_points_of_the_same_scenario_are_simulated_once(
    pairs: tuple[int, ...], measured: Path, capsys: Capture
) -> None:
    Path("alib.map").write_text(mapping(options={"spc": {}}).model_dump_json())
    document = json.loads(measured.read_text())
    document["points"] = [
        {"parameters": {"pairs": n, "spc": spc}, "message_rate": metric(n * 1e5 + spc)}
        for spc in (False, True)
        for n in pairs
    ]
    measured.write_text(json.dumps(document))
    assert main(["dataset", "scenario", str(measured), *MAP, "-o", "all.json"]) == 0
    scenario = json.loads(Path("all.json").read_text())
    assert scenario.get("sweep", []) == ([{"workload.pairs": n} for n in pairs] if len(pairs) > 1 else [])
    capsys.readouterr()
    assert main(["run", str(measured), *MAP, "--replications", "1"]) == 0
    count = len(pairs)
    assert f"{2 * count} points, {count} run" in capsys.readouterr().out
    results = contend.load_results("out/mine")
    found = {tuple(point.parameters.values()): point.measured for point in results.points}
    wanted = {(*((n,) if count > 1 else ()), spc): n * 1e5 + spc for n in pairs for spc in (False, True)}
    assert {key: one["median"] for key, one in found.items() if one} == wanted
    assert len({point.mean_of("message_rate") for point in results.points}) == count
    assert any(note.startswith("spc changes nothing here") for note in results.notes)
    assert main(["report", "out/mine"]) == 0
    assert "has no point" not in capsys.readouterr().err


@pytest.mark.core
def test_points_that_differ_in_how_values_are_written(measured: Path, capsys: Capture) -> None:
    document = json.loads(measured.read_text())
    for size, point in zip(("1 KiB", "1024 B", 1024, "2 KiB"), document["points"], strict=True):
        point["parameters"] = {"message_size": size}
    measured.write_text(json.dumps(document))
    assert main(["run", str(measured), *MAP, "--replications", "1", "--json", "--set", "workload.pairs=1"]) == 0
    points = json.loads(capsys.readouterr().out)["points"]
    assert [point["parameters"] for point in points] == [{"message_size": f"{n} KiB"} for n in (1, 1, 1, 2)]


@pytest.mark.core
def test_points_of_other_lengths_make_one_curve(measured: Path, capsys: Capture) -> None:
    document = json.loads(measured.read_text())
    for length, point in enumerate(document["points"], 1):
        point["per_launch"] = [{"launch": 0, "iterations": [length]}]
    measured.write_text(json.dumps(document))
    assert main(["dataset", "scenario", str(measured), *MAP, "-o", "all.json"]) == 0
    sweep = json.loads(Path("all.json").read_text())["sweep"]
    own = [{key: value for key, value in one.items() if key != "workload.warmup_iterations"} for one in sweep]
    assert own == [{"workload.pairs": n, "workload.iterations": i} for i, n in enumerate((1, 2, 4, 8), 1)]
    capsys.readouterr()
    assert main(["run", "all.json", "--replications", "1", "--json"]) == 0
    results = Results.from_json(json.loads(capsys.readouterr().out))
    assert x_axis(results.points) == "pairs"
    assert [len(curve.points) for curve in curves(results.points, "pairs")] == [4]
    # Where nothing else tells points apart, lengths do.
    lengths = [p for p in results.points if p.parameters["pairs"] == 1] * 2
    assert len(curves(lengths, None)) == 1


def test_what_is_not_there_is_said_not_to_be(measured: Path, capsys: Capture) -> None:
    assert measured.exists()
    for words in ((), ("--profile", "box"), ("--point", "pairs=4"), MAP):
        assert main(["run", "min.json", *words]) == InputError.exit_code
        said = capsys.readouterr().err
        assert "min.json" in said
        assert "go with a dataset" not in said


@pytest.mark.core
def test_other_libraries_and_machines(measured: Path, capsys: Capture) -> None:
    bad = InputError.exit_code
    assert main(["run", str(measured)]) == bad
    assert "no mapping says what stands for alib over tcp" in capsys.readouterr().err
    document = json.loads(measured.read_text())
    document["machine"] = MACHINE | {"id": "elsewhere"}
    other = measured.with_name("other.json")
    other.write_text(json.dumps(document))
    assert main(["run", str(other), *MAP]) == bad
    said = capsys.readouterr().err
    assert "no profile is of the machine of mine (a processor, id elsewhere); --profile NAME takes another" in said
    assert main(["run", str(other), *MAP, "--profile", "box", "--point", "pairs=2", "--replications", "1"]) == 0
    assert "the profile box" in (shown := capsys.readouterr().out)
    assert "not known to be of the machine that was measured (a processor, id elsewhere)" in shown
    assert main(["run", str(other), *MAP, "--profile", "boxx"]) == bad
    assert "no machine profile 'boxx'; did you mean 'box'?" in capsys.readouterr().err


def test_validate_says_that_profile_and_dataset_are_of_other_machines(
    measured: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def begins(*_: object, **__: object) -> None:
        raise InputError("it begins")

    monkeypatch.setattr("contend.cli.accuracy._validate", begins)
    document = json.loads(measured.read_text())
    for name in ("other", "third"):
        write(measured.parent, document | {"dataset": name, "machine": MACHINE | {"id": "elsewhere"}})
    paths = [str(measured.with_name(f"{name}.json")) for name in ("mine", "other", "third")]
    said = "is not known to be of the machine that was measured (a processor, id elsewhere)\n"
    assert main(["validate", "box", *paths]) == InputError.exit_code
    error = capsys.readouterr().err
    assert error.startswith("contend: the profile box (")
    assert error.count(said) == 1
    for words in (paths[:1], [*paths, "--quiet"]):
        assert main(["validate", "box", *words]) == InputError.exit_code
        assert capsys.readouterr().err == "contend: error: it begins\n"


def test_the_profile_that_was_made_with_a_dataset_comes_first(measured: Path) -> None:
    profiles = measured.parent / "profiles"
    split = {"held_out": [{"dataset": "mine", "machine": "box", "points": []}]}
    profile_of(profiles, "z-made", split=split)
    profile_of(profiles, "a-other", split={"calibration": [{"dataset": "mine", "machine": "cube", "points": []}]})
    assert choose_profile(read_dataset(measured)).name == "z-made"
    assert choose_profile(read_dataset(measured), "a-other").name == "a-other"
    assert choose_profile(read_dataset(SHARED)).name == "tcp-profile"
    assert choose_profile(read_dataset(DATA / "openmpi-4_tcp_shared.json")).name == "vm-2core"


@pytest.mark.parametrize("machine", [{}, {"id": IMPORTED_ID, "cpu": "unknown"}])
def test_a_machine_without_a_name_is_of_a_profile_that_was_fitted_to_its_dataset(
    machine: dict[str, str], measured: Path
) -> None:
    for name, rate in (("one", 1e5), ("other", 2e5)):
        write(measured.parent, rates(name, {1: [rate]}) | {"machine": machine})
    one, other = (read_dataset(measured.with_name(f"{name}.json")) for name in ("one", "other"))
    entry = {"dataset": "one", "machine": one.machine_id, "sha256": one.digest, "points": [], "samples": []}
    split = {"calibration": [entry], "held_out": [entry | {"dataset": "other", "sha256": other.digest}]}
    profile_of(measured.parent / "profiles", "made", machines={one.machine_id: {}}, split=split)
    found = choose_profile(one)
    assert (found.name, found.is_of_machine) == ("made", True)
    with pytest.raises(InputError, match=r"of the machine of other \(the dataset does not name it\); --profile NAME"):
        choose_profile(other)
    assert not choose_profile(other, "made").is_of_machine


@pytest.mark.core
def test_values_of_a_scope_stand_in_the_scenario_with_their_source(measured: Path) -> None:
    entry = {
        "value": "2 us",
        "source": "fitted",
        "uncertainty": "small",
        "basis": "calibrated",
        "range": ["1 us", "3 us"],
    }
    call = "machine.software.receive_call"
    scopes = {
        "alib": {call: {**entry, "value": "1 us"}},
        "alib/tcp": {call: entry, "fabric.latency": {**entry, "value": "3 us"}},
    }
    profile_of(measured.parent / "profiles", "a-box", scopes=scopes)
    found = open_dataset(measured, profile="a-box", mappings=[Path("alib.map")])
    document = found.document()
    assert document["machine"]["software"]["receive_call"]["value"] == "2 us"
    assert document["machine"]["software"]["receive_call"]["source"] == "fitted"
    config = found.resolve().points[0].config
    assert (config["machine"]["software"]["receive_call"], config["fabric"]["latency"]) == ("2 us", "3 us")


@pytest.mark.core
def test_hostile_files_and_misplaced_options(measured: Path, capsys: Capture) -> None:
    bad = InputError.exit_code
    assert main(["run", "fig5_2a_base", "--point", "pairs=4"]) == bad
    assert "go with a dataset; fig5_2a_base is none" in capsys.readouterr().err
    assert main(["explain", str(measured)]) == bad
    assert "is a dataset: `contend run` simulates what it measured" in capsys.readouterr().err
    assert main(["run", str(measured.parent), "--point", "pairs=4"]) == bad
    assert "is a folder; --point" in capsys.readouterr().err
    whole = json.loads(measured.read_text())
    for text, message in (
        (json.dumps({**whole, "dataset": 3}), "/dataset: found 3; allowed: a text"),
        (json.dumps({key: value for key, value in whole.items() if key != "machine"}), "/machine: is missing"),
        ('{"dataset": "a", "points": [', "JSON"),
    ):
        file = measured.with_name("hostile.json")
        file.write_text(text)
        for command in (["run", str(file)], ["dataset", "scenario", str(file), "-o", "x.json"]):
            assert main(command) == bad, text
            assert message in capsys.readouterr().err
    assert main(["dataset", "scenario", str(measured), *MAP, "-o", str(measured)]) == bad
    assert "is the dataset itself" in capsys.readouterr().err
    assert main(["dataset", "scenario", str(measured), *MAP, "-o", "x.txt"]) == bad
    empty = json.loads(measured.read_text()) | {"points": []}
    measured.write_text(json.dumps(empty))
    assert main(["run", str(measured), *MAP]) == bad
    assert "the dataset mine has no points" in capsys.readouterr().err


@pytest.mark.core
def test_a_name_that_leads_elsewhere_stays_a_name(measured: Path, capsys: Capture) -> None:
    document = json.loads(measured.read_text()) | {"dataset": "../../mine"}
    measured.write_text(json.dumps(document))
    assert main(["run", str(measured), *MAP, "--point", "pairs=2", "--replications", "1"]) == 0, capsys.readouterr()
    assert [path.name for path in Path("out").iterdir()] == ["mine_pairs_2"]


@pytest.mark.core
def test_a_folder_of_datasets(capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "campaign"
    folder.mkdir()
    (folder / "window16.json").write_bytes((DATA / "mpich-5_tcp_window16.json").read_bytes())
    (folder / "machine.json").write_bytes((DATA / "machine.json").read_bytes())
    options = ["--iterations", "1", "--replications", "1"]
    assert main(["run", str(folder), *options]) == 1
    summary = json.loads(Path("out/campaign/summary.json").read_text())["scenarios"]
    assert [(entry["scenario"], entry["status"]) for entry in summary] == [("machine", "failed"), ("window16", "done")]
    results = contend.load_results("out/campaign/window16")
    assert all(point.measured is not None for point in results.points)
    capsys.readouterr()


def test_show(measured: Path, capsys: Capture) -> None:
    assert main(["dataset", "show", str(measured), *MAP]) == 0
    shown = capsys.readouterr().out
    assert "pairs=4" in shown
    assert "crashed" in shown
    assert "scenario: mapping alib, profile box" in shown
    assert main(["dataset", "show", str(DATA)]) == 0
    shown = capsys.readouterr().out
    assert all(path.stem in shown for path in DATA.glob("*.json") if path.stem != "locks")
    assert main(["dataset", "show", str(measured), *MAP, "--json"]) == 0
    (entry,) = json.loads(capsys.readouterr().out)
    assert [point["median"] for point in entry["points"]] == [105e3, 200e3, 300e3, None]
    assert [point["interval"] is None for point in entry["points"]] == [True, True, False, True]
    assert (entry["mapping"], entry["profile"]) == ("alib", "box")


def test_show_prints_no_control_characters(measured: Path, capsys: Capture) -> None:
    red = "\x1b[31mred"
    document = json.loads(measured.read_text())
    document |= {"dataset": red, "transport": red, "machine": document["machine"] | {"cpu": red}}
    document["points"][0]["parameters"]["how"] = red
    document["points"][-1]["outcome"] = red
    measured.write_text(json.dumps(document))
    for datasets in ([str(measured)], [str(measured), str(SHARED)]):
        assert main(["dataset", "show", *datasets, *MAP]) == 0
        shown = capsys.readouterr().out
        assert "\x1b" not in shown
        assert r"\u001b[31mred" in shown


def test_show_says_why_there_is_no_scenario(capsys: Capture) -> None:
    assert main(["dataset", "show", str(DATA / "machine.json"), str(SHARED), "--json"]) == 0
    without, with_one = json.loads(capsys.readouterr().out)
    assert (without["mapping"], without["profile"]) == (None, None)
    assert "scenarios stand for points of" in without["no_scenario"]
    assert (with_one["mapping"], with_one["profile"]) == ("open-mpi-ob1-tcp", "tcp-profile")
    assert with_one["no_scenario"] is None


def test_show_names_no_profile_where_none_is_of_the_machine(measured: Path, capsys: Capture) -> None:
    document = json.loads(measured.read_text())
    measured.write_text(json.dumps(document | {"machine": document["machine"] | {"id": "elsewhere"}}))
    assert main(["dataset", "show", str(measured), *MAP, "--json"]) == 0
    (entry,) = json.loads(capsys.readouterr().out)
    assert (entry["mapping"], entry["profile"]) == ("alib", None)
    assert "no profile is of the machine" in entry["no_scenario"]


@pytest.mark.core
def test_notes_and_description_say_where_the_route_comes_from(tmp_path: Path, capsys: Capture) -> None:
    """A mapping's guess at the wire was simulated without a word."""
    few = ["run", str(SHARED), "--point", "pairs=1", "--iterations", "2", "--replications", "1", "--json"]
    for overrides, bandwidth in (([], True), (["--set", "fabric.bandwidth=5 GB/s"], False)):
        assert main([*few, "--out", str(tmp_path / "out"), *overrides]) == 0
        remarks = json.loads(capsys.readouterr().out)["remarks"]
        (route,) = [remark for remark in remarks if remark.startswith("the route has latency")]
        assert "(calibrated, of the profile tcp-profile)" in route
        assert ("bandwidth 100 GB/s (set by the mapping open-mpi-ob1-tcp, not measured)" in route) == bandwidth
    written = tmp_path / "scenario.json"
    assert main(["dataset", "scenario", str(SHARED), "--point", "pairs=1", "-o", str(written)]) == 0
    assert "In this scenario the route has latency" in json.loads(written.read_text())["description"]
    capsys.readouterr()
