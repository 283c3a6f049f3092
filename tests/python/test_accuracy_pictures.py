"""Pictures of a validation: agreement, curves, residuals; nothing in them is cut off or left out without a word."""

from pathlib import Path
from typing import Any

import pytest
from matplotlib.container import ErrorbarContainer
from matplotlib.text import Annotation

from contend.accuracy import curves_picture as module_of_curves
from contend.accuracy.agreement_picture import agreement_picture
from contend.accuracy.curves_picture import curves_picture
from contend.accuracy.pictures import pictures
from contend.accuracy.residuals_picture import residuals_picture
from contend.accuracy.scores import result_json
from contend.plots.style import Picture, figure_bytes
from predicting import COUNTS, curve, predicted, result

RATE = 1e5


def points_of(tmp_path: Path, factors: dict[int, float], name: str = "a") -> list[dict[str, Any]]:
    """Points of a flat curve; predictions are so many times what was measured, where it is not once."""
    one = curve(tmp_path, name, lambda _: RATE)
    means = {count: RATE * factors.get(count, 1.0) for count in COUNTS}
    points: list[dict[str, Any]] = result_json("box", predicted(one, means), [], {})["points"]
    return points


def alone(points: list[dict[str, Any]], count: int) -> list[dict[str, Any]]:
    """The first points, each on a curve of its own."""
    return [
        {**point, "parameters": {**point["parameters"], "window": 10 + number}}
        for number, point in enumerate(points[:count])
    ]


def legend_texts(picture: Picture) -> list[str]:
    (legend,) = picture.legends
    return [text.get_text() for text in legend.get_texts()]


def measured_count(picture: Picture) -> int:
    """How many measured medians a picture has."""
    bars = [one for axes in picture.axes for one in axes.containers if isinstance(one, ErrorbarContainer)]
    return sum(len(one.lines[0].get_xdata()) for one in bars if one.lines[0] is not None)


def test_pictures_are_the_same_every_time(tmp_path: Path) -> None:
    found = result(tmp_path)
    first, second = pictures(found), pictures(found)
    assert set(first) == {f"{name}.{kind}" for name in ("agreement", "curves", "residuals") for kind in ("png", "svg")}
    assert first == second
    assert not any(b"Matplotlib v" in data for data in first.values())
    assert set(pictures(found, ("svg",))) == {name for name in first if name.endswith(".svg")}


def test_pictures_have_the_curves_of_each_machine(tmp_path: Path) -> None:
    points = points_of(tmp_path, {})
    other = [{**point, "machine": "another"} for point in points]
    (alone,) = curves_picture(points).axes
    assert alone.get_title(loc="left") == "a"
    both = curves_picture([*points, *other]).axes
    assert [axes.get_title(loc="left") for axes in both] == ["a on box", "a on another"]
    assert [list(axes.lines[0].get_xdata()) for axes in both] == [list(COUNTS)] * 2


def test_points_without_a_library_go_by_their_lock(tmp_path: Path) -> None:
    locks = [
        {**point, "library": "none", "transport": "none", "parameters": {**point["parameters"], "lock": lock}}
        for lock in ("mcs", "ticket")
        for point in points_of(tmp_path, {})
    ]
    assert legend_texts(agreement_picture(locks)) == ["mcs", "ticket"]


def test_what_a_curve_is_of_stands_above_it_in_lines(tmp_path: Path) -> None:
    points = points_of(tmp_path, {})
    design = {"communicator_per_pair": False, "options.contexts": 8, "options.progress_threads": 16}
    (axes,) = curves_picture([{**point, "parameters": point["parameters"] | design} for point in points]).axes
    name, *lines = axes.get_title(loc="left").split("\n")
    assert name == "a"
    assert len(lines) == 2
    assert " ".join(lines) == "communicator_per_pair=false, contexts=8, progress_threads=16"


def test_misses_beyond_the_axis_are_arrows_with_their_factors(tmp_path: Path) -> None:
    picture = residuals_picture(points_of(tmp_path, {2: 300.0, 4: 5.0, 8: 1 / 107.0, 16: 8.5}))
    (axes,) = picture.axes
    beyond = {text.get_text(): text.xy for text in axes.texts if isinstance(text, Annotation)}
    assert set(beyond) == {"↓ 1/107", "↑ 300", "↑ 8.5"}
    assert all((y > 3) if text.startswith("↑") else (y < -3) for text, (_, y) in beyond.items())
    title = axes.get_title(loc="left")
    assert title.endswith("arrows with their factors: 3 points beyond the axis, which ends at 1/8 and 8")
    low, high = axes.get_ylim()
    drawn = [float(line.get_ydata()[0]) for line in axes.lines if line.get_marker() not in {"None", ""}]
    assert len(drawn) == len(COUNTS)
    assert sum(abs(y) > 3 for y in drawn) == 3
    assert all(low < y < high for y in drawn)
    figure_bytes(picture, ("png",))
    for text in axes.texts:
        assert axes.get_window_extent().contains(*text.get_window_extent().get_points()[1])


def test_arrows_at_one_place_stand_in_rows(tmp_path: Path) -> None:
    points = [point for factor in (20.0, 30.0, 40.0) for point in points_of(tmp_path, {20: factor})]
    (axes,) = residuals_picture(points).axes
    places = [text.xy for text in axes.texts if isinstance(text, Annotation)]
    assert len({y for _, y in places}) == len(places) == 3


def test_points_of_a_group_at_one_place_stand_side_by_side(tmp_path: Path) -> None:
    (axes,) = residuals_picture([point for name in "abc" for point in points_of(tmp_path, {}, name)]).axes
    places = [float(line.get_xdata()[0]) for line in axes.lines if line.get_marker() not in {"None", ""}]
    assert len(set(places)) == len(places) == 3 * len(COUNTS)
    assert sorted({round(place) for place in places}) == list(range(len(COUNTS)))


def test_a_picture_without_such_misses_says_nothing_of_arrows(tmp_path: Path) -> None:
    (axes,) = residuals_picture(points_of(tmp_path, {2: 7.9})).axes
    assert not axes.texts
    assert axes.get_title(loc="left") == "filled: held out, hollow: fitted; the band is 15 %"
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["1/8", "1/4", "1/2", "1", "2", "4", "8"]


@pytest.mark.parametrize("change", [1.0, 1.02, 3.0, 40.0, 1e5])
@pytest.mark.parametrize("unit", ["msg/s", "ratio to the first point"])
def test_every_axis_of_values_can_be_read(change: float, unit: str, tmp_path: Path) -> None:
    points = [{**point, "unit": unit} for point in points_of(tmp_path, {20: change})]
    for point in points:
        for kind, ends in (("measured", "iqr"), ("predicted", "ci95")):
            ratio = {"median": point[kind]["median"] / RATE, ends: [end / RATE for end in point[kind][ends]]}
            point[kind] = {**point[kind], **(ratio if unit != "msg/s" else {})}
    for picture in (curves_picture(points), agreement_picture(points), curves_picture(alone(points, 6))):
        figure_bytes(picture, ("png",))
        (axes,) = picture.axes
        is_values = axes.yaxis if axes.get_yscale() == "log" else axes.xaxis
        low, high = is_values.get_view_interval()
        texts = [text.get_text() for text, at in zip(is_values.get_ticklabels(), is_values.get_ticklocs(), strict=True)
                 if low <= at <= high]  # fmt: skip
        assert len(set(texts)) == len(texts) >= 3
        assert not any(text.endswith("m") for text in texts)


def test_points_alone_on_their_curves_are_drawn_as_well(tmp_path: Path) -> None:
    points = points_of(tmp_path, {})
    single = alone(points_of(tmp_path, {2: 2.0}, "b"), 3)
    picture = curves_picture([*points, *single])
    assert measured_count(picture) == len(points) + len(single)
    curves, lines = picture.axes
    assert curves.get_title(loc="left") == "a"
    assert [text.get_text() for text in lines.get_yticklabels()] == [
        f"b: pairs={count}, window={10 + number}" for number, count in enumerate(COUNTS[:3])
    ]
    assert not picture.texts
    assert measured_count(curves_picture(single)) == 3


def test_what_there_is_no_room_for_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module_of_curves, "_MOST_CURVES", 1)
    monkeypatch.setattr(module_of_curves, "_MOST_ALONE", 2)
    curves = [point for name in "abc" for point in points_of(tmp_path, {}, name)]
    picture = curves_picture([*curves, *alone(points_of(tmp_path, {}, "d"), 3)])
    (note,) = picture.texts
    assert note.get_text() == f"left out: 2 curves with {2 * len(COUNTS)} points and 1 point alone on a curve"


def test_curves_that_say_something_of_the_model_are_not_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module_of_curves, "_MOST_CURVES", 1)
    fitted = [{**point, "held_out": False} for point in points_of(tmp_path, {}, "a")]
    (axes,) = curves_picture([*fitted, *points_of(tmp_path, {}, "b")]).axes
    assert axes.get_title(loc="left") == "b"


@pytest.mark.parametrize("curves", [1, 2])
def test_all_of_the_legend_is_in_the_picture(curves: int, tmp_path: Path) -> None:
    points = [point for name in "ab"[:curves] for point in points_of(tmp_path, {}, name)]
    picture = curves_picture([{**point, "held_out": count % 2 == 0} for count, point in enumerate(points)])
    figure_bytes(picture, ("png",))
    (legend,) = picture.legends
    assert len(legend.get_texts()) == 4
    assert legend.get_window_extent().x1 <= picture.bbox.x1


def test_legends_lie_upon_no_axes(tmp_path: Path) -> None:
    points = [
        {**point, "library": f"a library of the number {number}"}
        for number in range(12)
        for point in points_of(tmp_path, {})
    ]
    for draw in (agreement_picture, curves_picture, residuals_picture):
        picture = draw(points)
        figure_bytes(picture, ("png",))
        (legend,) = picture.legends
        box = legend.get_window_extent()
        assert not any(box.overlaps(axes.get_window_extent()) for axes in picture.axes), draw
        assert picture.bbox.y0 <= box.y0 < box.y1 <= picture.bbox.y1
