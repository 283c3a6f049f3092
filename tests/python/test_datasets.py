"""Measured datasets are read as they were written, and refused with a place where they are not what they should be."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

import contend
from calibrating import dataset, metric, rates, write
from contend.common.errors import InputError
from contend.datasets.reading import read_dataset, read_datasets
from contend.profiles.prices import exact_price, format_price, parse_price


@pytest.mark.parametrize(
    ("text", "value", "kind"),
    [("85 ns", 85e-9, "time"), ("12.5 GB/s", 12.5e9, "rate"), ("4 KiB", 4096, "size"), ("100 Gbit/s", 12.5e9, "rate"),
     ("0 ns", 0, "time"), (3, 3, "number"), ("1.5us", 1.5e-6, "time")],
)  # fmt: skip
def test_quantities_are_read(text: object, value: float, kind: str) -> None:
    found = parse_price(text)
    assert (found.value, found.kind) == (pytest.approx(value), kind)


@pytest.mark.parametrize("text", ["85", "ns", "85 parsecs", "", True, None, "1 2 ns"])
def test_what_is_no_quantity_is_refused(text: object) -> None:
    with pytest.raises(InputError, match="no number and no value with a unit"):
        parse_price(text)


@pytest.mark.parametrize("value", [3.7e-13, 8.5e-9, 1.23456e-6, 2.5e-3, 1.0])
def test_what_is_written_is_read_again(value: float) -> None:
    exact = parse_price(exact_price(value, "time")).value
    assert exact == pytest.approx(value, abs=0.5e-12)
    assert parse_price(format_price(value, "time")).value == pytest.approx(value, rel=1e-3)


def test_only_clean_samples_count_unless_none_is_clean(tmp_path: Path) -> None:
    clean = metric(100.0, 110.0, 900.0) | {"clean": [True, True, False]}
    none = metric(100.0, 900.0) | {"clean": [False, False]}
    points = [{"parameters": {"pairs": n}, "message_rate": entry} for n, entry in enumerate((clean, none), 1)]
    first, second = read_dataset(write(tmp_path, dataset("a", {}, points))).points
    assert first.median == pytest.approx(105.0)
    assert second.median == pytest.approx(500.0)


def test_the_error_of_a_median_comes_from_its_launches(tmp_path: Path) -> None:
    apart = metric(*[100.0] * 4, *[120.0] * 4, *[140.0] * 4, launches=3)
    together = metric(*[100.0, 120.0, 120.0, 140.0] * 3, launches=3)
    points = [{"parameters": {"pairs": n}, "message_rate": entry} for n, entry in enumerate((apart, together), 1)]
    one, other = read_dataset(write(tmp_path, dataset("a", {}, points))).points
    assert one.log_error > 1.2 * other.log_error
    single = read_dataset(write(tmp_path, rates("b", {1: [5.0]}))).points[0]
    assert single.log_error == pytest.approx(0.1)


def test_samples_of_one_launch_share_its_luck(tmp_path: Path) -> None:
    """Launches that agree within themselves and differ by 20 % tell what a lonely launch may be off by."""
    several = [metric(*[100.0 * n] * 4, *[120.0 * n] * 4, launches=2) for n in (1, 2, 3)]
    alone = metric(*[500.0, 501.0] * 4)
    points = [{"parameters": {"pairs": n}, "message_rate": entry} for n, entry in enumerate((*several, alone), 1)]
    read = read_dataset(write(tmp_path, dataset("a", {}, points))).points
    # Two launches: the standard deviation of their logarithms, over what the median of that falls short.
    differ = math.log(1.2) / math.sqrt(2) / (1 - 2 / 9) ** 1.5
    assert read[-1].log_error == pytest.approx(differ, rel=0.01)
    lonely = read_dataset(write(tmp_path, dataset("b", {}, points[-1:]))).points[0]
    assert lonely.log_error == pytest.approx(0.1, rel=0.01)


def test_a_point_without_samples_says_why(tmp_path: Path) -> None:
    point = {"parameters": {"pairs": 2}, "message_rate": {"samples": [], "unit": ""}, "outcome": "timed out"}
    found = read_dataset(write(tmp_path, dataset("a", {}, [point]))).points[0]
    assert (found.spread, found.outcome) == (None, "timed out")
    assert math.isinf(found.log_error)
    with pytest.raises(ValueError, match="no median"):
        _ = found.median


def broken(**changes: Any) -> dict[str, Any]:
    return rates("a", {1: [5.0]}) | changes


def one_point(**changes: Any) -> dict[str, Any]:
    own = {key: changes.pop(key) for key in ("samples", "unit", "launch", "clean") if key in changes}
    entry = {"samples": [5.0], "unit": "msg/s"} | own
    return broken(points=[{"parameters": {"pairs": 1}, "message_rate": entry, **changes}])


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ([1], "a dataset is a JSON object"),
        ({k: v for k, v in broken().items() if k != "format"}, "/format: is missing; allowed: 1"),
        ({"formt" if k == "format" else k: v for k, v in broken().items()}, "allowed: 1; did you mean 'formt'?"),
        (broken(format=2), "/format: found 2; this program reads version 1"),
        (broken(format="1"), '/format: found "1"; this program reads version 1'),
        (broken(format=True), "/format: found true; this program reads version 1"),
        (broken(points=3), "/points: found 3; allowed: an array"),
        (broken(machine="box"), '/machine: found "box"; allowed: an object'),
        ({k: v for k, v in broken().items() if k != "transport"}, "/transport: is missing; allowed: a text"),
        (broken(points=[4]), "/points/0: a point is an object"),
        (broken(points=[{"parameters": {}}]), "/points/0: has none of latency, message_rate"),
        (broken(points=[{"parameters": {}, "mesage_rate": {}}]), "perceived_bandwidth; did you mean 'message_rate'?"),
        (
            {"pionts" if k == "points" else k: v for k, v in broken().items()},
            "/pionts: unknown key; did you mean 'points'?",
        ),
        (one_point(parameters={"pairs": -4}), "/points/0/parameters/pairs: found -4; allowed: a whole number from 1"),
        (one_point(parameters={"pairs": "4"}), '/points/0/parameters/pairs: found "4"; allowed: a whole number from 1'),
        (broken(workload={"window": 0}), "/workload/window: found 0; allowed: a whole number from 1"),
        (
            broken(points=[{"parameters": {}, "message_rate": {"samples": [1, -2]}}]),
            "/samples/1: found -2; allowed: a pos",
        ),
        (
            broken(points=[{"parameters": {}, "message_rate": {"samples": [1], "unit": "msg/s", "launch": [1, 2]}}]),
            "one entry per sample",
        ),
        (
            broken(points=[{"parameters": {}, "message_rate": {"samples": [1]}}]),
            '/points/0/message_rate/unit: is missing; allowed: "msg/s"',
        ),
        (one_point(unit="Mmsg/s"), '/points/0/message_rate/unit: found "Mmsg/s"; allowed: "msg/s"'),
        (one_point(unit=7), '/points/0/message_rate/unit: found 7; allowed: "msg/s"'),
        (
            broken(points=[{"parameters": {}, "time_per_operation": metric(5.0, unit="us")}]),
            '/points/0/time_per_operation/unit: found "us"; allowed: "s"',
        ),
        (one_point(launch=[[1]]), "/points/0/message_rate/launch/0: found [1]; allowed: a whole number or a text"),
        (one_point(clean=["no"]), '/points/0/message_rate/clean/0: found "no"; allowed: true or false'),
        (one_point(samples=[10**400]), "/points/0/message_rate/samples/0: found 1000"),
        (one_point(samples=[1e308]), "/samples/0: found 1e+308; allowed: a number from 1e-30 to 1e+30"),
        (one_point(per_launch={}), "/points/0/per_launch: found {}; allowed: an array"),
        (one_point(per_launch=[{"iterations": 5}]), "/per_launch/0/iterations: found 5; allowed: an array"),
        (one_point(per_launch=[{"iterations": ["5"]}]), '/per_launch/0/iterations/0: found "5"; allowed: a whole'),
        (one_point(per_launch=[{"iteration_s": {"p25": "1"}}]), '/iteration_s/p25: found "1"; allowed: a number'),
        (one_point(parameters={"pairs": [1]}), "/points/0/parameters/pairs: found [1]; allowed: a text, a number"),
        (one_point(parameters={"iterations": "5"}), '/parameters/iterations: found "5"; allowed: a whole number'),
        (broken(library={"options": [1]}), "/library/options: found [1]; allowed: an object"),
        (broken(library={"options": "ab"}), '/library/options: found "ab"; allowed: an object'),
        (broken(library={"options": {"yield": [1]}}), "/library/options/yield: found [1]; allowed: a text"),
        (broken(workload={"iterations": "abc"}), '/workload/iterations: found "abc"; allowed: a whole number from 1'),
        (broken(workload={"iterations": [3]}), "/workload/iterations: found [3]; allowed: a whole number from 1"),
        (broken(workload={"requests": [3, 0]}), "/workload/requests: found [3, 0]; allowed: a whole number from 1"),
        (broken(workload={"warmup_iterations": "a"}), '/workload/warmup_iterations: found "a"; allowed: a whole'),
        (
            broken(points=[{"parameters": {"pairs": 1}, "message_rate": metric(5.0)}] * 2),
            "/points/1/parameters: are those of /points/0",
        ),
    ],
)
def test_bad_datasets_are_refused_with_the_place(document: Any, message: str, tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(document))
    with pytest.raises(InputError) as caught:
        read_dataset(path)
    assert str(path) in str(caught.value)
    assert message in str(caught.value)


def test_a_key_that_occurs_twice_is_refused_with_line_and_column(tmp_path: Path) -> None:
    path = write(tmp_path, rates("a", {1: [5.0]}))
    path.write_text(path.read_text().replace('"transport": "tcp"', '"transport": "tcp",\n"transport": "shm"'))
    with pytest.raises(InputError, match=r'a\.json:2:1: the key "transport" occurs twice in one object'):
        read_dataset(path)


def test_text_that_is_no_json_is_refused_with_line_and_column(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"dataset": "a",\n  "points": [1,,2]}')
    with pytest.raises(InputError, match=r"a\.json:2:16: not JSON"):
        read_dataset(path)


def test_folders_are_searched_and_doubles_refused(tmp_path: Path) -> None:
    write(tmp_path, rates("a", {1: [5.0]}))
    (tmp_path / "journal.json").write_text("{}")
    assert [one.name for one in read_datasets([tmp_path])] == ["a"]
    with pytest.raises(InputError, match="has no datasets"):
        read_datasets([_empty(tmp_path)])
    other = tmp_path / "other"
    other.mkdir()
    write(other, rates("a", {2: [5.0]}))
    with pytest.raises(InputError, match="both the dataset 'a' of one machine"):
        read_datasets([tmp_path])


def _empty(folder: Path) -> Path:
    path = folder / "empty"
    path.mkdir()
    return path


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b'{"dataset": "b",\n  "points": [', r"b\.json:2:14: not JSON"),
        (b"", r"b\.json:1:1: not JSON"),
        (b"\xff{}", r"cannot read the file .*b\.json: not UTF-8"),
    ],
)
def test_a_damaged_file_of_a_folder_is_not_left_out_without_a_word(
    content: bytes, problem: str, tmp_path: Path
) -> None:
    write(tmp_path, rates("a", {1: [5.0]}))
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "folder.json" / "b.json").write_bytes(content)
    with pytest.raises(InputError, match=problem):
        read_datasets([tmp_path])


def test_a_dataset_has_a_frame_of_its_clean_samples(tmp_path: Path) -> None:
    rate = metric(100.0, 105.0, 110.0, 120.0, 125.0, 130.0, 900.0, launches=7) | {"clean": [True] * 6 + [False]}
    points: list[dict[str, Any]] = [
        {"parameters": {"message_size": "1 KiB", "pairs": 2}, "message_rate": rate},
        {"parameters": {"message_size": "0 B", "pairs": 2}, "message_rate": metric(5.0)},
        {"parameters": {"message_size": "8 B", "bind": "compact"}, "message_rate": metric(), "outcome": "timed out"},
    ]
    loaded = contend.load_dataset(write(tmp_path, dataset("a", {"window": 16}, points)))
    assert (loaded.library_key, loaded.transport, loaded.workload) == ("alib", "tcp", {"window": 16})
    frame = loaded.frame()
    assert frame.columns == [
        "message_size", "pairs", "bind", "metric", "unit", "median", "median_ci95_low", "median_ci95_high", "cov",
        "samples", "outcome",
    ]  # fmt: skip
    assert frame["message_size"].to_list() == [1024, 0, 8]
    assert frame["pairs"].to_list() == [2, 2, None]
    assert frame["median"].to_list() == [115.0, 5.0, None]
    assert frame["samples"].to_list() == [6, 1, 0]
    low, high = frame["median_ci95_low"].to_list(), frame["median_ci95_high"].to_list()
    assert 100.0 <= low[0] < 115.0 < high[0] <= 130.0
    assert low[1:] == high[1:] == [None, None]
    assert frame["outcome"].to_list() == ["ok", "ok", "timed out"]


def test_a_dataset_without_points_has_an_empty_frame(tmp_path: Path) -> None:
    assert contend.load_dataset(write(tmp_path, dataset("a", {}, []))).frame().is_empty()
