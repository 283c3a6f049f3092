"""What a validation result depends on besides profile, mappings and datasets."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from contend.common.jsontypes import JsonObject


@dataclass(frozen=True)
class ValidationOptions:
    """How points are predicted and scored.

    `draws` of the parameters make an interval, a simulation has about so many `messages`, `seed` is of everything
    random. With `ratios` each point is scored relative to the first one of its curve.
    """

    draws: int = 16
    messages: int = 4000
    seed: int = 1
    ratios: bool = False

    def to_json(self) -> JsonObject:
        """As the result has them."""
        return asdict(self)
