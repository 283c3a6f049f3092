"""Numbers and names as a reader of a report sees them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contend.common.spelling import value_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from contend.common.jsontypes import Scalar


def label(parameters: Mapping[str, Scalar]) -> str:
    """A point in words: "pairs = 20, instances = 1"."""
    return ", ".join(f"{name} = {value_text(value)}" for name, value in parameters.items()) or "the only point"


def percent(share: float) -> str:
    """A share in percent."""
    return f"{share:.1%}"
