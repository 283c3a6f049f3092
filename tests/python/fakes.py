"""A small stand-in for the compiled core."""

from __future__ import annotations

import _thread
import contextlib
import json
import signal
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import contend

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

REPOSITORY = Path(__file__).resolve().parents[2]


EXPLAIN: dict[str, Any] = {
    "elapsed_ns": 1e6,
    "locks": [
        {
            "name": "rank 1/matching",
            "acquisitions": 100,
            "contended": 50,
            "refused": 0,
            "delegated": 0,
            "wait_ns": 4000.0,
            "release_ns": 100.0,
            "hold_ns": 5000.0,
            "waits": [
                {"waiter": "receiver", "holder": "", "time_ns": 1000.0},
                {"waiter": "receiver", "holder": "receiver", "time_ns": 3000.0},
            ],
        }
    ],
    "waiting_places": [
        {
            "name": "rank 1/others' progress",
            "waits": 20,
            "wait_ns": 8000.0,
            "by_role": [
                {"waiter": "receiver", "category": "blocked", "awaited": "", "how": "", "time_ns": 2000.0},
                {
                    "waiter": "receiver",
                    "category": "blocked",
                    "awaited": "receiver",
                    "how": "completed requests",
                    "time_ns": 6000.0,
                },
            ],
            "awaited": [{"thread": "receiver 0", "how": "completed requests", "times": 20, "time_ns": 6000.0}],
            "meanwhile_ns": {"matching": 4500.0, "poll_idle": 1500.0},
        }
    ],
    "queues": [{"name": "rank 1/posted", "mean": 3.5, "maximum": 9}],
    "interface_stages": [
        {"name": "host 0/send", "messages": 10, "busy_ns": 9e5, "queueing_ns": 50.0, "on_wire_ns": 100.0}
    ],
}


class FakePoint:
    """A point of the FakeCore."""

    def __init__(self, core: FakeCore, config_json: str) -> None:
        self._core = core
        self._config_json = config_json

    @property
    def replications(self) -> int:
        return int(json.loads(self._config_json)["run"]["replications"])

    @property
    def operations(self) -> int:
        return int(json.loads(self._config_json)["workload"]["pairs"])

    most_steps = 50_000

    def config(self) -> str:
        return self._config_json

    def identity(self) -> bytes:
        config = json.loads(self._config_json)
        config.pop("name", None)
        config["run"].pop("replications")
        return json.dumps(config).encode()

    def run(self, *arguments: Any, **options: Any) -> str:
        return self._core.run_point(self._config_json, *arguments, **options)


class FakeCore(SimpleNamespace):
    """Behaves as contend._core does, with a "simulation" that is a formula."""

    class ScenarioError(Exception):
        pass

    class SimulationError(Exception):
        pass

    def __init__(self) -> None:
        super().__init__()
        self.pairs: list[int] = [1, 2, 4]
        self.seconds_per_run = 0.0
        self.stop = threading.Event()
        self.started = threading.Semaphore(0)
        self.calls = 0
        self.deterministic = True
        self.fail_at: int | None = None
        self.uses_route = False
        self.trace: dict[str, Any] = {"traceEvents": []}

    def version(self) -> str:
        return contend.__version__

    def schema(self, kind: str) -> str:
        return json.dumps({"title": kind})

    def resolve(
        self,
        path: str,
        overrides: list[tuple[str, str]],
        profile_dirs: list[str],
        preset_dirs: list[str],
        route_resolver: Callable[[str, str, str], tuple[float, float, int, int]],
    ) -> tuple[str, list[FakePoint]]:
        try:
            document: dict[str, Any] = json.loads(Path(path).read_text())
        except ValueError as error:
            raise self.ScenarioError(f"{path}: not JSON: {error}") from error
        origins = {f"/{key}": "file" for key in document}
        document.setdefault("run", {"seed": 1, "replications": 3})
        document.setdefault("workload", {"pairs": 1, "iterations": 10})
        for dotted, value in overrides:
            section, _, key = dotted.partition(".")
            if section not in document:
                raise self.ScenarioError(f"unknown key {dotted!r}; did you mean 'workload'?")
            document[section][key] = json.loads(value)
            origins[f"/{section}/{key}"] = "command line"
        if self.uses_route:
            try:
                route_resolver("missing.xml", "a", "b")
            except Exception as error:
                raise self.ScenarioError(f"callback failed: {error}") from error
        parameters = [{"pairs": pairs, "lock": lock} for lock in ("mutex", "mcs") for pairs in self.pairs]
        points = [
            {
                "name": document.get("name", ""),
                "run": document["run"],
                "workload": {**document["workload"], "pairs": entry["pairs"]},
                "lock": entry["lock"],
            }
            for entry in parameters
        ]
        answer = {"document": document, "origins": origins, "parameters": parameters}
        return json.dumps(answer), [FakePoint(self, json.dumps(config)) for config in points]

    def point(self, config_json: str) -> FakePoint:
        return FakePoint(self, config_json)

    def costs(self, config_json: str) -> str:
        del config_json
        return "[]"

    def run_point(
        self,
        config_json: str,
        replication: int,
        trace_hash: bool = False,  # noqa: FBT001, FBT002
        explain: bool = False,  # noqa: FBT001, FBT002
        *,
        trace_file: str = "",
        trace_limit_bytes: int = 100_000_000,
        trace_title: str = "",
    ) -> str:
        del trace_hash, trace_limit_bytes, trace_title
        self.calls += 1
        if trace_file:
            Path(trace_file).write_text(json.dumps(self.trace))
        extra: dict[str, Any] = {"explain": EXPLAIN} if explain else {}
        if trace_file:
            extra["trace"] = {"bytes": 19, "events": 0, "messages": 0, "end_s": 2e-3, "complete": True}
        config = json.loads(config_json)
        pairs = config["workload"]["pairs"]
        self.started.release()
        if self.seconds_per_run:
            begin = time.monotonic()
            while time.monotonic() - begin < self.seconds_per_run:
                if self.stop.wait(0.01):
                    raise self.SimulationError("stopped")
        if self.fail_at == pairs:
            raise self.SimulationError("deadlock: thread receiver 0 waits for lock matching")
        jitter = 0 if self.deterministic else self.calls
        rate = (
            1e5 * pairs / (1 + pairs / 8) * (1 + 0.01 * replication) * (1.3 if config["lock"] == "mcs" else 1) + jitter
        )
        return json.dumps(
            {
                "message_rate": rate,
                "elapsed_s": 1e-3,
                "simulated_s": 2e-3,
                "events": 1000 * pairs,
                "counters": {
                    "messages_sent": 1280 * pairs,
                    "messages_received": 1280 * pairs,
                    "receives_posted": 1280 * pairs,
                    "out_of_sequence": 100 * pairs + replication,
                    "oos_in_queue_max": 5,
                    "unexpected": 7,
                    "unexpected_in_queue_max": 3,
                    "match_time_ns": 64000 * pairs,
                },
                "time_by_category_ns": {
                    "sender": {"software": 500.0, "lock_wait": 100.0 * pairs},
                    "receiver": {"software": 300.0, "matching": 200.0 * pairs, "new_category": 5.0},
                },
                "event_hash": f"{replication:x}",
                **extra,
            }
        )

    def request_stop(self) -> None:
        self.stop.set()

    def clear_stop(self) -> None:
        self.stop.clear()


@contextlib.contextmanager
def ctrl_c_after(core: FakeCore, runs: int) -> Iterator[None]:
    """Presses Ctrl-C when so many runs of the core have begun."""

    def begun() -> None:
        for _ in range(runs):
            core.started.acquire()

    with ctrl_c_when(begun):
        yield


@contextlib.contextmanager
def ctrl_c_when(happens: Callable[[], None]) -> Iterator[None]:
    """Presses Ctrl-C when `happens`, which waits for something, returns."""

    def interrupt() -> None:
        happens()
        _thread.interrupt_main()

    # A shell starts background jobs with Ctrl-C ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Thread(target=interrupt, daemon=True).start()
        yield
    finally:
        signal.signal(signal.SIGINT, before)
