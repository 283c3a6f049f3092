"""What a comparison of two designs found: differences with intervals and verdicts, point by point."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from contend.common.paths import version
from contend.common.spelling import counted, value_text
from contend.comparisons.paired import (
    ALIKE,
    Difference,
    bootstrap_remark,
    pooled_reduction,
    relative_differences,
    sample_variance,
)
from contend.profiles.shared_prices import shared_prices_remark
from contend.results.measures import RATE, Measure, measure_named, unknown
from contend.results.workload_words import WorkloadWords, words_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from contend.common.jsontypes import JsonObject, Scalar
    from contend.plots import Picture

_MESSAGE_RATE = measure_named(RATE)
# So many values in which the sides differ are named to a reader; compare.json has all.
_MOST_NAMED = 8


@dataclass(frozen=True)
class PointComparison:
    """All measures and counters of one point of both sweeps."""

    parameters: dict[str, Scalar]
    measures: dict[str, Difference]
    main: Measure = _MESSAGE_RATE
    """The measure that the verdict is about."""
    same_simulation: bool = False
    """Whether both sides have the same results and events in all replications."""
    own: tuple[str, ...] = ()
    """Which of `measures` only this workload has; the others that contend has no words for are counters."""

    @property
    def rate(self) -> Difference:
        """The main measure."""
        return self.measures[self.main.name]

    @property
    def verdict(self) -> str:
        """What the main measure says of B: "faster", "slower", "no difference", "undecided"."""
        better, worse = ("lower", "higher") if self.main.less_is_better else ("higher", "lower")
        return {better: "faster", worse: "slower"}.get(self.rate.verdict, self.rate.verdict)


@dataclass(frozen=True)
class Side:
    """One side of a comparison as it was simulated."""

    scenario: JsonObject
    """The scenario with every default filled in: a scenario file that simulates the same."""
    overrides: tuple[tuple[str, str], ...] = ()
    """What was changed in the scenario's file: dotted path and value. Of B also the seed and replications of A."""

    def entries(self, name: str) -> Iterator[tuple[str, JsonObject]]:
        """What compare.json has of the side that is called so."""
        yield f"scenario_{name}", self.scenario
        if self.overrides:
            yield f"overrides_{name}", dict(self.overrides)


@dataclass(frozen=True, repr=False)
class Comparison:
    """Two designs over the points that both have; at least one."""

    name_a: str
    name_b: str
    seed: int
    interval: str
    points: tuple[PointComparison, ...]
    words: WorkloadWords = field(default_factory=lambda: words_of({}))
    """What is counted on both sides at all points: neutral words where that is not the same."""
    only_a: int = 0
    only_b: int = 0
    measured_reduction: float | None = None
    workload_differences: dict[str, tuple[object, object]] = field(default_factory=dict)
    """What is not alike in what the sides have to do, by name: A's value and B's where that is first so."""
    system_differences: dict[str, tuple[object, object]] = field(default_factory=dict)
    """What is not alike in machine, network and placement, likewise: the machine's name, or else values of it."""
    shared_prices: tuple[str, str] | None = None
    """The names of two designs that pay the same prices of code."""
    sides: tuple[Side, ...] = ()
    """What was simulated: A and B. Empty where a comparison is made of samples."""

    @property
    def measure(self) -> Measure:
        """The measure that verdicts are about."""
        return self.points[0].main

    @property
    def workload_remark(self) -> str:
        """What a reader has to know where the sides do not do the same; nothing where they do."""
        return _not_designs_alone("workloads", self.workload_differences)

    @property
    def system_remark(self) -> str:
        """What a reader has to know where the sides have other machines, networks or places; nothing where not."""
        return _not_designs_alone("systems", self.system_differences)

    @property
    def prices_remark(self) -> str:
        """What a reader has to know where the code of two libraries has the same prices; nothing where it has not."""
        remark = shared_prices_remark(self.shared_prices or ())
        return f"{remark}." if remark else ""

    @property
    def undecided_remark(self) -> str:
        """What a reader can do where the intervals are too wide for a verdict; nothing where none is."""
        undecided = [point.rate for point in self.points if point.verdict == "undecided"]
        if not undecided:
            return ""
        now = len(undecided[0].a.samples)
        wanted = [rate.replications_to_decide for rate in undecided]
        most = max((count for count in wanted if count is not None), default=0)
        if most > now:
            advice = f"about {most} replications narrow it to ±{ALIKE:.0%} (now {now})."
        elif None in wanted:
            advice = f"more replications narrow it to ±{ALIKE:.0%} (now {now})."
        else:
            advice = f"it is no wider than ±{ALIKE:.0%} now, with {now} replications; more of them narrow it further."
        return (
            f"Undecided is where the interval allows for no difference, and for one of more than {ALIKE:.0%} as well: "
            f"{advice}"
        )

    @property
    def interval_remark(self) -> str:
        """What a reader has to know of intervals that cover less than they say; nothing where they do not."""
        return bootstrap_remark(self.interval, len(self.points[0].rate.a.samples))

    @property
    def reader_remarks(self) -> list[str]:
        """All that a reader of the verdicts has to know."""
        remarks = [
            self.undecided_remark, self.interval_remark, self.sameness_remark, self.workload_remark, self.system_remark,
            self.prices_remark,
        ]  # fmt: skip
        return [remark for remark in remarks if remark]

    @property
    def sameness_remark(self) -> str:
        """What a reader has to know where both sides are the same simulation; nothing where they are not."""
        same = sum(point.same_simulation for point in self.points)
        if same == len(self.points):
            return "Both sides are the same simulation: what differs between them has no effect here."
        return (
            f"At {same} of {len(self.points)} points both sides are the same simulation: what differs between them has "
            "no effect there."
            if same
            else ""
        )

    @property
    def variance_reduction(self) -> float | None:
        """What pairing gains over all points, estimated from the paired runs: see `pooled_reduction`."""
        rates = [found for point in self.points if (found := point.rate).a.mean and found.b.mean]
        return pooled_reduction(
            [sum(sample_variance(side.samples) / side.mean**2 for side in (rate.a, rate.b)) for rate in rates],
            [sample_variance(relative_differences(rate.a, rate.b)) for rate in rates],
        )

    def to_json(self) -> JsonObject:
        """The content of compare.json."""
        return {
            "contend_version": version(),
            "a": self.name_a,
            "b": self.name_b,
            "seed": self.seed,
            "replications": len(self.points[0].rate.a.samples),
            **{key: value for name, side in zip("ab", self.sides, strict=False) for key, value in side.entries(name)},
            "confidence": 0.95,
            "interval": self.interval,
            "measure": self.measure.name,
            "points_only_in_a": self.only_a,
            "points_only_in_b": self.only_b,
            "workload_differences": {name: list(values) for name, values in self.workload_differences.items()},
            "system_differences": {name: list(values) for name, values in self.system_differences.items()},
            "variance_reduction": {
                "estimated_from_pairs": self.variance_reduction,
                "measured_against_independent_seeds": self.measured_reduction,
            },
            "points": [
                {
                    "parameters": point.parameters,
                    "verdict": point.verdict,
                    "same_simulation": point.same_simulation,
                    **{name: measure.to_json() for name, measure in point.measures.items()},
                }
                for point in self.points
            ],
        }

    def __repr__(self) -> str:
        verdicts = Counter(point.verdict for point in self.points)
        said = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items())
        return f"<Comparison of {self.name_a} with {self.name_b}: {counted(len(self.points), 'point')}; {said}>"

    def draw(self) -> Picture:
        """Both sides above their ratio, with the 95 % interval and the verdict of each point."""
        from contend.plots import draw_comparison

        return draw_comparison(self)

    def frame(self, measure: str | None = None) -> pl.DataFrame:
        """One row per point: parameters, both means, B - A and B / A with 95 % intervals, and the verdict.

        Args:
            measure: The name of a measure or counter; points that do not have it are left out. What was compared
                (`measure`) if not given.

        Raises:
            InputError: No point has it; the message says what there is.
        """
        from contend.results.frames import frame_of

        main = self.measure.name
        measure = measure or main
        known = list(dict.fromkeys(name for point in self.points for name in point.measures))
        if measure not in known:
            raise unknown(f"there is no measure {measure!r}", measure, known)
        rows: list[dict[str, Scalar]] = []
        for point in self.points:
            if measure not in point.measures:
                continue
            found = point.measures[measure]
            rows.append({
                **point.parameters,
                "a": found.a.mean,
                "b": found.b.mean,
                "difference": found.difference.mean,
                "difference_ci95_low": found.difference.low,
                "difference_ci95_high": found.difference.high,
                "ratio": found.ratio.value,
                "ratio_ci95_low": found.ratio.low,
                "ratio_ci95_high": found.ratio.high,
                "b_is": point.verdict if measure == main else found.verdict,
            })  # fmt: skip
        return frame_of(rows)

    def _repr_html_(self) -> str:
        from contend.notebook_html import comparison_html

        return comparison_html(self)


def _not_designs_alone(what: str, differences: dict[str, tuple[object, object]]) -> str:
    if not differences:
        return ""
    apart = [f"{name} ({value_text(a)}, {value_text(b)})" for name, (a, b) in differences.items()]
    more = f" and {counted(left, 'more value')}" if (left := len(apart) - _MOST_NAMED) > 0 else ""
    named = ", ".join(apart[:_MOST_NAMED])
    return f"The {what} differ, so this is not about the designs alone: {named}{more}."
