"""Quantities as scenarios write them ("85 ns", "1 KiB", "100 Gbit/s"), as numbers in SI units."""

from __future__ import annotations

import re
from dataclasses import dataclass

_TIME = {"ps": 1e-12, "ns": 1e-9, "us": 1e-6, "\N{MICRO SIGN}s": 1e-6, "ms": 1e-3, "s": 1.0}
_SIZE = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
_RATE = {f"{unit}/s": float(factor) for unit, factor in _SIZE.items()} | {
    f"{prefix}bit/s": factor / 8 for prefix, factor in (("", 1.0), ("k", 1e3), ("M", 1e6), ("G", 1e9))
}
_UNITS: dict[str, tuple[str, float]] = {
    symbol: (base, factor)
    for base, units in (("s", _TIME), ("B", _SIZE), ("B/s", _RATE))
    for symbol, factor in units.items()
}
_FORM = re.compile(r"\s*(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?) ?(\S+)\s*")


@dataclass(frozen=True)
class Quantity:
    """A number with its SI unit: "s", "B" or "B/s"."""

    value: float
    unit: str


def parse_quantity(text: object) -> Quantity | None:
    """Reads a number with a unit; None for anything else.

    Args:
        text: What a scenario or a point's parameters hold.

    Examples:
        >>> parse_quantity("85 ns")
        Quantity(value=8.5e-08, unit='s')
        >>> parse_quantity("1 KiB")
        Quantity(value=1024.0, unit='B')
        >>> parse_quantity("dedicated") is None
        True
    """
    match = _FORM.fullmatch(text) if isinstance(text, str) else None
    if match is None or match[2] not in _UNITS:
        return None
    base, factor = _UNITS[match[2]]
    # Division is exact where multiplication by 1e-9 is not: 85 / 1e9 is the double nearest to 85e-9.
    number = float(match[1])
    value = number / round(1 / factor) if factor < 1 and base == "s" else number * factor
    return Quantity(value, base)


def format_quantity(value: float, unit: str) -> str:
    """A quantity as scenarios write it, to nine significant digits: times in ns, sizes in whole bytes.

    Args:
        value: A number in the SI unit.
        unit: "s", "B" or "B/s".

    Examples:
        >>> format_quantity(8.5e-8, "s")
        '85 ns'
        >>> format_quantity(1024.3, "B")
        '1024 B'
    """
    if unit == "s":
        picoseconds = round(value * 1e12)
        return f"{picoseconds / 1000:.12g} ns"
    if unit == "B":
        return f"{round(value)} B"
    return f"{value:.9g} {unit}"
