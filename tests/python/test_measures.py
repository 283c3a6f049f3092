"""Which measures a result has, and which of them it is about."""

import pytest

from contend.common.errors import InputError
from contend.results import workload_words
from contend.results.measures import (
    ESTIMATED,
    SCALARS,
    check_known,
    choose,
    main_of,
    measure_named,
    measures_in,
)
from contend.results.workload_words import WorkloadWords, words_of


@pytest.mark.parametrize(
    ("names", "main"),
    [
        (["message_rate", "elapsed_s"], "message_rate"),
        (["message_rate", "bandwidth", "perceived_bandwidth", "communication_time_s"], "perceived_bandwidth"),
        (["time_per_operation_s", "message_rate"], "message_rate"),
        (["time_per_operation_s", "elapsed_s"], "time_per_operation_s"),
        (["elapsed_s"], None),
    ],
)
def test_partitioned_communication_is_about_its_perceived_bandwidth(names: list[str], main: str | None) -> None:
    assert main_of(names) == main


def test_only_what_all_results_have_counts() -> None:
    results = [{"message_rate": 1.0, "elapsed_s": 2.0, "events": 3}, {"elapsed_s": 2.0, "message_rate": 1.0}]
    assert measures_in(results) == ["message_rate", "elapsed_s"]
    assert measures_in([*results, {"elapsed_s": 1.0}]) == ["elapsed_s"]
    assert measures_in([]) == []
    own = {"events": 3, "wall_s": 1.0, "notes": ["a"], "threads": {"sender": 1}, "round_trip_s": 1.0, "elapsed_s": 2.0}
    assert measures_in([own, own]) == ["elapsed_s", "round_trip_s"]
    assert measures_in([own, results[0]]) == ["elapsed_s"]


def test_a_name_that_is_not_there_is_answered_with_those_that_are() -> None:
    names = ["message_rate", "elapsed_s"]
    assert choose(names, None, "to compare") == "message_rate"
    assert choose(names, "elapsed_s", "to compare") == "elapsed_s"
    with pytest.raises(InputError, match="no measure 'bandwidth' to compare; there are: message_rate, elapsed_s"):
        choose(names, "bandwidth", "to compare")
    with pytest.raises(InputError, match="did you mean 'message_rate'\\? There are: message_rate, elapsed_s"):
        choose(names, "mesage_rate", "to compare")
    with pytest.raises(InputError, match="no measure to explain"):
        choose(["elapsed_s"], None, "to explain")
    check_known(None)
    check_known("perceived_bandwidth")
    with pytest.raises(InputError, match="did you mean 'perceived_bandwidth'"):
        check_known("perceived_bandwith")
    # Before a simulation nobody knows which of all there are the workload has.
    with pytest.raises(InputError, match=r"there are: message_rate, .*_s \(no workload has all of them\)$"):
        check_known("foo")


def test_what_a_kind_measures_is_known_before_a_simulation_where_contend_has_words_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = {"kind": "server"}
    check_known("round_trip_s", server)
    monkeypatch.setitem(workload_words.WORDS, "server", WorkloadWords("request"))
    with pytest.raises(InputError, match="there is no measure 'round_trip_s'"):
        check_known("round_trip_s", server)
    monkeypatch.setitem(workload_words.WORDS, "server", WorkloadWords("request", measures=("round_trip_s",)))
    check_known("round_trip_s", server)
    with pytest.raises(InputError, match="did you mean 'round_trip_s'"):
        check_known("round_trip", server)


def test_every_measure_has_words_and_a_unit() -> None:
    for name in (*ESTIMATED, *SCALARS):
        measure = measure_named(name)
        assert measure.short_unit == ESTIMATED.get(name, "s")
        assert measure.is_time == (name in SCALARS or name == "latency")
    assert measure_named("perceived_bandwidth").label == "perceived bandwidth (MiB/s)"
    assert measure_named("time_per_operation_s").label == "time per operation (s)"
    assert measure_named("message_rate").label == "message rate (msg/s)"
    assert measure_named("gap_ns").label == "gap (ns)"
    assert measure_named("naps_per_s").label == "naps (1/s)"
    assert measure_named("depth").label == "depth"
    assert [measure_named(name).less_is_better for name in ("gap_ns", "naps_per_s", "depth")] == [True, False, False]
    puts = words_of({"kind": "rma-mt", "operation": "put"})
    assert measure_named("message_rate", puts).label == "put rate (operations/s)"
