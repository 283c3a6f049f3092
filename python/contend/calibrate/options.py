"""How much effort a calibration takes, and who is told how it goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from contend.common.jsontypes import JsonObject


STEPS_PER_SECOND = 60_000_000
"""Steps of simulations that count as a second: about what the two processors of profile vm-2core do in one.

Measured: 29.8 million steps for each second of a processor in fits over sockets, 31 million in shared memory.
"""


class Reporter(Protocol):
    """Who is told how a calibration goes."""

    def plan(self, simulations: int) -> None:
        """So many more simulations are to be expected, or fewer."""

    def say(self, text: str) -> None:
        """What is done now."""


@dataclass(frozen=True)
class PartReporter:
    """Says of everything that happens which part of a calibration it is about, such as the first of three."""

    whole: Reporter
    number: int
    of: int

    def plan(self, simulations: int) -> None:
        """See Reporter."""
        self.whole.plan(simulations)

    def say(self, text: str) -> None:
        """See Reporter."""
        self.whole.say(f"part {self.number}/{self.of}: {text}")


@dataclass(frozen=True)
class Options:
    """How much effort.

    `messages` is about the length of a simulation; `budget_s` about how long searches may take, an equal share for each
    part of the problem. It is counted in steps of simulations, STEPS_PER_SECOND for a second, so that the same fit
    comes out on any machine, whatever else that does. `draws`: how many draws of the posterior the profile keeps.
    `is_cross_validated`: whether thread counts are left out to learn how wrong the model is, where intervals are asked
    for at all.
    """

    seed: int = 1
    starts: int = 3
    messages: int = 4000
    budget_s: float = 300.0
    draws: int = 32
    is_direct_only: bool = False
    has_posterior: bool = True
    is_cross_validated: bool = True

    @property
    def budget_steps(self) -> int:
        """The steps that searches have."""
        return round(self.budget_s * STEPS_PER_SECOND)

    @property
    def has_folds(self) -> bool:
        """Whether thread counts are left out: without a posterior no interval is asked for."""
        return self.has_posterior and self.is_cross_validated

    def to_json(self) -> JsonObject:
        """What a result depends on."""
        return {
            "seed": self.seed,
            "starts": self.starts,
            "messages": self.messages,
            "posterior": self.has_posterior,
            "budget_s": self.budget_s,
        }
