"""Rows, colours and the stretch of the pictures that `contend trace-plot` draws."""

from dataclasses import replace
from pathlib import Path

import pytest
from matplotlib.colors import to_hex

from contend.cli import main
from contend.plots import CATEGORY_COLOURS
from contend.traces.picture import _CALL_COLOURS, _EXTRA_COLOURS, _OTHER_CALLS, LENGTH_US, draw, load, stretch
from contend.traces.timelines import busiest_begin

Capture = pytest.CaptureFixture[str]


@pytest.mark.core
class TestRowsAndColours:
    @pytest.fixture
    def puts(self, tmp_path: Path) -> Path:
        file = tmp_path / "trace.json"
        words = ["--set", "workload.threads=6", "--set", "workload.operations=20"]
        assert main(["run", "fig5_7_rma_put_haswell", "--trace", str(file), "--quiet", *words]) == 0
        return file

    def test_only_draws_the_rows_that_are_named(self, puts: Path, tmp_path: Path, capsys: Capture) -> None:
        shown = stretch(load(puts), busiest_begin(load(puts), LENGTH_US), None)
        labels = [tick.get_text() for tick in draw(shown, ("origin", "lock rank 0")).axes[0].get_yticklabels()]
        assert labels == [*(f"origin {number}" for number in range(6)), "lock rank 0/instance 0"]
        assert len(draw(shown, ("origin",)).axes) == 1  # no queue has this in its name
        for name, words in (("all", []), ("some", ["--only", "origin 1", "--only", "completions"])):
            assert main(["trace-plot", str(puts), "--out", str(tmp_path / f"{name}.png"), *words]) == 0
        assert (tmp_path / "all.png").read_bytes() != (tmp_path / "some.png").read_bytes()
        capsys.readouterr()
        assert main(["trace-plot", str(puts), "--only", "orign 1"]) == 2
        complaint = capsys.readouterr().err
        assert "no row has 'orign 1' in its name; did you mean 'origin 1'? There are: origin N, target" in complaint
        assert main(["trace-plot", str(puts), "--only", "nope"]) == 2
        assert "no row has 'nope' in its name; there are: origin N, target" in capsys.readouterr().err

    def test_a_colour_means_one_thing_and_every_call_is_in_the_legend(self, puts: Path) -> None:
        shown = stretch(load(puts), busiest_begin(load(puts), LENGTH_US), None)
        figure = draw(shown)
        legend = figure.legends[0]
        meanings = dict(zip([text.get_text() for text in legend.get_texts()], legend.get_patches(), strict=True))
        assert {"MPI_Put", "message"} <= set(meanings)
        colours = [to_hex(patch.get_facecolor()) for patch in meanings.values()]
        colours += [
            to_hex(tick.get_color()) for tick in figure.axes[0].get_yticklabels() if "origin" in tick.get_text()
        ]
        assert len(set(colours)) == len(colours)
        # A message on an interface had the colour of the application's computing.
        known = [*CATEGORY_COLOURS.values(), *_EXTRA_COLOURS.values(), *_CALL_COLOURS.values(), *_OTHER_CALLS]
        assert len(set(known)) == len(known)

    def test_threads_that_hold_a_lock_and_have_no_row_are_in_the_legend(self, puts: Path) -> None:
        shown = stretch(load(puts), busiest_begin(load(puts), LENGTH_US), None)
        [legend] = draw(shown, ("lock rank 0",)).legends
        names = {text.get_text() for text in legend.get_texts()}
        assert len(names) > 1
        assert names <= {f"origin {number}" for number in range(6)}
        assert legend.get_title().get_text() == "rows of locks: who holds it"
        [legend] = draw(shown, ("origin", "lock rank 0")).legends
        assert not names & {text.get_text() for text in legend.get_texts()}  # their rows have their names

    def test_a_picture_of_many_rows_is_not_as_much_higher(self, puts: Path) -> None:
        shown = stretch(load(puts), busiest_begin(load(puts), LENGTH_US), None)
        few = draw(shown).get_figheight()
        row = next(track for track in shown.tracks if track.slices)
        many = draw(replace(shown, tracks=[*shown.tracks, *[row] * 100])).get_figheight()
        assert 5 < few < many < 25  # 33 inches of rows of the old height


def test_the_busiest_stretch_is_where_most_is_waited_inside_it() -> None:
    def trace(timed: float, *waits: tuple[float, float]) -> dict[str, object]:
        events = [{"ph": "X", "name": "lock_wait", "ts": begin, "dur": end - begin} for begin, end in waits]
        work = {"ph": "X", "name": "software", "ts": 0.0, "dur": 100.0}
        return {"traceEvents": [work, *events, {"ph": "i", "name": "timed part begins", "ts": timed}]}

    # Two threads wait from 42 to 50, one of them since 20.
    assert busiest_begin(trace(10.0, (20.0, 50.0), (42.0, 50.0)), 10.0) == pytest.approx(40.0)
    # What was waited before the timed part does not count, and a stretch does not go on after the trace.
    assert busiest_begin(trace(30.0, (0.0, 25.0), (60.0, 61.0)), 10.0) == pytest.approx(51.0)
    assert busiest_begin(trace(10.0, (95.0, 100.0), (96.0, 100.0)), 20.0) == pytest.approx(80.0)
    # A trace that ends soon after the timed part has begun is looked at as a whole.
    assert busiest_begin(trace(99.0, (40.0, 50.0)), 10.0) == pytest.approx(40.0)
    assert busiest_begin(trace(30.0), 10.0) == 30.0
