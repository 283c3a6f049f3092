"""The numbers of the study that were not known when the models were built."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from contend.studies.claims import Given

if TYPE_CHECKING:
    from contend.common.jsontypes import JsonObject
    from contend.studies.evidence import Evidence

DEFAULT = "mpich-dcmf-global"
NEW = "mpich-dcmf-channels"
PRICES = ("lock", "atomic_hit", "transfer_socket", "send_call", "wake_call")


def _loss_pct(one: float, four: float) -> float:
    """What each added thread loses against linear scaling, in percent of a thread's rate."""
    return (1 - four / one / 4) * 4 / 3 * 100


def predictions(e: Evidence) -> JsonObject:
    """The contents of predictions.json. Ranges are over the ends of the prices that matter, and the kind of lock."""
    ratios = []
    losses = []
    for values in product(*(e.axis("uncertainty", name) for name in PRICES)):
        prices = dict(zip(PRICES, values, strict=True))
        four = {stack: e.rate("uncertainty", preset=stack, threads=4, **prices) for stack in (DEFAULT, NEW)}
        ratios.append(four[NEW] / four[DEFAULT])
        losses.append(_loss_pct(e.rate("uncertainty", preset=NEW, threads=1, **prices), four[NEW]))
    default = e.rate("smp_default", threads=4)
    new = [e.rate("smp_channels", threads=n) for n in (1, 2, 3, 4)]
    ratio = new[3] / default
    loss = _loss_pct(new[0], new[3])
    return {
        "bluegene": {
            "new_over_default_at_4_threads": ratio,
            "new_over_default_at_4_threads_ci95": Given([min(ratio, *ratios), max(ratio, *ratios)]),
            "loss_per_thread_vs_linear_pct": loss,
            "loss_per_thread_vs_linear_pct_ci95": Given([min(loss, *losses), max(loss, *losses)]),
            "intervals": "ci95 here is the range over the ends of the prices that matter (atomics, cache-line "
            "transfers, the library's send, "
            "waking a sleeper) and two kinds of lock, which is far wider than the spread of replications",
            "rates_by_threads": {
                "default": [e.rate("smp_default", threads=n) for n in (1, 2, 3, 4)],
                "new": new,
                "new_over_thread_single": Given([new[0] / e.rate("smp_single", preset=NEW)]),
            },
        }
    }
