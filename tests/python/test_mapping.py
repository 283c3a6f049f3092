"""How measured datasets become scenarios: mappings, shipped ones and others, and the machine that was measured."""

import json
from pathlib import Path
from typing import Any

import pytest

from calibrating import dataset, mapping, metric, rates, write
from contend.api import run as run_scenario
from contend.calibrate.mapping import (
    Mapping,
    find_mapping,
    load_mappings,
    read_mapping,
    scenario_layers,
    scope_keys,
)
from contend.calibrate.measured_machine import on_measured_machine
from contend.common.errors import InputError
from contend.datasets.dataset import Dataset
from contend.datasets.reading import read_dataset


def test_the_first_mapping_that_fits_counts(tmp_path: Path) -> None:
    one = read_dataset(write(tmp_path, rates("a", {1: [5.0]})))
    first, second = mapping(name="x", libraries=["al*"]), mapping(name="y")
    assert find_mapping([first, second], one) is first
    assert find_mapping([mapping(libraries=["other"]), second], one) is second
    assert find_mapping([mapping(transports=["shm"])], one) is None
    assert scope_keys(one) == ["tcp", "alib", "alib/tcp"]


def test_options_and_cases_change_layers(tmp_path: Path) -> None:
    used = mapping(
        options={"contexts": {"path": "library.instances.count"},
                 "dedicated": {"path": "library.instances.assignment",
                               "values": {"true": "dedicated", "false": "round-robin"}}},
        cases=[{"when": {"mode": "process"}, "layers": {"library": {"thread_level": "single"}}}],
    )  # fmt: skip
    point = {"parameters": {"pairs": 4, "options.contexts": 8, "options.dedicated": True}, "message_rate": metric(5.0)}
    plain = {"parameters": {"pairs": 4, "mode": "process", "options.spc": True}, "message_rate": metric(5.0)}
    document = dataset(
        "a", {"kind": "multirate", "message_size": 0, "iterations": 500, "bind": "compact"}, [point, plain]
    )
    found = read_dataset(write(tmp_path, document))
    layers = scenario_layers(used, found, found.points[0], iterations=7)
    assert layers["library"] == {"preset": "ob1-base", "instances": {"count": 8, "assignment": "dedicated"}}
    assert layers["workload"] == {
        "kind": "multirate", "message_size": "0 B", "iterations": 7, "pairs": 4,
    }  # fmt: skip
    with pytest.raises(InputError, match="does not say what the library's option 'spc' means"):
        scenario_layers(used, found, found.points[1])
    with_spc = used.model_copy(update={"options": {"spc": used.options["contexts"].model_copy(update={"path": None})}})
    assert scenario_layers(with_spc, found, found.points[1])["library"]["thread_level"] == "single"


def test_a_sample_comes_after_what_its_launch_has_done_before(tmp_path: Path) -> None:
    launches = [{"iterations": [40, 40, 40]}, {"iterations": [40, 40, 40]}]
    point = {"parameters": {"pairs": 4}, "message_rate": metric(*range(5, 11), launches=2), "per_launch": launches}
    imported = {"parameters": {"pairs": 2}, "message_rate": metric(5.0)}
    rate = 9 * 40 / 2.0  # nine messages an iteration
    counting = {
        "parameters": {"pairs": 9},
        "message_rate": metric(*[rate] * 6, launches=2),
        "elapsed": {"samples": [2.0] * 6, "unit": "s"},
        "counters": {"messages_sent": 9 * 2 * (3 + 60 + 3 * 40)},
        "per_launch": launches,
    }
    workload = {"kind": "multirate", "message_size": "0 B", "iterations": 500, "warmup_iterations": 3}
    found = read_dataset(write(tmp_path, dataset("a", workload, [point, imported, counting])))

    def lengths(number: int, most: int | None = None, in_all: int | None = None) -> tuple[int, int]:
        layer = scenario_layers(mapping(), found, found.points[number], iterations=most, in_all=in_all)["workload"]
        return layer["iterations"], layer["warmup_iterations"]

    # Before one of three repetitions: a trial, if nobody counted of a quarter of one, and one in the mean.
    assert lengths(0) == (40, 3 + 10 + 40)
    assert lengths(0, in_all=60) == (40, 3 + 20)
    assert lengths(0, 30, 30) == (30, 3)
    assert lengths(0, 20) == (20, 3 + 5 + 20)
    assert lengths(1) == (500, 3)
    assert lengths(2) == (40, 3 + 60 + 40)


def test_a_case_can_be_one_of_a_library(tmp_path: Path) -> None:
    lenient = {"library": {"progress": {"lenient_limit": True}}}
    point = {"parameters": {"pairs": 1}, "message_rate": metric(5.0)}
    found = read_dataset(write(tmp_path, dataset("a", {"kind": "multirate"}, [point])))
    for name, applies in (("alib", True), ("alib-5", False)):
        used = mapping(cases=[{"when": {"library": name}, "layers": lenient}])
        layers = scenario_layers(used, found, found.points[0])
        assert ("progress" in layers["library"]) == applies


@pytest.mark.parametrize(
    ("benchmark", "kind", "timing"),
    [
        ({"program": "contend-multirate"}, "multirate", "slowest-process"),
        ({"program": "contend-latency"}, "latency", "slowest-process"),
        ({"program": "osu_latency_mt"}, "latency", None),
        ({"program": "contend-rma"}, "rma-mt", "first-thread"),
        ({"program": "Multirate"}, "multirate", None),
        ("contend-multirate", "multirate", None),  # not what the format says: nothing is known
    ],
)
def test_a_repetition_is_timed_as_the_program_times_it(
    benchmark: object, kind: str, timing: str | None, tmp_path: Path
) -> None:
    point = {"parameters": {"pairs": 1}, "message_rate": metric(5.0)}
    found = read_dataset(write(tmp_path, dataset("a", {"kind": kind}, [point], benchmark=benchmark)))
    assert scenario_layers(mapping(), found, found.points[0])["workload"].get("timing") == timing


def test_an_option_with_a_value_that_nobody_translated_is_refused(tmp_path: Path) -> None:
    used = mapping(options={"dedicated": {"path": "library.instances.assignment", "values": {"true": "dedicated"}}})
    point = {"parameters": {"pairs": 1, "options.dedicated": False}, "message_rate": metric(5.0)}
    found = read_dataset(write(tmp_path, dataset("a", {"kind": "multirate"}, [point])))
    with pytest.raises(InputError, match="does not know the value false of the option 'dedicated'"):
        scenario_layers(used, found, found.points[0])


@pytest.mark.parametrize(
    ("text", "message"),
    [('{"schema_version": 1}', "/name: is missing"), ("[]", r"found \[\]; allowed: an object"),
     ('{"schema_version": 1, "nam": 2}', r'/nam: unknown key "nam"; allowed: schema_version, .*; did you mean .name.'),
     ('{"name": "a", "name": "b"}', r'm\.json:1:15: the key "name" occurs twice in one object'),
     ("{", "JSON")],
)  # fmt: skip
def test_bad_mappings_are_refused_with_the_place(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        read_mapping(path)
    assert str(path) in str(caught.value)


def of_library(tmp_path: Path, library: dict[str, str], transport: str) -> Dataset:
    document = rates("a", {1: [5.0]})
    return read_dataset(write(tmp_path, document | {"library": library, "transport": transport}))


@pytest.mark.parametrize(
    ("library", "transport", "expected"),
    [
        ({"key": "openmpi-5"}, "tcp", "open-mpi-ob1-tcp"),
        ({"key": "openmpi-4"}, "shm", "open-mpi-ob1-shm"),
        ({"key": "openmpi-5"}, "uct-tcp", "open-mpi-ob1-uct-tcp"),
        ({"key": "openmpi-5"}, "ucx-tcp", "open-mpi-ucx"),
        ({"key": "mpich-5"}, "tcp", "mpich-ch4-tcp"),
        ({"key": "mpich-3"}, "shm", "mpich-ch3-shm"),
        ({"key": "intelmpi"}, "tcp", "intel-mpi-tcp"),
        # What an installation that was found on a machine is, its release says.
        ({"key": "system", "name": "Open MPI", "version": "4.1.6"}, "shm", "open-mpi-ob1-shm"),
        ({"key": "system", "name": "Open MPI", "version": "1.10.7"}, "shm", "open-mpi-ob1-shm"),
        ({"key": "system", "name": "Open MPI", "version": "5.0.3"}, "uct-tcp", "open-mpi-ob1-uct-tcp"),
        ({"key": "system", "name": "Intel MPI", "version": "2021.9"}, "shm", "intel-mpi-shm"),
        ({"key": "system", "name": "MPICH", "version": "3.4.3", "device": "ch3"}, "tcp", "mpich-ch3-tcp"),
        ({"key": "debian-mpich", "name": "MPICH", "version": "4.0.2", "device": "ch4"}, "tcp", "mpich-ch4-tcp"),
        ({"key": "system", "name": "MPICH", "version": "4.2.1", "device": "ch3"}, "tcp", None),
        ({"key": "system", "name": "MPICH", "version": "1.5"}, "tcp", None),
        ({"key": "system"}, "tcp", None),
        # Between two hosts the library chooses its road itself.
        ({"key": "system", "name": "Open MPI", "version": "5.0.3"}, "fabric", "open-mpi-fabric"),
        ({"key": "system", "name": "MPICH", "version": "4.2.1", "device": "ch4"}, "fabric", "mpich-ch4-fabric"),
        ({"key": "system", "name": "Intel MPI", "version": "2021.9"}, "fabric", "intel-mpi-fabric"),
    ],
)  # fmt: skip
def test_shipped_mappings_know_a_library_and_do_not_hide_each_other(
    library: dict[str, str], transport: str, expected: str | None, tmp_path: Path
) -> None:
    shipped = load_mappings()
    names = [one.name for one in shipped]
    assert len(set(names)) == len(names)
    dataset = of_library(tmp_path, library, transport)
    assert [one.name for one in shipped if one.fits(dataset)] == ([expected] if expected else [])


@pytest.mark.core
@pytest.mark.parametrize("bind", ["none", "compact"])
@pytest.mark.parametrize("mode", ["thread", "process"])
@pytest.mark.parametrize(
    ("name", "version"), [("Open MPI", "5.0.3"), ("MPICH", "4.2.1"), ("MPICH", "4.0.2"), ("Intel MPI", "2021.9")]
)
def test_what_a_cluster_measures_can_be_simulated(
    name: str, version: str, mode: str, bind: str, tmp_path: Path
) -> None:
    library = {"key": "system", "name": name, "version": version}
    extra = {"library": library, "placement": {"bind": bind}}
    for transport in ("fabric", "shm"):
        one = read_dataset(write(tmp_path, rates("a", {4: [5.0]}, mode=mode) | extra | {"transport": transport}))
        mapped = find_mapping(load_mappings(), one)
        assert mapped is not None
        layers = scenario_layers(mapped, one, one.points[0], iterations=2)
        assert layers["placement"]["threads"] == ("pinned" if bind == "compact" else "floating")
        assert layers["placement"]["hosts"] == (2 if transport == "fabric" else 1)
        machine = {"profile": "vm-2core", **layers.pop("machine", {})}
        scenario = {"schema_version": 1, "name": "x", "machine": machine, "run": {"replications": 1}, **layers}
        assert run_scenario(scenario).points[0].message_rate.mean > 0


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"sockets": 2, "cores": 64, "hardware_threads": 128},
         {"sockets": 2, "cores_per_socket": 32, "threads_per_core": 2}),
        ({"sockets": 1, "cores": 2, "hardware_threads": 2}, None),  # as in the base
        ({"sockets": 2, "cores": 63, "hardware_threads": 63}, None),
        ({"sockets": 0, "cores": 2, "hardware_threads": 2}, None),
        ({"sockets": 1, "cores": 2}, None),
        ("two cores", None),
    ],
)  # fmt: skip
def test_a_profile_has_the_measured_machine_s_topology(
    said: object, expected: dict[str, int] | None, tmp_path: Path
) -> None:
    document = rates("a", {1: [5.0]})
    one = read_dataset(write(tmp_path, document | {"machine": {"id": "box", "cpu": "EPYC", "topology": said}}))
    base = {"cpu": "base", "topology": {"sockets": 1, "cores_per_socket": 2, "threads_per_core": 1}}
    found = on_measured_machine(base, [one])
    assert found == (base if expected is None else {"cpu": "EPYC", "topology": expected})
    other = read_dataset(write(tmp_path, rates("b", {1: [5.0]}) | {"machine": {"topology": {
        "sockets": 4, "cores": 64, "hardware_threads": 64}}}))  # fmt: skip
    if expected is not None:
        assert on_measured_machine(base, [one, other]) is base


@pytest.mark.parametrize("transport", ["shm", "tcp"])
def test_mpich_has_one_lock_until_4_0_and_one_for_each_interface_since(transport: str, tmp_path: Path) -> None:
    found = {}
    for version in ("4.0.2", "4.1.1"):
        library = {"key": "system", "name": "MPICH", "version": version, "device": "ch4"}
        one = of_library(tmp_path, library, transport)
        mapped = find_mapping(load_mappings(), one)
        assert mapped is not None
        found[version] = scenario_layers(mapped, one, one.points[0])["library"]
    assert (found["4.0.2"]["critical_section"], found["4.1.1"]["critical_section"]) == ("global", "instance")
    assert found["4.0.2"]["matching"]["domain"] == "global"


@pytest.mark.core
@pytest.mark.parametrize(
    ("version", "preset"), [("1.10.7", "ob1-shared-memory-request-lock"), ("2.1.6", "ob1-shared-memory")]
)
def test_open_mpi_has_one_lock_for_all_requests_until_1_10(version: str, preset: str, tmp_path: Path) -> None:
    library = {"key": "system", "name": "Open MPI", "version": version}
    one = of_library(tmp_path, library, "shm")
    mapped = find_mapping(load_mappings(), one)
    assert mapped is not None
    layers = scenario_layers(mapped, one, one.points[0], iterations=2)
    machine = {"profile": "vm-2core", **layers.pop("machine", {})}
    scenario = {"schema_version": 1, "name": "x", "machine": machine, "run": {"replications": 1}, **layers}
    assert scenario["library"]["preset"] == preset
    assert run_scenario(scenario).points[0].message_rate.mean > 0


def test_a_scope_for_the_machine_cannot_be_the_fabrics() -> None:
    for one in load_mappings():
        assert isinstance(one, Mapping)
        for unknown in one.unknowns:
            assert not (unknown.path.startswith("fabric.") and unknown.scope == "machine"), (one.name, unknown.path)


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("libary", "; did you mean 'library'?"),
        ("moed", "; did you mean 'mode'?"),
        ("contextz", "'contexts'?"),
        ("x", ""),
    ],
)
def test_a_condition_that_can_never_hold_is_refused(tmp_path: Path, key: str, hint: str) -> None:
    file = tmp_path / "m.json"
    options = {"contexts": {"path": "library.instances.count"}}
    good = {"when": {"library": "a*", "libc": "glibc 2.*", "mode": "process", "contexts": 2}, "layers": {}}
    file.write_text(mapping(options=options, cases=[good]).model_dump_json())
    assert read_mapping(file).cases[0].when == good["when"]
    file.write_text(mapping(options=options, cases=[good, {"when": {key: "a"}, "layers": {}}]).model_dump_json())
    with pytest.raises(InputError) as caught:
        read_mapping(file)
    assert f"{file}: /cases/1/when/{key}: unknown key {key!r}; allowed: library" in str(caught.value)
    assert str(caught.value).endswith(hint)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"layers": {"libary": {}}}, '/layers/libary: unknown key "libary"; allowed: machine, fabric,'),
        ({"layers": {"library": {"prest": "ob1-base"}}}, "did you mean 'preset'?"),
        (
            {"cases": [{"when": {}, "layers": {"library": {"matching": {"lok": "mcs"}}}}]},
            '/cases/0/layers/library/matching/lok: unknown key "lok"; allowed: bins, domain,',
        ),
        (
            {"cases": [{"when": {}, "layers": {"libary": {}}}]},
            '/cases/0/layers/libary: unknown key "libary"; allowed: machine, fabric, library, placement; did you mean',
        ),
        ({"cases": [{"when": {}, "layers": {"workload": {}}}]}, '/cases/0/layers/workload: unknown key "workload"'),
        ({"options": {"a": {"layers": {"machine": {"nic": {"pots": 1}}}}}}, "did you mean 'post'?"),
        (
            {"options": {"a": {"path": "library.instances.cont"}}},
            '/options/a/path: found "library.instances.cont", which is no value of a scenario; did you mean',
        ),
        ({"unknowns": [{"path": "machine.nic.pots"}]}, "/unknowns/0/path: found"),
        ({"unknowns": [{"path": "machine.nic.post", "scope": "machin"}]}, "did you mean 'machine'?"),
        ({"metrics": {"mesage_rate": "message_rate"}}, "did you mean 'message_rate'?"),
        ({"metrics": {"message_rate": "mesage_rate"}}, '/metrics/message_rate: found "mesage_rate"; allowed'),
    ],
)
def test_what_a_mapping_names_must_be_there(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text(json.dumps(json.loads(mapping().model_dump_json()) | change))
    with pytest.raises(InputError) as caught:
        read_mapping(path)
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"{path}: /")
