"""The command line: `contend COMMAND ...`."""

from contend.cli.app import main

__all__ = ["main"]
