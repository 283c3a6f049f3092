"""The functions that `import contend` offers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from contend import scenario as scenarios
from contend.errors import InputError, InterruptedRunError
from contend.files import read_text
from contend.results import Results, collect
from contend.runner import default_jobs, make_engine, run_points

if TYPE_CHECKING:
    from collections.abc import Mapping


def _overrides(values: Mapping[str, object] | None) -> list[tuple[str, str]]:
    return [(path, value if isinstance(value, str) else json.dumps(value)) for path, value in (values or {}).items()]


def resolve(scenario: str | Path, overrides: Mapping[str, object] | None = None) -> scenarios.ResolvedScenario:
    """Reads a scenario and fills in all defaults.

    Args:
        scenario: Path of a file, or the name of a shipped scenario.
        overrides: Values by dotted path, for example {"workload.pairs": 20}.

    Raises:
        InputError: The scenario or an override is not usable.
    """
    return scenarios.resolve_scenario(scenarios.find_scenario(str(scenario)), _overrides(overrides))


def run(
    scenario: str | Path,
    overrides: Mapping[str, object] | None = None,
    *,
    jobs: int | None = None,
    engine: str = "contend",
) -> Results:
    """Simulates all points of a scenario.

    Args:
        scenario: Path of a file, or the name of a shipped scenario.
        overrides: Values by dotted path, for example {"run.replications": 3}.
        jobs: How many simulations run at once; all cores if not given.
        engine: "contend" or "simgrid".

    Raises:
        InputError: The scenario or an override is not usable.
        SimulationFailedError: A simulation ended with an error.
        InterruptedRunError: Ctrl-C.
    """
    resolved = resolve(scenario, overrides)
    outcome = run_points(resolved.points, make_engine(engine), jobs=jobs or default_jobs())
    if outcome.interrupted:
        raise InterruptedRunError("interrupted")
    return collect(resolved, outcome, engine)


def load_results(path: str | Path) -> Results:
    """Reads results that `contend run` wrote.

    Args:
        path: A results.json, or the folder that has one.

    Raises:
        ContendError: It cannot be read.
    """
    file = Path(path)
    if file.is_dir():
        file /= "results.json"
    try:
        return Results.from_json(json.loads(read_text(file, "results file")))
    except json.JSONDecodeError as error:
        raise InputError(f"{file}: not JSON ({error})") from error
