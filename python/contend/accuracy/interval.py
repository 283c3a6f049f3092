"""From draws, discrepancy and the error of a measurement to an interval."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from contend.calibrate.likelihood import DEGREES_OF_FREEDOM

if TYPE_CHECKING:
    from contend.calibrate.problem import Vector

_NOISE_DRAWS = 64
# So many values of noise in all where there are few centres: quantiles of 64 are not those of the distribution.
_FEW_CENTRES = 3
_NOISE_OF_FEW = 2048
# Where fewer draws than that all lie to one side of the prediction, it is one more of them: an interval that ends at
# the prediction would say that the measurement cannot lie beyond.
_ENOUGH_DRAWS = 8


def interval(mean: float, drawn: Vector, discrepancy: list[float], log_error: float, seed: int) -> tuple[float, float]:
    """95 % of what the measured median may be; it contains the prediction.

    Draws that failed are left out with the discrepancy that belongs to them. Where there are more values of the
    discrepancy than draws, they belong to none in particular.
    """
    stream = np.random.default_rng(seed)
    widths = np.array(discrepancy or [0.0])
    is_usable = np.isfinite(drawn)
    if is_usable.any():
        centres = np.log(drawn[is_usable])
        lies_beside = centres.min() > math.log(mean) or centres.max() < math.log(mean)
        is_one_more = lies_beside and len(centres) < _ENOUGH_DRAWS
        if len(widths) > len(drawn):  # more is known of the discrepancy than there are draws: each has all of it
            centres = np.append(centres, math.log(mean)) if is_one_more else centres
            centres, widths = np.repeat(centres, len(widths)), np.tile(widths, len(centres))
        else:
            widths = np.resize(widths, len(drawn))[is_usable]
            if is_one_more:
                centres, widths = np.append(centres, math.log(mean)), np.append(widths, widths[0])
    else:
        centres = np.full(len(widths), math.log(mean))
    spread = np.sqrt(widths**2 + log_error**2)
    each = _NOISE_DRAWS if len(centres) >= _FEW_CENTRES else _NOISE_OF_FEW // len(centres)
    noise = stream.standard_t(DEGREES_OF_FREEDOM, (each, len(centres))) * spread
    low, high = np.exp(np.quantile(centres + noise, [0.025, 0.975]))
    return min(float(low), mean), max(float(high), mean)
