"""How virtual speed-ups are shown: on the terminal, in pictures, notebooks and reports."""

from __future__ import annotations

import html
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from rich.console import Console

import contend
from contend.cli import main
from contend.common.statistics import estimate
from contend.explanations.output import draw, render
from contend.explanations.speedups import Speedup
from reporting import Page, page_of

if TYPE_CHECKING:
    from pathlib import Path

    from contend.explanations.explanation import Explanation

pytestmark = pytest.mark.usefixtures("no_chart_library")

_FABRIC = {"latency": "1 us", "bandwidth": "100 Gbit/s"}
LATENCY: dict[str, Any] = {
    "schema_version": 1, "name": "shown", "machine": {"profile": "alembert"}, "fabric": _FABRIC,
    "library": {"preset": "ob1-base"},
    "workload": {"kind": "latency", "receivers": 1, "iterations": 4, "warmup_iterations": 0},
    "run": {"replications": 2},
}  # fmt: skip
PARTITIONED: dict[str, Any] = {
    **LATENCY,
    "machine": {"profile": "xc40-haswell"},
    "library": {"preset": "partitioned-persistent-ugni"},
    "workload": {
        "kind": "partitioned", "partitions": 4, "iterations": 1, "warmup_iterations": 0, "buffer_size": "1 MiB",
        "compute_time": "1 ms", "noise_pct": 4.0,
    },
}  # fmt: skip
GAINS = [Speedup("wire", ("fabric.bandwidth",), "1 us", "", removed=estimate([1.98, 1.99]))]


def explained(document: dict[str, Any], speedups: list[Speedup], measure: str | None = None) -> Explanation:
    """A point with these speed-ups."""
    explanation = contend.explain(document, measure=measure, speedups=False, progress=False)
    explanation.speedups = speedups
    return explanation


def shown(explanation: Explanation) -> str:
    """What stands on a terminal, in one line."""
    console = Console(width=400)
    with console.capture() as capture:
        console.print(render(explanation))
    return " ".join(capture.get().split())


def report(document: dict[str, Any], explanation: Explanation, folder: Path) -> Page:
    """The report of a run with its explanation."""
    (scenario := folder.with_suffix(".json")).write_text(json.dumps(document))
    assert main(["run", str(scenario), "--out", str(folder), "--quiet"]) == 0
    (folder / "explain.json").write_bytes(explanation.json_bytes())
    assert main(["report", str(folder), "--no-simulate", "--quiet"]) == 0
    return page_of(folder / "report.html")


@pytest.mark.core
@pytest.mark.parametrize(
    ("document", "measure", "title", "direction"),
    [
        (LATENCY, None, "latency", "shorter"),
        (LATENCY, "message_rate", "message rate", "higher"),
        (PARTITIONED, None, "perceived bandwidth", "higher"),
        (PARTITIONED, "communication_time_s", "communication time", "shorter"),
    ],
)
def test_speed_ups_are_of_the_measure_and_say_their_direction(
    document: dict[str, Any], measure: str | None, title: str, direction: str, tmp_path: Path
) -> None:
    explanation = explained(document, GAINS, measure)
    above = f"virtual speed-ups of the {title}: how many times {direction} if a cost were lower"
    assert above in shown(explanation)
    assert above in html.unescape(explanation._repr_html_())
    assert draw(explanation).axes[1].get_xlabel() == f"speed-up of the {title} (%)"
    page = report(document, explanation, tmp_path / "out")
    text = " ".join(page.text.split())
    assert f"speed-up of the {title} without the cost wire" in text
    assert f"how many times {direction} the {title} is" in text
    layers = page.data["charts"]["speedups"]["layer"]
    assert {layer["encoding"]["x"]["title"] for layer in layers} == {f"speed-up of the {title}"}


def gain(name: str, *samples: float, bounded: tuple[str, ...] = (), value: str = "1 ns") -> Speedup:
    """A cost (a group if it has no value) whose removal was simulated with these results."""
    return Speedup(name, (name,), value, "", removed=estimate(samples), bounded=bounded)


@pytest.mark.core
@pytest.mark.parametrize(
    ("speedups", "value", "remark"),
    [
        (
            [gain("all", 9.0, 9.0, value=""), gain("wide", 1.1, 1.5), gain("sure", 1.16, 1.162), gain("so", 1.1, 1.1)],
            "x 1.161", "± 0.013 (1.1%), speed-up of the latency without the cost sure (1 ns)",
        ),
        ([gain("wide", 1.1, 1.5), gain("none", 1.0, 1.0), gain("worse", 0.8, 0.801)], "no single cost",
         "removing any one of them gains no more than its 95 % interval"),
        ([gain("one", 1.2), gain("other", 1.3)], "x 1.300", "speed-up of the latency without the cost other (1 ns)"),
        ([gain("one", 1.0)], "no single cost", "removing any one of them gains nothing"),
        ([gain("wire", 1.5, 1.5, bounded=("wire",))], "x 1.500",
         "± 0.000 (0.0%), speed-up of the latency with wire as low as allowed (1 ns)"),
    ],
)  # fmt: skip
def test_what_would_help_most_is_told_from_no_effect(
    speedups: list[Speedup], value: str, remark: str, tmp_path: Path
) -> None:
    page = report(LATENCY, explained(LATENCY, speedups), tmp_path / "out")
    assert f"would help most{value}{remark}\n" in page.text


@pytest.mark.core
def test_costs_that_cannot_be_removed_are_marked_wherever_they_are_shown(tmp_path: Path) -> None:
    speedups = [
        gain("caches", 1.3, 1.3, bounded=("machine.cache.hit",), value=""),
        replace(gain("guess", 1.2, 1.2, bounded=("guess",)), known_from={"guess": "guess"}, uncertain=("guess",)),
        gain("free", 1.1, 1.1),
    ]
    names = ["caches *", "guess * †", "free"]
    explanation = explained(LATENCY, speedups)
    for entry in speedups:
        entry.halved = estimate([1.05, 1.05])
    note = "lowered to the least value that a scenario may have"
    axes = draw(explanation).axes[1]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == names
    assert f"* {note}\n" in axes.texts[0].get_text()
    assert "x 1.300 ± 0.000*" in shown(explanation)
    page = report(LATENCY, explanation, tmp_path / "marked")
    rows = page.data["data"]["speedups"]
    assert [row["cost"] for row in rows if row["change"] == "removed"] == names
    assert [row["how"] for row in rows] == [note, "halved", note, "halved", "removed", "halved"]
    assert f"* zero is not allowed: {note}." in page.text
    explanation.speedups = speedups[2:]
    assert note not in report(LATENCY, explanation, tmp_path / "plain").text


@pytest.mark.core
def test_wide_intervals_hide_no_speed_up() -> None:
    from contend.plots import figure_bytes

    wide, sure = gain("wide", 0.2, 60.0, bounded=("wide",)), gain("sure", 1.2, 1.21)
    wide.halved = estimate([1.0, 1.8])
    explanation = explained(LATENCY, [gain("most", 30.0, 31.0), wide, sure])
    figure = draw(explanation)
    figure_bytes(figure, ("png",))
    axes = figure.axes[1]
    left, right = axes.get_xlim()
    assert -300 < left < -100
    assert 2950 < right < 6100, "the axis follows the gains"
    of_wide = [line for line in axes.lines if line.get_ydata()[0] == pytest.approx(0.81)]
    marks = {line.get_marker(): line.get_xdata()[0] for line in of_wide}
    assert marks[">"] == right, "an arrow at the edge"
    assert min(line.get_xdata()[0] for line in axes.lines if line.get_marker() == "|") == -100
    (remarks,) = axes.texts
    assert remarks.get_text().endswith("the 95 % interval goes beyond the picture")
    assert remarks.get_window_extent().y1 < axes.xaxis.label.get_window_extent().y0

    explanation.speedups = [sure]
    assert not draw(explanation).axes[1].texts
