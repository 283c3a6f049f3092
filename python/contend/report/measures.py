"""Which of a run's measures a reader looks at first, with words for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from contend.plots.curves import measure_of

if TYPE_CHECKING:
    from contend.results import Results


@dataclass(frozen=True)
class Measure:
    """A measure by its name in results.json, with words for it."""

    name: str
    title: str
    unit: str

    @property
    def label(self) -> str:
        """Text for an axis."""
        return f"{self.title} ({self.unit})"


def main_measure(results: Results) -> Measure:
    """The measure that results are about.

    Args:
        results: A run with at least one point.
    """
    name, label = measure_of(results)
    title, _, unit = label.rstrip(")").partition(" (")
    return Measure(name, title, unit)
