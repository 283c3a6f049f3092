"""The section `calibration` of a profile, checked when it is read: a person may have edited it.

Only what commands use is looked at; unknown keys are those of a later version.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, ValidationError, model_validator

from contend.common.errors import InputError
from contend.common.jsontypes import JsonObject  # noqa: TC001 - pydantic reads it when the program runs
from contend.common.spelling import shortened

if TYPE_CHECKING:
    from pathlib import Path

_SECTION = "calibration"
_MACHINE_PREFIX = "machine."
_LARGEST = 1e300
# What pydantic finds wrong, by its name for that: what is allowed there.
_ALLOWED = {
    "dict_type": "an object",
    "model_type": "an object",
    "list_type": "an array",
    "string_type": "a text",
    "too_short": "an array that is not empty",
    "missing": "a profile as `contend calibrate` writes it",
}


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not -_LARGEST < value < _LARGEST:
        raise ValueError("a number")
    return value


def _number_or_none(value: object) -> float | None:
    return None if value is None else _number(value)


def _price(value: object) -> str | float:
    return value if isinstance(value, str) else _number(value)


def _value(value: object) -> str | float | bool:
    if not isinstance(value, str | bool | int | float):
        raise ValueError("a text, a number, true or false")  # noqa: TRY004 - pydantic wants a ValueError
    return value if isinstance(value, str | bool) else _number(value)


def _limits(value: object) -> list[str | float]:
    if not isinstance(value, list) or len(value) != 2:  # noqa: PLR2004
        raise ValueError("an array of two limits")
    return [_price(limit) for limit in value]


Number: TypeAlias = Annotated[float, PlainValidator(_number)]
MaybeNumber: TypeAlias = Annotated[Any, PlainValidator(_number_or_none)]
Price: TypeAlias = Annotated[Any, PlainValidator(_price)]


class _Checked(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")


class Entry(_Checked):
    """A value for one library or transport, with what is known about it."""

    value: Annotated[Any, PlainValidator(_value)]
    range: Annotated[Any, PlainValidator(_limits)] = None


class SplitEntry(_Checked):
    """Points of one dataset, by their parameters."""

    dataset: str
    machine: str
    points: list[JsonObject]
    samples: list[str] = []


class Split(_Checked):
    """Which points were fitted to, and which were held out."""

    calibration: list[SplitEntry] = []
    held_out: list[SplitEntry] = []


class FitParameter(_Checked):
    """A parameter of a fit."""

    name: str
    path: str
    scope: str


class ErrorPct(_Checked):
    """How far off a fit is."""

    median: MaybeNumber


class FitPoint(_Checked):
    """A point of a fit."""

    dataset: str
    parameters: JsonObject


class Fold(_Checked):
    """A fit without a thread count."""

    place: list[Price]


class CrossValidation(_Checked):
    """The fits without a thread count."""

    parameters: list[str]
    folds: Annotated[list[Fold], Field(min_length=1)]

    @model_validator(mode="after")
    def _has_places(self) -> Self:
        if any(len(fold.place) != len(self.parameters) for fold in self.folds):
            raise ValueError("folds whose places have one value for each parameter")
        return self


class Posterior(_Checked):
    """Draws of the parameters of a fit, or why there are none."""

    refused: str | None = None
    parameters: list[str] = []
    draws: Annotated[list[list[Price]] | None, Field(min_length=1)] = None
    discrepancy_draws: list[Number] = []

    @model_validator(mode="after")
    def _has_draws_of_all(self) -> Self:
        if self.draws is None:
            return self
        if any(len(row) != len(self.parameters) for row in self.draws):
            raise ValueError("draws with one value for each of its parameters")
        if len(self.discrepancy_draws) != len(self.draws):
            raise ValueError("as many discrepancy_draws as draws")
        return self


class Fit(_Checked):
    """One fit: parameters that share points."""

    parameters: list[FitParameter]
    fitted: list[str] = []
    points: list[FitPoint] = []
    error_pct: ErrorPct | None = None
    posterior: Posterior | None = None
    cross_validation: CrossValidation | None = None

    @model_validator(mode="after")
    def _knows_its_parameters(self) -> Self:
        known = {one.name for one in self.parameters}
        for part in (self.posterior, self.cross_validation):
            for name in part.parameters if part is not None else ():
                if name not in known:
                    own = ", ".join(sorted(known))
                    raise ValueError(f"draws and folds of the fit's parameters ({own}), not of {name}")
        return self


class Scale(_Checked):
    """How far off the model is, as draws."""

    draws: Annotated[list[Number], Field(min_length=1)]


class Group(Scale):
    """That of one library over one transport."""

    library: str
    transport: str


class Discrepancy(_Checked):
    """That of all, and of one that has no points."""

    groups: list[Group]
    others: Scale


class Record(_Checked):
    """The whole section."""

    machines: JsonObject = {}
    split: Split | None = None
    not_fitted: list[JsonObject] = []
    fits: list[Fit] = []
    discrepancy: Discrepancy | None = None
    scopes: dict[str, dict[str, Entry]] | None = None


def check_calibration(path: Path, profile: JsonObject) -> None:
    """Refuses a profile whose section `calibration` commands could not use.

    Args:
        path: The profile's, for the message.
        profile: Its document; without that section nothing is wrong.

    Raises:
        InputError: Something is; the message says where, what was found and what is allowed.
    """
    if profile.get(_SECTION) is None:
        return
    try:
        record = Record.model_validate(profile[_SECTION])
    except ValidationError as error:
        first = error.errors()[0]
        where = _pointer(first["loc"])
        if first["type"] == "missing":
            raise InputError(f"{path}: {where}: is missing; allowed: {_ALLOWED['missing']}") from error
        allowed = _ALLOWED.get(first["type"]) or first["msg"].removeprefix("Value error, ")
        found = shortened(json.dumps(first["input"], ensure_ascii=False, default=str))
        raise InputError(f"{path}: {where}: found {found}; allowed: {allowed}") from error
    for scope, entries in (record.scopes or {}).items():
        for name in entries:
            _check_place(path, profile, scope, name)


def _check_place(path: Path, profile: JsonObject, scope: str, name: str) -> None:
    """A value of a scope is one of the machine, which the profile has a section for, or of the fabric."""
    section: object = profile if name.startswith(_MACHINE_PREFIX) else {"fabric": {}}
    for key in name.removeprefix(_MACHINE_PREFIX).split(".")[:-1]:
        section = section.get(key) if isinstance(section, dict) else None
    if not isinstance(section, dict) or "." not in name:
        where = _pointer(("scopes", scope, name))
        raise InputError(f"{path}: {where}: found no place for {name!r}; allowed: paths of the machine or the fabric")


def _pointer(keys: tuple[int | str, ...]) -> str:
    return "/".join(["", _SECTION, *(str(key).replace("~", "~0").replace("/", "~1") for key in keys)])
