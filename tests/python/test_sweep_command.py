"""`contend sweep`: what it writes and says, and what it refuses."""

import dataclasses
import json
import re
from pathlib import Path

import polars as pl
import pytest

import contend
from contend.cli import main
from contend.common.errors import InterruptedRunError
from contend.sweeps.sweep import SweepResults
from sweeping import BASE, GRID, SMALL

pytestmark = [pytest.mark.core, pytest.mark.usefixtures("unrendered")]


def test_a_value_twice_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sweep", "fig5_2a_base", "--grid", "workload.pairs=1,2,1"]) == 2
    assert "workload.pairs: found 1 again; allowed: each value once" in capsys.readouterr().err


def test_a_change_of_the_library_is_made_in_every_preset(tmp_path: Path) -> None:
    rates = {}
    for lock in ("mcs", "ttas"):
        changes = [
            "--set",
            f"library.matching.lock={lock}",
            "--set",
            "workload.pairs=20",
            "--set",
            "workload.iterations=1",
        ]
        words = [*changes, "--replications", "1", "--store", str(tmp_path / "store"), "-q", "-o", str(tmp_path / lock)]
        assert main(["sweep", "fig5_2a_base", "--grid", "library.preset=ob1-base,ob1-cri", *words]) == 0
        rates[lock] = contend.load_results(tmp_path / lock).frame()["message_rate"].to_list()
    assert all(mcs != ttas for mcs, ttas in zip(rates["mcs"], rates["ttas"], strict=True))


class TestCommand:
    def run(self, *words: str) -> int:
        swept = {word.partition("=")[0] for word in words} | (
            {"workload.pairs", "workload.window"} if "--list" in words else set()
        )
        fixed = [f"--set={path}={value}" for path, value in SMALL.items() if path not in swept]
        return main(["sweep", BASE, *fixed, *words])

    def test_of_many_points_the_first_are_printed(
        self,
        small: contend.Scenario,
        tmp_path: Path,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        del small
        monkeypatch.setattr("contend.cli.sweep._MOST_ROWS_SHOWN", 2)
        for values, said in (("1..2", ""), ("1..3", "1 more point; all 3 are in results.parquet"),
                             ("1..4", "2 more points; all 4 are in results.parquet")):  # fmt: skip
            assert self.run("--grid", f"workload.pairs={values}", "--out", str(tmp_path)) == 0
            shown = capsys.readouterr().out
            assert re.findall(r"^ *(\d+) .* s *$", shown, re.MULTILINE) == ["1", "2"]
            assert said in shown
            assert ("more point" in shown) == bool(said)

    def test_results_of_another_sweep_are_not_replaced_without_a_word(
        self, small: contend.Scenario, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        del small
        replaced = f"contend: replaced results of other settings in {tmp_path / 's'}\n"
        for values, said in (("1,2", ""), ("1,2", ""), ("3,4", replaced)):
            assert self.run("--grid", f"workload.pairs={values}", "--out", str(tmp_path / "s")) == 0
            assert [line for line in capsys.readouterr().err.splitlines(keepends=True) if "replaced" in line] == (
                [said] if said else []
            )

    def test_ctrl_c_leaves_complete_results_alone(
        self,
        small: contend.Scenario,
        tmp_path: Path,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        whole = contend.sweep(small, GRID)
        part = dataclasses.replace(whole, points=whole.points[:1], interrupted=True)

        def interrupted(*_: object, **__: object) -> SweepResults:
            raise InterruptedRunError("interrupted", results=part)

        folder = tmp_path / "out"
        grid = ["--grid", "workload.pairs=1,2", "--out", str(folder)]
        with monkeypatch.context() as patch:
            patch.setattr("contend.sweeps.sweep.sweep", interrupted)
            assert self.run(*grid) == 130
        assert not (folder / "interrupted").exists(), "there was nothing to leave alone"
        assert self.run(*grid) == 0
        monkeypatch.setattr("contend.sweeps.sweep.sweep", interrupted)
        for kept in ("results.json", "sweep.json"):  # a sweep of many points has no results.json
            files = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
            capsys.readouterr()
            assert self.run(*grid, "--json") == 130
            output = capsys.readouterr()
            assert f"is in {folder}/interrupted: {folder} has complete results of an earlier run" in output.err
            assert "replaced" not in output.err
            assert set(json.loads(output.out)["files"]) >= {f"{folder}/interrupted/{kept}"}
            assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == files
            assert contend.load_results(folder / "interrupted").interrupted
            (folder / "results.json").unlink(missing_ok=True)

    def test_writes_and_says_what_it_did(
        self, small: contend.Scenario, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        del small
        grid = ["--grid", "workload.pairs=1..3:2", "--grid", "library.preset=ob1-base,ob1-cri", "--out", str(tmp_path)]
        assert self.run(*grid) == 0
        shown = capsys.readouterr().out
        assert "4 points; 8 simulations done, 0 were there already" in shown
        assert "messages/s" in shown
        assert sum("ob1-cri" in line for line in shown.splitlines()) == 2  # a row for each point
        names = {path.name for path in tmp_path.iterdir() if path.is_file()}
        assert names >= {"results.parquet", "samples.parquet", "sweep.json", "results.json", "results.csv", "plot.svg"}
        frame = pl.read_parquet(tmp_path / "results.parquet")
        assert frame["pairs"].to_list() == [1, 1, 3, 3]
        assert json.loads(pl.read_parquet_metadata(tmp_path / "results.parquet")["contend.units"])["message_rate"]
        assert contend.load_results(tmp_path).frame().equals(frame)
        # sweep.json holds a scenario that gives the same points.
        document = json.loads((tmp_path / "sweep.json").read_text())["scenario"]
        assert [point.parameters for point in contend.load(document).points] == [
            point.parameters for point in contend.load_results(tmp_path).points
        ]

    def test_samples_and_lists(self, small: contend.Scenario, tmp_path: Path) -> None:
        del small
        cube = ["--sample", "workload.pairs=1..4", "--sample", "machine.futex.wake_latency=log:1 us..50 us"]
        assert self.run(*cube, "--sample", "library.matching.lock=mcs,ttas", "--samples=6", "--out", str(tmp_path)) == 0
        frame = pl.read_parquet(tmp_path / "results.parquet")
        assert frame.height == 6
        points = frame.select(pl.col("pairs").alias("workload.pairs")).unique(maintain_order=True)
        points.write_csv(tmp_path / "points.csv")
        points.write_parquet(tmp_path / "points.parquet")
        (tmp_path / "points.json").write_text(json.dumps(points.to_dicts()))
        for kind in ("csv", "parquet", "json"):
            out = tmp_path / kind
            assert self.run("--list", str(tmp_path / f"points.{kind}"), "--out", str(out)) == 0
            assert pl.read_parquet(out / "results.parquet")["pairs"].to_list() == points["workload.pairs"].to_list()

    def test_a_failed_point_is_told_with_its_reason(
        self, small: contend.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:  # fmt: skip
        from contend.common.errors import SimulationFailedError
        from contend.engine.runner import CoreEngine

        def fail(*_: object, **__: object) -> str:
            raise SimulationFailedError("deadlock: nobody moves\n  thread a waits")

        del small
        monkeypatch.setattr(CoreEngine, "run_point", fail)
        grid = ["--grid", "workload.pairs=2", "--grid", "library.instances.count=1", "--out", str(tmp_path)]
        assert self.run(*grid) == 1
        assert "failed: pairs=2, instances=1: deadlock: nobody moves\n" in capsys.readouterr().out

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (["--grid", "workload.pairs=0,1"], "--grid workload.pairs: found 0; allowed: a whole number"),
            (["--grid", "workload.pairs=1,1"], "--grid workload.pairs: found 1 again; allowed: each value once"),
            (["--grid", "workload.pears=1,2"], '--grid workload.pears: unknown path "workload.pears"; did you mean'),
            (["--grid", "library.preset=ob1,ch4"], '--grid library.preset: unknown preset "ob1"; available:'),
            (["--grid", "workload.pairs=1,64"], "--grid: 64 pairs need 64 hardware threads"),
            (["--sample", "workload.pairs=3..1", "--samples", "2"], "--sample workload.pairs: the range from 3 to 1"),
            (["--sample", "workload.pairs=0..9", "--samples", "2"], "--sample workload.pairs: found 0; allowed: a"),
            (
                ["--grid", "workload.pears=1,2", "--set", "sweep.workload.pairs=[1,2]"],
                '--grid workload.pears: unknown path "workload.pears"; did you mean',
            ),
            # What the scenario sweeps itself is not of the option.
            (["--grid", "workload.window=1,2", "--set", "sweep.workload.pairs=[0]"], "command line: /sweep/workload.p"),
        ],
    )
    def test_mistakes_of_an_option_name_it(
        self, small: contend.Scenario, capsys: pytest.CaptureFixture[str], words: list[str], message: str
    ) -> None:
        del small
        assert self.run(*words) == 2
        told = capsys.readouterr().err
        assert told.startswith(f"contend: error: {message}")
        assert "again; allowed: each point once" not in told  # which is no mistake, but what follows from one

    def test_what_is_skipped_is_told_with_its_reason(
        self, small: contend.Scenario, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        del small
        grid = ["--skip-invalid", "--out", str(tmp_path), "--grid", "library.matching.lock=mcs"]
        assert self.run(*grid, "--grid", "workload.pairs=2,70,80") == 0
        reason = "70 pairs need 70 hardware threads on each host"
        shown = "library.matching.lock=mcs, workload.pairs=70: " + reason
        assert f"2 combinations make no sense (all in sweep.json), such as {shown}" in capsys.readouterr().out
        skipped = json.loads((tmp_path / "sweep.json").read_text())["skipped"]
        assert [entry["parameters"]["workload.pairs"] for entry in skipped] == [70, 80]
        assert skipped[0]["message"].startswith(reason)
        assert self.run(*grid, "--grid", "workload.pairs=2,70") == 0
        assert f"1 combination makes no sense (in sweep.json): {shown}" in capsys.readouterr().out
        assert self.run(*grid, "--grid", "workload.pairs=2,70", "--array-index", "0", "--array-size", "1") == 0
        assert f"1 combination makes no sense: {shown}" in capsys.readouterr().out

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            (
                "workload.pairs\n1\nabc\n",
                'l.csv:3: workload.pairs: found "abc"; allowed: a whole number from 1 to 4096',
            ),
            ("\ufeffworkload.pairs, workload.window\n\n1,x\n", 'l.csv:3: workload.window: found "x"; allowed: a whole'),
            ("workload.pairs,workload.window\n1,\n", 'l.csv:2: workload.window: found ""; allowed: a whole number'),
            ("workload.pairs\nNaN\n", 'l.csv:2: workload.pairs: found "NaN"; allowed: a whole number'),
            ("workload.pears\n1\n", 'l.csv:2: workload.pears: unknown path "workload.pears"; did you mean'),
            (
                "workload.pairs;workload.window\n1;2\n",
                "l.csv:1: found the column 'workload.pairs;workload.window'; allowed: columns separated by commas",
            ),
            ("workload.pairs,workload.pairs\n1,2\n", "l.csv:1: found the column 'workload.pairs' twice; allowed: each"),
            ("workload.pairs,workload.window\n1\n", "l.csv:2: found 1 value; allowed: 2, one for each column"),
            ('workload.pairs\n"1\n', "l.csv:2: cannot be read as csv (unexpected end of data)"),
            ("workload.pairs\n", "l.csv has a header and no points\n"),
            ("", "l.csv is empty\n"),
            ("\n\n", "l.csv is empty\n"),
            ("workload.pairs\n1\n80\n", "l.csv: 80 pairs need 80 hardware threads"),
        ],
    )
    def test_mistakes_in_a_table(  # noqa: PLR0917
        self, small: contend.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str], content: str, message: str,
    ) -> None:  # fmt: skip
        """The place is that in the file, and rows beside a wrong one are not blamed."""
        del small
        monkeypatch.chdir(tmp_path)
        Path("l.csv").write_text(content)
        assert self.run("--list", "l.csv") == 2
        complaint = capsys.readouterr().err
        assert complaint.startswith(f"contend: error: {message}")
        assert complaint.count("\n") == 1

    def test_the_place_in_a_table_whatever_the_scenario_sweeps(self, small: contend.Scenario, tmp_path: Path) -> None:
        rows = [{"workload.pairs": 1}, {"workload.pairs": "abc"}]
        plan = contend.Samples(rows, "l.csv", [2, 7])
        with pytest.raises(contend.InputError, match=r"^l\.csv:7: workload\.pairs: found \"abc\"; allowed: [^\n]*$"):
            contend.sweep(small.over({"workload.window": [8, 16, 32]}), plan)

    def test_job_array(
        self, small: contend.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:  # fmt: skip
        """The indices one after another, as SLURM would run them, then all put together."""
        del small
        grid = ["--grid", "workload.pairs=1..4", "--store", str(tmp_path / "shared"), "--out", str(tmp_path / "out")]
        monkeypatch.setenv("SLURM_ARRAY_TASK_COUNT", "3")
        for index in range(3):
            assert self.run(*grid, "--array-index", str(index), "--json") == 0
            assert json.loads(capsys.readouterr().out)["simulated"] == (4, 2, 2)[index]
        assert not (tmp_path / "out").exists()
        assert self.run(*grid, "--json") == 0
        assert json.loads(capsys.readouterr().out)["simulated"] == 0
        assert pl.read_parquet(tmp_path / "out" / "results.parquet").height == 4
        assert self.run(*grid, "--array-index", "3") == 2

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (["--grid", "workload.pairs"], "expected dotted.path=values"),
            (["--grid", "workload.pairs=a..b"], "whole numbers"),
            (["--grid", "workload.pairs=20..1"], "a range is of whole numbers, upwards"),
            (["--grid", "workload.pairs=[1,"], "not a JSON list"),
            (
                ["--grid", "workload.pairs=1..200000"],
                "--grid 'workload.pairs=1..200000': 200000 points; allowed: at most 100000 in a sweep",
            ),
            (["--grid", f"workload.pairs=1..1{'0' * 22}"], f": 1{'0' * 22} points; allowed: at most 100000"),
            (["--grid", f"workload.pairs=1..1{'0' * 5000}"], "a range is of whole numbers"),
            (["--grid", "workload.pairs=1..3", "--grid", "workload.pairs=4"], "workload.pairs is given twice"),
            (
                ["--sample", "workload.pairs=1..3", "--sample", "workload.pairs=4..5", "--samples", "2"],
                "--sample workload.pairs is given twice",
            ),
            (["--grid", "workload.pairs=1", "--list", "x.csv"], "exclude each other"),
            (["--sample", "workload.pairs=1..2"], "go together"),
            (["--list", "x.txt"], "is a .csv, .json or .parquet file"),
            (["--list", "x.json"], "cannot read the list of points x.json: no such file"),
            (["--list", "x.csv"], "cannot read the list of points x.csv: no such file"),
            (["--array-size", "2"], "goes with --array-index"),
            (["--array-index", "2"], "SLURM_ARRAY_TASK_COUNT is not set"),
            (["--cluster", "tcp://127.0.0.1:9"], "no Dask scheduler answers"),
            (["--grid", "run.seed=1,2", "--seed", "9"], "--grid gives each point its own run.seed, --seed gives all"),
            (["--grid", "run.replications=1,2", "--replications", "3"], "own run.replications, --replications gives"),
            (["--grid", "workload.iterations=1,2", "--iterations", "3"], "workload.iterations, --iterations gives"),
            (["--grid", "workload.pairs=1,2", "--set", "workload.pairs=3"], "workload.pairs, --set workload.pairs"),
            (
                ["--sample", "workload.pairs=1..2", "--samples", "2", "--set", "workload.pairs=3"],
                "--sample gives each point its own workload.pairs, --set workload.pairs gives all of them one",
            ),
        ],
    )
    def test_mistakes(  # noqa: PLR0917
        self, small: contend.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str], words: list[str], message: str,
    ) -> None:  # fmt: skip
        del small
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr("contend.sweeps.clusters._CONNECT_S", 0.5)
        assert self.run(*words) in (1, 2)
        assert message in capsys.readouterr().err


def test_a_list_and_an_option_that_give_the_same_are_refused(
    small: contend.Scenario, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    del small
    points = tmp_path / "points.csv"
    points.write_text("workload.pairs,run.seed\n1,1\n2,2\n")
    assert main(["sweep", "fig5_2a_base", "--list", str(points), "--seed", "3"]) == 2
    assert f"--list {points} gives each point its own run.seed, --seed gives all" in capsys.readouterr().err
