"""Designs of different libraries on one machine profile: they pay the same prices of code, whatever their own costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contend.catalogs import PRESETS
from contend.spelling import listed

if TYPE_CHECKING:
    from collections.abc import Iterable

# What the names of presets begin with says whose code they stand for; these begin otherwise and stand for the same.
_OF_MPICH = dict.fromkeys(("ch4", "mpich", "mpich2"), "mpich")


def shared_prices_remark(names: Iterable[object]) -> str:
    """What a reader of results has to know where presets of different libraries pay the same prices of code.

    Args:
        names: Names of designs; those that are no presets, or say themselves what their code costs, do not count.

    Returns:
        A sentence; empty where all of them stand for the same code.
    """
    files = PRESETS.available()
    presets = [name for name in dict.fromkeys(map(str, names)) if name in files and not _has_code(name)]
    of_families: dict[str, str] = {}
    for name in presets:
        of_families.setdefault(_family(name), name)
    if len(of_families) < 2:  # noqa: PLR2004
        return ""
    return (
        f"{listed(list(of_families.values()))} stand for different code, but pay the same prices for it here, those of "
        "the machine profile: this compares the designs, not how fast the libraries are"
    )


def _family(preset: str) -> str:
    first = preset.partition("-")[0]
    return _OF_MPICH.get(first, first)


def _has_code(preset: str) -> bool:
    """Whether a preset has factors on prices of code, its own or those of one that it extends."""
    _, document = PRESETS.load(preset)
    return "code" in document.get("library", {})
