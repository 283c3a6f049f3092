"""What each kind of workload counts, and who its threads are."""

import json
from pathlib import Path

import pytest

import contend
from contend.cli import main
from contend.common.spelling import plural
from contend.engine.core import core
from contend.plots.summary import draw as summary
from contend.results.workload_words import WORDS, common_words, words_of

Capture = pytest.CaptureFixture[str]
_LOCK = {
    "schema_version": 1,
    "name": "lock",
    "machine": {"profile": "e5-2680v4"},
    "workload": {"kind": "lock", "threads": 2, "acquisitions": 20, "delay": "100 ns", "lines": 1},
    "run": {"replications": 1},
}


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
        ({"kind": "somebody's own"}, "operation rate", "operations/s"),
        ({"kind": "somebody's own", "operation": "ask"}, "ask rate", "operations/s"),
    ],
)
def test_the_rate_is_of_what_is_counted(workload: dict[str, str], rate: str, unit: str) -> None:
    words = words_of(workload)
    assert (words.rate, words.unit) == (rate, unit)


def test_roles_in_words() -> None:
    assert words_of({"kind": "rma-mt", "operation": "put"}).role("receiver") == "target"
    assert words_of({}).role("sender") == "sender"
    assert [plural(word) for word in ("sender", "OS process")] == ["senders", "OS processes"]


@pytest.mark.parametrize(
    ("workloads", "rate", "unit", "receiver"),
    [
        ([("lock", "swap")], "swap rate", "operations/s", "lock thread"),
        ([("lock", "lock"), ("lock", "try-lock")], "acquisition rate", "acquisitions/s", "lock thread"),
        ([("lock", "lock"), ("lock", "swap")], "operation rate", "operations/s", "lock thread"),
        ([("rma-mt", "put"), ("rma-mt", "get")], "operation rate", "operations/s", "target"),
        ([("collective", "barrier"), ("collective", "reduce")], "operation rate", "operations/s", "receiver"),
        ([("multirate", None), ("neighbour", None)], "message rate", "messages/s", "receiver"),
        ([("pack", None), ("waiting", None)], "operation rate", "operations/s", "receiver"),
    ],
)
def test_workloads_that_count_different_things_have_neutral_words(
    workloads: list[tuple[str, str | None]], rate: str, unit: str, receiver: str
) -> None:
    words = common_words({"kind": kind, "operation": operation} for kind, operation in workloads)
    assert (words.rate, words.unit, words.role("receiver")) == (rate, unit, receiver)


def _lock_sweep(*operations: str) -> contend.Results:
    axes = {"workload.operation": list(operations), "workload.threads": [1, 2, 3]}
    return contend.run(contend.load(_LOCK).over(axes))


@pytest.mark.core
def test_a_rate_is_of_what_the_points_count_whatever_the_scenario_does() -> None:
    of_one, of_two = _lock_sweep("swap"), _lock_sweep("swap", "lock")
    assert of_one.scenario["workload"]["operation"] == "lock"
    for results, label in ((of_one, "swap rate (operations/s)"), (of_two, "operation rate (operations/s)")):
        assert summary(results).axes[0].get_ylabel() == label
        assert contend.plots.rate(results).axes[0].get_ylabel() == label
        assert label in contend.plots.interactive.rate(results).to_json()
    locks = of_two.select(operation="lock")
    assert contend.plots.rate(locks).axes[0].get_ylabel() == "acquisition rate (acquisitions/s)"
    by_name = {"swap": of_one, "lock": locks}
    assert contend.plots.rate(by_name).axes[0].get_ylabel() == "operation rate (operations/s)"


@pytest.mark.core
def test_every_command_says_operations_where_points_differ_in_them(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("lock.json").write_text(json.dumps(_LOCK))
    Path("swept.json").write_text(json.dumps(_LOCK | {"sweep": {"workload.operation": ["lock", "swap"]}}))

    def said(*words: str) -> str:
        assert main([*words]) == 0
        text = capsys.readouterr().out
        assert "acquisition" not in text
        return text

    assert "operations/s" in said("run", "swept.json")
    assert "operations/s" in said("sweep", "lock.json", "--grid", "workload.operation=swap,lock", "--store", "store")
    (tmp_path / "folder").mkdir()
    Path("folder/swept.json").write_text(Path("swept.json").read_text())
    assert "operations/s" in said("run", "folder")
    changed = "--set-b", "workload.delay=1 us"
    assert "B against A, operation rate" in said("compare", "swept.json", "swept.json", *changed)
    said("report", "swept.json", "-o", "page.html", "--no-speedups")
    page = Path("page.html").read_text(encoding="utf-8")
    assert "operation rate (operations/s)" in page
    assert "acquisition rate" not in page


@pytest.mark.core
def test_locks_are_acquired_by_threads(capsys: Capture, tmp_path: Path) -> None:
    from contend.explanations.output import draw

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
