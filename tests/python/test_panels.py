"""Many curves in small panels: which share one, and which are left out."""

import itertools
from dataclasses import replace
from typing import Any

import pytest

import contend
from contend.common.spelling import parameters_text
from contend.plots.panels import MOST_CURVES, Panels, arranged
from contend.plots.summary import draw, left_out
from contend.scenarios.axes import Curve, spread

SIZES = {"lock": 6, "engine": 4, "window": 2, "instances": 2}


def grid(**sizes: int) -> list[Curve]:
    points = [dict(zip(sizes, values, strict=True)) for values in itertools.product(*map(range, sizes.values()))]
    return [Curve(parameters_text(point, ", "), (), dict(point)) for point in points]


def panels_of(**sizes: int) -> Panels:
    found = arranged(grid(**sizes))
    assert found is not None
    return found


def test_few_curves_stay_in_one_panel() -> None:
    assert arranged(grid(lock=4, engine=6)) is None
    assert arranged(grid(lock=5, engine=5)) is not None
    assert MOST_CURVES == 24


def test_the_first_parameters_tell_curves_of_a_panel_apart_and_the_others_panels() -> None:
    panels = panels_of(**SIZES)
    assert (len(panels.shown), panels.columns, panels.extent) == (16, 4, "96 curves")
    assert [curve.label for curve in panels.keys] == [f"lock={number}" for number in range(6)]
    assert all(panel.curves[0].parameters == {"lock": 0} for panel in panels.shown)
    assert [panel.parameters for panel in panels.shown[:2]] == [
        {"engine": 0, "window": 0, "instances": 0},
        {"engine": 0, "window": 0, "instances": 1},
    ]
    both = panels_of(preset=2, size=12, lock=4)  # 2 x 12 have no room, 2 x 4 have
    assert (len(both.shown), len(both.shown[0].curves), both.keys[5].label) == (12, 8, "preset=1, lock=1")


@pytest.mark.parametrize(
    ("sizes", "panels", "columns", "drawn"),
    [
        ({"lock": 6, "engine": 5, "size": 8}, 20, 4, 120),  # 5 engines, 4 sizes
        ({"latency": 96}, 1, 1, 10),
        ({"latency": 20, "size": 30}, 24, 4, 240),
        ({"x": 10, "a": 2, "b": 2, "c": 2, "d": 2, "e": 2}, 16, 4, 160),
        ({"lock": 10, "engine": 5}, 5, 3, 50),
    ],
)
def test_too_many_are_thinned_out_evenly(sizes: dict[str, int], panels: int, columns: int, drawn: int) -> None:
    found = panels_of(**sizes)
    total = len(grid(**sizes))
    assert (len(found.shown), found.columns, found.drawn, found.total) == (panels, columns, drawn, total)
    assert found.extent == (f"{total} curves" if drawn == total else f"{drawn} of {total} curves")
    last = list(sizes)[-1]
    shown = {(panel.parameters | curve.parameters)[last] for panel in found.shown for curve in panel.curves}
    assert {sizes[last] - 1} <= shown


def test_a_list_of_designs_that_is_no_grid_has_panels_too() -> None:
    curves = [Curve(str(n), (), {"a": n, "b": n % 7}) for n in range(60)]
    found = arranged(curves)
    assert found is not None
    assert len(found.shown) == 24
    assert found.extent == "24 of 60 curves"


def test_some_at_even_distances() -> None:
    assert spread([1, 2, 3, 4, 5], 3) == [1, 3, 5]
    assert spread([1, 2, 3], 1) == [3]
    assert spread([1, 2], 5) == [1, 2]


@pytest.fixture(scope="module")
def many() -> contend.Results:
    """A grid of 48 curves, all with the points of one simulated curve."""
    base = contend.load("fig5_2a_base").with_(
        {"workload.iterations": 1, "workload.window": 4, "run.replications": 2, "workload.pairs": 1}
    )
    ran = contend.run(base.over({"workload.pairs": [1, 2, 3]}))
    points = [
        replace(point, parameters={name: f"no {value}" for name, value in values.items()} | point.parameters)
        for values in (curve.parameters for curve in grid(lock=6, engine=4, window=2))
        for point in ran.points
    ]
    return replace(ran, points=tuple(points))


@pytest.mark.core
def test_a_picture_of_many_curves_can_be_read(many: contend.Results) -> None:
    picture = draw(many)
    width, height = picture.get_size_inches()
    assert height < 1.5 * width
    rates: list[Any] = [axes for axes in picture.axes if axes.get_title().startswith("engine=")]
    assert [axes.get_title() for axes in rates[:2]] == [
        "engine=no\N{NO-BREAK SPACE}0, window=no\N{NO-BREAK SPACE}0",
        "engine=no\N{NO-BREAK SPACE}0, window=no\N{NO-BREAK SPACE}1",
    ]
    assert [len(axes.lines) for axes in rates] == [6] * 8
    assert len({axes.get_ylim() for axes in rates}) == 1
    assert max(line.get_ydata().max() for axes in rates for line in axes.lines) <= rates[0].get_ylim()[1]
    for axes in rates[1:]:
        assert [line.get_color() for line in axes.lines] == [line.get_color() for line in rates[0].lines]
    legends = [legend for part in picture.subfigs for legend in part.legends]
    assert [text.get_text() for text in legends[0].get_texts()] == [f"lock=no {number}" for number in range(6)]
    budget = next(axes for axes in picture.axes if axes.get_title().startswith("receiver"))
    assert "10 highest and 10 lowest of 48 in message rate" in budget.get_ylabel()
    assert len(budget.get_yticks()) == 20
    assert left_out(many) == []


@pytest.mark.core
def test_a_picture_says_how_many_curves_it_leaves_out(many: contend.Results) -> None:
    base = many.points[0]
    points = [
        replace(base, parameters={"latency": f"{latency} ns", "pairs": pairs})
        for latency in range(1, 41)
        for pairs in (1, 2, 3)
    ]
    results = replace(many, points=tuple(points))
    picture = draw(results)
    assert any("10 of 40 curves; mean" in part.get_suptitle() for part in picture.subfigs)
    assert left_out(results) == ["the picture shows 10 of 40 curves"]
