"""The points of a plan in a scenario: scenarios whose sweeps they are, and the combinations that make no sense."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from contend.common.errors import InputError
from contend.common.spelling import parameters_text
from contend.sweeps.plans import Grid, LatinHypercube, Samples, require_room

if TYPE_CHECKING:
    from contend.scenarios.scenario import Scenario
    from contend.sweeps.plans import Plan, Row

_PRESET = "library.preset"
# Where the core finds a mistake in the rows that it is given: the number of the row, the path.
_PLACE = re.compile(r"^(?:command line|changes|overrides): /sweep(?:/(\d+))?(?:/([^:\n]+))?: ", re.MULTILINE)
# The same of a preset, which is looked up by itself.
_OF_A_PRESET = re.compile(r"^(command line|changes|overrides): /library/preset: ", re.MULTILINE)
# Where it says of which point another is the same.
_FIRST = re.compile(r"\bfound the point of /sweep/(\d+) again;")
# How the core ends what it says of a combination (sim/scenario/checks.cpp); a value that is wrong by itself has no such
# end.
_OF_A_POINT = re.compile(r" \(at .+ = .+\)$", re.MULTILINE)
# What it says of a value of a design that is wrong wherever it is used.
_OF_A_VALUE = re.compile(r": (?:found|unknown|is missing)\b")
# Rows that are handed to the core at a time: its input is bounded.
_CHUNK = 10_000


@dataclass
class Planned:
    """A plan upon a scenario: scenarios whose sweeps are lists of points, and what was left out."""

    scenarios: list[Scenario] = field(default_factory=list)
    skipped: list[tuple[Row, str]] = field(default_factory=list)
    """Points that make no sense, with the reason."""


def lay_upon(scenario: Scenario, plan: Plan, *, skip_invalid: bool = False) -> Planned:
    """The points of a plan in a scenario. What the scenario sweeps itself, and the plan does not, multiplies them.

    Args:
        scenario: What the plan changes.
        plan: Which points.
        skip_invalid: Leave out combinations that make no sense, in place of an error.

    Raises:
        InputError: A path, value or combination is not usable, or the end of a range; there are too many points, or
            none left.
    """
    rows = plan.rows()
    base = [{path: value for path, value in row.items() if path not in rows[0]} for row in _own_rows(scenario)]
    # A scenario's own points may have differed in nothing but what the plan sets.
    distinct = [row for index, row in enumerate(base) if row not in base[:index]]
    require_room(len(distinct) * len(rows), "the sweep")
    rows = [own | row for own in distinct for row in rows]
    if not rows[0]:
        raise InputError("the sweep: found an empty object; allowed: an object of path: values")
    if isinstance(plan, LatinHypercube):
        edges = [distinct[0] | row for row in plan.edges()]
        _Laying(scenario, plan, edges, len(edges)).lay(range(len(edges)), skip_invalid=True)
    laying = _Laying(scenario, plan, rows, len(rows) // len(distinct))
    for start in range(0, len(rows), _CHUNK):
        laying.lay(range(start, min(start + _CHUNK, len(rows))), skip_invalid=skip_invalid)
    planned = laying.planned
    if not planned.scenarios:
        reason = f"; the first: {planned.skipped[0][1]}" if planned.skipped else ""
        raise InputError(f"no point of the sweep is usable{reason}")
    return planned


def _own_rows(scenario: Scenario) -> list[Row]:
    """What a scenario sweeps itself, as points; one without values if nothing."""
    sweep = scenario.document.get("sweep") or {}
    if isinstance(sweep, list):
        designs: dict[str, Any] = {}
        for row in sweep:
            if isinstance(design := row.get(_PRESET), dict):
                designs |= design
        return [row | ({_PRESET: _named(row[_PRESET], designs)} if _PRESET in row else {}) for row in sweep]
    axes = {
        path: [{name: design} for name, design in values.items()] if isinstance(values, dict) else values
        for path, values in sweep.items()
    }
    return [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]


def _named(design: Any, known: Mapping[str, Any]) -> Any:  # noqa: ANN401
    """A design with its name, in full where it is known."""
    return {design: known[design]} if isinstance(design, str) and design in known else design


@dataclass
class _Laying:
    """A plan on its way into a scenario: `rows` are its `count` points, once for each point of the scenario itself."""

    scenario: Scenario
    plan: Plan
    rows: list[Row]
    count: int
    planned: Planned = field(default_factory=Planned)

    def lay(self, chosen: range, *, skip_invalid: bool) -> None:
        """Adds a stretch of the rows to what is planned.

        Raises:
            InputError: One is not usable, and is not to be skipped: a value that is wrong by itself never is.
        """
        rows = self.rows[chosen.start : chosen.stop]
        try:
            self.planned.scenarios.append(self.scenario.with_({"sweep": _with_designs(self.scenario, rows)}))
        except InputError as error:
            if not (skip_invalid and _OF_A_POINT.search(str(error))):
                raise InputError(self._told(str(error), chosen)) from error
            if len(rows) == 1:
                self.planned.skipped.append((rows[0], self._told(str(error), chosen, is_left_out=True)))
                return
            middle = len(rows) // 2
            self.lay(chosen[:middle], skip_invalid=True)
            self.lay(chosen[middle:], skip_invalid=True)

    def _told(self, message: str, chosen: range, *, is_left_out: bool = False) -> str:
        """What the core says of the rows that it was given, with places that the user knows.

        Args:
            message: What it says.
            chosen: Which rows these were.
            is_left_out: The point is left out for that, so that no option has to be mended.
        """

        def place(found: re.Match[str]) -> str:
            number, path = found.groups()
            parts = [path]
            if isinstance(self.plan, Grid | LatinHypercube):
                option = "" if is_left_out else self.plan.given_by
                parts = [self.plan.place(path) if path and option else path or option]
            elif isinstance(self.plan, Samples):
                parts.insert(
                    0, self.plan.source if number is None else self.plan.place(chosen[int(number)] % self.count)
                )
            return "".join(f"{part}: " for part in parts if part)

        def first(found: re.Match[str]) -> str:
            index = chosen[int(found[1])] % self.count
            plan = self.plan
            point = plan.place(index) if isinstance(plan, Samples) else parameters_text(self.rows[index], ", ")
            return f"found the point of {point} again;"

        return _FIRST.sub(first, _PLACE.sub(place, _OF_A_PRESET.sub(r"\1: /sweep/library.preset: ", message)))


def _with_designs(scenario: Scenario, rows: list[Row]) -> list[Row]:
    """Presets are whole designs, given in full where they come first."""
    if not any(_PRESET in row for row in rows):
        return rows
    seen: dict[str, Any] = {}
    result = []
    for row in rows:
        design = row.get(_PRESET)
        if isinstance(design, str):
            name, section = design, None
        elif isinstance(design, Mapping) and len(design) == 1:
            name, section = next(iter(design.items()))
        else:
            raise InputError(f"{_PRESET}: the name of a preset, or a library section under its name; not {design!r}")
        if name not in seen:
            seen[name] = _preset_design(scenario, name) if section is None else section
            result.append(row | {_PRESET: {name: seen[name]}})
        else:
            result.append(row | {_PRESET: name})
    return result


def _preset_design(scenario: Scenario, name: str) -> Any:  # noqa: ANN401 - a JSON object
    """The whole design of a preset; one that does not go with the scenario is a combination that makes no sense."""
    try:
        return scenario.design(name)
    except InputError as error:
        if _OF_A_VALUE.search(str(error)):
            raise
        raise InputError(f"{error} (at {_PRESET} = {json.dumps(name)})") from error
