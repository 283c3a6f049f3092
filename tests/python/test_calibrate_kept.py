"""What a calibration that was killed or ended early leaves, and which fits of a profile are kept."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from calibrating import dataset, time_of, write
from contend.calibrate import options
from contend.cli import main
from contend.measure.journal import read_entries
from synthetic import base, calibration, files


def lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def wait_until(condition: Callable[[], bool], seconds: float = 120.0) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if condition():
            return True
        time.sleep(0.01)
    return False


def test_fits_are_kept_or_none_are_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "made.json"
    out.write_text("{}")
    words = calibration(tmp_path, tmp_path, out, tmp_path / "work")
    assert main([*words, "--keep-fits", "--direct"]) == 2
    assert "--direct makes no fits, and --keep-fits leaves thread counts out of those" in capsys.readouterr().err
    assert out.read_text() == "{}"


class TestWithTheRealCore:
    pytestmark = pytest.mark.core

    @pytest.mark.slow
    def test_killed_at_any_moment_it_goes_on_and_ends_the_same(self, tmp_path: Path) -> None:
        folder, mappings, _ = files(tmp_path)
        whole = tmp_path / "whole" / "made.json"
        whole.parent.mkdir()
        words = [sys.executable, "-m", "contend"]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}

        def run(out: Path, work: Path, kill_after: int | None) -> str:
            process = subprocess.Popen(
                [*words, *calibration(folder, mappings, out, work), "--starts", "1", "--no-posterior"],
                env=environment, stdout=subprocess.PIPE, text=True,
                stderr=subprocess.DEVNULL,
            )  # fmt: skip
            if kill_after is not None:
                journal = work / "journal.jsonl"
                assert wait_until(lambda: lines(journal) > kill_after or process.poll() is not None)
                process.send_signal(signal.SIGKILL)
            text, _ = process.communicate(timeout=240)
            if kill_after is None:
                assert process.returncode == 0
            return text

        run(whole, tmp_path / "w1", None)
        parted = tmp_path / "parted" / "made.json"
        parted.parent.mkdir()
        known = 0
        for kill_after in (5, 400):
            run(parted, tmp_path / "w2", kill_after)
            assert not list(parted.parent.iterdir())
            entries, _ = read_entries((tmp_path / "w2" / "journal.jsonl").read_bytes())
            assert len(entries) > known
            known = len(entries)
        text = run(parted, tmp_path / "w2", None)
        everything = lines(tmp_path / "w1" / "journal.jsonl")
        assert f"\n{everything - known} simulations" in f"\n{text}"
        assert lines(tmp_path / "w2" / "journal.jsonl") == everything
        assert parted.read_bytes() == whole.read_bytes()

    def test_a_search_that_its_budget_ended_ends_there_again(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Whatever was simulated before, and with however many jobs."""
        folder, mappings, _ = files(tmp_path)
        monkeypatch.setattr(options, "STEPS_PER_SECOND", options.STEPS_PER_SECOND // 400)
        words = ["--no-posterior", "--budget", "0.1", "-q"]
        made = []
        for name, work, jobs in (("first", "work", 2), ("again", "work", 2), ("alone", "another", 1)):
            (tmp_path / name).mkdir()
            out = tmp_path / name / "made.json"
            assert main([*calibration(folder, mappings, out, tmp_path / work), *words, "-j", str(jobs)]) == 0
            made.append((out.read_bytes(), lines(tmp_path / work / "journal.jsonl")))
        record = json.loads(made[0][0])["calibration"]
        assert record["options"]["budget_s"] == 6
        ended = [start["ended"] for start in record["fits"][0]["search"]["starts"]]
        assert ended[-2:] == ["the budget is spent", "base"]
        assert made[0] == made[1] == made[2]

    def test_fits_that_are_kept_are_upon_the_same_profile(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        folder, mappings, _ = files(tmp_path)
        out, other = tmp_path / "made.json", tmp_path / "other.json"
        words = [*calibration(folder, mappings, out, tmp_path / "work"), "--no-posterior", "--starts", "1", "-q"]
        assert main(words) == 0
        other.write_text(json.dumps(base() | {"name": "other"}))
        made = out.read_bytes()
        words[words.index("--base") + 1] = str(other)
        assert main([*words, "--keep-fits"]) == 2
        assert "made.json are upon the profile alembert, not other" in capsys.readouterr().err
        assert out.read_bytes() == made

    def test_fits_that_are_kept_are_made_from_the_same_contents(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """Base profile, mapping and microbenchmarks count by what is in them; another build of the core is said."""
        folder, mappings, _ = files(tmp_path)
        calls = dataset("calls", {"kind": "primitives"}, [time_of(2e-7, 2e-7, primitive="irecv")], transport="shm")
        calls["machine"] = json.loads(next(folder.iterdir()).read_text())["machine"]
        measured = write(folder, calls)
        profile, out = tmp_path / "base.json", tmp_path / "made.json"
        profile.write_text(json.dumps(base()))
        words = [*calibration(folder, mappings, out, tmp_path / "work"), "--no-posterior", "--starts", "1", "-q"]
        words[words.index("--base") + 1] = str(profile)
        assert main(words) == 0
        made = json.loads(out.read_text())

        def refused(message: str) -> None:
            before = out.read_bytes()
            assert main([*words, "--keep-fits"]) == 2
            assert message in capsys.readouterr().err
            assert out.read_bytes() == before

        other_base = base()
        other_base["nic"]["post"]["value"] = "61 ns"
        other_mapping = json.loads(mappings.read_text())
        other_mapping["layers"]["fabric"]["latency"] = "3 us"
        other_calls = calls | {"points": [time_of(3e-7, 3e-7, primitive="irecv")]}
        for path, content, name in (
            (profile, other_base, "the base profile"),
            (mappings, other_mapping, f"the mapping {other_mapping['name']}"),
            (measured, other_calls, "the dataset calls"),
        ):
            text = path.read_text()
            path.write_text(json.dumps(content))
            refused(f"made.json were made with other content of {name}\n")
            path.write_text(text)
        assert main([*words, "--keep-fits"]) == 0
        quiet = capsys.readouterr()
        assert not quiet.err
        assert not quiet.out
        assert main([*words, "--keep-fits", "--json"]) == 0
        assert json.loads(capsys.readouterr().out) == json.loads(out.read_text())["calibration"]
        made["calibration"]["made_from"]["core"] = "0.0-another"
        out.write_text(json.dumps(made))
        assert main([*words, "--keep-fits"]) == 0
        assert "another build of the simulator made the fits of" in capsys.readouterr().err
        del made["calibration"]["made_from"]
        out.write_text(json.dumps(made))
        refused("does not say what its fits were made from")

    def test_fits_that_are_kept_are_of_the_same_samples(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        folder, mappings, _ = files(tmp_path)
        out = tmp_path / "made.json"
        words = [*calibration(folder, mappings, out, tmp_path / "work"), "--no-posterior", "--starts", "1", "-q"]
        assert main(words) == 0
        (path,) = folder.glob("*shared*.json")
        document = json.loads(path.read_text())
        path.write_text(json.dumps(document, indent=7))  # the same in another dress
        assert main([*words, "--keep-fits"]) == 0
        made = out.read_bytes()
        path.write_text(json.dumps(document | {"machine": {**document["machine"], "id": "another"}}))
        assert main([*words, "--keep-fits"]) == 2
        assert f"made.json are of other samples than {document['dataset']} has" in capsys.readouterr().err
        for point in document["points"]:
            point["message_rate"]["samples"] = [10 * sample for sample in point["message_rate"]["samples"]]
        path.write_text(json.dumps(document))
        assert main([*words, "--keep-fits"]) == 2
        assert f"made.json are of other samples than {document['dataset']} has" in capsys.readouterr().err
        assert out.read_bytes() == made
