"""What is wrong with the output of a foreign program is said with line and column."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from contend.cli import main
from contend.common.errors import InputError
from contend.importers.formats import FORMATS
from contend.importers.text import lines_of
from foreign_output import (
    GOOD,
    IMB_MT,
    MBW_MR,
    MULTIRATE,
    RMA_MT,
    UCX,
    UCX_OF_THREADS,
)


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


def test_what_a_program_prints_comes_through_standard_input(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "contend", "import", "multirate", "-", "-o", "d.json"]
    done = subprocess.run(words, input=MULTIRATE, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "d.json").read_text())["campaign"] == {"imported": "stdin"}
