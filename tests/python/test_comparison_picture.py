"""The picture of a comparison: both sides, and their ratios with verdicts."""

import pytest

from contend.comparisons.paired import compare_samples
from contend.plots import comparison_picture_bytes, draw_comparison, figure_bytes


def test_wide_intervals_do_not_hide_the_ratios() -> None:
    from contend.comparisons.comparison import Comparison, PointComparison

    points = tuple(
        PointComparison({"pairs": n}, {"message_rate": compare_samples("message_rate", a, b)})
        for n, a, b in (
            (1, [2.0, 5.0, 3.0, 4.0], [90.0, 10.0, 70.0, 20.0]),
            (2, [3.0, 10.0, 4.0, 8.0], [40.0, 5.0, 60.0, 10.0]),
        )
    )
    assert all((point.rate.ratio.high or 0) > 10 for point in points)
    _, ratios = draw_comparison(Comparison("a", "b", 1, "t", points)).axes
    low, high = ratios.get_ylim()
    values = [point.rate.ratio.value or 0 for point in points]
    assert 0 < low <= min(values) / 2
    assert max(1.0, *values) < high <= 2 * max(1.0, *values)


def test_marks_of_ratios_say_the_verdicts() -> None:
    from contend.comparisons.comparison import Comparison, PointComparison

    sides = {1: ([10.0, 10.1, 10.2], [20.0, 20.1, 20.3]), 2: ([10.0, 12.0, 11.0], [12.0, 11.0, 10.0])}
    sides |= {3: ([10.0, 10.1, 10.2], [10.0, 10.1, 10.21]), 4: ([10.0, 10.1, 10.2], [5.0, 5.1, 5.3])}

    def drawn(points: list[dict[str, int]]) -> tuple[list[str], list[str]]:
        compared = tuple(
            PointComparison(point, {"message_rate": compare_samples("message_rate", *sides[point["pairs"]])})
            for point in points
        )
        comparison = Comparison("a", "b", 1, "t", compared)
        _, ratios = comparison.draw().axes
        legend = ratios.get_legend()
        assert legend is not None
        for bar, point in zip(ratios.containers, compared, strict=True):
            data, _, (ends,) = bar.lines
            assert data.get_ydata() == [point.rate.ratio.value]
            ((_, low), (_, high)) = ends.get_segments()[0]
            assert (low, high) == (pytest.approx(point.rate.ratio.low), pytest.approx(point.rate.ratio.high))
        assert [1.0, 1.0] in [list(line.get_ydata()) for line in ratios.lines]
        return [bar.lines[0].get_marker() for bar in ratios.containers], [t.get_text() for t in legend.get_texts()]

    words = ["B is faster", "B is slower", "no difference", "undecided"]
    assert drawn([{"pairs": pairs} for pairs in sides]) == (["^", "o", "s", "v"], words)
    both = [{"pairs": pairs, "instances": count} for count in (1, 2) for pairs in (1, 2)]
    assert drawn(both) == (["^", "o"] * 2, ["B is faster", "undecided"])


@pytest.mark.parametrize("others", [0, 1])
def test_an_interval_without_bounds_has_a_bar_over_all_of_the_axes(others: int) -> None:
    from contend.comparisons.comparison import Comparison, PointComparison

    unbounded = compare_samples("message_rate", [1.0, 30.0], [2.0, 3.0])
    assert (unbounded.ratio.low, unbounded.ratio.high) == (None, None)
    known = compare_samples("message_rate", [10.0, 10.1], [20.0, 20.1])
    points = tuple(
        PointComparison({"pairs": pairs}, {"message_rate": found})
        for pairs, found in ((1, unbounded), *((pairs, known) for pairs in range(2, 2 + others)))
    )
    figure = draw_comparison(Comparison("a", "b", 1, "t", points))
    figure_bytes(figure, ("png",))
    ratios = figure.axes[1]
    (bar,) = (line for line in ratios.lines if list(line.get_ydata()) == [0.0, 1.0])
    (x, bottom), (_, top) = bar.get_transform().transform(bar.get_xydata())
    assert (bottom, top) == (pytest.approx(ratios.bbox.y0), pytest.approx(ratios.bbox.y1))
    assert x == pytest.approx(ratios.transData.transform((1.0 if others else 0.0, 1.0))[0])
    assert ratios.get_ylim()[0] < 1.0, "where both sides are alike"
    legend = ratios.get_legend()
    said = [text.get_text() for text in legend.get_texts()] if legend else [ratios.get_title(loc="right")]
    assert said[-1].endswith("interval without bounds")


def test_one_replication_has_no_intervals() -> None:
    from contend.comparisons.comparison import Comparison, PointComparison

    points = tuple(
        PointComparison({"pairs": n}, {"message_rate": compare_samples("message_rate", [1.0], [2.0])}) for n in (1, 2)
    )
    ratios = draw_comparison(Comparison("a", "b", 1, "t", points)).axes[1]
    assert ratios.get_ylabel() == "B / A"
    assert not any(list(line.get_ydata()) == [0.0, 1.0] for line in ratios.lines)


def test_both_sides_of_an_only_point_stand_beside_each_other() -> None:
    from contend.comparisons.comparison import Comparison, PointComparison

    samples = compare_samples("message_rate", [10.0, 11.0, 12.0], [20.0, 23.0, 26.0])
    long = "small with " + ", ".join(f"machine.section_{number}.price=5" for number in range(30))
    comparison = Comparison("small", long, 1, "t", (PointComparison({}, {"message_rate": samples}),))
    figure = draw_comparison(comparison)
    figure_bytes(figure, ("png",))
    rates, ratio = figure.axes
    marks = {bar.lines[0].get_xdata()[0]: bar for bar in rates.containers}
    assert {place: bar.lines[0].get_ydata()[0] for place, bar in marks.items()} == {0: 11.0, 1: 23.0}
    assert all(bar.has_yerr for bar in marks.values())
    first, second = (tick.get_text() for tick in rates.get_xticklabels())
    assert first == "A = small"
    assert second.startswith("B = small with")
    assert second.endswith("...")
    boxes = [tick.get_window_extent() for tick in rates.get_xticklabels()]
    assert boxes[0].x1 < boxes[1].x0
    assert boxes[1].x1 <= rates.bbox.x1
    (of_ratio,) = ratio.containers
    assert of_ratio.lines[0].get_ydata()[0] == pytest.approx(samples.ratio.value)
    assert ratio.get_title(loc="right") == "B is faster"


def test_the_picture_is_the_same_every_time() -> None:
    from contend.comparisons.comparison import Comparison, PointComparison

    points = tuple(
        PointComparison(
            {"pairs": n}, {"message_rate": compare_samples("message_rate", [n, n + 0.1], [2.0 * n, 2.2 * n])}
        )
        for n in (1, 2)
    )
    comparison = Comparison("a", "b", 1, "t", points)
    assert comparison_picture_bytes(comparison) == comparison_picture_bytes(comparison)
