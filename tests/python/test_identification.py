"""Direct identification: one measurement for one parameter."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from calibrating import MACHINE, dataset, iterations, machine_points, mapping, metric, rates, time_of, write
from contend.calibrate.evaluations import Evaluator
from contend.calibrate.identification import Identified, Skipped, identify
from contend.calibrate.identification_rules import RULES
from contend.calibrate.inputs import Inputs
from contend.calibrate.mapping import (
    scenario_layers,
)
from contend.calibrate.options import Options
from contend.calibrate.pipeline import calibrate, with_identified
from contend.calibrate.recovery import MemoryLog, Silence
from contend.calibrate.split import choose_split
from contend.common.documents import get_path
from contend.common.jsontypes import JsonObject
from contend.datasets.dataset import Dataset
from contend.datasets.reading import read_dataset, read_datasets
from contend.engine.runner import make_engine
from contend.profiles.catalogs import PROFILES
from contend.profiles.prices import parse_price
from fakes import REPOSITORY

# One socket without siblings: all pairs of processors are alike.
ALIKE = MACHINE | {"topology": {"sockets": 1, "cores": 2, "hardware_threads": 2}}


def measured(tmp_path: Path, *more: dict[str, Any]) -> list[Dataset]:
    documents = [
        dataset("machine", {"kind": "machine"}, machine_points(), transport="none", machine=ALIKE),
        *more,
    ]
    return [read_dataset(write(tmp_path, document)) for document in documents]


def base() -> JsonObject:
    return PROFILES.load("alembert")[1]


def found_by_path(datasets: list[Dataset]) -> tuple[dict[str, Identified], dict[str, Skipped]]:
    found, skipped = identify(datasets, base())
    return {one.rule.path: one for one in found}, {one.rule.path: one for one in skipped}


def test_a_microbenchmark_gives_its_parameter(tmp_path: Path) -> None:
    found, skipped = found_by_path(measured(tmp_path))
    assert found["machine.cache.atomic_hit"].value == pytest.approx(5e-9)
    assert found["machine.cache.transfer_socket"].value == pytest.approx(6.1e-8)
    assert found["machine.futex.wake_call"].value == pytest.approx(1.05e-5)
    # Samples are 40 and 41 us. The model adds an exponential delay, of which the median is ln 2 of the mean.
    assert found["machine.futex.wake_jitter"].value == pytest.approx(1e-6 / math.sqrt(2))
    assert found["machine.futex.wake_latency"].value == pytest.approx(3e-5 - math.log(2) * 1e-6 / math.sqrt(2))
    assert found["machine.futex.wait_call"].value == pytest.approx(2e-7)
    copying = found["machine.software.copy_bandwidth"]
    assert (copying.value, copying.kind) == (pytest.approx(4096 / 4.05e-7), "rate")
    for one in found.values():
        assert one.low < one.value < one.high
        assert one.scope == "machine"
    assert "machine.cache.transfer_remote" in skipped  # one socket


def test_the_interval_follows_the_spread(tmp_path: Path) -> None:
    def identified(*times: float) -> Identified:
        point = time_of(*times, probe="cache_line", from_core=0, to_core=1)
        points = [point | {"time_per_operation": metric(*times, unit="s", launches=4)}]
        document = dataset("m", {"kind": "machine"}, points, machine=ALIKE)
        (found,), _ = identify([read_dataset(write(tmp_path, document))], base())
        return found

    one = identified(*[6e-8] * 8)
    other = identified(*[3e-8, 6e-8] * 4)
    assert one.interval_text == "±5%, 95 %"  # the least
    below, above = (abs(float(part.rstrip("%"))) for part in other.interval_text.removesuffix(", 95 %").split(", "))
    assert 20 < below < above
    assert below < 100  # no time is negative


def test_a_formula_that_gives_nothing_positive_is_no_value(tmp_path: Path) -> None:
    points = [
        time_of(5e-7, probe="context_switch", core=0),
        time_of(6e-7, probe="futex_wake", from_core=0, to_core=0, part="call"),
    ]
    found, skipped = identify([read_dataset(write(tmp_path, dataset("m", {"kind": "machine"}, points)))], base())
    assert not found
    reason = next(one.reason for one in skipped if one.rule.path == "machine.futex.wait_call")
    assert "what it subtracts is not in what was measured" in reason


# Two sockets of two cores with two threads each, numbered in turns, as Linux often does: 0 and 4 are one core.
IN_TURNS = {str(cpu): {"socket": cpu % 2, "core": cpu % 4 // 2} for cpu in range(8)}
LINES = {(0, 4): 1.5e-8, (1, 5): 1.5e-8, (0, 2): 5e-8, (0, 6): 5e-8, (1, 3): 5e-8, (0, 1): 1.2e-7, (0, 5): 1.2e-7}


def lines_moved(tmp_path: Path, machine: dict[str, Any]) -> dict[str, float]:
    """What a machine's lines are found to cost by parameter."""
    points = [time_of(time, probe="cache_line", from_core=a, to_core=b) for (a, b), time in LINES.items()]
    document = dataset("m", {"kind": "machine"}, points, machine=MACHINE | machine)
    found, _ = identify([read_dataset(write(tmp_path, document))], base())
    return {one.rule.path.removeprefix("machine.cache."): one.value for one in found}


def test_processors_are_where_the_system_says(tmp_path: Path) -> None:
    counts = {"sockets": 2, "cores": 4, "hardware_threads": 8}
    assert lines_moved(tmp_path, {"topology": counts, "cpus": IN_TURNS}) == {
        "transfer_smt": pytest.approx(1.5e-8), "transfer_socket": pytest.approx(5e-8),
        "transfer_remote": pytest.approx(1.2e-7),
    }  # fmt: skip


def test_siblings_are_no_other_socket(tmp_path: Path) -> None:
    halves = {str(cpu): {"socket": 0, "core": cpu % 4} for cpu in range(8)}
    counts = {"sockets": 1, "cores": 4, "hardware_threads": 8}
    found = lines_moved(tmp_path, {"topology": counts, "cpus": halves})
    assert found == {"transfer_smt": pytest.approx(1.5e-8), "transfer_socket": pytest.approx(5e-8)}


@pytest.mark.parametrize(
    "machine",
    [
        {"topology": {"sockets": 2, "cores": 8, "hardware_threads": 8}},
        {"topology": {"sockets": 1, "cores": 4, "hardware_threads": 8}},
        {"topology": {"sockets": 1, "cores": 8}},
        {"topology": {}},
        {"topology": {"sockets": 1, "cores": 8, "hardware_threads": 8}, "cpus": {"7": {"socket": 0, "core": 7}}},
    ],
)
def test_pairs_whose_places_are_not_known_are_left_out(machine: dict[str, Any], tmp_path: Path) -> None:
    assert lines_moved(tmp_path, machine) == {}


def test_all_pairs_are_alike_on_one_socket_without_siblings(tmp_path: Path) -> None:
    found = lines_moved(tmp_path, {"topology": {"sockets": 1, "cores": 8, "hardware_threads": 8}})
    assert found == {"transfer_socket": pytest.approx(5e-8)}


def price_of(profile: JsonObject, path: str) -> float:
    return parse_price(get_path(profile, path)["value"]).value


def test_what_a_library_writes_is_no_part_of_its_send(tmp_path: Path) -> None:
    profile = PROFILES.load("vm-2core")[1]
    found, _ = identify(measured(tmp_path, primitives("shm", 2e-7)), profile)
    send = next(one.value for one in found if one.rule.path == "machine.software.send_call")
    written = price_of(profile, "shared_memory.box_write") + price_of(profile, "noise")
    assert written > 0
    assert send == pytest.approx(2e-7 - 3 * 5e-9 - written)


def primitives(transport: str, isend: float) -> dict[str, Any]:
    points = [time_of(isend, isend, primitive="isend", message_size=0), time_of(2e-7, 2e-7, primitive="irecv")]
    points += [time_of(1e-6 + 4e-9 * depth, 1.001e-6 + 4e-9 * depth, primitive="match_posted", depth=depth)
               for depth in (0, 64, 1024)]  # fmt: skip
    return dataset(f"primitives_{transport}", {"kind": "primitives"}, points, transport=transport)


def test_prices_of_calls_are_for_a_library_and_guide_the_fit(tmp_path: Path) -> None:
    datasets = measured(tmp_path, primitives("shm", 2e-7), primitives("tcp", 2.2e-6))
    found, _ = identify(datasets, base())
    by_scope = {(one.rule.path, one.scope): one for one in found}
    element = by_scope["machine.matching.element", "alib"]
    assert element.value == pytest.approx(4e-9, rel=0.01)
    assert element.rule.isolates
    post = by_scope["machine.nic.post", "alib/tcp"]
    assert (post.value, post.high / post.value) == (pytest.approx(2e-6), pytest.approx(3.0))
    # Calls without what is priced elsewhere: three atomics of 5 ns, noise, the queue; the base has no shared memory.
    prices = {path: price_of(base(), path) for path in ("noise", "matching.attempt", "matching.enqueue")}
    assert all(price > 0 for price in prices.values())
    send = by_scope["machine.software.send_call", "alib"].value
    assert send == pytest.approx(1.85e-7 - prices["noise"])
    receive = by_scope["machine.software.receive_call", "alib"].value
    allocate = by_scope["machine.software.request_allocate", "alib"].value
    assert receive == allocate
    assert receive + allocate == pytest.approx(1.85e-7 - sum(prices.values()))
    assert ("machine.nic.post", "alib/shm") not in by_scope


@pytest.mark.core
def test_what_one_library_s_calls_cost_is_no_range_of_another_s(tmp_path: Path) -> None:
    """A scope of the library gets its own guide, one within it the same, and what libraries share contains all."""
    documents = [primitives("shm", 2e-7), primitives("tcp", 2.2e-6)]
    documents += [rates(f"rates_{key}", {1: [5e5]}) | {"library": {"key": key}} for key in ("alib", "blib")]
    unknowns = [
        {"path": "machine.software.send_call", "scope": "library", "range": ["20 ns", "5 us"]},
        {"path": "machine.software.receive_call", "scope": "library-transport", "range": ["20 ns", "2 us"]},
        {"path": "machine.nic.post", "scope": "transport", "range": ["5 ns", "90 us"]},
    ]
    datasets = measured(tmp_path, *documents)
    both = mapping(libraries=["alib", "blib"], transports=["*"], unknowns=unknowns)
    options, evaluator = Options(is_direct_only=True), Evaluator(make_engine("contend"), MemoryLog(), jobs=1)
    inputs = Inputs(datasets, base(), [both], choose_split(datasets))
    problem = calibrate(inputs, evaluator, options, Silence()).problem
    ranges = {one.name: (one.low, one.high) for one in problem.parameters}
    direct = {(one.rule.path, one.scope): one for one in identify(datasets, base())[0]}
    for name, scope, measured_for in (
        ("software.send_call", "alib", "alib"),
        ("software.receive_call", "alib/tcp", "alib"),
        ("nic.post", "tcp", "alib/tcp"),
    ):
        one = direct[f"machine.{name}", measured_for]
        assert ranges[f"{name}@{scope}"] == pytest.approx((one.value / 3, one.value * 3))
    assert ranges["software.send_call@blib"] == pytest.approx((2e-8, 5e-6))
    assert ranges["software.receive_call@blib/tcp"] == pytest.approx((2e-8, 2e-6))


def test_several_machines_identify_nothing(tmp_path: Path) -> None:
    other = dataset("n", {"kind": "machine"}, machine_points(), machine={"id": "another", "cpu": "x"})
    found, skipped = identify(measured(tmp_path, other), base())
    assert not found
    assert "several machines" in skipped[0].reason


def test_every_rule_names_a_parameter_that_exists() -> None:
    schema = json.loads((REPOSITORY / "schemas/profile.schema.json").read_text())
    for path in (path for rule in RULES for path in (rule.path, *rule.costs)):
        first, *rest = path.split(".")
        if first == "machine":
            known = schema
            for name in rest:
                assert name in known["properties"], path
                known = known["properties"][name]
        else:
            assert (first, *rest) in {("fabric", "latency"), ("fabric", "bandwidth")}, path


def woken(slept: dict[int, float], to_core: int = 0) -> list[dict[str, Any]]:
    return [
        time_of(time, 1.1 * time, probe="busy_wake", from_core=1, to_core=to_core, slept_us=at)
        for at, time in slept.items()
    ]


def vm_identified(tmp_path: Path, points: list[dict[str, Any]]) -> tuple[dict[str, Identified], dict[str, Skipped]]:
    found, skipped = identify(
        [read_dataset(write(tmp_path, dataset("machine", {"kind": "machine"}, points, transport="none")))],
        PROFILES.load("vm-2core")[1],
    )
    return {one.rule.path: one for one in found}, {one.rule.path: one for one in skipped}


def test_a_step_is_between_the_values_where_the_time_jumps(tmp_path: Path) -> None:
    found, _ = vm_identified(
        tmp_path, woken({300: 2e-5, 700: 1.8e-5, 900: 2.1e-5, 1200: 1.6e-3, 2000: 2e-5, 4000: 2e-3})
    )
    one = found["machine.scheduler.short_sleep"]
    assert one.value == pytest.approx(math.sqrt(900e-6 * 1200e-6))
    assert (one.low, one.high) == (pytest.approx(900e-6), pytest.approx(1200e-6))


@pytest.mark.parametrize(
    ("times", "reason"),
    [
        ({300: 2e-5, 2000: 3e-5}, "there is no step"),
        ({300: 2e-5}, "needs two values"),
        ({300: 2e-3, 2000: 2e-5}, "below its smallest value"),
    ],
)
def test_no_step_is_said_so(tmp_path: Path, times: dict[int, float], reason: str) -> None:
    found, skipped = vm_identified(tmp_path, woken(times))
    assert "machine.scheduler.short_sleep" not in found
    assert reason in skipped["machine.scheduler.short_sleep"].reason


def identified_from(folder: Path, document: dict[str, Any]) -> tuple[dict[str, Identified], dict[str, Skipped]]:
    found, skipped = identify(read_datasets([write(folder, document)]), PROFILES.load("vm-2core")[1])
    return {one.rule.path: one for one in found}, {one.rule.path: one for one in skipped}


@pytest.mark.parametrize("sizes", [[2**n for n in range(3, 23)], [f"{2**n} B" for n in range(3, 23)]])
def test_a_put_costs_what_its_smallest_size_does(sizes: list[int] | list[str], tmp_path: Path) -> None:
    points = [
        {"parameters": {"message_size": size}, "message_rate": metric(1 / (1e-6 + 2**n / 1e9))}
        for n, size in enumerate(sizes, 3)
    ]
    workload = {"kind": "rma-mt", "operation": "put", "synchronisation": "flush", "threads": 1}
    found, _ = identified_from(tmp_path, dataset("puts", workload, points[::-1], transport="shm"))
    one = found["machine.software.one_sided_call"]
    assert (one.value, one.points) == (pytest.approx(1e-6, rel=0.15), 1)  # without noise


def futex_call(time: float, part: str, threads: int, *, same_word: bool) -> JsonObject:
    return time_of(time, time, probe="futex_calls", part=part, same_word=same_word, threads=threads)


def test_calls_on_one_word_say_what_its_bucket_costs(tmp_path: Path) -> None:
    points = [
        futex_call(2e-7, "wake", 1, same_word=False),
        futex_call(3e-7, "wait", 1, same_word=False),
        futex_call(5e-7, "wait", 2, same_word=False),  # another word of the same bucket, by chance
        futex_call(4.6e-7, "wait", 2, same_word=True),
        futex_call(1.8e-6, "wait", 4, same_word=True),
        futex_call(4e-6, "wait", 8, same_word=True),
        time_of(2.8e-7, 2.8e-7, probe="yield", core=0, threads=1),
    ]
    document = dataset("machine", {"kind": "machine"}, points, transport="none")
    found, skipped = identified_from(tmp_path, document)
    jitter = 5e-8  # of the base, on top of each call
    assert found["machine.futex.empty_wake_call"].value == pytest.approx(2e-7 - jitter)  # not what stands in for it
    assert found["machine.futex.vain_call"].value == pytest.approx(3e-7 - jitter)
    assert found["machine.futex.bucket_move"].value == pytest.approx(1.6e-7)
    assert found["machine.futex.bucket_turn"].value == pytest.approx(5e-7)  # of as many threads as there are
    # A base without them gets them, and what it says of the others stays.
    profile = PROFILES.load("vm-2core")[1]
    assert get_path(profile, "futex.vain_call") is None
    futex = with_identified(profile, list(found.values()))["futex"]
    assert parse_price(futex["vain_call"]["value"]).value == pytest.approx(3e-7 - jitter)
    assert futex["wake_call"] == profile["futex"]["wake_call"]
    # With two cores there is no queue, and what shares a cache may cost nothing.
    few = dataset(
        "machine", {"kind": "machine"}, [points[1], futex_call(2.9e-7, "wait", 2, same_word=True)], transport="none"
    )
    found, skipped = identified_from(tmp_path, few)
    assert "machine.futex.vain_call" in found
    assert {"machine.futex.bucket_move", "machine.futex.bucket_turn"} <= set(skipped)


def test_beginning_threads_give_the_prices_of_their_beginning(tmp_path: Path) -> None:
    points = [
        time_of(3e-5, 4e-5, 3e-5, primitive="team_begin", part="create"),
        time_of(2e-5, 2e-5, 9e-5, primitive="team_begin", part="first_call"),
    ]
    document = dataset("beginning", {"kind": "primitives"}, points)
    found, _ = identify(read_datasets([write(tmp_path, document)]), PROFILES.load("vm-2core")[1])
    values = {one.rule.path.removeprefix("machine.scheduler."): (one.value, one.scope) for one in found}
    assert values["thread_create"] == (pytest.approx(3e-5), "machine")
    assert values["thread_begin"] == (pytest.approx(2e-5 / math.log(2)), "machine")  # the mean of such a median


def test_the_spread_of_single_wake_ups_comes_before_that_of_samples(tmp_path: Path) -> None:
    points = [
        time_of(4e-5, 5e-5, probe="futex_wake", from_core=0, to_core=1, part="wakeup"),
        time_of(2e-6, 2e-6, probe="futex_wake", from_core=0, to_core=1, part="spread"),
    ]
    found, _ = identified_from(tmp_path, dataset("machine", {"kind": "machine"}, points, transport="none"))
    assert found["machine.futex.wake_jitter"].value == pytest.approx(2e-6 / math.log(3))


def test_samples_that_do_not_differ_have_no_jitter(tmp_path: Path) -> None:
    points = [time_of(4e-5, 4e-5, probe="futex_wake", from_core=0, to_core=1, part="wakeup")]
    _, skipped = identified_from(tmp_path, dataset("machine", {"kind": "machine"}, points, transport="none"))
    assert "needs samples that differ" in skipped["machine.futex.wake_jitter"].reason


def test_an_uncontended_lock_stands_in_for_the_probe_of_atomics(tmp_path: Path) -> None:
    def lock(*rates: float, **parameters: object) -> dict[str, Any]:
        return time_of(*rates, lock="mutex", critical_section_ns=0, outside_ns=0, **parameters)

    locks = dataset("locks", {"kind": "locks"}, [lock(70e6, 71e6, 69e6, threads=1), lock(2e6, threads=2)])
    found, _ = identified_from(tmp_path, locks | {"transport": "none"})
    one = found["machine.cache.atomic_hit"]
    assert one.value == pytest.approx(0.5 / 70e6)
    # The loop is in it: on four machines it was 44 to 73 % more than the probe gave, so that it only guides.
    assert not one.rule.isolates
    assert one.low < 0.5 / 70e6 / 1.73
    assert one.interval_text == "a factor of 3, assumed"
    both, _ = found_by_path(measured(tmp_path, locks | {"transport": "none"}))
    assert both["machine.cache.atomic_hit"].value == pytest.approx(5e-9)
    assert both["machine.cache.atomic_hit"].rule.isolates


def test_a_point_has_as_many_iterations_as_its_samples(tmp_path: Path) -> None:
    document = iterations([(300e-6, 310e-6)])
    (found,) = read_datasets([write(tmp_path, document)])
    (point,) = found.points
    assert point.iterations == 950
    assert point.iteration_range_s == pytest.approx(10e-6)
    for most, expected in ((7, 7), (2000, 950), (None, 950)):
        layers = scenario_layers(mapping(), found, point, iterations=most)
        assert layers["workload"]["iterations"] == expected
