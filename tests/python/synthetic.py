"""A small study whose data are simulated, for tests of calibrations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contend.calibrate.evaluations import Evaluator
from contend.calibrate.recovery import MemoryLog, Study, write_synthetic
from contend.engine.runner import make_engine
from contend.profiles.catalogs import PROFILES

if TYPE_CHECKING:
    from pathlib import Path

SMALL = Study(
    unknowns=(
        ("machine.software.receive_call", "100 ns", "1.5 us"),
        ("machine.matching.fragment_allocate", "50 ns", "3 us"),
        ("machine.nic.registration", "8 us", "24 us"),
    ),
    workloads=(("shared", {}), ("overtaking", {"allow_overtaking": True, "any_tag": True})),
    pairs=(1, 2, 4, 8),
    window=16,
    messages=600,
)


def base() -> dict[str, Any]:
    """The profile that calibrations begin with."""
    return PROFILES.load("alembert")[1]


def files(tmp_path: Path, seed: int = 5) -> tuple[Path, Path, dict[str, float]]:
    """Datasets of SMALL in a folder, the mapping, and the values that they were simulated with."""
    folder = tmp_path / "measured"
    folder.mkdir()
    made = SMALL.mapping()
    truth = write_synthetic(SMALL, made, base(), folder, Evaluator(make_engine("contend"), MemoryLog(), jobs=2), seed)
    path = tmp_path / "mapping.json"
    path.write_text(made.model_dump_json())
    return folder, path, truth


def calibration(folder: Path, mappings: Path, out: Path, work: Path) -> list[str]:
    """The command that calibrates to them."""
    return ["calibrate", str(folder), "--base", "alembert", "-o", str(out), "--mapping", str(mappings),
            "--work", str(work), "--messages", "600", "--starts", "2", "-j", "2"]  # fmt: skip
