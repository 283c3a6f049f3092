"""Pictures of rates: curves, bars and stars, and what their axes and titles say."""

import dataclasses
import itertools
from typing import Any, cast

import pytest
from matplotlib.container import ErrorbarContainer
from matplotlib.text import Text

import contend
from contend import plots
from contend.plots.samples import are_samples
from contend.plots.style import figure_bytes
from contend.plots.summary import draw
from contend.scenarios.axes import axis_value
from contend.scenarios.changes import with_changes
from plotting import SMALL, a_grid

pytestmark = pytest.mark.core


@pytest.fixture(scope="module")
def results() -> contend.Results:
    return a_grid()


def test_a_rate_has_a_line_and_a_band_for_each_design(results: contend.Results) -> None:
    axes = plots.rate(results).axes[0]
    lines = [line for line in axes.lines if len(line.get_xdata()) == 3]
    assert len(lines) == len(axes.collections) == 2
    means = [results.point(pairs=pairs, instances=1).estimates["message_rate"].mean for pairs in (1, 2, 4)]
    assert list(lines[0].get_ydata()) == means
    assert axes.get_ylabel() == "message rate (msg/s)"


def test_messages_of_one_size_have_a_bandwidth_at_the_right() -> None:
    base = contend.load("fig5_2a_base").with_(SMALL)

    def right(axis: dict[str, list[object]], **values: object) -> list[Any]:
        figure = draw(contend.run(base.with_({f"workload.{name}": value for name, value in values.items()}).over(axis)))
        figure_bytes(figure, ("png",))
        return list(figure.axes[0].child_axes)

    (axis,) = right({"workload.pairs": [1, 2]}, message_size="1 KiB")
    assert axis.get_ylabel() == "bandwidth (MiB/s)"
    parent = axis._parent.get_ylim()
    assert axis.get_ylim() == pytest.approx([end / 1024 for end in parent])
    assert right({"workload.pairs": [1, 2]}) == []  # without payload
    assert right({"workload.message_size": ["1 KiB", "2 KiB"]}) == []


def test_samples_have_a_panel_for_each_parameter_in_place_of_curves(results: contend.Results) -> None:
    assert not are_samples(results.points)  # a grid has curves
    base = contend.load("fig5_2a_base").with_(SMALL)
    space = {
        "workload.pairs": (1, 4),
        "machine.futex.wake_latency": contend.Range("1 us", "50 us", log=True),
        "library.matching.lock": ["mcs", "ttas"],
    }
    drawn = contend.sweep(base, contend.LatinHypercube(space, samples=6))
    assert are_samples(drawn.points)
    pairs, latency, lock = draw(drawn).axes
    assert (pairs.get_xlabel(), latency.get_xlabel(), lock.get_xlabel()) == ("pairs", "wake latency", "lock")
    assert latency.get_xscale() == "log"
    assert len(latency.xaxis.get_major_locator().tick_values(2e-6, 40e-6)) > 4  # not 10 us only
    shown = {(x, y) for line in latency.lines for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True)}
    wanted = {(axis_value(point, "wake_latency"), point.estimates["message_rate"].mean) for point in drawn.points}
    assert shown == wanted
    assert [tick.get_text() for tick in lock.get_xticklabels()] == list(
        dict.fromkeys(str(point.parameters["lock"]) for point in drawn.points)
    )


def test_whole_numbers_have_ticks_at_whole_numbers(results: contend.Results) -> None:
    base = contend.load("fig5_2a_base").with_(SMALL)
    space = {"workload.pairs": (2, 4), "library.instances.count": (2, 20), "workload.window": (90, 890)}
    figure = draw(contend.sweep(base, contend.LatinHypercube(space, samples=6), replications=1))
    figure_bytes(figure, ("png",))
    for axes in figure.axes:
        assert axes.get_xscale() == "linear"
        low, high = axes.get_xlim()
        ticks = [tick for tick in axes.get_xticks() if low <= tick <= high]
        assert len(ticks) >= 3
        assert all(tick.is_integer() for tick in ticks)
    assert '"tickMinStep": 1' in plots.interactive.rate(results).to_json()


@pytest.mark.parametrize("several", [True, False])
@pytest.mark.parametrize(
    ("known", "said"), [(3, ", with its 95 % interval;"), (1, " where that is known;"), (0, "measured;")]
)
def test_a_measurement_and_its_prediction_can_be_told_apart(
    results: contend.Results, known: int, said: str, *, several: bool
) -> None:
    chosen = results.select(instances=1).points[: 3 if several else 1]
    entry = {"dataset": "d", "metric": "message_rate", "unit": "msg/s", "median": 2e5, "predicted": 1e5}
    points = tuple(
        dataclasses.replace(point, measured=entry | {"interval": [1.9e5, 2.2e5] if number < known else None})
        for number, point in enumerate(chosen)
    )
    if not several:
        points = (dataclasses.replace(points[0], parameters={}),)
        said = {0: "measured;"}.get(known, ", with its 95 % interval;")
    figure = draw(dataclasses.replace(results, points=points))
    figure_bytes(figure, ("png",))
    axes = figure.axes[0]
    assert said in axes.get_title("left")
    assert axes.get_title("right").startswith("predicted: median of samples")
    stars = [line for line in axes.lines if line.get_marker() == "*"]
    assert len(stars) == len(points)
    bars = [item for item in axes.containers if isinstance(item, ErrorbarContainer)]
    of_measurements = [bar for bar in bars if bar.lines[2][0].get_zorder() == 5]
    assert len(of_measurements) == min(known, len(points)), "only where the interval is known"
    for place, star in enumerate(stars):
        at = axis_value(points[place], "pairs") if several else 0.0
        drawn = star.get_transform().transform(star.get_xydata())[0]
        assert drawn[0] > axes.transData.transform((at, 0.0))[0] + 5, "not upon the bar of the prediction"
    middles = axes.lines[0].get_ydata() if several else [patch.get_height() for patch in axes.patches]
    assert set(middles) == {1e5}, "as the table has it"


@pytest.mark.parametrize("kind", ["curves", "bars", "panels"])
@pytest.mark.parametrize("factor", [1.0, 1e6])
def test_measurements_above_the_predictions_are_upon_the_picture(
    results: contend.Results, kind: str, factor: float
) -> None:
    entry = {"dataset": "d", "metric": "message_rate", "unit": "msg/s", "median": 1e8, "predicted": 1e5}
    entry["interval"] = [0.9e8, 1.1e8 * factor]
    points = [dataclasses.replace(point, measured=entry) for point in results.select(instances=1).points]
    if kind == "bars":
        points = [dataclasses.replace(points[0], parameters={})]
    if kind == "panels":
        points = [
            dataclasses.replace(point, parameters=point.parameters | {"lock": lock, "engine": engine})
            for lock, engine in itertools.product("abcdef", "abcde")
            for point in points
        ]
    figure = draw(dataclasses.replace(results, points=tuple(points)))
    figure_bytes(figure, ("png",))
    rates = [axes for axes in figure.axes if any(line.get_marker() == "*" for line in axes.lines)]
    assert len(rates) == {"curves": 1, "bars": 1, "panels": 5}[kind]
    for axes in rates:
        stars = [line for line in axes.lines if line.get_marker() == "*"]
        right = max(line.get_transform().transform(line.get_xydata())[0][0] for line in stars)
        assert right + stars[0].get_markersize() / 2 * figure.dpi / 72 < axes.bbox.x1
        top = axes.get_ylim()[1]
        assert top > 1.1e8, "with the interval"
        assert top <= 1.6e8, "however wide the interval is"


def test_an_only_point_is_a_narrow_bar_with_a_name(results: contend.Results) -> None:
    alone = dataclasses.replace(results.points[0], parameters={})
    for overrides, name in (
        ((("workload.pairs", "1"), ("workload.window", "16")), "pairs=1, window=16"),
        ((), results.name),
    ):
        axes = draw(dataclasses.replace(results, points=(alone,), overrides=overrides)).axes[0]
        (bar,) = axes.patches
        low, high = axes.get_xlim()
        assert bar.get_width() / (high - low) < 0.15
        assert [tick.get_text() for tick in axes.get_xticklabels()] == [name]


def test_long_changes_stay_upon_the_picture(results: contend.Results) -> None:
    many = tuple((f"machine.section_{number}.price", f"{number}.5 us") for number in range(40))
    drawn = draw(dataclasses.replace(results, overrides=(*many, ("library", '{"name": "mine", "lock": "mcs"}'))))
    figure_bytes(drawn, ("png",))
    (said,) = (text for text in drawn.findobj(Text) if text.get_text().startswith("with machine.section_0.price=0.5"))
    assert said.get_text().endswith("...")
    box = said.get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= drawn.bbox.x1
    name, above = next((text, text.get_window_extent()) for text in drawn.findobj(Text) if "fig5" in text.get_text())
    below = [text for text in drawn.findobj(Text) if "confidence interval" in text.get_text()]
    assert below[0].get_window_extent().y1 < box.y0
    assert above.y1 - above.height / len(name.get_text().splitlines() or [""]) > box.y0


def test_a_design_among_the_changes_has_its_name() -> None:
    overrides = [
        ("library", '{"name": "mine", "lock": "mcs"}'),
        ("workload.pairs", "4"),
        ("sweep.workload.window", "[1]"),
    ]
    assert with_changes(overrides) == "with library=mine, pairs=4"
    assert with_changes([*overrides, ("a.pairs", "5")]) == "with library=mine, workload.pairs=4, a.pairs=5"
    assert with_changes([("workload.pairs", "4"), ("workload.pairs", '"all"')], ["pairs"]) == "with workload.pairs=all"
    assert with_changes([("sweep", "{}")]) == ""


def test_rates_of_several_runs_and_other_measures(results: contend.Results) -> None:
    axes = plots.rate({"one": results.select(instances=1), "two": results.select(instances=2)}).axes[0]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["one", "two"]
    counter = plots.rate(results, measure="match_time_ns").axes[0]
    assert counter.get_ylabel() == "match time (ns)"
    by_instances = plots.rate(results, x="instances").axes[0]
    assert by_instances.get_xlabel() == "instances"
    for arguments, message in (({"x": "windows"}, "windows is swept"), ({"measure": "rates"}, "no measure 'rates'")):
        with pytest.raises(contend.InputError, match=message):
            plots.rate(results, **arguments)
    with pytest.raises(contend.InputError, match="no number is swept"):
        plots.rate(results.select(pairs=1, instances=1))
    with pytest.raises(contend.InputError, match=r"drawn of Results, or of several by name; found: DataFrame"):
        plots.rate(cast("Any", results.frame()))


def test_quantities_on_the_axis() -> None:
    base = contend.load("fig5_2a_base").with_({**SMALL, "workload.pairs": 1})
    sizes = contend.run(base.over({"workload.message_size": ["64 B", "1 KiB", "4 KiB"]}))
    for picture in (plots.rate(sizes, x="message_size"), plots.rate(sizes), draw(sizes)):
        axes = picture.axes[0]
        assert list(axes.lines[0].get_xdata()) == [64, 1024, 4096]
        assert _ticks(axes) == ["64 B", "1 KiB", "4 KiB"]
    numbers_first = contend.run(base.over({"workload.message_size": ["64 B", "1 KiB"], "workload.window": [8, 16]}))
    assert plots.rate(numbers_first).axes[0].get_xlabel() == "window"
    sizes_are_a_curve = contend.run(
        base.over({"workload.message_size": ["64 B", "1 KiB", "4 KiB"], "workload.window": [8, 16]})
    )
    assert plots.rate(sizes_are_a_curve).axes[0].get_xlabel() == "message size"


def _ticks(axes: Any) -> list[str]:
    return [label.get_text() for label in axes.get_xticklabels()]


@pytest.mark.parametrize("first", ["2 B", "0 B"])
def test_labels_of_the_axis_do_not_lie_upon_each_other(first: str) -> None:
    base = contend.load("fig5_2a_base").with_({**SMALL, "workload.pairs": 1})
    sizes = [first, *(f"{2**power} KiB" for power in range(10)), "1 MiB", "4 MiB"]
    axes = draw(contend.run(base.over({"workload.message_size": sizes}))).axes[0]
    shown = [text for text in _ticks(axes) if text]
    assert shown[0] == first
    assert shown[-1] == "4 MiB"
    assert len(shown) > 5
    assert _overlaps(axes) == 0


def _overlaps(axes: Any) -> int:
    figure = axes.get_figure(root=True)
    figure_bytes(figure, ("png",))
    boxes = sorted(
        (label.get_window_extent() for label in axes.get_xticklabels() if label.get_text()), key=lambda b: b.x0
    )
    return sum(left.x1 > right.x0 for left, right in itertools.pairwise(boxes))


def test_points_without_a_number_have_names_that_can_be_read() -> None:
    base = contend.load("fig5_2a_base").with_({**SMALL, "workload.pairs": 2})
    presets = ["ob1-base", "ob1-cri", "ch4-vci"]
    designs = base.over({"library.preset": presets, "library.matching.lock": ["mcs", "ttas", "pthread-mutex"]})
    names = [f"preset={preset}, lock={lock}" for preset in presets for lock in ("mcs", "ttas", "pthread-mutex")]
    bars = draw(contend.run(designs)).axes[0]
    assert _ticks(bars) == names
    assert bars.get_xticklabels()[0].get_rotation() == 30
    few = draw(contend.run(base.over({"library.preset": presets}))).axes[0]
    assert _overlaps(few) == 0
    rates, ratios = plots.comparison(contend.compare(designs, designs.with_({"machine.noise": "20 ns"}))).axes
    assert [list(line.get_xdata()) for line in rates.lines] == [list(range(9))] * 2
    assert {line.get_linestyle() for line in rates.lines} == {"None"}  # nothing lies between two designs
    assert _ticks(ratios) == names


def test_a_comparison_over_sizes_has_them_as_labels() -> None:
    base = contend.load("fig5_2a_base").with_({**SMALL, "workload.pairs": 1})
    sizes = base.over({"workload.message_size": ["64 B", "1 KiB", "4 KiB"]})
    _, ratios = plots.comparison(contend.compare(sizes, sizes.with_({"machine.noise": "20 ns"}))).axes
    assert _ticks(ratios) == ["64 B", "1 KiB", "4 KiB"]


@pytest.mark.parametrize("points", [1, 2])
def test_a_side_of_a_comparison_with_many_changes_stays_upon_the_picture(points: int) -> None:
    base = contend.load("fig5_2a_base").with_(SMALL).over({"workload.pairs": [2, 3][:points]})
    changes = {
        f"machine.software.{name}": "123 ns" for name in ("send_call", "receive_call", "progress_call", "complete")
    }
    picture = plots.comparison(contend.compare(base, base.with_(changes)))
    picture.draw_without_rendering()
    title = picture.axes[0].get_title(loc="left") or picture.get_suptitle()
    assert " ".join(title.split()).endswith('machine.software.complete="123 ns"')
    (text,) = (text for text in picture.findobj(Text) if text.get_text() == title)
    assert text.get_window_extent().x1 <= picture.bbox.x1


def test_what_points_have_in_common_stands_once_and_bars_are_never_on_a_logarithmic_axis() -> None:
    base = contend.load("fig5_2a_base").with_({**SMALL, "workload.pairs": 2})
    designs = base.over({"library.preset": ["ob1-cri"], "library.matching.lock": ["mcs", "ticket"]})
    rates = draw(contend.run(designs)).axes[0]
    assert [tick.get_text() for tick in rates.get_xticklabels()] == ["lock=mcs", "lock=ticket"]
    assert rates.get_xlabel() == "at preset=ob1-cri"
    assert len(rates.patches) == 2
    assert rates.get_yscale() == "linear"
    swept = contend.run(designs)
    wide = [
        dataclasses.replace(
            point, estimates={"message_rate": dataclasses.replace(estimate, mean=mean, low=mean / 2, high=2 * mean)}
        )
        for point, mean in zip(swept.points, (1e4, 1e6), strict=True)
        for estimate in [point.estimates["message_rate"]]
    ]
    rates = draw(dataclasses.replace(swept, points=tuple(wide))).axes[0]
    assert rates.get_yscale() == "log"
    assert not rates.patches
    assert any(isinstance(one, ErrorbarContainer) for one in rates.containers)
