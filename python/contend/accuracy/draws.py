"""Draws of the parameters with which points are predicted, and the discrepancy of the model that goes with each.

Both are the calibration's where there was one: of its posterior, or, where it has none, the fits without a thread
count. Otherwise parameters are drawn from the ranges of the profile's values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats
from scipy.stats import qmc

from contend.accuracy.stored_draws import joined_draws
from contend.calibrate.likelihood import DEGREES_OF_FREEDOM
from contend.calibrate.mapping import scope_keys, scoped_entries
from contend.calibrate.problem import MACHINE
from contend.common.documents import get_path, with_values
from contend.profiles.catalogs import parameters as parameters_of
from contend.profiles.prices import exact_price, parse_price

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contend.accuracy.stored_draws import StoredDraws
    from contend.calibrate.problem import Target, Vector
    from contend.common.jsontypes import JsonObject

_RANGE_DRAWS = 24
# Of the discrepancy, where it goes with one draw of the parameters, or with the prediction itself.
_QUANTILES = 64
_NO_PRICES = "topology"
_MACHINE_PREFIX = "machine."
_LEFT_OUT = "the discrepancy of thread counts left out of the fit"
# A residual is Student's t: its scale over the median of its absolute values.
_MEDIAN_TO_SCALE = float(1 / stats.t.ppf(0.75, DEGREES_OF_FREEDOM))


@dataclass(frozen=True)
class Drawn:
    """Configurations with drawn parameters, the discrepancy of each draw, and where both come from, in words."""

    configs: list[JsonObject]
    discrepancy: list[float]
    origin: str


def drawn_configs(profile: JsonObject, target: Target, stored: Sequence[StoredDraws], draws: int, seed: int) -> Drawn:
    """Configurations of a point with drawn parameters.

    Of the stored draws those of all parts that have some for the point's library and transport count, row by row. Where
    none of these parts was fitted to this library over this transport, what they know nothing of is drawn from the
    profile's ranges; without stored draws all is.

    Args:
        profile: The document of the machine profile.
        target: The point, with its configuration.
        stored: What `stored_draws` found in the profile.
        draws: How many configurations, at most.
        seed: Of draws from ranges, and of the order of discrepancies.
    """
    joined = joined_draws(stored, target.dataset)
    if joined is None:
        return _from_ranges(profile, target, min(draws, _RANGE_DRAWS), seed)
    if joined.was_fitted:
        configs = [with_values(target.config, joined.row(index)) for index in range(draws)]
        origin = joined.origin
    else:
        known = draws_from_ranges(profile, target, min(draws, _RANGE_DRAWS), seed) or [target.config] * draws
        rows = (_of_profile(profile, target, joined.row(index), joined.where) for index in range(len(known)))
        configs = [with_values(config, row) for config, row in zip(known, rows, strict=True)]
        origin = f"{joined.origin} where other fits have some, and draws from the ranges of the profile's values"
    if found := left_out_discrepancy(profile, target, len(configs), seed):
        return Drawn(configs, found, f"{origin}, {_LEFT_OUT}")
    own = list(joined.discrepancy[: len(configs)])
    return Drawn(configs, own, f"{origin}, {'the discrepancy of the fit' if own else 'no discrepancy'}")


def _from_ranges(profile: JsonObject, target: Target, draws: int, seed: int) -> Drawn:
    configs = draws_from_ranges(profile, target, draws, seed)
    parameters = "draws from the ranges of the profile's values" if configs else "no draws of parameters"
    if found := left_out_discrepancy(profile, target, len(configs), seed):
        return Drawn(configs, found, f"{parameters}, {_LEFT_OUT}")
    found = residual_spread(profile, target)
    return Drawn(configs, found, f"{parameters}, {'residuals of the fit' if found else 'no discrepancy'}")


def _of_profile(
    profile: JsonObject, target: Target, row: dict[str, object], where: dict[str, str]
) -> dict[str, object]:
    """Those drawn values that stand for what the profile says of a point to which no part was fitted.

    A value that the profile has for a more special scope, or that the mapping sets in place of the machine's, stays.
    """
    scopes = (profile.get("calibration") or {}).get("scopes") or {}
    order = [MACHINE, *scope_keys(target.dataset)]
    found = {}
    for path, value in row.items():
        is_hidden = any(path in scopes.get(one, {}) for one in order[order.index(where[path]) + 1 :])
        entry = get_path(profile, path.removeprefix(_MACHINE_PREFIX)) if where[path] == MACHINE else None
        is_set = isinstance(entry, dict) and not _is_value_of(target.config, path, entry["value"])
        if not is_hidden and not is_set:
            found[path] = value
    return found


def left_out_discrepancy(profile: JsonObject, target: Target, count: int, seed: int) -> list[float]:
    """What left-out thread counts say of the model's discrepancy for this library and transport; empty if none were.

    It goes with no draw of the parameters in particular: as many quantiles of it as there are draws, in any order. One
    quantile would be its median and nothing of how wide it is: with a draw or none there are more.
    """
    record = (profile.get("calibration") or {}).get("discrepancy")
    if not record:
        return []
    found: JsonObject = record["others"]
    for one in record["groups"]:
        if (one["library"], one["transport"]) == (target.dataset.library_key, target.dataset.transport):
            found = one
    size = count if count > 1 else _QUANTILES
    quantiles = np.quantile(found["draws"], (np.arange(size) + 0.5) / size)
    return [float(one) for one in np.random.default_rng(seed).permutation(quantiles)]


def residual_spread(profile: JsonObject, target: Target) -> list[float]:
    """What a fit without posterior says of the model's discrepancy: the scale of its residuals, by their median."""
    scopes = set(scope_keys(target.dataset))
    for part in (profile.get("calibration") or {}).get("fits", ()):
        if scopes & {one["scope"] for one in part["parameters"]}:
            median = (part.get("error_pct") or {}).get("median")
            return [] if median is None else [_MEDIAN_TO_SCALE * math.log1p(median / 100)]
    return []


@dataclass(frozen=True)
class _Range:
    """Where a value of a configuration may be, in base units."""

    path: str
    kind: str
    low: float
    high: float

    def at(self, position: float) -> str | float:
        """The value at a position between 0 and 1, in logarithms."""
        return exact_price(self.low * (self.high / self.low) ** position, self.kind)


def draws_from_ranges(profile: JsonObject, target: Target, draws: int, seed: int) -> list[JsonObject]:
    """Parameters drawn from their ranges, by a Latin hypercube in logarithms."""
    ranges = _ranges(profile, target)
    if not ranges:
        return []
    sampler = qmc.LatinHypercube(len(ranges), rng=np.random.default_rng(seed))
    places: Vector = np.asarray(sampler.random(draws), dtype=float)
    return [
        with_values(
            target.config,
            {one.path: one.at(float(position)) for one, position in zip(ranges, row, strict=True)},
        )
        for row in places
    ]


def _ranges(profile: JsonObject, target: Target) -> list[_Range]:
    """Ranges of the values that the profile gives this point: those of its library and transport before the machine's.

    What the mapping sets is no value of the profile, so that the profile's range says nothing about it.
    """
    entries = {
        f"{_MACHINE_PREFIX}{one.path}": get_path(profile, one.path)
        for one in parameters_of(profile)
        if one.path.split(".")[0] != _NO_PRICES
    }
    entries |= dict(scoped_entries(profile, target.dataset))
    found = []
    for path, entry in entries.items():
        is_price = "range" in entry and not isinstance(entry["value"], bool)
        if not is_price or not _is_value_of(target.config, path, entry["value"]):
            continue
        low, high = (parse_price(limit) for limit in entry["range"])
        if low.kind in {"time", "rate"} and high.value > 0 and low.value < high.value:
            found.append(_Range(path, low.kind, max(low.value, high.value * 1e-3), high.value))
    return found


def _is_value_of(config: JsonObject, path: str, value: object) -> bool:
    """Whether a configuration, whose times are whole picoseconds, has a value at a path."""
    used = get_path(config, path)
    if used is None:
        return False
    one, other = parse_price(used), parse_price(value)
    return one.kind == other.kind and math.isclose(one.value, other.value, rel_tol=1e-6, abs_tol=1e-12)
