"""Stretches of simulated time as commands take them."""

from __future__ import annotations

from contend.common.errors import InputError


def stretch_us(begin: str | None, end: str | None) -> tuple[float | None, float | None]:
    """The options --from and --to: times in us, or with their unit.

    Args:
        begin: What was given with --from; None if nothing was.
        end: The same with --to.

    Returns:
        Both in us.

    Raises:
        InputError: One is no time, or the end is not after the begin.
    """
    begin_us = None if begin is None else _microseconds("--from", begin)
    end_us = None if end is None else _microseconds("--to", end)
    if end_us is not None and end_us <= (begin_us or 0.0):
        raise InputError(f"--to {end_us:.15g} us is not after --from {begin_us or 0.0:.15g} us")
    return begin_us, end_us


def _microseconds(option: str, text: str) -> float:
    """A time in us, or with a unit."""
    from contend.common.quantities import parse_quantity

    quantity = parse_quantity(text) or parse_quantity(f"{text} us")
    if quantity is None or quantity.unit != "s" or quantity.value < 0:
        raise InputError(
            f'{option} {text}: not a time; allowed: a number of us from 0 on, or one with its unit, such as "1.2 ms"'
        )
    return round(quantity.value * 1e6, 6)  # what was written, where seconds have no such double
