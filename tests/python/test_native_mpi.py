"""The programs that need an MPI library, in correctness mode: messages arrive whole, once and in order."""

import math
import os
import subprocess
import zlib
from pathlib import Path
from typing import Any

import pytest

from native_programs import Outcome, Run, build, mpi_folder, run


@pytest.fixture(scope="module")
def mpi() -> Run:
    """Runs a program on so many ranks: name, ranks, options."""
    folder = mpi_folder()
    if folder is None:
        pytest.skip("no MPI library found: set CONTEND_TEST_MPI, or install one with ./contend measure")
    programs = build(f"native-test-{zlib.crc32(bytes(folder)):08x}", f"-DMPI_HOME={folder}")  # one for each library
    environment = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    launcher: list[str | Path] = [folder / "bin/mpiexec"]
    version = subprocess.run(
        [*launcher, "--version"], capture_output=True, text=True, check=False, env={**os.environ, **environment}
    ).stdout
    if "Open MPI" in version or "Open RTE" in version or "prte" in version.lower():
        launcher += ["--bind-to", "none", "--oversubscribe"]
    return lambda program, ranks, *options: run(
        [*launcher, "-n", str(ranks), programs / f"contend-{program}", *options], **environment
    )


MODES = [
    (2, []),
    (2, ["--communicator-per-pair"]),
    (2, ["--any-tag"]),
    (2, ["--any-tag", "--allow-overtaking"]),
    (2, ["--no-barrier-every-iteration", "--communicator-per-pair"]),
    (2, ["--no-barrier-every-iteration", "--communicator-per-pair", "--any-tag", "--handshake", "world"]),
    (2, ["--tags", "pair"]),
    (2, ["--no-barrier-every-iteration", "--tags", "pair"]),
    (2, ["--tags", "pair", "--handshake", "world", "--communicator-per-pair"]),
    (4, ["--mode", "process"]),
    (3, ["--mode", "process-to-thread"]),
    (3, ["--mode", "thread-to-process", "--communicator-per-pair"]),
]
PATTERNS = [
    ("one-to-many", 1, 3),
    ("many-to-one", 3, 1),
    ("many-to-many", 2, 3),
]


def document_of(outcome: Outcome) -> dict[str, Any]:
    assert outcome.status == 0, outcome.errors
    assert outcome.document is not None
    return outcome.document


def checked(outcome: Outcome) -> dict[str, Any]:
    point: dict[str, Any] = document_of(outcome)["points"][0]
    return point


@pytest.mark.parametrize(("ranks", "options"), MODES)
def test_pairs_exchange_correctly(mpi: Run, ranks: int, options: list[str]) -> None:
    point = checked(
        mpi(
            "multirate",
            ranks,
            "--pairs",
            "2",
            "--window",
            "16",
            "--iterations",
            "30",
            "--warmup-iterations",
            "2",
            "--message-size",
            "40",
            "--verify",
            *options,
        )
    )
    messages = 2 * 16 * 32
    assert point["parameters"] == {"pairs": 2}
    assert point["counters"]["messages_received"] == messages
    assert point["verification"]["messages"] == messages
    assert point["verification"]["errors"] == 0
    assert point["verification"]["payload_checked"]
    assert point["verification"]["order_checked"] == ("--allow-overtaking" not in options)


SLOTS = [
    (2, []),
    (2, ["--any-tag"]),
    (2, ["--communicator-per-pair", "--any-tag"]),
    (2, ["--tags", "pair", "--message-size", "100000"]),
    (4, ["--mode", "process"]),
    (3, ["--mode", "process-to-thread"]),
]


@pytest.mark.parametrize("completion", ["test", "testany", "waitany"])
@pytest.mark.parametrize(("ranks", "options"), SLOTS)
def test_requests_in_flight_are_all_served(mpi: Run, ranks: int, options: list[str], completion: str) -> None:
    """What is sent beyond the windows closes what a thread that looks for any has left."""
    fixed = ["--pairs=2", "--window=5", "--iterations=40", "--warmup-iterations=2", "--repetitions=2", "--verify"]
    sized = [] if "--message-size" in options else ["--message-size", "40"]
    loop = ["--completion", completion, "--no-barrier-every-iteration"]
    outcome = mpi("multirate", ranks, *fixed, *loop, *sized, *options)
    point = checked(outcome)
    in_windows = 2 * 5 * (2 + 2 * 40)
    counted = point["counters"]["messages_received"]
    assert counted >= in_windows
    assert point["verification"]["messages"] == counted
    assert point["verification"]["errors"] == 0
    assert document_of(outcome)["workload"]["completion"] == completion
    for rate, elapsed in zip(point["message_rate"]["samples"], point["elapsed"]["samples"], strict=True):
        assert rate == pytest.approx(2 * 5 * 40 / elapsed)
    if completion == "test":
        assert counted <= in_windows + 2 * 5  # slots are served in turn


def test_a_single_slot_is_a_message_at_a_time(mpi: Run) -> None:
    options = ["--completion=waitany", "--no-barrier-every-iteration", "--window=1", "--iterations=50", "--verify"]
    point = checked(mpi("multirate", 2, "--pairs=1", "--message-size=16", *options))
    assert point["counters"]["messages_received"] == 50 + 10


def test_a_wrong_payload_in_flight_is_found(mpi: Run) -> None:
    options = ["--completion=test", "--no-barrier-every-iteration", "--message-size=40", "--verify", "--corrupt=3"]
    outcome = mpi("multirate", 2, "--iterations=10", *options)
    assert outcome.status != 0
    assert "contend-multirate: error 4: " in outcome.errors


@pytest.mark.parametrize("options", [[], ["--any-tag"], ["--communicator-per-pair"]])
@pytest.mark.parametrize(("pattern", "senders", "receivers"), PATTERNS)
def test_patterns_exchange_correctly(mpi: Run, pattern: str, senders: int, receivers: int, options: list[str]) -> None:
    point = checked(
        mpi(
            "multirate",
            2,
            "--pattern",
            pattern,
            "--senders",
            str(senders),
            "--receivers",
            str(receivers),
            "--window",
            "16",
            "--iterations",
            "10",
            "--message-size",
            "40",
            "--verify",
            *options,
        )
    )
    assert point["parameters"] == {"senders": senders, "receivers": receivers}
    assert point["verification"]["messages"] == senders * receivers * 16 * 20


def test_wrong_payload_is_found(mpi: Run) -> None:
    outcome = mpi("multirate", 2, "--pairs", "2", "--iterations", "10", "--message-size", "40", "--verify",
                  "--corrupt", "3")  # fmt: skip
    assert outcome.status != 0
    assert outcome.document is None
    assert "contend-multirate: error 4: " in outcome.errors


def test_rate_and_times_fit_together(mpi: Run) -> None:
    outcome = mpi("multirate", 2, "--iterations", "50", "--repetitions", "3", "--iteration-times", "all")
    point = checked(outcome)
    assert document_of(outcome)["workload"]["kind"] == "multirate"
    assert [len(times) for times in point["iteration_times_s"]] == [50, 50, 50]
    (skew,) = point["begin_skew_s"]  # of the second process
    assert 0 <= skew < document_of(outcome)["wall_s"] + 1
    for rate, elapsed, times in zip(
        point["message_rate"]["samples"], point["elapsed"]["samples"], point["iteration_times_s"], strict=True
    ):
        assert rate == pytest.approx(128 * 50 / elapsed)
        assert sum(times) <= elapsed * 1.001


def built_shim(source: str, folder: Path) -> Path:
    """The source beside this file as a library that stands in for some of MPI's functions."""
    mpi_home = mpi_folder()
    assert mpi_home is not None
    shim = folder / "shim.so"
    command = [mpi_home / "bin/mpicxx", "-std=c++20", "-shared", "-fPIC", "-o", shim, Path(__file__).with_name(source)]
    subprocess.run(command, check=True)
    return shim


def test_performance_counters_of_a_library_that_has_them(
    mpi: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LD_PRELOAD", str(built_shim("spc_shim.cpp", tmp_path)))
    point = checked(mpi("multirate", 2, "--pairs", "2", "--window", "16", "--iterations", "10", "--repetitions", "2"))
    received = point["counters"]["messages_received"]  # warm-up included; the words of the handshake are no MPI_Irecv
    assert received >= 2 * 2 * 10 * 16
    assert point["counters"]["out_of_sequence"] == 2 * received
    assert point["counters"]["match_time_ns"] == 3 * received * 1000
    assert point["counters"]["oos_in_queue_max"] == 7
    kinds = {name: entry["class"] for name, entry in point["mpi_t"]["receiver"].items()}
    assert kinds["runtime_spc_OMPI_SPC_UNEXPECTED_IN_QUEUE"] == "level"
    assert kinds["runtime_spc_OMPI_SPC_MATCH_TIME"] == "counter"


@pytest.mark.parametrize("warmup", ["1", "20"])
def test_target_time_chooses_the_iterations(mpi: Run, warmup: str) -> None:
    outcome = mpi(
        "multirate", 2, "--target-seconds", "0.05", "--iterations", "100000", "--warmup-iterations", warmup, "--verify"
    )
    point = checked(outcome)
    # A cold first iteration takes many times as long as the others: the trials see through that.
    assert max(point["elapsed"]["samples"]) > 0.01
    assert 1 <= point["iterations"][0] < 100_000
    assert document_of(outcome)["workload"]["iterations"] == point["iterations"][0]


def test_pauses_of_the_machine_do_not_choose_the_iterations(
    mpi: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LD_PRELOAD", str(built_shim("pause_shim.cpp", tmp_path)))
    monkeypatch.setenv("CONTEND_TEST_WINDOW", "64")
    point = checked(
        mpi("multirate", 2, "--window", "64", "--target-seconds", "0.05", "--iterations", "100000",
            "--warmup-iterations", "1")
    )  # fmt: skip
    # Each pause is longer than a repetition: had one been taken for an iteration, there would be a single, short one.
    assert max(point["elapsed"]["samples"]) > 0.01


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--pattern", "many-to-many", "--tags", "pair"], "only pattern pairwise has tags of pairs"),
        (["--pairs", "2", "--no-barrier-every-iteration"], "take each other's messages until all wait"),
        (
            ["--pairs", "2", "--no-barrier-every-iteration", "--tags", "pair", "--any-tag"],
            "--tags pair without --any-tag",
        ),
        (["--pairs", "400", "--tags", "pair"], "(window + 2) x pairs = 52000 tags; MPI guarantees 32768"),
    ],
)
def test_tags_that_cannot_be(mpi: Run, options: list[str], message: str) -> None:
    outcome = mpi("multirate", 2, *options)
    assert outcome.status == 2
    assert message in outcome.errors


def test_number_of_ranks_must_fit(mpi: Run) -> None:
    outcome = mpi("multirate", 3, "--pairs", "2")
    assert "error 2: mode thread, pattern pairwise" in outcome.errors
    assert "needs 2 ranks, there are 3" in outcome.errors
    assert outcome.errors.count("error 2") == 1


def test_crash_and_deadlock_end_the_job(mpi: Run) -> None:
    crashed = mpi("multirate", 2, "--pairs", "2", "--crash", "3", "--seconds-limit", "30")
    assert crashed.status != 0
    assert crashed.document is None
    stuck = mpi("multirate", 2, "--pairs", "2", "--deadlock", "3", "--seconds-limit", "3")
    assert stuck.status != 0
    assert "error 5: not done after 3" in stuck.errors


@pytest.mark.parametrize("operation", ["put", "get", "accumulate", "fetch-and-op"])
@pytest.mark.parametrize("synchronisation", ["flush", "lock-all", "fence"])
def test_one_sided_operations_reach_their_memory(mpi: Run, operation: str, synchronisation: str) -> None:
    options = [
        "--operation",
        operation,
        "--synchronisation",
        synchronisation,
        "--operations",
        "50",
        "--iterations",
        "3",
    ]
    point = checked(mpi("rma", 2, "--threads", "2", "--verify", *options))
    assert point["verification"]["errors"] == 0
    assert point["message_rate"]["samples"][0] > 0


@pytest.mark.parametrize(("senders", "receivers", "size"), [(1, 1, 0), (1, 3, 64), (3, 2, 64), (2, 2, 20000)])
def test_answers_are_what_was_sent(mpi: Run, senders: int, receivers: int, size: int) -> None:
    outcome = mpi("latency", 2, f"--senders={senders}", f"--receivers={receivers}", f"--message-size={size}",
                  "--iterations=31", "--warmup-iterations=5", "--repetitions=2", "--verify")  # fmt: skip
    point = checked(outcome)
    workload = document_of(outcome)["workload"]
    # Whole rounds of both sides: round trips that every thread has its share of.
    rounds = math.lcm(senders, receivers)
    assert workload["iterations"] == math.ceil(31 / rounds) * rounds
    assert point["iterations"] == [workload["iterations"]] * 2
    assert point["parameters"] == {"senders": senders, "receivers": receivers}
    assert point["verification"]["errors"] == 0
    assert point["verification"]["payload_checked"] == (size > 0)
    assert point["verification"]["messages"] == 2 * (2 * workload["iterations"] + workload["warmup_iterations"])
    for latency, elapsed in zip(point["latency"]["samples"], point["elapsed"]["samples"], strict=True):
        assert latency == pytest.approx(elapsed * senders / (2 * workload["iterations"]))


def test_wrong_answer_is_found(mpi: Run) -> None:
    outcome = mpi("latency", 2, "--message-size=16", "--iterations=20", "--verify", "--corrupt=3")
    assert outcome.status != 0
    assert "contend-latency: error 4: " in outcome.errors


def test_several_threads_need_the_level_for_it(mpi: Run) -> None:
    outcome = mpi("latency", 2, "--receivers=2", "--thread-level=funneled")
    assert outcome.status != 0
    assert "several threads need thread level multiple, not funneled" in outcome.errors


def test_wrong_memory_is_found(mpi: Run) -> None:
    outcome = mpi("rma", 2, "--threads", "2", "--operations", "50", "--verify", "--corrupt")
    assert outcome.status != 0
    assert "contend-rma: error 4: " in outcome.errors


@pytest.mark.parametrize("method", ["partitioned", "persistent", "multi-send", "single-send"])
def test_partitions_arrive_whole(mpi: Run, method: str) -> None:
    outcome = mpi("partitioned", 2, "--method", method, "--iterations", "5", "--verify", "--seconds-limit", "60")
    if "error 3: " in outcome.errors:
        pytest.skip("the library has no partitioned communication")
    point = checked(outcome)
    assert point["perceived_bandwidth"]["unit"] == "MiB/s"
    assert point["verification"] == {"payload_checked": True, "errors": 0}


def test_wrong_partition_is_found(mpi: Run) -> None:
    outcome = mpi("partitioned", 2, "--method", "multi-send", "--iterations", "5", "--verify", "--corrupt", "2")
    assert outcome.status != 0
    assert "error 4: partition 0 is wrong in iteration 2" in outcome.errors


def test_waiting_leaves_out_calls_that_would_not_return(mpi: Run) -> None:
    outcome = mpi("waiting", 2, "--iterations", "20", "--requests", "1,8", "--complete", "0,1,all")
    checked(outcome)
    points = [tuple(point["parameters"].values()) for point in document_of(outcome)["points"]]
    assert ("testall", 8, 0) in points
    assert ("waitany", 8, 1) in points
    assert ("waitall", 8, 8) in points
    assert not [point for point in points if point[0] == "waitall" and point[1] != point[2]]
    assert not [point for point in points if point[0].startswith("wait") and point[2] == 0]


def test_primitives_are_all_there(mpi: Run) -> None:
    outcome = mpi("primitives", 2, "--iterations", "100", "--depth", "0,64", "--message-size", "0,1 KiB")
    checked(outcome)
    times = {
        tuple(point["parameters"].values()): point["time_per_operation"] for point in document_of(outcome)["points"]
    }
    assert set(times) == {
        *(("team_begin", part) for part in ("create", "first_call")),
        *((name, size) for name in ("isend", "latency", "message") for size in (0, 1024)),
        *((name, depth) for name in ("match_posted", "match_unexpected") for depth in (0, 64)),
        ("irecv",),
        ("test_empty",),
        ("iprobe_empty",),
    }
    assert all(0 < time["samples"][0] < 1 for time in times.values())
    assert len(times["team_begin", "create"]["samples"]) == len(times["team_begin", "first_call"]["samples"]) == 7
