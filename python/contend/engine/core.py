"""Access to the compiled core, which may be missing or out of step with this package."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from contend.common.errors import ContendError
from contend.common.files import describe
from contend.common.paths import version

if TYPE_CHECKING:
    from contend.engine.coretypes import Core


# By file of a core, of the bytes that it was loaded from; or why they could not be read.
_digests: dict[str, str | OSError] = {}


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
    binary = getattr(_core, "__file__", None)
    if binary is not None and binary not in _digests:
        _digests[binary] = _digest(binary)
    return _core


def _digest(binary: str) -> str | OSError:
    try:
        return hashlib.sha256(Path(binary).read_bytes()).hexdigest()[:16]
    except OSError as error:
        return error


def fingerprint() -> str:
    """What results depend on besides a point's configuration: the version and the bytes of the compiled core.

    The bytes are those that `core()` loaded. A build since then does not count: this process goes on with the old one.

    Raises:
        ContendError: The core is not built, or could not be read.
    """
    binary = getattr(core(), "__file__", None)
    if binary is None:
        return version()
    digest = _digests[binary]
    if isinstance(digest, OSError):
        raise ContendError(f"cannot read the compiled core {binary}: {describe(digest)}") from digest
    return f"{version()}-{digest}"
