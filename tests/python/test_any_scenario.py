"""What holds for every scenario, tried with scenarios drawn at random.

`pytest --hypothesis-profile=long tests/python/test_any_scenario.py` draws fifty times as many.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from hypothesis import given, settings

import contend
from drawing import SCHEMA, WORKLOADS, scenarios

if TYPE_CHECKING:
    from collections.abc import Mapping

pytestmark = pytest.mark.core

_SCHEMA = jsonschema.Draft202012Validator(SCHEMA)


def loaded(document: Mapping[str, Any]) -> contend.Scenario | None:
    """The scenario, or none where what was drawn does not go together."""
    try:
        return contend.load(document)
    except contend.InputError:
        return None


def simulated(scenario: contend.Scenario | None, engine: str = "contend") -> contend.Results | None:
    """Results, or none of none, and where a run takes so many steps that nobody would wait for it."""
    if scenario is None:
        return None
    try:
        return contend.run(scenario, engine=engine, progress=False)
    except contend.SimulationFailedError as error:
        if "run.steps_" in str(error):
            return None
        raise


def test_what_is_drawn_can_often_be_simulated() -> None:
    """Else the other tests here would test nothing."""
    drawn: Counter[str] = Counter()

    @settings(max_examples=600)
    @given(scenarios())
    def draw(document: dict[str, Any]) -> None:
        drawn[document["workload"]["kind"]] += loaded(document) is not None

    draw()
    assert sum(drawn.values()) > 200
    assert sum(drawn[kind] > 0 for kind in WORKLOADS) >= len(WORKLOADS) - 3  # of some the numbers seldom fit


@given(scenarios())
def test_a_refusal_names_places(document: dict[str, Any]) -> None:
    try:
        contend.load(document)
    except contend.InputError as error:
        first, *others = str(error).splitlines()
        assert re.match(r"\S+:\d+: /\S* ?.+", first), first
        for line in others:
            is_advice = line.startswith("  ")
            assert is_advice or re.match(r"\S+:\d+: /\S* ?.+|and \d+ more errors?$", line), line


@given(scenarios())
def test_the_schema_allows_what_the_loader_does(document: dict[str, Any]) -> None:
    """Not the other way round: what does not go together no schema says."""
    if loaded(document) is not None:
        _SCHEMA.validate(document)


@given(scenarios())
def test_a_run_comes_to_its_end_and_to_the_same_one_again(document: dict[str, Any]) -> None:
    scenario = loaded(document)
    if (results := simulated(scenario)) is not None:
        again = simulated(scenario)
        assert again is not None
        assert again.canonical_bytes() == results.canonical_bytes()


@given(scenarios())
def test_a_scenario_with_all_its_values_written_out_is_the_same(document: dict[str, Any]) -> None:
    scenario = loaded(document)
    results = simulated(scenario)
    if scenario is not None and results is not None:
        written = simulated(contend.load(scenario.resolved.document))
        assert written is not None
        assert written.points[0].is_same_simulation(results.points[0])


@settings(max_examples=3 * settings().max_examples)
@given(scenarios())
def test_skipped_polls_are_not_missed(document: dict[str, Any]) -> None:
    scenario = loaded(document)
    results = simulated(scenario)
    if scenario is None or results is None:
        return
    looking = simulated(scenario.with_({"run.coalesce_idle_polls": False}))
    if looking is None:
        return
    wanted, found = looking.points[0].scalars["elapsed_s"], results.points[0].scalars["elapsed_s"]
    # Leaders of OS processes of a node see a barrier's flag at the same time, and may go on in another order then.
    is_program = "processes_per_os_process" in document["workload"]
    assert found == (pytest.approx(wanted, rel=0.01) if is_program else wanted)


@settings(max_examples=12)
@given(scenarios())
def test_the_other_engine_comes_to_the_same(document: dict[str, Any]) -> None:
    scenario = loaded(document)
    if (results := simulated(scenario)) is not None:
        if document.get("placement", {}).get("threads", "one-per-core") != "one-per-core":
            with pytest.raises(contend.InputError, match="placement"):
                simulated(scenario, engine="simgrid")
            return
        other = simulated(scenario, engine="simgrid")
        assert other is not None
        assert other.points[0].scalars == results.points[0].scalars
