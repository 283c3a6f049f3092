"""Numbers and names as a reader of a report sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contend.spelling import value_text
from contend.tables import count_text, rate_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from contend.jsontypes import Scalar

_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))


def label(parameters: Mapping[str, Scalar]) -> str:
    """A point in words: "pairs = 20, instances = 1"."""
    return ", ".join(f"{name} = {value_text(value)}" for name, value in parameters.items()) or "the only point"


def quantity(value: float, unit: str) -> str:
    """A value with its unit; a prefix makes it short: 140.2 k msg/s, 3.2 us."""
    if unit == "s":
        return seconds(value)
    if not unit:
        return count_text(value)
    return f"{rate_text(value)} {unit}"


def seconds(value: float) -> str:
    """A time in the unit that fits."""
    for factor, unit in _TIMES:
        if abs(value) >= factor:
            return f"{value / factor:.4g} {unit}"
    return f"{value * 1e9:.4g} ns"


def percent(share: float) -> str:
    """A share in percent."""
    return f"{share:.1%}"
