"""The notebooks: texts and outputs in step, small, on the public functions only, with a conclusion."""

import ast
from pathlib import Path
from typing import Any

import pytest

import contend
from fakes import REPOSITORY

jupytext = pytest.importorskip("jupytext")
TEXTS = sorted((REPOSITORY / "notebooks").glob("[0-9]*.py"))
PUBLIC_MODULES = {"IPython.display", "contend", "json", "pathlib", "polars"}


def cells(path: Path) -> list[tuple[str, str]]:
    notebook: Any = jupytext.read(path)
    return [(cell.cell_type, cell.source) for cell in notebook.cells]


def test_there_are_six() -> None:
    assert len(TEXTS) == 6


@pytest.mark.parametrize("text", TEXTS, ids=lambda path: path.stem)
class TestNotebook:
    def test_outputs_belong_to_the_text(self, text: Path) -> None:
        assert cells(text) == cells(text.with_suffix(".ipynb")), "run notebooks/execute.py"

    def test_outputs_are_there_and_small(self, text: Path) -> None:
        path = text.with_suffix(".ipynb")
        notebook: Any = jupytext.read(path)
        code = [cell for cell in notebook.cells if cell.cell_type == "code"]
        outputs = [output for cell in code for output in cell.outputs]
        assert outputs, "run notebooks/execute.py"
        assert not [output for output in outputs if output.output_type == "error" or output.get("name") == "stderr"]
        assert path.stat().st_size < 600_000

    def test_uses_public_functions_only(self, text: Path) -> None:
        for node in ast.walk(ast.parse(text.read_text())):
            if isinstance(node, ast.Import):
                assert {alias.name for alias in node.names} <= PUBLIC_MODULES
            elif isinstance(node, ast.ImportFrom):
                assert node.module in PUBLIC_MODULES
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "contend":
                assert node.attr in contend.__all__

    def test_the_text_is_a_program(self, text: Path) -> None:
        """It runs with plain Python as well, where nobody has imported what notebooks have by themselves."""
        tree = ast.parse(text.read_text())
        used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
        assert "display" not in used - imported

    def test_ends_with_a_conclusion(self, text: Path) -> None:
        kind, source = cells(text)[-1]
        assert kind == "markdown"
        assert source.startswith("## What to take home")
        assert len(source) > 300
