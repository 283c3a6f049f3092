"""What is wrong with a campaign is found before anything is launched: names, values, combinations, numbers of cells."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from contend.common.errors import InputError
from contend.measure.campaign import parse_campaign
from contend.measure.checks import MOST_CELLS
from contend.measure.options import LIBRARY_OPTIONS, PROGRAM_OPTIONS
from contend.measure.transports import OPTIONS
from native_programs import SOURCE

MULTIRATE = {"name": "a", "benchmark": "multirate", "libraries": ["openmpi-5"], "transports": ["tcp-veth"]}
LOCKS = {"name": "a", "benchmark": "locks"}


def refusal(*experiments: dict[str, Any]) -> str:
    document = {"name": "a", "description": "", "budget_s": 9, "experiments": list(experiments)}
    with pytest.raises(InputError) as caught:
        parse_campaign(json.dumps(document), "c.json")
    message = str(caught.value)
    assert message.startswith("c.json: /experiments/"), message
    return message.removeprefix("c.json: /experiments/")


@pytest.mark.parametrize(
    ("change", "place", "end"),
    [
        ({"workload": {"windw": 3}}, "0/workload/windw: unknown key", "did you mean 'window'?"),
        ({"workload": {"window": -3}}, "0/workload/window: found -3", "allowed: a whole number from 1 to 65536"),
        ({"workload": {"window": True}}, "0/workload/window: found true", "from 1 to 65536"),
        ({"workload": {"window": "3"}}, '0/workload/window: found "3"', "from 1 to 65536"),
        ({"workload": {"window": {}}}, "0/workload/window: found {}", "or a text or a list"),
        ({"workload": 3}, "0/workload: found 3", "allowed: an object"),
        ({"\x1b[31m" + "k" * 99: 3}, "0/\\u001b[31mkkk", "netem, workload, options, sweep, effort"),
        ({"workload": {"window": [1, 2]}}, "0/workload/window: found [1, 2]", "from 1 to 65536"),
        ({"workload": {"mode": "fibre"}}, '0/workload/mode: found "fibre"', "thread-to-process"),
        ({"workload": {"mode": "processs"}}, '0/workload/mode: found "processs"', "did you mean 'process'?"),
        ({"workload": {"message_size": "1 kib"}}, '0/workload/message_size: found "1 kib"', "1073741824 B"),
        ({"workload": {"any_tag": 1}}, "0/workload/any_tag: found 1", "allowed: true or false"),
        ({"workload": {"repetitions": 1}}, "0/workload/repetitions: ", "campaign's effort"),
        ({"workload": {"counter_filter": "a\0"}}, "0/workload/counter_filter: found", "or all"),
        ({"workload": {"Window": 1}}, '0/workload/Window: unknown key "Window"', "{0,63}$'"),
        ({"sweep": {"pears": [1]}}, "0/sweep/pears: unknown key", "did you mean 'pairs'?"),
        ({"sweep": {"pairs": [1, 0]}}, "0/sweep/pairs/1: found 0", "from 1 to 4096"),
        ({"sweep": {"pairs": [1, 2, 1]}}, "0/sweep/pairs/2: found 1 again", "each value once"),
        ({"sweep": {"options.context": [1]}}, "0/sweep/options.context: unknown key", "did you mean 'contexts'?"),
        ({"options": {"contexts": 0}}, "0/options/contexts: found 0", "from 1 to 65536"),
        ({"options": {"dedicatd": True}}, "0/options/dedicatd: unknown key", "did you mean 'dedicated'?"),
        ({"transports": ["tpc"]}, '0/transports/0: found "tpc"', "did you mean 'tcp'?"),
        ({"libraries": ["mpich-5", "opnmpi-5"]}, '0/libraries/1: found "opnmpi-5"', "did you mean 'openmpi-5'?"),
        ({"libraries": ["mpich-5", "mpich-5"]}, '0/libraries/1: found "mpich-5" again', "each value once"),
        ({"netem": "dely 50us"}, '0/netem: found "dely"', "did you mean 'delay'?"),
        ({"netem": "delay fast"}, '0/netem: found "delay fast"', 'rate 1gbit"'),
        ({"netem": "delay 50us", "transports": ["tcp"]}, "0/netem: netem needs transports over veth", "uct-tcp-veth"),
        ({"effort": {"launches": 9}}, "0/effort/launches: launches_max (6)", "less than launches (9)"),
        ({"effort": {"lunches": 9}}, '0/effort/lunches: unknown key "lunches"', "did you mean 'launches'?"),
        ({"sweep": {"pairs": [1], "senders": [1, 2]}}, "0/sweep: the pattern pairwise takes", "senders=2)"),
        ({"workload": {"tags": "pair", "pairs": 4096}}, "0/workload: tags of pairs need", "MPI has 32768"),
        ({"workload": {"thread_level": "single"}}, "0/workload: the mode thread needs", "level multiple"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_an_experiment_is_said_with_its_place(change: dict[str, Any], place: str, end: str) -> None:
    message = refusal(MULTIRATE | change)
    assert message.startswith(place)
    assert message.endswith(end)


@pytest.mark.parametrize(
    ("benchmark", "workload", "message"),
    [
        ("rma", {"message_size": 0}, "at least 1 B"),
        ("rma", {"operation": "fetch-and-op", "message_size": 16}, "of 8 B"),
        ("partitioned", {"buffer_size": 1000, "partitions": 16}, "cannot be divided into 16 and 1 partitions"),
        ("partitioned", {"method": "persistent", "receive_partitions": 2}, "for the method partitioned"),
        ("waiting", {"complete": "none"}, '0/workload/complete: found "none"'),
        ("waiting", {"call": ["waitall", "waitmany"]}, "0/workload/call/1: found"),
        ("primitives", {"depth": []}, "0/workload/depth: found []"),
    ],
)
def test_what_a_program_refuses_is_refused_before(benchmark: str, workload: dict[str, Any], message: str) -> None:
    assert message in refusal(MULTIRATE | {"benchmark": benchmark, "workload": workload})


def test_names_are_those_of_one_thing() -> None:
    assert refusal(LOCKS, LOCKS).startswith("1/name: found experiment 'a' again")
    other = LOCKS | {"name": "openmpi-5_tcp-veth_a"}
    assert refusal(MULTIRATE, other).startswith("1/name: found dataset 'openmpi-5_tcp-veth_a' again")


def test_options_of_a_library_need_one() -> None:
    assert "0/benchmark: locks uses no MPI" in refusal(LOCKS | {"options": {"contexts": 1}})


def test_lists_may_be_values_of_a_sweep() -> None:
    sweep = {"lock": ["mutex,spin", "ttas"], "threads": ["1,2", 4]}
    document = {"name": "a", "description": "", "budget_s": 9, "experiments": [LOCKS | {"sweep": sweep}]}
    assert parse_campaign(json.dumps(document), "c.json").experiments[0].sweep == sweep
    assert "did you mean" not in refusal(LOCKS | {"sweep": {"threads": ["1,0"]}})


def test_too_many_cells_are_refused_before_they_fill_the_memory() -> None:
    values = list(range(1, 4001))
    sweep = {"pairs": values, "window": values, "iterations": values}
    message = refusal(LOCKS | {"name": "few"}, MULTIRATE | {"sweep": sweep})
    assert message == (
        f"1: {4000**3 + 1} cells with those of the experiments before; allowed: at most {MOST_CELLS} in a campaign"
    )


def declared(text: str) -> set[str]:
    """Options that a part of a program declares, by their keys in a campaign."""
    kinds = "integers?|number|sizes?|choices?|flag|text"
    return {
        name.replace("-", "_") for name in re.findall(rf'\b(?:options|command_line)\.(?:{kinds})\("([a-z-]+)"', text)
    }


def test_the_options_of_programs_are_those_of_their_sources() -> None:
    def of(*files: str) -> set[str]:
        return declared("".join((SOURCE / file).read_text() for file in files))

    by_effort = {"repetitions", "seconds_limit", "pretty"}
    common = of("support/program.cpp")
    assert by_effort <= common
    mpi = of("mpi/session.cpp") | common
    for benchmark, options in PROGRAM_OPTIONS.items():
        own = of(*(str(path.relative_to(SOURCE)) for path in sorted(Path(SOURCE / benchmark).glob("*.cpp"))))
        shared = common if benchmark in {"locks", "machine"} else mpi
        assert set(options) == (own | shared) - by_effort, benchmark
    assert set(LIBRARY_OPTIONS) == set(OPTIONS)
