"""contend: predicts how fast a multithreaded MPI library moves messages, and why.

The functions here are the same that the command line uses; results come as data frames::

    import contend

    results = contend.run("scenarios/dissertation/fig5_2a_base.json", overrides={"workload.pairs": 20})
    results.frame()
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contend.api import load_results, resolve, run
    from contend.errors import ContendError, InputError
    from contend.results import Results

# In the repository the compiled module lies in the build folder, in a second folder named `contend` on the path.
__path__ = pkgutil.extend_path(__path__, __name__)

__all__ = ["ContendError", "InputError", "Results", "__version__", "load_results", "resolve", "run"]

# Imported when first used: `contend --help` must not wait for data frames.
_WHERE = {
    "ContendError": "contend.errors",
    "InputError": "contend.errors",
    "Results": "contend.results",
    "load_results": "contend.api",
    "resolve": "contend.api",
    "run": "contend.api",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    """Imports a public name from the module that has it."""
    if name == "__version__":
        from contend.paths import version

        return version()
    if name in _WHERE:
        return getattr(importlib.import_module(_WHERE[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
