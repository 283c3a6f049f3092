"""Values of machine profiles: times, rates, sizes and plain numbers, read, shown and passed on exactly."""

from __future__ import annotations

from dataclasses import dataclass

from contend.common.errors import InputError
from contend.common.quantities import parse_quantity

_KINDS = {"s": "time", "B/s": "rate", "B": "size"}
# What values are shown in, from the smallest unit to the largest.
_SHOWN: dict[str, dict[str, float]] = {
    "time": {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0},
    "rate": {"B/s": 1.0, "kB/s": 1e3, "MB/s": 1e6, "GB/s": 1e9},
    "size": {"B": 1.0, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30},
}
_PICOSECONDS = 1e12


@dataclass(frozen=True)
class Price:
    """A number in the base unit of its kind: "time" in s, "rate" in B/s, "size" in B, or "number"."""

    value: float
    kind: str


def parse_price(text: object) -> Price:
    """Reads a value of a scenario or profile.

    Raises:
        InputError: It is neither a number nor a text such as "85 ns".
    """
    if isinstance(text, int | float) and not isinstance(text, bool):
        return Price(float(text), "number")
    found = parse_quantity(text)
    if found is None:
        raise InputError(f"{text!r} is no number and no value with a unit such as '85 ns'")
    return Price(found.value, _KINDS[found.unit])


def format_price(value: float, kind: str, digits: int = 4) -> str | float:
    """Writes a value for people and profiles, in the largest unit that leaves at least one before the point."""
    if kind == "number":
        return float(f"{value:.{digits}g}")
    units = _SHOWN[kind]
    unit = next((unit for unit in reversed(units) if abs(value) >= units[unit]), next(iter(units)))
    number = value / units[unit]
    if kind == "size":
        return f"{round(value)} B" if round(value) % round(units[unit]) else f"{round(number)} {unit}"
    return f"{float(f'{number:.{digits}g}'):g} {unit}"


def exact_price(value: float, kind: str) -> str | float:
    """Writes a value for the simulator, with nothing lost: times in whole picoseconds."""
    if kind == "time":
        return f"{max(0, round(value * _PICOSECONDS))} ps"
    if kind == "rate":
        return f"{value!r} B/s"
    if kind == "size":
        return f"{max(0, round(value))} B"
    return value
