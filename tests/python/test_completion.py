"""Shell completion, with the shells that are here."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from contend.cli import main
from contend.cli.completion import VARIABLE, preset_names, profile_names, scenario_names
from fakes import REPOSITORY

if TYPE_CHECKING:
    from pathlib import Path

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A command `contend` that runs this Python."""
    path = tmp_path / "bin" / "contend"
    path.parent.mkdir()
    path.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m contend "$@"\n')
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_scripts(capsys: Capture, shell: str) -> None:
    assert main(["completion", shell]) == 0
    text = capsys.readouterr().out
    assert VARIABLE in text
    assert f"complete_{shell}" in text
    assert VARIABLE not in os.environ
    if shell != "bash":
        assert str(REPOSITORY / "contend") in text, "in a checkout the command need not be on the path"


def test_unknown_shell(capsys: Capture) -> None:
    assert main(["completion", "csh"]) == 2
    assert "csh" in capsys.readouterr().err


def complete_in_bash(program: Path, line: str) -> list[str]:
    """What bash offers at the end of a line."""
    script = subprocess.run([program, "completion", "bash"], capture_output=True, text=True, check=True).stdout
    words = line.split(" ")
    quoted = " ".join(f"'{word}'" for word in words)
    asked = f"COMP_WORDS=({quoted})\nCOMP_CWORD={len(words) - 1}\n_contend_completion contend"
    commands = f"{script}\n{asked}\nprintf '%s\\n' \"${{COMPREPLY[@]}}\""
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    answer = subprocess.run(
        ["bash", "--norc", "-c", commands], capture_output=True, text=True, check=True, env=os.environ | {"PATH": path}
    )
    assert answer.stderr == ""
    return answer.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_bash_completes(program: Path) -> None:
    assert {"run", "report", "explain", "plot"} <= set(complete_in_bash(program, "contend "))
    assert complete_in_bash(program, "contend rep") == ["report"]
    assert "--no-speedups" in complete_in_bash(program, "contend report --no-")
    assert complete_in_bash(program, "contend run fig5_2a_p") == ["fig5_2a_process_mode"]
    assert set(complete_in_bash(program, "contend profile show alem")) == {"alembert"}


def test_names() -> None:
    assert "fig5_2a_base" in scenario_names("fig5")
    assert scenario_names("nothing") == []
    assert "alembert" in profile_names("")
    assert "ob1-base" in preset_names("ob1")


@pytest.mark.skipif(shutil.which("zsh") is None, reason="no zsh")
def test_zsh_reads_its_script(program: Path) -> None:
    script = subprocess.run([program, "completion", "zsh"], capture_output=True, text=True, check=True).stdout
    subprocess.run(["zsh", "-n"], input=script, text=True, check=True)


@pytest.mark.skipif(shutil.which("fish") is None, reason="no fish")
def test_fish_reads_its_script(program: Path) -> None:
    script = subprocess.run([program, "completion", "fish"], capture_output=True, text=True, check=True).stdout
    subprocess.run(["fish", "--no-execute"], input=script, text=True, check=True)
