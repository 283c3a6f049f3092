"""Makes the notebooks (.ipynb) of their texts (.py): runs them, and keeps their outputs small and free of chance.

    .venv/bin/python notebooks/execute.py [NAME.py ...]

The texts are what one edits; jupytext keeps both in step in an editor. See README.md.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import jupytext
import nbformat
from nbclient import NotebookClient

FOLDER = Path(__file__).resolve().parent
_TIMEOUT_S = 300


def execute(text: Path) -> Path:
    """Runs one notebook and writes it with its outputs."""
    notebook: Any = jupytext.read(text)
    NotebookClient(notebook, timeout=_TIMEOUT_S, resources={"metadata": {"path": str(FOLDER)}}).execute()
    for number, cell in enumerate(notebook.cells, start=1):
        cell["id"] = f"cell-{number}"
        cell.metadata.pop("execution", None)
    notebook.metadata.pop("language_info", None)
    target = text.with_suffix(".ipynb")
    nbformat.write(notebook, target)
    return target


def main() -> None:
    """Runs those named, or all."""
    wanted = [FOLDER / Path(name).name for name in sys.argv[1:]] or sorted(FOLDER.glob("[0-9]*.py"))
    for text in wanted:
        target = execute(text)
        print(f"{target.name}: {target.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
