"""Command lines of the benchmark programs, and how many ranks each of their sides has."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from contend.datasets.programs import Benchmark


def ranks(benchmark: Benchmark, workload: Mapping[str, object]) -> tuple[int, int]:
    """How many ranks each side has.

    Raises:
        ValueError: The workload's mode is none.
    """
    if benchmark.name != "multirate":
        return (1, 1)
    is_pairwise = workload.get("pattern", "pairwise") == "pairwise"
    senders = _count(workload.get("pairs" if is_pairwise else "senders", 1))
    receivers = _count(workload.get("pairs" if is_pairwise else "receivers", 1))
    by_mode = {
        "thread": (1, 1),
        "process": (senders, receivers),
        "process-to-thread": (senders, 1),
        "thread-to-process": (1, receivers),
    }
    mode = str(workload.get("mode", "thread"))
    if mode not in by_mode:
        raise ValueError(f"multirate has no mode '{mode}' ({', '.join(by_mode)})")
    return by_mode[mode]


def _count(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError(f"'{value}' is no number of pairs")
    return value


def arguments(workload: Mapping[str, object]) -> list[str]:
    """The workload's values as options of a program."""
    words = []
    for name, value in workload.items():
        if isinstance(value, bool):
            text = "true" if value else "false"
        elif isinstance(value, list):
            text = ",".join(str(entry) for entry in value)
        else:
            text = str(value)
        words.append(f"--{name.replace('_', '-')}={text}")
    return words


def program_words(
    program: Path, benchmark: Benchmark, workload: Mapping[str, object], repetitions: int, target_s: float
) -> list[str]:
    """Program and arguments of a launch."""
    words = [str(program), *arguments(workload), f"--repetitions={repetitions}"]
    if benchmark.has_target and "target_seconds" not in workload:
        words.append(f"--target-seconds={target_s:g}")
    return words
