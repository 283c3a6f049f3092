"""Designs of different libraries on one machine profile: most pay the same prices of code, whatever their own costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contend.common.spelling import listed
from contend.profiles.catalogs import PRESETS

if TYPE_CHECKING:
    from collections.abc import Iterable

# What the names of presets begin with says whose code they stand for; these begin otherwise and stand for the same.
_OF_MPICH = dict.fromkeys(("ch4", "mpich", "mpich2"), "mpich")


def shared_prices_remark(names: Iterable[object]) -> str:
    """What a reader of results has to know where presets of different libraries pay the same prices of code.

    Args:
        names: Names of designs; those that are no presets do not count.

    Returns:
        A sentence; empty where all of them stand for the same code, or all say themselves what their code costs.
    """
    files = PRESETS.available()
    presets = [name for name in dict.fromkeys(map(str, names)) if name in files]
    alike = _of_families(name for name in presets if not _has_code(name))
    own = _of_families(name for name in presets if _has_code(name))
    if len(alike) > 1:
        return (
            f"{listed(list(alike.values()))} stand for different code, but pay the same prices for it here, those of "
            "the machine profile: this compares the designs, not how fast the libraries are"
        )
    if any(family not in own for family in alike) and own:
        has = "has" if len(own) == 1 else "have"
        pays = "pays" if len(alike) == 1 else "pay"
        return (
            f"{listed(list(own.values()))} {has} prices of code for one library (library.code), "
            f"{listed(list(alike.values()))} {pays} those of the machine profile: a difference between them is one of "
            "code as well as of design"
        )
    return ""


def _of_families(presets: Iterable[str]) -> dict[str, str]:
    """The first preset of each family of code."""
    found: dict[str, str] = {}
    for name in presets:
        found.setdefault(_family(name), name)
    return found


def _family(preset: str) -> str:
    first = preset.partition("-")[0]
    return _OF_MPICH.get(first, first)


def _has_code(preset: str) -> bool:
    """Whether a preset has factors on prices of code, its own or those of one that it extends."""
    _, document = PRESETS.load(preset)
    return "code" in document.get("library", {})
