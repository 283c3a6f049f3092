"""Published numbers beside predictions."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import contend
from contend.plots import draw
from contend.plots.study import StudyPoint, study_points
from contend.scenarios.axes import axis_value
from contend.scenarios.resolution import resolve_scenario
from fakes import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from fakes import FakeCore


def test_a_study_point_is_of_values_and_ranges() -> None:
    point = StudyPoint({"pairs": [7, 20], "preset": "ob1-base"}, "s", 1e6)
    assert point.is_of({"pairs": 7, "preset": "ob1-base"})
    assert point.is_of({"pairs": 20})
    assert not point.is_of({"pairs": 6, "preset": "ob1-base"})
    assert not point.is_of({"pairs": 7, "preset": "ch4-global"})


def test_every_study_point_is_of_a_shipped_scenario() -> None:
    document = json.loads((REPOSITORY / "validation" / "dissertation" / "study.json").read_text())
    for entry in document["points"]:
        assert entry["source"]
        assert ("message_rate" in entry) or ("counters" in entry and entry["messages"] > 0)
        for name in entry["scenarios"]:
            assert (REPOSITORY / "scenarios" / "dissertation" / f"{name}.json").is_file()


def test_a_changed_design_is_not_the_studys() -> None:
    shipped = REPOSITORY / "scenarios" / "dissertation" / "fig5_2a_base.json"

    def points(*changes: tuple[str, str]) -> list[StudyPoint]:
        return study_points(resolve_scenario(shipped, changes).document)

    assert points()
    assert points(("workload.iterations", "3"), ("run.replications", "2"), ("sweep", '{"workload.pairs": [20]}'))
    assert points(("sweep", '[{"workload.pairs": 20}]'))
    assert not points(("library.instances.lock", "mcs"))
    assert not points(("workload.pairs", "4"))
    assert not points(("machine.futex.wake_latency", "7 us"))


def stars(figure: "Figure") -> "Iterator[tuple[Axes, list[float], list[float]]]":
    for axes in figure.axes:
        for line in axes.get_lines():
            if line.get_marker() == "*":
                yield axes, [float(x) for x in line.get_xdata()], [float(y) for y in line.get_ydata()]  # type: ignore[union-attr]


def test_pictures_show_them(core: "FakeCore", scenario: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    del core
    results = contend.run(scenario)
    known = [
        StudyPoint({"pairs": 4, "lock": "mcs"}, "one point", 9e6, calibrated=True),
        StudyPoint({"pairs": [2, 4], "lock": "mutex"}, "a plateau", 5e4, {"out_of_sequence": 0.5}),
        StudyPoint({"pairs": 999}, "not in this sweep", 1.0),
    ]
    monkeypatch.setattr("contend.plots.summary.study_points", lambda scenario: known)
    figure = draw(results)
    drawn = {(tuple(x), y[0]): axes for axes, x, y in stars(figure)}
    assert set(drawn) == {((4.0,), 9e6), ((2.0, 4.0), 5e4), ((2.0, 4.0), 0.5)}
    rate = drawn[(4.0,), 9e6]
    assert rate.get_ylim()[1] > 9e6, "the picture must reach up to the measured value"
    assert "some of it targets of calibration" in rate.get_title(loc="left")
    assert drawn[(2.0, 4.0), 0.5] is not rate
    assert axis_value(results.points[0], "pairs") in rate.get_xticks()


def test_no_study_no_stars(core: "FakeCore", scenario: Path) -> None:
    del core
    figure = draw(contend.run(scenario))
    assert not list(stars(figure))
    assert study_points({"name": "small"}) == []
    assert figure.axes[0].get_title(loc="left") == ""
