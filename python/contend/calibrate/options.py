"""How much effort a calibration takes, and who is told how it goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from contend.jsontypes import JsonObject


class Reporter(Protocol):
    """Who is told how a calibration goes."""

    def plan(self, simulations: int) -> None:
        """So many more simulations are to be expected, or fewer."""

    def say(self, text: str) -> None:
        """What is done now."""


@dataclass(frozen=True)
class Options:
    """How much effort.

    `messages` is about the length of a simulation; `budget_s` the time that searches have, an equal share for each part
    of the problem, as processor time of simulations over the number of them at once: about wall time where nothing else
    runs, and the same fit where something does. `draws`: how many draws of the posterior the profile keeps.
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
