"""Which point of a sweep is meant: --at NAME=VALUE."""

from dataclasses import dataclass

import pytest

from contend.common.errors import InputError
from contend.common.spelling import value_text
from contend.scenarios.choice import choose_point, parse_place, points_with


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


@pytest.mark.parametrize("spelling", ["85 ns", "85ns", "0.085 us", "85000 ps"])
def test_a_quantity_is_found_in_any_unit(spelling: str) -> None:
    assert POINTS[choose_point(POINTS, [("latency", spelling)])].parameters["latency"] == "85 ns"


def test_the_last_of_several() -> None:
    assert choose_point(POINTS, [("pairs", "1")]) == len(POINTS) // 2 - 1


def test_what_is_not_there_is_named() -> None:
    with pytest.raises(InputError, match=r"--at overtaking=yes: no such point; overtaking is false, true"):
        choose_point(POINTS, [("overtaking", "yes")])
    with pytest.raises(InputError, match=r"; latency is '85 ns', 0\.5; did you mean '85 ns'\?$"):
        choose_point(POINTS, [("latency", "86 ns")])
    with pytest.raises(InputError, match=r"no such point; the sweep's are: pairs, .*; did you mean 'pairs'\?$"):
        choose_point(POINTS, [("pears", "1")])
    with pytest.raises(
        InputError, match=r"no point has latency=85ns; did you mean '85 ns'\? \(latency: '85 ns', 0\.5\)"
    ):
        points_with(POINTS, {"latency": "85ns"})


@pytest.mark.parametrize(
    ("wanted", "near"),
    [
        ("1000 B", "'1 KiB'"),
        ("900 KiB", "'1 MiB'"),
        ("1 B", "'0 B'"),
        ("9 ns", None),  # no size
        ("100", None),  # no unit
        ("nan", None),
        ("1 kiB", "'1 KiB'"),  # no quantity: the nearest text
    ],
)
def test_the_nearest_quantity_is_proposed_whatever_its_text(wanted: str, near: str | None) -> None:
    points = [At({"size": size}) for size in ("0 B", "1 KiB", "1 MiB")]
    with pytest.raises(InputError) as caught:
        choose_point(points, [("size", wanted)])
    assert str(caught.value).endswith(f"; did you mean {near}?" if near else "size is '0 B', '1 KiB', '1 MiB'")


@pytest.mark.parametrize(("wanted", "near"), [("11", "10"), ("2000", "1000"), ("0.2", "1"), ("-3", "1")])
def test_the_nearest_number_is_proposed_whatever_its_text(wanted: str, near: str) -> None:
    points = [At({"pairs": pairs}) for pairs in (1, 10, 100, 1000)]
    with pytest.raises(InputError, match=rf"pairs is 1, 10, 100, 1000; did you mean '{near}'\?$"):
        choose_point(points, [("pairs", wanted)])
    with pytest.raises(InputError, match=rf"no point has pairs={wanted}; did you mean '{near}'\?"):
        points_with(points, {"pairs": float(wanted) if "." in wanted else int(wanted)})
