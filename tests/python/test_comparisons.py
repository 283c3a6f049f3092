"""Comparisons that the project claims: their files, their runs, their profiles."""

import json
from pathlib import Path
from typing import Any

import pytest

from calibrating import rates, write
from contend.accuracy.comparisons import comparisons, draw_pictures, find_comparison, regenerate
from contend.cli import main
from contend.common.errors import InputError
from contend.datasets.reading import read_dataset
from fakes import REPOSITORY
from predicting import result


def test_samples_of_fitted_runs_are_predicted_whole() -> None:
    chosen = find_comparison(REPOSITORY, "vm-2core")
    # Locks have no samples of so many messages, their runs end with the program's time; nor have calls.
    others = {"locks", "waiting"}
    fitted = [run for run in chosen.description.runs if run.calibrate is not None and run.name not in others]
    assert fitted
    for run in fitted:
        files = [path for pattern in run.datasets for path in (chosen.folder / "..").glob(pattern.removeprefix("../"))]
        known = [(d.workload | one.parameters, one.iterations) for d in map(read_dataset, files) for one in d.points]
        samples = [int(str(w["pairs"])) * int(str(w["window"])) * n for w, n in known if n and "pairs" in w]
        puts = [(w, n or 1) for w, n in known if "operations" in w]
        samples += [int(str(w["threads"])) * int(str(w["operations"])) * n for w, n in puts]
        assert samples
        assert run.messages >= max(samples), run.name


def comparison(tmp_path: Path, **changes: Any) -> Path:
    folder = tmp_path / "validation" / "here"
    folder.mkdir(parents=True)
    run = {"name": "tcp", "title": "Over TCP", "profile": "made.json", "datasets": ["../data/*.json"],
           "fit_datasets": ["micro.json"], "calibrate": {"base": "alembert", "threads": [1]}, **changes}  # fmt: skip
    document = {"schema_version": 1, "title": "Here", "text": "Runs.", "runs": [run]}
    (folder / "comparison.json").write_text(json.dumps(document))
    return folder


def test_a_comparison_makes_its_profile_and_writes_beside_itself(tmp_path: Path) -> None:
    folder = comparison(tmp_path)
    (tmp_path / "validation" / "data").mkdir()
    measured = write(tmp_path / "validation" / "data", rates("a", {1: [5.0]}))
    (folder / "micro.json").write_text("{}")
    found = result(tmp_path)
    calls: list[tuple[str, Any]] = []

    def make(run: Any, datasets: list[Path], mappings: list[Path], out: Path, work: Path) -> None:
        calls.append(("make", (run.calibrate.threads, datasets, mappings, out, work.name)))
        out.write_text("{}")

    def validate(*words: Any) -> dict[str, Any]:
        calls.append(("validate", words))
        return found

    results, written = regenerate(tmp_path, find_comparison(tmp_path, "here"), validate, make)
    profile = folder / "made.json"
    assert results == [found]
    assert calls[0] == ("make", ([1], [folder / "micro.json", measured], [], profile, "here"))
    assert calls[1][1][:2] == (str(profile), [measured])
    assert {path.name for path in written} == {
        "made.json", "tcp.json", "tcp.md", "tcp-agreement.svg", "tcp-curves.svg", "tcp-residuals.svg",
    }  # fmt: skip
    assert json.loads((folder / "tcp.json").read_text())["profile"] == "box"


def test_pictures_are_drawn_again_from_results_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = comparison(tmp_path)
    with pytest.raises(InputError, match=r"tcp\.json is missing: run './contend validate comparison here'"):
        draw_pictures(find_comparison(tmp_path, "here"))
    found = json.dumps(result(tmp_path))
    (folder / "tcp.json").write_text(found)
    (folder / "tcp-curves.svg").write_text("an old one")
    monkeypatch.setattr("contend.common.paths.require_repository", lambda _: tmp_path)
    assert main(["validate", "pictures"]) == 0
    drawn = {
        name: (folder / name).read_bytes() for name in ("tcp-agreement.svg", "tcp-curves.svg", "tcp-residuals.svg")
    }
    assert {path.name for path in folder.iterdir()} == {"comparison.json", "tcp.json", "tcp.md", *drawn}
    assert "measured (CoV)" in (folder / "tcp.md").read_text()
    assert all(data.startswith(b"<?xml") for data in drawn.values())
    assert (folder / "tcp.json").read_text() == found
    for path in folder.glob("*.svg"):
        path.unlink()
    assert main(["validate", "pictures", "here"]) == 0
    assert {name: (folder / name).read_bytes() for name in drawn} == drawn
    assert main(["validate", "pictures", "there"]) == 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"datasets": []}, "/runs/0/datasets"), ({"name": "a b"}, "/runs/0/name"), ({"drows": 3}, "/runs/0/drows"),
     ({"calibrate": {"base": "x", "starts": 0}}, "/runs/0/calibrate/starts")],
)  # fmt: skip
def test_bad_comparisons_are_refused_with_the_place(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    comparison(tmp_path, **changes)
    with pytest.raises(InputError, match=message):
        find_comparison(tmp_path, "here")


def test_only_runs_that_are_there_are_pooled(tmp_path: Path) -> None:
    path = comparison(tmp_path) / "comparison.json"
    document = json.loads(path.read_text())
    path.write_text(json.dumps(document | {"pooled": [{"title": "All", "runs": ["tcp", "shm"]}]}))
    with pytest.raises(InputError, match="no run 'shm'; there are: tcp"):
        find_comparison(tmp_path, "here")


def test_a_comparison_that_is_not_there_is_named(tmp_path: Path) -> None:
    comparison(tmp_path)
    with pytest.raises(InputError, match=r"no comparison 'there'; there are: here; did you mean 'here'\?"):
        find_comparison(tmp_path, "there")
    with pytest.raises(InputError, match=r"no file \.\./data"):
        regenerate(tmp_path, find_comparison(tmp_path, "here"), lambda *_: {}, lambda *_: None)
    with pytest.raises(InputError, match="here has no run 'tpc'; there are: tcp; did you mean 'tcp'"):
        regenerate(tmp_path, find_comparison(tmp_path, "here"), lambda *_: {}, lambda *_: None, only=["tpc"])


def test_the_shipped_comparisons_are_usable() -> None:
    names = {one.folder.name for one in comparisons(REPOSITORY)}
    assert {"published", "vm-2core"} <= names
