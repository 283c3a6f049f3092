"""Measured locks: their points as scenarios, predictions beside them, and a fit to few threads."""

import json
from pathlib import Path
from typing import Any

import pytest

from calibrating import dataset, metric, write
from contend.accuracy.names import design_of
from contend.calibrate.lock_workload import lock_workload
from contend.calibrate.mapping import find_mapping, load_mappings, scenario_layers
from contend.calibrate.problem import Builder
from contend.cli import main
from contend.common.errors import InputError
from contend.datasets.reading import read_dataset
from contend.measured.configurations import open_dataset
from fakes import REPOSITORY

Capture = pytest.CaptureFixture[str]

MEASURED = REPOSITORY / "validation" / "data" / "vm-16core" / "locks.json"
PROFILE = REPOSITORY / "validation" / "vm-16core" / "locks-profile.json"
POINT = {"lock": "ttas", "threads": 4, "critical_section_ns": 200, "outside_ns": 50, "seconds": 0.03}


def test_the_program_s_words_become_a_workload() -> None:
    assert lock_workload(POINT) == {
        "kind": "lock", "lock": "ttas", "threads": 4, "section": "200 ns", "delay": "50 ns", "lines": 1,
        "stop": "trial", "trial": "30000000 ns", "acquisitions": 1, "warmup_acquisitions": 0,
    }  # fmt: skip
    assert lock_workload(POINT, most_s=1e-3)["trial"] == "1000000 ns"
    assert lock_workload(POINT, most_s=1.0)["trial"] == "30000000 ns"


def test_trylock_is_a_mutex_that_is_polled() -> None:
    polled = lock_workload(POINT | {"lock": "trylock"})
    assert (polled["lock"], polled["operation"], polled["retry"]) == ("pthread-mutex", "try-lock", "40 ns")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"lock": "tickets"}, "no scenario has the lock 'tickets'; .*did you mean 'ticket'"),
        ({"seconds": None}, "seconds=None; allowed: a positive number"),
        ({"seconds": 0}, "seconds=0"),
        ({"seconds": True}, "seconds=True"),
        ({"seconds": float("nan")}, "seconds=nan"),
    ],
)
def test_what_no_scenario_can_say_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        lock_workload(POINT | change)


def test_every_lock_of_the_program_has_a_kind() -> None:
    sources = (REPOSITORY / "validation" / "native" / "locks" / "contest.cpp").read_text()
    listed = sources.partition("names{")[2].partition("}")[0]
    names = [name.strip(' "') for name in listed.split(",")]
    assert len(names) == 6
    assert all(lock_workload(POINT | {"lock": name})["kind"] == "lock" for name in names)


@pytest.mark.core
def test_every_measured_lock_is_a_scenario() -> None:
    found = open_dataset(MEASURED)
    resolved = found.resolve().points
    assert len(resolved) == len(found.dataset.points) == 72
    for point, one in zip(found.points, resolved, strict=True):
        workload = one.config["workload"]
        assert workload["threads"] == point.parameters["threads"]
        assert workload["section"] == f"{point.parameters['critical_section_ns']} ns"
        assert one.config["placement"]["threads"] == "pinned"
        assert one.config["machine"]["cache"]["home_order"] is True


@pytest.mark.parametrize(
    ("libc", "tests_first"),
    [
        ("", False),
        ("musl 1.2.5", False),
        ("glibc 2.9", False),
        ("glibc 2.31", False),
        ("glibc 2.36", True),
        ("glibc 2.39", False),
        ("glibc 2.42", False),
        ("glibc 2.43", True),
        ("glibc 2.50", True),
    ],
)
def test_attempts_at_a_mutex_are_those_of_the_measured_machine_s_libc(
    libc: str, *, tests_first: bool, tmp_path: Path
) -> None:
    document = json.loads(MEASURED.read_text())
    document["machine"]["libc"] = libc
    file = tmp_path / "locks.json"
    file.write_text(json.dumps(document))
    found = read_dataset(file)
    mapping = find_mapping(load_mappings(), found)
    assert mapping is not None
    assert scenario_layers(mapping, found, found.points[0])["machine"]["locks"]["mutex_tests_first"] is tests_first


@pytest.mark.core
def test_a_simulation_is_no_longer_than_asked_for() -> None:
    found = read_dataset(MEASURED)
    mapping = find_mapping(load_mappings(), found)
    assert mapping is not None
    point = next(one for one in found.points if one.parameters["lock"] == "mcs")
    layers = scenario_layers(mapping, found, point, iterations=1000)
    seconds = int(layers["workload"]["trial"].removesuffix(" ns")) * 1e-9
    assert seconds * point.median == pytest.approx(1000, rel=1e-3)


@pytest.mark.core
def test_run_shows_measured_locks_beside_predicted_ones(tmp_path: Path, capsys: Capture) -> None:
    words = ["run", str(MEASURED), "--profile", str(PROFILE), "--point", "lock=mcs", "--point", "threads=2"]
    assert main([*words, "--replications", "1", "--iterations", "20000", "--json", "--out", str(tmp_path / "out")]) == 0
    document = json.loads(capsys.readouterr().out)
    assert not [remark for remark in document["remarks"] if "route" in remark]
    for point in document["points"]:
        measured = point["measured"]
        assert measured["metric"] == "acquisition_rate"
        assert measured["fitted"] is True
        assert measured["abs_error_pct"] < 40


def test_a_design_is_lock_and_section() -> None:
    found = read_dataset(MEASURED)
    assert design_of(found, found.points[0]) == "mutex, 0 ns inside"


@pytest.mark.core
def test_a_range_beyond_what_a_scenario_allows_is_refused(tmp_path: Path) -> None:
    """Each simulation at its end failed, and nobody was told why."""
    found = read_dataset(MEASURED)
    (shipped,) = [one for one in load_mappings() if one.fits(found)]
    share = shipped.unknowns[1]
    assert share.path == "machine.cache.snoop_share"
    too_far = shipped.model_copy(update={"unknowns": [share.model_copy(update={"range": (0.1, 0.95)})]})
    profile = json.loads(PROFILE.read_text())
    problem = Builder(profile, [too_far], messages=100).build([(found, found.points[0])])
    assert not problem.targets
    (reason,) = problem.reasons
    assert reason.startswith("the range of machine.cache.snoop_share: /machine/cache/snoop_share: found 0.95; allowed:")


@pytest.mark.core
def test_a_lock_that_nobody_knows_is_not_predicted(tmp_path: Path) -> None:
    point = {"parameters": {"lock": "clh", "threads": 1}, "acquisition_rate": metric(5.0) | {"unit": "1/s"}}
    document = dataset("a", {"kind": "locks", "seconds": 0.01}, [point])
    document |= {"library": {"name": "none", "key": "none"}, "transport": "none"}
    found = read_dataset(write(tmp_path, document))
    problem = Builder(json.loads(PROFILE.read_text()), load_mappings(), messages=100).build([(found, found.points[0])])
    assert problem.reasons == ["no scenario has the lock 'clh'; there are: mutex, spin, ttas, ticket, mcs, trylock"]
