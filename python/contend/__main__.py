"""Lets `python -m contend` be the command line."""

import sys

if __name__ == "__main__":
    try:
        from contend.cli import main

        code = main()
    except KeyboardInterrupt:  # before the command line could take it
        print("contend: interrupted", file=sys.stderr)
        code = 130
    sys.exit(code)
