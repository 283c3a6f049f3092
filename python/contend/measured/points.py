"""Points of a dataset by conditions, as `--point` takes them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from contend.common.errors import InputError
from contend.common.nearest import proposal
from contend.common.quantities import parse_quantity
from contend.scenarios.choice import nearest_value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from contend.common.jsontypes import Scalar
    from contend.datasets.dataset import Dataset, MeasuredPoint

_PREFIXES = ("workload.", "options.")
# How parameters that are sizes are called.
_SIZE = "size"


def short_name(parameter: str) -> str:
    """What a parameter of a point is called: "pairs", also where a dataset says "workload.pairs"."""
    for prefix in _PREFIXES:
        parameter = parameter.removeprefix(prefix)
    return parameter


def point_text(point: MeasuredPoint) -> str:
    """A point's parameters as `--point` takes them."""
    return " ".join(f"{short_name(name)}={_text(value)}" for name, value in point.parameters.items())


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def select_points(dataset: Dataset, conditions: Sequence[str]) -> tuple[MeasuredPoint, ...]:
    """The points that meet all conditions; all of them if there is no condition.

    Args:
        dataset: Where they are.
        conditions: NAME=VALUE each; several values for one name are alternatives. A size may have a unit ("1 KiB").

    Raises:
        InputError: A condition is not of that form, or no point meets them; the message names the nearest.
    """
    if not dataset.points:
        raise InputError(f"the dataset {dataset.name} has no points")
    known: dict[str, dict[str, Scalar]] = {}
    for point in dataset.points:
        for name, value in point.parameters.items():
            known.setdefault(short_name(name), {}).setdefault(_text(value), value)
    wanted: dict[str, set[str]] = {}
    for condition in conditions:
        name, separator, value = condition.partition("=")
        name, value = short_name(name.strip()), value.strip()
        if not separator or not name or not value:
            raise InputError(f"--point {condition!r}: expected NAME=VALUE, for example pairs=4")
        if name not in known:
            hint = proposal(name, known)
            raise InputError(
                f"the points of {dataset.name} have no {name!r}; they have: {', '.join(known) or 'nothing'}{hint}"
            )
        if (measured := _measured_value(name, value, known[name])) is None:
            raise InputError(
                f"no point of {dataset.name} has {name}={value}; measured: {', '.join(known[name])}"
                f"{_nearest(_in_bytes(name, value), list(known[name]))}"
            )
        wanted.setdefault(name, set()).add(measured)
    found = tuple(
        point for point in dataset.points if all(_value_of(point, name) in values for name, values in wanted.items())
    )
    if not found:
        best = max(dataset.points, key=lambda point: sum(_value_of(point, n) in v for n, v in wanted.items()))
        raise InputError(
            f"no point of {dataset.name} has {' and '.join(conditions)} together; the nearest is {point_text(best)}"
        )
    return found


def _measured_value(name: str, wanted: str, known: Mapping[str, Scalar]) -> str | None:
    """Which of the measured values a text stands for: sizes and numbers may be written in other ways ("4.0")."""
    if wanted in known:
        return wanted
    size = _in_bytes(name, wanted)
    alike = (text for text, value in known.items() if _in_bytes(name, text) == size or _equals(value, wanted))
    return next(alike, None)


def _equals(value: Scalar, wanted: str) -> bool:
    """Whether a value is a number, and a text the same one."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return float(wanted) == value
    except ValueError:
        return False


def _in_bytes(name: str, value: str) -> str:
    """A size as a dataset has it, in bytes, also where it is given as tables show it: "1 KiB"."""
    found = parse_quantity(value) if name.endswith(_SIZE) else None
    return value if found is None or found.unit != "B" or not found.value.is_integer() else str(int(found.value))


def _value_of(point: MeasuredPoint, name: str) -> str | None:
    return next((_text(value) for key, value in point.parameters.items() if short_name(key) == name), None)


def _nearest(value: str, known: Sequence[str]) -> str:
    """The nearest of what was measured, as the end of a message."""
    near = nearest_value(value, known)
    return "" if near is None else f"; the nearest is {near}"
