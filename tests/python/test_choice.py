"""Which point of a sweep is meant: --at NAME=VALUE."""

from dataclasses import dataclass

import pytest

from contend.choice import choose_point, parse_place
from contend.errors import InputError
from contend.spelling import value_text


@dataclass(frozen=True)
class At:
    parameters: dict[str, bool | int | float | str]


POINTS = [
    At({"pairs": pairs, "overtaking": overtaking, "latency": latency})
    for pairs in (1, 20)
    for overtaking in (False, True)
    for latency in ("85 ns", 0.5)
]


@pytest.mark.parametrize("index", range(len(POINTS)))
def test_every_value_is_found_as_it_is_written(index: int) -> None:
    at = [parse_place(f"{name}={value_text(value)}") for name, value in POINTS[index].parameters.items()]
    assert choose_point(POINTS, at) == index


def test_the_last_of_several() -> None:
    assert choose_point(POINTS, [("pairs", "1")]) == len(POINTS) // 2 - 1


def test_what_is_not_there_is_named() -> None:
    with pytest.raises(InputError, match=r"--at overtaking=yes: no such point; overtaking is false, true"):
        choose_point(POINTS, [("overtaking", "yes")])
