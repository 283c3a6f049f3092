"""What MkDocs cannot do alone: pages from the program itself, and links from pages to files of the repository.

A link that leaves docs/ (to a header, an example, a list of claims) becomes a copy of that file inside the site, under
source/. A link to nothing is left as it is, and MkDocs reports it.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mkdocs.structure.files import File, InclusionLevel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

_ROOT = Path(__file__).resolve().parents[2]
_LINK = re.compile(r"(!?\[[^\]]*\]\()([^)\s#:]+)((?:#[^)\s]*)?\))")
_FENCE = re.compile(r"^(```.*?^```|~~~.*?^~~~)", re.MULTILINE | re.DOTALL)
# Pages of the site that are files elsewhere.
_PAGES = {"contributing.md": "CONTRIBUTING.md", "changelog.md": "CHANGELOG.md"}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Lists every decision: a new record needs no line anywhere."""
    records = sorted(path.name for path in (_ROOT / "docs" / "decisions").glob("[0-9]*.md"))
    for part in config.nav or []:
        for entry in part.get("Explanation", []):
            if "Decisions" in entry:
                entry["Decisions"] = ["decisions/README.md", *(f"decisions/{name}" for name in records)]
    return config


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Adds the pages that are files elsewhere, and the files that pages link to."""
    for name, source in _PAGES.items():
        files.append(File.generated(config, name, content=(_ROOT / source).read_text(encoding="utf-8")))
    wanted = [
        target
        for file in list(files)
        if file.src_uri.endswith(".md")
        for target in _outside(file.content_string, _place_of(file.src_uri))
    ]
    while wanted:
        target = wanted.pop()
        uri = _uri_of(target)
        if files.get_file_from_path(uri) is not None:
            continue
        content = _listing(target).encode() if target.is_dir() else target.read_bytes()
        files.append(File.generated(config, uri, content=content, inclusion=InclusionLevel.NOT_IN_NAV))
        if uri.endswith(".md"):
            wanted += _outside(content.decode(), _place_of(uri))
    return files


def on_page_markdown(markdown: str, *, page: Page, **_: Any) -> str:  # noqa: ANN401 - what MkDocs passes
    """Points links that leave docs/ at the copies, and lists what the program has."""
    uri = page.file.src_uri
    if uri in _LISTS:
        mark, content = _LISTS[uri]
        above, _, _ = markdown.partition(mark)
        markdown = above + content()
    if uri == "python.md":
        package = importlib.import_module("contend")
        names = sorted((name for name in package.__all__ if not name.startswith("__")), key=str.lower)
        modules = [name for name in names if inspect.ismodule(getattr(package, name))]
        blocks = [f"::: contend.{name}" for name in names if name not in modules]
        for name in modules:
            blocks += [f"## contend.{name}", *(f"::: contend.{name}.{inner}" for inner in _functions(package, name))]
        markdown = markdown.replace("<!-- functions -->", "\n\n".join(blocks))
    here = posixpath.dirname(uri)

    def point(match: re.Match[str]) -> str:
        target = _target(match[2], _place_of(uri))
        if target is None:
            return match[0]
        return f"{match[1]}{posixpath.relpath(_uri_of(target), here or '.')}{match[3]}"

    return _outside_fences(markdown, lambda text: _LINK.sub(point, text))


def _functions(package: ModuleType, name: str) -> list[str]:
    """The functions of a module under their own names, without those that make bytes for commands."""
    module = getattr(package, name)
    functions = {inner: getattr(module, inner) for inner in module.__all__}
    return [
        inner
        for inner, value in functions.items()
        if inspect.isfunction(value)
        and value.__name__ == inner
        and not inner.startswith("draw")
        and "bytes" not in inner
    ]


def _outside_fences(text: str, change: Callable[[str], str]) -> str:
    """Changes a page, but not its code blocks."""
    return "".join(part if part.startswith(("```", "~~~")) else change(part) for part in _FENCE.split(text))


def _place_of(uri: str) -> Path:
    """The file of the repository that a page of the site is."""
    if uri in _PAGES:
        return _ROOT / _PAGES[uri]
    if uri.startswith("source/"):
        path = _ROOT / uri.removeprefix("source/")
        return path if path.exists() else path.parent  # a listing
    return _ROOT / "docs" / uri


def _uri_of(target: Path) -> str:
    """Where a file of the repository is in the site."""
    path = target.relative_to(_ROOT).as_posix()
    for name, source in _PAGES.items():
        if path == source:
            return name
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    return f"source/{path}/index.md" if target.is_dir() else f"source/{path}"


def _target(link: str, page: Path) -> Path | None:
    """The file or folder that a relative link means, if it is in the repository and not a page beside this one."""
    if link.startswith("/"):
        return None
    folder = page if page.is_dir() else page.parent
    target = Path(os.path.normpath(folder / link))
    if not target.is_relative_to(_ROOT) or not target.exists():
        return None
    return None if page.is_relative_to(_ROOT / "docs") and target.is_relative_to(_ROOT / "docs") else target


def _outside(text: str, page: Path) -> Iterator[Path]:
    """The files outside docs/ that a page links to."""
    for part in _FENCE.split(text):
        if not part.startswith(("```", "~~~")):
            for match in _LINK.finditer(part):
                target = _target(match[2], page)
                if target is not None and not target.is_relative_to(_ROOT / "docs"):
                    yield target


def _listing(folder: Path) -> str:
    lines = [f"# {folder.relative_to(_ROOT).as_posix()}/", ""]
    lines += [f"- [{path.name}]({path.name})" for path in sorted(folder.iterdir()) if path.is_file()]
    return "\n".join(lines) + "\n"


# ---- pages from the program ----------------------------------------------------------------------------------------


def _commands() -> str:
    """Every command with its options, as --help has them."""
    import typer
    from typer.cli import get_docs_for_click

    from contend.cli.app import app

    command = typer.main.get_command(app)
    context = typer.Context(command)
    text: str = get_docs_for_click(obj=command, ctx=context, name="contend", title="Commands and options")
    return text.partition("\n\n")[2]


def _catalog(name: str) -> str:
    """Every value of each file of a catalog."""
    catalogs = importlib.import_module("contend.profiles.catalogs")
    lines = []
    catalog = getattr(catalogs, name)
    for entry, path in catalog.available().items():
        if not path.is_relative_to(_ROOT):
            continue  # the user's own, by CONTEND_PROFILES
        _, document = catalog.load(str(path))
        title = document.get("title") or document.get("description") or document.get("models") or ""
        lines += [f"## {entry}", "", _text(title), ""]
        lines += ["| value of | is | source | uncertainty |", "|---|---|---|---|"]
        for parameter in catalogs.parameters(document):
            value = parameter.value if isinstance(parameter.value, str) else json.dumps(parameter.value)
            texts = (f"{value} {parameter.unit}".strip(), parameter.source, parameter.uncertainty)
            lines.append(f"| `{parameter.path}` | {' | '.join(map(_text, texts))} |")
        lines.append("")
    return "\n".join(lines)


def _text(value: object) -> str:
    """Text that means nothing to Markdown."""
    return re.sub(r"([\\`*_{}\[\]<>|])", r"\\\1", str(value).replace("\n", " "))


# Pages that have in the site what the program says from a mark on, in place of what readers of a checkout need.
_LISTS: dict[str, tuple[str, Callable[[], str]]] = {
    "commands.md": ("<!-- commands -->", _commands),
    "machine-profiles.md": ("<!-- profiles -->", lambda: _catalog("PROFILES")),
    "library-presets.md": ("<!-- presets -->", lambda: _catalog("PRESETS")),
}
