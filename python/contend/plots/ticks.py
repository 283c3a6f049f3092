"""Numbers at the ticks of an axis: a prefix where it belongs to the unit, else the number itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.ticker import EngFormatter, FuncFormatter

if TYPE_CHECKING:
    from matplotlib.ticker import Formatter

_SECONDS = "s"
# Units with a prefix of their own: "2 k MiB/s" and "2 M ns" are no way to write a number.
_PREFIXED = frozenset({"MiB/s", "ns", "us"})


def axis_title(title: str, unit: str) -> str:
    """The title of an axis with such ticks; the unit of a time is at the ticks, with its prefix."""
    return title if unit in {"", _SECONDS} else f"{title} ({unit})"


def number_text(value: float, unit: str, *, places: int | None = None, sep: str = " ") -> str:
    """A number at a tick.

    Args:
        value: In the unit.
        unit: What is counted, such as "msg/s", or "" for a plain number. Numbers of things have prefixes from
            thousands on, but none below one: half a thing is 0.5, and not 500 m.
        places: Digits after the point where there is a prefix.
        sep: What stands before the prefix.

    Examples:
        >>> [number_text(value, "msg/s") for value in (0.5, 140_000)]
        ['0.5', '140 k']
        >>> number_text(0.5, "s"), number_text(12_000, "MiB/s")
        ('500 ms', '12,000')
    """
    if unit == _SECONDS:
        return EngFormatter(unit, places=places, sep=sep)(value)
    if unit in _PREFIXED or abs(value) < 1:
        return f"{value:,.6g}" if abs(value) < 1e5 else f"{value:,.0f}"  # noqa: PLR2004 - six digits
    return EngFormatter(places=places, sep=sep)(value)


def tick_formatter(unit: str, *, sep: str = " ") -> Formatter:
    """What writes the ticks of an axis with this unit."""
    return FuncFormatter(lambda value, _: number_text(value, unit, sep=sep))


def tick_expression(unit: str) -> str:
    """The same as an expression of Vega."""
    if unit == _SECONDS:
        return "format(datum.value, '~s') + 's'"
    if unit in _PREFIXED:
        return "format(datum.value, ',~r')"
    return "abs(datum.value) < 1 ? format(datum.value, '~r') : format(datum.value, '~s')"
