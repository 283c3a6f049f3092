"""What a run's profile was fitted to, in words and numbers that are the profile's own."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from contend.accuracy.document import markdown_table, percent
from contend.calibrate.search import BASE
from contend.common.spelling import counted

if TYPE_CHECKING:
    from contend.common.jsontypes import JsonObject

_HEAD = ("fitted for", "parameters", "points", "median error", "90th percentile", "search", "posterior")
# How a start of the search ended that was stopped before its places came together.
_STOPPED = {"maxfevals", "the budget is spent"}


def fit_sections(profile: JsonObject | None, result: JsonObject) -> list[str]:
    """Which scopes were fitted to how many points and how well, and what of the result no fit has seen.

    Args:
        profile: The profile that was made for the run; None where it takes one as it is.
        result: What was predicted with it.
    """
    record = (profile or {}).get("calibration")
    if not record:
        return [f"The profile `{result['profile']}` as it is: no parameter was fitted for this run."]
    if not record["fits"]:
        return [f"{_direct(record)}; nothing was fitted."]
    parts = [_split(record), markdown_table(_HEAD, [_row(fit) for fit in record["fits"]])]
    if unseen := _unseen(record, result):
        parts.append(f"No fit has points of: {'; '.join(unseen)}.")
    return parts


def _direct(record: JsonObject) -> str:
    values = counted(len(record["identified_directly"]), "value")
    return f"Upon the profile `{record['base']}`, {values} identified directly"


def _split(record: JsonObject) -> str:
    split = record["split"]
    threads = ", ".join(map(str, split["threads"]))
    window = "" if split["window"] is None else f" and window {split['window']}"
    text = f"{_direct(record)}, and fits to points with {threads} threads or pairs{window}"
    left_out = ", ".join(f"`{name}`" for name in split["excluded"])
    return f"{text}, without those of {left_out}:" if left_out else f"{text}:"


def _row(fit: JsonObject) -> tuple[str, ...]:
    scopes = sorted({one["scope"] for one in fit["parameters"]})
    kept = [name for name in fit["fitted"] if name not in fit["set_back_to_base"]]
    error = fit["error_pct"]
    return (
        ", ".join(scopes), f"{len(kept)} of {len(fit['parameters'])}", str(len(fit["points"])),
        percent(error["median"]), percent(error["p90"]), _search(fit), _posterior(fit),
    )  # fmt: skip


def _search(fit: JsonObject) -> str:
    """How many starts came to an end of their own, and how many values lie at the end of what they may be."""
    listed = (fit.get("search") or {}).get("starts") or []
    starts = [one for one in listed if one.get("ended") != BASE]
    if not starts:
        return "-"
    best = min(listed, key=lambda one: float(one.get("checked", math.inf)))
    beaten = ", none better than the base" if best not in starts else ""
    ended = sum(one.get("ended") not in _STOPPED for one in starts)
    edges = len(fit.get("at_edge_of_range") or [])
    at_edges = f"; {counted(edges, 'value')} at an end of {'its' if edges == 1 else 'their'} range" if edges else ""
    return f"{counted(len(starts), 'start')}, {ended or 'none'} converged{beaten}{at_edges}"


def _posterior(fit: JsonObject) -> str:
    found = fit["posterior"]
    if "refused" not in found:
        parameters = counted(len(found["parameters"]), "parameter")
        return f"{found['method']}: {parameters}, {found['steps']} steps, R-hat {found['rhat']}"
    folds = (fit.get("cross_validation") or {}).get("folds", ())
    instead = f"; {counted(len(folds), 'fit')} without a thread count instead" if folds else ""
    return f"refused: {found['refused']}{instead}"


def _unseen(record: JsonObject, result: JsonObject) -> list[str]:
    """Libraries over transports of which no dataset is in a fit."""
    fitted = {point["dataset"] for fit in record["fits"] for point in fit["points"]}
    # The points of a fit do not say of which machine they are, the split does.
    seen = {(one["machine"], one["dataset"]) for one in record["split"]["calibration"] if one["dataset"] in fitted}
    groups: dict[str, set[tuple[str, str]]] = {}
    for point in result["points"]:
        name = f"{point['library']} over {point['transport']}"
        groups.setdefault(name, set()).add((point["machine"], point["dataset"]))
    return sorted(name for name, datasets in groups.items() if not datasets & seen)
