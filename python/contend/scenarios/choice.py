"""What a command looks at: `--at NAME=VALUE`, a point of a sweep; `--only TEXT`, things by a part of their names."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from contend.common.errors import InputError
from contend.common.nearest import nearest_names, proposal
from contend.common.quantities import Quantity, parse_quantity
from contend.common.spelling import value_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from contend.common.jsontypes import Scalar
    from contend.scenarios.axes import Located


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
        left = [index for index in left if _is_spelled(points[index].parameters.get(name), wanted)]
        if not left:
            swept = list(points[0].parameters)
            if name in swept:
                hint = f"{name} is {', '.join(map(_quoted, known))}{_value_proposal(wanted, known)}"
            elif swept:
                hint = f"the sweep's are: {', '.join(swept)}{proposal(name, swept)}"
            else:
                hint = "nothing is swept, there is one point only"
            raise InputError(f"--at {name}={wanted}: no such point; {hint}")
    return left[-1]


def points_with(points: Sequence[Located], parameters: Mapping[str, Scalar]) -> list[int]:
    """Indices of the points that have these values.

    Args:
        points: All points of a sweep.
        parameters: Values by name of the parameter.

    Returns:
        What was found; nothing if each of the values is somewhere, but no point has them all.

    Raises:
        InputError: A name is that of no parameter, or a value not one of its values; the message says what there is.
    """
    swept = list(dict.fromkeys(name for point in points for name in point.parameters))
    for name, value in parameters.items():
        if name not in swept:
            there_are = f"swept: {', '.join(swept)}" if swept else "nothing is swept"
            raise InputError(f"no parameter {name!r}{proposal(name, swept)} ({there_are})")
        values = list(dict.fromkeys(point.parameters[name] for point in points if name in point.parameters))
        if value not in values:
            known = [value_text(one) for one in values]
            hint = _value_proposal(value_text(value), known)
            there_are = ", ".join(map(_quoted, known))
            raise InputError(f"no point has {name}={value_text(value)}{hint} ({name}: {there_are})")
    return [index for index, point in enumerate(points) if parameters.items() <= point.parameters.items()]


def the_point_with(points: Sequence[Located], parameters: Mapping[str, Scalar]) -> int:
    """Index of the one point that has these values.

    Raises:
        InputError: As points_with, or no point has them all, or several have.
    """
    matching = points_with(points, parameters)
    if len(matching) != 1:
        names = ", ".join(dict.fromkeys(name for point in points for name in point.parameters)) or "nothing"
        raise InputError(f"{len(matching)} points have {dict(parameters) or 'no parameters'}; swept: {names}")
    return matching[0]


def _is_spelled(value: Scalar | None, wanted: str) -> bool:
    """Whether a text stands for a value: as results show it, or as the same quantity with another unit."""
    text = value_text(value)
    quantity = parse_quantity(wanted)
    other = parse_quantity(text)
    if text == wanted or quantity is None or other is None:
        return text == wanted
    return quantity.unit == other.unit and math.isclose(quantity.value, other.value)


def _quoted(value: str) -> str:
    """A value in a list of values: with quotation marks where one could not tell where it ends."""
    return repr(value) if " " in value or "," in value else value


def nearest_value(wanted: str, known: Iterable[str]) -> str | None:
    """The nearest of the values that there are: of numbers and quantities by what they are worth, not by their text.

    Args:
        wanted: What was given.
        known: What there is.

    Returns:
        One of these; None if none is near: no word is alike, or no quantity has the unit.
    """
    own = _worth(wanted)
    if own is None:
        return next(iter(nearest_names(wanted, known)), None)
    alike = {text: worth.value for text in known if (worth := _worth(text)) is not None and worth.unit == own.unit}
    return min(alike, key=lambda text: abs(alike[text] - own.value), default=None)


def _value_proposal(wanted: str, known: Iterable[str]) -> str:
    near = nearest_value(wanted, known)
    return "" if near is None else f"; did you mean {near!r}?"


def _worth(text: str) -> Quantity | None:
    """A quantity, or a number, which has no unit; None for anything else."""
    try:
        value = float(text)
    except ValueError:
        return parse_quantity(text)
    return Quantity(value, "") if math.isfinite(value) else None


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
