"""Numbers at ticks, and the room that legends need."""

import itertools
import json

import pytest
from matplotlib.text import Text

import contend
from contend import plots
from contend.plots.curves import legend_height
from contend.plots.style import figure_bytes
from contend.plots.ticks import axis_title, logarithmic_ticks, number_text, tick_expression, tick_formatter
from contend.report.charts import make_charts

SMALL = {"workload.iterations": 1, "workload.window": 16, "run.replications": 2}


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (140_199, "msg/s", "140.199 k"),
        (0.5, "iterations/s", "0.5"),
        (0.0, "", "0"),
        (0.25, "", "0.25"),
        (0.5, "s", "500 ms"),
        (12_000, "MiB/s", "12,000"),
        (0.5, "MiB/s", "0.5"),
        (2_500_000, "ns", "2,500,000"),
    ],
)
def test_a_prefix_stands_where_it_belongs_to_the_unit(value: float, unit: str, text: str) -> None:
    assert number_text(value, unit) == text == tick_formatter(unit)(value)


@pytest.mark.parametrize("low", [3.7e-8, 0.0999, 0.94, 1.0, 7.3e6])
@pytest.mark.parametrize("times", [1.001, 1.06, 1.5, 4.0, 9.9, 16.0, 199.0, 201.0, 1e6, 1e20])
def test_a_logarithmic_axis_has_labels_enough_to_read_it(low: float, times: float) -> None:
    ticks = logarithmic_ticks(low, low * times)
    assert 3 <= len(ticks) <= 10
    assert all(low <= tick <= low * times for tick in ticks)
    assert ticks == sorted(set(ticks))


@pytest.mark.parametrize(("low", "high"), [(1.6e4, 4.3e6), (2e4, 4.1e6), (0.11, 90.0), (1.1, 989.0)])
def test_labels_are_all_over_an_axis_with_two_powers_of_ten(low: float, high: float) -> None:
    ticks = [low, *logarithmic_ticks(low, high), high]
    assert max(above / below for below, above in itertools.pairwise(ticks)) < 10


def test_the_unit_of_a_time_is_at_the_ticks_only() -> None:
    assert (axis_title("communication time", "s"), axis_title("bandwidth", "MiB/s")) == (
        "communication time",
        "bandwidth (MiB/s)",
    )


@pytest.mark.core
def test_axes_of_pictures_have_such_ticks() -> None:
    base = contend.load("partitioned/send_multi").with_({"workload.iterations": 1, "run.replications": 2})
    results = contend.run(base.over({"workload.buffer_size": ["16 MiB", "256 MiB"]}))
    ticks = [tick.get_text() for tick in _drawn(plots.rate(results, measure="communication_time_s"))]
    assert all(text.endswith("s") for text in ticks)
    assert not any(" k" in tick.get_text() for tick in _drawn(plots.rate(results)))


def _drawn(picture: plots.Picture) -> list[Text]:
    figure_bytes(picture, ("png",))
    return list(picture.axes[0].get_yticklabels())


@pytest.mark.core
def test_long_legends_leave_the_curves_their_height() -> None:
    """32 lines of a legend lay upon the bars below and took half of the curves' height."""
    base = contend.load("fig5_2a_base").with_(SMALL)
    locks = ["pthread-mutex", "mcs", "ticket", "ttas"]
    space = {"workload.pairs": [1, 2], "library.instances.lock": locks, "library.matching.lock": locks}
    heights = []
    for chosen in (space | {"library.matching.lock": ["mcs"]}, space):
        picture = plots.rate(contend.run(base.over(chosen)))
        figure_bytes(picture, ("png",))
        axes = picture.axes[0]
        heights.append(axes.get_window_extent().height / picture.dpi)
        legend = axes.get_legend()
        assert legend is not None
        assert legend.get_window_extent().y0 >= 0
    assert heights[1] == pytest.approx(heights[0], rel=0.15)


def test_a_legend_s_height_is_that_of_its_lines() -> None:
    assert legend_height(["one"]) == 0
    assert legend_height(["short", "words"]) < legend_height(["x" * 100] * 8) < legend_height(["word " * 60] * 8)


@pytest.mark.core
def test_the_counters_of_a_report_say_what_they_are_and_have_no_prefix_of_nanoseconds() -> None:
    results = contend.run(contend.load("fig5_2a_base").with_(SMALL).over({"workload.pairs": [1, 2, 4]}))
    charts = make_charts(results, results.points[-1], None, None)
    counters = charts.specifications["counters"]
    assert counters["title"]["text"] == {"expr": "words[counter]"}
    words = next(one["value"] for one in counters["params"] if one["name"] == "words")
    assert words["match_time_ns"] == "match time (ns), per message received"
    assert tick_expression("ns") in json.dumps(counters)
    assert "'~s') + 's'" not in json.dumps(charts.specifications["rate"])


def test_a_legend_of_many_groups_does_not_lie_upon_the_points() -> None:
    rows = [
        {"group": f"a dataset with a long name, number {i}", "measured": 1e5 * (i + 1), "predicted": 1.1e5 * (i + 1)}
        for i in range(16)
    ]
    picture = plots.measured_against_predicted(rows)
    figure_bytes(picture, ("png",))
    axes = picture.axes[0]
    legend = axes.get_legend()
    assert legend is not None
    assert legend.get_window_extent().y1 < axes.get_window_extent().y0
    assert legend.get_window_extent().y0 >= 0
    assert axes.get_window_extent().height / picture.dpi > 3.5
