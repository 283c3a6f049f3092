"""Numbers as a reader sees them: rates, counts and times, in three or four digits that matter."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from contend.common.statistics import Estimate

_TIMES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
_RATES = ((1e9, " G"), (1e6, " M"), (1e3, " k"))


def rate_text(value: float) -> str:
    """A rate without its unit: 140.2 k, 1.234 M."""
    for factor, suffix in _RATES:
        if abs(value) >= factor:
            return f"{value / factor:.4g}{suffix}"
    return f"{value:.4g}"


def count_text(value: float | None) -> str:
    """A count: whole when it is whole, with thousands separated."""
    if value is None:
        return "-"
    return f"{int(value):,}" if float(value).is_integer() else f"{value:,.1f}"


def time_text(value: float) -> str:
    """Seconds in the unit that fits: 3.2 us."""
    for factor, unit in _TIMES:
        if abs(value) >= factor:
            return f"{value / factor:.4g} {unit}"
    return f"{value * 1e9:.4g} ns"


def quantity(value: float, unit: str) -> str:
    """A value with its unit; a prefix makes it short: 140.2 k msg/s, 3.2 us. A count where there is no unit."""
    if unit == "s":
        return time_text(value)
    return f"{rate_text(value)} {unit}" if unit else count_text(value)


def bare(value: float, unit: str) -> str:
    """The same where the unit stands elsewhere, but for a time, whose unit is in the text."""
    return time_text(value) if unit == "s" else rate_text(value)


def measured_text(value: Estimate, unit: str) -> str:
    """A value with its unit and half its confidence interval, where it has one."""
    mean = quantity(value.mean, unit)
    return mean if value.half_width is None else f"{mean} {interval_text(value, unit)}"


def interval_text(value: Estimate, unit: str = "") -> str:
    """Half the confidence interval, absolute and in percent.

    Args:
        value: What is estimated.
        unit: Its unit; only "s" shows.
    """
    half = value.half_width
    if half is None:
        return "-"
    shown = bare(half, unit)
    return f"± {shown} ({half / value.mean:.1%})" if value.mean else f"± {shown}"
