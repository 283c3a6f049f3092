"""Output of foreign programs becomes datasets; what is wrong with a file is said with line and column."""

import json
import os
from pathlib import Path

import pytest

from contend.cli import main
from contend.datasets import read_dataset
from contend.errors import InputError
from contend.importers.formats import FORMATS
from contend.importers.text import lines_of
from fakes import REPOSITORY

MULTIRATE = "1\t20\t1\t20\t0\t128\t0.00 Gbps\t7.13 usec\t140199.00 msg/s\n"
MBW_MR = """# OSU MPI Multiple Bandwidth / Message Rate Test v5.6.2
# [ pairs: 4 ] [ window size: 64 ]
# Size                  MB/s        Messages/s
1                      12.35       12345678.90
8                      98.00       12250000.00
"""
LATENCY_MT = """# Number of Sender threads: 1
# Number of Receiver threads: 4
# OSU MPI Multi-threaded Latency Test v5.6.3
# Size          Latency (us)
0                       3.89
1024                    4.25
"""
RMA_MT = """##########################################
# RMA-MT Bandwidth
#
# Operation: put
# Sync: flush
# Thread count: 16
# Number of MPI process pairs: 1
# Iterations: 1000
# Bind worker threads: yes
# Number of windows: 1
# Unique displacement per thread: no
##########################################
  BpT(16)\t  BxT(16)\tBandwidth(MiB/s)\tMessage_Rate(M/s)
        1\t       16\t        1.302\t\t  1364736.838
        2\t       32\t        2.647\t\t  1387855.707
"""
RMA_MT_CSV = (
    RMA_MT.split("  BpT", maxsplit=1)[0]
    + "BpT(16),BxT(16),Bandwidth(MiB/s),Message_Rate(M/s)\n1,16,1.302,1364736.838\n"
)
IMB_MT = """
#-----------------------------------------------------------------------------
# Benchmarking UniBandMT
# #processes = 2 (threads: 4)
# window_size = 64
#-----------------------------------------------------------------------------
       #bytes #repetitions    Mbytes/sec       Msg/sec
            0         1000          0.00       2500000
           32         1000         20.00       2400000
"""
UCX = """+--------------+--------------+------------------------------+---------------------+-----------------------+
| API:          protocol layer                                                                                  |
| Test:         tag match bandwidth                                                                             |
| Message size: 8                                                                                               |
+--------------+--------------+------------------------------+---------------------+-----------------------+
|    Stage     | # iterations | 50.0%ile | average | overall |  average |  overall |  average  |  overall  |
[thread 0]           5000000      0.120     0.126     0.126       60.00      60.55     7936508     7936508
Final:               5000000      0.120     0.126     0.126       60.00      60.55     7936508     7936500
"""
UCX_OF_THREADS = (
    UCX.rpartition("Final:")[0]
    + """\
[thread 1]           1000000      0.610     0.630     0.630       12.10      12.11     1587301     1587301
Final:               2000000                         0.630                  24.22                 3174603
"""
)
GOOD = {
    "multirate": MULTIRATE, "osu-mbw-mr": MBW_MR, "osu-latency-mt": LATENCY_MT, "rma-mt": RMA_MT, "imb-mt": IMB_MT,
    "ucx-perftest": UCX,
}  # fmt: skip


def importing(kind: str, text: str, tmp_path: Path, *options: str) -> Path:
    source = tmp_path / "output.txt"
    source.write_text(text)
    out = tmp_path / "made.json"
    assert main(["import", kind, str(source), "-o", str(out), *options]) == 0
    return out


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
        assert "none of the datasets is of a workload that can be simulated" in error
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


def is_simulated_by_the_docs(kind: str) -> bool:
    table = (REPOSITORY / "docs" / "calibration.md").read_text().partition("## Importing")[2]
    (row,) = [line for line in table.splitlines() if line.startswith(f"| `{kind}`")]
    cell = row.split("|")[3].strip()
    assert cell in {"yes", "no"}
    return cell == "yes"


def test_the_benchmark_of_imb_is_no_part_of_the_workload(tmp_path: Path) -> None:
    document = json.loads(importing("imb-mt", IMB_MT, tmp_path).read_text())
    assert document["benchmark"]["benchmark"] == "UniBandMT"
    assert "benchmark" not in document["workload"]


def changed(kind: str, old: str, new: str) -> tuple[str, str]:
    assert old in GOOD[kind]
    return kind, GOOD[kind].replace(old, new, 1)


@pytest.mark.parametrize(
    ("case", "place", "message"),
    [
        (("multirate", ""), "1:1", "the file is empty"),
        (changed("multirate", "140199.00", "many"), "1:37", "found 'many' where the message rate should be: no number"),
        (changed("multirate", "140199.00", "nan"), "1:37", "; allowed: a number from 1e-24 to 1e+30"),
        (changed("multirate", "140199.00", "-1"), "1:37", "; allowed: a number from 1e-24 to 1e+30"),
        (
            changed("multirate", "0.00 Gbps", "-1 Gbps"),
            "1:17",
            "the bandwidth in Gbps should be; allowed: a number from 0",
        ),
        (changed("multirate", "7.13", "x"), "1:27", "'x' where the time of a message in usec should be: no number"),
        (changed("multirate", " msg/s", ""), "1:46", "11 columns; a line of Multirate has 12"),
        (changed("multirate", "Gbps", "Mbps"), "1:22", "found 'Mbps'; allowed: 'Gbps'"),
        (changed("multirate", "1\t20\t1", "0\t20\t1"), "1:1", "sending processes should be: must be at least 1"),
        (changed("multirate", "\t128\t", "\t1.5\t"), "1:13", "the window should be: no whole number"),
        (("osu-mbw-mr", "# OSU MPI Multiple Bandwidth / Message Rate Test v5.6.2\n"), "1:1", "no table of osu_mbw_mr"),
        (changed("osu-mbw-mr", "# [ pairs: 4 ] [ window size: 64 ]\n", ""), "3:1", "numbers before the line"),
        (changed("osu-mbw-mr", "12250000.00", "12250000.00 7"), "5:48", "4 columns; a line of osu_mbw_mr has 3"),
        (changed("osu-mbw-mr", "MB/s", "us"), "3:1", "no output of osu_mbw_mr"),
        (("osu-latency-mt", MBW_MR), "3:1", "no output of osu_latency_mt"),
        (changed("osu-latency-mt", "4.25", "4,25"), "6:25", "found '4,25' where the latency should be: no number"),
        (changed("rma-mt", "Sync: flush", "Sync: pscw"), "5:9", "found the synchronisation 'pscw'; allowed: lock_all"),
        (changed("rma-mt", "# Thread count: 16\n", ""), "13:1", "numbers before the header's '# Thread count: ...'"),
        (changed("rma-mt", RMA_MT.splitlines()[12], ""), "14:1", "numbers before the header's 'BpT(N) BxT(N)"),
        (changed("imb-mt", "# #processes = 2 (threads: 4)\n", ""), "7:1", "numbers before the line '# #processes"),
        (changed("imb-mt", IMB_MT.splitlines()[6], ""), "8:1", "numbers before the line of columns (#bytes ...)"),
        (changed("rma-mt", "Thread count: 16", "Thread count: x"), "6:17", "'Thread count' should be: no whole number"),
        (changed("rma-mt", "1364736.838", ""), "14:34", "3 columns; a line of rmamt_bw has 4"),
        (changed("imb-mt", "           32 ", "           33 "), "9:12", "33 bytes are no multiple of the 4 threads"),
        (changed("imb-mt", "#processes = 2", "#processes = 3"), "4:1", "an even number of processes"),
        (changed("imb-mt", "Msg/sec", "Foo/sec"), "7:1", "the table has no Msg/sec"),
        (changed("imb-mt", "#bytes", "#bytes/msg"), "7:8", "found the column '#bytes/msg'; allowed: '#bytes'"),
        (changed("imb-mt", "Mbytes/sec", "Msg/sec"), "7:45", "found the column 'Msg/sec' again; allowed: each column"),
        (changed("imb-mt", "UniBandMT", "BiBandMT"), "3:16", "found the benchmark BiBandMT; allowed: UniBandMT"),
        (changed("imb-mt", "UniBandMT", "AllreduceMT"), "3:16", "found the benchmark AllreduceMT; allowed: UniBandMT"),
        (("ucx-perftest", UCX.split("Final:", maxsplit=1)[0]), "1:1", "no line 'Final:' of ucx_perftest"),
        (changed("ucx-perftest", "7936508     7936500", "7936508"), "8:95", "8 columns; a final line has 9"),
        (("ucx-perftest", UCX_OF_THREADS.replace("24.22", "242.2")), "9:99", "in MiB/s is about 24.2, but '242.2'"),
    ],
)
def test_bad_files_are_refused_with_line_and_column(
    case: tuple[str, str], place: str, message: str, tmp_path: Path
) -> None:
    kind, text = case
    path = tmp_path / "output.txt"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        FORMATS[kind](path)
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"{path}:{place}: ")


MANY = "9" * 5000
# Where each program says how many of something there are, or prints a rate.
NUMBERS = [
    ("multirate", "1\t20", "{}\t20"), ("multirate", "\t128\t", "\t{}\t"), ("multirate", "140199.00", "{}"),
    ("osu-mbw-mr", "pairs: 4", "pairs: {}"), ("osu-mbw-mr", "size: 64", "size: {}"),
    ("osu-mbw-mr", "12250000.00", "{}"), ("osu-latency-mt", "Sender threads: 1", "Sender threads: {}"),
    ("osu-latency-mt", "Receiver threads: 4", "Receiver threads: {}"), ("osu-latency-mt", "4.25", "{}"),
    ("rma-mt", "Thread count: 16", "Thread count: {}"), ("rma-mt", "Iterations: 1000", "Iterations: {}"),
    ("rma-mt", "pairs: 1", "pairs: {}"), ("rma-mt", "windows: 1", "windows: {}"), ("rma-mt", "1387855.707", "{}"),
    ("imb-mt", "#processes = 2", "#processes = {}"), ("imb-mt", "threads: 4", "threads: {}"),
    ("imb-mt", "window_size = 64", "window_size = {}"), ("imb-mt", "2400000", "{}"),
    ("ucx-perftest", "Final:               5000000", "Final: {}"), ("ucx-perftest", "7936500", "{}"),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "old", "new"), NUMBERS)
@pytest.mark.parametrize("number", [MANY, "1_000", "\uff11\uff10", "0", "-1"], ids=lambda text: ascii(text)[:8])
def test_what_is_no_count_or_rate_is_refused_with_the_place(
    kind: str, old: str, new: str, number: str, tmp_path: Path
) -> None:
    path = tmp_path / "output.txt"
    path.write_text(changed(kind, old, new.format(number))[1])
    with pytest.raises(InputError) as caught:
        FORMATS[kind](path)
    text = path.read_text()[: path.read_text().index(number, GOOD[kind].index(old))]
    line, column = text.count("\n") + 1, len(text) - text.rfind("\n")
    assert str(caught.value).startswith(f"{path}:{line}:{column}: found ")
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("kind", "old", "new"),
    [
        ("multirate", "140199.00", "{}"), ("osu-mbw-mr", "12250000.00", "{}"), ("osu-latency-mt", "4.25", "{}"),
        ("rma-mt", "1387855.707", "{}"), ("imb-mt", "2400000", "{}"), ("ucx-perftest", "7936500", "{}"),
        ("ucx-perftest", "0.126       60.00      60.55     7936508     7936500",
         "{}       60.00      60.55     7936508     7936500"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("number", ["1e300", "1e999", "1e-300", "inf"])
def test_numbers_that_no_dataset_may_hold_are_refused(
    kind: str, old: str, new: str, number: str, tmp_path: Path
) -> None:
    path = tmp_path / "output.txt"
    path.write_text(changed(kind, old, new.format(number))[1])
    with pytest.raises(InputError, match=f"found '{number}' where .* should be; allowed: a number from 1e-24 to 1e.30"):
        FORMATS[kind](path)


@pytest.mark.parametrize(
    ("kind", "old", "new", "message"),
    [
        ("multirate", "140199.00", "1401990.00", "1:37: found the message rate '1401990.00', by which the time of"),
        ("multirate", "140199.00", "1e29", "the time of a message in usec is about 1e-23, but '7.13'"),
        ("multirate", "0.00 Gbps", "9.00 Gbps", "the bandwidth in Gbps is about 0, but '9.00'"),
        ("osu-mbw-mr", "12250000.00", "1225000.00", "the bandwidth in MB/s is about 9.8, but '98.00'"),
        ("rma-mt", "1387855.707", "1.387", "the bandwidth in MiB/s is about 2.65e-06, but '2.647'"),
        ("imb-mt", "2400000", "24000000", "the bandwidth in MB/s is about 192, but '20.00' where that should"),
        ("ucx-perftest", "7936500", "79365000", "the overall bandwidth in MiB/s is about 606, but '60.55'"),
    ],
)  # fmt: skip
def test_a_rate_that_its_line_contradicts_is_refused(
    kind: str, old: str, new: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "output.txt"
    path.write_text(changed(kind, old, new)[1])
    with pytest.raises(InputError, match=r"they contradict each other$") as caught:
        FORMATS[kind](path)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "line",
    [
        "1\t20\t1\t20\t0\t128\t0.00 Gbps\t0.00 usec\t250000000.00 msg/s\n",
        "1\t20\t1\t20\t0\t128\t0.00 Gbps\t0.01 usec\t190000000.00 msg/s\n",
        "1\t1\t1\t1\t1\t128\t0.00 Gbps\t7.13 usec\t140199.00 msg/s\n",
    ],
)
def test_what_is_rounded_to_little_contradicts_nothing(line: str, tmp_path: Path) -> None:
    path = tmp_path / "output.txt"
    path.write_text(line)
    assert len(FORMATS["multirate"](path).values) == 1
    path.write_text(MBW_MR.replace("12.35       12345678.90", "0.00           4321.00"))
    assert FORMATS["osu-mbw-mr"](path).values[0].value == 4321


NOISE = "WARNING: No preset parameters were found for the device.\n[node1:12] 1 more process has sent this\n"


@pytest.mark.parametrize("kind", GOOD)
def test_what_launchers_print_before_each_run_is_skipped(kind: str, tmp_path: Path) -> None:
    plain, noisy = tmp_path / "plain.txt", tmp_path / "noisy.txt"
    plain.write_text(GOOD[kind] * 2)
    noisy.write_text((NOISE + GOOD[kind]) * 2)
    assert FORMATS[kind](noisy) == FORMATS[kind](plain)


@pytest.mark.parametrize(
    ("kind", "sought"),
    [
        ("multirate", "line of Multirate: 6 whole numbers, RATE Gbps"),
        ("osu-mbw-mr", "table of osu_mbw_mr: '# [ pairs: N ] [ window size: N ]', then lines"),
        ("osu-latency-mt", "table of osu_latency_mt: '# OSU MPI Multi-threaded Latency Test', then lines"),
        ("rma-mt", "table of rmamt_bw: the header '# RMA-MT Bandwidth', the columns 'BpT(N) BxT(N)"),
        ("imb-mt", "table of IMB-MT: '# Benchmarking UniBandMT', the columns '#bytes ... Msg/sec'"),
        ("ucx-perftest", "line 'Final:' of ucx_perftest"),
    ],
)
def test_a_file_without_data_is_told_what_was_sought(kind: str, sought: str, tmp_path: Path) -> None:
    path = tmp_path / "output.txt"
    path.write_text("garbage\n")
    with pytest.raises(InputError) as caught:
        FORMATS[kind](path)
    assert str(caught.value).startswith(f"{path}:1:1: the file has no {sought}")


@pytest.mark.parametrize("kind", ["osu-mbw-mr", "osu-latency-mt", "rma-mt", "imb-mt"])
def test_numbers_before_a_header_and_words_in_a_table_are_refused(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "output.txt"
    path.write_text(f"{NOISE}1 2 3 4\n{GOOD[kind]}")
    with pytest.raises(InputError, match=r":3:1: numbers before the "):
        FORMATS[kind](path)
    whole = GOOD[kind].splitlines(keepends=True)
    for text in ("".join([*whole[:-1], "Killed\n", whole[-1]]), GOOD[kind] + "Killed\n"):
        path.write_text(text)
        line = text.splitlines().index("Killed") + 1
        with pytest.raises(InputError, match=rf":{line}:1: found 'Killed' in a table: no line of data"):
            FORMATS[kind](path)


@pytest.mark.parametrize("kind", GOOD)
def test_byte_order_marks_are_no_part_of_a_line(kind: str, tmp_path: Path) -> None:
    plain, marked, joined = (tmp_path / name for name in ("plain.txt", "marked.txt", "joined.txt"))
    text = GOOD[kind].lstrip()
    plain.write_text(text + text)
    marked.write_text(f"\ufeff{text}{text}")
    joined.write_text(f"\ufeff{text}\ufeff{text}")
    assert FORMATS[kind](marked) == FORMATS[kind](plain)
    assert FORMATS[kind](joined) == FORMATS[kind](plain)


def test_a_file_of_a_byte_order_mark_is_empty(tmp_path: Path) -> None:
    path = tmp_path / "output.txt"
    path.write_text("\ufeff\n")
    with pytest.raises(InputError, match=r":1:1: the file is empty"):
        list(lines_of(path))


@pytest.mark.parametrize("kind", GOOD)
def test_a_file_that_ends_within_a_number_is_refused(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "output.txt"
    path.write_text(GOOD[kind].rstrip())
    with pytest.raises(InputError, match="the file ends within this line"):
        FORMATS[kind](path)


def test_wrong_command_lines_are_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "output.txt"
    path.write_text(MULTIRATE)
    assert main(["import", "multirat", str(path), "-o", str(tmp_path / "a.json")]) == 2
    assert "did you mean 'multirate'?" in capsys.readouterr().err
    assert main(["import", "multirate", str(path), "-o", str(tmp_path / "a.txt")]) == 2
    assert main(["import", "multirate", str(path), "-o", str(tmp_path / "a.json"), "--workload", "x"]) == 2
    assert not list(tmp_path.glob("a.*"))


def test_a_file_that_cannot_be_used_leaves_no_dataset(tmp_path: Path) -> None:
    path = tmp_path / "output.txt"
    path.write_bytes(b"\xff\xfe\x00")
    assert main(["import", "multirate", str(path), "-o", str(tmp_path / "a.json")]) != 0
    assert not (tmp_path / "a.json").exists()
    assert json.dumps(sorted(p.name for p in tmp_path.iterdir())) == '["output.txt"]'


def test_what_a_program_prints_comes_through_a_pipe() -> None:
    reading, writing = os.pipe()
    try:
        os.write(writing, MULTIRATE.encode())
        os.close(writing)
        assert [line.number for line in lines_of(Path(f"/dev/fd/{reading}"))] == [1]
    finally:
        os.close(reading)
