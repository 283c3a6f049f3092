"""`contend validate claims`, and the files that it wrote of the shipped studies."""

import errno
import json
import os
import re
from pathlib import Path
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from contend.cli import claims as command
from contend.cli import main
from contend.common.statistics import Central
from contend.studies.claims import Drawn, Judged, as_markdown, load_claims
from contend.studyfit.description import FIT_FILE, load_fit
from fakes import REPOSITORY

if TYPE_CHECKING:
    from contend.common.jsontypes import JsonObject
    from fakes import FakeCore

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def system(core: "FakeCore", tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with one study, of which one statement is true and one is not."""
    del core
    monkeypatch.setattr("contend.common.paths.require_repository", lambda _: tmp_path)
    (tmp_path / "validation/study/claims").mkdir(parents=True)
    (tmp_path / "scenarios/study").mkdir(parents=True)
    (tmp_path / "scenarios/study/small.json").write_text(json.dumps({"name": "small"}))
    (tmp_path / "validation/study/claims/rates.py").write_text(
        dedent("""
        from contend.studies.claims import at_least, claim

        @claim("true", source="fig. 1", statement="mcs is faster", expected=at_least(1.1, "x"))
        def first(e):
            return e.rate("small", pairs=1, lock="mcs") / e.rate("small", pairs=1, lock="mutex")

        @claim("false", source="fig. 2", statement="mcs is ten times faster", expected=at_least(10, "x"))
        def second(e):
            return e.rate("small", pairs=1, lock="mcs") / e.rate("small", pairs=1, lock="mutex")
        """)
    )
    return tmp_path / "validation/study"


def test_misses_are_listed_and_written(system: Path, capsys: Capture) -> None:
    assert main(["validate", "claims", "study"]) == 0
    text = capsys.readouterr().out
    assert "1 of 2 claims hold" in text
    assert "misses: false" in text
    entries = {entry["id"]: entry for entry in json.loads((system / "claims.json").read_text())}
    assert {name: entry["verdict"] for name, entry in entries.items()} == {"true": "holds", "false": "misses"}
    assert entries["true"]["expected"] == ">= 1.1 x"
    assert entries["true"]["predicted"] == pytest.approx(1.3)
    assert set(entries["true"]) >= {"id", "source", "statement", "expected", "predicted", "ci95", "verdict"}


def outputs(study: Path) -> set[str]:
    return {path.name for path in study.iterdir()} - {"claims", "predictions.py"}


@pytest.mark.parametrize("words", [[], ["--json"], ["--out", "elsewhere/new"], ["--strict"]])
def test_a_cache_that_cannot_be_used_is_no_verdict(
    system: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    monkeypatch.chdir(system.parents[1])
    cache = system.parents[1] / "out/validation/study"
    cache.parent.mkdir(parents=True)
    cache.touch()  # a file in the place of the folder: not even root can write there
    assert main(["validate", "claims", "study", *words]) == 1
    captured = capsys.readouterr()
    assert not captured.out
    assert re.search(r"contend: error: cannot write to the folder .*out/validation/study", captured.err)
    assert not outputs(system)
    assert not Path("elsewhere").exists()


PREDICTIONS = """
def predictions(e):
    return {"study": {"rate": [e.rate("more", pairs=1, lock="mcs")]}}
"""


@pytest.mark.parametrize("results", [0, 5, 20])  # 18 are for the claims, as many for the predictions
def test_a_full_disk_is_no_verdict(
    system: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch, results: int
) -> None:
    if results > 18:
        (system / "predictions.py").write_text(PREDICTIONS)
    more = json.dumps({"name": "more", "workload": {"pairs": 1, "window": 3}})
    (system.parents[1] / "scenarios/study/more.json").write_text(more)
    left = 2 * results
    write = os.write

    def full(file: int, data: bytes) -> int:
        nonlocal left
        left -= 1
        if left < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(file, data)

    with monkeypatch.context() as patch:
        patch.setattr("contend.sweeps.store.os.write", full)
        assert main(["validate", "claims", "study", "-j", "1", "--quiet"]) == 1
    assert "cannot keep a result in" in capsys.readouterr().err
    assert not outputs(system)
    assert main(["validate", "claims", "study", "--quiet"]) == 0
    predictions = {"predictions.json"} if results > 18 else set()
    assert outputs(system) == {"claims.json", "claims.md"} | predictions


@pytest.mark.parametrize(("content", "message"), [(None, "no such file"), ('{"name": "sm', "not JSON")])
def test_a_scenario_that_is_none_is_no_verdict(
    system: Path, capsys: Capture, content: str | None, message: str
) -> None:
    file = system.parents[1] / "scenarios/study/small.json"
    file.unlink() if content is None else file.write_text(content)
    assert main(["validate", "claims", "study"]) == 2
    assert message in capsys.readouterr().err
    assert not outputs(system)


def test_an_override_that_no_scenario_has_is_no_verdict(system: Path, capsys: Capture) -> None:
    words = ["validate", "claims", "study", "--set", "wrokload.pairs=1", "--out", str(system / "new")]
    assert main(words) == 2
    assert "unknown key 'wrokload.pairs'" in capsys.readouterr().err
    assert not outputs(system)


def test_strict_fails_on_a_miss(system: Path, capsys: Capture) -> None:
    assert main(["validate", "claims", "study", "--strict", "--quiet"]) == 1
    assert "1 of 2 claims miss: false" in capsys.readouterr().err
    assert (system / "claims.json").exists()
    assert "| **misses** |" in (system / "claims.md").read_text()
    assert main(["validate", "claims", "study", "--strict", "--quiet", "--only", "true"]) == 0


def test_a_part_does_not_overwrite_the_whole(system: Path, capsys: Capture) -> None:
    assert main(["validate", "claims", "study", "--only", "true", "--quiet"]) == 0
    assert main(["validate", "claims", "study", "--replications", "2", "--json"]) == 0
    assert [entry["id"] for entry in json.loads(capsys.readouterr().out)] == ["true", "false"]
    assert not (system / "claims.json").exists()
    assert main(["validate", "claims", "study", "--only", "nothing"]) == 2


def test_unknown_study(system: Path, capsys: Capture) -> None:
    del system
    assert main(["validate", "claims", "stduy"]) == 2
    assert "no claims of 'stduy'; there are: study; did you mean 'study'?" in capsys.readouterr().err
    assert main(["validate", "claims"]) == 2
    assert "Missing argument 'STUDY'." in capsys.readouterr().err


STUDIES = sorted(path.parent.name for path in (REPOSITORY / "validation").glob("*/claims"))


@pytest.mark.parametrize("study", STUDIES)
def test_the_shipped_claims_are_complete(study: str) -> None:
    """They load, each has a source and a statement, and most of them are predictions."""
    claims = load_claims(REPOSITORY / "validation" / study / "claims")
    assert len(claims) >= (30 if study == "dissertation" else 10)
    for item in claims:
        assert item.source
        assert len(item.statement) > 20
        assert item.expected.unit
    assert sum(not item.calibrated for item in claims) >= (25 if study == "dissertation" else 0.7 * len(claims))


# What judging a claim finds out about it (contend.studies.claims.FINDINGS), as claims.json has it.
PROBLEM = re.compile(
    r"InputError: (\d+ points of \w+ have |\w+ does not (have|sweep) |the number is not finite|.* differ in their repl)"
    r"|SimulationFailedError: \w+: the simulation of |(ZeroDivision|Overflow|Arithmetic|Value|Key|Index)Error: "
)


def written_claims(study: str) -> list[Judged]:
    """The claims of a study with what their file says that came out."""
    folder = REPOSITORY / "validation" / study
    entries: list[JsonObject] = json.loads((folder / command.CLAIMS_FILE).read_text(encoding="utf-8"))
    found = []
    for item, entry in zip(load_claims(folder / "claims"), entries, strict=True):
        drawn = None
        if (over := entry.get("over_draws")) is not None:
            single = over["single_runs"] and tuple(over["single_runs"])
            drawn = Drawn(Central(over["median"], *over["ci95"]), over["held"], over["draws"], single)
        interval = entry["ci95"] and tuple(entry["ci95"])
        found.append(Judged(item, entry["predicted"], interval, tuple(entry["scenarios"]), entry.get("problem"), drawn))
    return found


@pytest.mark.parametrize("study", STUDIES)
def test_the_files_of_the_shipped_claims_match_them(study: str) -> None:
    """All that no simulation gives is that of the claims, and verdicts follow from what simulations gave."""
    folder = REPOSITORY / "validation" / study
    judged = written_claims(study)
    entries = json.loads((folder / command.CLAIMS_FILE).read_text(encoding="utf-8"))
    for item, entry in zip(judged, entries, strict=True):
        assert item.to_json() == entry
    fit = load_fit(REPOSITORY, study) if (folder / FIT_FILE).is_file() else None
    table = as_markdown(judged, f"Claims of {study}", command._about_the_fit(fit, judged))
    assert (folder / command.TABLE_FILE).read_text(encoding="utf-8") == table


@pytest.mark.parametrize("study", STUDIES)
def test_what_the_shipped_claims_say_was_found_by_simulations(study: str) -> None:
    for item in written_claims(study):
        assert (item.predicted is None) == (item.problem is not None), item.claim.id
        assert item.problem is None or PROBLEM.match(item.problem), item.claim.id
        assert bool(item.scenarios) == (item.problem is None), item.claim.id
        for name in item.scenarios:
            assert (REPOSITORY / "scenarios" / study / f"{name}.json").is_file(), item.claim.id


@pytest.mark.parametrize(
    "problem",
    [
        "ContendError: cannot write to the folder out/validation/bluegene: permission denied",
        "JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
        "InputError: there is no scenario scenarios/bluegene/barrier.json",
        "InputError: cannot read the scenario small.json: no such file",
        "UnicodeDecodeError: 'utf-8' codec can't decode byte",
    ],
)
def test_failures_of_files_are_no_problems_of_claims(problem: str) -> None:
    assert not PROBLEM.match(problem)
