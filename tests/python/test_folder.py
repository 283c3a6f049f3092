"""`contend run FOLDER`."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from contend.cli import main

if TYPE_CHECKING:
    from fakes import FakeCore

Capture = pytest.CaptureFixture[str]
pytestmark = pytest.mark.usefixtures("unrendered")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "figures"
    (path / "more").mkdir(parents=True)
    for name in ("b", "a", "more/c"):
        (path / f"{name}.json").write_text(json.dumps({"name": "the same name"}))
    return path


def test_runs_all_each_into_its_folder(core: "FakeCore", folder: Path, capsys: Capture) -> None:
    assert main(["run", str(folder), "-j", "2", "--replications", "2"]) == 0
    assert core.calls == 3 * 6 * 2
    for name in ("a", "b", "more/c"):
        assert json.loads(Path(f"out/figures/{name}/results.json").read_text())["points"]
    summary = json.loads(Path("out/figures/summary.json").read_text())
    assert [entry["scenario"] for entry in summary["scenarios"]] == ["a", "b", "more/c"]
    assert {entry["status"] for entry in summary["scenarios"]} == {"done"}
    assert {entry["runs"] for entry in summary["scenarios"]} == {12}
    measure = summary["scenarios"][0]["measure"]
    assert (measure["name"], measure["unit"]) == ("message_rate", "msg/s")
    assert measure["lowest"] < measure["highest"]
    assert "more/c" in capsys.readouterr().out


@pytest.mark.usefixtures("core")
def test_what_commands_wrote_into_the_folder_is_no_scenario(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    (folder / "my-node.json").write_text(json.dumps({"name": "my-node", "cpu": "one", "topology": {}}))
    (folder / "mine.json").write_text(json.dumps({"name": "mine", "models": "ours", "library": {}}))
    assert main(["compare", "a.json", "b.json"]) == 0
    for _ in range(2):  # the first run's results and summary are there for the second
        assert main(["run", "."]) == 0
        summary = json.loads(Path("out/figures/summary.json").read_text())
        assert [entry["scenario"] for entry in summary["scenarios"]] == ["a", "b", "more/c"]


def test_results_of_other_settings_are_not_replaced_without_a_word(
    core: "FakeCore", folder: Path, capsys: Capture
) -> None:
    del core
    assert main(["run", str(folder)]) == 0
    assert capsys.readouterr().err == ""
    (folder / "b.json").write_text(json.dumps({"name": "another"}))
    assert main(["run", str(folder)]) == 0
    replaced = "contend: replaced results of other settings in out/figures/b (--out DIR keeps both)\n"
    assert capsys.readouterr().err == replaced


def test_a_failure_does_not_stop_the_others(
    core: "FakeCore", folder: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = core.run_point

    def fail_in_b(config: str, replication: int, *options: bool | str | int) -> str:
        if json.loads(config)["workload"].get("broken"):
            raise core.SimulationError("deadlock")
        return original(config, replication, *options)  # type: ignore[arg-type]

    monkeypatch.setattr(core, "run_point", fail_in_b)
    (folder / "b.json").write_text(json.dumps({"workload": {"pairs": 1, "broken": True}}))
    (folder / "d.json").write_text(json.dumps({"name": "d"}))
    assert main(["run", str(folder), "--out", "there", "--json"]) == 1
    output = capsys.readouterr()
    entries = {entry["scenario"]: entry for entry in json.loads(output.out)["scenarios"]}
    assert {name: entry["status"] for name, entry in entries.items()} == {
        "a": "done", "b": "failed", "d": "done", "more/c": "done",
    }  # fmt: skip
    assert "deadlock" in entries["b"]["error"]
    assert "1 of 4 scenarios failed: b" in output.err
    assert not Path("there/b").exists()
    assert Path("there/d/results.json").exists()


def test_a_scenario_that_cannot_be_read_is_a_failure(core: "FakeCore", folder: Path, capsys: Capture) -> None:
    def refuse(path: str, *_: object) -> str:
        raise core.ScenarioError(f"{path}: unknown key")

    original = core.resolve
    core.resolve = lambda path, *rest: refuse(path) if path.endswith("a.json") else original(path, *rest)  # type: ignore[method-assign]
    assert main(["run", str(folder)]) == 1
    output = capsys.readouterr()
    assert "unknown key" in output.out
    assert "1 of 3 scenarios failed: a" in output.err
    assert Path("out/figures/b/results.json").exists()


def test_a_name_that_is_not_utf8_is_a_failure(core: "FakeCore", folder: Path, capsys: Capture) -> None:
    del core
    (folder / os.fsdecode(b"odd\xff.json")).write_text("{}")
    assert main(["run", str(folder), "-j", "2"]) == 1
    summary = json.loads(Path("out/figures/summary.json").read_text())
    statuses = {ascii(entry["scenario"]): entry["status"] for entry in summary["scenarios"]}
    assert statuses == {"'a'": "done", "'b'": "done", "'more/c'": "done", r"'odd\udcff'": "failed"}
    capsys.readouterr()
    assert main(["run", os.fsdecode(b"figures/odd\xff.json")]) == 2
    message = capsys.readouterr().err
    assert message == "contend: error: 'figures/odd\\xff.json' is not UTF-8; allowed: names and values that are\n"


def test_overrides_hold_for_all(core: "FakeCore", folder: Path) -> None:
    del core
    assert main(["run", str(folder), "--quiet", "--seed", "5"]) == 0
    for name in ("a", "more/c"):
        assert json.loads(Path(f"out/figures/{name}/results.json").read_text())["seed"] == 5


@pytest.mark.parametrize("option", ["--print-resolved", "--check-determinism"])
def test_options_for_one_scenario_are_refused(core: "FakeCore", folder: Path, capsys: Capture, option: str) -> None:
    assert main(["run", str(folder), option]) == 2
    assert "is a folder" in capsys.readouterr().err
    assert core.calls == 0


def test_an_empty_folder_says_so(core: "FakeCore", tmp_path: Path, capsys: Capture) -> None:
    del core
    (tmp_path / "empty").mkdir()
    assert main(["run", str(tmp_path / "empty"), "--out", str(tmp_path / "out")]) == 2
    assert "has no scenario files" in capsys.readouterr().err


def test_an_option_that_suits_no_scenario_is_one_error(core: "FakeCore", folder: Path, capsys: Capture) -> None:
    assert main(["run", str(folder), "--set", "worklod.pairs=1"]) == 2
    error = capsys.readouterr().err
    assert error.count("worklod") == 1
    assert "the same for all 3 scenarios" in error
    assert not core.calls
    assert not Path("out").exists()


@pytest.mark.core
def test_each_scenario_is_summed_up_by_what_it_is_about(tmp_path: Path, capsys: Capture) -> None:
    folder = tmp_path / "kinds"
    folder.mkdir()
    base = Path(__file__).parents[2] / "scenarios" / "partitioned" / "send_persistent.json"
    document = json.loads(base.read_text()) | {"sweep": {"workload.buffer_size": ["64 KiB", "128 KiB"]}}
    document["fabric"]["platform"] = str(base.parent / document["fabric"]["platform"])
    (folder / "parts.json").write_text(json.dumps(document))
    assert main(["run", str(folder), "--iterations", "1", "--replications", "1", "-o", str(tmp_path), "--json"]) == 0
    (entry,) = json.loads(capsys.readouterr().out)["scenarios"]
    assert entry["points"] == 2
    assert (entry["measure"]["name"], entry["measure"]["unit"]) == ("perceived_bandwidth", "MiB/s")
