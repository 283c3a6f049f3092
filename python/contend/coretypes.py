"""The compiled core's interface, as seen from Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

# (platform file, from host, to host) -> (latency in s, bandwidth in byte/s, cores of the first host, of the second)
RouteResolver: TypeAlias = Callable[[str, str, str], tuple[float, float, int, int]]


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
    ) -> str:
        """JSON: {"document", "origins", "points"} of a scenario file, or of the text of one."""

    def run_point(  # noqa: PLR0917 - as the compiled function has it
        self,
        config_json: str,
        replication: int,
        trace_hash: bool = False,  # noqa: FBT001, FBT002
        explain: bool = False,  # noqa: FBT001, FBT002
        trace_file: str = "",
        trace_limit_bytes: int = 100_000_000,
    ) -> str:
        """JSON: the result of one replication of one point.

        Raises:
            OSError: The trace cannot be written.
        """

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
