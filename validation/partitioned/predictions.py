"""The numbers of the study that were not known when the models were built."""

from __future__ import annotations

import statistics
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import TYPE_CHECKING

from contend.studies.claims import Given

if TYPE_CHECKING:
    from contend.common.jsontypes import JsonObject
    from contend.studies.evidence import Evidence


def _claims() -> SimpleNamespace:
    """The functions that the claims use."""
    return SimpleNamespace(**run_path(str(Path(__file__).parent / "claims" / "send_side.py")))


def _peak(e: Evidence, design: str, case: str) -> JsonObject:
    """Within the sizes that the study certainly has."""
    send = _claims()
    rates = send.curve(e, f"send_{design}", case, up_to=send.LARGEST_OF_THE_STUDY)
    return {"best_buffer_MiB": send.best(rates), "peak_MiBps": max(rates.values())}


def _one_sided(e: Evidence, case: str) -> JsonObject:
    """With the range over the ends of what the peak depends on: the wake-up of the joined thread, and the wire."""
    send = _claims()
    found = _peak(e, "rma", case)
    others = [
        send.curve(e, "uncertainty", case, up_to=send.LARGEST_OF_THE_STUDY, wake_latency=wake, bandwidth=wire)
        for wake in e.axis("uncertainty", "wake_latency")
        for wire in e.axis("uncertainty", "bandwidth")
    ]
    heights = [found["peak_MiBps"], *(max(rates.values()) for rates in others)]
    places = [found["best_buffer_MiB"], *(send.best(rates) for rates in others)]
    return {
        **found,
        "best_buffer_MiB_ci95": Given([min(places), max(places)]),
        "peak_MiBps_ci95": Given([min(heights), max(heights)]),
    }


def _persistent(e: Evidence, case: str) -> JsonObject:
    """With the range over protocols, as the study does not name its library, and over how threads come."""
    send = _claims()
    found = _peak(e, "persistent", case)
    others = [
        send.curve(e, "rendezvous_protocol", case, up_to=send.LARGEST_OF_THE_STUDY, rendezvous=protocol, kind=kind)
        for protocol in e.axis("rendezvous_protocol", "rendezvous")
        for kind in e.axis("rendezvous_protocol", "kind")
    ] + [
        send.curve(e, "arrival", case, up_to=send.LARGEST_OF_THE_STUDY, compute_jitter=jitter)
        for jitter in e.axis("arrival", "compute_jitter")
    ]
    places = [found["best_buffer_MiB"], *(send.best(rates) for rates in others)]
    heights = [found["peak_MiBps"], *(max(rates.values()) for rates in others)]
    return {
        **found,
        "best_buffer_MiB_ci95": Given([min(places), max(places)]),
        "peak_MiBps_ci95": Given([min(heights), max(heights)]),
    }


def _average_over_single(e: Evidence, design: str) -> float:
    """Mean of the ratios over all sizes to 64 MiB, compute times and noise levels."""
    send = _claims()
    ratios = []
    for case in send.CASES:
        rates = send.curve(e, f"send_{design}", case, up_to=send.LARGEST_OF_THE_STUDY)
        single = send.curve(e, "send_single", case, up_to=send.LARGEST_OF_THE_STUDY)
        ratios += [rates[size] / single[size] for size in rates]
    return statistics.fmean(ratios)


DESIGNS = ("single", "multi", "persistent", "rma", "aggregating")


def _best_design(e: Evidence) -> JsonObject:
    """By case and buffer: the design with the highest perceived bandwidth, and how far it is above the next one."""
    send = _claims()
    choice: JsonObject = {}
    for case in send.CASES:
        curves = {design: send.curve(e, f"send_{design}", case) for design in DESIGNS}
        choice[case] = {}
        for size in curves["single"]:
            ranking = sorted((-curves[design][size], design) for design in DESIGNS)
            (first, best), (second, next_best) = ranking[:2]
            choice[case][f"{size:g} MiB"] = Given([best, round(first / second, 3), next_best])
    return choice


def _best_aggregation(e: Evidence) -> JsonObject:
    """By buffer, 10 ms and 4 %: size and age of the best group, and its rate over that of single partitions."""
    scenario = "aggregation_choice"
    choice: JsonObject = {}
    for size in e.axis(scenario, "buffer_size"):
        rates = {
            (group, age): e.value(
                scenario,
                lambda result: result["perceived_bandwidth"],
                buffer_size=size,
                aggregate_size=group,
                aggregate_age=age,
            )
            for group in e.axis(scenario, "aggregate_size")
            for age in e.axis(scenario, "aggregate_age")
        }
        best = max(rates, key=rates.__getitem__)
        choice[size] = Given([*best, round(rates[best] / rates["1 B", "0 ns"], 3)])
    return choice


def predictions(e: Evidence) -> JsonObject:
    """The contents of predictions.json."""
    persistent = _persistent(e, "10-10")
    rma = [_average_over_single(e, "rma")]
    return {
        "partitioned": {
            "rma_100ms_4pct": _one_sided(e, "100-4"),
            "rma_100ms_10pct": _one_sided(e, "100-10"),
            "persistent_10ms_10pct": persistent,
            "average_over_single_send": {"rma": rma[0], "persistent": _average_over_single(e, "persistent")},
            "best_design": _best_design(e),
            "best_aggregation": _best_aggregation(e),
            "intervals": "ci95 here is the range over the ends of the profile's wake-up time (133 to 300 us) and "
            "of the wire's bandwidth "
            "(9.5 to 11.4 GB/s), which is far wider than the spread of replications",
        }
    }
