"""The name that somebody probably meant."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def nearest_names(name: str, known: Iterable[str], most: int = 1) -> list[str]:
    """Finds the names that are like one that is not known, whatever the case of their letters.

    Args:
        name: What was given.
        known: What could have been meant.
        most: How many names to return at most.

    Returns:
        The nearest ones, the best first; none if nothing is near.
    """
    folded: dict[str, str] = {}
    for one in known:
        folded.setdefault(one.casefold(), one)
    return [folded[one] for one in difflib.get_close_matches(name.casefold(), folded, n=most)]


def proposal(name: object, known: Iterable[str]) -> str:
    """The end of a message that names the nearest of some names: "; did you mean 'pairs'?".

    Args:
        name: What was given.
        known: What could have been meant.

    Returns:
        The words; empty if no name is near, or a name was not given.
    """
    near = nearest_names(name, known) if isinstance(name, str) else []
    return f"; did you mean {near[0]!r}?" if near else ""
