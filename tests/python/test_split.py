"""Which points a calibration may see, and which are held out."""

from pathlib import Path

import pytest

from calibrating import dataset, machine_points, metric, rates, time_of, write
from contend.calibrate.identification import identify
from contend.calibrate.split import (
    Split,
    calibration_side,
    choose_split,
    has_samples_of,
    split_points,
    split_record,
    threads_of,
    was_fitted,
)
from contend.common.errors import InputError
from contend.datasets.dataset import Dataset
from contend.datasets.reading import read_dataset, read_datasets
from contend.profiles.catalogs import PROFILES


def curves(tmp_path: Path) -> list[Dataset]:
    values = {n: [1000.0 * n] for n in (1, 2, 4, 8, 16, 20)}
    write(tmp_path, rates("shared", values))
    write(tmp_path, rates("small", {n: [10.0] for n in (1, 4, 7)}, window=16))
    write(tmp_path, dataset("machine", {"kind": "machine"}, machine_points()))
    return read_datasets([tmp_path])


def test_calibration_and_validation_points_are_disjoint(tmp_path: Path) -> None:
    datasets = curves(tmp_path)
    split = choose_split(datasets)
    assert (split.threads, split.window) == ((1, 4, 8), 128)  # at most half of 1, 2, 4, 7, 8, 16, 20
    fitted, held_out = split_points(datasets, split)
    assert sorted(int(str(point.parameters["pairs"])) for _, point in fitted) == [1, 4, 8]
    assert len(held_out) == 6
    record = split_record(split, fitted, held_out)
    for one, point in fitted:
        assert was_fitted(record, one, point)
    for one, point in held_out:
        assert not was_fitted(record, one, point)
    assert not was_fitted(None, *fitted[0])


def test_a_dataset_measured_again_counts_as_the_same(tmp_path: Path) -> None:
    datasets = curves(tmp_path)
    split = choose_split(datasets)
    record = split_record(split, *split_points(datasets, split))
    again = read_dataset(write(tmp_path, rates("shared", {1: [5.0], 2: [6.0]})))
    assert [was_fitted(record, again, point) for point in again.points] == [True, False]


def test_a_dataset_with_another_name_has_the_same_fitted_points(tmp_path: Path) -> None:
    document = rates("a", {1: [1.0, 1.1], 2: [2.0, 2.1]})
    datasets = [read_dataset(write(tmp_path, document))]
    split = choose_split(datasets)
    record = split_record(split, *split_points(datasets, split))
    renamed = read_dataset(write(tmp_path, document | {"dataset": "b"}))
    assert [was_fitted(record, renamed, point) for point in renamed.points] == [True, False]
    other = read_dataset(write(tmp_path, rates("c", {1: [1.0, 1.2], 2: [2.0, 2.1]})))
    assert not any(was_fitted(record, other, point) for point in other.points)


@pytest.mark.parametrize(
    ("threads", "window", "message"),
    [([1, 2, 4, 8], None, "more than half"), ([1, 3], None, "no point was measured with 3 threads"),
     (None, 64, "no point was measured with window 64")],
)  # fmt: skip
def test_a_split_that_could_not_judge_is_refused(
    threads: list[int] | None, window: int | None, message: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=message):
        choose_split(curves(tmp_path), threads, window)


def test_a_dataset_can_be_held_out(tmp_path: Path) -> None:
    datasets = curves(tmp_path)
    with pytest.raises(InputError, match="no dataset 'share' to exclude; did you mean 'shared'"):
        choose_split(datasets, excluded=["share"])
    fitted, _ = split_points(datasets, choose_split(datasets, excluded=["shared"]))
    assert {dataset.name for dataset, _ in fitted} == {"small"}


def test_a_microbenchmark_can_be_held_out(tmp_path: Path) -> None:
    datasets = curves(tmp_path)
    kept = calibration_side(datasets, choose_split(datasets, excluded=["machine"]))
    assert [one.name for one in kept] == ["shared", "small"]
    assert not identify(kept, PROFILES.load("alembert")[1])[0]


def test_a_dataset_that_is_held_out_does_not_choose_what_is_fitted(tmp_path: Path) -> None:
    write(tmp_path, rates("many", {pairs: [1e5] for pairs in (1, 3, 4, 8, 16, 32)}))
    write(tmp_path, rates("few", {pairs: [1e5] for pairs in (1, 2, 4, 6)}, window=64))
    datasets = read_datasets([tmp_path])
    split = choose_split(datasets, excluded=["many"])
    assert (split.threads, split.window) == ((1, 4), 64)
    fitted, _ = split_points(datasets, split)
    assert [(dataset.name, point.parameters["pairs"]) for dataset, point in fitted] == [("few", 1), ("few", 4)]


@pytest.mark.parametrize("windows", [(16, 128), (128, 16)])
def test_of_windows_with_as_many_points_the_smallest_is_fitted(windows: tuple[int, int], tmp_path: Path) -> None:
    datasets = [
        read_dataset(write(tmp_path, rates(f"w{window}", {pairs: [1e5] for pairs in (1, 2, 4)}, window=window)))
        for window in windows
    ]
    assert choose_split(datasets).window == 16


ANOTHER = {"machine": {"id": "another", "cpu": "a processor"}}


def test_a_dataset_of_the_same_name_is_another_one_on_another_machine(tmp_path: Path) -> None:
    datasets = [read_dataset(write(tmp_path, rates("a", {1: [1.0, 1.1], 2: [2.0, 2.1]})))]
    split = choose_split(datasets)
    record = split_record(split, *split_points(datasets, split))
    assert has_samples_of(record, split, datasets[0])
    elsewhere = read_dataset(write(tmp_path, rates("a", {1: [1.5, 1.6], 2: [2.0, 2.1]}) | ANOTHER))
    assert not any(was_fitted(record, elsewhere, point) for point in elsewhere.points)
    assert not has_samples_of(record, split, elsewhere)
    same_samples = read_dataset(write(tmp_path, rates("a", {1: [1.0, 1.1], 2: [2.0, 2.1]}) | ANOTHER))
    assert not has_samples_of(record, split, same_samples)
    nothing_to_fit = read_dataset(write(tmp_path, rates("a", {2: [2.0, 2.1]}) | ANOTHER))
    assert has_samples_of(record, split, nothing_to_fit)


def test_points_of_an_earlier_fit_are_listed_once_and_by_machine(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    here = [read_dataset(write(tmp_path, rates("a", {1: [1.0, 1.1], 2: [2.0, 2.1]})))]
    there = [read_dataset(write(tmp_path / "there", rates("a", {1: [1.5, 1.6], 2: [2.0, 2.1]}) | ANOTHER))]
    split = choose_split(here)
    one, other = (split_record(split, *split_points(datasets, split)) for datasets in (here, there))
    both = split_record(split, *split_points(here, split), {"calibration": one["calibration"] + other["calibration"]})
    assert both["calibration"] == [*one["calibration"], *other["calibration"]]
    assert both["held_out"] == one["held_out"]


def test_a_point_without_samples_is_no_point_of_a_fit_that_lists_none(tmp_path: Path) -> None:
    document = rates("a", {1: [1.0]})
    document["points"] = [{"parameters": {"pairs": 1}, "message_rate": metric(), "outcome": "crashed"}]
    (found,) = read_dataset(write(tmp_path, document)).points
    old = {"calibration": [{"dataset": "b", "machine": "box", "points": [{"pairs": 1}]}]}
    assert not was_fitted(old, read_dataset(write(tmp_path, document)), found)


def test_threads_are_those_of_the_side_with_the_crowd_and_need_no_window(tmp_path: Path) -> None:
    points = [time_of(1e-6, senders=senders, receivers=receivers) for senders, receivers in ((1, 4), (4, 2), (1, 1))]
    one = read_dataset(write(tmp_path, dataset("latency", {"kind": "latency"}, points)))
    assert [threads_of(one, point) for point in one.points] == [4, 4, 1]
    split = Split((4,), window=128)
    assert [split.is_fitted(one, point) for point in one.points] == [True, True, False]
