"""What the curves in pictures of a result run over."""

from __future__ import annotations

from typing import Any

from contend.accuracy.along import along


def point(size: int, threads: int = 1, dataset: str = "d", *, value: float = 1.0, **others: object) -> dict[str, Any]:
    return {
        "machine": "m",
        "dataset": dataset,
        "threads": threads,
        "parameters": {"message_size": size, "pairs": threads, **others},
        "measured": {"median": value},
    }


def test_curves_run_over_counts_where_a_dataset_has_several() -> None:
    points = [point(size, threads) for size in (1, 64) for threads in (1, 4, 2)]
    chosen = along(points)
    assert chosen.title == "threads or pairs"
    assert [[chosen.place(one) for one in curve.points] for curve in chosen.curves(points)] == [[1, 2, 4]] * 2
    assert (chosen.label(16), chosen.by_order) == ("16", False)


def test_curves_run_over_sizes_where_counts_do_not_vary() -> None:
    points = [point(size, count, name) for name, count in (("one", 1), ("many", 20)) for size in (4096, 0, 256)]
    chosen = along(points)
    assert chosen.title == "message size (bytes)"
    assert [[chosen.place(one) for one in curve.points] for curve in chosen.curves(points)] == [[0, 256, 4096]] * 2
    assert [chosen.label(place) for place in (0, 256, 4096, 3 << 20)] == ["0", "256", "4 Ki", "3 Mi"]
    assert chosen.by_order  # zero has no logarithm


def test_what_a_ratio_is_over_tells_curves_apart_only_where_sizes_do_not() -> None:
    over_another = [point(size, series=f"{size} B") for size in (1, 2, 4)]
    assert len(along(over_another).curves(over_another)) == 1
    in_flight = [point(size, series=f"{count} in flight") for size in (1, 2) for count in (1, 10)]
    found = along(in_flight).curves(in_flight)
    assert [curve.others["series"] for curve in found] == ["1 in flight", "10 in flight"]
    assert [[one["parameters"]["message_size"] for one in curve.points] for curve in found] == [[1, 2]] * 2


def test_of_sizes_and_windows_the_one_with_more_on_its_curves_is_chosen() -> None:
    many_windows = [point(size, window=window) for size in (1, 1024) for window in (1, 10, 100)]
    assert along(many_windows).title == "window (messages)"
    many_sizes = [point(size, window=window) for size in (0, 1, 1024) for window in (1, 10)]
    assert along(many_sizes).title == "message size (bytes)"
    # Of equals, what the values depend on.
    alike = [point(size, window=window, value=1 / window) for size in (1, 1024) for window in (1, 10)]
    assert along(alike).title == "window (messages)"


def test_sizes_may_be_written_with_units_and_only_round_ones_are_labelled_so() -> None:
    points: list[dict[str, Any]] = [point(size) for size in (64, 4096, 5000)]
    points[1]["parameters"]["message_size"] = "4 KiB"
    chosen = along(points)
    assert [chosen.place(one) for one in points] == [64, 4096, 5000]
    assert [chosen.label(place) for place in (64, 4096, 5000)] == ["64", "4 Ki", "5000"]
    windows = [point(1, window=window) for window in (1, 1024)]
    assert along(windows).label(1024) == "1024"  # messages
    del points[2]["parameters"]["message_size"]
    assert along(points).title == "threads or pairs"  # not known of all


def test_a_single_size_is_no_axis() -> None:
    points = [point(8, dataset="one"), point(8, dataset="two")]
    assert along(points).title == "threads or pairs"
