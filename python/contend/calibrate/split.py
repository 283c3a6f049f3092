"""Which measured points a calibration may use, and which are held out to judge its predictions.

By number of threads: at most half of the thread counts, every second one from the smallest, and one window. Points of
one thread count are all on the same side, whatever library, transport or design they are of, so that no curve lends its
shape to a prediction of itself. Points of calls over many requests have no threads: of them those are on the side of
the fit that a price is identified from directly. Points of partitioned communication, whose threads hand pieces of one
message over, are all held out.
"""

from __future__ import annotations

import collections
import copy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from contend.calibrate.waiting_points import WAITING, isolates
from contend.common.errors import InputError
from contend.common.nearest import nearest_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from contend.common.jsontypes import JsonObject
    from contend.datasets.dataset import Dataset, MeasuredPoint

# Names that the number of communicating threads or processes goes by: the first group that a point has some of counts,
# and of a group the largest number, which is the side with the crowd.
THREADS = (("pairs",), ("threads",), ("senders", "receivers"))
# Workloads that a scenario can stand for: a fit looks at them, but at those of waiting only for single prices, and at
# those of partitioned communication not at all.
FITTED_KINDS = ("multirate", "rma-mt", "latency", "locks", "waiting", "partitioned")

# Microbenchmarks that prices are identified from: nothing that a scenario could stand for.
PRICE_KINDS = ("primitives", "machine")


def merged(dataset: Dataset, point: MeasuredPoint) -> dict[str, Any]:
    """All that is known about a point's workload."""
    return dataset.workload | {name.removeprefix("workload."): value for name, value in point.parameters.items()}


def threads_of(dataset: Dataset, point: MeasuredPoint) -> int | None:
    """The number of pairs or threads of a point; None where there is no such thing."""
    known = merged(dataset, point)
    names = next((group for group in THREADS if any(name in known for name in group)), ())
    values = [known[name] for name in names if name in known]
    return max(values) if values and all(type(value) is int for value in values) else None


def curve_axes(points: Iterable[Mapping[str, object]]) -> frozenset[str]:
    """Names of parameters along which a dataset's curves over threads, requests or partitions run.

    Where numbers of senders and of receivers vary independently, a curve is of one number of senders.

    Args:
        points: The parameters of each point of the dataset.
    """
    names = frozenset(name for group in (*THREADS, ("requests",), ("partitions",)) for name in group)
    sides = {(point.get("senders"), point.get("receivers")) for point in points}
    senders, receivers = ({side[i] for side in sides} for i in range(2))
    return names - {"senders"} if len(sides) > max(len(senders), len(receivers)) else names


@dataclass(frozen=True)
class Split:
    """A rule: thread counts and window that are fitted to. `excluded` names datasets that no number is from."""

    threads: tuple[int, ...]
    window: int | None
    excluded: tuple[str, ...] = field(default=())

    def is_fitted(self, dataset: Dataset, point: MeasuredPoint) -> bool:
        """Whether a fit, or direct identification, may use a point."""
        if dataset.kind == WAITING:
            return dataset.name not in self.excluded and isolates(dataset, point)
        window = merged(dataset, point).get("window")
        return (
            dataset.kind in FITTED_KINDS
            and dataset.name not in self.excluded
            and threads_of(dataset, point) in self.threads
            and (self.window is None or window is None or window == self.window)
        )

    def to_json(self) -> JsonObject:
        """As it stands in a profile."""
        return {
            "rule": "by thread counts and window; a thread count is on the same side for every dataset",
            "threads": list(self.threads),
            "window": self.window,
            "excluded": list(self.excluded),
        }


def choose_split(
    datasets: Sequence[Dataset],
    threads: Sequence[int] | None = None,
    window: int | None = None,
    excluded: Sequence[str] = (),
) -> Split:
    """The split for some datasets.

    Args:
        datasets: What was measured.
        threads: Thread counts to fit to; every second one from the smallest of those that datasets have which are not
            excluded, if not given.
        window: The window to fit to; the one with most points of these datasets if not given, of several the smallest.
        excluded: Datasets that are only validated on.

    Raises:
        InputError: More than half of the thread counts were asked for, or one that was not measured, or a dataset to
            exclude is not there.
    """
    counts, windows = _measured(datasets)
    own_counts, own_windows = _measured([dataset for dataset in datasets if dataset.name not in excluded])
    ordered, own = sorted(counts), sorted(own_counts)
    most = max(1, len(ordered) // 2)
    chosen = tuple(own[::2][: max(1, len(own) // 2)]) if threads is None else tuple(sorted(set(threads)))
    if unknown := [count for count in chosen if count not in counts]:
        raise InputError(f"no point was measured with {unknown[0]} threads; measured: {', '.join(map(str, ordered))}")
    if len(chosen) > most:
        raise InputError(
            f"{len(chosen)} of {len(ordered)} thread counts is more than half: the others could not judge the fit"
        )
    names = sorted(dataset.name for dataset in datasets)
    for name in excluded:
        if name not in names:
            near = nearest_names(name, names)
            hint = f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(names)}"
            raise InputError(f"no dataset {name!r} to exclude; {hint}")
    if window is not None and window not in windows:
        raise InputError(
            f"no point was measured with window {window}; measured: {', '.join(map(str, sorted(windows)))}"
        )
    common = max(own_windows, key=lambda value: (own_windows[value], -value), default=None)
    return Split(chosen, common if window is None else window, tuple(excluded))


def _measured(datasets: Sequence[Dataset]) -> tuple[set[int], collections.Counter[int]]:
    """The thread counts of points that a fit can look at, and how many of these points each window has."""
    counts: set[int] = set()
    windows: collections.Counter[int] = collections.Counter()
    for dataset in datasets:
        if dataset.kind not in FITTED_KINDS:
            continue
        for point in dataset.points:
            if (count := threads_of(dataset, point)) is not None:
                counts.add(count)
            if isinstance(value := merged(dataset, point).get("window"), int):
                windows[value] += 1
    return counts, windows


def split_points(
    datasets: Sequence[Dataset], split: Split
) -> tuple[list[tuple[Dataset, MeasuredPoint]], list[tuple[Dataset, MeasuredPoint]]]:
    """Points to fit to, and points held out. Datasets of other kinds, such as microbenchmarks, are in neither."""
    fitted: list[tuple[Dataset, MeasuredPoint]] = []
    held_out: list[tuple[Dataset, MeasuredPoint]] = []
    for dataset in datasets:
        if dataset.kind in FITTED_KINDS:
            for point in dataset.points:
                (fitted if split.is_fitted(dataset, point) else held_out).append((dataset, point))
    return fitted, held_out


def calibration_side(datasets: Sequence[Dataset], split: Split) -> list[Dataset]:
    """The datasets that are not excluded, without the points that are held out.

    Those of other kinds, such as microbenchmarks, are as they are.
    """
    return [
        replace(dataset, points=tuple(point for point in dataset.points if split.is_fitted(dataset, point)))
        if dataset.kind in FITTED_KINDS
        else dataset
        for dataset in datasets
        if dataset.name not in split.excluded
    ]


def split_record(
    split: Split,
    fitted: Sequence[tuple[Dataset, MeasuredPoint]],
    held_out: Sequence[tuple[Dataset, MeasuredPoint]],
    earlier: JsonObject | None = None,
) -> JsonObject:
    """The split as it is written into a profile: the rule, and every point by name.

    Points that the base profile was fitted to, which `earlier` is the split of, are points of a fit here as well.
    """
    calibration = _listed(fitted)
    for entry in (earlier or {}).get("calibration", ()):
        _unite(calibration, entry)
    judging = [one for one in held_out if not was_fitted({"calibration": calibration}, *one)]
    return split.to_json() | {"calibration": calibration, "held_out": _listed(judging)}


def has_samples_of(record: JsonObject, split: Split, dataset: Dataset) -> bool:
    """Whether what a split fits of a dataset is what a profile's record of it lists, with the same samples.

    A dataset of the same name that another machine measured is another one.
    """
    listed = [
        entry
        for entry in record.get("calibration", ())
        if (entry["dataset"], entry["machine"]) == (dataset.name, dataset.machine_id)
    ]
    if not listed:
        return not any(split.is_fitted(dataset, point) for point in dataset.points)
    digests = {point.digest for point in dataset.points}
    return all(
        entry.get("sha256") == dataset.digest or (entry.get("samples") and digests.issuperset(entry["samples"]))
        for entry in listed
    )


def _unite(entries: list[JsonObject], other: JsonObject) -> None:
    """Adds the points of an entry to those of the same dataset, or the entry where there is none."""
    for entry in entries:
        if (entry["dataset"], entry["machine"]) == (other["dataset"], other["machine"]):
            for key in ("points", "samples"):
                entry[key] += [one for one in other.get(key, ()) if one not in entry[key]]
            return
    entries.append(copy.deepcopy(other))


def _listed(points: Sequence[tuple[Dataset, MeasuredPoint]]) -> list[JsonObject]:
    found: dict[str, JsonObject] = {}
    for dataset, point in points:
        entry = found.setdefault(
            f"{dataset.machine_id}/{dataset.name}",
            {
                "dataset": dataset.name,
                "machine": dataset.machine_id,
                "sha256": dataset.digest,
                "points": [],
                "samples": [],
            },
        )
        entry["points"].append(point.parameters)
        if point.digest is not None:
            entry["samples"].append(point.digest)
    return list(found.values())


def was_fitted(record: JsonObject | None, dataset: Dataset, point: MeasuredPoint) -> bool:
    """Whether a profile's split says that a point was used for its calibration.

    A dataset that was measured again on the same machine counts as the same: same name, same parameters. So does a
    point with the same parameters and samples, whatever its dataset is called.
    """
    for entry in (record or {}).get("calibration", ()):
        is_same = entry["dataset"] == dataset.name and entry["machine"] == dataset.machine_id
        if (is_same and point.parameters in entry["points"]) or point.digest in entry.get("samples", ()):
            return True
    return False
