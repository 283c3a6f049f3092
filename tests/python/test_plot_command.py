"""`contend plot`: the pictures of a run from its results."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import contend
from contend.cli import main
from sweeping import BASE, SMALL

if TYPE_CHECKING:
    from fakes import FakeCore

Capture = pytest.CaptureFixture[str]
PICTURES = ("plot.png", "plot.svg")


def pictures(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in PICTURES if (folder / name).exists()}


def without_pictures(folder: Path) -> dict[str, bytes]:
    """What a folder had, and has no more."""
    had = pictures(folder)
    assert set(had) == set(PICTURES)
    for name in PICTURES:
        (folder / name).unlink()
    return had


def test_pictures_are_those_of_the_run(core: FakeCore, results: Path, capsys: Capture) -> None:
    before = core.calls
    had = without_pictures(results)
    assert main(["plot", str(results)]) == 0
    assert pictures(results) == had
    assert capsys.readouterr().out == "wrote out/small/plot.png\nwrote out/small/plot.svg\n"
    without_pictures(results)
    assert main(["plot", str(results / "results.json"), "--quiet"]) == 0
    assert pictures(results) == had
    assert capsys.readouterr() == ("", "")
    assert core.calls == before


def test_pictures_go_elsewhere(results: Path) -> None:
    """A file of results may have another name."""
    had = without_pictures(results)
    file = (results / "results.json").rename("kept.json")
    assert main(["plot", str(file), "--out", "new/folder"]) == 0
    assert pictures(Path("new/folder")) == had
    assert {path.name for path in Path("new/folder").iterdir()} == set(PICTURES)
    assert main(["plot", str(file)]) == 0
    assert pictures(Path()) == had
    assert not pictures(results)


def test_pictures_of_several_runs(results: Path, scenario: Path, capsys: Capture) -> None:
    assert main(["run", str(scenario), "--seed", "7", "--out", "other", "--quiet"]) == 0
    had = without_pictures(results), without_pictures(Path("other"))
    assert had[0] != had[1]
    assert main(["plot", str(results), "other"]) == 0
    assert (pictures(results), pictures(Path("other"))) == had
    without_pictures(results)
    assert main(["plot", str(results), "other", "--out", "o"]) == 2
    assert "--out o: the pictures of several runs have the same names" in capsys.readouterr().err
    assert not Path("o").exists()
    assert main(["plot", str(results), "nothing"]) == 2
    assert not pictures(results), "all results are read before the first is drawn"


@pytest.mark.core
@pytest.mark.parametrize(
    "plan",
    [
        ["--grid", "workload.pairs=1,2", "--grid", "library.instances.count=1,2"],
        ["--sample", "workload.pairs=1..4", "--sample", "machine.futex.wake_latency=log:1 us..50 us", "--samples=4"],
    ],
)
def test_pictures_are_those_of_the_sweep(plan: list[str], small: contend.Scenario, tmp_path: Path) -> None:
    del small
    fixed = [f"--set={path}={value}" for path, value in SMALL.items() if path != "workload.pairs"]
    assert main(["sweep", BASE, *fixed, *plan, "--out", str(tmp_path), "--quiet"]) == 0
    had = without_pictures(tmp_path)
    assert main(["plot", str(tmp_path)]) == 0
    assert pictures(tmp_path) == had


def test_what_a_picture_leaves_out_is_said(results: Path, capsys: Capture) -> None:
    path = results / "results.json"
    document = json.loads(path.read_text())
    several = [
        point | {"parameters": point["parameters"] | {"a": number, "b": f"b{number}"}}
        for point in document["points"]
        for number in range(60)
    ]
    path.write_text(json.dumps(document | {"points": several}))
    assert main(["plot", str(results)]) == 0
    assert capsys.readouterr().out.startswith("note: the picture shows ")


def test_an_interrupted_run_keeps_its_title(results: Path) -> None:
    kept = contend.load_results(results)
    part = dataclasses.replace(kept, interrupted=True, planned=9)
    (results / "results.json").write_bytes(part.json_bytes())
    assert main(["plot", str(results)]) == 0
    assert "small, interrupted: 6 of 9 points" in (results / "plot.svg").read_text()


def _without_measures(point: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in point.items() if name not in ("message_rate", "elapsed_s")}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text[: len(text) // 2], "the file is cut off"),
        (lambda _: "", "the file is cut off"),
        (lambda _: "[]", "the whole: Input should be"),
        (lambda _: "{}", "not as contend writes it: contend_version: Field required"),
        (
            lambda _: '{"a": 1, "b": 2, "confidence": 0.95, "interval": "t", "contend_version": "1"}',
            "contend compare`, ",
        ),
        (lambda _: '{"traceEvents": []}', "is a trace, not a result of `contend run`"),
        (lambda _: '{"machine": {}}', "is a scenario, not a result of `contend run`"),
        (lambda text: json.dumps(json.loads(text) | {"points": []}), "it has no points"),
        (
            lambda text: json.dumps(json.loads(text) | {"points": 3, "simulated": 1, "reused": 2}),
            "a summary of a sweep",
        ),
        (
            lambda text: json.dumps(json.loads(text) | {"points": [_without_measures(json.loads(text)["points"][0])]}),
            "a point has no measure to draw",
        ),
    ],
)
@pytest.mark.parametrize("name", ["results.json", "kept.json"])
def test_what_cannot_be_drawn(results: Path, capsys: Capture, change: Any, message: str, name: str) -> None:
    had = pictures(results)
    path = results / name
    path.write_text(change((results / "results.json").read_text()))
    assert main(["plot", str(results if name == "results.json" else path)]) == 2
    output = capsys.readouterr()
    assert message in output.err
    assert name in output.err or "no measure" in message
    assert output.err.count("\n") == 1
    assert not output.out
    assert pictures(results) == had


def test_what_is_not_there(results: Path, capsys: Capture) -> None:
    (results / "results.json").unlink()
    for words, message in (
        (["plot"], "Missing argument"),
        (["plot", "nothing"], "cannot read the results nothing: no such file"),
        (["plot", str(results)], "out/small has no results.json: 'contend run SCENARIO --out out/small' writes one"),
    ):
        assert main(words) == 2
        assert message in capsys.readouterr().err
    (results / "sweep.json").write_text("{}")
    assert main(["plot", str(results)]) == 2
    assert "out/small has no results.json: a sweep of so many points writes none" in capsys.readouterr().err
    (results / "sweep.json").unlink()
    for name, content, kind in (
        ("compare.json", {"a": 1, "b": 2, "confidence": 0.95, "interval": "t"}, "compare"),
        ("explain.json", {"contend_version": "1", "elapsed_ns": 1, "locks": []}, "explain"),
        ("validation.json", {"profile": "a", "summary": {}, "points": [], "not_predicted": []}, "validate"),
    ):
        (results / name).write_text(json.dumps(content))
        assert main(["plot", str(results)]) == 2
        said = f"has no results.json: {name} in it is a result of `contend {kind}`; only runs and sweeps can be drawn"
        assert said in capsys.readouterr().err
        (results / name).unlink()
    Path("out/summary.json").write_text("{}")
    assert main(["plot", "out"]) == 2
    assert "several scenarios: name one of the folders" in capsys.readouterr().err


def test_a_full_disk_keeps_the_old_pictures(results: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    had = pictures(results)

    def full(*_: object) -> None:
        raise OSError(28, "no space")

    with monkeypatch.context() as patch:
        patch.setattr("contend.common.files.os.fsync", full)
        assert main(["plot", str(results), "--quiet"]) == 1
    assert "no space left" in capsys.readouterr().err
    assert pictures(results) == had
    assert main(["plot", str(results), "--out", str(results / "results.json")]) == 1
    assert "there is a file of that name" in capsys.readouterr().err
