"""Where things are: in a checkout its own files, in an installed package those that came with it."""

from __future__ import annotations

import functools
import os
import shutil
from importlib import metadata, resources
from pathlib import Path

from contend.common.errors import ContendError, InputError


@functools.cache
def repository() -> Path | None:
    """Root of the checkout that this package runs from; None when it is installed."""
    root = Path(__file__).resolve().parents[3]
    return root if (root / "CMakePresets.json").is_file() and (root / "VERSION").is_file() else None


def require_repository(command: str) -> Path:
    """Root of the checkout, for commands that make sense only there.

    Raises:
        ContendError: The package is installed.
    """
    root = repository()
    if root is None:
        raise ContendError(f"'contend {command}' works in a checkout only; this is an installed package")
    return root


@functools.cache
def version() -> str:
    """Version of contend."""
    root = repository()
    if root is not None:
        return (root / "VERSION").read_text(encoding="utf-8").split()[0]
    return metadata.version("contend")


def data_directory(name: str) -> Path:
    """Folder of shipped data: "schemas", "scenarios", "libraries", "calibration/profiles" or "calibration/mappings"."""
    root = repository()
    if root is not None:
        return root / name
    # A wheel is always unpacked into a folder, so the resource is a real path.
    return Path(str(resources.files("contend").joinpath("data", *name.split("/"))))


def scenarios_directory() -> Path:
    """Folder of the shipped scenarios."""
    return data_directory("scenarios")


def profile_directories(beside: Path | None = None) -> list[Path]:
    """Folders in which a machine profile is looked for, first match wins.

    Args:
        beside: A folder to look in first, such as the scenario's own.
    """
    return _search_path("CONTEND_PROFILES", "calibration/profiles", beside)


def preset_directories(beside: Path | None = None) -> list[Path]:
    """Folders in which a library preset is looked for, first match wins.

    Args:
        beside: A folder to look in first, such as the scenario's own.
    """
    return _search_path("CONTEND_PRESETS", "libraries", beside)


def _search_path(variable: str, shipped: str, beside: Path | None) -> list[Path]:
    from_user = [Path(entry) for entry in os.environ.get(variable, "").split(os.pathsep) if entry]
    first = [] if beside is None else [beside]
    return [*first, *from_user, data_directory(shipped)]


def executable(name: str) -> Path | None:
    """A program that was built with the core, for example "contend-simgrid"; None if it is not there."""
    beside_core = Path(__file__).resolve().parents[1] / "bin" / name
    root = repository()
    candidates = [beside_core]
    if root is not None:
        candidates.insert(0, root / "build" / os.environ.get("CONTEND_PRESET", "release") / "bin" / name)
    for candidate in candidates:
        if os.access(candidate, os.X_OK):
            return candidate
    on_path = shutil.which(name)
    return Path(on_path) if on_path else None


def cache_directory() -> Path:
    """Where results and MPI libraries are kept: $CONTEND_CACHE, else `contend` in the user's cache folder.

    Raises:
        InputError: Neither is known.
    """
    try:
        if own := os.environ.get("CONTEND_CACHE"):
            return Path(own).expanduser().resolve()
        base = os.environ.get("XDG_CACHE_HOME")
        return (Path(base) if base else Path.home() / ".cache") / "contend"
    except RuntimeError:  # a user without an entry in the system's list, and no $HOME
        raise InputError(
            "there is no home folder to keep results in: set CONTEND_CACHE (or --store, for a sweep) to a folder"
        ) from None
