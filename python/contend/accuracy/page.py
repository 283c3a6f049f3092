"""docs/accuracy.md: put together from the results in validation/, without a number of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from contend.accuracy.account import RESULTS, TABLE, account_sections
from contend.accuracy.comparisons import Comparison, comparisons
from contend.accuracy.document import SUMMARY_HEAD, markdown_table, plain_note, sections, summary_rows
from contend.accuracy.fits import fit_sections
from contend.accuracy.pooled import pool
from contend.accuracy.recovered import recovery_sections
from contend.accuracy.shapes import shape_section
from contend.common.reading import read_json
from contend.studies.locks import scored_errors

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from contend.common.jsontypes import JsonObject

_HEAD = """# Accuracy

What contend predicts well, what it does not, and why. This page is generated: `./contend validate accuracy` writes it
from the results in `validation/`, and every number in those comes from the command above it. How a comparison is scored
is in [validation.md](validation.md#predictions-of-measured-points); how a profile is calibrated, in
[calibration.md](calibration.md).
"""


_LOCKS = """
Published sets of what a lock or an atomic operation costs by number of threads. A machine's prices of cache lines and
futexes are fitted to the points with one and two threads, or those with two alone where others are not given or do
other work (`fit_threads` of `validation/locks/sets.json`); all others are predicted. Sets of grade B are scored by
ratios to their fitted point. A set without points only gives prices: all of its points are fitted. Targets, for grade
A: a median error of at most 20 %, and the kinds ranked right at each number of threads (Kendall's tau of at least 0.8).
What misses, and why, is in [validation.md](validation.md#locks); what is left out of a set, with every point.
"""


_FITTED = """
The prices of profile `{profile}` stay where their sources expect them unless {targets} numbers of the study say
otherwise, and nothing else of the study was a target, but for what presets were fitted to
([decision 0054](decisions/0054-one-profile-of-alembert.md)). Beside the most probable prices, which give the verdicts,
{drawn} of the statements, those that the fit is for, were computed with {draws} draws of the prices' posterior
([decision 0033](decisions/0033-how-probable-prices-are.md)), a single run of each point. {always} of these hold with
every draw, and {never} with none: prices within their ranges that give the fitted numbers as well as these do not bring
them. With the most probable prices {held} of these hold, and {held_others} of the {others} that have no draws.
"""


def accuracy_page(root: Path) -> str:
    """The page, for the results of a checkout.

    Raises:
        InputError: A comparison has no results yet.
    """
    compared = comparisons(root)
    parts = [_HEAD, *_without_record(compared), *_claims(root), *_locks(root)]
    for one in compared:
        parts += _comparison(one)
    parts += _recovery(root)
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _without_record(compared: Sequence[Comparison]) -> list[str]:
    """The runs whose results are older than the record of what they were made from."""
    without = {
        one.folder.name: names
        for one in compared
        if (names := [run.name for run in one.description.runs if one.changes(run) is None])
    }
    if not without:
        return []
    named = "; ".join(f"`{name}`: {', '.join(runs)}" for name, runs in without.items())
    return [
        (
            "A result says which profile, mappings and datasets it was made from, and below it stands where one of "
            f"them has changed since. Not on record is that of {named}."
        )
    ]


def _claims(root: Path) -> list[str]:
    """The statements of each study, and which of them miss."""
    parts = []
    for path in sorted((root / "validation").glob("*/claims.json")):
        name = path.parent.name
        parts += [f"## Statements of the study: {name}", *_over_draws(path), *_statements(path, root)]
    return parts


def _over_draws(path: Path) -> list[str]:
    """What prices were fitted to, how many statements hold whatever the prices, and how many do not."""
    claims: list[JsonObject] = read_json(path, "claims")
    drawn = [one for one in claims if "over_draws" in one]
    if not drawn:
        return []
    fit = read_json(path.with_name("fit.json"), "fit")
    shares = [one["over_draws"]["held"] for one in drawn]
    others = [one for one in claims if "over_draws" not in one]
    return [
        _FITTED.format(
            profile=fit["profile"],
            targets=len(fit["targets"]),
            draws=drawn[0]["over_draws"]["draws"],
            drawn=len(drawn),
            always=shares.count(1.0),
            never=shares.count(0.0),
            held=sum(one["verdict"] == "holds" for one in drawn),
            others=len(others),
            held_others=sum(one["verdict"] == "holds" for one in others),
        )
    ]


def _statements(path: Path, root: Path) -> list[str]:
    """The command, how many statements hold, and which do not."""
    claims: list[JsonObject] = read_json(path, "claims")
    blind = [one for one in claims if not one.get("calibrated")]
    holding = sum(one["verdict"] == "holds" for one in blind)
    targets = [one for one in claims if one.get("calibrated")]
    table = path.with_name("claims.md").relative_to(root)
    return [
        f"`./contend validate claims {path.parent.name}`",
        (
            f"{holding} of {len(blind)} statements hold that were no targets of calibration, and "
            f"{sum(one['verdict'] == 'holds' for one in targets)} of {len(targets)} that were. All of them: "
            f"[claims.md](../{table.as_posix()}). What misses:"
        ),
        _misses(claims),
    ]


def _misses(claims: Sequence[JsonObject]) -> str:
    has_draws = any("over_draws" in one for one in claims)
    heads = ("claim", "statement", "expected", "predicted", *(_DRAWN_HEADS if has_draws else ()), "remark")
    rows = [
        (
            one["id"], one["statement"], one["expected"], _value(one), *(_drawn(one) if has_draws else ()),
            one.get("remark") or "",
        )
        for one in claims
        if one["verdict"] != "holds"
    ]  # fmt: skip
    return markdown_table(heads, rows) if rows else "Nothing."


_DRAWN_HEADS = ("over the posterior (95 %)", "holds in")


def _drawn(claim: JsonObject) -> tuple[str, str]:
    drawn = claim.get("over_draws")
    if drawn is None:
        return "-", "-"
    low, high = drawn["ci95"]
    return f"{drawn['median']:.4g} ({low:.4g} to {high:.4g})", f"{drawn['held']:.0%}"


def _value(claim: JsonObject) -> str:
    value = claim.get("predicted")
    return f"{value:.4g}" if isinstance(value, int | float) else str(claim.get("problem") or "-").partition("\n")[0]


def _locks(root: Path) -> list[str]:
    """The published sets of the lock study, each with its error."""
    path = root / "validation/locks/results.json"
    if not path.is_file():
        return []
    results: list[JsonObject] = read_json(path, "result of the lock study")
    return [
        "## Published costs of locks and atomics",
        _LOCKS,
        "`./contend validate locks`",
        markdown_table(_LOCK_HEAD, [_lock_row(one) for one in results]),
        "[every point](../validation/locks/results.md)",
    ]


_LOCK_HEAD = (
    "set", "grade", "measure", "points", "median error", "90th percentile", "least tau", "target", "profile",
)  # fmt: skip


def _lock_row(one: JsonObject) -> tuple[str, ...]:
    known = [row for row in one["rows"] if row["error"] is not None]
    predicted, reference = ([(row["kind"], row["error"]) for row in known if row["reference"] == is_reference]
                            for is_reference in (False, True))  # fmt: skip
    errors = scored_errors(one["grade"], predicted, reference)
    taus = [tau for tau in one["kendall_tau"].values() if tau is not None]
    if not errors or one["median_error"] is None:
        return (one["set"], one["grade"], one["measure"], "-", "-", "-", "-", "-", one["profile"])
    return (
        one["set"], one["grade"], one["measure"], str(len(errors)), f"{one['median_error']:.0%}",
        f"{np.quantile(errors, 0.9):.0%}", f"{min(taus):.2f}" if taus else "-",
        {True: "met", False: "MISSED", None: "-"}[one["holds"]], one["profile"],
    )  # fmt: skip


def _recovery(root: Path) -> list[str]:
    """Known parameters that calibrations gave back."""
    path = root / "validation/recovery/results.json"
    if not path.is_file():
        return []
    result: JsonObject = read_json(path, "result of synthetic recovery")
    return ["## Calibrations of known parameters", *recovery_sections(result)]


def _comparison(one: Comparison) -> list[str]:
    name = one.folder.name
    parts = [f"## {one.description.title}", one.description.text, f"`./contend validate comparison {name}`"]
    if (path := one.folder / RESULTS).is_file():
        account: list[JsonObject] = read_json(path, "account of published sets")
        table = path.with_name(TABLE).name
        parts += [*account_sections(account), f"[by what each set is scored](../validation/{name}/{table})"]
    results = {run.name: one.result(run.name) for run in one.description.runs}
    for together in one.description.pooled:
        pooled = pool([results[run] for run in together.runs])
        note = plain_note(pooled)
        parts += [f"### {together.title}", markdown_table(SUMMARY_HEAD, summary_rows(pooled)), *filter(None, [note])]
    for run in one.description.runs:
        result = results[run.name]
        outdated = _outdated(one.changes(run) or [])
        base = f"../validation/{name}/{run.name}"
        fits = fit_sections(_profile(one.folder / run.profile), result)
        shapes = [shape_section(run.shapes, result)] if run.shapes else []
        parts += [f"### {run.title}", *outdated, *([run.remark] if run.remark else []), *fits,
                  *shapes, *sections(result),
                  f"![measured against predicted]({base}-agreement.svg)",
                  (f"[curves]({base}-curves.svg), [residuals]({base}-residuals.svg), "
                   f"[every point]({base}.md)")]  # fmt: skip
    return parts


def _outdated(changed: Sequence[str]) -> list[str]:
    """What a reader has to know of a result whose inputs are others now."""
    return [f"**To be made again**: {', '.join(changed)} changed since."] if changed else []


def _profile(path: Path) -> JsonObject | None:
    """The profile that a run has beside itself; None where it names a shipped one."""
    if not path.is_file():
        return None
    profile: JsonObject = read_json(path, "machine profile")
    return profile
