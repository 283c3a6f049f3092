"""A scenario as a value: load it, look into it, change it, run it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from contend.common.documents import values_by_path
from contend.common.errors import ContendError, InputError
from contend.common.nearest import nearest_names
from contend.common.spelling import counted, shortened
from contend.scenarios.choice import the_point_with
from contend.scenarios.resolution import Point, ResolvedScenario, find_scenario, resolve_scenario

if TYPE_CHECKING:
    import polars as pl

    from contend.common.jsontypes import JsonObject, Scalar
    from contend.comparisons.comparison import Comparison
    from contend.explanations.explanation import Explanation
    from contend.results.results import Results
    from contend.sweeps.plans import PlanLike
    from contend.sweeps.sweep import SweepResults

# What stands for a scenario in the functions of the package.
ScenarioLike: TypeAlias = "Scenario | str | Path | Mapping[str, Any]"

_PROPOSALS = 3
_PRESET = "library.preset"


def json_text(value: object) -> str:
    """A value as an override: JSON, with numbers of NumPy and Polars as plain ones.

    Raises:
        InputError: It has no JSON form.
    """
    try:
        return json.dumps(value, allow_nan=False, default=_plain)
    except (TypeError, ValueError) as error:
        raise InputError(f"{shortened(repr(value))} cannot stand in a scenario: {error}") from error


def _plain(value: object) -> object:
    item = getattr(value, "item", None)
    if callable(item):
        return item()
    if isinstance(value, range):
        return list(value)
    raise TypeError(f"a {type(value).__name__} has no JSON form")


@dataclass(frozen=True, repr=False, eq=False)
class Scenario:
    """A machine, a network, a library design and a workload, with every default filled in.

    Scenarios do not change: `with_` returns a new one. Two are equal when they simulate the same points.

    Examples:
        >>> scenario = load("fig5_2a_base")
        >>> scenario["workload.window"]
        128
        >>> small = scenario.with_({"workload.pairs": 4, "machine.futex.wake_latency": "2 us"})
        >>> small["workload.pairs"], len(small.points)
        (4, 1)
        >>> scenario.with_({"workload.pears": 4})
        Traceback (most recent call last):
        ...
        contend.common.errors.InputError: ... /workload: unknown key "pears"; did you mean 'pairs'? ...
    """

    path: Path
    """The file, or the name that stands for one in messages."""
    overrides: tuple[tuple[str, str], ...] = ()
    """What was changed: dotted path and JSON text, in order."""
    text: str | None = field(default=None)
    """The scenario itself when it did not come from a file."""
    given_in: str = "changes"
    """Where the user made the changes, for messages about them."""

    @cached_property
    def resolved(self) -> ResolvedScenario:
        """Every value with its origin, and all points.

        Raises:
            InputError: The file or a change is not usable.
        """
        return resolve_scenario(self.path, self.overrides, self.text, given_in=self.given_in)

    # Looking into it.

    @property
    def name(self) -> str:
        """Its name, which is the file's if it has none."""
        return self.resolved.name

    @property
    def description(self) -> str:
        """What its author says of it."""
        return str(self.resolved.document.get("description", ""))

    @property
    def document(self) -> JsonObject:
        """All of it as a JSON object, which is a scenario file itself."""
        return self.resolved.document

    @property
    def points(self) -> tuple[Point, ...]:
        """What will be simulated, in order; one point if nothing is swept."""
        return self.resolved.points

    @property
    def seed(self) -> int:
        """The seed of all random streams."""
        return int(self.points[0].config["run"]["seed"])

    @property
    def replications(self) -> int:
        """Independent runs of each point."""
        return self.points[0].replications

    @property
    def axes(self) -> dict[str, list[Any]]:
        """What is swept: the values by dotted path, designs by their names. Empty if nothing is."""
        sweep = self.document.get("sweep") or {}
        if isinstance(sweep, list):
            return {path: _unique([_value_name(sample[path]) for sample in sweep]) for path in sweep[0]}
        return {path: list(values) for path, values in sweep.items()}

    def origin(self, path: str) -> str:
        """Where a value comes from, such as "profile alembert (literature: ...)" or "command line" for a change.

        Args:
            path: Dotted path of the value.

        Raises:
            InputError: There is no such value.
        """
        self[path]
        pointer = "/" + path.replace(".", "/")
        while pointer and pointer not in self.resolved.origins:
            pointer = pointer.rpartition("/")[0]
        return self.resolved.origins.get(pointer, "")

    def __getitem__(self, path: str) -> Any:  # noqa: ANN401 - any JSON value
        """A value by dotted path, in the first point of a sweep.

        Raises:
            InputError: There is no such value; the message names the nearest. Or the path is no text.
        """
        _check_path(path)
        config = self.points[0].config
        value: Any = config
        for key in path.split("."):
            if not isinstance(value, dict) or key not in value:
                raise InputError(f"{self.name} has no value {path!r}{_proposals(path, config)}")
            value = value[key]
        return value

    def __contains__(self, path: object) -> bool:
        """Whether there is a value at a dotted path."""
        try:
            self[str(path)]
        except InputError:
            return False
        return True

    def frame(self) -> pl.DataFrame:
        """Every value with where it comes from: columns path, value (as JSON), origin."""
        import polars as pl

        rows = [
            (path, json.dumps(value, ensure_ascii=False), self.origin(path))
            for path, value in values_by_path(self.points[0].config)
        ]
        return pl.DataFrame(rows, schema={"path": pl.String, "value": pl.String, "origin": pl.String}, orient="row")

    # Changing it.

    def with_(self, changes: Mapping[str, object] | None = None, /, **keywords: object) -> Scenario:
        """The scenario with other values; checked at once.

        A value given for what is swept ends that sweep.

        Args:
            changes: Values by dotted path: numbers, words, times and sizes with their unit ("2 us"), whole sections as
                mappings. `library.preset` takes the name of a preset, which replaces the whole library design (other
                changes of the same call come upon it, earlier ones of the library are gone); `sweep.PATH` takes a list
                of values. None takes away what the scenario's file says of a value.
            **keywords: The same, with two underscores for each dot: `workload__pairs=4`.

        Raises:
            InputError: A path, a value or the combination is not usable; the message says what is, and names the
                nearest where a name is wrong.
        """
        wanted = checked_paths(changes or {}) | {name.replace("__", "."): value for name, value in keywords.items()}
        kept = self.overrides
        if wanted.get(_PRESET) is not None:  # null takes the scenario's preset away
            wanted = {"library": self.design(wanted.pop(_PRESET))} | wanted
            kept = _without_library(kept)
        elif _names_designs(wanted.get("sweep")):
            kept = tuple(one for one in kept if one[0] not in ("library", _PRESET))  # they would win over the designs
        added = tuple((path, json_text(value)) for path, value in wanted.items())
        changed = replace(self, overrides=(*kept, *added))
        _ = changed.resolved
        return changed

    def over(self, axes: Mapping[str, object]) -> Scenario:
        """The scenario with a sweep: every combination of these values, and of what it sweeps itself.

        Args:
            axes: A list (or range) of values by dotted path, or {"from": ..., "to": ..., "step": ...}; an axis takes
                the place of the one that the scenario has over the same path. `library.preset` takes a list of presets,
                each a whole library design, or library sections by name, each upon that of the scenario's file. What
                was changed of the library before (`with_({"library.matching.lock": "mcs"})`) is changed in all designs.

        Raises:
            InputError: As with_.

        Examples:
            >>> designs = load("fig5_2a").with_({"workload.pairs": 20, "library.instances.assignment": "dedicated"})
            >>> [point.label() for point in designs.over({"library.instances.count": [1, 20]}).points]
            ['instances=1', 'instances=20']
        """
        wanted = {path: _plain_axis(values) for path, values in checked_paths(axes).items()}
        if isinstance(presets := wanted.get(_PRESET), list):
            wanted[_PRESET] = {str(preset): self.design(preset) for preset in presets}
        return self.with_({"sweep": wanted})

    def design(self, preset: object) -> JsonObject:
        """The library section that a preset stands for, complete.

        Raises:
            InputError: There is no such preset, or it does not go with the rest of the scenario.
        """
        document = {key: value for key, value in self.document.items() if key not in ("library", "sweep")}
        file, asked = self.path.resolve().parent / self.path.name, ((_PRESET, json_text(preset)),)
        library: JsonObject = resolve_scenario(file, asked, json_text(document), given_in=self.given_in).document[
            "library"
        ]
        return library

    def at(self, **parameters: Scalar) -> Scenario:
        """One point of the sweep by itself.

        Args:
            **parameters: Values of swept parameters, by the names that points have them under; they may leave out what
                one point alone has.

        Raises:
            InputError: No point, or several, have these values.

        Examples:
            >>> load("fig5_2a").at(pairs=20, instances=10, assignment="dedicated")["workload.pairs"]
            20
        """
        chosen = the_point_with(self.points, parameters)
        sweep = self.document.get("sweep")
        if not sweep:
            return self
        if isinstance(sweep, list):
            return self.with_({"sweep": [sweep[chosen]]})
        values = self.points[chosen].parameters.values()
        return self.with_({"sweep": {
            path: {value: axis[value]} if isinstance(axis, dict) else [value]
            for (path, axis), value in zip(sweep.items(), values, strict=True)
        }})  # fmt: skip

    # What one does with it.

    def run(self, **options: Any) -> Results:  # noqa: ANN401
        """Simulates all points: contend.run(self, ...)."""
        from contend import api

        return api.run(self, **options)

    def sweep(self, plan: PlanLike | None = None, **options: Any) -> SweepResults:  # noqa: ANN401
        """Simulates many points, each once in its life: contend.sweep(self, plan, ...)."""
        from contend.sweeps.sweep import sweep

        return sweep(self, plan, **options)

    def compare(self, other: ScenarioLike, **options: Any) -> Comparison:  # noqa: ANN401
        """Compares with another design: contend.compare(self, other, ...)."""
        from contend import api

        return api.compare(self, other, **options)

    def explain(self, **options: Any) -> Explanation:  # noqa: ANN401
        """Says where the time of one point goes: contend.explain(self, ...)."""
        from contend import api

        return api.explain(self, **options)

    # What Python asks of a value.

    # Lookup by path is no sequence: `list(scenario)` is a TypeError.
    __iter__ = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scenario) and self.document == other.document

    def __hash__(self) -> int:
        return hash(json.dumps(self.document, sort_keys=True))

    def __repr__(self) -> str:
        try:
            changed = "".join(f", {path}={text}" for path, text in self.overrides)
            return f"<Scenario {self.name}: {counted(len(self.points), 'point')}{changed}>"
        except ContendError as error:
            return f"<Scenario {self.path}: {error}>"

    def _repr_html_(self) -> str:
        from contend.notebook_html import scenario_html

        return scenario_html(self)


def checked_paths(changes: object) -> dict[str, object]:
    """Changes as a dictionary.

    Raises:
        InputError: They are no mapping, or a path is no text.
    """
    if not isinstance(changes, Mapping):
        raise InputError(f"changes are a mapping of dotted paths to values, not {shortened(repr(changes))}")
    for path in changes:
        _check_path(path)
    return dict(changes)


def _check_path(path: object) -> None:
    if not isinstance(path, str):
        raise InputError(f"a path is a word such as 'workload.pairs', not {path!r}")


def _without_library(overrides: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """Changes but for those of the library design."""
    return tuple((path, text) for path, text in overrides if path.partition(".")[0] != "library")


def _names_designs(sweep: object) -> bool:
    """Whether a sweep, by axes or by points, is over whole library designs."""
    if isinstance(sweep, list):
        return any(_names_designs(point) for point in sweep)
    return isinstance(sweep, dict) and _PRESET in sweep


def _unique(values: list[Any]) -> list[Any]:
    return list(dict.fromkeys(values))


def _value_name(value: object) -> object:
    """What a value of a sweep is called: a design in full by its name."""
    return next(iter(value)) if isinstance(value, dict) else value


def _plain_axis(values: object) -> object:
    if isinstance(values, dict | str) or not hasattr(values, "__iter__"):
        return values
    return list(values)


def _proposals(path: str, config: JsonObject) -> str:
    known = [name for name, _ in values_by_path(config)]
    last = path.rpartition(".")[2]
    near = nearest_names(path, known) or [name for name in known if name.endswith("." + last)]
    if not near:
        ends = {name.rpartition(".")[2]: name for name in known}
        near = [ends[name] for name in nearest_names(last, ends, _PROPOSALS)]
    return f"; did you mean {' or '.join(map(repr, near[:_PROPOSALS]))}?" if near else ""


def load(source: str | Path | Mapping[str, Any] | Scenario) -> Scenario:
    """Loads a scenario.

    Args:
        source: A file, the name of a shipped scenario (with or without folder and ".json"), or the scenario itself as a
            mapping.

    Raises:
        InputError: There is none of that name (the message names the nearest), it is not usable, or no scenario at all.

    Examples:
        >>> load("fig5_2a_base").axes
        {'workload.pairs': [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]}
    """
    if isinstance(source, Scenario):
        return source
    if isinstance(source, str | Path):
        scenario = Scenario(find_scenario(str(source)))
    elif not isinstance(source, Mapping):
        raise InputError(
            f"a scenario is a file, the name of a shipped one, a mapping or a Scenario, not {shortened(repr(source))}"
        )
    else:
        document = dict(source)
        document.setdefault("schema_version", 1)
        document.setdefault("name", "unnamed")
        scenario = Scenario(Path(f"{document['name']}"), text=json_text(document))
    _ = scenario.resolved
    return scenario
