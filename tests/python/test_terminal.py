"""What is printed is what was meant, whatever the terminal and the names."""

import io
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest
from rich.console import Console

import contend
from contend.cli import main
from contend.common.fitting_table import FittingTable
from contend.common.statistics import Estimate
from contend.common.terminal import stdout_console
from contend.explanations.output import render as render_explanation
from contend.results.measures import ESTIMATED, SCALARS
from contend.results.results import PointResult
from contend.results.tables import render, render_points, titled_table

if TYPE_CHECKING:
    from fakes import FakeCore

Capture = pytest.CaptureFixture[str]


def test_names_in_brackets_and_colons_are_printed_as_they_are(capsys: Capture) -> None:
    table = titled_table("my [draft]")
    table.add_column("lock [of instances]")
    table.add_row("base [mcs]")
    table.add_row("a:warning:b")
    stdout_console().print(table)
    text = capsys.readouterr().out
    for name in ("my [draft]", "lock [of instances]", "base [mcs]", "a:warning:b"):
        assert name in text


@pytest.mark.parametrize("columns", ["", "wide", "0", "-5", "80.5"])
def test_a_width_that_is_none_does_not_count(columns: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert stdout_console().width == 200
    monkeypatch.setenv("COLUMNS", "72")
    assert stdout_console().width == 72


def _lines(table: FittingTable, width: int) -> list[str]:
    text = io.StringIO()
    Console(file=text, width=width).print(table)
    lines = text.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    return [" ".join(line.split()) for line in lines]


def test_a_table_without_room_leaves_out_columns_and_cuts_no_number() -> None:
    table = FittingTable("rates", "mean")
    table.add_column("preset", is_name=True)
    table.add_column("messages/s", justify="right")
    table.add_column("out of seq.", justify="right", left_out=1)
    table.add_column("events", justify="right", left_out=0)
    table.add_row("base [mcs]", "384.4 k", "93.5%", "1,609,849")
    assert "base [mcs] 384.4 k 93.5% 1,609,849" in _lines(table, 60)
    assert "mean" in _lines(table, 60)
    broken = _lines(table, 49)
    assert "base [mcs] 384.4 k 93.5% 1,609,849" in broken
    assert "preset messages/s out of seq. events" not in broken
    assert "base [mcs] 384.4 k 93.5%" in _lines(table, 40)
    assert "mean; no room for: events" in _lines(table, 40)
    narrow = _lines(table, 28)
    assert "base [mcs] 384.4 k" in narrow
    assert "no room for: out of seq., events" in " ".join(narrow)
    assert {"base 384.4 k", "[mcs]"} <= set(_lines(table, 22))


@pytest.mark.parametrize("width", [60, 80, 100])
def test_results_fit_a_terminal(width: int, core: "FakeCore", scenario: Path) -> None:
    core.pairs = list(range(1, 21))
    text = io.StringIO()
    Console(file=text, width=width).print(render(contend.run(scenario)))
    assert "…" not in text.getvalue()
    assert "no room for: " in text.getvalue()
    assert max(map(len, text.getvalue().splitlines())) <= width


@pytest.mark.parametrize("width", [60, 200])
def test_an_empty_line_is_above_each_title(width: int, core: "FakeCore", scenario: Path) -> None:
    core.pairs = list(range(1, 21))
    text = io.StringIO()
    console = Console(file=text, width=width)
    console.print(render(contend.run(scenario)))
    console.print("end")
    lines = [line.rstrip() for line in text.getvalue().splitlines()]
    for title in ("where the time went", "counters, under Open MPI's names", "end"):
        above = lines.index(title) - 1
        assert lines[above] == ""
        assert lines[above - 1] != ""


def test_an_empty_line_is_above_each_title_of_a_comparison(
    core: "FakeCore", scenario: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    core.pairs = [1, 2]
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["compare", str(scenario), str(scenario)]) == 0
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    for title in ("B against A, message rate", "other measures at pairs=2, lock=mcs", "counters at pairs=2, lock=mcs"):
        above = lines.index(title) - 1
        assert lines[above] == ""
        assert lines[above - 1] != ""


@pytest.mark.core
def test_an_explanation_fits_a_terminal() -> None:
    scenario = contend.load("fig5_2a_base").with_({"workload.iterations": 1}).at(pairs=2)
    text = io.StringIO()
    Console(file=text, width=60).print(render_explanation(scenario.explain(speedups=False, replications=1)))
    lines = [" ".join(line.split()) for line in text.getvalue().splitlines()]
    assert "lock contended waiting for whom" in lines
    assert "up, cache lines; no room for: taken, refused, per request, held" in " ".join(lines)


@pytest.mark.core
def test_results_with_many_measures_fit_a_terminal() -> None:
    partitioned = contend.load("partitioned/uneven").with_({"run.replications": 2, "workload.iterations": 1})
    table = render_points(contend.run(partitioned.at(engine="persistent", receive_partitions=16)))
    lines = _lines(cast("FittingTable", table), 100)
    assert sum("persistent" in line for line in lines) == 1
    assert "no room for: communication time, extra compute time" in " ".join(lines)


def _result(**measures: float) -> PointResult:
    estimates = {name: Estimate(value, None, None, (value,)) for name, value in measures.items() if name in ESTIMATED}
    return PointResult(
        parameters={"pairs": 1}, replications=1, estimates=estimates,
        scalars={name: value for name, value in measures.items() if name in SCALARS}, counters={},
        time_by_category_ns={}, simulated_s=1.0, wall_s=0.1, events=10,
    )  # fmt: skip


def test_payload_has_a_bandwidth_and_times_have_units_that_fit() -> None:
    def text(*points: PointResult) -> str:
        results = contend.Results(scenario={"workload": {"kind": "rma-mt"}}, seed=1, engine="contend", points=points)
        return " ".join(_lines(cast("FittingTable", render_points(results)), 200))

    shown = text(
        _result(
            message_rate=160_000.0, bandwidth=10_000.0, time_per_operation_s=7.941e-8, communication_time_s=1.774e-4
        )
    )
    assert "operations/s 95 % CI MiB/s time per operation communication time" in " ".join(shown.split())
    assert "160 k - 10 k 79.41 ns 177.4 us" in " ".join(shown.split())
    assert "MiB/s" not in text(_result(message_rate=160_000.0, bandwidth=0.0))
    assert text(_result(message_rate=160_000.0, bandwidth=5.0, perceived_bandwidth=9.0)).count("MiB/s") == 1
