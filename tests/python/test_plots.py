"""Pictures: each call draws what the data say, and refuses what makes no sense."""

import io
import json
import math
import re
import warnings
from pathlib import Path
from typing import Any

import pytest
from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

import contend
from contend import plots
from contend.cli import main
from contend.plots.agreement import checked_rows, validation_frame
from contend.plots.heat import cells, ordered
from contend.plots.style import OTHER_COLOURS, STYLE, figure_bytes
from plotting import SMALL, a_grid

pytestmark = pytest.mark.core


@pytest.fixture(scope="module")
def results() -> contend.Results:
    return a_grid()


@pytest.fixture(scope="module")
def timeline() -> Any:
    return contend.timeline(contend.load("fig5_2a_base").with_({**SMALL, "workload.pairs": 4}), length_us=50)


AGREEMENT = [
    {"group": name, "measured": 1e5 * i, "predicted": factor * 1e5 * i, "predicted_low": 0.9e5 * i}
    for name, factor in (("a", 1.1), ("b", 0.7))
    for i in range(1, 5)
]


def test_a_budget_adds_up(results: contend.Results) -> None:
    picture = plots.time_budget(results.select(instances=1))
    for axes in picture.axes:
        ends: dict[float, float] = {}
        for bar in axes.patches:
            ends[bar.get_y()] = max(ends.get(bar.get_y(), 0.0), bar.get_x() + bar.get_width())
        assert len(ends) == 3
        assert all(end == pytest.approx(100, abs=0.5) for end in ends.values())
    assert len(plots.time_budget(results, role="sender").axes) == 1
    with pytest.raises(contend.InputError, match="no threads with the role"):
        plots.time_budget(results, role="listener")


def test_a_heat_map_has_the_numbers(results: contend.Results) -> None:
    picture = plots.heat_map(results, x="pairs", y="instances")
    image = picture.axes[0].images[0].get_array()
    assert image is not None
    assert image.shape == (2, 3)
    assert image[1, 2] == results.point(pairs=4, instances=2).estimates["message_rate"].mean
    assert len(picture.axes[0].texts) == 6
    with pytest.raises(contend.InputError, match="several points"):
        plots.heat_map(results, x="pairs", y="pairs")
    with pytest.raises(contend.InputError, match="window is not swept"):
        plots.heat_map(results, x="pairs", y="window")
    _, _, table = cells(results.select(pairs=1), "pairs", "instances", "message_rate")
    assert not any(math.isnan(value) for line in table for value in line)


def test_cells_of_a_heat_map_say_how_wide_their_intervals_are(results: contend.Results) -> None:
    estimate = results.point(pairs=4, instances=2).estimates["message_rate"]
    assert estimate.low is not None
    texts = [text.get_text() for text in plots.heat_map(results, x="pairs", y="instances").axes[0].texts]
    assert texts[-1].endswith(f"\n±{(estimate.mean - estimate.low) / estimate.mean:.0%}")


def test_a_knob_of_a_heat_map_may_be_a_switch() -> None:
    base = contend.load("fig5_2a_base").with_(SMALL)
    swept = contend.run(base.over({"workload.pairs": [1, 2], "workload.allow_overtaking": [False, True]}))
    axes = plots.heat_map(swept, x="pairs", y="allow_overtaking").axes[0]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["false", "true"]
    image = axes.images[0].get_array()
    assert image is not None
    assert image[1, 0] == swept.point(pairs=1, allow_overtaking=True).estimates["message_rate"].mean
    assert '"true"' in plots.interactive.heat_map(swept, x="pairs", y="allow_overtaking").to_json()


def test_interactive_curves_over_quantities(small: contend.Scenario) -> None:
    pytest.importorskip("altair")
    converter = pytest.importorskip("vl_convert")
    for path, values, places in (
        ("workload.message_size", ["0 B", "1 KiB", "2 KiB", "4 KiB"], [0.0, 1024.0, 2048.0, 4096.0]),
        ("workload.message_size", ["1 KiB", "2 KiB", "4 KiB"], [1024.0, 2048.0, 4096.0]),
        ("machine.futex.wake_latency", ["1 us", "30 us", "40 us"], [1e-6, 3e-5, 4e-5]),
    ):
        chart = plots.interactive.rate(contend.run(small.over({path: values})))
        (rows,) = chart.to_dict()["datasets"].values()
        assert [row["x"] for row in rows] == pytest.approx(places)
        picture = converter.vegalite_to_svg(chart.to_json())
        assert "NaN" not in picture
        shown = re.findall(r">([^<>]+)</text>", picture)
        assert set(values) <= set(shown)


def test_values_in_order() -> None:
    assert ordered([16, 2, 2]) == [2, 16]
    assert ordered(["4 KiB", "64 B", "1 KiB"]) == ["64 B", "1 KiB", "4 KiB"]
    assert ordered(["ob1", "list"]) == ["ob1", "list"]


@pytest.mark.parametrize("draw", [plots.measured_against_predicted, plots.interactive.measured_against_predicted])
@pytest.mark.parametrize(
    ("data", "message"),
    [
        *(
            ([{"measured": 1.0, "predicted": 1.0}, {"measured": value, "predicted": 1.0}], "needs positive finite numb")
            for value in (0.0, -1.0, math.inf, math.nan, 10**400, True, "1", None)
        ),
        ([{"measured": 1.0}], "needs positive finite numbers"),
        ([{"measured": 1.0, "predicted": 1.0, "measured_high": math.inf}], "'measured_high' is inf in a row; allowed"),
        ([{"measured": 1.0, "predicted": 1.0, "predicted_low": "1"}], "'predicted_low' is '1' in a row; allowed"),
        ([], "no points"),
        ([1.0], r"rows are a data frame or a list of mappings, not \[1.0\]"),
        ({"measured": 1.0, "predicted": 1.0}, "rows are a data frame or a list of mappings, not"),
        (None, "rows are a data frame or a list of mappings, not None"),
    ],
)
def test_what_no_picture_of_agreement_can_be_drawn_of(draw: Any, data: Any, message: str) -> None:
    with pytest.raises(contend.InputError, match=message):
        draw(data)


def test_ends_that_are_missing_are_the_values_themselves() -> None:
    row = {"measured": 2.0, "predicted": 3, "measured_low": None, "measured_high": math.nan, "predicted_low": 2.5}
    (found,) = checked_rows([row])
    assert found == {
        "group": "", "measured": 2.0, "predicted": 3, "measured_low": 2.0, "measured_high": 2.0, "predicted_low": 2.5,
        "predicted_high": 3,
    }  # fmt: skip


def test_measured_against_predicted() -> None:
    axes = plots.measured_against_predicted(AGREEMENT).axes[0]
    assert axes.get_xlim() == axes.get_ylim()
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["within 20 %", "a", "b"]
    document = {
        "points": [
            {
                "dataset": "here", "parameters": {"pairs": 1}, "measured": {"median": 2.0, "iqr": [1.0, 3.0]},
                "predicted": {"median": 2.5, "ci95": [2.0, 3.0]},
            }
        ]
    }  # fmt: skip
    frame = validation_frame(document)
    assert frame.row(0, named=True)["predicted_high"] == 3.0
    assert plots.measured_against_predicted(frame).axes
    with pytest.raises(contend.InputError, match="not the content of a validation result: it has no '"):
        validation_frame({"points": [{}]})


def test_a_lock_has_one_holder_at_a_time(timeline: Any) -> None:
    picture = plots.lock_timeline(timeline, most=3)
    assert 1 <= len(picture.axes[0].get_yticks()) <= 3
    assert picture.axes[0].get_xlim() == (timeline.begin_us, timeline.end_us)
    assert timeline.draw()._repr_png_().startswith(b"\x89PNG")


def test_every_category_has_a_colour_of_its_own() -> None:
    known = [*plots.CATEGORY_COLOURS.values(), *OTHER_COLOURS]
    assert len(set(known)) == len(known)


def test_a_name_with_dollar_signs_is_no_formula(results: contend.Results) -> None:
    """Neither where it would be one, nor where Matplotlib could not read it; and no axis counts on formulas."""
    for name in ("$HOME of a_1$", "cost $x_{1 vs $y"):
        assert f"<!-- {name} -->" in figure_bytes(plots.rate(results, title=name), ("svg",))["svg"].decode()
    for far in (2.0, 20.0, 2000.0):
        rows = [{"measured": rate, "predicted": rate} for rate in (1e5, far * 1e5)]
        written = figure_bytes(plots.measured_against_predicted(rows), ("svg",))["svg"].decode()
        assert "mathdefault" not in written
        assert "<!-- 100" in written


@pytest.mark.parametrize(
    "words",
    [
        ["run"],
        ["sweep", "--store", "store"],
        ["compare", "dollars.json"],
        ["explain", "--out", "out", "--no-speedups"],
        ["report", "--no-speedups"],
        ["run", "--trace", "trace.json"],
    ],
)
def test_every_command_draws_a_name_with_dollar_signs(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    scenario = contend.load("fig5_2a_base").with_(SMALL).document | {"name": "cost $x_{1 vs $y"}
    Path("dollars.json").write_text(json.dumps(scenario))
    assert main([words[0], "dollars.json", *words[1:]]) == 0
    if "--trace" in words:
        assert main(["trace-plot", "trace.json"]) == 0
    assert [*tmp_path.rglob("*.png"), *tmp_path.rglob("*.html")]


def test_a_name_in_another_script_is_no_warning(results: contend.Results) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert plots.rate(results, title="\N{CJK UNIFIED IDEOGRAPH-65E5}")._repr_png_()


def test_pictures_become_files(results: contend.Results, tmp_path: Path) -> None:
    assert plots.rate(results)._repr_png_().startswith(b"\x89PNG")
    for kind, head in (("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")):
        path = plots.rate(results).save(tmp_path / f"rate.{kind}")
        first = path.read_bytes()
        assert first.startswith(head)
        assert plots.rate(results).save(path).read_bytes() == first
    with pytest.raises(contend.InputError, match=r"is a \.png, \.svg, \.pdf file"):
        plots.rate(results).save(tmp_path / "none" / "rate.jpg")
    assert not (tmp_path / "none").exists()
    assert plots.rate(results).save(tmp_path / "new" / "folder" / "rate.svg").is_file()  # as commands do


def test_pictures_are_laid_out_once(results: contend.Results, monkeypatch: pytest.MonkeyPatch) -> None:
    laid_out = []
    drawn = []
    lay_out, draw = ConstrainedLayoutEngine.execute, Figure.draw
    monkeypatch.setattr(
        ConstrainedLayoutEngine, "execute", lambda self, fig: (laid_out.append(fig), lay_out(self, fig))
    )
    monkeypatch.setattr(Figure, "draw", lambda self, renderer: (drawn.append(self), draw(self, renderer)))
    picture = plots.rate(results)
    # Whatever else a notebook tells Matplotlib to do.
    with rc_context({"figure.autolayout": True}):
        first = figure_bytes(picture)
    assert (laid_out, drawn) == ([picture], [picture, picture])
    # As Matplotlib alone writes it.
    alone = io.BytesIO()
    with rc_context(STYLE):
        plots.rate(results).savefig(alone, format="png", dpi=150, metadata={"Software": None})
    assert first["png"] == alone.getvalue()
    # What is changed afterwards is laid out again.
    top = picture.axes[0].get_position().y1
    picture.suptitle("above", fontsize=30)
    figure_bytes(picture)
    assert picture.axes[0].get_position().y1 < top - 0.05


def test_interactive_charts_show_the_same_bytes_each_time(results: contend.Results, timeline: Any) -> None:
    alt = pytest.importorskip("altair")
    makers = [
        lambda: plots.interactive.rate(results),
        lambda: plots.interactive.time_budget(results),
        lambda: plots.interactive.heat_map(results, x="pairs", y="instances"),
        lambda: plots.interactive.measured_against_predicted(AGREEMENT),
        lambda: plots.interactive.lock_timeline(timeline),
        # what is made of them
        lambda: plots.interactive.rate(results).properties(width=300),
    ]
    shown = []
    for make in makers:
        chart = make()
        first, second, third = (one._repr_mimebundle_() for one in (chart, chart, make()))
        assert re.search(r'id="altair-viz-[0-9a-f]{32}"', first["text/html"])
        assert first == second == third
        assert repr(chart) in ("alt.Chart(...)", "alt.LayerChart(...)")
        shown.append(re.search("altair-viz-[0-9a-f]{32}", first["text/html"])[0])  # type: ignore[index]
    assert len(set(shown)) == len(shown)  # others have other names
    both = alt.vconcat(plots.interactive.rate(results), plots.interactive.time_budget(results))
    assert both.to_dict()["vconcat"]
    with alt.renderers.enable("mimetype"):  # has no element, and gives metadata as well
        assert plots.interactive.time_budget(results)._repr_mimebundle_()


def test_interactive_namesakes(results: contend.Results, timeline: Any) -> None:
    """Every chart compiles from Vega-Lite to a picture."""
    pytest.importorskip("altair")
    converter = pytest.importorskip("vl_convert")
    charts = [
        plots.interactive.rate(results),
        plots.interactive.time_budget(results),
        plots.interactive.heat_map(results, x="pairs", y="instances"),
        plots.interactive.measured_against_predicted(AGREEMENT),
        plots.interactive.lock_timeline(timeline),
    ]
    for chart in charts:
        picture = converter.vegalite_to_svg(chart.to_json())
        assert picture.startswith("<svg")
        assert "NaN" not in picture
    for name in ("rate", "time_budget", "heat_map", "measured_against_predicted", "lock_timeline"):
        assert callable(getattr(plots, name))
        assert callable(getattr(plots.interactive, name))
