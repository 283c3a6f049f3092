"""The files of a results folder, checked: they may have been cut off, edited, or written by something else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Self, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, ValidationError, field_validator, model_validator

from contend.common.errors import ContendError, InputError
from contend.common.file_kinds import RESULT_OF_RUN, kind_of
from contend.common.files import describe
from contend.common.jsontypes import JsonObject, Scalar  # noqa: TC001 - pydantic reads it when the program runs
from contend.common.reading import json_object, parse_json, require_regular
from contend.explanations.price_bases import known_from_text
from contend.results.measures import ESTIMATED, SCALARS, main_of
from contend.results.output import RESULTS, SWEEP
from contend.results.results import Results

if TYPE_CHECKING:
    from pathlib import Path

EXPLANATION = "explain.json"
TRACE = "trace.json"
# No run writes more; a larger file is something else.
_MOST_BYTES = 512_000_000

_LARGEST = 1e300


def _number(value: object) -> float:
    """A finite number as it is: whole numbers stay whole, so that what was read gives the bytes that were written."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("should be a number")  # noqa: TRY004 - pydantic wants a ValueError
    if not -_LARGEST < value < _LARGEST:
        raise ValueError("should be a finite number")
    return value


def _amount(value: object) -> float:
    """A finite number that is not negative."""
    number = _number(value)
    if number < 0:
        raise ValueError("should not be negative")
    return number


def _scalar(value: object) -> Scalar:
    """The value of a parameter."""
    return value if value is None or isinstance(value, str | bool) else _number(value)


Number: TypeAlias = Annotated[float, PlainValidator(_number)]
Amount: TypeAlias = Annotated[float, PlainValidator(_amount)]
Value: TypeAlias = Annotated[str | float | None, PlainValidator(_scalar)]
Interval: TypeAlias = tuple[Number | None, Number | None]
Model = TypeVar("Model", bound=BaseModel)


class _Checked(BaseModel):
    """Nothing is converted: a number in quotes is an error. Unknown fields are those of a later version."""

    model_config = ConfigDict(strict=True, extra="ignore")


class RateEntry(_Checked):
    """A mean with its interval."""

    mean: Number
    ci95: Interval
    unit: str = ""
    replications: Annotated[int, Field(ge=1)] = 1
    samples: list[Number] = []


class MeasuredEntry(_Checked):
    """What was measured at a point of a dataset, or `outcome`: why nothing was."""

    dataset: str = ""
    metric: str = ""
    predicted: Number | None
    median: Number | None
    outcome: str | None = None
    interval: tuple[Number, Number] | None = None
    cov: Amount | None = None
    unit: str = ""
    abs_error_pct: Amount | None = None
    scored_against_interval: bool = False
    fitted: bool = False
    held_out: bool = False

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if self.median is not None and "interval" not in self.model_fields_set:
            raise ValueError("a median without its interval")
        return self


class PointEntry(_Checked):
    """One point of results.json."""

    parameters: dict[str, Value]
    message_rate: RateEntry | None = None
    bandwidth: RateEntry | None = None
    perceived_bandwidth: RateEntry | None = None
    latency: RateEntry | None = None
    elapsed_s: Amount | None = None
    communication_time_s: Amount | None = None
    extra_compute_time_s: Number | None = None
    time_per_operation_s: Amount | None = None
    counters: dict[str, Number]
    time_by_category_ns: dict[str, dict[str, Amount]]
    simulated_s: Amount
    wall_s: Amount
    events: Amount
    notes: list[str] = []
    measured: MeasuredEntry | None = None

    @model_validator(mode="after")
    def _has_no_empty_fields(self) -> Self:
        """What a run does not have is left out."""
        for name in sorted(self.model_fields_set):
            if getattr(self, name) is None:
                raise ValueError(f"{name} is null")
        return self


class ResultsFile(_Checked):
    """results.json."""

    contend_version: str
    engine: str = "contend"
    scenario: JsonObject
    seed: int
    interrupted: bool = False
    points_planned: Annotated[int, Field(ge=0)] | None = None
    overrides: dict[str, str] = {}
    remarks: list[str] = []
    points: list[PointEntry]

    @field_validator("scenario")
    @classmethod
    def _has_sections(cls, scenario: JsonObject) -> JsonObject:
        for section in ("machine", "fabric", "library", "workload", "run"):
            if not isinstance(scenario.get(section, {}), dict):
                raise ValueError(f"{section} is not an object")  # noqa: TRY004 - pydantic wants a ValueError
        return scenario


class WaitEntry(_Checked):
    """Who waited how long for whom."""

    waiter: str
    holder: str
    time_ns: Amount


class LockEntry(_Checked):
    """One lock of explain.json; means over replications."""

    name: str
    acquisitions: Amount
    contended: Amount
    refused: Amount
    delegated: Amount = 0.0
    wait_ns: Amount
    hold_ns: Amount
    waits: list[WaitEntry]


class AwaitedRoleEntry(_Checked):
    """How long a role waited at a place for another one; for nobody where that is empty."""

    waiter: str
    category: str
    awaited: str
    how: str
    time_ns: Amount


class AwaitedThreadEntry(_Checked):
    """How often a thread ended waits at a place, and how long others waited for it."""

    thread: str
    how: str
    times: Amount
    time_ns: Amount


class PlaceEntry(_Checked):
    """One place of explain.json where threads wait for each other without a lock."""

    name: str
    waits: Amount
    wait_ns: Amount
    by_role: list[AwaitedRoleEntry]
    awaited: list[AwaitedThreadEntry]
    meanwhile_ns: dict[str, Amount]


class QueueEntry(_Checked):
    """One queue of explain.json."""

    name: str
    mean: Amount
    maximum: Amount


class StageEntry(_Checked):
    """One stage of a network interface."""

    name: str
    messages: Amount
    busy_ns: Amount
    queueing_ns: Amount
    on_wire_ns: Amount


class RatioEntry(_Checked):
    """The rate with a change over the rate without it; of a time the other way round."""

    rate_ratio: Number
    ci95: Interval

    @property
    def half_width(self) -> float | None:
        """Half the width of the interval; None if there is one replication."""
        high = self.ci95[1]
        return None if high is None else high - self.rate_ratio

    @property
    def is_gain(self) -> bool:
        """Whether the change makes it faster: more than its interval, where it has one."""
        low = self.ci95[0]
        return (self.rate_ratio if low is None else low) > 1.0


class SpeedupEntry(_Checked):
    """What lowering a cost, or a group of costs, does to the measure."""

    name: str
    costs: list[str]
    value: str | None
    halved: RatioEntry | None
    removed: RatioEntry | None
    not_removable: list[str]
    failures: dict[str, str] = {}
    known_from: dict[str, str] = {}
    uncertain: list[str] = []

    @property
    def basis(self) -> str:
        """Where its prices are known from."""
        return known_from_text(self.known_from, self.uncertain)


class ExplanationFile(_Checked):
    """explain.json."""

    contend_version: str
    scenario: JsonObject | None = None
    """What was explained, every value of it; files of earlier versions may have none."""
    parameters: dict[str, Value]
    measure: str | None = None
    message_rate: RateEntry | None = None
    bandwidth: RateEntry | None = None
    perceived_bandwidth: RateEntry | None = None
    latency: RateEntry | None = None
    elapsed_s: RateEntry | None = None
    communication_time_s: RateEntry | None = None
    extra_compute_time_s: RateEntry | None = None
    time_per_operation_s: RateEntry | None = None
    elapsed_ns: Amount
    threads: dict[str, int]
    time_by_category_ns: dict[str, dict[str, Amount]]
    locks: list[LockEntry]
    waiting_places: list[PlaceEntry] = []
    """Files of earlier versions have none."""
    queues: list[QueueEntry]
    interface_stages: list[StageEntry]
    counts_large_transfers: bool = True
    speedups: list[SpeedupEntry]
    remarks: list[str] = []

    @property
    def explained(self) -> str | None:
        """The name of the measure that was explained; files of earlier versions have one without saying which."""
        present = [name for name in (*ESTIMATED, *SCALARS) if getattr(self, name) is not None]
        return self.measure if self.measure in present else main_of(present)

    @property
    def rate(self) -> RateEntry | None:
        """The measure that was explained."""
        rate: RateEntry | None = getattr(self, self.explained) if self.explained else None
        return rate


def is_results(path: Path) -> bool:
    """Whether a path means results: a folder, or a results.json in it."""
    return path.is_dir() or path.name == RESULTS


def other_results(folder: Path) -> str:
    """Which file of a folder is the result of another command than a run, in words; empty if none is."""
    for file in sorted(folder.glob("*.json")):
        kind = kind_of(json_object(file) or {})
        if kind.startswith("result of") and kind != RESULT_OF_RUN:
            return f"{file.name} in it is a {kind}"
    return ""


def read_results(folder: Path) -> Results:
    """Reads results.json of a folder.

    Raises:
        InputError: It is not what `contend run` writes, or has no points.
        ContendError: It cannot be read.
    """
    path = folder / RESULTS
    if not path.exists():
        if (folder / "summary.json").is_file():
            raise InputError(f"{folder} holds the results of several scenarios: name one of the folders in it")
        if (folder / SWEEP).is_file():
            raise InputError(f"{folder} has no {RESULTS}: a sweep of so many points writes none, and has no picture")
        if other := other_results(folder):
            raise InputError(f"{folder} has no {RESULTS} of a run or a sweep: {other}")
        raise InputError(f"{folder} has no {RESULTS}: 'contend run SCENARIO --out {folder}' writes one")
    return read_results_file(path)


def read_results_file(path: Path) -> Results:
    """Reads a results.json, whatever it is called.

    Raises:
        InputError: It is not what `contend run` writes, or has no points.
        ContendError: It cannot be read.
    """
    try:
        checked = _read(path, ResultsFile)
    except InputError:
        if (kind := kind_of(json_object(path) or {})) not in ("", RESULT_OF_RUN):
            raise InputError(f"{path} is a {kind}, not a {RESULT_OF_RUN}") from None
        raise
    if not checked.points:
        raise InputError(f"{path}: it has no points: the run was stopped before anything had finished")
    return Results.from_json(dict(checked) | {"points": [_point(entry) for entry in checked.points]})


def read_explanation(folder: Path) -> ExplanationFile | None:
    """Reads explain.json of a folder; None if there is none.

    Raises:
        InputError: It is not what `contend explain` writes.
        ContendError: It cannot be read.
    """
    path = folder / EXPLANATION
    return _read(path, ExplanationFile) if path.is_file() else None


def parse_explanation(content: bytes) -> ExplanationFile:
    """The content of an explain.json that was just made."""
    return ExplanationFile.model_validate_json(content)


def _point(entry: PointEntry) -> JsonObject:
    """A point as results.json has it: what is not there is left out."""
    document: JsonObject = {}
    for name, value in entry:
        if isinstance(value, RateEntry):
            document[name] = dict(value)
        elif isinstance(value, MeasuredEntry):
            document[name] = value.model_dump(exclude_unset=True)
        elif value is not None:
            document[name] = value
    return document


def _read(path: Path, model: type[Model]) -> Model:
    require_regular(path, "results")
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise InputError(f"{path}: larger than any file that contend writes")
        content = path.read_bytes()
    except OSError as error:
        raise ContendError(f"cannot read {path}: {describe(error)}") from error
    try:
        checked = model.model_validate_json(content)
    except ValidationError as error:
        raise InputError(f"{path}: {_first_problem(error)}") from error
    parse_json(content.decode(), str(path))  # of keys that occur twice the model takes the last
    return checked


def _first_problem(error: ValidationError) -> str:
    """One problem in words; the others are likely of its kind."""
    first = error.errors(include_url=False, include_input=False)[0]
    if first["type"] == "json_invalid":
        cut = "EOF" in first["msg"]
        what = "the file is cut off" if cut else "not JSON"
        return f"{what} ({first['msg'].removeprefix('Invalid JSON: ')})"
    where = ".".join(str(part) for part in first["loc"]) or "the whole"
    more = error.error_count() - 1
    message = first["msg"].removeprefix("Value error, ")
    return f"not as contend writes it: {where}: {message}" + (f" (and {more} more)" if more else "")
