"""What is fitted: `validation/STUDY/fit.json`, which prices may move and which of the study's numbers move them."""

from __future__ import annotations

import copy
import hashlib
import json
import math
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from contend.common.documents import misfit
from contend.common.errors import InputError
from contend.common.reading import read_json
from contend.profiles.prices import format_price, parse_price
from contend.scenarios.resolution import Point, resolve_scenario

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from contend.common.jsontypes import JsonObject, Scalar

FIT_FILE = "fit.json"
# The ends of a range are so many standard deviations from the expected value.
RANGE_END = 2.0
_DIGITS = 3


@dataclass(frozen=True)
class Price:
    """A value below `machine` that may move: where it is expected, and the ends of its range.

    In the base unit of its `kind` (contend.profiles.prices); a plain number is a count.
    """

    path: str
    expected: float
    low: float
    high: float
    kind: str

    def at(self, deviations: float) -> str | float:
        """The value so many standard deviations above what is expected, as a profile has it, within the range."""
        share = min(max(deviations / RANGE_END, -1.0), 1.0)
        end = self.high if share > 0 else self.low
        if self.kind == "number":
            return round(self.expected + abs(share) * (end - self.expected))
        return format_price(self.expected * (end / self.expected) ** abs(share), self.kind, _DIGITS)


@dataclass(frozen=True)
class Target:
    """A number of the study: a rate in msg/s, or a counter over the messages received.

    `spread` is its standard deviation; a share of it, unless `absolute`.
    """

    point: Point
    measure: str
    value: float
    spread: float
    absolute: bool

    def read(self, result: JsonObject) -> float:
        """The same number of a simulation."""
        if self.measure == "message_rate":
            return float(result["message_rate"])
        counters = result["counters"]
        if self.measure not in counters:
            raise InputError(f"no counter {self.measure!r} to fit to; there are: message_rate, {', '.join(counters)}")
        return float(counters[self.measure]) / float(counters["messages_received"])

    def level(self, value: float) -> float:
        """A value where errors are normal: its logarithm, unless the spread is absolute; NaN where it has none."""
        if self.absolute:
            return value
        return math.log(value) if value > 0 else math.nan

    def at_level(self, level: float) -> float:
        """The value of a level."""
        return level if self.absolute else math.exp(level)

    def cost(self, predicted: float) -> float:
        """The squared error in standard deviations."""
        return ((self.level(predicted) - self.level(self.value)) / self.spread) ** 2


@dataclass(frozen=True)
class StudyFit:
    """What to fit: prices of a profile that the study's scenarios name, to some numbers of the study.

    `over_draws` are how the ids of claims begin that are judged with each draw of the posterior, too. `tied` prices
    take the value of another one. `digest` is of what decides where the prices end (where they are expected and their
    ranges, the numbers, and all that the simulations of these depend on but the build of the simulator), so that what
    came out of a fit can be told from what came out of another one.
    """

    profile: str
    over_draws: tuple[str, ...]
    prices: tuple[Price, ...]
    tied: dict[str, str]
    targets: tuple[Target, ...]
    digest: str

    @property
    def paths(self) -> set[str]:
        """What a set of prices has: those that are fitted, and those that follow them."""
        return {price.path for price in self.prices} | set(self.tied)

    def values(self, place: Sequence[float]) -> dict[str, str | float]:
        """What a place stands for: values by dotted path below `machine`.

        Args:
            place: For each price how many standard deviations it is from what is expected of it.
        """
        values = {price.path: price.at(float(x)) for price, x in zip(self.prices, place, strict=True)}
        return values | {path: values[source] for path, source in self.tied.items()}


def load_fit(root: Path, system: str) -> StudyFit:
    """Reads `validation/SYSTEM/fit.json` of the checkout at `root`.

    Raises:
        InputError: There is none, it is not a fit, or it names a scenario, point or price that does not exist.
    """
    file = root / "validation" / system / FIT_FILE
    if not file.is_file():
        raise InputError(f"nothing is fitted to {system}: there is no {file}")
    try:
        return _read(root, system, read_json(file, "fit"))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{file} is no fit: {misfit(error)}") from error


def _read(root: Path, system: str, document: JsonObject) -> StudyFit:
    profile = read_json(profile_of(root, document["profile"]), "profile")
    overrides = [(path, str(value)) for path, value in document["simulated"].items()]
    folder = root / "scenarios" / system
    study = StudyFit(
        document["profile"],
        tuple(document["over_draws"]),
        tuple(_price(profile, path, text) for path, text in document["prices"].items()),
        document["tied"],
        tuple(
            Target(
                _point(folder / f"{entry['scenario']}.json", overrides, entry["parameters"]),
                entry["measure"],
                float(entry["value"]),
                float(entry["spread"]),
                bool(entry.get("absolute", False)),
            )
            for entry in document["targets"]
        ),
        digest="",
    )
    return replace(study, digest=_digest(document, study))


def _digest(document: JsonObject, study: StudyFit) -> str:
    """Of everything in a fit but which claims are judged how, and of what it means in this checkout.

    The profile's own values of prices that move do not count: they are what a fit writes. Nor do defaults of the
    scenario format: another default changes what a fit means as another model does, which no digest shows.
    """
    expected = study.values([0.0] * len(study.prices))
    whole = {
        "fit": {key: value for key, value in document.items() if key != "over_draws"},
        "prices": [asdict(price) for price in study.prices],
        "points": [with_prices(target.point, expected).compiled.identity().decode() for target in study.targets],
    }
    return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()[:16]


def with_prices(point: Point, values: Mapping[str, str | float]) -> Point:
    """A point with other prices, by dotted path below `machine`."""
    config = copy.deepcopy(point.config)
    for path, value in values.items():
        section, name = path.split(".")
        config["machine"][section][name] = value
    return Point(point.parameters, config)


def profile_of(root: Path, name: str) -> Path:
    """The file of a machine profile."""
    return root / "calibration" / "profiles" / f"{name}.json"


def _price(profile: JsonObject, path: str, expected: str | float) -> Price:
    section, name = path.split(".")
    try:
        entry = profile[section][name]
    except KeyError:
        raise InputError(f"profile {profile['name']} has no {path}") from None
    try:
        low, value, high = (parse_price(text) for text in (entry["range"][0], expected, entry["range"][1]))
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
    if {low.kind, high.kind} != {value.kind}:
        raise InputError(f"{path} is expected at {expected}, which has another unit than its range {entry['range']}")
    if not low.value <= value.value <= high.value:
        raise InputError(f"{path} is expected at {expected}, outside its range {entry['range']}")
    return Price(path, value.value, low.value, high.value, value.kind)


def _point(scenario: Path, overrides: Sequence[tuple[str, str]], parameters: dict[str, Scalar]) -> Point:
    points = resolve_scenario(scenario, overrides).points
    found = [
        point for point in points if all(point.parameters.get(name) == value for name, value in parameters.items())
    ]
    if len(found) != 1:
        raise InputError(f"{len(found)} points of {scenario.name} have {parameters}; one must")
    return found[0]
