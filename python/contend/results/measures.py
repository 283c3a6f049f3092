"""The measures of a result: which there are, words for them, and which of them the result is about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from contend.common.errors import InputError
from contend.common.nearest import nearest_names
from contend.results.workload_words import WORDS, WorkloadWords, common_words, words_of, workloads_of

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from contend.common.jsontypes import JsonObject
    from contend.results.results import Results

RATE = "message_rate"

# Measures that are reported with a confidence interval, with their unit.
ESTIMATED = {RATE: "msg/s", "bandwidth": "MiB/s", "perceived_bandwidth": "MiB/s", "latency": "s"}

# Measures of some workloads: means over replications; the unit is in the name.
SCALARS = ("elapsed_s", "communication_time_s", "extra_compute_time_s", "time_per_operation_s")

# Ends of names that say the unit: of what only somebody's own workload measures, and of counters. Others have none.
_UNITS_IN_NAMES = {"_per_s": "1/s", "_s": "s", "_ns": "ns"}

# Numbers of a result, as the core or results.json has it, that are no measures.
_NO_MEASURES = frozenset({"simulated_s", "wall_s", "events", "replications"})

# What a result is about: the first of these that it has. Every run has a rate of something; only partitioned
# communication has a perceived bandwidth, and its rate counts the time in which the application computes; and who
# measures latencies wants to know them.
_MAIN = ("perceived_bandwidth", "latency", RATE, "time_per_operation_s")

_OF_MESSAGES = words_of({})


@dataclass(frozen=True)
class Measure:
    """A measure by its name in results.json, with words for it."""

    name: str
    title: str
    unit: str

    @property
    def label(self) -> str:
        """Text for an axis."""
        return f"{self.title} ({self.short_unit})" if self.unit else self.title

    @property
    def axis_title(self) -> str:
        """The same where the ticks have the unit of a time."""
        return self.title if self.is_time else self.label

    @property
    def short_unit(self) -> str:
        """The unit for narrow places, and as results.json has it."""
        return ESTIMATED[RATE] if self.unit == "messages/s" else self.unit

    @property
    def is_time(self) -> bool:
        """Whether it is in seconds, which texts show with a prefix that fits."""
        return self.unit == "s"

    @property
    def less_is_better(self) -> bool:
        """Whether it is a time; of anything else more is better."""
        return self.unit in {"s", "ns"}

    @property
    def speedup(self) -> str:
        """What a ratio is that is above 1 where the measure is better: of a time without a change over with it."""
        return f"speed-up of the {self.title}"

    @property
    def speedups_title(self) -> str:
        """Text above a table of such ratios, one for each cost."""
        direction = "shorter" if self.less_is_better else "higher"
        return f"virtual speed-ups of the {self.title}: how many times {direction} if a cost were lower"


def main_of(names: Container[str]) -> str | None:
    """The name of the measure that a result is about, of those that it has; None if it has none of them."""
    return next((name for name in _MAIN if name in names), None)


def unit_in_name(name: str) -> str:
    """The unit that the end of a name says; empty: a bare number.

    Examples:
        >>> [unit_in_name(name) for name in ("round_trip_s", "gap_ns", "naps_per_s", "depth")]
        ['s', 'ns', '1/s', '']
    """
    return next((unit for end, unit in _UNITS_IN_NAMES.items() if name.endswith(end)), "")


def own_measures(result: Mapping[str, object]) -> list[str]:
    """Names of the measures of a result (of the core or in results.json, as JSON) that only its workload has."""
    known = {*ESTIMATED, *SCALARS, *_NO_MEASURES}
    return [
        name
        for name, value in result.items()
        if name not in known and isinstance(value, int | float) and not isinstance(value, bool)
    ]


def measures_in(results: Iterable[Mapping[str, object]]) -> list[str]:
    """Names of the measures that each of these results has (those of the core, as JSON)."""
    found = list(results)
    names = [*ESTIMATED, *SCALARS, *(own_measures(found[0]) if found else ())]
    return [name for name in names if found and all(name in result for result in found)]


def check_known(wanted: str | None, workload: JsonObject | None = None) -> None:
    """Checks a name before anything is simulated, unless what the kind of workload measures is known only afterwards.

    Args:
        wanted: The name; None: none was given.
        workload: Of the scenario; one of messages if not given.

    Raises:
        InputError: No result has such a measure.
    """
    kind = str((workload or {}).get("kind", "multirate"))
    if wanted is None or kind not in WORDS:
        return
    names = [*ESTIMATED, *SCALARS, *WORDS[kind].measures]
    if wanted not in names:
        raise unknown(f"there is no measure {wanted!r}", wanted, names, " (no workload has all of them)")


def choose(names: Sequence[str], wanted: str | None, purpose: str) -> str:
    """The measure that somebody asked for, else the one that results are about.

    Args:
        names: The measures that they have.
        wanted: What was asked for.
        purpose: What it is for, such as "to compare".

    Raises:
        InputError: They do not have it; the message says what there is.
    """
    if wanted is None:
        wanted = main_of(names)
        if wanted is None:
            raise InputError(f"this workload has no measure {purpose}")
    if wanted not in names:
        raise unknown(f"this workload has no measure {wanted!r} {purpose}", wanted, names)
    return wanted


def unknown(what: str, wanted: str, names: Sequence[str], remark: str = "") -> InputError:
    """The error about a name that is none: the nearest one, and all that there are, with a remark about these."""
    near = nearest_names(wanted, names)
    hint = f"did you mean {near[0]!r}? There are" if near else "there are"
    return InputError(f"{what}; {hint}: {', '.join(names)}{remark}")


def measure_named(name: str, words: WorkloadWords = _OF_MESSAGES) -> Measure:
    """A measure with words for it.

    Args:
        name: Its name in results.
        words: Of the workload, which say what the rate counts.
    """
    if name == RATE:
        return Measure(name, words.rate, words.unit)
    if name in ESTIMATED:
        return Measure(name, name.replace("_", " "), ESTIMATED[name])
    title = next((name.removesuffix(end) for end in _UNITS_IN_NAMES if name.endswith(end)), name)
    return Measure(name, title.replace("_", " "), unit_in_name(name))


def main_measure(results: Results, *others: Results) -> Measure:
    """The measure that results are about.

    Args:
        results: A run with at least one point.
        others: What the same words have to suit.
    """
    point = results.points[0]
    name = main_of({*point.estimates, *point.scalars}) or _MAIN[-1]
    workloads = [one for each in (results, *others) for one in workloads_of(each.scenario, each.points)]
    return measure_named(name, common_words(workloads))
