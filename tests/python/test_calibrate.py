"""`contend calibrate` from synthetic data to a profile, what a kill leaves, and the stages one by one."""

import json
import math
import time
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import contend
from calibrating import dataset, mapping, rates, time_of, write
from contend.calibrate.evaluations import Evaluator, Task
from contend.calibrate.parts import components
from contend.calibrate.problem import Builder
from contend.calibrate.recovery import MemoryLog
from contend.cli import main
from contend.common.documents import set_path
from contend.common.errors import InputError
from contend.datasets.reading import read_dataset, read_datasets
from contend.engine.runner import make_engine
from contend.profiles.catalogs import PROFILES
from fakes import REPOSITORY
from synthetic import SMALL, base, calibration, files


class TestWithTheRealCore:
    pytestmark = pytest.mark.core

    def test_a_runaway_candidate_ends_and_does_not_hang_a_fit(self, tmp_path: Path) -> None:
        points = [
            (one, point)
            for one in [read_dataset(write(tmp_path, rates("a", {1: [1e5, 1.1e5]})))]
            for point in one.points
        ]
        limited = Builder(base(), [mapping()], messages=200, steps_per_operation=100).build(points)
        (target,) = limited.targets
        assert target.config["run"]["steps_per_operation"] == 100
        # Who waits polls more often before a message comes than a simulation may have steps.
        endless = json.loads(limited.task(target, limited.base, 0).config)
        set_path(endless, "fabric.latency", "1 s")
        set_path(endless, "run.coalesce_idle_polls", False)
        log = MemoryLog()
        evaluator = Evaluator(make_engine("contend"), log, jobs=2)
        begin = time.monotonic()
        values = evaluator.run([limited.task(target, limited.base, 0), Task(json.dumps(endless), 0)])
        assert time.monotonic() - begin < 60
        assert math.isfinite(values[0])
        assert math.isnan(values[1])
        assert sum(entry["value"] is None for entry in log.entries) == 1  # it is not tried again

    @pytest.mark.slow
    def test_from_datasets_to_a_profile_and_predictions(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        folder, mappings, truth = files(tmp_path)
        out = tmp_path / "made.json"
        assert main(calibration(folder, mappings, out, tmp_path / "work")) == 0
        text = capsys.readouterr().out
        assert "not seen by the data" in text
        profile = json.loads(out.read_text())
        schema = json.loads((REPOSITORY / "schemas/profile.schema.json").read_text())
        assert not list(Draft202012Validator(schema).iter_errors(profile))
        assert profile["name"] == "made"
        entry = profile["software"]["receive_call"]
        assert entry["basis"] == "calibrated"
        assert entry["identified_by"].startswith("global fit: identified")
        low, high = (contend_seconds(value) for value in entry["range"])
        assert low < truth["software.receive_call"] < high
        assert profile["nic"]["registration"]["value"] == base()["nic"]["registration"]["value"]
        assert "not seen by the data" in profile["nic"]["registration"]["identified_by"]
        split = profile["calibration"]["split"]
        assert split["threads"] == [1, 4]
        sides = [
            {(one["dataset"], point["pairs"]) for one in split[side] for point in one["points"]}
            for side in ("calibration", "held_out")
        ]
        assert len(sides[0]) == len(sides[1]) == 4
        assert not sides[0] & sides[1]
        fit = profile["calibration"]["fits"][0]
        assert fit["posterior"]["rhat"] <= 1.05
        assert fit["error_pct"]["median"] < 10
        # The profile is one: a scenario can use it.
        scenario = tmp_path / "s.json"
        scenario.write_text(json.dumps({
            "schema_version": 1, "name": "s", "machine": {"profile": "./made.json"}, "library": {"preset": "ob1-base"},
            "fabric": {"latency": "1 us", "bandwidth": "10 GB/s"},
        }))  # fmt: skip
        assert contend.resolve(scenario).points
        self.check_validation(folder, mappings, out, tmp_path)

    def check_validation(self, folder: Path, mappings: Path, profile: Path, tmp_path: Path) -> None:
        result_file = tmp_path / "result.json"
        words = ["validate", str(profile), str(folder), "--mapping", str(mappings), "--work", str(tmp_path / "v"),
                 "--json", str(result_file), "--out", str(tmp_path / "pictures"), "--messages", "600", "--draws", "8",
                 "-q"]  # fmt: skip
        assert main(words) == 0
        result = json.loads(result_file.read_text())
        assert sorted(point["threads"] for point in result["points"] if point["held_out"]) == [2, 2, 8, 8]
        assert result["summary"]["held_out"]["median_abs_error_pct"] < 10
        assert result["summary"]["held_out"]["coverage_95"] >= 0.5
        names = {path.name for path in (tmp_path / "pictures").iterdir()}
        assert {"validation.json", "validation.md", "agreement.png", "curves.svg", "residuals.png"} <= names

    def test_without_a_posterior_no_interval_is_claimed(self, tmp_path: Path) -> None:
        folder, mappings, _ = files(tmp_path)
        out = tmp_path / "made.json"
        words = [*calibration(folder, mappings, out, tmp_path / "work"), "--no-posterior", "--starts", "1", "-q"]
        assert main(words) == 0
        entry = json.loads(out.read_text())["software"]["receive_call"]
        assert entry["uncertainty"].startswith("not known")
        assert "not judged without a posterior" in entry["identified_by"]

    def test_parameters_that_share_no_point_are_fitted_apart(self, tmp_path: Path) -> None:
        write(tmp_path, rates("a", {1: [5e5]}))
        write(tmp_path, rates("b", {1: [5e5]}) | {"transport": "shm"})
        unknowns = [
            {"path": "machine.software.receive_call", "scope": "library", "range": ["1 ns", "1 us"]},
            {"path": "machine.nic.post", "scope": "library-transport", "range": ["1 ns", "1 us"]},
        ]
        shared = mapping(transports=["*"], unknowns=unknowns)
        apart = mapping(transports=["*"], unknowns=unknowns[1:])
        points = [(dataset, point) for dataset in read_datasets([tmp_path]) for point in dataset.points]
        one = Builder(base(), [shared], messages=200).build(points)
        assert [p.name for p in one.parameters] == [
            "software.receive_call@alib",
            "nic.post@alib/tcp",
            "nic.post@alib/shm",
        ]
        assert len(components(one)) == 1
        other = components(Builder(base(), [apart], messages=200).build(points))
        assert [[p.name for p in part.parameters] for part in other] == [["nic.post@alib/tcp"], ["nic.post@alib/shm"]]

    def test_what_a_probe_of_the_machine_says_for_all_libraries_is_fitted_to_none(self, tmp_path: Path) -> None:
        write(tmp_path, rates("a", {1: [5e5]}))
        points = [(dataset, point) for dataset in read_datasets([tmp_path]) for point in dataset.points]
        unknowns = [
            {"path": path, "scope": "library-transport", "range": ["100 ns", "4 us"]}
            for path in ("machine.tcp.acknowledge", "machine.tcp.send_call")
        ]
        of_machine = [(str(one["path"]), "machine") for one in unknowns]
        builder = Builder(PROFILES.load("vm-2core")[1], [mapping(unknowns=unknowns)], messages=200)
        assert [p.name for p in builder.build(points).parameters] == [
            "tcp.acknowledge@alib/tcp",
            "tcp.send_call@alib/tcp",
        ]
        # A send has the library's own code in it as well.
        assert [p.name for p in builder.build(points, of_machine).parameters] == ["tcp.send_call@alib/tcp"]

    def test_what_is_not_fitted_has_the_value_of_the_base_beyond_its_range(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder, mappings, _ = files(tmp_path)
        document = json.loads(mappings.read_text())
        # Both are paid by every message; the second one's range is too narrow to be seen, and far from the base.
        document["unknowns"] = [
            {"path": "machine.software.receive_call", "range": ["100 ns", "1.2 us"]},
            {"path": "machine.nic.post", "range": ["1 ps", "2 ps"]},
        ]
        mappings.write_text(json.dumps(document))
        used: list[Any] = []
        simulate = Evaluator._one

        def noted(evaluator: Evaluator, task: Task) -> float | str:
            used.append(json.loads(task.config)["machine"]["nic"]["post"])
            return simulate(evaluator, task)

        monkeypatch.setattr(Evaluator, "_one", noted)
        words = [*calibration(folder, mappings, tmp_path / "made.json", tmp_path / "work"), "--no-posterior", "-q"]
        assert main([*words, "--starts", "1", "--budget", "0.1"]) == 0
        made = json.loads((tmp_path / "made.json").read_text())
        (fit,) = made["calibration"]["fits"]
        assert fit["fitted"] == ["software.receive_call"]
        assert made["nic"]["post"]["value"] == base()["nic"]["post"]["value"]
        assert contend_seconds(used[0]) < 1e-11  # of the screening
        assert contend_seconds(used[-1]) == pytest.approx(contend_seconds(made["nic"]["post"]["value"]))

    def test_points_on_which_nothing_acts_are_listed_as_not_fitted(self, tmp_path: Path) -> None:
        folder, mappings, _ = files(tmp_path)
        write(folder, rates("plain", {1: [5e5], 2: [4e5]}, window=SMALL.window))
        both = tmp_path / "mappings"
        both.mkdir()
        (both / "a.json").write_text(mappings.read_text())
        (both / "b.json").write_text(mapping(unknowns=[]).model_dump_json())
        out = tmp_path / "made.json"
        words = [*calibration(folder, both, out, tmp_path / "work"), "--no-posterior", "--starts", "1", "-q"]
        assert main([*words, "--budget", "0.1"]) == 0
        assert json.loads(out.read_text())["calibration"]["not_fitted"] == [
            {"dataset": "plain", "parameters": {"pairs": 1}, "reason": "its mapping leaves nothing to fit"}
        ]
        assert main([*words, "--budget", "0.1", "--keep-fits"]) == 0

    def test_simulations_are_as_long_whatever_a_parameter_is_called(self, tmp_path: Path) -> None:
        document = rates("a", {8: [5e5]})
        document["points"].append(document["points"][0] | {"parameters": {"workload.pairs": 8}})
        one = read_dataset(write(tmp_path, document))
        problem = Builder(base(), [mapping()], messages=5 * 8 * 128).build([(one, point) for point in one.points])
        assert [target.config["workload"]["iterations"] for target in problem.targets] == [5, 5]

    def test_what_cannot_be_simulated_is_listed_with_the_reason(self, tmp_path: Path) -> None:
        write(tmp_path, rates("a", {1: [5e5], 64: [1e5]}))
        write(tmp_path, rates("b", {1: [5e5]}) | {"transport": "pigeons"})
        points = [(dataset, point) for dataset in read_datasets([tmp_path]) for point in dataset.points]
        problem = Builder(base(), [mapping()], messages=200).build(points)
        reasons = {f"{one.dataset.name}{one.point.parameters['pairs']}": one.reason for one in problem.unpredicted}
        assert len(problem.targets) == 1
        assert "cores" in reasons["a64"]
        assert reasons["b1"] == "no mapping for alib over pigeons"

    @pytest.mark.parametrize("more", [[], ["--no-posterior"]])
    def test_points_that_cannot_be_simulated_do_not_end_a_calibration(
        self, more: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        folder, mappings, _ = files(tmp_path)
        (path,) = folder.glob("*shared*.json")
        document = json.loads(path.read_text())
        wrong = document["points"][0]
        wrong["time_per_operation"] = wrong.pop("message_rate") | {"unit": "s"}
        path.write_text(json.dumps(document))
        simulate = Evaluator._one

        def fails_with_four(evaluator: Evaluator, task: Task) -> tuple[float | str, int]:
            workload = json.loads(task.config)["workload"]
            if workload["pairs"] == 4 and not workload["allow_overtaking"]:
                return "the simulation ended with an error", 10_000
            return simulate(evaluator, task)

        monkeypatch.setattr(Evaluator, "_one", fails_with_four)
        out = tmp_path / "made.json"
        words = [*calibration(folder, mappings, out, tmp_path / "work"), "--starts", "1", "--budget", "0.1", "-q"]
        assert main([*words, *more]) == 0
        record = json.loads(out.read_text())["calibration"]
        assert [(one["dataset"], one["parameters"]["pairs"], one["reason"]) for one in record["not_fitted"]] == [
            (document["dataset"], 1, "the result of a scenario has no time_per_operation"),
            (document["dataset"], 4, "failed at all 24 places of the screening: the simulation ended with an error"),
        ]
        assert [point["parameters"]["pairs"] for point in record["fits"][0]["points"]] == [1, 4]
        assert document["dataset"] not in {point["dataset"] for point in record["fits"][0]["points"]}
        assert main([*words, *more, "--keep-fits"]) == 0

    def test_what_a_calibrated_base_knows_stays(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        entry = base()["nic"]["post"]
        known = base() | {"calibration": {
            "scopes": {
                "other": {"machine.nic.post": entry | {"value": "2 us", "range": ["1 us", "3 us"]}},
                "alib": {"machine.nic.post": entry, "machine.software.receive_call": entry},
            },
            "split": {"calibration": [
                {"dataset": "a", "machine": "box", "sha256": "", "points": [{"pairs": 2}]},
                {"dataset": "b", "machine": "box", "sha256": "", "points": [{"pairs": 8}]},
            ]},
        }}  # fmt: skip
        (tmp_path / "known.json").write_text(json.dumps(known))
        write(tmp_path, rates("a", {1: [5e5], 2: [4e5], 4: [3e5]}))
        unknowns = [{"path": "machine.software.receive_call", "range": ["1 ns", "9 us"]}]
        (tmp_path / "m.json").write_text(mapping(unknowns=unknowns).model_dump_json())
        words = ["calibrate", "a.json", "--base", "known.json", "-o", "made.json", "--mapping", "m.json", "-q",
                 "--no-posterior", "--starts", "1", "--messages", "200", "--budget", "0.1"]  # fmt: skip
        assert main(words) == 0
        record = json.loads((tmp_path / "made.json").read_text())["calibration"]
        assert record["fits"][0]["fitted"] == ["software.receive_call"]
        # What was fitted for the machine must hold for the points that it was fitted to.
        before = known["calibration"]["scopes"]
        assert record["scopes"] == {
            "other": before["other"],
            "alib": {"machine.nic.post": before["alib"]["machine.nic.post"]},
        }
        sides = {
            side: {one["dataset"]: [point["pairs"] for point in one["points"]] for one in record["split"][side]}
            for side in ("calibration", "held_out")
        }
        assert sides == {"calibration": {"a": [1, 2], "b": [8]}, "held_out": {"a": [4]}}

    def test_what_is_fitted_for_a_transport_is_not_hidden_by_what_it_began_with(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        for transport, isend in (("shm", 2e-7), ("tcp", 2.2e-6)):
            points = [time_of(isend, isend, primitive="isend", message_size=0)]
            write(tmp_path, dataset(f"calls_{transport}", {"kind": "primitives"}, points, transport=transport))
        write(tmp_path, rates("a", {1: [3e5], 2: [2e5], 4: [1e5]}))
        unknowns = [{"path": "machine.nic.post", "scope": "transport", "range": ["1 ns", "9 us"]}]
        (tmp_path / "m.json").write_text(mapping(unknowns=unknowns).model_dump_json())
        words = ["calibrate", "a.json", "calls_shm.json", "calls_tcp.json", "--base", "alembert", "-o", "made.json",
                 "--mapping", "m.json", "-q", "--no-posterior", "--starts", "1", "--messages", "200"]  # fmt: skip
        assert main(words) == 0
        record = json.loads((tmp_path / "made.json").read_text())["calibration"]
        assert "alib/tcp" in {one["scope"] for one in record["identified_directly"]}
        assert record["fits"][0]["fitted"] == ["nic.post@tcp"]
        assert [scope for scope, entries in record["scopes"].items() if "machine.nic.post" in entries] == ["tcp"]

    def test_bad_ranges_are_explained(self, tmp_path: Path) -> None:
        write(tmp_path, rates("a", {1: [5e5]}))
        points = [(dataset, point) for dataset in read_datasets([tmp_path]) for point in dataset.points]
        for unknown, reason in (
            ({"path": "machine.software.nothing"}, "is no value of a scenario"),
            ({"path": "machine.nic.post", "range": ["1 GB/s", "2 GB/s"]}, "another unit"),
            ({"path": "machine.nic.post", "range": ["5 ns", "5 ns"]}, "is empty"),
            ({"path": "fabric.latency", "scope": "transport"}, "has no range"),
        ):
            problem = Builder(base(), [mapping(unknowns=[unknown])], messages=200).build(points)
            assert reason in problem.unpredicted[0].reason

    @pytest.mark.parametrize(
        ("words", "message"),
        [
            (["--base", "alembrt", "-o", "x.json"], "did you mean 'alembert'?"),
            (["--base", "alembert", "-o", "x.txt"], "a profile is a file NAME.json"),
            (["--base", "alembert", "-o", "x.json", "--threads", "1,many"], "expected numbers with commas"),
            (["--base", "alembert", "-o", "x.json", "--threads", "1,2,4"], "more than half"),
            (["--base", "alembert", "-o", "x.json", "--budget", "inf"], "--budget inf: allowed: a number of minutes"),
            (["--base", "alembert", "-o", "x.json"], "no mapping for alib over pigeons"),
            (["--base", "alembert", "-o", "x.json", "--direct"], "no dataset identifies a parameter"),
        ],
    )
    def test_wrong_use_is_explained_and_writes_nothing(
        self, words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:  # fmt: skip
        monkeypatch.chdir(tmp_path)
        write(tmp_path, rates("a", {1: [5e5], 2: [4e5], 4: [3e5]}) | {"transport": "pigeons"})
        assert main(["calibrate", "a.json", *words]) == 2
        assert message in capsys.readouterr().err
        assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


def contend_seconds(text: str) -> float:
    from contend.profiles.prices import parse_price

    return parse_price(text).value


def test_a_scope_is_written_into_a_plain_profile(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = base()
    before = contend_seconds(document["nic"]["post"]["value"])
    entry = document["nic"]["post"] | {"value": "2 us"}
    document["calibration"] = {"scopes": {"a/tcp": {"machine.nic.post": entry, "fabric.latency": entry}}}
    path = tmp_path / "with.json"
    path.write_text(json.dumps(document))
    out = tmp_path / "plain.json"
    assert main(["profile", "scope", str(path), "a/tcp", "-o", str(out)]) == 0
    assert json.loads(out.read_text())["nic"]["post"]["value"] == "2 us"
    capsys.readouterr()
    assert main(["profile", "diff", "alembert", str(out), "--values", "--json"]) == 0
    differing = {one["parameter"]: one["ratio"] for one in json.loads(capsys.readouterr().out)}
    assert differing["nic.post"] == pytest.approx(2e-6 / before)
    assert main(["profile", "scope", str(path), "b/tcp", "-o", str(out)]) == 2
    assert "it has: a/tcp" in capsys.readouterr().err
    with pytest.raises(InputError):
        PROFILES.load("nothing")


def test_the_shipped_profile_has_no_scopes_and_one_made_from_it_has(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "plain.json"
    assert main(["profile", "scope", "vm-2core", "mpich-5/tcp", "-o", str(out)]) == 2
    assert (
        "the profile vm-2core has no values of single libraries or transports, such as mpich-5/tcp: only one that"
        in (" ".join(capsys.readouterr().err.split()))
    )
    assert not out.exists()
    made = REPOSITORY / "validation" / "vm-2core" / "tcp-profile.json"
    assert main(["profile", "scope", str(made), "mpich-5/tcp", "-o", str(out)]) == 0
    assert "put in place of mpich-5/tcp: tcp." in capsys.readouterr().out


def test_a_scope_may_be_only_its_library_or_its_transport(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = base()
    entry = document["nic"]["post"] | {"value": "2 us"}
    scopes = {
        "tcp": {"machine.nic.post": entry, "fabric.latency": entry},
        "a": {"machine.nic.post": entry | {"value": "3 us"}},
        "b": {"fabric.latency": entry | {"value": "4 us"}},
    }
    path, out = tmp_path / "with.json", tmp_path / "plain.json"
    path.write_text(json.dumps(document | {"calibration": {"scopes": scopes}}))

    def placed(scope: str) -> tuple[str, str]:
        assert main(["profile", "scope", str(path), scope, "-o", str(out)]) == 0
        return json.loads(out.read_text())["nic"]["post"]["value"], capsys.readouterr().out

    value, said = placed("a/tcp")
    assert value == "3 us"  # the library's is more special than the transport's
    assert "put in place of a: nic.post 3 us" in said
    assert "put in place of tcp" not in said
    assert "give it in the scenario: fabric.latency 2 us" in said
    assert "has no values of its own for a/tcp" in said
    value, said = placed("tcp")
    assert (value, "no values of its own" in said) == ("2 us", False)
    assert "put in place of tcp: nic.post 2 us" in said
    value, said = placed("b/shm")
    assert value == base()["nic"]["post"]["value"]
    assert "nothing but the name changed" in said
    assert main(["profile", "scope", str(path), "d/shm", "-o", str(out)]) == 2
    assert "it has: tcp, a, b" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("scope", "near"),
    [
        ("mpich-5/tpc", "mpich-5/tcp"),
        ("mpch-5/tcp", "mpich-5/tcp"),
        ("tcp/mpich-5", "mpich-5/tcp"),
        ("mpich5", "mpich-5"),
        ("mpich-5/", "mpich-5"),
        ("zzz", None),
    ],
)
def test_a_scope_that_a_profile_does_not_know_is_refused(
    scope: str, near: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made, out = REPOSITORY / "validation" / "vm-2core" / "tcp-profile.json", tmp_path / "plain.json"
    assert main(["profile", "scope", str(made), scope, "-o", str(out)]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert f"the profile tcp-profile has no scope {scope!r}; it has: mpich-5, openmpi-5, " in said
    assert said.endswith(f"; did you mean {near!r}?" if near else "openmpi-5/shm")
    assert not out.exists()


def test_a_library_may_have_no_values_of_its_own_for_a_transport(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made, out = REPOSITORY / "validation" / "vm-2core" / "shm-profile.json", tmp_path / "plain.json"
    assert main(["profile", "scope", str(made), "mpich-5/tcp", "-o", str(out)]) == 0
    said = capsys.readouterr().out
    assert "put in place of mpich-5: " in said
    assert "has no values of its own for tcp and mpich-5/tcp" in said
