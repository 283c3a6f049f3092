"""What synthetic recovery gave back (contend.calibrate.recovery), as the part of docs/accuracy.md about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contend.accuracy.document import markdown_table
from contend.calibrate.sensitivity import Verdict

if TYPE_CHECKING:
    from contend.common.jsontypes import JsonObject

_HEAD = ("parameter", "verdicts", "truth inside the 95 % interval, where determined")
_DETERMINED = (Verdict.identified, Verdict.weak)

_TEXT = """
The simulator makes the measurements, with prices that are drawn from their ranges and noise as real launches have it,
and a calibration upon `{profile}` is to give the prices back as if nothing were known, {trials} times. How trials
are made is in [calibration.md](calibration.md#does-it-work).
"""

_SUM = """
Of {known} intervals {covered} contain the truth, where 95 % would be {wanted:.0f}; those of a trial all do in {whole}
of {trials} trials.
"""


def recovery_sections(result: JsonObject) -> list[str]:
    """Verdicts and coverage by parameter, and in all.

    Args:
        result: What benchmarks/recovery.py --json writes.
    """
    trials, known = result["trials"], result["known_parameters"]
    return [
        _TEXT.format(profile=result["profile"], trials=trials),
        f"`.venv/bin/python benchmarks/recovery.py --trials {trials} --json validation/recovery/results.json`",
        markdown_table(_HEAD, [_row(name, one) for name, one in result["by_parameter"].items()]),
        _SUM.format(
            known=known, covered=result["covered"], wanted=0.95 * known, whole=result["trials_with_all_covered"],
            trials=trials,
        ),
    ]  # fmt: skip


def _row(name: str, one: JsonObject) -> tuple[str, ...]:
    verdicts: dict[str, int] = one["verdicts"]
    determined = sum(verdicts.get(verdict, 0) for verdict in _DETERMINED)
    inside = f"{one['covered_when_known']} of {determined}" if determined else "none claimed"
    return f"`{name}`", ", ".join(f"{verdict} {count}" for verdict, count in verdicts.items()), inside
