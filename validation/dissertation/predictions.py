"""The columns of the counter table that were not known when the models were built, for the study's 1010 iterations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contend.studies.claims import Given, Scaled

if TYPE_CHECKING:
    from contend.common.jsontypes import JsonObject
    from contend.studies.evidence import Evidence

MESSAGES = 2_585_600
INSTANCES = [1, 10, 20]


def _column(e: Evidence, table: str) -> JsonObject:
    # The scenarios have all messages of the study. The claims run fewer of them (--iterations), and these are scaled.
    def column(counter: str, scale: float, most: float | None) -> Scaled:
        return Scaled([scale * e.per_message(table, counter, instances=n) for n in INSTANCES], counter, scale, most)

    return {
        "instances": Given(INSTANCES),
        "out_of_sequence": column("out_of_sequence", MESSAGES, 1.0),
        "match_time_ms": column("match_time_ns", MESSAGES / 1e6, None),
        "simulated_messages": Given([e.counter(table, "messages_received", instances=n) for n in INSTANCES]),
    }


def predictions(e: Evidence) -> JsonObject:
    """The contents of predictions.json."""
    return {
        "dissertation": {
            "concurrent_progress": _column(e, "counters_concurrent_progress"),
            "concurrent_progress_and_matching": _column(e, "counters_concurrent_matching"),
        }
    }
