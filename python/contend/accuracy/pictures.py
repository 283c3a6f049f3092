"""Pictures of a validation: measured against predicted, curves with bands, residuals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contend.accuracy.agreement_picture import agreement_picture
from contend.accuracy.curves_picture import curves_picture
from contend.accuracy.residuals_picture import residuals_picture
from contend.plots import figure_bytes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contend.common.jsontypes import JsonObject

_PICTURES = {"agreement": agreement_picture, "curves": curves_picture, "residuals": residuals_picture}


def pictures(result: JsonObject, kinds: Sequence[str] = ("png", "svg")) -> dict[str, bytes]:
    """All pictures of a validation result, by file name; the same call gives the same bytes.

    Args:
        result: As `contend validate --json` writes it; without points there are no pictures.
        kinds: The formats: "png", "svg" or "pdf".
    """
    points = result["points"]
    if not points:
        return {}
    return {
        f"{name}.{kind}": data
        for name, drawn in _PICTURES.items()
        for kind, data in figure_bytes(drawn(points), kinds).items()
    }
