import json
import subprocess
from pathlib import Path

import pytest

from contend.common.errors import ContendError
from contend.upkeep import testing
from contend.upkeep.testing import Counts, fuzz, read_counts
from fakes import REPOSITORY


def test_reads_both_runners_reports(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    report.write_text(
        '<testsuites><testsuite><testcase name="a"/><testcase name="b"><failure/></testcase>'
        '<testcase name="c"><skipped/></testcase><testcase name="d"><error/></testcase></testsuite></testsuites>'
    )
    assert read_counts(report) == Counts(1, 2, 1)
    report.write_text('<testsuite><testcase name="a" status="run"/><testcase name="b" status="disabled"/></testsuite>')
    assert read_counts(report) == Counts(1, 0, 1)
    assert str(Counts(1, 2, 3) + Counts(1, 1, 1)) == "2 passed, 3 failed, 4 skipped"


def test_no_report_is_a_failure(tmp_path: Path) -> None:
    assert read_counts(tmp_path / "none.xml") == Counts(failed=1)
    (tmp_path / "half.xml").write_text("<testsuite>")
    with pytest.raises(ContendError, match="not a test report"):
        read_counts(tmp_path / "half.xml")


@pytest.mark.parametrize("status", [0, 77])
def test_fuzzing_keeps_what_it_learns_out_of_the_sources(
    status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "build" / "fuzz" / "bin" / "contend_scenario_fuzz"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\necho "$@"\nexit {status}\n')
    program.chmod(0o755)
    monkeypatch.setattr(testing, "require_repository", lambda _: tmp_path)
    monkeypatch.setattr(testing, "build", lambda *_: None)
    assert fuzz(7, None) == int(status != 0)
    out, err = capfd.readouterr()
    words = out.split()
    assert "-max_total_time=7" in words
    folders = [word for word in words if not word.startswith("-")]
    assert folders[0] == str(tmp_path / "build" / "fuzz" / "corpus")  # libFuzzer writes to the first one only
    assert all((REPOSITORY / Path(one).relative_to(tmp_path)).is_dir() for one in folders[1:])
    assert ("the loader failed" in err) == (status != 0)


@pytest.mark.parametrize("preset", ["fuzz", "dev", "test"])
def test_presets_that_build_tests_have_them(preset: str) -> None:
    presets = {
        one["name"]: one for one in json.loads((REPOSITORY / "CMakePresets.json").read_text())["configurePresets"]
    }

    def value(name: str, variable: str) -> str | None:
        one = presets[name]
        own = one.get("cacheVariables", {}).get(variable)
        return own if own is not None or "inherits" not in one else value(one["inherits"], variable)

    assert value(preset, "CONTEND_TESTS") == "ON"


def test_tests_can_be_compiled_file_by_file(tmp_path: Path) -> None:
    # Without the presets nothing says whether files are compiled together.
    command = ["cmake", "-S", REPOSITORY, "-B", tmp_path, "-G", "Ninja", "-DCONTEND_TESTS=ON", "-DCONTEND_PYTHON=OFF"]
    answer = subprocess.run([*command, "-DCONTEND_SIMGRID=OFF"], capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
