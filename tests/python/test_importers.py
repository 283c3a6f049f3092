"""Output of foreign programs becomes datasets."""

import json
from pathlib import Path

import pytest

from contend.cli import main
from contend.common.errors import InputError
from contend.datasets.reading import read_dataset
from contend.importers.formats import FORMATS
from contend.importers.text import Line, Word
from fakes import REPOSITORY
from foreign_output import (
    GOOD,
    IMB_MT,
    LATENCY_MT,
    MBW_MR,
    MULTIRATE,
    RMA_MT,
    RMA_MT_CSV,
    UCX,
    UCX_OF_THREADS,
    importing,
)


def test_a_bandwidth_of_multirate_is_in_bits(tmp_path: Path) -> None:
    line = "1\t4\t1\t4\t1000\t128\t{} Gbps\t1.00 usec\t1000000.00 msg/s\n"
    found = FORMATS["multirate"](write_text(tmp_path, line.format("8.00")))
    assert [one.value for one in found.values] == [1e6]
    for bytes_or_more in ("1.00", "64.00"):
        with pytest.raises(InputError, match="they contradict each other"):
            FORMATS["multirate"](write_text(tmp_path, line.format(bytes_or_more)))


@pytest.mark.parametrize(("name", "text", "lacks"), [("osu-mbw-mr", MBW_MR, "# ["), ("rma-mt", RMA_MT, "# Sync")])
def test_a_second_run_has_nothing_of_the_header_of_the_first(name: str, text: str, lacks: str, tmp_path: Path) -> None:
    once, twice = (FORMATS[name](write_text(tmp_path, text * runs)).values for runs in (1, 2))
    assert len(twice) == 2 * len(once)
    lines = [line for line in text.splitlines(keepends=True) if not line.startswith(lacks)]
    assert len(lines) == len(text.splitlines()) - 1
    with pytest.raises(InputError, match="numbers before the "):
        FORMATS[name](write_text(tmp_path, text + "".join(lines)))


def write_text(folder: Path, text: str) -> Path:
    path = folder / "printed"
    path.write_text(text)
    return path


def test_another_number_may_be_off_by_its_rounding_and_a_factor_of_five() -> None:
    line, rate = Line(Path("printed"), 1, "1 0.00"), Word("1", 1)
    line.check_other(rate, Word("0.00", 3), "the bandwidth", 0.0249)  # 0.005 is printed so, too
    with pytest.raises(InputError, match="they contradict each other"):
        line.check_other(rate, Word("0.00", 3), "the bandwidth", 0.0251)


def test_there_is_an_example_of_every_format() -> None:
    assert set(GOOD) == set(FORMATS)


@pytest.mark.parametrize(
    ("kind", "text", "workload", "parameters", "metric", "value"),
    [
        ("multirate", MULTIRATE, {"kind": "multirate"},
         {"pattern": "pairwise", "pairs": 20, "message_size": 0, "window": 128, "mode": "thread"}, "message_rate",
         140199.0),
        ("multirate", MULTIRATE.replace("20\t1\t20", "20\t1\t3"), {"kind": "multirate"},
         {"pattern": "many-to-many", "senders": 20, "receivers": 3, "message_size": 0, "window": 128, "mode": "thread"},
         "message_rate", 140199.0),
        ("osu-mbw-mr", MBW_MR, {"mode": "process", "pairs": 4, "window": 64}, {"message_size": 1}, "message_rate",
         12345678.9),
        ("osu-latency-mt", LATENCY_MT, {"senders": 1, "receivers": 4}, {"message_size": 0}, "latency", 3.89e-6),
        ("rma-mt", RMA_MT, {"operation": "put", "synchronisation": "flush", "threads": 16, "operations": 1000,
                            "window_per_thread": False}, {"message_size": 1}, "message_rate", 1364736.838),
        ("rma-mt", RMA_MT_CSV, {"kind": "rma-mt"}, {"message_size": 1, "operation": "put", "synchronisation": "flush",
         "threads": 16, "operations": 1000, "window_per_thread": False}, "message_rate", 1364736.838),
        ("imb-mt", IMB_MT.replace("           32 ", "           32 "), {"communicator_per_pair": True, "pairs": 4},
         {"message_size": 0}, "message_rate", 2500000),
        ("ucx-perftest", UCX, {"kind": "ucx-perftest"}, {"message_size": 8, "test": "tag match bandwidth"},
         "message_rate", 7936500),
        ("ucx-perftest", UCX_OF_THREADS, {"kind": "ucx-perftest"}, {"message_size": 8, "test": "tag match bandwidth"},
         "message_rate", 3174603),
    ],
)  # fmt: skip
def test_values_and_parameters_are_the_programs(  # noqa: PLR0917 - all of one stage
    kind: str, text: str, workload: dict[str, object], parameters: dict[str, object], metric: str, value: float,
    tmp_path: Path,
) -> None:  # fmt: skip
    found = read_dataset(importing(kind, text, tmp_path))
    point = found.points[0]
    assert workload.items() <= found.workload.items()
    assert point.parameters == parameters
    assert (point.metric, point.median) == (metric, pytest.approx(value))


def test_bytes_of_imb_are_those_of_all_threads(tmp_path: Path) -> None:
    assert read_dataset(importing("imb-mt", IMB_MT, tmp_path)).points[1].parameters == {"message_size": 8}


def test_other_benchmarks_of_imb_are_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = IMB_MT.replace("UniBandMT", "AllreduceMT").replace("Msg/sec", "t_avg[usec]")
    exchange = IMB_MT.replace("UniBandMT", "BiBandMT")
    found = read_dataset(importing("imb-mt", exchange + IMB_MT + other + exchange, tmp_path))
    assert [point.median for point in found.points] == [2500000, 2400000]
    assert [point.spread.count for point in found.points if point.spread is not None] == [1, 1]
    left_out = "left out BiBandMT, AllreduceMT: only UniBandMT is imported, others send both ways or are collective"
    assert capsys.readouterr().err == f"contend: {left_out}\n"


@pytest.mark.parametrize(("kind", "text"), [("osu-mbw-mr", MBW_MR), ("osu-latency-mt", LATENCY_MT)])
def test_what_osu_has_validated_is_imported(
    kind: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = read_dataset(importing(kind, text, tmp_path)).points
    lines = [
        f"{line}          Validation"
        if "Size" in line
        else line
        if line.startswith("#")
        else f"{line}                Pass"
        for line in text.splitlines()
    ]
    validated = "\n".join([*lines, ""])
    assert read_dataset(importing(kind, validated, tmp_path)).points == plain
    source = tmp_path / "wrong.txt"
    source.write_text(validated[::-1].replace("ssaP", "liaF", 1)[::-1])
    capsys.readouterr()
    assert main(["import", kind, str(source), "-o", str(tmp_path / "wrong.json")]) == 2
    place = f"{source}:{len(lines)}:{lines[-1].index('Pass') + 1}"
    message = f"contend: error: {place}: found 'Fail': the program received wrong data; allowed: 'Pass'\n"
    assert capsys.readouterr().err == message


def test_runs_in_one_file_are_samples(tmp_path: Path) -> None:
    text = MULTIRATE + MULTIRATE.replace("140199", "150000") + MULTIRATE.replace("140199", "145000")
    (point,) = read_dataset(importing("multirate", text, tmp_path)).points
    assert point.samples == (140199.0, 150000.0, 145000.0)
    assert point.spread is not None
    assert point.spread.launches == 3


UCX_SAYS_THREADS = UCX.replace("| Message size:", "| Number of threads: 4 |\n| Message size:")
UCX_WITHOUT_TEST = UCX.replace("| Test:         tag match bandwidth", "| Data layout:  (automatic)          ")


@pytest.mark.parametrize(
    ("first", "second", "points"),
    [
        (UCX_SAYS_THREADS, UCX, [("tag match bandwidth", 8, 4), ("tag match bandwidth", 8, None)]),
        (UCX_SAYS_THREADS.partition("Final:")[0], UCX, [("tag match bandwidth", 8, None)]),
        (UCX_SAYS_THREADS, UCX_WITHOUT_TEST, [("tag match bandwidth", 8, 4), (None, 8, None)]),
    ],
)
def test_a_run_of_ucx_has_nothing_of_the_one_before(
    first: str, second: str, points: list[tuple[object, ...]], tmp_path: Path
) -> None:
    found = read_dataset(importing("ucx-perftest", first + second, tmp_path))
    told = [found.workload | point.parameters for point in found.points if point.unit == "msg/s"]
    assert [tuple(one.get(name) for name in ("test", "message_size", "threads")) for one in told] == points


OSU_THREADS, OSU_TABLE = LATENCY_MT[: LATENCY_MT.index("# OSU")], LATENCY_MT[LATENCY_MT.index("# OSU") :]


@pytest.mark.parametrize(
    ("text", "runs"),
    [
        (LATENCY_MT + OSU_TABLE, [(4, False), (2, True)]),
        (OSU_TABLE + LATENCY_MT, [(2, True), (4, False)]),
        (LATENCY_MT.partition("# Size")[0] + OSU_TABLE, [(2, True)]),  # the first was broken off
        (OSU_TABLE.partition("# Size")[0] + LATENCY_MT, [(4, False)]),
        (OSU_TABLE.replace("# Size", OSU_THREADS + "# Size"), [(4, False)]),
    ],
)
def test_threads_of_osu_are_those_of_their_run(text: str, runs: list[tuple[int, bool]], tmp_path: Path) -> None:
    source = tmp_path / "output.txt"
    source.write_text(text)
    values = [one for one in FORMATS["osu-latency-mt"](source).values if one.parameters["message_size"] == 0]
    assert [(one.parameters["receivers"], "receivers" in one.assumed) for one in values] == runs


def test_what_the_file_does_not_say_can_be_added(tmp_path: Path) -> None:
    options = ["--library", "openmpi-5", "--transport", "tcp", "--workload", "communicator_per_pair=true"]
    found = read_dataset(importing("multirate", MULTIRATE, tmp_path, *options))
    assert (found.library_key, found.transport, found.workload["communicator_per_pair"]) == ("openmpi-5", "tcp", True)


ONE_TO_MANY = MULTIRATE.replace("1\t20\t1\t20", "1\t1\t1\t20")
ONE_PAIR = MULTIRATE.replace("1\t20\t1\t20", "1\t1\t1\t1")
OLD_LATENCY_MT = LATENCY_MT.partition("threads: 4\n")[2]


@pytest.mark.parametrize(
    ("kind", "text", "word", "message"),
    [
        ("multirate", MULTIRATE, "pairs=3", "pairs=3: contradicts the output of Multirate, which says pairs=20"),
        ("multirate", MULTIRATE, "pairs=twenty", "which says pairs=20"),
        ("multirate", ONE_PAIR, "pairs=true", "which says pairs=1"),
        ("multirate", MULTIRATE, "senders=3", "which says senders=20"),
        ("multirate", ONE_TO_MANY, "pairs=20", "which says pairs=none"),
        ("multirate", MULTIRATE, "mode=process", "which says mode=thread"),
        ("multirate", MULTIRATE, "kind=rma-mt", "which says kind=multirate"),
        ("multirate", ONE_PAIR + MULTIRATE, "pairs=20", "which says pairs=1, 20"),
        ("osu-mbw-mr", MBW_MR, "message_size=8", "OSU micro-benchmarks: osu_mbw_mr, which says message_size=1, 8"),
        ("osu-latency-mt", LATENCY_MT, "receivers=2", "which says receivers=4"),
        ("rma-mt", RMA_MT, "synchronisation=fence", "which says synchronisation=flush"),
        ("imb-mt", IMB_MT, "communicator_per_pair=false", "which says communicator_per_pair=true"),
        ("ucx-perftest", UCX, "message_size=16", "which says message_size=8"),
        ("multirate", MULTIRATE, "foo=bar", "no key 'foo' in a workload of kind 'multirate'; allowed, as the output "),
        ("multirate", MULTIRATE, "allow_overtakin=true", "; did you mean 'allow_overtaking'?"),
        ("rma-mt", RMA_MT, "comunicator_per_pair=true", "no key 'comunicator_per_pair' in a workload of kind 'rma-mt'"),
        ("osu-latency-mt", LATENCY_MT, "foo=1", "as the output does not say them: any_source, any_tag, iterat"),
        ("ucx-perftest", UCX, "thread=2", "does not say them: threads, window; did you mean 'threads'?"),
        ("ucx-perftest", UCX, "threads=banana", "--workload threads=banana: found 'banana'; allowed: a whole number f"),
        ("ucx-perftest", UCX, "threads=0", "found '0'; allowed: a whole number from 1\n"),
        ("ucx-perftest", UCX, "threads=[1]", "found '[1]'; allowed: a whole number from 1\n"),
        ("ucx-perftest", UCX, "window=true", "found 'true'; allowed: a whole number from 1\n"),
        ("ucx-perftest", UCX, f"threads={2**63}", "/workload/threads: found 9223372036854775808; allowed: a whole num"),
        ("ucx-perftest", UCX_WITHOUT_TEST, "test=3", "found '3'; allowed: a text\n"),
        ("multirate", MULTIRATE, "any_tag=ture", "--workload any_tag=ture: found 'ture'; allowed: true, false"),
        ("multirate", MULTIRATE, "any_tag=1", "found '1'; allowed: true, false"),
        ("multirate", MULTIRATE, "iterations=0", "found '0'; allowed: a whole number from 1 to "),
        ("multirate", MULTIRATE, "iterations=true", "found 'true'; allowed: a whole number from 1 to "),
        ("multirate", MULTIRATE, "iterations=" + "9" * 5000, "...'; allowed: a whole number from 1 to "),
        ("multirate", MULTIRATE, "handshake=words", "found 'words'; allowed: pair, world; did you mean 'world'?"),
        ("multirate", MULTIRATE, "tags=[", "found '['; allowed: window, pair"),
        ("multirate", MULTIRATE, "=1", "--workload '=1': expected KEY=VALUE"),
    ],
)  # fmt: skip
def test_what_contradicts_the_output_or_is_none_of_the_workload_is_refused(  # noqa: PLR0917 - all of one stage
    kind: str, text: str, word: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, out = tmp_path / "output.txt", tmp_path / "made.json"
    source.write_text(text)
    assert main(["import", kind, str(source), "-o", str(out), "--workload", word]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert len(error) < 600
    assert not out.exists()


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("multirate", ["pairs=20", "kind=multirate", "mode=thread", "senders=20", "window=128.0", "message_size=0"]),
        ("osu-mbw-mr", ["pairs=4"]), ("osu-latency-mt", ["receivers=4"]), ("rma-mt", ["operation=put"]),
        ("imb-mt", ["communicator_per_pair=true"]), ("ucx-perftest", ["test=tag match bandwidth"]),
    ],
)  # fmt: skip
def test_what_agrees_with_the_output_changes_nothing(kind: str, words: list[str], tmp_path: Path) -> None:
    plain = importing(kind, GOOD[kind], tmp_path).read_bytes()
    options = [option for word in words for option in ("--workload", word)]
    assert importing(kind, GOOD[kind], tmp_path, *options).read_bytes() == plain


@pytest.mark.parametrize(
    ("kind", "text", "key", "assumed", "better"),
    [
        ("osu-latency-mt", OLD_LATENCY_MT, "receivers", 2, 4),
        ("multirate", ONE_PAIR, "mode", "process", "thread"),
        ("multirate", MULTIRATE, "pattern", "pairwise", "many-to-many"),
        ("imb-mt", IMB_MT.replace("threads: 4", "threads: 1"), "mode", "thread", "process"),
    ],
)
def test_what_had_to_be_assumed_can_be_said(  # noqa: PLR0917 - all of one stage
    kind: str, text: str, key: str, assumed: object, better: object, tmp_path: Path
) -> None:
    for options, expected in (([], assumed), (["--workload", f"{key}={better}"], better)):
        found = read_dataset(importing(kind, text, tmp_path, *options))
        assert {(found.workload | point.parameters)[key] for point in found.points} == {expected}


def test_runs_are_of_one_point_where_what_was_assumed_is_said(tmp_path: Path) -> None:
    found = read_dataset(importing("osu-latency-mt", LATENCY_MT + OSU_TABLE, tmp_path, "--workload", "receivers=4"))
    assert found.workload["receivers"] == 4
    assert [(point.parameters["message_size"], len(point.samples)) for point in found.points] == [(0, 2), (1024, 2)]


def test_all_to_all_has_sides_not_pairs(tmp_path: Path) -> None:
    (point,) = read_dataset(importing("multirate", MULTIRATE, tmp_path, "--workload", "pattern=many-to-many")).points
    assert point.parameters["senders"] == point.parameters["receivers"] == 20
    assert "pairs" not in point.parameters


SIMULATED = {"multirate", "osu-mbw-mr", "osu-latency-mt", "rma-mt", "imb-mt"}


@pytest.mark.parametrize("kind", GOOD)
def test_what_was_imported_is_simulated_or_said_not_to_be(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = importing(kind, GOOD[kind], tmp_path, "--library", "openmpi-5", "--transport", "fabric")
    assert ("it can be shown, not simulated" in capsys.readouterr().out) is (kind not in SIMULATED)
    words = ["validate", "alembert", str(made), "--work", str(tmp_path / "work"), "--json", str(tmp_path / "r.json"),
             "--messages", "100", "--draws", "1", "-j", "1", "-q"]  # fmt: skip
    status = main(words)
    error = capsys.readouterr().err
    if kind in SIMULATED:
        assert not error
        result = json.loads((tmp_path / "r.json").read_text())
        assert (status, result["not_predicted"]) == (0, [])
        assert len(result["points"]) == len(read_dataset(made).points)
    else:
        assert status == 2
        assert "/workload/kind: found" in error
    assert is_simulated_by_the_docs(kind) is (kind in SIMULATED)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--library", "openmpi-5", "--transport", "ib"), "of openmpi-5 there are mappings over: fabric, shm, tcp,"),
        (("--library", "openmpi-5", "--transport", "ib"), "(InfiniBand and RoCE are 'fabric')"),
        (("--library", "openmpi-5"), "what stands for openmpi-5 over unknown; of openmpi-5 there are"),
        (("--library", "open-mpi-5", "--transport", "tcp"), "did you mean 'openmpi-5*'?"),
        ((), "libraries of mappings: intelmpi*, mpich-3*"),
    ],
)
def test_what_no_mapping_is_for_is_said_at_once(
    words: tuple[str, ...], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = importing("multirate", MULTIRATE, tmp_path, *words)
    said = capsys.readouterr().out
    assert "note: it can be shown, not simulated nor fitted to: no mapping says" in said
    assert message in said
    assert main(["run", str(made), "--profile", "alembert"]) == 2
    assert message in capsys.readouterr().err


def multirate_line(layout: str, rate: int) -> str:
    return f"{layout}\t0\t128\t0.00 Gbps\t{1e6 / rate:.2f} usec\t{rate} msg/s\n"


@pytest.mark.parametrize(
    ("layout", "parameters"),
    [
        ("1\t8\t1\t8", {"pairs": 8, "mode": "thread"}),
        ("8\t1\t8\t1", {"pairs": 8, "mode": "process"}),
        ("2\t4\t2\t4", {"pairs": 8, "mode": "thread", "process_pairs": 2}),
        ("4\t2\t4\t2", {"pairs": 8, "mode": "thread", "process_pairs": 4}),
        ("2\t4\t8\t1", {"pairs": 8, "mode": "thread-to-process", "sending_processes": 2, "receiving_processes": 8}),
        ("8\t1\t1\t8", {"pairs": 8, "mode": "process-to-thread"}),
        ("1\t1\t4\t2", {"senders": 1, "receivers": 8, "sending_processes": 1, "receiving_processes": 4}),
    ],
)
def test_several_processes_with_threads_are_a_point_of_their_own(
    layout: str, parameters: dict[str, object], tmp_path: Path
) -> None:
    (point,) = read_dataset(importing("multirate", multirate_line(layout, 4_000_000), tmp_path)).points
    assert parameters.items() <= point.parameters.items()
    assert any(name.endswith(("processes", "process_pairs")) for name in point.parameters) is (
        any("process" in name for name in parameters)
    )


ONE_PROCESS, TWO_PROCESSES = multirate_line("1\t8\t1\t8", 500_000), multirate_line("2\t4\t2\t4", 4_000_000)
SEVERAL_PAIRS = "several pairs of processes: scenarios have the threads of a side in one process"


@pytest.mark.parametrize(
    ("kind", "text", "count"),
    [
        ("multirate", TWO_PROCESSES, "it"),
        ("multirate", ONE_PROCESS + TWO_PROCESSES, "1 of 2 points"),
        ("imb-mt", IMB_MT.replace("#processes = 2", "#processes = 4"), "it"),
        ("rma-mt", RMA_MT.replace("pairs: 1", "pairs: 2"), "it"),
        ("rma-mt", RMA_MT.replace("pairs: 1", "pairs: 2") + RMA_MT, "2 of 4 points"),
    ],
    ids=["multirate", "multirate-both", "imb-mt", "rma-mt", "rma-mt-both"],
)
def test_several_pairs_of_processes_with_threads_are_not_simulated(
    kind: str, text: str, count: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = importing(kind, text, tmp_path, "--library", "openmpi-5", "--transport", "fabric")
    assert f"note: {count} can be shown, not simulated nor fitted to: {SEVERAL_PAIRS}\n" in capsys.readouterr().out
    assert main(["run", str(made), "--profile", "alembert"]) == 2
    said = capsys.readouterr().err
    assert f"can be shown, not simulated: {SEVERAL_PAIRS}\n" in said
    assert ("process_pairs=2" in said) is (count != "it")
    assert main(["dataset", "show", str(made)]) == 0
    assert (SEVERAL_PAIRS in capsys.readouterr().out) is (count == "it")
    work, result = str(tmp_path / "work"), tmp_path / "r.json"
    words = ["validate", "alembert", str(made), "--work", work, "--json", str(result), "--messages", "100",
             "--draws", "1", "-j", "1", "-q"]  # fmt: skip
    if count == "it":
        assert main(words) == 2
        said = capsys.readouterr().err
        assert "no point can be predicted: " in said
        assert SEVERAL_PAIRS in said
    else:
        assert main(words) == 0
        assert {one["reason"] for one in json.loads(result.read_text())["not_predicted"]} == {SEVERAL_PAIRS}
        assert main(["dataset", "scenario", str(made), "--profile", "alembert", "--point", "process_pairs=1",
                     "-o", str(tmp_path / "s.json")]) == 0  # fmt: skip


def is_simulated_by_the_docs(kind: str) -> bool:
    table = (REPOSITORY / "docs" / "calibration.md").read_text().partition("## Importing")[2]
    (row,) = [line for line in table.splitlines() if line.startswith(f"| `{kind}`")]
    cell = row.split("|")[3].strip()
    assert cell in {"yes", "no"}
    return cell == "yes"


def test_a_machine_has_an_id_where_it_has_a_name(tmp_path: Path) -> None:
    machine = json.loads(importing("multirate", MULTIRATE, tmp_path, "--machine", "a node").read_text())["machine"]
    assert machine["cpu"] == "a node"
    assert machine["id"]
    made = importing("multirate", MULTIRATE, tmp_path)
    assert json.loads(made.read_text())["machine"] == {}
    assert not read_dataset(made).names_machine


def test_the_benchmark_of_imb_is_no_part_of_the_workload(tmp_path: Path) -> None:
    document = json.loads(importing("imb-mt", IMB_MT, tmp_path).read_text())
    assert document["benchmark"]["benchmark"] == "UniBandMT"
    assert "benchmark" not in document["workload"]
