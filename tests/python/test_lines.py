"""Cache lines that requests drag along: what is read out of a trace, and a real library under valgrind."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from contend.cli import main
from contend.common.errors import ContendError, InputError
from contend.measure.libraries import installed
from contend.measure.line_trace import Moved, Phase, accesses, moved_lines

Capture = pytest.CaptureFixture[str]

MARKS, OWN, STACK = 0x10E000, 0x20000, 0x1FFF000500
SIGNATURE = (511, 384, 509, 386, 507, 388, 505, 390)
ROUND = 63
PHASES = list(Phase)
LOCK, REQUESTS = 0x900000, 0xA00000


def slot(number: int) -> tuple[bytes, int]:
    return b"S", MARKS + 8 * number


def begin(phase: Phase, thread: int) -> tuple[bytes, int]:
    return slot(64 * PHASES.index(phase) + thread)


def announcement() -> Iterator[tuple[bytes, int]]:
    yield from [(b"S", MARKS), (b"L", LOCK)]
    yield from map(slot, SIGNATURE)
    yield from [(b"L", OWN + 8), (b"S", OWN), (b"S", OWN + 0x4000), (b"S", STACK)]


def rounds(count: int = 8, requests: int = 6, threads: int = 3) -> Iterator[tuple[bytes, int]]:
    """A library with a lock of one line, and a line for each request that it writes, completes and reads back."""
    for _ in range(count):
        yield slot(ROUND)
        for index in range(requests):
            yield begin(Phase.post, 1 + index % threads)
            yield b"M", LOCK
            yield b"S", REQUESTS + 64 * index
            yield b"S", OWN + 64 * index  # the handle
            yield b"L", STACK - 128
        yield begin(Phase.progress, 1)
        for index in range(requests):
            yield b"L", REQUESTS + 64 * index + 8
            yield b"S", REQUESTS + 64 * index + 16
        for index in range(requests):
            yield begin(Phase.wait, 1 + index % threads)
            yield b"L", REQUESTS + 64 * index
        yield begin(Phase.none, 1)


def test_lines_move_as_a_protocol_moves_them() -> None:
    found = moved_lines([*announcement(), *rounds()])
    posting, completing, waiting = (found[phase] for phase in (Phase.post, Phase.progress, Phase.wait))
    assert posting.calls == completing.calls == waiting.calls == 4 * 6  # four rounds do not count
    # The lock moves with each call. Requests of two threads of three were completed by the first one: their owners have
    # copies, as it has, and take the line for themselves.
    assert posting.every == (LOCK >> 6,)
    assert posting.written == ()  # loaded and stored at once is counted with the loads
    assert (posting.own, posting.fetched) == (0, 0)
    assert posting.taken == pytest.approx(4 / 6)
    # The first thread fetches the four of the others, and then stores to its copy.
    assert (completing.every, completing.own, completing.fetched) == ((), pytest.approx(4 / 6), 0)
    assert completing.taken == pytest.approx(4 / 6)
    assert (waiting.own, waiting.fetched, waiting.taken) == (pytest.approx(4 / 6), 0, 0)
    assert found[Phase.idle].calls == 0


def moved_by(*steps: tuple[bytes, int]) -> dict[Phase, Moved]:
    """What moves in steps after the first rounds, which do not count."""
    return moved_lines([*announcement(), *[slot(ROUND)] * 5, *steps])


def test_loads_are_waited_for_and_stores_are_not() -> None:
    one, two, three, four, five, six = (LOCK + 64 * index for index in range(6))
    found = moved_by(
        begin(Phase.post, 1), *((b"S", line) for line in (one, two, three, four)),  # nobody had them
        begin(Phase.wait, 2), (b"L", one), (b"S", two), (b"M", three), (b"L", four), (b"S", four),
        begin(Phase.idle, 1), (b"L", one), (b"M", one), (b"L", two), (b"L", five), (b"S", six),
    )  # fmt: skip
    lines = {address: address >> 6 for address in (one, two, three, four)}
    assert found[Phase.post] == Moved(1, (), 0.0, 0.0, 0.0, ())
    # The second thread waits for three lines, for one of them to store to it at once. It stores to one that it does not
    # have, and to one that both have by then.
    assert found[Phase.wait] == Moved(
        1, (lines[one], lines[three], lines[four]), 0.0, 1.0, 1.0, (lines[two], lines[four])
    )
    # The first thread still has the first line and takes it for itself, waits for the second one, and nobody had the
    # last two.
    assert found[Phase.idle] == Moved(1, (lines[two],), 0.0, 0.0, 1.0, (lines[one],))


def test_a_line_that_moves_in_two_calls_of_five_is_the_request_s() -> None:
    often, seldom, written, twice, taken = (LOCK + 64 * index for index in range(5))
    steps: list[tuple[bytes, int]] = []
    for call in range(5):
        steps += [begin(Phase.post, 1 + call % 2), (b"M", often), (b"S", written)]
        if call < 3:
            steps += [(b"M", seldom), (b"S", twice), (b"L" if call == 1 else b"S", taken)]
    # The first call finds nothing that another thread has. Of the last line the first thread still has a copy when it
    # stores again.
    expected = Moved(5, (often >> 6,), 3 / 5, 6 / 5, 1 / 5, (written >> 6,))
    assert moved_by(*steps)[Phase.post] == expected
    assert expected.to_json() == {
        "calls": 5, "loads_same_in_every_call": ["0x900000"], "loads_of_the_request": 0.6,
        "stores_to_lines_not_had": 1.2, "stores_to_lines_shared": 0.2, "stores_same_in_every_call": ["0x900080"],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("address", "moves"),
    [
        (OWN - 1, True), (OWN, False), (OWN + 0x4000, False), (OWN + 0x4001, True),
        (STACK - 0x60001, True), (STACK - 0x60000, False), (STACK + 0x10000, False), (STACK + 0x10001, True),
        (MARKS - 1, True), (MARKS + 4096, True),
    ],
)  # fmt: skip
def test_what_is_the_program_s_own_does_not_move(address: int, moves: bool) -> None:  # noqa: FBT001 - a parameter
    # Threads of which one has a number that is 32 more than the other's are not the same.
    found = moved_by(begin(Phase.wait, 8), (b"M", address), begin(Phase.post, 40), (b"L", address))
    assert found[Phase.post].every == ((address >> 6,) if moves else ())


def test_a_load_of_a_mark_is_no_mark() -> None:
    read = b"L", begin(Phase.idle, 1)[1]
    found = moved_by(begin(Phase.wait, 1), (b"S", LOCK), begin(Phase.post, 2), read, (b"L", LOCK))
    assert found[Phase.post] == Moved(1, (LOCK >> 6,), 0.0, 0.0, 0.0, ())
    assert found[Phase.idle].calls == 0


def test_what_moves_between_calls_is_not_counted() -> None:
    found = moved_by(begin(Phase.none, 1), (b"S", LOCK), begin(Phase.none, 2), (b"L", LOCK), begin(Phase.post, 2))
    assert {phase: moved.calls for phase, moved in found.items() if moved.calls} == {Phase.post: 1, Phase.progress: 1}
    assert all(moved.every == () and moved.own == 0 for moved in found.values())


def test_a_trace_is_read_in_pieces() -> None:
    text = b"==1== lackey\nI  0401000,3\n L 1fff000500,8\n S 0010efff,4\n M 00900000,4\n"
    expected = [(b"L", 0x1FFF000500), (b"S", 0x10EFFF), (b"M", 0x900000)]
    assert list(accesses([text])) == expected
    assert list(accesses([text[:41], text[41:60], text[60:]])) == expected
    assert list(accesses([text.rstrip()])) == expected
    assert list(accesses([])) == []


@pytest.mark.parametrize(
    ("trace", "message"),
    [
        ([], "no marks of contend-lines"),
        ([slot(one) for one in reversed(SIGNATURE)], "no marks of contend-lines"),
        ([slot(one) for one in SIGNATURE], "no marks of contend-lines"),  # and nothing said of the program
        ([*announcement(), *rounds(4)], "the trace has 4 rounds; more than 4 are needed"),
    ],
)
def test_other_traces_are_refused(trace: list[tuple[bytes, int]], message: str) -> None:
    with pytest.raises(ContendError, match=message):
        moved_lines(trace)


def test_marks_are_those_of_the_program() -> None:
    sources = (Path(__file__).parents[2] / "validation/native/lines/marks.hpp").read_text()
    assert ", ".join(map(str, SIGNATURE)) in sources
    assert "enum class Phase : std::size_t { none, post, progress, wait, idle }" in sources
    assert f"page[{ROUND}] = 1" in sources


def test_bad_options_are_refused(tmp_path: Path, capsys: Capture) -> None:
    assert main(["lines", "mpich-5", "--side", "recieve"]) == InputError.exit_code
    assert "did you mean 'receive'" in capsys.readouterr().err
    (tmp_path / "taken").write_text("")
    assert main(["lines", "mpich-5", "--json", str(tmp_path / "taken" / "x.json")]) != 0  # before anything is traced
    assert "taken" in capsys.readouterr().err


def test_without_valgrind_nothing_is_tried(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    assert main(["lines", "mpich-5"]) == ContendError.exit_code
    assert "valgrind is not installed" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("valgrind") is None, reason="no valgrind")
@pytest.mark.skipif(installed("openmpi-5") is None, reason="Open MPI is not installed")
def test_open_mpi_drags_lines_along(tmp_path: Path, capsys: Capture) -> None:
    file = tmp_path / "lines.json"
    words = ["lines", "openmpi-5", "--side", "receive", "--rounds", "5", "--requests", "16", "--json", str(file)]
    assert main(words) == 0
    capsys.readouterr()
    (counted,) = json.loads(file.read_text())
    assert counted["library"]["name"] == "Open MPI"
    phases = counted["phases"]
    assert phases["posting"]["calls"] == 16
    assert 0.5 < phases["posting"]["loads_of_the_request"] < 3
    assert 0.5 < phases["waiting"]["loads_of_the_request"] < 3
    assert 1 <= len(phases["posting"]["loads_same_in_every_call"]) <= 12
