"""contend-locks and contend-machine: they run everywhere, so options and documents are tested with them."""

import math
from typing import TYPE_CHECKING, Any

import pytest

from native_programs import Run, build, run

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def plain() -> Run:
    """Runs a program that needs no MPI."""
    programs = build("native-test", "-DCONTEND_NATIVE_MPI=OFF")
    return lambda program, *options, **environment: run([programs / f"contend-{program}", *options], **environment)


LOCKS = ["mutex", "spin", "ttas", "ticket", "mcs", "trylock"]


def samples(point: dict[str, Any], metric: str = "time_per_operation") -> list[float]:
    values: list[float] = point[metric]["samples"]
    return values


@pytest.mark.parametrize("lock", LOCKS)
def test_every_lock_excludes_and_is_counted(plain: Run, lock: str) -> None:
    outcome = plain("locks", "--lock", lock, "--threads", "1,2", "--critical-section-ns", "0",
                    "--seconds", "0.01", "--repetitions", "2")  # fmt: skip
    assert outcome.status == 0, outcome.errors
    assert outcome.document is not None
    alone, two = outcome.document["points"]
    assert alone["parameters"] == {"lock": lock, "threads": 1, "critical_section_ns": 0, "outside_ns": 0}
    assert len(samples(alone, "acquisition_rate")) == 2
    assert samples(alone, "fairness") == [1, 1]
    assert all(share > 0.99 for share in samples(alone, "same_thread"))
    # nothing (null) where another load left the threads no time
    assert all(index is None or 0.5 - 1e-9 <= index <= 1 + 1e-9 for index in two["fairness"]["samples"])
    assert ("failed_tries" in two) == (lock == "trylock")
    assert alone["hand_over_s"] == {"count": 0}
    assert 0 < alone["hold_s"]["median"] < 1


def test_critical_section_lasts_as_long_as_asked(plain: Run) -> None:
    """A critical section that shall be fifty times as long is at least ten times as long, on a machine of any mood."""

    def held(nanoseconds: int) -> float:
        asked = ("--critical-section-ns", str(nanoseconds))
        outcome = plain("locks", "--lock", "ticket", "--threads", "1", *asked, "--seconds", "0.02")
        assert outcome.document is not None
        return float(outcome.document["points"][0]["hold_s"]["p05"])

    assert held(100_000) > 10 * held(2_000) > 0


def test_machine_probes_have_the_documented_parameters(plain: Run) -> None:
    outcome = plain("machine", "--iterations", "20", "--repetitions", "3")
    assert outcome.status == 0, outcome.errors
    assert outcome.document is not None
    points = outcome.document["points"]
    keys = {point["parameters"]["probe"]: set(point["parameters"]) - {"probe"} for point in points}
    expected = {
        "clock": {"clock"},
        "cache_line": {"from_core", "to_core"},
        "atomic": {"operation", "state", "threads"},
        "futex_wake": {"from_core", "to_core", "part"},
        "busy_cores": {"work", "threads"},
        "futex_calls": {"part", "same_word", "threads"},
        "busy_wake": {"from_core", "to_core", "slept_us"},
        "guarded_wake": {"core", "sleepers"},
        "context_switch": {"core"},
        "socket": {"from_core", "to_core", "part"},
        "socket_answers": {"from_core", "to_core", "part"},
        "socket_polls": {"core", "state"},
        "socket_queue": {"core", "part"},
        "socket_turns": {"from_core", "to_core", "part", "moved"},
        "turns": {"core", "of", "count", "calls"},
        "yield": {"core", "threads"},
        "memcpy": {"message_size", "memory"},
        "thread_create": set(),
    }
    if outcome.document["placement"]["cores_allowed"] == 1:
        del expected["cache_line"], expected["socket_answers"], expected["socket_turns"]
    assert keys == expected
    for point in points:
        assert len(samples(point)) == 3
        assert all(0 < time < 1 and math.isfinite(time) for time in samples(point)), point


def test_larger_copies_take_longer(plain: Run) -> None:
    """Only sizes that are far apart are compared: the machine's speed may vary from one to the next."""
    outcome = plain("machine", "--probe", "memcpy", "--iterations", "1000", "--repetitions", "3")
    assert outcome.document is not None
    warm = {
        point["parameters"]["message_size"]: min(samples(point))
        for point in outcome.document["points"]
        if point["parameters"]["memory"] == "warm"
    }
    assert warm[64] < warm[65536] / 2
    assert warm[4096] < warm[1 << 20] / 2
    assert warm[65536] < warm[16 << 20] / 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--thread", "2"], "did you mean --threads?"),
        (["--lock", "mutx"], 'did you mean "mutex"?'),
        (["--threads", "0"], "from 1 to 4096"),
        (["--threads", "2x"], "from 1 to 4096"),
        (["--seconds", "nan"], "takes a number"),
        (["--seconds"], "needs a value"),
        (["mutex"], "options begin with --"),
        (["--no-seconds"], "cannot be switched off"),
    ],
)
def test_bad_options_are_named(plain: Run, options: list[str], message: str) -> None:
    outcome = plain("locks", *options)
    assert outcome.status == 2
    assert outcome.document is None
    assert outcome.errors.startswith("contend-locks: error 2: ")
    assert message in outcome.errors


def test_help_lists_every_option_with_its_default(plain: Run) -> None:
    outcome = plain("locks", "--help")
    assert outcome.status == 0


def test_time_limit_ends_a_run(plain: Run) -> None:
    outcome = plain("locks", "--deadlock", "1", "--seconds", "0.001", "--seconds-limit", "0.5")
    assert outcome.status == 5
    assert outcome.document is None
    assert "error 5: " in outcome.errors
    assert "last step begun here: 1" in outcome.errors


def test_crash_is_a_signal(plain: Run) -> None:
    outcome = plain("machine", "--crash", "1", "--iterations", "10")
    assert outcome.status < 0 or outcome.status > 128
    assert outcome.document is None


@pytest.mark.slow
def test_thread_sanitizer_is_silent() -> None:
    programs = build("native-test-tsan", "-DCONTEND_NATIVE_MPI=OFF", "-DCONTEND_SANITIZE=thread")
    options = {"TSAN_OPTIONS": "halt_on_error=1:exitcode=66"}
    commands: list[list[str | Path]] = [
        [programs / "contend-locks", "--seconds", "0.01", "--threads", "1,2", "--critical-section-ns", "0"],
        [programs / "contend-machine", "--iterations", "20"],
    ]
    for command in commands:
        outcome = run(command, **options)
        assert outcome.status == 0, outcome.errors
