"""Options that several commands have: the same name, meaning and help text in each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ScenarioName: TypeAlias = Annotated[str, typer.Argument(help="A scenario file, or the name of a shipped one.")]
Seed: TypeAlias = Annotated[int | None, typer.Option(min=0, help="Seed of all random streams.")]
Replications: TypeAlias = Annotated[int | None, typer.Option(min=1, help="Independent runs of each point.")]
Iterations: TypeAlias = Annotated[int | None, typer.Option(min=1, help="Timed iterations of the workload.")]
Settings: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="PATH=VALUE", help="Override a value, e.g. workload.pairs=20; repeatable."),
]
RunsAtOnce: TypeAlias = Annotated[
    int | None, typer.Option("--jobs", "-j", min=1, metavar="N", help="Runs at once. [default: all cores]")
]
SimulationsAtOnce: TypeAlias = Annotated[
    int | None, typer.Option("--jobs", "-j", min=1, metavar="N", help="Simulations at once. [default: all cores]")
]
Store: TypeAlias = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="Where finished simulations are kept. [default: the user's cache]"),
]
Mappings: TypeAlias = Annotated[
    list[Path] | None,
    typer.Option(metavar="PATH", help="A mapping or a folder of them, before the shipped ones; repeatable."),
]
OverallSeed: TypeAlias = Annotated[int, typer.Option(min=0, max=2**31, help="Seed of everything random.")]
Messages: TypeAlias = Annotated[int, typer.Option(min=100, help="About how many messages a simulation has.")]
Quiet: TypeAlias = Annotated[bool, typer.Option("--quiet", "-q", help="Print no progress and no tables.")]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]


def overrides_of(settings: Sequence[str] | None, shorthands: Mapping[str, object]) -> list[tuple[str, str]]:
    """What is changed in a scenario: dotted path and value.

    Args:
        settings: What --set was given, in its order.
        shorthands: Values of options that stand for one path, by that path; None where an option was not given. They
            come behind --set, hence count where both give the same path.

    Raises:
        InputError: A setting is not PATH=VALUE.
    """
    from contend.scenarios.resolution import parse_override

    given = [(path, str(value)) for path, value in shorthands.items() if value is not None]
    return [*map(parse_override, settings or []), *given]
