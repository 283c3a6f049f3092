"""A measured point and what was predicted for it."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from contend.accuracy.names import design_of
from contend.calibrate.split import curve_axes, merged, threads_of
from contend.common.errors import InputError
from contend.profiles.prices import parse_price

if TYPE_CHECKING:
    from contend.datasets.dataset import Dataset, MeasuredPoint


def error_pct(value: float, median: float, interval: tuple[float, float] | None) -> float:
    """Absolute error in percent: from the measured median, or from its interval where one is given."""
    truth = median if interval is None else min(max(value, interval[0]), interval[1])
    return abs(value / truth - 1) * 100


@dataclass(frozen=True)
class Predicted:
    """One point: measured median with its interval, prediction with its interval, all in the metric's unit.

    `held_out` says whether the calibration did not use it.
    """

    dataset: Dataset
    point: MeasuredPoint
    median: float
    low: float
    high: float
    held_out: bool
    stand_in: str
    draws: tuple[float, ...] = ()
    discrepancy: tuple[float, ...] = ()
    interval_from: str = ""
    """What the interval is made of, in words."""

    @property
    def used_draws(self) -> int:
        """How many draws the interval is from."""
        return sum(math.isfinite(draw) for draw in self.draws)

    @property
    def failed_draws(self) -> int:
        """How many draws could not be simulated."""
        return len(self.draws) - self.used_draws

    @property
    def threads(self) -> int:
        """Pairs or threads; 0 where there is no such thing."""
        return threads_of(self.dataset, self.point) or 0

    @property
    def curve(self) -> tuple[str, str, str]:
        """What a curve over threads has in common: dataset, and all other parameters."""
        axes = curve_axes(point.parameters for point in self.dataset.points)
        others = {key: value for key, value in self.point.parameters.items() if key not in axes}
        return (self.dataset.machine_id, self.dataset.name, json.dumps(others, sort_keys=True))

    @property
    def design(self) -> str:
        """What communicates how, in words."""
        return design_of(self.dataset, self.point)

    @property
    def family(self) -> tuple[str, ...]:
        """Machine, library, transport, design and metric."""
        return (
            self.dataset.machine_id,
            self.dataset.library_key,
            self.dataset.transport,
            self.design,
            self.point.metric,
        )

    @property
    def messages(self) -> tuple[float, float]:
        """Window and size of the messages, as logarithms to base 2; a size of nothing is next to one of a byte."""
        known = merged(self.dataset, self.point)
        window, size = (_plain(known.get(name)) for name in ("window", "message_size"))
        return (math.log2(max(window, 1.0)), math.log2(1.0 + size))

    @property
    def measured(self) -> float:
        """The measured median."""
        return self.point.median

    @property
    def is_time(self) -> bool:
        """Whether less of the metric is better."""
        return self.point.unit == "s"

    @property
    def setting(self) -> tuple[str, ...]:
        """Where designs can be compared: machine, metric, pattern, transport, and window and size of the messages."""
        known = merged(self.dataset, self.point)
        return (
            self.dataset.machine_id,
            self.point.metric,
            str(known.get("pattern", "pairwise")),
            self.dataset.transport,
            f"window {known.get('window')}",
            str(known.get("message_size")),
        )

    @property
    def covered(self) -> bool:
        """Whether the interval has the measured median."""
        return self.low <= self.point.median <= self.high

    @property
    def is_scored_against_interval(self) -> bool:
        """Whether the samples spread by more than 20 %, and launches give the median an interval."""
        found = self.point.spread
        is_noisy = found is not None and found.cov is not None and found.cov > 0.2  # noqa: PLR2004 - as the comment says
        return is_noisy and self.point.interval is not None

    def error_of(self, value: float) -> float:
        """Absolute error of a prediction in percent: from the median, or from the interval of a noisy point."""
        return error_pct(value, self.point.median, self.point.interval if self.is_scored_against_interval else None)

    @property
    def abs_error_pct(self) -> float:
        """Error of the prediction."""
        return self.error_of(self.median)


def _plain(value: object) -> float:
    """A size or a number in its base unit; 0 where it is not known."""
    try:
        return parse_price(value).value
    except InputError:
        return 0.0
