"""What became of every set of published measurements: how it is scored, which price it gives, why it is not simulated.

A comparison with a sets.json beside it gives such an account; published.json has the sets. Errors are those of the
runs' points, put together set by set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from contend.accuracy.document import markdown_table, percent
from contend.accuracy.scores import error_summary
from contend.common.documents import json_bytes
from contend.common.errors import InputError
from contend.common.misfits import misfit_of
from contend.common.reading import parse_json, read_json, read_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from contend.common.jsontypes import JsonObject, Scalar

FILE, PUBLISHED = "sets.json", "published.json"
RESULTS, TABLE = "results.json", "results.md"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _Rows(_Strict):
    """Which rows of the set this is about: those that have the values of one of these; no values are all rows."""

    rows: list[dict[str, str | int | list[str] | list[int]]] = Field(min_length=1)

    def of(self, points: Sequence[JsonObject]) -> list[int]:
        """Their indices."""
        return [index for index, point in enumerate(points) if any(_has(point, one) for one in self.rows)]


class Scored(_Rows):
    """Rows that datasets of a run hold, and what they are scored over; the run says whether by ratios.

    `beside` is a run with another profile that has the same points: its errors are shown apart, and count nowhere.
    """

    what: str = Field(min_length=1)
    reference: str = Field(min_length=1)
    run: str
    beside: str | None = None
    datasets: list[str] = Field(min_length=1)


class Priced(_Rows):
    """Prices of a profile whose source names the set."""

    profile: str
    prices: list[str] = Field(min_length=1)


class NotSimulated(_Rows):
    """Rows that no scenario stands for, and why."""

    why: str = Field(min_length=1)


class PublishedSet(_Strict):
    """One set."""

    set: str
    grade: Literal["A", "B"]
    scored: list[Scored] = Field(default_factory=list)
    prices: list[Priced] = Field(default_factory=list)
    not_simulated: list[NotSimulated] = Field(default_factory=list)


class Account(_Strict):
    """The file."""

    schema_version: int = Field(ge=1, le=1)
    sets: list[PublishedSet] = Field(min_length=1)


def _has(point: JsonObject, wanted: dict[str, str | int | list[str] | list[int]]) -> bool:
    return all(point.get(key) in (value if isinstance(value, list) else [value]) for key, value in wanted.items())


def read_account(folder: Path) -> Account | None:
    """The account of a comparison; None where it has no sets.json.

    Raises:
        InputError: The file is not usable, or a row of a published set is in no account of it.
    """
    path = folder / FILE
    if not path.is_file():
        return None
    text = read_text(path, "account of published sets")
    document = parse_json(text, str(path))  # of keys that occur twice the model would take the last
    try:
        account = Account.model_validate_json(text)
    except ValidationError as error:
        raise InputError(f"{path}: {misfit_of(error, document, Account)}") from error
    _check_rows(path, account, published_points(folder))
    return account


def published_points(folder: Path) -> dict[str, list[JsonObject]]:
    """The rows of each published set."""
    sets: list[JsonObject] = read_json(folder / PUBLISHED, "published sets")
    return {one["id"]: one["points"] for one in sets}


def _check_rows(path: Path, account: Account, published: dict[str, list[JsonObject]]) -> None:
    """Every set and every row of it is accounted for; none is scored or gives a price, and is not simulated as well."""
    names = [one.set for one in account.sets]
    if sorted(names) != sorted(published):
        apart = sorted({*names} ^ {*published}) or sorted({name for name in names if names.count(name) > 1})
        raise InputError(f"{path}: /sets: {', '.join(apart)}: expected each set of {PUBLISHED} once")
    for one in account.sets:
        points = published[one.set]
        used = {index for part in (*one.scored, *one.prices) for index in part.of(points)}
        unused = {index for part in one.not_simulated for index in part.of(points)}
        for problem, found in (
            ("is in no account", {*range(len(points))} - used - unused),
            ("is both used and not simulated", used & unused),
        ):
            if found:
                raise InputError(f"{path}: {one.set}: {points[min(found)]} {problem}")


def account_json(
    account: Account, published: dict[str, list[JsonObject]], run_of: Callable[[str], tuple[str, JsonObject]]
) -> list[JsonObject]:
    """The account with the errors of each set.

    Args:
        account: What the file says.
        published: The rows of each set.
        run_of: The profile and the result of a run, by its name.

    Raises:
        InputError: A run has no point of a dataset.
    """
    return [_set_json(one, published[one.set], run_of) for one in account.sets]


def _set_json(
    one: PublishedSet, points: Sequence[JsonObject], run_of: Callable[[str], tuple[str, JsonObject]]
) -> JsonObject:
    scored = []
    every: list[float] = []
    others: list[float] = []
    other_profiles: dict[str, None] = {}
    for part in one.scored:
        profile, result = run_of(part.run)
        errors = _errors(one.set, part.run, part.datasets, result)
        every += errors
        scored.append({
            "what": part.what,
            "reference": part.reference if result["options"]["ratios"] else None,
            "run": part.run,
            "profile": profile,
            "rows": len(part.of(points)),
            **error_summary(errors),
        })  # fmt: skip
        if part.beside is not None:
            profile, result = run_of(part.beside)
            others += _errors(one.set, part.beside, part.datasets, result)
            other_profiles[profile] = None
    return {
        "set": one.set,
        "grade": one.grade,
        "rows": len(points),
        "rows_scored": len({index for part in one.scored for index in part.of(points)}),
        **error_summary(every),
        "scored": scored,
        "with_another_profile": {"profiles": list(other_profiles), **error_summary(others)} if others else None,
        "prices": [{"profile": part.profile, "prices": part.prices} for part in one.prices],
        "not_simulated": [{"rows": len(part.of(points)), "why": part.why} for part in one.not_simulated],
    }


def _errors(name: str, run: str, datasets: Sequence[str], result: JsonObject) -> list[float]:
    found = []
    for dataset in datasets:
        own = [float(point["abs_error_pct"]) for point in result["points"] if point["dataset"] == dataset]
        if not own:
            raise InputError(f"{FILE}: {name}: the run {run!r} predicted no point of {dataset!r}")
        found += own
    return found


def account_files(account: list[JsonObject], title: str) -> dict[str, bytes]:
    """The account as it is written beside the comparison."""
    parts = [
        f"# {title}, set by set",
        *account_sections(account),
        "## What each set is scored by",
        markdown_table(_PART_HEAD, [row for one in account for row in _part_rows(one)]),
    ]
    return {RESULTS: json_bytes(account), TABLE: ("\n\n".join(parts) + "\n").encode()}


_SET_HEAD = ("set", "grade", "rows", "points", "median error", "90th percentile", "scored by", "profile")
_OTHER_HEAD = ("set", "points", "median error", "90th percentile", "profile")
_OTHERS = "The same points with another profile, which counts nowhere; the remarks of the runs say when it was chosen:"
_PART_HEAD = ("set", "what", "over", "points", "median error", "90th percentile", "profile", "run")


def account_sections(account: Sequence[JsonObject]) -> list[str]:
    """Tables: the errors of each set, the prices that sets give, and what is not simulated."""
    scored = [one for one in account if one["scored"]]
    prices = [
        (one["set"], ", ".join(part["profile"] for part in one["prices"] if part["prices"] == names),
         ", ".join(f"`{price}`" for price in names))
        for one in account
        for names in _different(part["prices"] for part in one["prices"])
    ]  # fmt: skip
    others = [
        (
            one["set"], str(other["points"]), percent(other["median_abs_error_pct"]),
            percent(other["p90_abs_error_pct"]), _joined(other["profiles"]),
        )
        for one in scored
        if (other := one["with_another_profile"]) is not None
    ]  # fmt: skip
    missing = [
        (one["set"], f"{part['rows']} of {one['rows']}", part["why"])
        for one in account
        for part in one["not_simulated"]
    ]
    return [
        f"Of {len(account)} sets {len(scored)} are scored:",
        markdown_table(_SET_HEAD, [_set_row(one) for one in scored]),
        *([_OTHERS, markdown_table(_OTHER_HEAD, others)] if others else []),
        "Sets that give prices:",
        markdown_table(("set", "profiles", "prices"), prices),
        "Rows that are not simulated:",
        markdown_table(("set", "rows", "why"), missing),
    ]


def _set_row(one: JsonObject) -> tuple[str, ...]:
    return (
        one["set"], one["grade"], f"{one['rows_scored']} of {one['rows']}", str(one["points"]),
        percent(one["median_abs_error_pct"]), percent(one["p90_abs_error_pct"]),
        _joined(_over(part) for part in one["scored"]), _joined(part["profile"] for part in one["scored"]),
    )  # fmt: skip


def _part_rows(one: JsonObject) -> list[tuple[str, ...]]:
    return [
        (
            one["set"], part["what"], part["reference"] or "absolute", str(part["points"]),
            percent(part["median_abs_error_pct"]), percent(part["p90_abs_error_pct"]), part["profile"],
            f"[{part['run']}]({part['run']}.md)",
        )
        for part in one["scored"]
    ]  # fmt: skip


def _over(part: JsonObject) -> str:
    return "absolute values" if part["reference"] is None else f"ratio to {part['reference']}"


def _different(lists: Iterable[list[str]]) -> list[list[str]]:
    """Each list once, in order."""
    return [list(one) for one in dict.fromkeys(map(tuple, lists))]


def _joined(words: Iterable[Scalar]) -> str:
    return "; ".join(dict.fromkeys(str(word) for word in words))
