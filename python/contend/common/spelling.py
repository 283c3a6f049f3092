"""How parameters, their values and numbers of things are written for people."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def value_text(value: object) -> str:
    """A value as scenario files, --set and --at spell it (true, not True); texts without quotation marks."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def parameters_text(parameters: Mapping[str, object], separator: str = " ") -> str:
    """NAME=VALUE of each parameter; empty if there are none."""
    return separator.join(f"{name}={value_text(value)}" for name, value in parameters.items())


def shortened(text: str, longest: int = 60) -> str:
    """A text from the command line as messages echo it: cut where it is longer than anybody wants to read."""
    return text if len(text) <= longest else f"{text[:longest]}..."


def printable(text: str) -> str:
    """A text from a file, made safe for a terminal: what cannot be printed stands as JSON writes it."""
    return text if text.isprintable() else "".join(one if one.isprintable() else json.dumps(one)[1:-1] for one in text)


def plural(noun: str) -> str:
    """Several of them: "points", "processes"."""
    return f"{noun}es" if noun.endswith("s") else f"{noun}s"


def listed(words: Sequence[str]) -> str:
    """Several words as a sentence has them: "one, another and a third"."""
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def counted(count: int, noun: str) -> str:
    """A number of things: "1 point", "2 points"."""
    return f"{count} {noun if count == 1 else plural(noun)}"
