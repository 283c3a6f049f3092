"""Writing the trace of one replication of one point."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from contend.common.errors import InputError, InterruptedRunError, SimulationFailedError
from contend.common.files import require_utf8, staged_file
from contend.common.spelling import parameters_text
from contend.common.workers import Crew, Done
from contend.engine.core import core
from contend.results.measures import ESTIMATED
from contend.scenarios.changes import with_changes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from contend.common.jsontypes import JsonObject
    from contend.scenarios.resolution import Point, ResolvedScenario

DEFAULT_LIMIT_MB = 100
_MOST_BYTES = 2**64 - 1  # that the core can count


@dataclass(frozen=True)
class Trace:
    """What a trace came to.

    It is `complete` unless it was cut at its limit. `result` is the result of the run, which a trace does not change.
    """

    path: Path
    bytes: int
    events: int
    messages: int
    end_s: float
    complete: bool
    result: JsonObject


def write_trace(
    point: Point,
    path: Path,
    *,
    limit_mb: float = DEFAULT_LIMIT_MB,
    replication: int = 0,
    scenario: ResolvedScenario | None = None,
) -> Trace:
    """Runs one replication of a point and writes what happens in it as Chrome trace events (docs/tracing.md).

    Args:
        point: What to run.
        path: The file; it is replaced when the trace is complete.
        limit_mb: About how large the file may get, in 1e6 bytes; the trace ends there, the run goes on. math.inf: no
            limit.
        replication: Which of the point's replications.
        scenario: Where the point is from. The title names what was changed in it, and the file has all its values, so
            that one can tell what it is of.

    Raises:
        ContendError: The file cannot be written.
        SimulationFailedError: The simulation ended with an error; the file shows what happened until then.
        InterruptedRunError: The user stopped it; the same holds for the file.
        InputError: The configuration is not usable, or the limit is not above zero.
    """
    if not limit_mb > 0:
        raise InputError(f"a trace of {limit_mb:g} MB is empty; allowed: a limit above 0, math.inf for none")
    require_utf8(str(path))
    limit = round(min(limit_mb * 1e6, _MOST_BYTES))
    module = core()
    module.clear_stop()
    changes = with_changes(scenario.overrides, point.parameters) if scenario is not None else ""
    name = " ".join(filter(None, (str(point.config["name"]), changes)))
    title = ", ".join(filter(None, (name, parameters_text(point.parameters))))

    def simulate(staged: Path) -> str:
        return point.compiled.run(
            replication,
            trace_file=str(staged),
            trace_limit_bytes=limit,
            trace_title=f"{title}, replication {replication}",
        )

    with staged_file(path) as staged:
        done, interrupted = _run_stoppable(simulate, staged, module.request_stop)
        if done.error is not None and not isinstance(done.error, module.SimulationError):
            raise done.error
        if done.error is not None and staged.stat().st_size == 0:
            if interrupted:
                raise InterruptedRunError("interrupted; nothing was traced yet")
            raise SimulationFailedError(str(done.error)) from done.error
        result: JsonObject = json.loads(done.result or "{}")
        if scenario is not None:
            rates = {name: result[name] for name in ESTIMATED if name in result}
            added = _add(
                staged, {"scenario": scenario.document, "parameters": point.parameters, "replication": replication,
                         "result": rates}
            )  # fmt: skip
            if result:
                result["trace"]["bytes"] += added
    if interrupted:
        raise InterruptedRunError(f"interrupted; the trace until there is in {path}")
    if done.error is not None:
        raise SimulationFailedError(f"{done.error}\n(the trace until there is in {path})") from done.error
    return Trace(path=path, result=result, **result.pop("trace"))


def _add(trace: Path, information: JsonObject) -> int:
    """Adds to what a trace says about itself in its last object, `otherData`; returns how many bytes that took."""
    end = b"}}"
    with trace.open("r+b") as file:
        length = file.seek(0, os.SEEK_END)
        file.seek(max(0, length - len(end) - 1))
        tail = file.read(len(end) + 1)
        if not tail.rstrip().endswith(end):
            return 0  # nothing was traced
        file.seek(length - len(tail) + tail.rindex(end))
        text = json.dumps(information, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        file.write(f",{text[1:]}}}".encode() + tail[tail.rindex(end) + len(end) :])
        return file.tell() - length


def _run_stoppable(work: Callable[[Path], str], staged: Path, stop: Callable[[], None]) -> tuple[Done[Path, str], bool]:
    """What became of the work, and whether Ctrl-C ended it."""
    crew = Crew(work, [staged], 1)
    try:
        return next(iter(crew)), False
    except KeyboardInterrupt:
        ended = crew.stop(stop)
        return ended[0] if ended else Done(staged, None, core().SimulationError("stopped")), True
