"""What the account of an interface's stages says of the rate, and what it cannot say."""

from __future__ import annotations

# A stage that is busy for so much of the time is what the rate waits for.
_LIMITING = 0.8

NOT_COUNTED = (
    "large transfers share the wires as flows (fabric.sharing), which no stage of the interfaces counts: busy, on the "
    "wire and waiting are of small messages, and a wire that is shown as idle may be full"
)


def verdict(share: float, *, counts_large_transfers: bool) -> str:
    """What follows from how long the busiest stage is busy.

    Args:
        share: Of the time, how much the busiest stage is busy.
        counts_large_transfers: Whether all traffic is in it; where wires are shared as flows, large transfers are not.
    """
    if share >= _LIMITING:
        return "this stage limits the rate"
    if not counts_large_transfers:
        return "of small messages only; large transfers are flows, which are not counted"
    return "no stage of the interfaces limits the rate"
