"""`contend profile` and `contend preset`."""

import json
import shutil
from pathlib import Path

import pytest

import contend
from contend.cli import main
from contend.common.errors import InputError
from contend.datasets.reading import read_dataset
from contend.measured.machine import choose_profile
from contend.profiles.catalogs import PROFILES
from fakes import REPOSITORY

DATASET = REPOSITORY / "validation/data/vm-2core/openmpi-5_tcp_shared.json"

Capture = pytest.CaptureFixture[str]


def test_profile_show(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    profile = {"title": "T", "nic": {"gap": {"value": 3, "unit": "ns", "source": "S", "uncertainty": {"percent": 5}}}}
    (tmp_path / "machine.json").write_text(json.dumps(profile))
    monkeypatch.setenv("CONTEND_PROFILES", str(tmp_path))
    assert main(["profile", "show", "machine"]) == 0
    assert "nic.gap" in capsys.readouterr().out
    assert main(["profile", "list"]) == 0
    assert f"machine\t{tmp_path / 'machine.json'}\t\tlocks without messages\n" in capsys.readouterr().out
    monkeypatch.setenv("COLUMNS", "60")
    assert main(["profile", "show", "machine"]) == 0
    assert '\nnic.gap = 3 ns\n    uncertainty: {"percent": 5}\n    source: S\n' in capsys.readouterr().out
    assert main(["profile", "show", "machin"]) == 2
    assert "did you mean 'machine'" in capsys.readouterr().err


def test_preset_show(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    count = {"value": 20, "source": "S", "uncertainty": "exact", "basis": "literature"}
    preset = {
        "name": "mine",
        "description": "Mine. Not yours.",
        "models": "a library",
        "library": {"instances": {"count": count}},
    }
    (tmp_path / "mine.json").write_text(json.dumps(preset))
    monkeypatch.setenv("CONTEND_PRESETS", str(tmp_path))
    assert main(["preset", "show", "mine"]) == 0
    shown = capsys.readouterr().out
    assert "library.instances.count" in shown
    assert "a library" in shown
    assert main(["preset", "list"]) == 0
    assert f"mine\t{tmp_path / 'mine.json'}\tMine\n" in capsys.readouterr().out
    assert main(["preset", "show", "min"]) == 2
    assert "no library preset 'min'; did you mean 'mine'" in capsys.readouterr().err
    for family in ("our-slow", "our-fast"):
        (tmp_path / f"{family}.json").write_text(json.dumps(preset | {"name": family}))
    assert main(["preset", "show", "our"]) == 2
    assert "no library preset 'our'; did you mean 'our-fast', 'our-slow'?" in capsys.readouterr().err
    assert main(["run", str(tmp_path / "mine.json")]) == 2
    assert "mine.json is a library preset; a scenario names it in library.preset" in capsys.readouterr().err
    assert main(["run", str(PROFILES.available()["alembert"])]) == 2
    assert "is a machine profile; a scenario names it in machine.profile" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["profile", "show"], ["profile", "diff", "alembert"]])
def test_a_file_without_values_is_not_shown(command: list[str], tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "empty.json").write_text("{}")
    assert main([*command, str(tmp_path / "empty.json")]) == 2
    assert "empty.json: not a machine profile: it has no values" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["validate"], ["calibrate"]])
def test_a_file_that_is_no_profile_is_refused(command: list[str], tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "empty.json").write_text("{}")
    dataset = str(REPOSITORY / "validation/data/vm-2core/openmpi-5_tcp_shared.json")
    profile = str(tmp_path / "empty.json")
    if command == ["calibrate"]:
        words = ["calibrate", dataset, "--base", profile, "-o", str(tmp_path / "out.json")]
    else:
        words = [*command, profile, dataset]
    assert main(words) == 2
    assert "empty.json:1: /schema_version: is missing" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty.json"]


def test_listed_profiles_can_be_told_apart(capsys: Capture) -> None:
    assert main(["profile", "list"]) == 0
    shown = {line.split("\t")[0]: line.split("\t")[2] for line in capsys.readouterr().out.splitlines()}
    assert len(set(shown.values())) == len(shown)
    assert main(["profile", "list"]) == 0
    has = {line.split("\t")[0]: line.split("\t")[3] for line in capsys.readouterr().out.splitlines()}
    assert has["alembert"] == "network interface, shared cores"
    assert has["epyc-9654"] == "locks without messages"
    assert shown["alembert"].startswith("2 x Xeon E5-2650 v3")


def test_what_is_no_profile_is_left_out_and_named(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTEND_PROFILES", str(tmp_path))
    shutil.copy(DATASET, tmp_path / "measured.json")
    for name, text in (("cut", "junk"), ("list", "[]"), ("other", '{"a": 1}'), ("mine", '{"cpu": "a processor"}')):
        (tmp_path / f"{name}.json").write_text(text)
    assert main(["profile", "list"]) == 0
    output = capsys.readouterr()
    names = [line.split("\t")[0] for line in output.out.splitlines()]
    assert "mine" in names, "a profile that is not complete is one"
    assert not {"cut", "list", "measured", "other"} & {*names, *contend.list_profiles()}
    assert output.err.startswith("contend: 4 files left out, not a machine profile: ")
    assert output.err.count("\n") == 1
    for said in ("cut.json (no JSON object", "measured.json (a measured dataset)", "other.json (no values in it)"):
        assert said in output.err
    assert choose_profile(read_dataset(DATASET)).name == "tcp-profile"
    with pytest.raises(InputError, match=r"measured\.json is a measured dataset, not a machine profile"):
        choose_profile(read_dataset(DATASET), "measured")


@pytest.mark.core
@pytest.mark.parametrize(
    ("scenario", "profile", "message"),
    [
        ("fine-grain/back_ends", "alembert", "(coroutines): x5550-10gige"),
        ("fig5_2a_base", "epyc-9654", "(network interface): alembert, bluegene-p,"),
    ],
)
def test_profiles_with_the_prices_that_one_lacks_are_named(
    scenario: str, profile: str, message: str, capsys: Capture
) -> None:
    assert main(["run", scenario, "--set", f"machine.profile={profile}"]) == 2
    assert f"profiles with prices for that {message}" in capsys.readouterr().err


@pytest.mark.core
@pytest.mark.parametrize("kind", ["tcp", "shared-memory"])
def test_profiles_with_prices_of_a_transport_are_named(kind: str, capsys: Capture) -> None:
    words = ["run", "fig5_2a_base", "--set", "workload.pairs=1", "--set", f"library.transport.kind={kind}"]
    assert main(words) == 2
    assert f"profiles with prices for that ({kind}): vm-2core" in capsys.readouterr().err
