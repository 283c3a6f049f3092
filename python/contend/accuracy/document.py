"""A validation as text: Markdown for docs and reports, HTML for `contend report`."""

from __future__ import annotations

import html
from collections import Counter
from statistics import median
from typing import TYPE_CHECKING

import numpy as np

from contend.accuracy.curves import knee_agreement, knees
from contend.accuracy.predicted import error_pct

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from contend.common.jsontypes import JsonObject

_BASELINES = {"usl": "universal scalability law, per curve", "serial_lock": "one serial lock, per curve"}


def percent(value: float | None) -> str:
    """An error for a table."""
    return "-" if value is None else f"{value:.3g} %"


def share(value: float | None) -> str:
    """A share for a table."""
    return "-" if value is None else f"{value:.0%}"


def number(value: float | None) -> str:
    """A coefficient for a table."""
    return "-" if value is None else f"{value:.2f}"


def coverage(summary: JsonObject) -> str:
    """A share of points whose interval has the measured median, with the number of draws of an interval."""
    if summary.get("draws") is None:  # also of results of old versions
        return share(summary["coverage_95"])
    fewest, most = summary["draws"]
    draws = str(most) if fewest == most else f"{fewest} to {most}"
    failed = {None: ", failed ones not counted", 0: ""}.get(summary["failed_draws"])
    if failed is None:
        failed = f", {summary['failed_draws']} failed"
    return f"{share(summary['coverage_95'])} ({draws} draws{failed})"


def summary_rows(result: JsonObject) -> list[tuple[str, ...]]:
    """What was predicted how well: held-out points, fitted points, baselines."""
    summary = result["summary"]
    rows: list[tuple[str, ...]] = []
    for title, key in (("held-out points", "held_out"), ("points of the fit", "calibration")):
        one = summary[key]
        if one["points"]:
            rows.append((title, str(one["points"]), percent(one["median_abs_error_pct"]),
            percent(one["p90_abs_error_pct"]),
                         coverage(one), number(one["kendall_tau"])))  # fmt: skip
    for key, title in _BASELINES.items():
        one = summary["baselines"][key]
        if one["points"]:
            same = one["simulation_on_the_same_points"]
            rows.append((f"{title}", str(one["points"]), percent(one["median_abs_error_pct"]),
                         percent(one["p90_abs_error_pct"]), "-", number(one["kendall_tau"])))  # fmt: skip
            rows.append(("the simulation on the same points", str(same["points"]),
                         percent(same["median_abs_error_pct"]), percent(same["p90_abs_error_pct"]),
                         "", ""))  # fmt: skip
    return rows


SUMMARY_HEAD = ("", "points", "median error", "90th percentile", "95 % interval covers", "Kendall tau")


def group_rows(result: JsonObject) -> list[tuple[str, ...]]:
    """Summaries by library, transport, design and thread count."""
    return [
        (kind, group, str(one["points"]), percent(one["median_abs_error_pct"]), percent(one["p90_abs_error_pct"]),
         share(one["coverage_95"]), number(one["kendall_tau"]))
        for kind, groups in result["summary"]["by"].items()
        for group, one in groups.items()
    ]  # fmt: skip


GROUP_HEAD = ("by", "group", "points", "median error", "90th percentile", "covers", "tau")


def point_rows(result: JsonObject, *, held_out_only: bool = True) -> list[tuple[str, ...]]:
    """Every point: measured, predicted, error, covered."""
    rows: list[tuple[str, ...]] = []
    for point in result["points"]:
        if held_out_only and not point["held_out"]:
            continue
        low, high = point["predicted"]["ci95"]
        parameters = " ".join(f"{k.removeprefix('options.')}={v}" for k, v in point["parameters"].items())
        cov = point["measured"]["cov"]
        unit = " x" if point["unit"].startswith("ratio") else f" {point['unit'].replace('1/', '/')}"
        spread = "" if cov is None else f" ({cov:.0%})"
        error = f"{point['abs_error_pct']:.0f} %{'*' if point['scored_against_interval'] else ''}"
        rows.append((point["dataset"], parameters, f"{point['measured']['median']:.4g}{unit}{spread}",
                     f"{point['predicted']['median']:.4g} ({low:.4g} .. {high:.4g})", error,
                     "yes" if point["covered"] else "no"))  # fmt: skip
    return rows


POINT_HEAD = ("dataset", "point", "measured (CoV)", "predicted (95 %)", "error", "covered")
NOISY_NOTE = "\\* samples spread by more than 20 %: the error is that from the measured interval."


def plain_note(result: JsonObject) -> str:
    """What the errors of held-out points leave out, and how wide intervals are; empty where no point is noisy."""
    points = [point for point in result["points"] if point["held_out"]]
    noisy = [point for point in points if point["scored_against_interval"]]
    if not noisy:
        return ""
    inside = sum(point["abs_error_pct"] == 0 for point in noisy)
    errors = [error_pct(point["predicted"]["median"], point["measured"]["median"], None) for point in points]
    widths = [high / low for low, high in (point["predicted"]["ci95"] for point in points) if low > 0]
    width = (
        f" From end to end an interval of a prediction is a factor of {median(widths):.2g} in the median."
        if widths
        else ""
    )
    typical, bad = median(errors), float(np.quantile(errors, 0.9))
    return (
        f"{len(noisy)} of the {len(points)} held-out points have samples that spread by more than 20 %: their error is "
        f"that from the measured interval, which is none for {inside}. Against the measured medians alone all "
        f"{len(points)} have a median error of {percent(typical)} and a 90th percentile of {percent(bad)}.{width}"
    )


def interval_note(result: JsonObject) -> str:
    """Where the intervals of predictions come from; empty for results of old versions, which do not say it."""
    origins = Counter(origin for point in result["points"] if (origin := point["predicted"].get("interval_from")))
    if not origins:
        return ""
    each = "; ".join(f"{origin} ({count} of {len(result['points'])} points)" for origin, count in origins.items())
    return (
        f"Intervals are 95 % of what the measured median may be, the prediction included. They are made of {each}; and "
        "of chance in the simulation and the measurement's own error."
    )


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def as_markdown(result: JsonObject, title: str, *, with_points: bool = True) -> str:
    """A whole validation in Markdown."""
    parts = [f"# {title}", *sections(result)]
    if with_points:
        notes = filter(None, (NOISY_NOTE, interval_note(result)))
        parts += ["## Held-out points", markdown_table(POINT_HEAD, point_rows(result)), *notes]
    return "\n\n".join(parts) + "\n"


def sections(result: JsonObject) -> list[str]:
    """Summary, groups, knees and what could not be predicted."""
    parts = [markdown_table(SUMMARY_HEAD, summary_rows(result))]
    if note := plain_note(result):
        parts.append(note)
    if groups := group_rows(result):
        parts += ["Held-out points by group:", markdown_table(GROUP_HEAD, groups)]
    if turns := _turns(result):
        parts.append(turns)
    if missing := not_predicted(result):
        parts.append(missing)
    if result["stand_ins"]:
        each = dict.fromkeys(part for entry in result["stand_ins"] for part in entry.split("; "))
        parts.append(f"What the scenarios leave out: {'; '.join(each)}.")
    return parts


def _turns(result: JsonObject) -> str:
    """A sentence about where curves have their highest and their lowest value; empty where none is held out."""
    # Counted from the points: results of old versions counted the points of the fit as well.
    agreement = knee_agreement(knees(result["points"]))
    parts = [
        f"for the {end} in {one['right']} of {one['curves']} (within one measured count: {one['within_one']})"
        for end, one in agreement.items()
        if one["curves"]
    ]
    if not parts:
        return ""
    return (
        "Of curves that have their highest or lowest value at a held-out point, that thread count is predicted "
        f"{', '.join(parts)}."
    )


def not_predicted(result: JsonObject) -> str:
    """A sentence about the points that have no prediction, and why; empty where all have one."""
    reasons = [one["reason"] for one in result["not_predicted"]]
    return f"Not predicted: {counted_reasons(reasons)}." if reasons else ""


def counted_reasons(reasons: Iterable[str]) -> str:
    """Why points were not predicted, each reason with the number of its points."""
    return "; ".join(
        f"{count} {'point' if count == 1 else 'points'}: {reason}" for reason, count in Counter(reasons).items()
    )


def html_section(result: JsonObject, title: str, anchor: str = "validation") -> str:
    """The section of `contend report`: self-contained, with the pictures inside."""
    from contend.accuracy.pictures import pictures

    svg = [data.decode() for data in pictures(result, ("svg",)).values()]
    drawn = "".join(f"<figure>{text[text.index('<svg') :]}</figure>" for text in svg)
    missing = not_predicted(result)
    return (
        f'<section class="validation" id="{html.escape(anchor)}"><h2>{html.escape(title)}</h2>'
        f"{_html_table(SUMMARY_HEAD, summary_rows(result))}{drawn}"
        f"{_html_table(GROUP_HEAD, group_rows(result))}{f'<p>{html.escape(missing)}</p>' if missing else ''}"
        f"<details><summary>held-out points</summary>{_html_table(POINT_HEAD, point_rows(result))}</details></section>"
    )


def _html_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    first = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{first}</tr></thead><tbody>{body}</tbody></table>"
