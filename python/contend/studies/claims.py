"""Statements of a study as checks: what is expected, what is predicted with its interval, whether it holds.

The claims of a system are Python files in validation/SYSTEM/claims/: functions that compute one number from the points
of scenarios (contend.studies.evidence), with the statement, its source and the range that makes it true.
"""

from __future__ import annotations

import importlib.util
import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from contend.common.errors import InputError, SimulationFailedError
from contend.common.statistics import student_t_quantile

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from types import ModuleType

    from contend.common.jsontypes import JsonObject
    from contend.common.statistics import Central
    from contend.studies.evidence import Evidence

Compute: TypeAlias = "Callable[[Evidence], float]"
HOLDS = "holds"
MISSES = "misses"
# What says something of a claim: it asks for what its scenarios do not have, a simulation fails with an error, or its
# arithmetic does. All else (a store that cannot be written to, a scenario that is not there) says nothing of it.
FINDINGS = (InputError, SimulationFailedError, ArithmeticError, ValueError, LookupError)


@dataclass(frozen=True)
class Expected:
    """The range in which a statement is true; open ends are None."""

    low: float | None
    high: float | None
    unit: str

    def __contains__(self, value: object) -> bool:
        if not isinstance(value, int | float) or not math.isfinite(value):
            return False
        return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)

    def __str__(self) -> str:
        if self.low is not None and self.high is not None:
            text = f"{self.low:g}..{self.high:g}"
        else:
            text = f">= {self.low:g}" if self.low is not None else f"<= {self.high:g}"
        return f"{text} {self.unit}".rstrip()


def between(low: float, high: float, unit: str) -> Expected:
    """A closed range.

    Raises:
        ValueError: It is empty.
    """
    if not low < high:
        raise ValueError(f"the range {low}..{high} is empty")
    return Expected(low, high, unit)


def about(value: float, tolerance: float, unit: str) -> Expected:
    """A value with a relative tolerance, such as 0.2 for 20 %."""
    return between(value * (1 - tolerance), value * (1 + tolerance), unit)


def at_least(low: float, unit: str) -> Expected:
    """Everything from `low` up."""
    return Expected(low, None, unit)


def at_most(high: float, unit: str) -> Expected:
    """Everything up to `high`."""
    return Expected(None, high, unit)


@dataclass(frozen=True)
class Claim:
    """A statement and how its number is computed.

    `calibrated` says that the number, or one near it, was a target of calibration, so that holding proves nothing.
    `remark` says what a reader must know about the prediction, such as why a miss was expected.
    """

    id: str
    source: str
    statement: str
    expected: Expected
    compute: Compute
    calibrated: bool = False
    remark: str = ""


def claim(
    id: str,  # noqa: A002 - the contract's name
    *,
    source: str,
    statement: str,
    expected: Expected,
    calibrated: bool = False,
    remark: str = "",
) -> Callable[[Compute], Claim]:
    """Makes a claim of the function that computes its number."""

    def decorate(compute: Compute) -> Claim:
        return Claim(id, source, statement, expected, compute, calibrated, remark)

    return decorate


@dataclass(frozen=True)
class Drawn:
    """What comes out over draws of the machine's prices, with a single run of each point.

    `held` is the share of the draws with which the claim holds, and `single_runs` the least and the largest number of
    single runs with the most probable prices: so far apart are numbers by chance alone.
    """

    number: Central
    held: float
    draws: int
    single_runs: tuple[float, float] | None = None


@dataclass(frozen=True)
class Judged:
    """A claim with what came out. `problem` says why there is no number."""

    claim: Claim
    predicted: float | None
    ci95: tuple[float, float] | None
    scenarios: tuple[str, ...]
    problem: str | None = None
    drawn: Drawn | None = None

    @property
    def verdict(self) -> str:
        """What the prediction says: "holds" if it lies in the expected range; all else misses."""
        return HOLDS if self.predicted is not None and self.predicted in self.claim.expected else MISSES

    @property
    def is_clear(self) -> bool:
        """Whether the whole interval is on the same side of the range's ends as the prediction."""
        if self.ci95 is None:
            return False
        low, high = self.ci95
        expected = self.claim.expected
        if self.verdict == HOLDS:
            return low in expected and high in expected
        is_above = expected.high is not None and low > expected.high
        return is_above or (expected.low is not None and high < expected.low)

    def to_json(self) -> JsonObject:
        """The claim as it stands in claims.json."""
        entry: JsonObject = {
            "id": self.claim.id,
            "source": self.claim.source,
            "statement": self.claim.statement,
            "expected": str(self.claim.expected),
            "predicted": self.predicted,
            "ci95": None if self.ci95 is None else list(self.ci95),
            "verdict": self.verdict,
            "interval_agrees": self.is_clear,
            "calibrated": self.claim.calibrated,
            "scenarios": list(self.scenarios),
        }
        if self.drawn is not None:
            number = self.drawn.number
            entry["over_draws"] = {
                "median": number.median, "ci95": [number.low, number.high], "held": self.drawn.held,
                "draws": self.drawn.draws, "single_runs": self.drawn.single_runs and list(self.drawn.single_runs),
            }  # fmt: skip
        if self.claim.remark:
            entry["remark"] = self.claim.remark
        if self.problem is not None:
            entry["problem"] = self.problem
        return entry


def jackknife(compute: Callable[[], float], evidence: Evidence) -> tuple[float, tuple[float, float] | None, list[str]]:
    """A number computed from replications, with its interval.

    The interval is Student's t with the jackknife's standard error: the number is computed anew with each replication
    left out. For a plain mean that is the usual interval; it also serves ratios and extremes of means.

    Args:
        compute: Computes the number from the evidence.
        evidence: What it uses.

    Returns:
        The number, its interval (None for a single replication), and the scenarios it was computed from.
    """
    with evidence.recording() as used:
        value = compute()
        count = evidence.replications
        scenarios = list(used)
    if count < 2:  # noqa: PLR2004
        return value, None, scenarios
    partial = []
    for replication in range(count):
        with evidence.without(replication):
            partial.append(compute())
    mean = math.fsum(partial) / count
    error = math.sqrt((count - 1) / count * math.fsum((part - mean) ** 2 for part in partial))
    half = student_t_quantile(0.975, count - 1) * error
    return value, (value - half, value + half), scenarios


def judge(claims: Sequence[Claim], evidence: Evidence, report: Callable[[Judged], None] | None = None) -> list[Judged]:
    """Judges all claims.

    A claim that cannot be computed misses, with the reason. What is no fault of a claim is no verdict either: it is
    raised, such as that the results of simulations cannot be kept.

    Args:
        claims: What to judge, in order.
        evidence: Where the numbers come from.
        report: Told of each claim as it is judged.

    Raises:
        InputError: There are no claims.
        UnusableScenarioError: A scenario is not there, or is none.
        ContendError: Results of simulations cannot be kept or read.
        InterruptedRunError: Ctrl-C.
    """
    if not claims:
        raise InputError("there are no claims")
    judged = []
    for item in claims:
        try:
            value, interval, scenarios = jackknife(lambda item=item: item.compute(evidence), evidence)  # type: ignore[misc]
            if not math.isfinite(value) or (interval is not None and not all(map(math.isfinite, interval))):
                raise InputError(f"the number is not finite: {value}, {interval}")
            found = Judged(item, float(value), interval, tuple(scenarios))
        except FINDINGS as error:
            found = Judged(item, None, None, (), f"{type(error).__name__}: {error}")
        judged.append(found)
        if report is not None:
            report(found)
    return judged


def number_text(value: float) -> str:
    """A number as people read it: three digits, or all before the point."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"  # noqa: PLR2004


def as_markdown(judged: Sequence[Judged], title: str, note: str = "") -> str:
    """A table of claims to read, in their order.

    Args:
        judged: The claims.
        title: Of the page.
        note: What stands above the table, after how many hold.
    """
    held = sum(item.verdict == HOLDS for item in judged)
    targets = sum(item.verdict == HOLDS and item.claim.calibrated for item in judged)
    has_draws = any(item.drawn is not None for item in judged)
    heads = ["", "claim", "expected", "predicted (95 % interval)", *(_DRAWN_HEADS if has_draws else ()), "remark"]
    lines = [
        f"# {title}",
        "",
        f"{held} of {len(judged)} claims hold; {targets} of these were targets of calibration.",
        "",
        *([note, ""] if note else []),
        "|" + "|".join(f" {head} ".replace("  ", " ") for head in heads) + "|",
        "|" + "---|" * len(heads),
    ]
    for item in judged:
        if item.predicted is None:
            predicted = "none"
        elif item.ci95 is None:
            predicted = number_text(item.predicted)
        else:
            predicted = f"{number_text(item.predicted)} ({' to '.join(map(number_text, item.ci95))})"
        remarks = [item.claim.remark, (item.problem or "").partition("\n")[0]]
        if item.claim.calibrated:
            remarks.append("target of calibration")
        if item.predicted is not None and item.ci95 is not None and not item.is_clear:
            remarks.append("the interval reaches across the limit")
        cells = [
            f"**{item.verdict}**" if item.verdict == MISSES else item.verdict,
            f"`{item.claim.id}`: {item.claim.statement} [{item.claim.source}]",
            str(item.claim.expected),
            predicted,
            *(_drawn_cells(item.drawn) if has_draws else ()),
            "; ".join(remark for remark in remarks if remark),
        ]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def single_runs(item: Claim, evidence: Evidence) -> tuple[float, float] | None:
    """The least and the largest number that one replication alone gives; None if a claim cannot be computed.

    Raises:
        ContendError: As `judge`.
    """
    try:
        with evidence.recording():
            item.compute(evidence)
            count = evidence.replications
        values = []
        for replication in range(count):
            with evidence.only(replication):
                values.append(float(item.compute(evidence)))
    except FINDINGS:
        return None
    return (min(values), max(values)) if values and all(map(math.isfinite, values)) else None


_DRAWN_HEADS = ("single runs", "over the prices' posterior (95 %)", "holds in")


def _drawn_cells(drawn: Drawn | None) -> tuple[str, str, str]:
    if drawn is None:
        return "", "most probable prices only", ""
    by_chance = "" if drawn.single_runs is None else " to ".join(map(number_text, drawn.single_runs))
    median, low, high = (number_text(x) for x in (drawn.number.median, drawn.number.low, drawn.number.high))
    return by_chance, f"{median} ({low} to {high})", f"{drawn.held:.0%}"


def load_claims(folder: Path) -> list[Claim]:
    """All claims of a system, file by file in order of names.

    Raises:
        InputError: There are none, or two have the same id.
    """
    claims: list[Claim] = []
    for file in sorted(folder.glob("*.py")):
        module = _load(file)
        claims += [value for value in vars(module).values() if isinstance(value, Claim)]
    if not claims:
        raise InputError(f"{folder} has no claims")
    ids = [item.id for item in claims]
    if repeated := sorted({name for name in ids if ids.count(name) > 1}):
        raise InputError(f"{folder}: several claims are called {', '.join(repeated)}")
    return claims


@dataclass(frozen=True)
class Given:
    """What a prediction is for, such as the numbers of instances: written as it is, without an interval."""

    values: list[Any]


@dataclass(frozen=True)
class Scaled:
    """Predictions that are like numbers that prices are fitted to, such as the same counter elsewhere.

    `measure` is what the target of a fit is called, and `scale` what one of its unit is here; `most` is the largest
    number that there can be, in the target's unit.
    """

    values: list[float]
    measure: str
    scale: float
    most: float | None = None


def contents(file: Path, evidence: Evidence) -> JsonObject:
    """What the function `predictions(evidence)` of a file computes: a tree with lists of numbers.

    Raises:
        InputError: The file has no such function.
        ContendError: A number cannot be computed.
    """
    tree: JsonObject = _predictions_of(file)(evidence)
    return tree


def predict(file: Path, evidence: Evidence) -> JsonObject:
    """What a file of predictions computes, with intervals.

    Each list of numbers has a sibling NAME_ci95 with their intervals.

    Raises:
        InputError: The file has no function `predictions`.
        ContendError: A number cannot be computed.
    """
    compute = _predictions_of(file)
    tree = compute(evidence)

    def at(path: tuple[str, ...], index: int) -> float:
        node = compute(evidence)
        for key in path[:-1]:
            node = node[key]
        return float(_numbers(node[path[-1]])[index])

    def complete(node: JsonObject, path: tuple[str, ...]) -> JsonObject:
        done: JsonObject = {}
        for key, entry in node.items():
            here = (*path, key)
            if isinstance(entry, dict):
                done[key] = complete(entry, here)
            elif isinstance(entry, Given):
                done[key] = entry.values
            elif isinstance(entry, list | Scaled):
                count = len(_numbers(entry))
                found = [jackknife(lambda i=i, here=here: at(here, i), evidence) for i in range(count)]  # type: ignore[misc]
                done[key] = [value for value, _, _ in found]
                done[f"{key}_ci95"] = [None if interval is None else list(interval) for _, interval, _ in found]
            else:
                done[key] = entry
        return done

    return complete(tree, ())


def _numbers(entry: list[float] | Scaled) -> list[float]:
    return entry.values if isinstance(entry, Scaled) else entry


def _predictions_of(file: Path) -> Callable[[Evidence], JsonObject]:
    compute = getattr(_load(file), "predictions", None)
    if not callable(compute):
        raise InputError(f"{file} has no function predictions(evidence)")
    return cast("Callable[[Evidence], JsonObject]", compute)


def _load(file: Path) -> ModuleType:
    name = f"contend_validation_{file.parent.parent.name}_{file.stem}"
    specification = importlib.util.spec_from_file_location(name, file)
    if specification is None or specification.loader is None:
        raise InputError(f"{file} is no Python file")
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module
    try:
        specification.loader.exec_module(module)
    except Exception as error:
        raise InputError(f"{file}: {type(error).__name__}: {error}") from error
    return module
