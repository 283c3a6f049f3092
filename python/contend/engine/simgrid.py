"""The helper program that reads SimGrid platforms and runs the second engine."""

from __future__ import annotations

import functools
import json
import subprocess
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from contend.common.errors import ContendError, InputError, SimulationFailedError
from contend.common.paths import executable

if TYPE_CHECKING:
    from contend.common.jsontypes import JsonObject
    from contend.scenarios.resolution import Point, ResolvedScenario

PROGRAM = "contend-simgrid"
_PLATFORM_TIMEOUT_S = 120
_THREADS = "placement.threads"
_OWN_CORES = "one-per-core"


def program() -> Path:
    """Path of the helper program.

    Raises:
        ContendError: It is not built.
    """
    path = executable(PROGRAM)
    if path is None:
        raise ContendError(f"the program {PROGRAM} is not built; './contend doctor' says what is missing")
    return path


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].removeprefix("error:").strip() if lines else "no message"


class _RouteError(Exception):
    """A route that a platform does not have: which key of a scenario's fabric is to blame, and why."""


# By the program's exit status.
_TO_BLAME = {2: "platform", 3: "from", 4: "to"}


def _file_state(path: Path) -> tuple[int, int] | None:
    """When a file was changed, and its size; None where there is no such file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


@functools.lru_cache(maxsize=1024)
def _ask_route(
    path: Path, _state: tuple[int, int] | None, source: str, destination: str
) -> tuple[float, float, int, int]:
    """Asks the program, once as long as the file stays as it is."""
    command = [str(program()), "platform", str(path), source, destination]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=_PLATFORM_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ContendError(f"cannot read the platform {path}: {error}") from error
    if answer.returncode in _TO_BLAME:
        raise _RouteError(_TO_BLAME[answer.returncode], _last_line(answer.stderr))
    if answer.returncode != 0:
        raise ContendError(f"cannot read the platform {path}: {_last_line(answer.stderr)}")
    route: JsonObject = json.loads(answer.stdout)
    return (
        float(route["latency_s"]),
        float(route["bandwidth_Bps"]),
        int(route["from_cores"]),
        int(route["to_cores"]),
    )


class PlatformRoutes:
    """Answers the core's questions about routes; remembers the first failure, whatever the core makes of it."""

    def __init__(self) -> None:
        self.failure: ContendError | KeyboardInterrupt | None = None

    def __call__(self, platform: str, source: str, destination: str) -> tuple[float, float, int, int] | tuple[str, str]:
        """Latency in s, bandwidth in byte/s and the cores of both hosts, for the route between two hosts.

        Where there is no such route: which key of the fabric is to blame, and why. The core knows its place.
        """
        try:
            path = Path(platform).resolve()
            return _ask_route(path, _file_state(path), source, destination)
        except _RouteError as error:
            key, problem = error.args
            return key, problem
        except (ContendError, KeyboardInterrupt) as error:
            self.failure = self.failure or error
            raise


def require_own_cores(scenario: ResolvedScenario) -> None:
    """Refuses a scenario whose threads share cores: contend's own engine alone has a scheduler of the system.

    Raises:
        InputError: At some point they do.
    """
    paths = scenario.document.get("sweep") or {}
    for point in scenario.points:
        found = point.config["placement"]["threads"]
        if found != _OWN_CORES:
            is_swept = _THREADS in (paths[0] if isinstance(paths, list) else paths)
            where = f"/sweep/{_THREADS}" if is_swept else f"/{_THREADS.replace('.', '/')}"
            at = f" (at {point.label()})" if point.parameters else ""
            raise InputError(
                f'{scenario.path}: {where}: found "{found}"{at}; allowed with the engine simgrid: "{_OWN_CORES}"; '
                "threads share cores with the engine contend only"
            )


class SimgridEngine:
    """Runs points in the second engine, one process for each replication."""

    name = "simgrid"

    def __init__(self) -> None:
        self._program = program()
        self._running: set[subprocess.Popen[str]] = set()
        self._lock = threading.Lock()
        self._stopped = False

    def run_point(self, point: Point, replication: int, *, trace_hash: bool) -> str:
        """Runs one replication of one point; the answer is JSON like the core's.

        Raises:
            SimulationFailedError: The program ended with an error or was stopped.
        """
        command = [str(self._program), "run", "--replication", str(replication)]
        if trace_hash:
            command.append("--trace-hash")
        with self._lock:
            if self._stopped:
                raise SimulationFailedError("stopped")
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,  # Ctrl-C is handled here, not by the children
            )
            self._running.add(process)
        try:
            output, messages = process.communicate(point.config_json)
        finally:
            with self._lock:
                self._running.discard(process)
        if process.returncode != 0:
            raise SimulationFailedError(_last_line(messages))
        return output

    def stop(self) -> None:
        """Ends all running simulations."""
        with self._lock:
            self._stopped = True
            for process in self._running:
                process.kill()

    def reset(self) -> None:
        """Allows simulations again."""
        self._stopped = False
