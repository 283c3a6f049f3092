"""How many threads the linear algebra of NumPy and SciPy has."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import MutableMapping

# What OpenBLAS looks at, the first of them that is set.
_VARIABLES = ("OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS")


def use_one_thread(environment: MutableMapping[str, str]) -> None:
    """Gives the linear algebra one thread, unless the user has said how many; NumPy must not be imported yet.

    The matrices here are small: threads that wait for each other on busy cores take a hundred times as long, and sums
    in another order on another machine would be other numbers.

    Args:
        environment: That of this process.
    """
    if not any(environment.get(name) for name in _VARIABLES):
        environment[_VARIABLES[0]] = "1"
