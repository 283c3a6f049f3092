"""What the scenarios of the dissertation must have of the programs that it ran."""

import pytest

import contend

pytestmark = pytest.mark.core


@pytest.mark.parametrize(
    ("panel", "ordered"),
    [
        pytest.param("fig5_2a_overtaking", False, id="world"),
        pytest.param("fig5_2c_overtaking", True, id="duplicates"),
    ],
)
def test_overtaking_is_allowed_on_world_and_not_on_its_duplicates(panel: str, *, ordered: bool) -> None:
    """One thread's messages in turn over instances arrive out of sequence wherever they are numbered."""
    scenario = contend.load(panel).with_(
        {
            "workload.pairs": 2,
            "workload.iterations": 2,
            "library.instances.count": 10,
            "library.instances.assignment": "round-robin",
            "run.replications": 1,
        }
    )
    assert (contend.run(scenario, progress=False).frame()["out_of_sequence"][0] > 0) == ordered
