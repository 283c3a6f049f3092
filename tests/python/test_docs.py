"""The documentation: its Python runs, its commands exist, and the site builds without a warning."""

from __future__ import annotations

import doctest
import importlib
import json
import pkgutil
import re
import shlex
from typing import TYPE_CHECKING

import pytest
import typer
from sybil import Sybil
from sybil.evaluators.python import PythonEvaluator
from sybil.parsers.markdown import CodeBlockParser
from typer.core import TyperGroup

import contend
from contend.cli import main
from contend.cli.app import app
from contend.common.errors import ContendError
from contend.engine.runner import make_engine
from contend.scenarios.resolution import find_scenario
from fakes import REPOSITORY

if TYPE_CHECKING:
    from pathlib import Path

DOCS = REPOSITORY / "docs"
PAGES = [REPOSITORY / "README.md", REPOSITORY / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
# Words that stand for something of the reader's.
_PLACEHOLDER = re.compile(r"^[A-Z][A-Z_|]*$|\.\.\.|^\[")


def _commands(page: Path) -> list[tuple[int, list[str]]]:
    """The lines of shell blocks that call contend, with their numbers."""
    found = []
    inside = False
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("```"):
            inside = line.strip() in ("```sh", "```console", "```bash") and not inside
        elif inside and re.match(r"(\./)?contend ", line) and not line.endswith("\\"):
            line_without_variables = re.sub(r"\$\w+", "1", line.split(" >")[0])
            found.append((number, shlex.split(line_without_variables, comments=True)[1:]))
    return found


ALL_COMMANDS = [
    pytest.param(words, id=f"{page.relative_to(REPOSITORY)}:{number}")
    for page in PAGES
    for number, words in _commands(page)
]


@pytest.mark.parametrize("words", ALL_COMMANDS)
def test_commands_exist_with_their_options(words: list[str]) -> None:
    """Options, arguments and values are taken as the program would; nothing is run."""
    command = typer.main.get_command(app)
    context = typer.Context(command, info_name="contend")
    rest = list(words)
    while isinstance(command, TyperGroup):
        if not rest or rest[0].startswith("-"):
            assert set(rest) <= {option for parameter in command.params for option in parameter.opts}
            return
        if context.parent is not None:  # a group may have its own idea of its words
            group = command.make_context(command.name, rest, parent=context.parent)
            rest = [*group._protected_args, *group.args]
        found = command.get_command(context, rest[0])
        assert found is not None, f"there is no command {rest[0]!r}"
        command, rest = found, rest[1:]
        context = (
            typer.Context(command, info_name=command.name, parent=context)
            if isinstance(command, TyperGroup)
            else command.make_context(command.name, rest, parent=context)
        )
    scenario = context.params.get("scenario")
    if isinstance(scenario, str) and not _PLACEHOLDER.search(scenario) and not scenario.endswith(("/", ".json")):
        find_scenario(scenario)


@pytest.mark.parametrize(
    ("command", "page", "heading"),
    [
        ("run", "usage.md", "## `contend run`"),
        ("compare", "usage.md", "## `contend compare`"),
        ("explain", "usage.md", "## `contend explain`"),
        ("measure", "measuring.md", "# Measuring real libraries"),
        ("calibrate", "calibration.md", "# Calibration"),
        ("report", "reports.md", "## Time and size"),
        ("validate claims", "validation.md", "## Statements of a study"),
    ],
)
def test_tables_of_options_are_complete(command: str, page: str, heading: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    _, found, section = f"\n{text}".partition(f"\n{heading}\n")
    assert found
    first_cells = "".join(
        line.split(" | ")[0] for line in section.partition("\n## ")[0].splitlines() if line.startswith("| `-")
    )
    shown = set(re.findall(r"(?<!\w)--?[a-z][a-z-]*", first_cells))
    program = typer.main.get_command(app)
    for name in command.split():
        assert isinstance(program, TyperGroup)
        program = program.commands[name]
    for parameter in program.params:
        if parameter.param_type_name == "option":
            assert shown & {*parameter.opts, *parameter.secondary_opts}, parameter.opts


def test_readme_opens_with_its_two_commands() -> None:
    blocks = re.findall(r"```sh\n(.*?)```", (REPOSITORY / "README.md").read_text(), re.DOTALL)
    assert blocks[0].splitlines() == ["./contend run scenarios/dissertation/fig5_2a_base.json", "./contend test"]


def _python_examples() -> list[object]:
    sybil = Sybil(parsers=[CodeBlockParser("python", PythonEvaluator())], path=str(DOCS), pattern="**/*.md")
    return [
        pytest.param(example, id=f"{page.relative_to(REPOSITORY)}:{example.line}")
        for page in [REPOSITORY / "README.md", *sorted(DOCS.rglob("*.md"))]
        for example in sybil.parse(page).examples()
        # A function of a file of claims is shown, not run: it needs the evidence.
        if "@claim(" not in str(example.parsed)
    ]


@pytest.mark.core
@pytest.mark.parametrize("example", _python_examples())
def test_python_in_the_documentation_runs(example: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CONTEND_CACHE", str(tmp_path))
    example.evaluate()  # type: ignore[attr-defined]


# One of each kind of workload, and one whose threads share cores: together they have every counter.
_EVERY_KIND = (
    "any_source", "interfaces_by_tag", "latency_by_receivers", "fig4_parallel_pack", "fig4_parsec_ping_pong",
    "fig4_query_nothing_complete",
    "fig5_7_rma_progress", "back_ends", "barrier_layered", "fine-grain/fig4_1", "fine-grain/matching", "nas_bt",
    "pipeline", "table4_4", "table5_1", "waitany", "L01_adaptive", "aggregation_choice",
    "fig4_wait_shared_memory_one_core",
)  # fmt: skip


@pytest.mark.core
def test_every_counter_is_documented() -> None:
    engine = make_engine("contend")
    kinds: set[str] = set()
    counters: set[str] = set()
    for name in _EVERY_KIND:
        point = contend.load(name).points[0]
        kinds.add(point.config["workload"]["kind"])
        counters |= set(json.loads(engine.run_point(point, 0, trace_hash=False))["counters"])
    assert kinds == set(json.loads((REPOSITORY / "schemas" / "names.json").read_text())["workloads"])
    section = (DOCS / "results.md").read_text(encoding="utf-8").partition("## Counters")[2]
    first_cells = [line.split("|")[1] for line in section.splitlines() if line.startswith("|")]
    assert counters == set(re.findall(r"`(\w+)`", " ".join(first_cells)))


# Where docs/models.md says what a name of schemas/names.json stands for.
_SECTIONS_OF_NAMES = {
    "locks": ["Locks"],
    "matching": ["Matching"],
    "progress": ["Progress"],
    "assignments": ["Instances and their assignment"],
    "partitioned": ["Partitioned communication"],
    "workloads": ["Workloads", "Processes that are coroutines"],
    "transports": ["The network interface and the wire"],
    "notifications": ["Progress"],
    "idling": ["Progress"],
    "schedulers": ["Processes that are coroutines"],
    "process_queues": ["Processes that are coroutines"],
    "window_paths": ["One-sided operations"],
    "buffer_transfers": ["Workloads"],
}


def test_every_name_is_in_the_page_about_models() -> None:
    names = json.loads((REPOSITORY / "schemas" / "names.json").read_text(encoding="utf-8"))
    assert set(names) - {"traits"} == set(_SECTIONS_OF_NAMES)  # traits: which of these names say what of themselves
    page = (DOCS / "models.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL))
    missing = [
        f"{kind}: {name}"
        for kind, titles in _SECTIONS_OF_NAMES.items()
        for name in names[kind]
        if not any(f"`{name}`" in sections[title] for title in titles)
    ]
    assert not missing


def _modules() -> list[str]:
    found = [module.name for module in pkgutil.walk_packages(contend.__path__, "contend.")]
    return ["contend", *(name for name in found if not name.endswith(("__main__", "_core")))]


@pytest.mark.core
@pytest.mark.parametrize("name", _modules())
def test_examples_of_docstrings(name: str) -> None:
    module = importlib.import_module(name)
    failed, _ = doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert failed == 0


@pytest.mark.core
@pytest.mark.slow
def test_the_tutorial_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """Every command of the tutorial, in order, as a newcomer would; its files are those that the page shows."""
    monkeypatch.chdir(tmp_path)
    page = DOCS / "tutorial.md"
    text = page.read_text(encoding="utf-8")
    for name, content in re.findall(r"`(\w[\w-]*\.json)`[^`]*?```json\n(.*?)```", text, re.DOTALL):
        json.loads(content)
        (tmp_path / name).write_text(content)
    assert (tmp_path / "my-design.json").is_file()
    ran = []
    for _, words in _commands(page):
        if words and words[0] not in ("test", "docs"):
            assert main(words) == 0, (words, capfd.readouterr().err)
            ran.append(words[0])
    assert {"run", "explain", "report"} <= set(ran)
    for picture in re.findall(r"`(out/[\w./-]+)`", text):
        assert (tmp_path / picture).exists(), picture


@pytest.mark.parametrize(
    "page", [pytest.param(page, id=str(page.relative_to(REPOSITORY))) for page in (*PAGES, REPOSITORY / "CHANGELOG.md")]
)
def test_links_lead_somewhere_in_a_checkout(page: Path) -> None:
    """Where readers of GitHub are; of the site MkDocs checks it."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    links = re.findall(r"\[[^\]]*\]\(([^)\s#:]+)(?:#[^)\s]*)?\)", text)
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.slow
def test_the_site_builds_without_a_warning(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["docs", "--out", str(tmp_path / "site")]) == 0, capfd.readouterr()
    site = tmp_path / "site"
    for page in ("index", "tutorial", "scenario-reference", "commands", "machine-profiles", "python", "changelog"):
        assert (site / f"{page}.html").is_file(), page
    for page, listed in (
        ("commands", "contend report"),
        ("machine-profiles", "cache.hit"),
        ("library-presets", "ch4-vci"),
    ):
        text = (site / f"{page}.html").read_text()
        assert listed in text
        assert "In a checkout" not in text, "what stands in place of the list for those who have no site"
    assert "machine.cache" in (site / "scenario-reference.html").read_text()
    assert (site / "source" / "sim" / "models" / "locks" / "lock.hpp").is_file(), "links to sources lead to copies"
    assert (site / "search" / "search_index.js").is_file(), "the search works without a server"
    output = capfd.readouterr()
    assert "WARNING" not in output.out + output.err
    pages = [file.read_text() for file in site.rglob("*.html")]
    assert not any("fonts.googleapis" in page or "cdn." in page for page in pages), "no network"


@pytest.mark.parametrize("page", ["index.md", "elsewhere.md"])
def test_a_warning_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], page: str
) -> None:
    """A broken link, or a page that the navigation does not lead to: what the test above relies on."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("# Here\n")
    (tmp_path / "mkdocs.yml").write_text(
        "site_name: t\nnav: [index.md]\nvalidation: {nav: {omitted_files: warn}}\nplugins: []\n"
    )
    monkeypatch.setattr("contend.common.paths.require_repository", lambda _: tmp_path)
    assert main(["docs", "--out", str(tmp_path / "site")]) == 0, capfd.readouterr()
    (tmp_path / "docs" / page).write_text("# Here\n\n[nowhere](nowhere.md)\n")
    assert main(["docs", "--out", str(tmp_path / "site")]) == ContendError.exit_code
    assert ("nowhere.md" if page == "index.md" else page) in capfd.readouterr().err


def test_citation_and_changes_name_the_version() -> None:
    import yaml

    citation = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text())
    assert citation["cff-version"] == "1.2.0"
    assert {"title", "authors", "message", "license", "version"} <= set(citation)
    assert citation["version"] == contend.__version__
    changes = (REPOSITORY / "CHANGELOG.md").read_text()
    assert "## [Unreleased]" in changes
    assert f"## [{contend.__version__}]" in changes


def test_docs_wants_a_checkout(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("contend.common.paths.repository", lambda: None)
    assert main(["docs"]) == ContendError.exit_code
    assert "works in a checkout only" in capsys.readouterr().err
