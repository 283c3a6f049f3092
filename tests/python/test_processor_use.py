"""What the operating system counted of measured processes is read, and shown beside what it counts in a simulation."""

from __future__ import annotations

import copy
import json
import re
import statistics
from pathlib import Path
from typing import Any

import pytest

import contend
from calibrating import rates, write
from contend.cli import main
from contend.common.errors import InputError
from contend.datasets.processor_use import ProcessorUse
from contend.datasets.reading import read_dataset
from contend.measured.processor_use import simulated_use
from fakes import REPOSITORY
from test_measured import work_in

pytestmark = pytest.mark.usefixtures("unrendered")

MANY_CORES = REPOSITORY / "validation" / "data" / "vm-16core" / "mpich-5_shm_shared.json"


def used(user: float, system: float, voluntary: int, involuntary: int) -> dict[str, float]:
    return {"user_s": user, "system_s": system, "voluntary_switches": voluntary, "involuntary_switches": involuntary}


def with_usage(pairs: int = 2) -> dict[str, Any]:
    """A dataset of one point with two launches, which sent 1000 messages in all."""
    document = rates("counted", {pairs: [1e5, 1.1e5]}, pattern="pairwise", mode="thread", message_size="0 B",
                     iterations=3, warmup_iterations=1)  # fmt: skip
    point = document["points"][0]
    point["counters"] = {"messages_sent": 1000, "messages_received": 1000}
    point["per_launch"] = [
        {"launch": launch, "usage": {"sender": used(0.001, 0.002, 100, 10), "receiver": used(0.004, 0.001, 300, 0)}}
        for launch in range(2)
    ]
    return document


def test_counts_of_all_launches_are_divided_by_all_messages(tmp_path: Path) -> None:
    use = read_dataset(write(tmp_path, with_usage())).points[0].use
    assert use == {
        "sender": ProcessorUse(pytest.approx(6e-6), pytest.approx(0.2), pytest.approx(0.02)),
        "receiver": ProcessorUse(pytest.approx(1e-5), pytest.approx(0.6), 0.0),
    }


def test_without_counts_or_messages_nothing_is_known(tmp_path: Path) -> None:
    whole = with_usage()
    without_messages, without_launches, without_one = (copy.deepcopy(whole) for _ in range(3))
    without_messages["points"][0]["counters"] = {}
    del without_launches["points"][0]["per_launch"]
    del without_one["points"][0]["per_launch"][1]["usage"]
    for document in (without_messages, without_launches, without_one):
        assert read_dataset(write(tmp_path, document)).points[0].use == {}


@pytest.mark.parametrize(
    ("side", "value", "message"),
    [
        ("sender", {"user_s": "1"}, '/points/0/per_launch/1/usage/sender/user_s: found "1"; allowed: a number from 0'),
        ("receiver", {"voluntary_switches": -1}, "/usage/receiver/voluntary_switches: found -1; allowed: a number"),
        ("receiver", {"system_s": True}, "/usage/receiver/system_s: found true; allowed: a number from 0"),
        ("sender", None, "/usage/sender/user_s: found null; allowed: a number from 0"),
    ],
)
def test_what_is_no_count_is_refused(side: str, value: dict[str, Any] | None, message: str, tmp_path: Path) -> None:
    document = with_usage()
    usage = document["points"][0]["per_launch"][1]["usage"]
    usage[side] = None if value is None else usage[side] | value
    with pytest.raises(InputError, match=re.escape(message)):
        read_dataset(write(tmp_path, document))


@pytest.fixture
def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A dataset with counts, its mapping, and a profile of its machine, in the working folder."""
    work_in(tmp_path, monkeypatch)
    return write(tmp_path, with_usage())


@pytest.mark.core
def test_a_run_shows_both(measured: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(measured), "--mapping", "alib.map", "--replications", "2"]) == 0
    shown = capsys.readouterr().out
    assert "what the operating system counts, measured / predicted" in shown
    assert re.search(r"^ *sender +6 us / \S+ us +0\.20 / \d", shown, re.MULTILINE)
    result = contend.load_results("out/counted").points[0]
    assert result.measured is not None
    both = result.measured["usage"]
    assert both["receiver"]["voluntary_switches"]["measured"] == pytest.approx(0.6)
    seconds = result.usage["sender"]["processor_s"]
    assert result.message_rate is not None
    messages = 3 * 2 * 128 * 1.0
    assert messages == pytest.approx(
        statistics.harmonic_mean(result.message_rate.samples) * result.scalars["elapsed_s"]
    )
    assert both["sender"]["processor_s"]["predicted"] == pytest.approx(seconds / messages)
    assert result.to_json()["usage"] == json.loads(Path("out/counted/results.json").read_text())["points"][0]["usage"]


@pytest.mark.core
def test_threads_that_poll_use_their_cores_all_the_time() -> None:
    """Threads that share nothing and never sleep are busy from the first to the last moment."""
    result = contend.run("fig3_pairwise_process", {"workload.pairs": 2, "library.preset": "ob1-openib"}).points[0]
    threads = 2
    for used_by in result.usage.values():
        assert used_by["voluntary_switches"] == used_by["involuntary_switches"] == 0
        assert used_by["processor_s"] == pytest.approx(threads * result.scalars["elapsed_s"], rel=0.05)


@pytest.mark.core
def test_a_round_trip_is_one_message(tmp_path: Path) -> None:
    """The rate of a latency counts answers, the program's counters do not."""
    dataset = REPOSITORY / "validation" / "data" / "vm-16core" / "mpich-5_shm_latency.json"
    profile = REPOSITORY / "validation" / "vm-16core" / "one-thread-profile.json"
    assert main(["run", str(dataset), "--point", "receivers=1", "--profile", str(profile), "--replications", "1",
                 "--out", str(tmp_path)]) == 0  # fmt: skip
    result = contend.load_results(tmp_path).points[0]
    once = simulated_use(result, "latency")["sender"].processor_s
    assert once == pytest.approx(2 * simulated_use(result, "multirate")["sender"].processor_s)
    assert result.measured is not None
    assert result.measured["usage"]["sender"]["processor_s"]["predicted"] == pytest.approx(once)
    # Each side polls through the round trip, which is two latencies.
    assert result.measured["usage"]["sender"]["processor_s"]["measured"] == pytest.approx(
        2 * result.measured["median"], rel=0.05
    )


def test_measured_counts_are_as_their_files_say() -> None:
    """Of 16 pairs of MPICH senders fall asleep two or three times a message, and keep many cores busy."""
    point = next(one for one in read_dataset(MANY_CORES).points if one.parameters["pairs"] == 16)
    assert point.use["sender"].voluntary_switches == pytest.approx(2.32, abs=0.01)
    assert point.use["sender"].processor_s == pytest.approx(78.3e-6, rel=0.01)


@pytest.mark.core
def test_frames_have_the_counts_in_columns_of_their_roles() -> None:
    results = contend.run("fig3_pairwise_process", {"workload.pairs": 2, "library.preset": "ob1-openib"})
    frame = results.frame()
    usage = results.points[0].usage["sender"]
    assert frame["sender_processor_s"][0] == usage["processor_s"]
    assert frame["receiver_voluntary_switches"][0] == 0
    assert results.units["sender_processor_s"] == "s"
