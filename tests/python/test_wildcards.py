"""Receives from any source, by every matching engine (scenario wildcards)."""

import pytest

import contend
from contend.common.errors import InputError

pytestmark = pytest.mark.core

SENDERS = 8
ENGINES = ("ob1", "list", "hash-bins", "vector", "per-source", "offload")


@pytest.fixture(scope="module")
def results() -> contend.Results:
    changes = {"workload.senders": SENDERS, "workload.iterations": 1}
    return contend.run(contend.load("wildcards").with_(changes), replications=1)


@pytest.fixture(scope="module")
def results_of_threads() -> contend.Results:
    changes = {"workload.pairs": 8, "workload.iterations": 2}
    return contend.run(contend.load("wildcards_of_threads").with_(changes), replications=1)


def _match_times(results: contend.Results, engine: str) -> tuple[float, float]:
    """Of receives that name their source, and from any."""
    named, wild = (
        results.point(engine=engine, any_source=any_source).counters["match_time_ns"] for any_source in (False, True)
    )
    return named, wild


@pytest.mark.parametrize("engine", ENGINES)
def test_every_message_arrives_once(results: contend.Results, engine: str) -> None:
    for any_source in (False, True):
        counters = results.point(engine=engine, any_source=any_source).counters
        window, iterations = 128, 2  # one of them to warm up
        assert counters["messages_received"] == SENDERS * window * iterations
        assert counters["unexpected_in_queue"] == 0
        # Receives are posted before anybody sends, and no ready word or acknowledgement comes this way.
        assert counters["receives_posted"] == counters["messages_received"]


def test_the_head_of_a_common_list_takes_what_comes_from_any_source(results: contend.Results) -> None:
    list_named, list_wild = _match_times(results, "list")
    assert list_named > 5 * list_wild
    vector_named, vector_wild = _match_times(results, "vector")
    assert vector_named > 5 * vector_wild
    # With names bins and lists by source spare the walk; without them there is none to spare.
    for engine in ("ob1", "hash-bins", "per-source"):
        named, wild = _match_times(results, engine)
        assert list_named > 3 * named
        assert wild > 0.8 * list_wild


def test_an_interface_leaves_receives_from_any_source_to_software(results: contend.Results) -> None:
    named, wild = _match_times(results, "offload")
    assert named == 0
    assert wild > 0


@pytest.mark.parametrize("engine", ["ob1", "hash-bins", "per-source", "offload"])
def test_threads_with_tags_of_their_own_search_one_list_from_any_source(
    results_of_threads: contend.Results, engine: str
) -> None:
    """What an engine gains by the names in receives is lost, and a message is walked past those of other pairs."""
    named, wild = _match_times(results_of_threads, engine)
    _, common_list = _match_times(results_of_threads, "list")
    assert common_list > 3 * named
    assert wild > 0.7 * common_list
    assert wild < 1.5 * common_list


@pytest.mark.parametrize("workload", ["multirate", "latency", "neighbour"])
def test_virtual_interfaces_by_tag_serve_any_source_and_no_any_tag(workload: str) -> None:
    """MPICH: the tag says which interface a receive is posted to."""
    base = contend.load("interfaces_by_tag").points[0].config
    scenario = {key: base[key] for key in ("machine", "fabric", "library")}
    point = contend.load(
        {"schema_version": 1, "name": "by_tag", **scenario, "workload": {"kind": workload, "iterations": 2}}
    )
    assert contend.run(point.with_({"workload.any_source": True}), replications=1).points
    with pytest.raises(InputError, match="a receive with any tag cannot know its instance when tags decide on it"):
        contend.run(point.with_({"workload.any_tag": True}), replications=1)
