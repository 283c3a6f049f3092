"""Commands have one thread for linear algebra, unless the user wants more."""

import os
import subprocess
import sys

import pytest

from contend.common.linear_algebra import use_one_thread

# Commands import NumPy after this.
_PROGRAM = """
import os, sys
from contend import __main__

sys.argv[1:] = ["--version"]
try:
    __main__.run()
except SystemExit:
    assert "numpy" not in sys.modules
    print(os.environ.get("OPENBLAS_NUM_THREADS"))
"""


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, "1"),
        ({"OPENBLAS_NUM_THREADS": ""}, "1"),
        ({"OPENBLAS_NUM_THREADS": "3"}, "3"),
        ({"OMP_NUM_THREADS": "3"}, None),
        ({"GOTO_NUM_THREADS": "3"}, None),
    ],
)
def test_what_the_user_sets_stays(given: dict[str, str], expected: str | None) -> None:
    environment = dict(given)
    use_one_thread(environment)
    assert environment.get("OPENBLAS_NUM_THREADS") == expected


def test_commands_have_one_thread() -> None:
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    words = [sys.executable, "-c", _PROGRAM]
    done = subprocess.run(words, capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.splitlines()[-1] == "1"
