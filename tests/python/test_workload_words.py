"""What each kind of workload counts, and who its threads are."""

import json
from pathlib import Path

import pytest

import contend
from contend.cli import main
from contend.core import core
from contend.spelling import plural
from contend.workload_words import WORDS, words_of

Capture = pytest.CaptureFixture[str]


@pytest.mark.core
def test_every_kind_has_words() -> None:
    assert set(WORDS) == set(json.loads(core().known_names())["workloads"])


@pytest.mark.parametrize(
    ("workload", "rate", "unit"),
    [
        ({"kind": "multirate"}, "message rate", "messages/s"),
        ({"kind": "lock", "operation": "try-lock"}, "acquisition rate", "acquisitions/s"),
        ({"kind": "lock", "operation": "execute"}, "section rate", "sections/s"),
        ({"kind": "lock", "operation": "fetch-and-add"}, "fetch-and-add rate", "operations/s"),
        ({"kind": "rma-mt", "operation": "get"}, "get rate", "operations/s"),
        ({"kind": "collective", "operation": "barrier"}, "barrier rate", "barriers/s"),
        ({"kind": "collective", "operation": "reduce"}, "reduction rate", "reductions/s"),
        ({"kind": "collective", "operation": "all-reduce"}, "all-reduce rate", "operations/s"),
        ({"kind": "pack"}, "pack rate", "packs/s"),
        ({"kind": "waiting"}, "call rate", "calls/s"),
        ({"kind": "nas"}, "iteration rate", "iterations/s"),
        ({}, "message rate", "messages/s"),
    ],
)
def test_the_rate_is_of_what_is_counted(workload: dict[str, str], rate: str, unit: str) -> None:
    words = words_of(workload)
    assert (words.rate, words.unit) == (rate, unit)


def test_roles_in_words() -> None:
    assert words_of({"kind": "rma-mt", "operation": "put"}).role("receiver") == "target"
    assert words_of({}).role("sender") == "sender"
    assert [plural(word) for word in ("sender", "OS process")] == ["senders", "OS processes"]


@pytest.mark.core
def test_locks_are_acquired_by_threads(capsys: Capture, tmp_path: Path) -> None:
    from contend.explain_output import draw

    words = ["L01_locks", "--set", "workload.threads=2", "--set", "workload.acquisitions=50", "--replications", "1"]
    assert main(["explain", *words, "--no-speedups"]) == 0
    text = capsys.readouterr().out
    assert " acquisitions/s" in text
    assert "threads (2)" in text
    assert "sender" not in text
    assert main(["run", *words, "-o", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert "acquisitions/s" in text
    assert "out of seq." not in text
    assert "OMPI_SPC" not in text
    assert "sender" not in text
    changed = contend.load("L01_locks").with_({"workload.threads": 2, "workload.acquisitions": 50})
    picture = draw(contend.explain(changed, replications=1, speedups=False))
    assert [tick.get_text() for tick in picture.axes[0].get_yticklabels()] == ["thread"]
    assert "thread: where the time went" in [
        axes.get_title() for axes in contend.plots.time_budget(contend.run(changed, replications=1)).axes
    ]


@pytest.mark.core
def test_packs_have_no_columns_of_matching(capsys: Capture, tmp_path: Path) -> None:
    assert main(["run", "fig4_parallel_pack", "--iterations", "1", "--replications", "1", "-o", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert "packs/s" in text
    assert "packing side" in text
    assert "out of seq." not in text


@pytest.mark.core
def test_reports_and_interactive_plots_say_who_it_was(tmp_path: Path) -> None:
    changes = {"workload.threads": 2, "workload.message_size": "1 B", "workload.operations": 20}
    results = contend.run(contend.load("fig5_7_rma_put_haswell").with_(changes), replications=1)
    chart = contend.plots.interactive.time_budget(results).to_json()
    assert '"role": "target"' in chart
    assert "receiver" not in chart
    sets = [word for path, value in changes.items() for word in ("--set", f"{path}={value}")]
    folder, file = tmp_path / "results", tmp_path / "page.html"
    assert main(["run", "fig5_7_rma_put_haswell", *sets, "--replications", "1", "-o", str(folder), "--quiet"]) == 0
    assert main(["report", str(folder), "-o", str(file), "--no-simulate"]) == 0
    page = file.read_text(encoding="utf-8")
    assert "<h3>Origins</h3>" in page
    assert "<h3>Receiver" not in page


@pytest.mark.core
def test_tables_leave_out_what_coroutines_do_not_count(capsys: Capture, tmp_path: Path) -> None:
    """Receives were shown as 0 of so many messages, and matching as free."""
    from contend.report.page import _points_table, _spc_table

    words = ["fine-grain/ring", "--set", "workload.iterations=2", "--replications", "1", "-o", str(tmp_path)]
    assert main(["run", *words]) == 0
    text = capsys.readouterr().out
    assert "OMPI_SPC_ISEND" in text
    assert "unexpected" in text
    for absent in ("OMPI_SPC_IRECV", "OMPI_SPC_MATCH_TIME", "OMPI_SPC_OUT_OF_SEQUENCE", "out of seq.", "match/msg"):
        assert absent not in text
    results = contend.load_results(tmp_path)
    table = _spc_table(results)
    assert table is not None
    assert [row[0].text for row in table.rows] == ["OMPI_SPC_ISEND", "OMPI_SPC_UNEXPECTED"]
    assert "unexpected" in _points_table(results).titles
    assert "match time" not in _points_table(results).titles
    assert results.points[0].counters["receives_posted"] == 0  # the files have what they had
