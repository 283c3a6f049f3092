"""Comparing two designs with paired replications."""

import itertools
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from contend.cli import main
from contend.cli.compare import _verdict_text
from contend.common.amounts import rate_text

if TYPE_CHECKING:
    from fakes import FakeCore, FakePoint

Capture = pytest.CaptureFixture[str]
pytestmark = pytest.mark.usefixtures("unrendered")


@pytest.mark.core
def test_what_a_reader_of_verdicts_has_to_know_is_said(tmp_path: Path, capsys: Capture) -> None:
    words = ["compare", "fig5_2a_base", "fig5_2a_base", "--set", "workload.pairs=4", "--set", "workload.window=16"]
    words += ["--iterations", "1", "--replications", "2", "--out", str(tmp_path)]

    def said(*options: str) -> str:
        assert main([*words, *options]) == 0
        return " ".join(capsys.readouterr().out.split())

    wide = said("--set-b", "library.instances.count=4")
    assert "1 point compared: undecided. Undecided is where the interval allows for no difference" in wide
    assert "stand for different code" not in said(
        "--set-a", "library.preset=ob1-base", "--set-b", "library.preset=ob1-cri"
    )
    two = said("--set-a", "library.preset=ob1-base", "--set-b", "library.preset=ch4-vci")
    assert "ob1-base and ch4-vci stand for different code, but pay the same prices for it here" in two
    slow = said("--set-b", "fabric.latency=5 us")
    assert "The systems differ, so this is not about the designs alone: fabric.latency (700 ns, 5 us)." in slow
    document = json.loads((tmp_path / "compare.json").read_text())
    assert document["system_differences"] == {"fabric.latency": ["700 ns", "5 us"]}


@pytest.mark.parametrize(
    ("differences", "advice"),
    [
        ([-27.0, 33.0, -27.0, 33.0, 3.0], "about 141 replications narrow it to ±5% (now 5)."),
        (
            [0.0, 6.0, 0.0, 6.0, 3.0],
            "it is no wider than ±5% now, with 5 replications; more of them narrow it further.",
        ),
        ([3.0], "more replications narrow it to ±5% (now 1)."),
    ],
)
def test_what_narrows_an_undecided_interval_is_said(differences: list[float], advice: str) -> None:
    from contend.comparisons.comparison import Comparison, PointComparison
    from contend.comparisons.paired import compare_samples

    rate = compare_samples("message_rate", [100.0] * len(differences), [100.0 + each for each in differences])
    assert rate.verdict == "undecided"
    remark = Comparison("a", "b", 1, "t", (PointComparison({}, {"message_rate": rate}),)).undecided_remark
    assert remark.endswith(f": {advice}")


@pytest.mark.core
def test_what_differs_in_machines_of_one_profile_and_in_placement_is_said(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = {
        "schema_version": 1,
        "name": "own",
        "machine": {"profile": "alembert"},
        "library": {"preset": "ob1-base"},
        "fabric": {"latency": "1 us", "bandwidth": "1 GB/s"},
        "workload": {"kind": "multirate", "pairs": 2, "iterations": 1},
        "run": {"replications": 1},
    }
    changes = {"topology": {"sockets": 1, "cores_per_socket": 16}, "cache": {"transfer_socket": "20 ns"}}
    monkeypatch.chdir(tmp_path)
    Path("own.json").write_text(json.dumps(scenario | {"machine": {"profile": "alembert"} | changes}))
    Path("profile.json").write_text(json.dumps(scenario | {"name": "profile"}))

    def said(*words: str) -> tuple[str, dict[str, list[object]]]:
        assert main(["compare", *words, "--out", "out"]) == 0
        document = json.loads(Path("out/compare.json").read_text())
        return " ".join(capsys.readouterr().out.split()), document["system_differences"]

    _, found = said("own.json", "profile.json")
    assert found == {
        "machine.topology.sockets": [1, 2],
        "machine.topology.cores_per_socket": [16, 10],
        "machine.cache.transfer_socket": ["20 ns", "45 ns"],
    }
    shared = ["--set-b", "placement.threads=floating", "--set-b", "placement.cores=2"]
    text, found = said("profile.json", "profile.json", *shared)
    assert found == {"placement.threads": ["one-per-core", "floating"], "placement.cores": [0, 2]}
    assert "designs alone: placement.threads (one-per-core, floating), placement.cores (0, 2)." in text
    _, found = said("profile.json", "profile.json", "--set-b", "library.preset=ob1-openib")
    assert found == {}, "prices of a library's own code are no part of the machine"
    _, found = said("own.json", "own.json", "--set-b", "machine.cache.transfer_socket=0.02 us")
    assert found == {}, "the same price in another unit"
    _, found = said("own.json", "profile.json", "--set-b", "machine.profile=trinitite-haswell")
    assert found == {"machine": ["alembert", "trinitite-haswell"]}, "the names of other profiles are enough"
    prices = {f"machine.software.{name}": f"{10 + index} ns" for index, name in enumerate(_SOFTWARE)}
    text, found = said("own.json", "own.json", *(w for item in prices.items() for w in ("--set-b", "=".join(item))))
    assert list(found) == list(prices)
    assert "machine.software.wait_call (40 ns, 16 ns)" in text
    assert "wait_request (20 ns, 17 ns) and 2 more values." in text


_SOFTWARE = [
    "send_call", "send_request", "receive_call", "request_allocate", "deliver", "complete", "wait_call", "wait_request",
    "progress_call", "one_sided_call",
]  # fmt: skip


@pytest.mark.core
def test_what_differs_in_the_workloads_is_said(tmp_path: Path, capsys: Capture) -> None:
    words = ["compare", "fig5_2a_base", "fig5_2a_base", "--set", "sweep={}", "--iterations", "1", "--replications", "1"]
    words += ["--out", str(tmp_path)]
    assert main([*words, "--set-b", "library.instances.count=2"]) == 0
    assert "workloads differ" not in capsys.readouterr().out
    assert json.loads((tmp_path / "compare.json").read_bytes())["workload_differences"] == {}
    assert main([*words, "--set-b", "workload.message_size=1 KiB", "--set-b", "workload.window=64"]) == 0
    assert "not about the designs alone: message_size (0 B, 1 KiB), window (128, 64)." in capsys.readouterr().out
    differences = json.loads((tmp_path / "compare.json").read_bytes())["workload_differences"]
    assert differences == {"message_size": ["0 B", "1 KiB"], "window": [128, 64]}


@pytest.mark.core
def test_rates_of_different_things_are_refused_before_anything_is_simulated(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = {
        "schema_version": 1,
        "machine": {"profile": "alembert"},
        "library": {"preset": "ob1-base"},
        "fabric": {"latency": "1 us", "bandwidth": "1 GB/s"},
        "run": {"replications": 2},
    }
    for kind in ("multirate", "waiting"):
        workload = {"kind": kind, "iterations": 1}
        (tmp_path / f"{kind}.json").write_text(json.dumps(base | {"name": kind, "workload": workload}))
    monkeypatch.chdir(tmp_path)
    words = ["compare", "multirate.json", "waiting.json", "--out", "out"]
    with monkeypatch.context() as patch:
        patch.setattr("contend.comparisons.contest.run_points", lambda *_, **__: pytest.fail("it simulates"))
        for measure in ([], ["--measure", "message_rate"]):
            assert main([*words, *measure]) == 2
            assert (
                "A has messages/s (workload multirate) and B calls/s (workload waiting): rates of different things "
                "cannot be compared; allowed: --measure with one that both have, such as elapsed_s"
            ) in " ".join(capsys.readouterr().err.split())
    assert not Path("out").exists()
    assert main([*words, "--measure", "elapsed_s"]) == 0
    (point,) = json.loads(Path("out/compare.json").read_bytes())["points"]
    assert "elapsed_s" in point
    assert "message_rate" not in point


@pytest.mark.core
def test_operations_are_compared_under_no_name_of_one(tmp_path: Path, capsys: Capture) -> None:
    base = "fig5_7_rma_synchronisation"
    words = ["compare", base, base, "--set", "sweep={}", "--iterations", "1", "--replications", "1"]
    words += ["--set-a", "workload.operation=put", "--set-b", "workload.operation=get", "--out", str(tmp_path)]
    assert main(words) == 0
    assert "B against A, operation rate" in capsys.readouterr().out


def test_too_few_replications_for_a_bootstrap_are_refused_before_they_are_simulated(
    core: "FakeCore", scenario: Path, capsys: Capture
) -> None:
    words = ["compare", str(scenario), str(scenario), "--interval", "bootstrap", "--replications"]
    assert main([*words, "5"]) == 2
    assert "a bootstrap over 5 replications covers 94% at most" in capsys.readouterr().err
    assert core.calls == 0
    assert main([*words, "6"]) == 0


def test_the_interval_of_a_bootstrap_has_both_its_ends(
    core: "FakeCore", scenario: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = core.run_point

    def skewed(config: str, replication: int, *options: bool | str | int) -> str:
        result = json.loads(original(config, replication, *options))  # type: ignore[arg-type]
        gains = json.loads(config)["workload"].get("window") == 7
        result["message_rate"] += gains * (40_000.0 if replication == 3 else 8_000.0)
        return json.dumps(result)

    core.run_point = skewed  # type: ignore[method-assign]
    monkeypatch.setenv("COLUMNS", "200")
    words = ["compare", str(scenario), str(scenario), "--set-b", "workload.window=7"]
    words += ["--replications", "8", "-o", "out/c", "--interval"]
    assert main([*words, "t"]) == 0
    shown = capsys.readouterr().out
    assert "± " in shown
    assert "covers less than 95 %" not in shown
    assert main([*words, "bootstrap"]) == 0
    shown = capsys.readouterr().out
    assert "A bootstrap over 8 replications covers less than 95 %" in shown
    assert "±" not in shown
    point = json.loads(Path("out/c/compare.json").read_text())["points"][0]
    difference = point["message_rate"]["difference"]
    low, high = difference["ci95"]
    assert difference["mean"] - low != pytest.approx(high - difference["mean"], rel=0.2)
    assert f" {rate_text(low)} to {rate_text(high)} " in shown


@pytest.mark.parametrize(
    ("verdicts", "text"),
    [
        (["faster"], "B is faster"),
        (["no difference"], "no difference"),
        (["undecided"], "undecided"),
        (["no difference", "no difference"], "no difference at 2"),
        (["faster", "undecided", "slower", "faster", "no difference"],
         "B is faster at 2, slower at 1; undecided at 1; no difference at 1"),
    ],
)  # fmt: skip
def test_verdicts_make_a_sentence(verdicts: list[str], text: str) -> None:
    assert _verdict_text(verdicts) == text


def test_no_cell_is_cut_on_a_narrow_terminal(
    core: "FakeCore", scenario: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    del core
    monkeypatch.setenv("COLUMNS", "60")
    assert main(["compare", str(scenario), str(scenario), "--replications", "4"]) == 0
    text = capsys.readouterr().out
    assert "…" not in text
    assert "messages_received" in text
    assert "no room for: " in text
    assert max(len(line) for line in text.split("wrote ")[0].splitlines()) <= 60


@pytest.mark.pictures
def test_compares_and_writes(core: "FakeCore", scenario: Path, capsys: Capture) -> None:
    del core
    assert main(["compare", str(scenario), str(scenario), "--replications", "4"]) == 0
    text = capsys.readouterr().out
    assert "no difference at 6" in text
    assert "means of one replication, warm-up included" in text[text.index("messages_received") :]
    document = json.loads(Path("out/compare/small_small/compare.json").read_text())
    assert len(document["points"]) == 6
    point = document["points"][0]
    assert point["message_rate"]["difference"] == {"mean": 0.0, "ci95": [0.0, 0.0]}
    assert point["verdict"] == "no difference"
    assert len(point["message_rate"]["a"]["samples"]) == 4
    assert Path("out/compare/small_small/plot.svg").stat().st_size > 1000


@pytest.mark.parametrize(
    ("apart", "said"),
    [
        ((), "Both sides are the same simulation: what differs between them has no effect here."),
        ((1, 2), "At 2 of 6 points both sides are the same simulation: what differs"),
        ((1, 2, 4), ""),
    ],
)
def test_sides_that_are_the_same_simulation_are_called_so(
    core: "FakeCore", scenario: Path, capsys: Capture, apart: tuple[int, ...], said: str
) -> None:
    original = core.run_point

    def run_point(config: str, replication: int, *options: bool | str | int) -> str:
        result = json.loads(original(config, replication, *options))  # type: ignore[arg-type]
        workload = json.loads(config)["workload"]
        result["events"] += workload.get("window") == 7 and workload["pairs"] in apart and replication == 2
        return json.dumps(result)

    core.run_point = run_point  # type: ignore[method-assign]
    assert main(["compare", str(scenario), str(scenario), "--set-b", "workload.window=7"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "no difference at 6" in shown
    assert said in shown
    assert ("same simulation" in shown) == bool(said)
    points = json.loads(Path("out/compare/small_small/compare.json").read_text())["points"]
    assert [point["parameters"]["pairs"] for point in points if not point["same_simulation"]] == 2 * list(apart)


def test_sides_differ_where_they_were_told_to(core: "FakeCore", scenario: Path, capsys: Capture) -> None:
    original = core.run_point

    def faster(config: str, replication: int, *options: bool | str | int) -> str:
        result = json.loads(original(config, replication, *options))  # type: ignore[arg-type]
        result["message_rate"] *= 1.5 if json.loads(config)["workload"].get("window") == 7 else 1.0
        return json.dumps(result)

    core.run_point = faster  # type: ignore[method-assign]
    options = ["--set-b", "workload.window=7", "--json", "--check-pairing"]
    assert main(["compare", str(scenario), str(scenario), *options]) == 0
    document = json.loads(capsys.readouterr().out)
    assert {point["verdict"] for point in document["points"]} == {"faster"}
    assert document["points"][0]["message_rate"]["ratio"]["value"] == pytest.approx(1.5)
    assert document["b"] == "small with workload.window=7"


def test_both_sides_use_the_seed_and_replications_of_a(core: "FakeCore", scenario: Path, capsys: Capture) -> None:
    seeds: list[tuple[int, int]] = []
    original = core.run_point

    def note(config: str, replication: int, *options: bool | str | int) -> str:
        seeds.append((json.loads(config)["run"]["seed"], replication))
        return original(config, replication, *options)  # type: ignore[arg-type]

    core.run_point = note  # type: ignore[method-assign]
    other = scenario.parent / "other.json"
    other.write_text(json.dumps({"name": "other", "run": {"seed": 99, "replications": 11}}))
    assert main(["compare", str(scenario), str(other), "-j", "1", "--quiet"]) == 0
    assert {seed for seed, _ in seeds} == {1}
    assert len(seeds) == 2 * 6 * 3


def test_sweeps_that_differ(core: "FakeCore", scenario: Path, capsys: Capture) -> None:
    original = core.resolve

    def resolve(path: str, *rest: object) -> "tuple[str, list[FakePoint]]":
        text, points = original(path, *rest)  # type: ignore[arg-type]
        answer = json.loads(text)
        if "wider" in path:
            kept = [p["pairs"] > 1 for p in answer["parameters"]]
            answer["parameters"] = list(itertools.compress(answer["parameters"], kept))
            points = list(itertools.compress(points, kept))
        if "other" in path:
            for parameters in answer["parameters"]:
                parameters["window"] = 1
        if "apart" in path:
            for parameters in answer["parameters"]:
                parameters["pairs"] += 100
        return json.dumps(answer), points

    core.resolve = resolve  # type: ignore[method-assign]
    for name in ("wider", "other", "apart"):
        (scenario.parent / f"{name}.json").write_text(json.dumps({"name": name}))
    assert main(["compare", str(scenario), "wider.json"]) == 0
    assert "Without a counterpart, left out: 2 points of A" in capsys.readouterr().out
    assert core.calls == 2 * 4 * 3  # those that both have
    core.calls = 0
    assert main(["compare", str(scenario), "other.json"]) == 2
    assert "the sweeps differ: B alone sweeps window" in capsys.readouterr().err
    assert main(["compare", str(scenario), "apart.json"]) == 2
    assert "no point in common" in capsys.readouterr().err
    assert core.calls == 0


def _with_more_measures(core: "FakeCore", monkeypatch: pytest.MonkeyPatch) -> None:
    """Results as those of partitioned communication; with workload.window=7 the rate is nearly the same."""
    original = core.run_point

    def run_point(config: str, replication: int, *options: bool | str | int, **named: object) -> str:
        result = json.loads(original(config, replication, *options, **named))  # type: ignore[arg-type]
        slow = json.loads(config)["workload"].get("window") == 7
        result["message_rate"] *= 0.97 if slow else 1.0
        result["perceived_bandwidth"] = (600.0 if slow else 1000.0) + replication
        result["communication_time_s"] = (2e-3 if slow else 1e-3) + 1e-6 * replication
        return json.dumps(result)

    monkeypatch.setattr(core, "run_point", run_point)


@pytest.mark.pictures
def test_compares_what_the_workload_is_about(
    core: "FakeCore", scenario: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    _with_more_measures(core, monkeypatch)
    words = ["compare", str(scenario), str(scenario), "--set-b", "workload.window=7", "--out", "new"]
    assert main(words) == 0
    text = capsys.readouterr().out
    assert "B against A, perceived bandwidth" in text
    assert "A MiB/s" in text
    assert "other measures at pairs=4, lock=mcs" in text
    assert "B is slower at 6" in text
    for measure in ("message rate", "communication time", "elapsed"):
        assert measure in text
    document = json.loads(Path("new/compare.json").read_text())
    assert document["measure"] == "perceived_bandwidth"
    point = document["points"][0]
    assert point["perceived_bandwidth"]["ratio"]["value"] == pytest.approx(0.6, abs=0.001)
    assert point["message_rate"]["ratio"]["value"] == pytest.approx(0.97)
    assert point["communication_time_s"]["ratio"]["value"] == pytest.approx(2, abs=0.01)
    assert "perceived bandwidth (MiB/s)" in Path("new/plot.svg").read_text()


def test_compares_what_only_somebodys_own_workload_measures(
    core: "FakeCore", scenario: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = core.run_point

    def run_point(config: str, replication: int, *options: bool | str | int, **named: object) -> str:
        result = json.loads(original(config, replication, *options, **named))  # type: ignore[arg-type]
        slow = json.loads(config)["workload"].get("window") == 7
        own = {"round_trip_s": 2e-3 if slow else 1e-3, "gap_ns": 700.0 + replication, "naps_per_s": 4.0, "depth": 3}
        return json.dumps(result | own)

    monkeypatch.setattr(core, "run_point", run_point)
    workload = {"kind": "server", "pairs": 1, "iterations": 10}
    scenario.write_text(json.dumps({"name": "own", "workload": workload}))
    words = ["compare", str(scenario), str(scenario), "--set-a", "workload.window=7", "--out", "new", "--measure"]
    assert main([*words, "round_trip_s"]) == 0
    text = capsys.readouterr().out
    assert "B against A, round trip" in text
    assert "B is faster at 6" in text
    others, _, counters = text.partition("other measures at")[2].partition("counters at")
    for name in ("gap", "naps", "depth"):
        assert name in others
        assert name not in counters
    assert json.loads(Path("new/compare.json").read_text())["points"][0]["round_trip_s"]["ratio"]["value"] == 0.5
    assert main([*words, "depth"]) == 0
    assert "no difference at 6" in capsys.readouterr().out
    assert main([*words, "round_trip"]) == 2
    assert "did you mean 'round_trip_s'" in capsys.readouterr().err
    # What contend has words for is known before anything is simulated.
    calls = core.calls
    scenario.write_text(json.dumps({"name": "own", "workload": workload | {"kind": "multirate"}}))
    assert main([*words, "round_trip_s"]) == 2
    assert core.calls == calls


def test_another_measure_on_demand_and_a_shorter_time_is_faster(
    core: "FakeCore", scenario: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    _with_more_measures(core, monkeypatch)
    words = ["compare", str(scenario), str(scenario), "--set-a", "workload.window=7", "--measure"]
    assert main([*words, "communication_time_s"]) == 0
    text = capsys.readouterr().out
    assert "B against A, communication time" in text
    assert "2.001 ms" in text
    assert "B is faster at 6" in text
    assert main([*words, "message_rate", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["measure"] == "message_rate"


def test_a_measure_that_is_not_there(core: "FakeCore", scenario: Path, capsys: Capture) -> None:
    words = ["compare", str(scenario), str(scenario), "--measure"]
    assert main([*words, "mesage_rate"]) == 2
    assert "no measure 'mesage_rate'; did you mean 'message_rate'?" in capsys.readouterr().err
    assert core.calls == 0
    assert main([*words, "bandwidth"]) == 2
    message = "no measure 'bandwidth' to compare; there are: message_rate, elapsed_s"
    assert message in " ".join(capsys.readouterr().err.split())
    assert core.calls == 18  # one side


@pytest.mark.parametrize("set_", ["--set-a", "--set-b"])
def test_what_makes_the_pairs_is_set_for_both_sides(
    core: "FakeCore", scenario: Path, capsys: Capture, set_: str
) -> None:
    for path, option in (("run.seed", "--seed"), ("run.replications", "--replications")):
        assert main(["compare", str(scenario), str(scenario), set_, f"{path}=9"]) == 2
        expected = f"{set_} {path}=9: both sides run with the same {path}; {option} sets it"
        assert expected in capsys.readouterr().err
    assert core.calls == 0


@pytest.mark.core
def test_a_comparison_can_be_made_again_from_its_file(
    tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ["compare", "fig5_2a_base", "fig5_2a_base", "--iterations", "1", "--replications", "2", "--seed", "7"]
    words += ["--set", "sweep.workload.pairs=[1,2]", "--set", "workload.window=16", "--quiet"]
    assert main([*words, "--set-b", "library.preset=ob1-cri", "--out", "first"]) == 0
    first = json.loads(Path("first/compare.json").read_bytes())
    assert (first["seed"], first["replications"]) == (7, 2)
    assert first["overrides_a"]["workload.window"] == "16"
    assert first["overrides_b"]["library.preset"] == "ob1-cri"
    for side in "ab":
        Path(f"{side}.json").write_text(json.dumps(first[f"scenario_{side}"]))
    assert main(["compare", "a.json", "b.json", "--out", "again", "--quiet"]) == 0
    again = json.loads(Path("again/compare.json").read_bytes())
    assert again["points"] == first["points"]
    assert [again[f"scenario_{side}"] for side in "ab"] == [first[f"scenario_{side}"] for side in "ab"]
    capsys.readouterr()
    # The same settings under other names are no other comparison; another design is.
    assert main(["compare", "a.json", "b.json", "--out", "first"]) == 0
    assert "replaced" not in capsys.readouterr().err
    words = ["compare", "a.json", "a.json", "--set-b", "library.instances.count=2", "--out", "first"]
    assert main(words) == 0
    assert "replaced another comparison in first" in capsys.readouterr().err
