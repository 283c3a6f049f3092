"""Numbers at the ticks of an axis: a prefix where it belongs to the unit, else the number itself."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from matplotlib.ticker import EngFormatter, FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullFormatter

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axis import Axis
    from matplotlib.ticker import Formatter

_SECONDS = "s"
# Units with a prefix of their own: "2 k MiB/s" and "2 M ns" are no way to write a number.
_PREFIXED = frozenset({"MiB/s", "ns", "us"})
# On a logarithmic axis: from how many times its lowest value on there is one label in a decade, not three, and how
# many labels are enough or too many.
_LONG_AXIS = 200.0
_FEWEST, _MOST = 3, 8


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


def are_whole(values: Iterable[float]) -> bool:
    """Whether values, such as numbers of threads, are whole: there is nothing at 2.5 then."""
    return all(float(value).is_integer() for value in values)


def logarithmic_ticks(low: float, high: float) -> list[float]:
    """Where labels stand on a logarithmic axis: at powers of ten, at 1, 2 and 5 of each, or closer on short axes.

    Args:
        low: Where the axis begins, more than zero.
        high: Where it ends, more than `low`.

    Examples:
        >>> logarithmic_ticks(0.8, 70), logarithmic_ticks(0.8, 2.1)
        ([1.0, 2.0, 5.0, 10.0, 20.0, 50.0], [1.0, 1.5, 2.0])
        >>> logarithmic_ticks(1.6, 430)  # has two powers of ten
        [2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0]
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    step = math.ceil(math.log10(high / low) / _MOST)
    ticks: list[float] = []
    for subs in ((1, 2, 5),) if high < low * _LONG_AXIS else ((1,), (1, 2, 5)):
        decades = [float(f"{sub}e{power}") for power in powers if power % step == 0 for sub in subs]
        ticks = [tick for tick in decades if low <= tick <= high]
        if len(ticks) >= _FEWEST:
            return ticks
    for most in range(_MOST // 2, _MOST + 1):
        steps = MaxNLocator(nbins=most, steps=[1, 2, 5, 10]).tick_values(low, high)
        ticks = [float(f"{tick:.12g}") for tick in steps if low <= tick <= high]
        if len(ticks) >= _FEWEST:
            break
    return ticks


def set_logarithmic_ticks(axis: Axis, unit: str) -> None:
    """Labels a logarithmic axis, whose limits are set or follow from what is drawn, so that values can be read."""
    low, high = axis.get_view_interval()
    axis.set_major_locator(FixedLocator(logarithmic_ticks(low, high)))
    axis.set_major_formatter(tick_formatter(unit))
    axis.set_minor_locator(LogLocator(subs="all"))
    axis.set_minor_formatter(NullFormatter())


def tick_expression(unit: str) -> str:
    """The same as an expression of Vega."""
    if unit == _SECONDS:
        return "format(datum.value, '~s') + 's'"
    if unit in _PREFIXED:
        return "format(datum.value, ',~r')"
    return "abs(datum.value) < 1 ? format(datum.value, '~r') : format(datum.value, '~s')"
