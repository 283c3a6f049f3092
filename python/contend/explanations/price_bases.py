"""Where the prices of a point are known from: measured, published, calibrated, or guessed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from contend.common.documents import get_path, origin
from contend.common.errors import ContendError, InputError
from contend.common.paths import profile_directories
from contend.common.reading import json_object
from contend.profiles.catalogs import PROFILES
from contend.profiles.prices import parse_price

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contend.common.jsontypes import JsonObject
    from contend.explanations.speedups import Speedup
    from contend.scenarios.resolution import ResolvedScenario

# Beside the name of a cost whose price may be far off, or of a group with such costs.
UNCERTAIN_MARK = "†"
UNCERTAIN_WORDS = (
    f"{UNCERTAIN_MARK} a price that is a guess or of unknown uncertainty, or a group with such prices: a gain is no "
    "better known than its price"
)
_GUESS = "guess"
# So many bases of a group are named.
_FEW = 2
# How profiles say that nobody knows how wrong a value is.
_UNKNOWN = ("unknown", "not known", "not estimated")
_WITH_BASIS = re.compile(r".*? \((measured|literature|calibrated|guess): (.*)\)", re.DOTALL)


@dataclass(frozen=True)
class PriceBasis:
    """Where a price is known from: a basis as profiles have it, or in a word what gave it."""

    basis: str
    is_uncertain: bool = False
    """Whether it is a guess, or nobody knows how wrong it is."""


class PriceBases:
    """The bases of all prices of a scenario: by its origins, and by the profile, which knows uncertainties as well."""

    def __init__(self, scenario: ResolvedScenario) -> None:
        """Reads the scenario's file and its profile again, as far as they are found."""
        self._scenario = scenario
        swept = scenario.document.get("sweep") or ()
        self._swept = set(swept) if isinstance(swept, dict) else {path for point in swept for path in point}
        self._documents = [json_object(scenario.path) or {}, {"machine": _profile_of(scenario) or {}}]

    def of(self, path: str, value: str) -> PriceBasis:
        """The basis of a price.

        Args:
            path: Its dotted path.
            value: What it is.
        """
        if path in self._swept:
            return PriceBasis("sweep")
        where = origin(self._scenario.origins, "/" + path.replace(".", "/"))
        said = _WITH_BASIS.fullmatch(where)
        is_plain = said is None and where.startswith("scenario")
        for document in self._documents:
            entry = _at(document, path)
            if entry is None:
                continue
            if (said is not None and said.groups() == (entry["basis"], entry.get("source"))) or (
                is_plain and _is_same_price(entry.get("value"), value)
            ):
                return _basis(str(entry["basis"]), str(entry.get("uncertainty", "")))
        if said is not None:
            return _basis(said[1])
        return PriceBasis("command line" if where == "command line" else where.partition(" ")[0] or "default")

    def enter(self, speedups: Sequence[Speedup], config: JsonObject) -> None:
        """Notes with each speed-up where its prices are known from.

        Args:
            speedups: What lowering them does.
            config: The point, which has the prices.
        """
        for speedup in speedups:
            found = {path: self.of(path, get_path(config, path)) for path in speedup.paths}
            speedup.known_from = {path: basis.basis for path, basis in found.items()}
            speedup.uncertain = tuple(path for path, basis in found.items() if basis.is_uncertain)


def known_from_text(known_from: dict[str, str], uncertain: Sequence[str]) -> str:
    """Where the prices of a cost, or of a group, are known from, for a narrow column: "guess †", "5 of 9 †"."""
    bases = list(dict.fromkeys(known_from.values()))
    if len(bases) > 1 and uncertain:
        return f"{len(uncertain)} of {len(known_from)} {UNCERTAIN_MARK}"
    words = ", ".join(bases) if len(bases) <= _FEW else "several"
    return words + (f" {UNCERTAIN_MARK}" if uncertain else "")


def _basis(basis: str, uncertainty: str = "") -> PriceBasis:
    return PriceBasis(basis, basis == _GUESS or uncertainty.strip().lower().startswith(_UNKNOWN))


def _profile_of(scenario: ResolvedScenario) -> JsonObject | None:
    """The profile of a scenario by the name that its values say; None where none of that name is found."""
    machine = scenario.document.get("machine")
    name = machine.get("name") if isinstance(machine, dict) else None
    if not isinstance(name, str) or "/" in name:
        return None
    for directory in profile_directories(scenario.path.resolve().parent):
        path = directory / f"{name}.json"
        if path.is_file():
            try:
                return PROFILES.load(str(path))[1]
            except ContendError:  # the scenario did not need it
                return None
    return None


def _at(document: JsonObject, path: str) -> JsonObject | None:
    """What stands at a dotted path, where that says what it is based on."""
    value = get_path(document, path)
    return value if isinstance(value, dict) and "basis" in value else None


def _is_same_price(one: object, other: object) -> bool:
    try:
        return parse_price(one) == parse_price(other)
    except InputError:
        return False
