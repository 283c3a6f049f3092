"""The counter table: 20 pairs, dedicated instances, 2,585,600 messages.

Its other columns were not known when the models were built: they are predictions (../predictions.py).
"""

from __future__ import annotations

from contend.studies.claims import Claim, about, between, claim
from contend.studies.evidence import Evidence

TABLE = "counters_serial"
SOURCE = "dissertation ch. 5, counter table, serial progress"
MESSAGES = 2_585_600


def _out_of_sequence(instances: int, percent: float) -> Claim:
    @claim(
        f"counters-out-of-sequence-{instances}",
        source=SOURCE,
        statement=f"{percent} % of the messages are out of sequence with {instances} dedicated instances",
        expected=between(round(percent - 5, 2), round(percent + 5, 2), "%"),
        calibrated=True,
    )
    def share(e: Evidence) -> float:
        return 100 * e.per_message(TABLE, "out_of_sequence", instances=instances)

    return share


def _match_time(instances: int, milliseconds: float) -> Claim:
    @claim(
        f"counters-match-time-{instances}",
        source=SOURCE,
        statement=f"matching takes {milliseconds:,.0f} ms in all with {instances} dedicated instances",
        expected=about(milliseconds, 0.25, "ms"),
        calibrated=True,
    )
    def time(e: Evidence) -> float:
        return e.per_message(TABLE, "match_time_ns", instances=instances) * MESSAGES / 1e6

    return time


out_of_sequence_1 = _out_of_sequence(1, 83.32)
out_of_sequence_10 = _out_of_sequence(10, 89.98)
out_of_sequence_20 = _out_of_sequence(20, 86.08)
match_time_1 = _match_time(1, 2732)
match_time_10 = _match_time(10, 2622)
match_time_20 = _match_time(20, 2738)


@claim(
    "counters-total",
    source=SOURCE,
    statement="the counters include the warm-up: 20 pairs x 128 messages x 1010 iterations",
    expected=between(MESSAGES - 0.5, MESSAGES + 0.5, "messages"),
)
def total(e: Evidence) -> float:
    return e.counter(TABLE, "messages_received", instances=1)
