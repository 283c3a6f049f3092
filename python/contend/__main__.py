"""Lets `python -m contend` be the command line."""

import sys

from contend.cli import main

if __name__ == "__main__":
    sys.exit(main())
