"""Direct identification of what sockets cost."""

import math
from pathlib import Path
from typing import Any

import pytest

from calibrating import dataset, iterations, time_of, write
from contend.calibrate.identification import Identified, Skipped, identify
from contend.common.documents import get_path
from contend.datasets.reading import read_datasets
from contend.profiles.catalogs import PROFILES
from contend.profiles.prices import parse_price

# Standard deviation of a delay that is exponential half of the times and nothing else, over the delay's mean.
OF_HALF = math.sqrt(0.75)


def identified(folder: Path, *documents: dict[str, Any]) -> tuple[dict[str, Identified], dict[str, Skipped]]:
    """What is found and what is not, by parameter; that of a library over a transport as `path@scope`."""
    datasets = read_datasets([write(folder, one) for one in documents])
    found, skipped = identify(datasets, PROFILES.load("vm-2core")[1])
    return (
        {one.rule.path if one.scope == "machine" else f"{one.rule.path}@{one.scope}": one for one in found},
        {one.rule.path: one for one in skipped},
    )


def of_base(name: str) -> float:
    return parse_price(get_path(PROFILES.load("vm-2core")[1], f"tcp.{name}.value")).value


def probed(**times: float) -> dict[str, Any]:
    """A machine whose probes took so long: alone (send, read), stream (send, read), answer (send, arrival, read),
    turn (send, moved), poll (empty, ready)."""
    probes: dict[str, dict[str, Any]] = {
        "alone_send": {"probe": "socket", "from_core": 0, "to_core": 0, "part": "send"},
        "alone_read": {"probe": "socket", "from_core": 0, "to_core": 0, "part": "read"},
        "stream_send": {"probe": "socket", "from_core": 0, "to_core": 1, "part": "send"},
        "stream_read": {"probe": "socket", "from_core": 0, "to_core": 1, "part": "read"},
        "answer_send": {"probe": "socket_answers", "from_core": 0, "to_core": 1, "part": "send"},
        "answer_arrival": {"probe": "socket_answers", "from_core": 0, "to_core": 1, "part": "arrival"},
        "answer_read": {"probe": "socket_answers", "from_core": 0, "to_core": 1, "part": "read"},
        "turn_send": {"probe": "socket_turns", "from_core": 0, "to_core": 1, "part": "send", "moved": False},
        "moved_send": {"probe": "socket_turns", "from_core": 0, "to_core": 1, "part": "send", "moved": True},
        "turn_read": {"probe": "socket_turns", "from_core": 0, "to_core": 1, "part": "read", "moved": False},
        "moved_read": {"probe": "socket_turns", "from_core": 0, "to_core": 1, "part": "read", "moved": True},
        "poll_empty": {"probe": "socket_polls", "core": 0, "state": "empty"},
        "poll_ready": {"probe": "socket_polls", "core": 0, "state": "ready"},
        "queue_send": {"probe": "socket_queue", "core": 0, "part": "send"},
    }
    points = [time_of(time, time, **probes[name]) for name, time in times.items()]
    return dataset("machine", {"kind": "machine"}, points, transport="none")


def call(primitive: str, transport: str, time: float, library: str = "alib") -> dict[str, Any]:
    point = time_of(time, time, primitive=primitive, message_size=0)
    name = f"{library}_{transport}_{primitive}"
    return dataset(name, {"kind": "primitives"}, [point], transport=transport, library={"key": library})


def test_the_spread_of_iterations_is_that_of_messages_of_which_half_are_acknowledged(tmp_path: Path) -> None:
    # Quartiles of a normal distribution are 1.349 deviations apart; 64 messages have 8 times the deviation of one.
    found, _ = identified(tmp_path, iterations([(300e-6, 310e-6), (300e-6, 320e-6), (300e-6, 311e-6)]))
    one = found["machine.tcp.contended_send@alib/tcp"]
    assert one.value == pytest.approx(11e-6 / 1.349 / 8 / OF_HALF + of_base("returned_send"), rel=1e-3)
    assert one.low < one.value < one.high


def test_the_spread_of_iterations_is_that_of_messages_of_a_page(tmp_path: Path) -> None:
    document = iterations([(300e-6, 310e-6)])
    (point,) = document["points"]
    wide = [{"iterations": [1000, 900], "iteration_s": {"p25": 300e-6, "p75": 900e-6}}]
    document["points"] = [
        {**point, "parameters": {"pairs": 1, "message_size": size}, "per_launch": launches}
        for size, launches in ((8, point["per_launch"]), (1024, point["per_launch"]), (65536, wide), (2**22, wide))
    ]

    def delay() -> tuple[float, int]:
        found, _ = identified(tmp_path, document)
        one = found["machine.tcp.contended_send@alib/tcp"]
        return (one.value - of_base("returned_send")) * OF_HALF, one.points

    assert delay() == (pytest.approx(10e-6 / 1.349 / 8, rel=1e-3), 2)
    document["points"] = document["points"][2:]
    assert delay() == (pytest.approx(600e-6 / 1.349 / 8, rel=1e-3), 1)


def test_only_sockets_have_sends_beside_a_peer_that_acknowledges(tmp_path: Path) -> None:
    found, skipped = identified(tmp_path, iterations([(300e-6, 310e-6)]) | {"transport": "shm"})
    assert not any("contended_send" in path for path in found | skipped)
    found, skipped = identified(tmp_path, iterations([(300e-6, 310e-6)], pairs=2))
    assert "no times of iterations" in skipped["machine.tcp.contended_send"].reason


def test_probes_of_sockets_isolate_the_parts_of_the_kernel_s_calls(tmp_path: Path) -> None:
    found, _ = identified(tmp_path, probed(
        alone_send=3.2e-6, alone_read=3.5e-7, stream_send=5.7e-6, stream_read=3e-6,
        answer_send=4.6e-6, answer_arrival=4.3e-6, answer_read=9.5e-7, turn_send=4e-6,
        poll_empty=1.7e-7, poll_ready=5e-7,
    ))  # fmt: skip
    assert {path: one.value for path, one in found.items() if ".tcp." in path} == {
        "machine.tcp.send_call": pytest.approx(3.2e-6),
        "machine.tcp.poll_event": pytest.approx(3.3e-7),
        "machine.tcp.returned_send": pytest.approx(8e-7),
        "machine.tcp.acknowledging_send": pytest.approx(6e-7),
        "machine.tcp.arrival_share": pytest.approx((4.3 - 0.33 - 0.8 - 0.6) / 3.2),
        "machine.tcp.contended_send": pytest.approx(2.5e-6),
        "machine.tcp.receive_packet": pytest.approx(3.5e-7),
        "machine.tcp.receive_call": pytest.approx(6e-7),
        "machine.tcp.acknowledge": pytest.approx(3e-6 - 9.5e-7),
    }
    assert all(one.rule.isolates for path, one in found.items() if ".tcp." in path)
    assert found["machine.tcp.arrival_share"].kind == "number"


def test_without_their_probes_parts_are_taken_as_large_as_elsewhere(tmp_path: Path) -> None:
    """Datasets of before there was a probe of it: they have the send whose receiver is on the same core."""
    found, _ = identified(tmp_path, probed(alone_send=2e-6))
    guesses = {path.removeprefix("machine.tcp."): one for path, one in found.items() if path != "machine.tcp.send_call"}
    assert set(guesses) == {"poll_event", "returned_send", "acknowledging_send", "receive_call"}
    for one in guesses.values():
        assert 0 < one.value < 1e-6
        assert (one.low, one.high) == (pytest.approx(one.value / 3), pytest.approx(one.value * 3))
        assert not one.rule.isolates


def test_a_difference_that_cannot_be_told_from_nothing_is_next_to_nothing(tmp_path: Path) -> None:
    """Between hardware threads of a core lines cost nothing; another machine's price for them would be wrong."""
    found, _ = identified(tmp_path, probed(alone_send=3.2e-6, turn_send=3.1e-6))
    one = found["machine.tcp.returned_send"]
    assert one.value == pytest.approx(5e-8)
    assert one.low == pytest.approx(5e-8 / 3)
    assert one.high >= 1.5e-7 * (1 - 1e-9)  # or what the spread of the two still allows


def test_what_the_probes_say_is_asked_of_no_library(tmp_path: Path) -> None:
    calls = [call("message", "shm", 5e-7), call("message", "tcp", 4.5e-6), iterations([(300e-6, 310e-6)])]
    machine = probed(alone_send=1.1e-6, alone_read=2e-7, stream_send=2.1e-6, stream_read=2.4e-6)
    found, skipped = identified(tmp_path, machine, *calls)
    for name in ("acknowledge", "contended_send"):
        assert f"machine.tcp.{name}@alib/tcp" not in found
        assert skipped[f"machine.tcp.{name}"].reason == "a probe of the machine says it"
    found, _ = identified(tmp_path, *calls)
    one = found["machine.tcp.acknowledge@alib/tcp"]
    # A receiver has half of what a message takes, and acknowledges every second one.
    assert one.value / 2 + of_base("receive_call") + of_base("receive_packet") == pytest.approx(2e-6)
    assert not one.rule.isolates


def test_what_a_receiver_adds_to_a_send_is_paid_once(tmp_path: Path) -> None:
    """The program's receiver reads on another core, and acknowledges every second message."""
    machine = probed(alone_send=1.1e-6, stream_send=2.1e-6, turn_send=1.3e-6)
    calls = [call("isend", "shm", 2e-7), call("isend", "tcp", 2.7e-6)]
    found, _ = identified(tmp_path, machine, *calls)
    assert found["machine.tcp.send_call"].value == pytest.approx(1.1e-6)
    assert found["machine.tcp.send_call@alib/tcp"].value == pytest.approx(2.5e-6 - (1e-6 + 2e-7) / 2)
    # Where no probe says it, times of iterations tell what its sends are without.
    found, _ = identified(tmp_path, *calls, iterations([(300e-6, 310e-6)] * 3))
    own = found["machine.tcp.contended_send@alib/tcp"].value
    send = found["machine.tcp.send_call@alib/tcp"].value
    assert send == pytest.approx(2.5e-6 - (own + of_base("returned_send")) / 2, rel=1e-3)


@pytest.mark.parametrize(("library", "polls"), [("openmpi-5", 2), ("mpich-5", 1)])
def test_an_answer_tells_what_a_library_does_between_poll_and_receive(library: str, polls: int, tmp_path: Path) -> None:
    """Open MPI polls once more, in vain, before its turn is over."""
    probes = {
        "alone_send": 3.2e-6,
        "alone_read": 3.5e-7,
        "answer_send": 4.6e-6,
        "answer_read": 9.5e-7,
        "turn_send": 4e-6,
    }
    machine = probed(**probes, poll_empty=1.7e-7, poll_ready=5e-7)
    calls = [
        call(primitive, transport, time, library)
        for primitive, transport, time in (
            ("isend", "shm", 1e-7), ("isend", "tcp", 5e-6), ("latency", "shm", 3e-7), ("latency", "tcp", 7e-6),
            ("test_empty", "shm", 1e-7), ("test_empty", "tcp", 3e-7),
        )
    ]  # fmt: skip
    found, _ = identified(tmp_path, machine, *calls)
    send = found[f"machine.tcp.send_call@{library}/tcp"].value
    known = 0.75 * send + 8e-7 + 6e-7 + 9.5e-7 + polls * 3.3e-7 + (polls - 0.5) * 2e-7
    assert found[f"machine.tcp.dispatch@{library}/tcp"].value == pytest.approx(6.7e-6 - known)


def test_a_send_that_waits_in_its_socket_is_put_where_the_base_says_nothing(tmp_path: Path) -> None:
    assert get_path(PROFILES.load("vm-2core")[1], "tcp.queued_send_call") is None
    found, _ = identified(tmp_path, probed(queue_send=9e-7))
    assert found["machine.tcp.queued_send_call"].value == pytest.approx(9e-7)


def test_a_socket_that_moves_is_put_where_the_base_says_nothing(tmp_path: Path) -> None:
    document = probed(turn_send=2e-6, moved_send=2.5e-6, turn_read=1e-6, moved_read=1.75e-6)
    profile = PROFILES.load("vm-2core")[1]
    assert get_path(profile, "tcp.moved_send") is None
    found, _ = identified(tmp_path, document)
    assert found["machine.tcp.moved_send"].value == pytest.approx(5e-7)
    assert found["machine.tcp.moved_receive"].value == pytest.approx(7.5e-7)
    # A profile without sockets has no place for it.
    _, skipped = identify(read_datasets([write(tmp_path, document)]), {k: v for k, v in profile.items() if k != "tcp"})
    assert {one.reason for one in skipped if "moved" in one.rule.path} == {"the base profile has no such parameter"}
