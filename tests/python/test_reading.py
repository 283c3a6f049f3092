import os
import socket
from pathlib import Path

import pytest

from contend.common import reading
from contend.common.errors import ContendError, InputError


def test_unreadable_text(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    with pytest.raises(ContendError, match="not UTF-8"):
        reading.read_text(tmp_path / "binary", "scenario")
    with pytest.raises(ContendError, match="cannot read the scenario"):
        reading.read_text(tmp_path / "none", "scenario")


def test_what_is_no_regular_file_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "socket"))
        for file in (Path("/dev/null"), tmp_path / "socket", tmp_path / "pipe", tmp_path / "link"):
            with pytest.raises(InputError, match=r"cannot read the scenario .*: it is not a regular file"):
                reading.read_text(file, "scenario")
            assert reading.keys_of(file) == frozenset()
    with pytest.raises(InputError, match="that is a folder"):
        reading.read_text(tmp_path, "scenario")
    with pytest.raises(InputError, match="no such file"):
        reading.read_text(tmp_path / "none", "scenario")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"a": {"x": 1,\n   "b": "x"}, "a": 2}', 'name:2:15: the key "a" occurs twice in one object'),
        ('[["b", "b"], {"x": 1, "y": ["x", {"x": "x"}],\n"\\u0078": 2}]', 'name:2:1: the key "x" occurs twice'),
        ('{"a\\u001b": 1, "a\\u001b": 2}', r'the key "a\\u001b" occurs twice'),
        ('{"a": "NaN, \\"Infinity",\n "b": [NaN]}', "name:2:8: not JSON: found NaN; allowed: a finite number"),
        ("-Infinity", "name:1:1: not JSON: found -Infinity"),
        ("{", r"name:1:2: not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ("1" * 5000, "not JSON that can be read"),
    ],
)
def test_what_is_wrong_with_a_json_text(text: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        reading.parse_json(text, "name")
