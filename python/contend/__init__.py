"""contend: predicts how fast a multithreaded MPI library moves messages, and why.

The functions here are the same that the command line uses; results come as data frames::

    import contend

    scenario = contend.load("fig5_2a_base").with_({"workload.pairs": 20})
    results = contend.run(scenario)
    results.frame()                      # one row per point, a Polars data frame
    contend.plots.rate(contend.run("fig5_2a_base"))
"""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contend import plots
    from contend.api import compare, explain, load, load_dataset, load_measured, load_results, resolve, run, timeline
    from contend.common.errors import ContendError, InputError, InterruptedRunError, SimulationFailedError
    from contend.listings import Listing, list_parts, list_presets, list_profiles, list_scenarios
    from contend.results.results import Results
    from contend.scenarios.scenario import Scenario
    from contend.sweeps.plans import Grid, LatinHypercube, Range, Samples
    from contend.sweeps.sweep import SweepResults, sweep

# In the repository the compiled module lies in the build folder, in a second folder named `contend` on the path.
__path__ = pkgutil.extend_path(__path__, __name__)

__all__ = [
    "ContendError", "Grid", "InputError", "InterruptedRunError", "LatinHypercube", "Listing", "Range", "Results",
    "Samples", "Scenario", "SimulationFailedError", "SweepResults", "__version__", "compare", "explain", "list_parts",
    "list_presets", "list_profiles", "list_scenarios", "load", "load_dataset", "load_measured", "load_results", "plots",
    "resolve", "run", "sweep", "timeline",
]  # fmt: skip

# Imported when first used: `contend --help` must not wait for data frames.
_WHERE = {
    "contend.api": (
        "compare",
        "explain",
        "load",
        "load_dataset",
        "load_measured",
        "load_results",
        "resolve",
        "run",
        "timeline",
    ),
    "contend.common.errors": ("ContendError", "InputError", "InterruptedRunError", "SimulationFailedError"),
    "contend.listings": ("Listing", "list_parts", "list_presets", "list_profiles", "list_scenarios"),
    "contend.sweeps.plans": ("Grid", "LatinHypercube", "Range", "Samples"),
    "contend.results.results": ("Results",),
    "contend.scenarios.scenario": ("Scenario",),
    "contend.sweeps.sweep": ("SweepResults", "sweep"),
}
_MODULE_OF = {name: module for module, names in _WHERE.items() for name in names}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    """Imports a public name from the module that has it."""
    if name == "__version__":
        from contend.common.paths import version

        return version()
    if name == "plots":
        return importlib.import_module("contend.plots")
    if name in _MODULE_OF:
        return getattr(importlib.import_module(_MODULE_OF[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The public names, for completion."""
    return sorted(__all__)
