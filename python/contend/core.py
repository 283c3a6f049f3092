"""Access to the compiled core, which may be missing or out of step with this package."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from contend.errors import ContendError
from contend.files import describe
from contend.paths import version

if TYPE_CHECKING:
    from contend.coretypes import Core


def core() -> Core:
    """Returns the compiled module.

    Raises:
        ContendError: It is not built, or was built for another Python.
    """
    try:
        from contend import _core
    except ImportError as error:
        raise ContendError(
            f"the compiled core cannot be loaded ({error}); in a checkout run './contend doctor', "
            "elsewhere install the package again"
        ) from error
    return _core


@functools.cache
def _digest(binary: str) -> str:
    return hashlib.sha256(Path(binary).read_bytes()).hexdigest()


def fingerprint() -> str:
    """What results depend on besides a point's configuration: the version and the bytes of the compiled core.

    Raises:
        ContendError: The core is not built, or cannot be read.
    """
    binary = getattr(core(), "__file__", None)
    try:
        return f"{version()}-{_digest(binary)[:16]}" if binary is not None else version()
    except OSError as error:
        raise ContendError(f"cannot read the compiled core {binary}: {describe(error)}") from error
