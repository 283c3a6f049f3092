"""Designs of different libraries on one profile: what a reader is told of their prices of code."""

import pytest

import contend
from contend.profiles.shared_prices import shared_prices_remark


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["ob1-base", "ob1-cri", "ch4-vci", "ucx-worker"], "ob1-base, ch4-vci and ucx-worker stand for different code"),
        (["mpich-tcp", "ob1-tcp"], "mpich-tcp and ob1-tcp stand for"),
        (["ob1-base", "ob1-cri"], ""),
        (["ch4-global", "mpich-tcp"], ""),  # both MPICH
        (["as it is", "ob1-base", None], ""),
        (["ob1-openib", "ch4-vci"], "ob1-openib has prices of code for one library (library.code), ch4-vci pays"),
        (["ob1-openib", "ob1-base"], ""),  # the same library
        (["ob1-openib", "ch4-vci", "ucx-worker"], "ch4-vci and ucx-worker stand for different code"),
    ],
)
def test_presets_of_different_libraries_are_named(names: list[object], told: str) -> None:
    remark = shared_prices_remark(names)
    assert remark.startswith(told)
    assert bool(remark) == bool(told)


@pytest.mark.core
def test_results_over_presets_of_different_libraries_say_so() -> None:
    small = contend.load("fig5_2a_base").with_({"workload.pairs": 1, "workload.iterations": 1, "run.replications": 1})
    both = contend.run(small.over({"library.preset": ["ob1-base", "ch4-vci"]}))
    assert sum("stand for different code" in note for note in both.notes) == 1
    assert not any("different code" in note for note in both.select(preset="ch4-vci").notes)
