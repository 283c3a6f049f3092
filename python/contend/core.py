"""Access to the compiled core, which may be missing or out of step with this package."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contend.errors import ContendError

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
