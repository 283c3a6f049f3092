"""The formats: each turns the lines of a file into measured values.

What the columns mean was taken from the programs' sources and manuals; the traps are noted where they are. Lines of
data begin with a number. Before a header other lines are what launchers print, and are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NoReturn, TypeAlias

from contend.calibrate.process_layouts import process_layout
from contend.common.errors import InputError
from contend.importers.text import Line, Word, lines_of, table_lines_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from contend.common.jsontypes import JsonObject, Scalar

_MICRO = 1e-6
_MEBI = 2**20


@dataclass(frozen=True)
class Value:
    """One measured number: the point it is of, metric, unit and which run of the program it is from.

    `assumed` names the parameters that the program does not print: users may know better.
    """

    parameters: dict[str, Scalar]
    metric: str
    unit: str
    value: float
    run: int
    assumed: frozenset[str] = frozenset()


@dataclass
class Imported:
    """What a file has: values, what all of them have in common, and which program wrote it.

    `own_parameters`: those that its points may have besides what a scenario's workload has, with schemas as that has
    them. `notes`: what of the file was left out.
    """

    program: str
    workload: JsonObject
    values: list[Value] = field(default_factory=list)
    about: dict[str, Scalar] = field(default_factory=dict)
    own_parameters: dict[str, JsonObject] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


Reader: TypeAlias = Callable[["Path"], Imported]


def _nothing(path: Path, wanted: str) -> NoReturn:
    raise InputError(f"{path}:1:1: the file has no {wanted}")


def multirate(path: Path) -> Imported:
    """The line that Multirate prints, one for each run.

    Sending processes, threads of each, receiving processes, threads of each, bytes, window, then
    "RATE Gbps", "TIME usec" and "RATE msg/s". The line does not say which communicators were used, nor whether
    overtaking was allowed, nor, of as many senders as receivers, whether each sends to one or to all. Points whose
    threads are those of several processes say so: 2 processes of 4 threads are not 1 of 8.
    """
    found = Imported("Multirate", {"kind": "multirate"})
    for run, line in enumerate(one for one in lines_of(path) if one.is_data):  # a run has no header: it is its line
        words = line.want(12, "a line of Multirate")
        senders, threads, receivers, peers, size, window = (
            line.count_at(word, what, least)
            for word, (what, least) in zip(
                words[:6],
                (("the number of sending processes", 1), ("the threads of a sender", 1),
                 ("the number of receiving processes", 1), ("the threads of a receiver", 1), ("the message size", 0),
                 ("the window", 1)),
                strict=True,
            )
        )  # fmt: skip
        for index, unit in ((7, "Gbps"), (9, "usec"), (11, "msg/s")):
            if words[index].text != unit:
                line.fail(f"found {words[index].text!r}; allowed: {unit!r}", words[index].column)
        rate = line.number_at(words[10], "the message rate")
        line.check_other(words[10], words[6], "the bandwidth in Gbps", rate * size * 8 / 1e9)
        line.check_other(words[10], words[8], "the time of a message in usec", 1 / rate / _MICRO)
        parameters: dict[str, Scalar] = {"message_size": size, "window": window}
        parameters["mode"] = {
            (False, False): "process", (True, True): "thread", (True, False): "thread-to-process",
            (False, True): "process-to-thread",
        }[threads > 1, peers > 1]  # fmt: skip
        assumed = set()
        sending, receiving = senders * threads, receivers * peers
        if sending == receiving:
            parameters |= {"pattern": "pairwise", "pairs": sending}
            assumed = {"mode"} if senders == threads == receivers == peers == 1 else {"pattern"}
        else:
            parameters["pattern"] = (
                "one-to-many" if sending == 1 else "many-to-one" if receiving == 1 else "many-to-many"
            )
            parameters |= {"senders": sending, "receivers": receiving}
        if (threads > 1 and senders > 1) or (peers > 1 and receivers > 1):
            parameters |= process_layout(senders, receivers)
        found.values.append(Value(parameters, "message_rate", "msg/s", rate, run, frozenset(assumed)))
    if not found.values:
        _nothing(path, "line of Multirate: 6 whole numbers, RATE Gbps, TIME usec, RATE msg/s")
    return found


_OSU_PAIRS = re.compile(r"#\s*\[\s*pairs:\s*([^\s\]]+)\s*\]\s*\[\s*window size:\s*([^\s\]]+)\s*\]")
_OSU_PAIRS_LINE = "'# [ pairs: N ] [ window size: N ]'"
_OSU_LATENCY_LINE = "'# OSU MPI Multi-threaded Latency Test'"
_OSU_THREADS = re.compile(r"#\s*Number of (Sender|Receiver) threads:\s*(\S+)")


def osu_mbw_mr(path: Path) -> Imported:
    """osu_mbw_mr of the OSU micro-benchmarks: pairs of processes, a window of messages, "Size MB/s Messages/s"."""
    workload: JsonObject = {"kind": "multirate", "pattern": "pairwise", "mode": "process"}
    found = Imported("OSU micro-benchmarks: osu_mbw_mr", workload)
    pairs: tuple[int, int] | None = None
    run = -1
    for line in table_lines_of(path, "#"):
        if "Message Rate Test" in line.text:
            run, pairs = run + 1, None
            _osu_version(found, line)
        elif match := _OSU_PAIRS.search(line.text):
            pairs = line.count_in(match, 1, "the number of pairs", 1), line.count_in(match, 2, "the window", 1)
        elif not line.is_data:
            if "Size" in line.text and ("MB/s" not in line.text or "Messages/s" not in line.text):
                line.fail("the columns are not Size, MB/s and Messages/s: this is no output of osu_mbw_mr")
        else:
            if pairs is None:
                line.fail(f"numbers before the line {_OSU_PAIRS_LINE}")
            words = _osu_words(line, 3, "a line of osu_mbw_mr")
            size = line.count_at(words[0], "the message size")
            rate = line.number_at(words[2], "the message rate")
            line.check_other(words[2], words[1], "the bandwidth in MB/s", rate * size / 1e6)
            parameters: dict[str, Scalar] = {"pairs": pairs[0], "window": pairs[1], "message_size": size}
            found.values.append(Value(parameters, "message_rate", "msg/s", rate, max(run, 0)))
    if not found.values:
        _nothing(path, f"table of osu_mbw_mr: {_OSU_PAIRS_LINE}, then lines of size, MB/s and messages/s")
    return found


def osu_latency_mt(path: Path) -> Imported:
    """osu_latency_mt: one thread sends, several receive; "Size Latency (us)"."""
    found = Imported("OSU micro-benchmarks: osu_latency_mt", {"kind": "latency"})
    threads: dict[str, int] = {}
    coming: dict[str, int] = {}  # counts stand before the header of their run
    run, headed = -1, False
    for line in table_lines_of(path, "#"):
        if match := _OSU_THREADS.search(line.text):
            coming[match.group(1)] = line.count_in(match, 2, "the number of threads", 1)
        elif "Multi-threaded Latency Test" in line.text:
            run, headed, threads, coming = run + 1, True, coming, {}
            _osu_version(found, line)
        elif not line.is_data:
            if "Size" in line.text and "Latency" not in line.text:
                line.fail("the columns are not Size and Latency: this is no output of osu_latency_mt")
        else:
            if not headed:
                line.fail(f"numbers before the line {_OSU_LATENCY_LINE}")
            words = _osu_words(line, 2, "a line of osu_latency_mt")
            size = line.count_at(words[0], "the message size")
            latency = line.number_at(words[1], "the latency") * _MICRO
            threads, coming = threads | coming, {}
            # Versions before 5.6 do not print how many threads there were; their default is two receivers.
            printed: dict[str, Scalar] = {f"{side.lower()}s": count for side, count in threads.items()}
            parameters = {"senders": 1, "receivers": 2} | printed | {"message_size": size}
            assumed = frozenset({"senders", "receivers"} - set(printed))
            found.values.append(Value(parameters, "latency", "s", latency, max(run, 0), assumed))
    if not found.values:
        _nothing(path, f"table of osu_latency_mt: {_OSU_LATENCY_LINE}, then lines of size and latency")
    return found


def _osu_words(line: Line, count: int, what: str) -> list[Word]:
    """The numbers of a line. Asked to validate (-c), the programs say behind them whether the right data arrived."""
    verdict = line.words[-1]
    if verdict.text.casefold() not in {"pass", "fail"}:
        return line.want(count, what)
    words = line.want(count + 1, f"{what} with its validation")
    if verdict.text.casefold() == "fail":
        line.fail(f"found {verdict.text!r}: the program received wrong data; allowed: 'Pass'", verdict.column)
    return words[:count]


def _osu_version(found: Imported, line: Line) -> None:
    if match := re.search(r"\bv(\d+\.\d+[\w.]*)", line.text):
        found.about["version"] = match.group(1)


_RMA_HEADER = re.compile(r"#\s*([A-Za-z ]+?):\s*(.+?)\s*$")
_RMA_SYNC = {
    "lock_all": "lock-all", "fence": "fence", "lock": "lock", "flush": "flush", "flush_all": "flush-all",
    "flush_local": "flush-local",
}  # fmt: skip
_RMA_NEEDED = {"Operation": "operation", "Sync": "synchronisation", "Thread count": "threads"}
_RMA_COLUMNS = "BpT("
_RMA_COLUMNS_LINE = "'BpT(N) BxT(N) Bandwidth(MiB/s) Message_Rate(M/s)'"
_RMA_NUMBERS = {"Thread count": "threads", "Iterations": "operations", "Number of MPI process pairs": "process_pairs"}


def rma_mt(path: Path) -> Imported:
    """rmamt_bw of RMA-MT, as printed or as written to a file with commas.

    The column "Message_Rate(M/s)" is in operations per second, not in millions: M stands for messages. Sizes are
    those of one operation (BpT); "Iterations" is the number of operations per thread and size.
    """
    found = Imported("RMA-MT: rmamt_bw", {"kind": "rma-mt"})
    header: dict[str, Scalar] = {}
    run, tabled = -1, False
    for line in table_lines_of(path, "#", _RMA_COLUMNS):
        text = line.text.strip()
        if "RMA-MT" in text and text.startswith("#"):
            if "Bandwidth" not in text:
                line.fail("this is not the bandwidth test of RMA-MT (rmamt_bw)")
            run, tabled, header = run + 1, False, {}
        elif text.startswith("#"):
            _rma_header(line, header)
        elif text.startswith(_RMA_COLUMNS):
            tabled = True
        else:
            missing = [f"'# {name}: ...'" for name, key in _RMA_NEEDED.items() if key not in header]
            missing += [] if tabled else [_RMA_COLUMNS_LINE]
            if missing:
                line.fail(f"numbers before the header's {' and '.join(missing)}")
            _rma_row(found, line, header, max(run, 0))
    if not found.values:
        _nothing(
            path, f"table of rmamt_bw: the header '# RMA-MT Bandwidth', the columns {_RMA_COLUMNS_LINE}, then numbers"
        )
    return found


def _rma_header(line: Line, header: dict[str, Scalar]) -> None:
    match = _RMA_HEADER.match(line.text.strip())
    if match is None:
        return
    key, value = match.groups()
    column = line.text.index(value) + 1
    if key in _RMA_NUMBERS:
        header[_RMA_NUMBERS[key]] = line.count_at(Word(value, column), f"'{key}'", 1)
    elif key == "Operation":
        if value not in {"put", "get"}:
            line.fail(f"found the operation {value!r}; allowed: put, get", column)
        header["operation"] = value
    elif key == "Sync":
        if value not in _RMA_SYNC:
            line.fail(f"found the synchronisation {value!r}; allowed: {', '.join(_RMA_SYNC)}", column)
        header["synchronisation"] = _RMA_SYNC[value]
    elif key == "Number of windows":
        header["window_per_thread"] = line.count_at(Word(value, column), f"'{key}'", 1) > 1


def _rma_row(found: Imported, line: Line, header: dict[str, Scalar], run: int) -> None:
    plain = replace(line, text=line.text.replace(",", " "))
    words = plain.want(4, "a line of rmamt_bw")
    size = plain.count_at(words[0], "the bytes of an operation")
    plain.count_at(words[1], "the bytes of all threads")
    rate = plain.number_at(words[3], "the message rate")
    plain.check_other(words[3], words[2], "the bandwidth in MiB/s", rate * size / _MEBI)
    parameters = {key: value for key, value in header.items() if key != "process_pairs" or value != 1}
    parameters["message_size"] = size
    found.values.append(Value(parameters, "message_rate", "msg/s", rate, run))


_IMB_BENCHMARK = re.compile(r"#\s*Benchmarking\s+(\S+)")
_IMB_PROCESSES = re.compile(r"#\s*#processes\s*=\s*([^\s(]+)\s*\(threads:\s*([^\s)]+)\s*\)")
_IMB_WINDOW = re.compile(r"#\s*window_size\s*=\s*(\S+)")
_IMB_PAIRWISE = "UniBandMT"
_IMB_BYTES = "#bytes"
_IMB_RATE = "Msg/sec"
_IMB_BANDWIDTH = "Mbytes/sec"


def imb_mt(path: Path) -> Imported:
    """IMB-MT of the Intel MPI Benchmarks: tables of message rates of UniBandMT.

    "#bytes" is the size of a message times the number of threads. Each thread has a communicator of its own. The other
    benchmarks of IMB-MT send both ways or are collective: their rates are not those of pairs, and left out.
    """
    workload: JsonObject = {"kind": "multirate", "pattern": "pairwise", "communicator_per_pair": True}
    found = Imported("Intel MPI Benchmarks: IMB-MT", workload)
    columns: list[str] = []
    processes = threads = 0
    window: int | None = None
    run = -1
    others: dict[str, Line] = {}
    for line in _imb_lines(path, others):
        text = line.text.strip()
        if _IMB_BENCHMARK.search(text):
            columns, processes, window, run = [], 0, None, run + 1
            found.about["benchmark"] = _IMB_PAIRWISE
        elif match := _IMB_PROCESSES.search(line.text):
            processes = line.count_in(match, 1, "the number of processes", 1)
            threads = line.count_in(match, 2, "the number of threads", 1)
            if processes > 1 and processes % 2:
                line.fail(f"{processes} processes with {threads} threads: pairs need an even number of processes")
        elif match := _IMB_WINDOW.search(line.text):
            window = line.count_in(match, 1, "the window", 1)
        elif text.startswith(_IMB_BYTES):
            columns = _imb_columns(line)
        elif line.is_data:
            if not processes:
                line.fail("numbers before the line '# #processes = N (threads: N)'")
            if not columns:
                line.fail("numbers before the line of columns (#bytes ...)")
            _imb_row(found, line, (columns, processes, threads, window), run)
    _imb_leave_out(found, others)
    if not found.values:
        _nothing(
            path,
            f"table of IMB-MT: '# Benchmarking {_IMB_PAIRWISE}', the columns '#bytes ... {_IMB_RATE}', then numbers",
        )
    return found


def _imb_lines(path: Path, others: dict[str, Line]) -> Iterator[Line]:
    """The lines of UniBandMT, and those before any benchmark.

    Args:
        path: The file.
        others: Gets the other benchmarks by name, with the line in which each begins.
    """
    is_other = False
    for line in table_lines_of(path, "#"):
        if match := _IMB_BENCHMARK.search(line.text):
            is_other = match.group(1) != _IMB_PAIRWISE
            if is_other:
                others.setdefault(match.group(1), line)
        if not is_other:
            yield line


def _imb_columns(line: Line) -> list[str]:
    """The columns of a table: bytes of all threads first, each once, and the rate among them."""
    words = line.words
    columns = [word.text for word in words]
    if columns[0] != _IMB_BYTES:
        line.fail(f"found the column {columns[0]!r}; allowed: {_IMB_BYTES!r}", words[0].column)
    for index, name in enumerate(columns):
        if name in columns[:index]:
            line.fail(f"found the column {name!r} again; allowed: each column once", words[index].column)
    if _IMB_RATE not in columns:
        line.fail(f"the table has no {_IMB_RATE}")
    return columns


def _imb_leave_out(found: Imported, others: dict[str, Line]) -> None:
    """Notes which benchmarks were left out.

    Args:
        found: What the file has.
        others: The other benchmarks by name, with the line in which each begins.

    Raises:
        InputError: There is nothing else.
    """
    why = "others send both ways or are collective"
    if not others:
        return
    if found.values:
        found.notes.append(f"left out {', '.join(others)}: only {_IMB_PAIRWISE} is imported, {why}")
        return
    name, line = next(iter(others.items()))
    line.fail(f"found the benchmark {name}; allowed: {_IMB_PAIRWISE} ({why})", line.text.index(name) + 1)


def _imb_row(found: Imported, line: Line, head: tuple[list[str], int, int, int | None], run: int) -> None:
    columns, processes, threads, window = head
    words = line.want(len(columns), f"a line of {_IMB_PAIRWISE}")
    values = dict(zip(columns, words, strict=True))
    together = line.count_at(values[_IMB_BYTES], "the message size")
    if together % threads:
        line.fail(f"{together} bytes are no multiple of the {threads} threads", values[_IMB_BYTES].column)
    size = together // threads
    is_one_pair = threads == 1 and processes <= 2  # noqa: PLR2004 - what a pair is
    parameters: dict[str, Scalar] = {
        "pairs": max(1, processes // 2) * threads, "message_size": size,
        "mode": "thread" if threads > 1 or is_one_pair else "process",
    }  # fmt: skip
    if threads > 1 and processes > 2:  # noqa: PLR2004 - what a pair is
        parameters |= process_layout(processes // 2, processes // 2)
    if window is not None:
        parameters["window"] = window
    rate = line.number_at(values[_IMB_RATE], "the message rate")
    if _IMB_BANDWIDTH in values:
        line.check_other(values[_IMB_RATE], values[_IMB_BANDWIDTH], "the bandwidth in MB/s", rate * size / 1e6)
    assumed = frozenset({"mode"} if is_one_pair else ())
    found.values.append(Value(parameters, "message_rate", "msg/s", rate, run, assumed))


_UCX_TEST = re.compile(r"\|\s*Test:\s*(.+?)\s*\|?$")
_UCX_ENTRY = re.compile(r"\|\s*(Message size|Window size|API|Iov|Number of threads)\s*:\s*(.+?)\s*\|?$")
_UCX_PARAMETERS = {"Message size": "message_size", "Window size": "window", "Number of threads": "threads"}


_UCX_OF_THREADS = 5
"""Words of a final line of several threads."""


def _ucx_overall(line: Line) -> tuple[Word, Word, Word]:
    """Overall time, bandwidth and message rate of a final line."""
    words = line.words
    if len(words) != _UCX_OF_THREADS:
        words = line.want(9, "a final line")
    line.count_at(words[1], "the number of iterations", 1)
    return (words[2], words[3], words[4]) if len(words) == _UCX_OF_THREADS else (words[-5], words[-3], words[-1])


def _ucx_least(parameter: str) -> int:
    """The least that a parameter of ucx_perftest may be."""
    return 0 if parameter == "message_size" else 1


def ucx_perftest(path: Path) -> Imported:
    """ucx_perftest: the line "Final:", whose last column is the message rate over the whole run.

    The columns are iterations, percentile (or "typical"), average and overall time in microseconds, average and
    overall bandwidth, average and overall message rate. Of several threads (-T) it prints what is overall only:
    iterations, time, bandwidth, message rate (UCX, src/tools/perf/perftest_run.c).
    """
    own = {name: {"type": "integer", "minimum": _ucx_least(name)} for name in _UCX_PARAMETERS.values()}
    found = Imported("UCX: ucx_perftest", {"kind": "ucx-perftest"}, own_parameters={"test": {"type": "string"}, **own})
    test = ""
    sizes: dict[str, int] = {}
    run = 0
    rows = 0
    ended = False
    for line in lines_of(path):
        text = line.text.strip()
        if match := _UCX_TEST.search(text):
            test, sizes, ended = match.group(1), {}, False
        elif match := _UCX_ENTRY.search(text):
            if ended:
                test, sizes, ended = "", {}, False
            name, value = match.groups()
            if key := _UCX_PARAMETERS.get(name):
                column = line.text.index(value) + 1
                sizes[key] = line.count_at(Word(value.split()[0], column), name.lower(), _ucx_least(key))
        elif text.startswith("Final:"):
            rows += 1
            ended = True
            time, bandwidth, rate_word = _ucx_overall(line)
            overall_s = line.number_at(time, "the overall time") * _MICRO
            rate = line.number_at(rate_word, "the overall message rate")
            if "message_size" in sizes:
                expected = rate * sizes["message_size"] / _MEBI
                line.check_other(rate_word, bandwidth, "the overall bandwidth in MiB/s", expected)
            parameters: dict[str, Scalar] = {**sizes, **({"test": test} if test else {})}
            found.values.append(Value(parameters, "message_rate", "msg/s", rate, run))
            found.values.append(Value(parameters, "time_per_operation", "s", overall_s, run))
            run += 1
    if not rows:
        _nothing(path, "line 'Final:' of ucx_perftest: it has not ended, or is output of another program")
    return found


FORMATS: dict[str, Reader] = {
    "multirate": multirate,
    "osu-mbw-mr": osu_mbw_mr,
    "osu-latency-mt": osu_latency_mt,
    "rma-mt": rma_mt,
    "imb-mt": imb_mt,
    "ucx-perftest": ucx_perftest,
}
