"""What was changed in a scenario, in the words of titles."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

from contend.common.spelling import parameters_text, shortened

if TYPE_CHECKING:
    from collections.abc import Iterable

# Characters of a value, and of all changes together.
_LONGEST_VALUE = 40
_LONGEST = 240


def named_changes(
    overrides: Iterable[tuple[str, str]], beside: Iterable[str] = (), *, without: Iterable[str] = ()
) -> dict[str, str]:
    """Changes by the last part of their paths, or the whole path where several end so.

    What is swept is no change: points have it among their parameters.

    Args:
        overrides: Dotted paths with values, as they were given.
        beside: Names of parameters that stand in the same title.
        without: Paths that the title does not need.
    """
    left_out = {"sweep", *without}
    changes = {
        path: value for path, value in overrides if path not in left_out and not path.startswith("sweep.")
    }  # of two values of one path the later counts
    ends = Counter([*beside, *(_last(path) for path in changes)])
    return {
        path if ends[_last(path)] > 1 else _last(path): shortened(_value(value), _LONGEST_VALUE)
        for path, value in changes.items()
    }


def with_changes(overrides: Iterable[tuple[str, str]], beside: Iterable[str] = ()) -> str:
    """What follows the name of a scenario in a title: "with window=16, noise=0 ns"; empty if nothing was changed."""
    text = parameters_text(named_changes(overrides, beside), ", ")
    return f"with {shortened(text, _LONGEST)}" if text else ""


def _last(path: str) -> str:
    return path.rpartition(".")[2]


def _value(text: str) -> str:
    """A value without quotation marks; a section in full, such as a library design, by its name."""
    try:
        value = json.loads(text)
    except ValueError:
        return text.strip('"')
    if isinstance(value, dict) and isinstance(value.get("name"), str):
        return str(value["name"])
    return text.strip('"')
