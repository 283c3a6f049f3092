from pathlib import Path

import pytest

from contend.errors import ContendError
from contend.testing import Counts, read_counts


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
