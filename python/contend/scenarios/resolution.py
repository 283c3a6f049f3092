"""From a scenario file and overrides to the points that will be simulated."""

from __future__ import annotations

import errno
import functools
import json
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from contend.common.errors import InputError
from contend.common.file_kinds import DATASET, PRESET, PROFILE, is_dataset, is_written
from contend.common.files import describe, require_utf8
from contend.common.nearest import nearest_names
from contend.common.paths import preset_directories, profile_directories, scenarios_directory
from contend.common.reading import input_path, keys_of, read_text
from contend.common.spelling import parameters_text, shortened, value_text
from contend.engine.core import core
from contend.engine.simgrid import PlatformRoutes
from contend.profiles.catalogs import PRESETS, PROFILES
from contend.profiles.profile_uses import profiles_for
from contend.scenarios.choice import choose_point

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contend.common.jsontypes import JsonObject, Scalar
    from contend.engine.coretypes import CorePoint


_EXAMPLE = "dissertation/fig5_2a_base"
# Of a scenario, as the core takes it (JsonLimits::bytes).
_MOST_BYTES = 8 * 2**20
# What the core calls the place of all overrides, whoever gave them.
COMMAND_LINE = "command line"
# The only workload that counts something else.
_NO_ITERATIONS = re.compile(
    rf"^{COMMAND_LINE}: /workload: unknown key \"iterations\".* \(allowed for kind 'lock': .*\)$", re.MULTILINE
)


class Point:
    """One point of a sweep: the values of the swept parameters and everything that the engine needs.

    It is given by its configuration or by the core's form of it. The other is made when somebody asks for it. Sweeps
    never do: writing a configuration out and reading it back costs more than anything else that they do for a point.
    """

    def __init__(
        self, parameters: dict[str, Scalar], config: JsonObject | None = None, *, compiled: CorePoint | None = None
    ) -> None:
        """A point, by its configuration or its compiled form."""
        self.parameters = parameters
        if config is not None:
            self.config = config
        if compiled is not None:
            self.compiled = compiled

    @staticmethod
    def of(config_json: str) -> Point:
        """The point that has a configuration, without swept parameters.

        Raises:
            InputError: The configuration is not usable.
        """
        return Point({}, compiled=_compile(config_json))

    @functools.cached_property
    def config(self) -> JsonObject:
        """Every value of the point."""
        config: JsonObject = json.loads(self.compiled.config())
        return config

    @functools.cached_property
    def compiled(self) -> CorePoint:
        """The point as the core runs it.

        Raises:
            InputError: The configuration is not usable.
        """
        return _compile(self.config_json)

    @property
    def config_json(self) -> str:
        """The configuration as text."""
        return json.dumps(self.config)

    @property
    def replications(self) -> int:
        """How many independent runs were asked for."""
        if "config" in self.__dict__:
            return int(self.config["run"]["replications"])
        return self.compiled.replications

    def label(self) -> str:
        """Short text such as "pairs=20 instances=1"."""
        return parameters_text(self.parameters) or "the only point"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Point) and (self.parameters, self.config) == (other.parameters, other.config)

    __hash__ = None  # type: ignore[assignment]  # its parts can be changed

    def __repr__(self) -> str:
        return f"<Point {self.label()}>"

    def __reduce__(self) -> tuple[type[Point], tuple[dict[str, Scalar], JsonObject]]:
        return Point, (self.parameters, self.config)


def _compile(config_json: str) -> CorePoint:
    module = core()
    try:
        return module.point(config_json)
    except module.ScenarioError as error:
        raise InputError(str(error)) from error


@dataclass(frozen=True)
class ResolvedScenario:
    """A scenario with every default filled in.

    `origins` says for each JSON pointer into `document` where its value came from, `overrides` what was changed in the
    file: dotted paths with values.
    """

    path: Path
    document: JsonObject
    origins: dict[str, str]
    points: tuple[Point, ...]
    overrides: tuple[tuple[str, str], ...] = ()
    replaced: tuple[str, ...] = ()
    """Values of the file's library that a preset among the overrides has put aside, by dotted path below it."""

    @property
    def name(self) -> str:
        """The scenario's name, which is the file's if it has none."""
        return str(self.document.get("name") or self.path.stem)

    def one_point(self, at: Sequence[tuple[str, str]] = ()) -> tuple[Point, str]:
        """The point for commands that look at one only: the last, and a remark where nobody chose it from others.

        Args:
            at: Names of parameters with their values, as `--at` gives them: the last point that has them.

        Raises:
            InputError: No point has them.
        """
        point = self.points[choose_point(self.points, at)]
        if at or len(self.points) == 1:
            return point, ""
        first = self.points[0]
        name = next((key for key, value in point.parameters.items() if first.parameters[key] != value), None)
        example = f", for example --at '{name}={value_text(first.parameters[name])}'" if name else ""
        return (
            point,
            f"the sweep has {len(self.points)} points; this is the last, {point.label()} (--at chooses{example})",
        )

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a user should know about what they have asked for: which values of the file a preset has put aside."""
        preset = dict(self.overrides).get("library.preset")
        if preset is None or not self.replaced:
            return ()
        what = f"the preset {preset.strip(chr(34))} is the whole library design: the scenario's own values of library"
        return (f"{what} do not count ({', '.join(self.replaced)}); --set gives values upon the preset",)

    @property
    def seed(self) -> int:
        """The seed of all random streams."""
        return int(self.document.get("run", {}).get("seed", self.points[0].config["run"]["seed"] if self.points else 1))


def shipped_scenarios() -> dict[str, Path]:
    """The shipped scenarios by name: the file's with its folder, such as "dissertation/fig5_2a_base"."""
    folder = scenarios_directory()
    return {path.relative_to(folder).with_suffix("").as_posix(): path for path in sorted(folder.rglob("*.json"))}


def find_scenario(name: str) -> Path:
    """Finds a scenario: a path, or the name of a shipped one with or without folder and ".json".

    Raises:
        InputError: There is none; the message names the nearest.
    """
    path = Path(name)
    try:
        path.stat()
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            raise InputError(f"no scenario file {shortened(name)!r}: {describe(error)}") from error
        ends = {errno.ELOOP: "leads in a circle", errno.ENOENT: "leads to no file"}.get(error.errno or 0)
        if ends and path.is_symlink():
            raise InputError(f"{name} is a symbolic link to {str(path.readlink())!r}, which {ends}") from error
    if path.is_dir():
        raise InputError(f"{name} is a folder; a scenario is a JSON file")
    if path.exists():
        if is_dataset(path):
            raise InputError(
                f"{name} is a dataset: `contend run` simulates what it measured, and `contend dataset scenario` writes "
                "that as a scenario"
            )
        for catalog, key in ((PRESETS, "library.preset"), (PROFILES, "machine.profile")):
            if catalog.has(path):
                raise InputError(f"{name} is a {catalog.what}; a scenario names it in {key}")
        return path
    shipped = shipped_scenarios()
    wanted = name.removeprefix("scenarios/").removesuffix(".json")
    matches = [p for key, p in shipped.items() if wanted in (key, p.stem)]
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise InputError(f"the name {name!r} stands for several scenarios: {', '.join(map(str, matches))}")
    known = {candidate: f"{key}.json" for key, p in shipped.items() for candidate in (f"{key}.json", key, p.stem)}
    known |= {str(p): str(p) for p in path.parent.glob("*.json")}
    near = nearest_names(name, known) or nearest_names(wanted, known)
    if near:
        raise InputError(f"no scenario file {name!r}; did you mean {known[near[0]]!r}?")
    raise InputError(f"no scenario file {name!r}; the shipped ones, such as {_EXAMPLE}, are in {scenarios_directory()}")


def open_scenario(name: str) -> tuple[Path, str | None]:
    """Finds a scenario as commands take it: as find_scenario does, or what another program writes.

    Args:
        name: A path, the name of a shipped scenario, "-" for standard input, or a pipe such as `<(generate)` makes. A
            pipe with a name of its own is none of these: nobody may be writing to it.

    Returns:
        What to resolve: the path, and the text where that is not the content of a file. Relative paths in such a text
        start at the current folder.

    Raises:
        ContendError: It cannot be read.
        InputError: There is none, or what came is no text, or too much.
    """
    pipe = input_path(name)
    if name != "-" and not (pipe.is_relative_to("/dev") and pipe.is_fifo()):
        return find_scenario(name), None
    return Path("standard-input" if name == "-" else pipe.name), read_text(pipe, "scenario", piped=_MOST_BYTES)


def scenarios_in(folder: Path) -> list[Path]:
    """All scenario files of a folder and its subfolders, in order of their paths.

    What commands have written there, such as results, is left out, and so are profiles and presets.

    Raises:
        InputError: There is none.
    """
    files = [path for path in sorted(folder.rglob("*.json")) if path.is_file() and not _is_something_else(path)]
    if not files:
        raise InputError(f"the folder {folder} has no scenario files (*.json)")
    return files


def _is_something_else(file: Path) -> bool:
    keys = keys_of(file)
    return not keys >= DATASET and (is_written(keys) or keys >= PROFILE or keys >= PRESET)


def parse_override(text: str) -> tuple[str, str]:
    """Splits "dotted.path=value".

    Raises:
        InputError: It has another form.
    """
    path, separator, value = text.partition("=")
    if not separator or not path.strip():
        raise InputError(f"--set {text!r}: expected dotted.path=value, for example workload.pairs=20")
    return path.strip(), value.strip()


def resolve_scenario(
    path: Path,
    overrides: Sequence[tuple[str, str]] = (),
    text: str | None = None,
    *,
    given_in: str = COMMAND_LINE,
) -> ResolvedScenario:
    """Reads a scenario and fills in everything.

    Args:
        path: The scenario file.
        overrides: Dotted path and value (JSON, or a plain word), applied in order.
        text: The scenario itself, in place of the file's content; relative paths in it start at the file's folder.
        given_in: Where the user gave the overrides, for messages about them.

    Raises:
        InputError: The scenario, an override, its profile or its platform is not usable.
    """
    module = core()
    for given in (str(path), *(part for override in overrides for part in override)):
        require_utf8(given)
    folder = path.resolve().parent
    routes = PlatformRoutes()
    profiles = [str(directory) for directory in profile_directories(folder)]
    presets = [str(directory) for directory in preset_directories(folder)]
    try:
        words = [] if text is None else [text]
        answer, compiled = module.resolve(str(path), list(overrides), profiles, presets, routes, *words)
    except module.ScenarioError as error:
        said = _in_words_of_user(str(error), given_in)
        raise routes.failure or InputError(said + _sweep_hint(said, overrides) + profiles_for(said)) from error
    except Exception:
        # The callback's own error may arrive as any type: say what it was.
        if routes.failure is not None:
            raise routes.failure from None
        raise
    resolved: JsonObject = json.loads(answer)
    points = tuple(
        Point(parameters, compiled=point) for parameters, point in zip(resolved["parameters"], compiled, strict=True)
    )
    if not points:
        raise InputError(f"{path}: the sweep has no points")
    return ResolvedScenario(
        path, resolved["document"], resolved["origins"], points, tuple(overrides), tuple(resolved.get("replaced", ()))
    )


def _in_words_of_user(message: str, given_in: str) -> str:
    """What the core says, with the option and the place that the user knows."""
    option = " (--iterations)" if given_in == COMMAND_LINE else ""
    message = _NO_ITERATIONS.sub(
        f"{COMMAND_LINE}: workload.iterations{option}: the workload 'lock' has none; allowed: workload.acquisitions, "
        "the timed operations of each thread",
        message,
    )
    return re.sub(f"^{COMMAND_LINE}: ", f"{given_in}: ", message, flags=re.MULTILINE)


def _sweep_hint(message: str, overrides: Sequence[tuple[str, str]]) -> str:
    """What to do where one value was wanted, and the user gave several."""
    for path, json_text in overrides:
        text = json_text.strip('"')
        several = text.startswith("[") or "," in text or ".." in text
        if several and f"/{path.replace('.', '/')}: found" in message:
            return f"\n  several values are a sweep: contend sweep SCENARIO --grid {shlex.quote(f'{path}={text}')}"
    return ""


def check_profile(path: Path, *, with_messages: bool = False) -> None:
    """Checks that a machine profile is one, whatever will run on it.

    Args:
        path: Of the profile.
        with_messages: Whether it must have what messages need, not only what locks do.

    Raises:
        InputError: It is not; names the place.
    """
    smallest: JsonObject = {
        "schema_version": 1,
        "name": "check",
        "machine": {"profile": str(path.resolve())},
        "workload": {"kind": "lock", "threads": 1},
    }
    if with_messages:
        smallest |= {
            "workload": {"kind": "multirate", "pairs": 1},
            "library": {"preset": "ob1-base"},
            "fabric": {"latency": "1 us", "bandwidth": "1 GB/s"},
        }
    resolve_scenario(path.parent / "check.json", text=json.dumps(smallest))
