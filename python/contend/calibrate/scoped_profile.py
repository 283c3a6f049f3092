"""A plain profile from a calibrated one: the values of one library over one transport in their places."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING

from contend.common.documents import set_path
from contend.common.errors import InputError
from contend.common.nearest import nearest_names
from contend.measure.transports import TRANSPORTS

if TYPE_CHECKING:
    from contend.common.jsontypes import JsonObject

_PREFIX = "machine."


@dataclass(frozen=True)
class Scoped:
    """A plain profile with the values of a library and transport in their places.

    `placed` has for each scope that the profile has the values that were put in place, by path and as texts, and
    `left` those of the fabric, which are no part of a machine. `missing` are the scopes that it does not have.
    """

    document: JsonObject
    placed: dict[str, dict[str, str]]
    left: dict[str, str]
    missing: list[str]


def scoped_profile(document: JsonObject, scope: str, name: str) -> Scoped:
    """A plain profile with the values of a scope in their places, for scenarios of that library and transport.

    The general scopes go first: for "openmpi-5/tcp" those of "tcp" and "openmpi-5", of which there need not be all.
    Values of the fabric are no part of a machine; they stay in the calibration section.

    Args:
        document: A calibrated profile.
        scope: A library, a transport, or LIBRARY/TRANSPORT.
        name: What messages call the profile.

    Raises:
        InputError: The profile has no scopes at all, none of these, or knows library or transport not at all; the
            message says what there is.
    """
    scopes: JsonObject = (document.get("calibration") or {}).get("scopes") or {}
    if not scopes:
        raise InputError(
            f"the profile {name} has no values of single libraries or transports, such as {scope}: only one that "
            "`contend calibrate` has made from measurements of them does"
        )
    library, separator, transport = scope.partition("/")
    wanted = [transport, library, scope] if separator else [scope]
    found = [one for one in wanted if one in scopes]
    if not found or not _is_known(scope, scopes):
        swapped = f"{transport}/{library}"
        near = [swapped] if separator and _is_known(swapped, scopes) else nearest_names(scope, scopes)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise InputError(f"the profile {name} has no scope {scope!r}; it has: {', '.join(scopes)}{hint}")
    result = copy.deepcopy(document)
    placed: dict[str, dict[str, str]] = {}
    left: dict[str, str] = {}
    for one in found:
        placed[one] = {}
        for path, entry in scopes[one].items():
            if not path.startswith(_PREFIX):
                left[path] = str(entry["value"])
                continue
            place = path.removeprefix(_PREFIX)
            for values in placed.values():
                values.pop(place, None)  # a more special value takes its place
            placed[one][place] = str(entry["value"])
            set_path(result, place, entry)
    return Scoped(result, placed, left, [one for one in wanted if one not in scopes])


def _is_known(scope: str, scopes: JsonObject) -> bool:
    """Whether it is a scope of a profile, or of a library of the profile over any transport that there is."""
    pairs = [one.split("/", 1) for one in scopes if "/" in one]
    alone = {one for one in scopes if "/" not in one}
    libraries, transports = {pair[0] for pair in pairs}, {pair[1] for pair in pairs} | {*TRANSPORTS}
    library, separator, transport = scope.partition("/")
    if not separator:
        return scope in scopes
    # What only stands alone does not say which of the two it is.
    return library in libraries | (alone - transports) and transport in transports | (alone - libraries)
