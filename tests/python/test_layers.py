"""Layers of `sim/`: who may include whom. Contracts for the Python package are in pyproject.toml (`./contend lint`)."""

from __future__ import annotations

import re
from graphlib import TopologicalSorter

from fakes import REPOSITORY

SIM = REPOSITORY / "sim"
_INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


def layers() -> list[str]:
    """The folders of `sim/`, lowest first, as they are built."""
    return re.findall(r"add_subdirectory\((\w+)\)", (SIM / "CMakeLists.txt").read_text(encoding="utf-8"))


def includes() -> dict[str, list[str]]:
    """What each source of `sim/` includes of ours, as paths below `sim/`."""
    sources = [path for suffix in ("*.hpp", "*.cpp") for path in sorted(SIM.rglob(suffix))]
    return {str(path.relative_to(SIM)): _INCLUDE.findall(path.read_text(encoding="utf-8")) for path in sources}


def layer_of(source: str) -> str:
    return source.split("/", 1)[0]


def test_every_folder_is_a_layer() -> None:
    assert sorted(layers()) == sorted(path.name for path in SIM.iterdir() if path.is_dir())


def test_includes_are_of_files_that_exist() -> None:
    missing = [(source, name) for source, names in includes().items() for name in names if not (SIM / name).is_file()]
    assert not missing


def test_no_layer_includes_one_above() -> None:
    height = {layer: number for number, layer in enumerate(layers())}
    upward = [
        f"sim/{source} includes {name}"
        for source, names in includes().items()
        for name in names
        if height[layer_of(name)] > height[layer_of(source)]
    ]
    assert not upward


def test_scenarios_know_parameters_and_no_engine() -> None:
    # core/time.hpp is what a duration is; placement.hpp what a thread may run on.
    allowed = re.compile(r"scenario/.*|.*parameters\.hpp|core/time\.hpp|mpi/placement\.hpp")
    others = [
        f"sim/{source} includes {name}"
        for source, names in includes().items()
        if layer_of(source) == "scenario"
        for name in names
        if not allowed.fullmatch(name)
    ]
    assert not others


def test_the_second_engine_meets_the_simulation_at_its_backend_only() -> None:
    inside = [
        f"sim/{source} includes {name}"
        for source, names in includes().items()
        if layer_of(source) != "simgrid"
        for name in names
        if layer_of(name) == "simgrid"
    ]
    assert not inside


def test_folders_of_models_do_not_include_each_other_in_a_ring() -> None:
    graph: dict[str, set[str]] = {}
    for source, names in includes().items():
        if layer_of(source) == "models" and source.count("/") > 1:
            folder = source.rsplit("/", 1)[0]
            others = {name.rsplit("/", 1)[0] for name in names if layer_of(name) == "models" and name.count("/") > 1}
            graph.setdefault(folder, set()).update(others - {folder})
    assert list(TopologicalSorter(graph).static_order())


def test_headers_do_not_include_each_other_in_a_ring() -> None:
    headers = {source: names for source, names in includes().items() if source.endswith(".hpp")}
    assert list(TopologicalSorter(headers).static_order())
