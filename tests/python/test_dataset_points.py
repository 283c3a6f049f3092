"""Points of a dataset by conditions."""

from pathlib import Path

import pytest

import contend
from calibrating import dataset, metric, write
from contend.common.errors import InputError
from contend.datasets.reading import read_dataset
from contend.measured.points import select_points


@pytest.mark.parametrize(
    ("conditions", "message"),
    [
        (["pairs=5"], "no point of mine has pairs=5; measured: 1, 2, 4, 8; the nearest is 4"),
        (["pairs=1000"], "the nearest is 8"),
        (["pears=4"], "have no 'pears'; they have: pairs, contexts, how; did you mean 'pairs'?"),
        (["pairs"], "--point 'pairs': expected NAME=VALUE, for example pairs=4"),
        (["=4"], "expected NAME=VALUE"),
        (["pairs="], "expected NAME=VALUE"),
        (["how=slw"], "the nearest is slow"),
        (["pairs=8", "contexts=4"], "no point of mine has pairs=8 and contexts=4 together; the nearest is pairs="),
    ],
)
def test_points_that_are_not_there(conditions: list[str], message: str, tmp_path: Path) -> None:
    values = [(1, 1, "slow"), (2, 4, "fast"), (4, 1, "slow"), (8, 1, "fast")]
    points = [
        {"parameters": {"pairs": n, "options.contexts": c, "how": how}, "message_rate": metric(5.0)}
        for n, c, how in values
    ]
    found = read_dataset(write(tmp_path, dataset("mine", {}, points)))
    with pytest.raises(InputError) as caught:
        select_points(found, conditions)
    assert message in str(caught.value)
    assert len(select_points(found, ["contexts=1"])) == 3
    assert len(select_points(found, ["contexts=1", "pairs=4", "pairs=1"])) == 2


def test_numbers_are_compared_as_numbers(tmp_path: Path) -> None:
    values = [(2, 0.5, "1"), (4, 1.5, "2")]
    points = [
        {"parameters": {"pairs": n, "share": share, "version": version}, "message_rate": metric(5.0)}
        for n, share, version in values
    ]
    file = write(tmp_path, dataset("mine", {}, points))
    found = read_dataset(file)
    for condition in ("pairs=4.0", "pairs=4e0", "share=1.50", "pairs=4"):
        assert select_points(found, [condition]) == found.points[1:]
    for condition in ("version=2.0", "pairs=4.5", "pairs=four"):
        with pytest.raises(InputError, match="no point of mine has"):
            select_points(found, [condition])
    with pytest.raises(InputError, match="point: 'pairs' has no value to choose; allowed: one or several"):
        contend.load_measured(file, {"pairs": []})


def test_sizes_may_have_units(tmp_path: Path) -> None:
    points = [{"parameters": {"pairs": 2, "message_size": size}, "message_rate": metric(5.0)} for size in (1, 1024)]
    found = read_dataset(write(tmp_path, dataset("mine", {}, points)))
    for size in ("1 KiB", "1KiB", "1024 B", "1.024 kB", "1024"):
        assert select_points(found, [f"message_size={size}"]) == found.points[1:]
    assert len(select_points(found, ["message_size=1 KiB", "message_size=1 B"])) == 2
    with pytest.raises(InputError, match=r"has message_size=2 KiB; measured: 1, 1024; the nearest is 1024$"):
        select_points(found, ["message_size=2 KiB"])
    with pytest.raises(InputError, match="has pairs=2 B"):
        select_points(found, ["pairs=2 B"])
