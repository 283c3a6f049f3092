"""Campaigns: what to measure, as the JSON files in validation/campaigns say it. Strict: an unknown key is an error."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from contend.common.errors import InputError
from contend.common.misfits import misfit_of
from contend.common.nearest import nearest_names
from contend.common.paths import require_repository
from contend.common.reading import parse_json, read_text
from contend.measure.checks import check_campaign

Value: TypeAlias = bool | int | float | str
Name: TypeAlias = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$")]
Key: TypeAlias = Annotated[str, Field(pattern=r"^(options\.)?[a-z][a-z0-9_]{0,63}$")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Effort(_Strict):
    """How much work a cell is worth."""

    launches: Annotated[
        int, Field(ge=1, le=100, description="Launches of each cell at least, unless the budget ends.")
    ] = 3
    launches_max: Annotated[
        int, Field(ge=1, le=1000, description="Launches at most, while the spread is larger than wanted.")
    ] = 6
    repetitions: Annotated[int, Field(ge=1, le=1000, description="Samples of one launch.")] = 4
    target_s: Annotated[float, Field(gt=0, le=600, description="Length of one repetition.")] = 0.15
    precision_pct: Annotated[
        float, Field(gt=0, le=100, description="Wanted: half the 95 % interval of the median, of the median.")
    ] = 5.0
    timeout_s: Annotated[float, Field(gt=0, le=86400, description="A launch that takes longer has timed out.")] = 30.0
    give_up_after: Annotated[
        int, Field(ge=1, le=100, description="Launches without a sample after which a cell is given up.")
    ] = 2

    @model_validator(mode="after")
    def _ordered(self) -> Effort:
        if self.launches_max < self.launches:
            raise ValueError(f"launches_max ({self.launches_max}) is less than launches ({self.launches})")
        return self


class EffortChange(_Strict):
    """What an experiment changes of the campaign's effort."""

    launches: Annotated[int | None, Field(ge=1, le=100)] = None
    launches_max: Annotated[int | None, Field(ge=1, le=1000)] = None
    repetitions: Annotated[int | None, Field(ge=1, le=1000)] = None
    target_s: Annotated[float | None, Field(gt=0, le=600)] = None
    precision_pct: Annotated[float | None, Field(gt=0, le=100)] = None
    timeout_s: Annotated[float | None, Field(gt=0, le=86400)] = None
    give_up_after: Annotated[int | None, Field(ge=1, le=100)] = None


class Experiment(_Strict):
    """One benchmark over libraries, transports and a sweep. Each library and transport gives a dataset."""

    name: Name
    benchmark: Literal["multirate", "latency", "rma", "partitioned", "waiting", "primitives", "locks", "machine"]
    description: str = ""
    libraries: Annotated[list[str], Field(description="Keys of libraries; empty for programs without MPI.")] = []
    transports: list[str] = []
    netem: Annotated[
        str,
        Field(
            pattern=r"^[a-z0-9 .%]*$",
            max_length=100,
            description='Words for tc netem, such as "delay 50us rate 1gbit".',
        ),
    ] = ""
    workload: Annotated[
        dict[Key, Value | list[Value]], Field(description="Options of the program, with underscores.")
    ] = {}
    options: Annotated[dict[Key, Value], Field(description="Options of the library, see docs/measuring.md.")] = {}
    sweep: Annotated[
        dict[Key, list[Value]],
        Field(description="Axes: every combination is a cell. A key is one of workload, or options.NAME."),
    ] = {}
    effort: EffortChange = EffortChange()


class Campaign(_Strict):
    """A campaign file."""

    name: Name
    description: str
    budget_s: Annotated[
        float,
        Field(gt=0, le=1e6, description="No launch begins that is not expected to end within so long from the start."),
    ]
    seed: Annotated[int, Field(ge=0, lt=2**63, description="Of the random order.")] = 1
    effort: Effort = Effort()
    experiments: Annotated[list[Experiment], Field(min_length=1)]

    def effort_of(self, experiment: Experiment) -> Effort:
        """The effort of an experiment."""
        changes = experiment.effort.model_dump(exclude_none=True)
        return Effort.model_validate(self.effort.model_dump() | changes)


def campaigns_directory() -> Path:
    """Folder of the shipped campaigns."""
    return require_repository("measure") / "validation/campaigns"


def preset_names() -> list[str]:
    """Names of the shipped campaigns."""
    return sorted(path.stem for path in campaigns_directory().glob("*.json"))


def load_campaign(name: str) -> Campaign:
    """Loads a campaign: a file, or the name of a shipped one.

    Raises:
        InputError: There is none of that name, or the file is wrong.
    """
    path = Path(name)
    if path.suffix != ".json":
        path = campaigns_directory() / f"{name}.json"
        if not path.is_file():
            near = nearest_names(name, preset_names())
            hint = f"; did you mean '{near[0]}'?" if near else ""
            allowed = ", ".join(preset_names())
            raise InputError(f"there is no preset '{name}'; allowed: {allowed}, or a file NAME.json{hint}")
    return parse_campaign(read_text(path, "campaign"), str(path))


def parse_campaign(text: str, where: str) -> Campaign:
    """Checks the text of a campaign file, as far as can be without a launch.

    Raises:
        InputError: The text is wrong; the message says where.
    """
    campaign = shape_campaign(parse_json(text, where), where)
    check_campaign(campaign, where)
    return campaign


def shape_campaign(document: object, where: str) -> Campaign:
    """A document as a campaign, whether or not what it names is there.

    Args:
        document: The JSON value.
        where: The file, for the message.

    Raises:
        InputError: It has not the form of one.
    """
    try:
        return Campaign.model_validate(document)
    except ValidationError as error:
        raise InputError(f"{where}: {misfit_of(error, document, Campaign)}") from error


def schema() -> dict[str, Any]:
    """The JSON Schema of campaign files."""
    return Campaign.model_json_schema() | {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "contend campaign",
    }
