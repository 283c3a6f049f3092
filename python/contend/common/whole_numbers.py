"""Whole numbers that users of the package give: counts, seeds, indices."""

from __future__ import annotations

import operator
from typing import Any


def whole_number(value: Any, least: int) -> int | None:  # noqa: ANN401 - whatever was given
    """A value as a whole number; None if it is none, or below the least that makes sense. NumPy's are welcome.

    Examples:
        >>> whole_number(3, 1), whole_number(0, 1), whole_number(2.5, 1), whole_number("3", 1)
        (3, None, None, None)
    """
    try:
        number = operator.index(value)
    except TypeError:
        return None
    return number if number >= least else None
