"""What is printed is what was meant, whatever the terminal and the names."""

import pytest

from contend.tables import titled_table
from contend.terminal import stdout_console

Capture = pytest.CaptureFixture[str]


def test_names_in_brackets_and_colons_are_printed_as_they_are(capsys: Capture) -> None:
    table = titled_table("my [draft]")
    table.add_column("lock [of instances]")
    table.add_row("base [mcs]")
    table.add_row("a:warning:b")
    stdout_console().print(table)
    text = capsys.readouterr().out
    for name in ("my [draft]", "lock [of instances]", "base [mcs]", "a:warning:b"):
        assert name in text


@pytest.mark.parametrize("columns", ["", "wide", "0", "-5", "80.5"])
def test_a_width_that_is_none_does_not_count(columns: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert stdout_console().width == 200
    monkeypatch.setenv("COLUMNS", "72")
    assert stdout_console().width == 72
