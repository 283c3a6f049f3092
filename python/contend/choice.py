"""What a command looks at: `--at NAME=VALUE`, a point of a sweep; `--only TEXT`, things by a part of their names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contend.errors import InputError
from contend.nearest import nearest_names
from contend.spelling import value_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from contend.axes import Located


def parse_place(text: str) -> tuple[str, str]:
    """The name and the value of a parameter, as `--at` takes them.

    Raises:
        InputError: It is not NAME=VALUE.
    """
    name, separator, value = text.partition("=")
    if not separator or not name.strip():
        raise InputError(f"--at {text!r}: expected NAME=VALUE, for example pairs=20")
    return name.strip(), value.strip()


def choose_point(points: Sequence[Located], at: Sequence[tuple[str, str]]) -> int:
    """Index of the last point whose parameters have these values.

    Raises:
        InputError: There is none; the message says what there is.
    """
    left = list(range(len(points)))
    for name, wanted in at:
        known = list(dict.fromkeys(value_text(points[index].parameters.get(name)) for index in left))
        left = [index for index in left if value_text(points[index].parameters.get(name)) == wanted]
        if not left:
            names = ", ".join(points[0].parameters) or "none: it has a single point"
            hint = f"{name} is {', '.join(known)}" if name in points[0].parameters else f"the sweep's are: {names}"
            raise InputError(f"--at {name}={wanted}: no such point; {hint}")
    return left[-1]


def check_parts(parts: Iterable[str], names: Sequence[str], what: str) -> None:
    """Checks the texts of `--only`: each is a part of some name.

    Args:
        parts: The texts.
        names: What there is.
        what: What has these names, such as "claim of partitioned".

    Raises:
        InputError: A text is in none of them.
    """
    for part in parts:
        if not any(part in name for name in names):
            near = nearest_names(part, names)
            raise InputError(f"--only: no {what} has {part!r} in its name" + (f"; nearest: {near[0]}" if near else ""))


def has_part(name: str, parts: Sequence[str]) -> bool:
    """Whether `--only` chooses what is called so: it was not given, or one of its texts is a part of the name."""
    return not parts or any(part in name for part in parts)
