"""Draws of several fits together, and where they say nothing of a library over a transport."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from calibrating import mapping, rates, write
from contend.accuracy.draws import Drawn, drawn_configs
from contend.accuracy.stored_draws import stored_draws
from contend.calibrate.problem import Builder
from contend.common.documents import get_path
from contend.datasets.reading import read_dataset
from contend.profiles.catalogs import PROFILES
from contend.profiles.prices import parse_price

SEND, RECEIVE = "machine.software.send_call", "machine.software.receive_call"
LINE, POST = "machine.cache.transfer_socket", "machine.nic.post"
RANGES = "draws from the ranges of the profile's values"


def fit(
    parameters: dict[tuple[str, str], list[str]], discrepancy: float, to: list[tuple[str, str]] | None = None
) -> dict[str, Any]:
    """A fit whose posterior has these draws of parameters by path and scope."""
    names = [f"{path}@{scope}" for path, scope in parameters]
    rows = [list(row) for row in zip(*parameters.values(), strict=True)]
    made = {
        "parameters": [
            {"name": name, "path": path, "scope": scope}
            for name, (path, scope) in zip(names, parameters, strict=True)
        ],
        "points": [],
        "posterior": {"parameters": names, "draws": rows, "discrepancy_draws": [discrepancy] * len(rows)},
    }  # fmt: skip
    told = None if to is None else [{"library": library, "transport": transport} for library, transport in to]
    return made if told is None else made | {"fitted_to": told}


def drawn_with(tmp_path: Path, fits: list[dict[str, Any]], transport: str = "tcp", **calibration: Any) -> Drawn:
    """Four draws of a point of alib, with a profile that has these fits."""
    profile = PROFILES.load("alembert")[1]
    profile["calibration"] = {"fits": fits, **calibration}
    one = read_dataset(write(tmp_path, rates("a", {2: [5e5]}) | {"transport": transport}))
    problem = Builder(profile, [mapping(transports=[transport])], messages=200).build([(one, one.points[0])])
    return drawn_configs(profile, problem.targets[0], stored_draws(profile["calibration"]), 4, 1)


def values(found: Drawn, path: str) -> list[object]:
    return [get_path(config, path) for config in found.configs]


OWN = {
    (SEND, "alib/tcp"): ["200 ns", "400 ns", "300 ns", "100 ns"],
    (RECEIVE, "alib"): ["1 us", "2 us", "3 us", "4 us"],
}


class TestFittedToTheDataset:
    def test_one_fit_gives_all_draws_and_nothing_else_moves(self, tmp_path: Path) -> None:
        found = drawn_with(tmp_path, [fit(OWN, 0.2)])
        assert found.origin == "draws of the posterior, the discrepancy of the fit"
        assert values(found, SEND) == OWN[SEND, "alib/tcp"]
        assert values(found, RECEIVE) == OWN[RECEIVE, "alib"]
        assert len(set(map(str, values(found, POST)))) == 1
        assert found.discrepancy == [0.2] * 4

    @pytest.mark.parametrize("first", [True, False])
    def test_one_of_the_machine_does_not_take_it_over(self, tmp_path: Path, first: bool) -> None:  # noqa: FBT001
        machine = fit({(LINE, "machine"): ["80 ns", "90 ns"]}, 0.05)
        found = drawn_with(tmp_path, [machine, fit(OWN, 0.2)] if first else [fit(OWN, 0.2), machine])
        assert values(found, SEND) == OWN[SEND, "alib/tcp"]
        assert values(found, LINE) == ["80 ns", "90 ns"] * 2
        assert found.origin == "draws of the posterior, the discrepancy of the fit"
        assert found.discrepancy == [0.2] * 4

    @pytest.mark.parametrize("first", [True, False])
    def test_the_discrepancy_is_that_of_the_fit_to_it(self, tmp_path: Path, first: bool) -> None:  # noqa: FBT001
        """Not that of another one with a parameter of a more special scope."""
        own = fit({(RECEIVE, "alib"): OWN[RECEIVE, "alib"]}, 0.2, [("alib", "tcp")])
        other = fit({(SEND, "alib/tcp"): OWN[SEND, "alib/tcp"]}, 0.7, [("alib", "shm")])
        assert drawn_with(tmp_path, [own, other] if first else [other, own]).discrepancy == [0.2] * 4

    @pytest.mark.parametrize("turned", [True, False])
    def test_the_most_special_scope_of_a_path_counts(self, tmp_path: Path, turned: bool) -> None:  # noqa: FBT001
        scopes = ["machine", "tcp", "alib", "alib/tcp"]
        parameters = {(SEND, scope): [f"{index + 1} us"] for index, scope in enumerate(scopes)}
        if turned:
            parameters = dict(reversed(parameters.items()))
        assert values(drawn_with(tmp_path, [fit(parameters, 0.1)]), SEND) == ["4 us"] * 4


class TestFittedToOthersOnly:
    @pytest.mark.parametrize("told", [True, False])
    def test_what_it_does_not_know_is_drawn_from_ranges(self, tmp_path: Path, told: bool) -> None:  # noqa: FBT001
        """Whether the record says what it was fitted to, or only its scopes do."""
        found = drawn_with(tmp_path, [fit(OWN, 0.2, [("alib", "tcp")] if told else None)], "fabric")
        assert values(found, RECEIVE) == OWN[RECEIVE, "alib"]
        assert not {*map(str, values(found, SEND))} & {*OWN[SEND, "alib/tcp"]}
        for path in (SEND, POST, LINE):
            assert len({*map(str, values(found, path))}) == 4
        assert found.origin == (
            f"draws of the posterior where other fits have some, and {RANGES}, the discrepancy of the fit"
        )

    def test_a_fit_that_says_so_has_no_parameter_of_its_own_for_the_transport(self, tmp_path: Path) -> None:
        library = {(RECEIVE, "alib"): OWN[RECEIVE, "alib"]}
        for to, moves in ([("alib", "tcp")], True), ([("alib", "fabric")], False), (None, False):
            found = drawn_with(tmp_path, [fit(library, 0.2, to)], "fabric")
            assert values(found, RECEIVE) == OWN[RECEIVE, "alib"]
            assert (len({*map(str, values(found, POST))}) > 1) == moves

    def test_one_of_the_machine_alone_is_no_fit_of_a_library(self, tmp_path: Path) -> None:
        machine = fit({(LINE, "machine"): ["80 ns", "90 ns"]}, 0.05)
        found = drawn_with(tmp_path, [machine])
        assert values(found, LINE) == ["80 ns", "90 ns"] * 2
        assert len({*map(str, values(found, SEND))}) == 4
        assert RANGES in found.origin
        # One whose points are of this dataset is.
        machine["points"] = [{"dataset": "a", "parameters": {"pairs": 1}}]
        assert RANGES not in drawn_with(tmp_path, [machine]).origin

    def test_a_value_of_a_more_special_scope_stays_its_own(self, tmp_path: Path) -> None:
        scopes = {"alib/fabric": {RECEIVE: {"value": "864 ns", "range": ["800 ns", "900 ns"]}}}
        found = drawn_with(tmp_path, [fit(OWN, 0.2)], "fabric", scopes=scopes)
        assert all(800e-9 <= parse_price(value).value <= 900e-9 for value in values(found, RECEIVE))

    def test_a_value_of_the_scope_that_was_drawn_is_the_fit_s_own(self, tmp_path: Path) -> None:
        scopes = {"alib": {RECEIVE: {"value": "864 ns", "range": ["800 ns", "900 ns"]}}}
        found = drawn_with(tmp_path, [fit(OWN, 0.2)], "fabric", scopes=scopes)
        assert values(found, RECEIVE) == OWN[RECEIVE, "alib"]


def test_a_record_says_what_a_fit_is_of() -> None:
    (found,) = stored_draws({"fits": [fit(OWN, 0.2, [("alib", "tcp"), ("alib", "shm")])]})
    for transport, was_fitted in (("tcp", True), ("shm", True), ("fabric", False)):
        one = cast("Any", SimpleNamespace(library_key="alib", transport=transport, name="a"))
        assert found.was_fitted_to(one) == was_fitted
