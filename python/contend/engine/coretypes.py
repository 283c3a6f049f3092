"""The compiled core's interface, as seen from Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias

# (platform file, from host, to host) -> (latency in s, bandwidth in byte/s, cores of the first host, of the second), or
# (key of the fabric that is to blame, why there is no route)
RouteResolver: TypeAlias = Callable[[str, str, str], tuple[float, float, int, int] | tuple[str, str]]


class CorePoint(Protocol):
    """A point as the compiled core has it: checked, and ready to run on any thread."""

    @property
    def replications(self) -> int:
        """How many independent runs were asked for."""

    @property
    def operations(self) -> int:
        """Messages or operations of one replication, warm-up included."""

    @property
    def most_steps(self) -> int:
        """Steps of the simulation after which a replication ends with an error (run.steps_per_operation)."""

    def config(self) -> str:
        """JSON: the configuration, every value written out."""

    def identity(self) -> bytes:
        """Everything that results depend on, to be hashed: not the name, nor the number of replications."""

    def run(
        self,
        replication: int,
        trace_hash: bool = False,  # noqa: FBT001, FBT002
        explain: bool = False,  # noqa: FBT001, FBT002
        *,
        trace_file: str = "",
        trace_limit_bytes: int = 100_000_000,
        trace_title: str = "",
    ) -> str:
        """JSON: the result of one replication. Other threads of the interpreter go on meanwhile.

        Raises:
            OSError: The trace cannot be written.
        """


class Core(Protocol):
    """The functions of `contend._core`."""

    @property
    def ScenarioError(self) -> type[Exception]:  # noqa: N802 - a class
        """Raised for a scenario that cannot be used."""

    @property
    def SimulationError(self) -> type[Exception]:  # noqa: N802 - a class
        """Raised when a simulation cannot go on."""

    def version(self) -> str:
        """Version that the core was built from."""

    def known_names(self) -> str:
        """JSON: the names that a scenario may use, by registry."""

    def resolve(  # noqa: PLR0917 - as the compiled function has it
        self,
        path: str,
        overrides: list[tuple[str, str]],
        profile_dirs: list[str],
        preset_dirs: list[str],
        route_resolver: RouteResolver,
        text: str | None = None,
    ) -> tuple[str, Sequence[CorePoint]]:
        """A scenario file, or the text of one: JSON {"document", "origins", "parameters" of each point}, the points."""

    def point(self, config_json: str) -> CorePoint:
        """The point that has a configuration."""

    def costs(self, config_json: str) -> str:
        """JSON: the prices in a point, [{"path", "doc", "value", "free"}]; "free" ones cannot be lowered."""

    def scale_costs(self, config_json: str, paths: list[str], factor: float) -> str:
        """JSON: {"config", "at_bound"}: some prices times a factor, and those that a bound keeps higher."""

    def schema(self, kind: str) -> str:
        """JSON Schema of a scenario, a profile or a preset."""

    def request_stop(self) -> None:
        """Makes every running simulation end soon with an error."""

    def clear_stop(self) -> None:
        """Allows simulations again."""
