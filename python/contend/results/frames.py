"""Data frames: one row an observation, one column a variable, units beside them."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

from contend.common.errors import ContendError
from contend.common.quantities import parse_quantity
from contend.results.measures import ESTIMATED, unit_in_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd
    import polars as pl

    from contend.common.jsontypes import JsonObject, Scalar
    from contend.common.statistics import Estimate
    from contend.results.results import PointResult


def frame_of(rows: Iterable[Mapping[str, Any]]) -> pl.DataFrame:
    """A data frame of rows that may differ in their columns; a column has one type."""
    import polars as pl

    rows = list(rows)
    columns = list(dict.fromkeys(name for row in rows for name in row))
    return pl.DataFrame({name: _column([row.get(name) for row in rows]) for name in columns}, strict=False)


def _column(values: list[Any]) -> list[Any]:
    """Values of one type: numbers as they are if all are, else text."""
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int, float}:
        return [None if value is None else float(value) for value in values]
    if len(kinds) > 1:
        return [None if value is None else str(value) for value in values]
    return values


def parameter_units(points: Sequence[Mapping[str, Scalar]]) -> dict[str, str]:
    """The SI unit of each swept parameter whose values all are quantities of one kind."""
    units = {}
    for name in dict.fromkeys(name for point in points for name in point):
        found = {q.unit if (q := parse_quantity(point.get(name))) else None for point in points}
        if len(found) == 1 and (unit := found.pop()) is not None:
            units[name] = unit
    return units


def plain_parameters(points: Sequence[Mapping[str, Scalar]]) -> list[dict[str, Scalar]]:
    """Parameters with quantities as numbers in SI units."""
    units = parameter_units(points)
    if not units:
        return [dict(point) for point in points]
    plain = []
    for point in points:
        row = dict(point)
        for name, unit in units.items():
            quantity = parse_quantity(row[name])
            assert quantity is not None  # noqa: S101 - parameter_units looked
            row[name] = round(quantity.value) if unit == "B" else quantity.value
        plain.append(row)
    return plain


def parameter_columns(points: Sequence[PointResult], scenario: JsonObject) -> dict[str, str]:
    """The columns of swept parameters: their names, or dotted paths where results have a column of that name.

    Args:
        points: What the frame has.
        scenario: The scenario that they are of.
    """
    names = list(dict.fromkeys(name for point in points for name in point.parameters))
    taken = {"replication"}.union(*(_row({}, point) for point in points))
    paths = _swept_paths(scenario) if taken.intersection(names) else {}
    return {name: paths.get(name, f"parameters.{name}") if name in taken else name for name in names}


def _swept_paths(scenario: JsonObject) -> dict[str, str]:
    """The paths of a sweep by the names that points have of them."""
    sweep = scenario.get("sweep") or {}
    found = {}
    for path in sweep[0] if isinstance(sweep, list) else sweep:
        section, _, last = path.rpartition(".")
        found[section.rpartition(".")[2] if last == "count" else last] = path
    return found


def named_parameters(points: Sequence[PointResult], scenario: JsonObject) -> list[dict[str, Scalar]]:
    """The parameters of points by their columns."""
    columns = parameter_columns(points, scenario)
    return [{columns[name]: value for name, value in point.parameters.items()} for point in points]


def points_frame(points: Sequence[PointResult], scenario: JsonObject) -> pl.DataFrame:
    """One row per point: see Results.frame."""
    parameters = plain_parameters(named_parameters(points, scenario))
    return frame_of(_row(plain, point) for plain, point in zip(parameters, points, strict=True))


def _row(parameters: dict[str, Scalar], point: PointResult) -> dict[str, Scalar]:
    row: dict[str, Scalar] = dict(parameters)
    for name, value in point.estimates.items():
        row[name] = value.mean
        row[f"{name}_ci95_low"] = value.low
        row[f"{name}_ci95_high"] = value.high
    if point.measured is not None:
        row["measured"] = point.measured["median"]
        row["predicted"] = point.measured["predicted"]
    row["replications"] = point.replications
    row.update(point.scalars)
    row.update(point.counters)
    for role, times in point.time_by_category_ns.items():
        row.update({f"{role}_{category}_ns": time for category, time in times.items()})
    for role, used in point.usage.items():
        row.update({f"{role}_{name}": count for name, count in used.items()})
    row["simulated_s"] = point.simulated_s
    row["wall_s"] = point.wall_s
    row["events"] = point.events
    return row


def samples_frame(points: Sequence[PointResult], scenario: JsonObject) -> pl.DataFrame:
    """One row per replication: see Results.samples."""
    parameters = plain_parameters(named_parameters(points, scenario))
    return frame_of(
        {**plain, "replication": number, **{name: _sample(value, number) for name, value in point.estimates.items()}}
        for plain, point in zip(parameters, points, strict=True)
        for number in range(point.replications)
    )


def _sample(value: Estimate, number: int) -> float | None:
    """What a replication gave; None where results have no samples."""
    return value.samples[number] if number < len(value.samples) else None


def times_frame(entries: Iterable[tuple[Mapping[str, Scalar], Mapping[str, Mapping[str, float]]]]) -> pl.DataFrame:
    """One row per role and category: see Results.times."""
    entries = list(entries)
    parameters = plain_parameters([parameters for parameters, _ in entries])
    rows: list[JsonObject] = []
    for plain, (_, times) in zip(parameters, entries, strict=True):
        for role, by_category in times.items():
            total = sum(by_category.values()) or 1.0
            rows += [
                {**plain, "role": role, "category": category, "time_ns": float(time), "share": time / total}
                for category, time in by_category.items()
            ]
    return frame_of(rows)


def units_of(points: Sequence[PointResult], scenario: JsonObject) -> dict[str, str]:
    """The unit of every column of points_frame that has one."""
    units = parameter_units(named_parameters(points, scenario))
    for name, unit in ESTIMATED.items():
        if any(name in point.estimates for point in points):
            units |= dict.fromkeys((name, f"{name}_ci95_low", f"{name}_ci95_high"), unit)
    named = dict.fromkeys(
        name
        for point in points
        for name in (*point.scalars, *point.counters, *_columns_by_role(point), "simulated_s", "wall_s")
    )
    for name in named:
        if unit := unit_in_name(name):
            units[name] = unit
    return units


def _columns_by_role(point: PointResult) -> list[str]:
    times = [f"{role}_{category}_ns" for role, times in point.time_by_category_ns.items() for category in times]
    return times + [f"{role}_{name}" for role, used in point.usage.items() for name in used]


def parquet_bytes(frame: pl.DataFrame, metadata: Mapping[str, object]) -> bytes:
    """A Parquet file; each entry of the metadata is JSON under "contend.NAME".

    Read it with `polars.read_parquet_metadata`.
    """
    buffer = io.BytesIO()
    frame.write_parquet(
        buffer, metadata={f"contend.{name}": json.dumps(value, ensure_ascii=False) for name, value in metadata.items()}
    )
    return buffer.getvalue()


def to_pandas(frame: pl.DataFrame, units: Mapping[str, str]) -> pd.DataFrame:
    """A Polars frame for pandas, units in `attrs["units"]`.

    Raises:
        ContendError: pandas is not installed.
    """
    try:
        import pandas as pd
    except ImportError as error:
        raise ContendError("pandas is not installed: pip install 'contend[pandas]'") from error
    converted = pd.DataFrame(frame.to_dict(as_series=False))
    converted.attrs["units"] = dict(units)
    return converted
