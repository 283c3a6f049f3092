"""Draws that a calibration left in its record, part by part, and those of all parts that a dataset is predicted with.

A part of a calibration has parameters of several scopes: the machine, a library, a transport, a library over a
transport. What it knows of a library holds over all transports; but only over those that it was fitted to does it know
all that it could.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from contend.calibrate.mapping import scope_keys
from contend.calibrate.problem import MACHINE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contend.common.jsontypes import JsonObject
    from contend.datasets.dataset import Dataset

POSTERIOR = "draws of the posterior"
FOLDS = "the fits without a thread count"


@dataclass(frozen=True)
class StoredDraws:
    """Draws of the parameters of one part of a calibration: [draw][name -> text], and the discrepancy of each.

    `where` has path and scope of each drawn parameter, `scopes` those of all parameters of the part. `fitted_to` are
    library and transport of its points, None where the record does not say them, and `datasets` the names of theirs.
    """

    where: dict[str, tuple[str, str]]
    values: list[dict[str, object]]
    discrepancy: list[float]
    origin: str
    scopes: frozenset[str] = frozenset()
    fitted_to: frozenset[tuple[str, str]] | None = None
    datasets: frozenset[str] = field(default=frozenset())

    def apply_to(self, dataset: Dataset) -> bool:
        """Whether some of it is of a dataset: of its library or its transport, or all of it of the machine alone."""
        scopes = {MACHINE, *scope_keys(dataset)}
        return any(scope in scopes and scope != MACHINE for _, scope in self.where.values()) or all(
            scope == MACHINE for _, scope in self.where.values()
        )

    def was_fitted_to(self, dataset: Dataset) -> bool:
        """Whether the part has points of a dataset's library over its transport.

        Profiles of earlier versions do not say it. There it is told by parameters of a library over a transport; a part
        that has none of these counts for all transports, and one of the machine alone for the datasets that it names.
        """
        if self.fitted_to is not None:
            return (dataset.library_key, dataset.transport) in self.fitted_to
        if any("/" in scope for scope in self.scopes):
            return scope_keys(dataset)[-1] in self.scopes
        return self.scopes != {MACHINE} or dataset.name in self.datasets


def stored_draws(record: JsonObject) -> list[StoredDraws]:
    """The draws that a calibration left in its record, part by part; none of a part without posterior and folds."""
    found = []
    for part in record.get("fits", ()):
        posterior, folds = part.get("posterior") or {}, part.get("cross_validation")
        if "draws" in posterior:
            names, rows = posterior["parameters"], posterior["draws"]
            discrepancy, origin = posterior["discrepancy_draws"], POSTERIOR
        elif folds is not None:
            names, rows = folds["parameters"], [fold["place"] for fold in folds["folds"]]
            discrepancy, origin = [], FOLDS
        else:
            continue
        where = {one["name"]: (one["path"], one["scope"]) for one in part["parameters"]}
        said = part.get("fitted_to")
        found.append(
            StoredDraws(
                {name: where[name] for name in names},
                [dict(zip(names, row, strict=True)) for row in rows],
                discrepancy,
                origin,
                frozenset(scope for _, scope in where.values()),
                None if said is None else frozenset((one["library"], one["transport"]) for one in said),
                frozenset(point["dataset"] for point in part.get("points", ())),
            )
        )
    return found


@dataclass(frozen=True)
class JoinedDraws:
    """The draws of all parts of which some is of a dataset.

    `values` are [part][draw][name -> text]; `places` say of each parameter its path, its part and its name, the most
    special scope last, and `where` of each path the scope that its values are of. `was_fitted`: whether one of the
    parts was fitted to the dataset's library over its transport.
    """

    values: list[list[dict[str, object]]]
    places: list[tuple[str, int, str]]
    where: dict[str, str]
    discrepancy: list[float]
    origin: str
    was_fitted: bool

    def row(self, index: int) -> dict[str, object]:
        """All drawn values by path. Few draws, such as fits without a thread count, are taken several times each."""
        rows = [part[index % len(part)] for part in self.values]
        return {path: rows[number][name] for path, number, name in self.places}


def joined_draws(stored: Sequence[StoredDraws], dataset: Dataset) -> JoinedDraws | None:
    """The draws of all parts of which some is of a dataset; None where there is no such part.

    The discrepancy is that of the part that was fitted to the dataset's library over its transport, or else of the one
    with parameters of the most special scope.
    """
    order = [MACHINE, *scope_keys(dataset)]
    chosen = [one for one in stored if one.values and one.apply_to(dataset)]
    if not chosen:
        return None
    placed = sorted(
        (
            (order.index(scope), path, number, name)
            for number, one in enumerate(chosen)
            for name, (path, scope) in one.where.items()
            if scope in order
        ),
        key=lambda one: one[0],
    )
    first = max(chosen, key=lambda one: (one.was_fitted_to(dataset), _rank(one, order)))
    return JoinedDraws(
        [one.values for one in chosen],
        [(path, number, name) for _, path, number, name in placed],
        {path: order[rank] for rank, path, _, _ in placed},
        first.discrepancy,
        " and ".join(dict.fromkeys([first.origin, *(one.origin for one in chosen)])),
        any(one.was_fitted_to(dataset) for one in chosen),
    )


def _rank(one: StoredDraws, order: Sequence[str]) -> int:
    """How special the most special scope is that a part has parameters of."""
    return max(order.index(scope) for _, scope in one.where.values() if scope in order)
