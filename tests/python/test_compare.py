"""Comparing two designs with paired replications."""

import itertools
import json
import math
import random
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from scipy import stats

from contend.amounts import rate_text
from contend.cli import main
from contend.cli.compare import _verdict_text
from contend.errors import InputError
from contend.paired import bootstrap, compare_samples, pooled_reduction, sample_variance
from contend.plots import comparison_picture_bytes, draw_comparison, figure_bytes

if TYPE_CHECKING:
    from fakes import FakeCore, FakePoint

Capture = pytest.CaptureFixture[str]


def test_the_interval_is_that_of_the_paired_t_test() -> None:
    a = [10.0, 12.0, 11.5, 9.0, 10.4]
    b = [11.0, 12.5, 12.8, 10.1, 10.2]
    found = compare_samples("message_rate", a, b)
    expected = stats.ttest_rel(b, a).confidence_interval(0.95)
    assert found.difference.mean == pytest.approx(sum(b) / 5 - sum(a) / 5)
    assert (found.difference.low, found.difference.high) == (pytest.approx(expected.low), pytest.approx(expected.high))
    logs = stats.ttest_rel([math.log(y) for y in b], [math.log(x) for x in a]).confidence_interval(0.95)
    assert (found.ratio.low, found.ratio.high) == (
        pytest.approx(math.exp(logs.low)),
        pytest.approx(math.exp(logs.high)),
    )


def test_chance_that_hits_both_sides_drops_out() -> None:
    source = random.Random(1)
    shared = [source.gauss(100, 10) for _ in range(20)]
    a = [value + source.gauss(0, 0.1) for value in shared]
    b = [value + 1 + source.gauss(0, 0.1) for value in shared]
    found = compare_samples("x", a, b)
    assert found.verdict == "higher"
    assert found.variance_reduction is not None
    assert found.variance_reduction > 1000
    shuffled = compare_samples("x", a, b[1:] + b[:1])
    assert shuffled.verdict == "undecided"
    assert shuffled.variance_reduction is not None
    assert shuffled.variance_reduction < 4


@pytest.mark.core
def test_what_a_reader_of_verdicts_has_to_know_is_said(tmp_path: Path, capsys: Capture) -> None:
    words = ["compare", "fig5_2a_base", "fig5_2a_base", "--set", "workload.pairs=4", "--set", "workload.window=16"]
    words += ["--iterations", "1", "--replications", "2", "--out", str(tmp_path)]

    def said(*options: str) -> str:
        assert main([*words, *options]) == 0
        return " ".join(capsys.readouterr().out.split())

    wide = said("--set-b", "library.instances.count=4")
    assert "1 point compared: undecided. Undecided is where the interval allows for no difference" in wide
    assert "replications narrow it to ±5% (now 2)." in wide
    assert "stand for different code" not in said(
        "--set-a", "library.preset=ob1-base", "--set-b", "library.preset=ob1-cri"
    )
    two = said("--set-a", "library.preset=ob1-base", "--set-b", "library.preset=ch4-vci")
    assert "ob1-base and ch4-vci stand for different code, but pay the same prices for it here" in two
    slow = said("--set-b", "fabric.latency=5 us")
    assert "The systems differ, so this is not about the designs alone: fabric.latency (700 ns, 5 us)." in slow
    document = json.loads((tmp_path / "compare.json").read_text())
    assert document["system_differences"] == {"fabric.latency": ["700 ns", "5 us"]}


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
        patch.setattr("contend.comparison.run_points", lambda *_, **__: pytest.fail("it simulates"))
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


@pytest.mark.parametrize("interval", ["t", "bootstrap"])
def test_swapping_the_sides_turns_the_verdict(interval: str) -> None:
    a, b = [10.0, 10.1, 9.9, 10.05, 10.1, 9.95], [12.0, 12.2, 11.9, 12.1, 12.0, 12.15]
    one, other = compare_samples("x", a, b, interval), compare_samples("x", b, a, interval)
    assert (one.verdict, other.verdict) == ("higher", "lower")
    assert one.ratio.value is not None
    assert other.ratio.value == pytest.approx(1 / one.ratio.value)


def test_the_bootstrap_is_reproducible_and_near_t_for_many_samples() -> None:
    source = random.Random(2)
    samples = [source.gauss(5, 1) for _ in range(60)]
    assert bootstrap(samples) == bootstrap(samples)
    half = bootstrap(samples).half_width
    assert half is not None
    assert half == pytest.approx(stats.t.ppf(0.975, 59) * math.sqrt(sample_variance(samples) / 60), rel=0.15)


def test_under_the_null_hypothesis_the_verdict_errs_in_one_case_of_twenty() -> None:
    source = random.Random(3)
    wrong = sum(
        compare_samples("x", [source.gauss(10, 1) for _ in range(5)], [source.gauss(10, 1) for _ in range(5)]).verdict
        in ("higher", "lower")
        for _ in range(2000)
    )
    assert 60 <= wrong <= 145  # 100 expected, standard deviation 9.7


def test_a_wide_interval_is_no_proof_that_nothing_differs() -> None:
    wide = compare_samples("x", [90.0, 110.0, 100.0], [112.0, 94.0, 100.0])
    assert wide.verdict == "undecided"
    # Differences of 22, -16 and 0 have a standard deviation of 19.1: 1.96 of them over the root of n are to be 5.
    assert wide.replications_to_decide == 56
    assert compare_samples("x", [100.0, 101.0, 100.0], [101.0, 100.0, 100.0]).verdict == "no difference"
    assert compare_samples("x", [0.0, 0.0], [0.0, 0.0]).verdict == "no difference"
    assert compare_samples("x", [0.0, 0.0, 0.0], [0.0, 0.0, 4.0]).verdict == "undecided"


def test_corner_cases() -> None:
    assert compare_samples("x", [1.0], [2.0]).verdict == "undecided"
    assert compare_samples("x", [3.0, 3.0], [3.0, 3.0]).verdict == "no difference"
    assert compare_samples("x", [3.0, 3.0], [4.0, 4.0]).verdict == "higher"
    assert compare_samples("x", [0.0, 0.0], [4.0, 4.0]).ratio.value is None
    with pytest.raises(InputError, match="a bootstrap over 2 replications covers 50% at most, not 95 %: at least 6"):
        compare_samples("x", [3.0, 4.0], [4.0, 4.5], "bootstrap")
    assert pooled_reduction([1.0], [0.0]) is None
    with pytest.raises(InputError, match="cannot be paired"):
        compare_samples("x", [1.0], [1.0, 2.0])
    with pytest.raises(InputError, match="no interval"):
        compare_samples("x", [1.0], [2.0], "wald")


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
    assert "± " in capsys.readouterr().out
    assert main([*words, "bootstrap"]) == 0
    shown = capsys.readouterr().out
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


def test_wide_intervals_do_not_hide_the_ratios() -> None:
    from contend.comparison import Comparison, PointComparison

    points = tuple(
        PointComparison({"pairs": n}, {"message_rate": compare_samples("message_rate", [n, 50.0 * n], [40.0 * n, n])})
        for n in (1, 2)
    )
    assert all((point.rate.ratio.high or 0) > 10 for point in points)
    _, ratios = draw_comparison(Comparison("a", "b", 1, "t", points)).axes
    low, high = ratios.get_ylim()
    values = [point.rate.ratio.value or 0 for point in points]
    assert 0 < low <= min(values) / 2
    assert max(1.0, *values) < high <= 2 * max(1.0, *values)


def test_marks_of_ratios_say_the_verdicts() -> None:
    from contend.comparison import Comparison, PointComparison

    sides = {1: ([10.0, 10.1, 10.2], [20.0, 20.1, 20.3]), 2: ([10.0, 12.0, 11.0], [12.0, 11.0, 10.0])}
    sides |= {3: ([10.0, 10.1, 10.2], [10.0, 10.1, 10.21]), 4: ([10.0, 10.1, 10.2], [5.0, 5.1, 5.3])}

    def drawn(points: list[dict[str, int]]) -> tuple[list[str], list[str]]:
        compared = tuple(
            PointComparison(point, {"message_rate": compare_samples("message_rate", *sides[point["pairs"]])})
            for point in points
        )
        comparison = Comparison("a", "b", 1, "t", compared)
        _, ratios = comparison.draw().axes
        legend = ratios.get_legend()
        assert legend is not None
        for bar, point in zip(ratios.containers, compared, strict=True):
            data, _, (ends,) = bar.lines
            assert data.get_ydata() == [point.rate.ratio.value]
            ((_, low), (_, high)) = ends.get_segments()[0]
            assert (low, high) == (pytest.approx(point.rate.ratio.low), pytest.approx(point.rate.ratio.high))
        assert [1.0, 1.0] in [list(line.get_ydata()) for line in ratios.lines]
        return [bar.lines[0].get_marker() for bar in ratios.containers], [t.get_text() for t in legend.get_texts()]

    words = ["B is faster", "B is slower", "no difference", "undecided"]
    assert drawn([{"pairs": pairs} for pairs in sides]) == (["^", "o", "s", "v"], words)
    both = [{"pairs": pairs, "instances": count} for count in (1, 2) for pairs in (1, 2)]
    assert drawn(both) == (["^", "o"] * 2, ["B is faster", "undecided"])


def test_both_sides_of_an_only_point_stand_beside_each_other() -> None:
    from contend.comparison import Comparison, PointComparison

    samples = compare_samples("message_rate", [10.0, 11.0, 12.0], [20.0, 23.0, 26.0])
    long = "small with " + ", ".join(f"machine.section_{number}.price=5" for number in range(30))
    comparison = Comparison("small", long, 1, "t", (PointComparison({}, {"message_rate": samples}),))
    figure = draw_comparison(comparison)
    figure_bytes(figure, ("png",))
    rates, ratio = figure.axes
    marks = {bar.lines[0].get_xdata()[0]: bar for bar in rates.containers}
    assert {place: bar.lines[0].get_ydata()[0] for place, bar in marks.items()} == {0: 11.0, 1: 23.0}
    assert all(bar.has_yerr for bar in marks.values())
    first, second = (tick.get_text() for tick in rates.get_xticklabels())
    assert first == "A = small"
    assert second.startswith("B = small with")
    assert second.endswith("...")
    boxes = [tick.get_window_extent() for tick in rates.get_xticklabels()]
    assert boxes[0].x1 < boxes[1].x0
    assert boxes[1].x1 <= rates.bbox.x1
    (of_ratio,) = ratio.containers
    assert of_ratio.lines[0].get_ydata()[0] == pytest.approx(samples.ratio.value)
    assert ratio.get_title(loc="right") == "B is faster"


def test_the_picture_is_the_same_every_time() -> None:
    from contend.comparison import Comparison, PointComparison

    points = tuple(
        PointComparison(
            {"pairs": n}, {"message_rate": compare_samples("message_rate", [n, n + 0.1], [2.0 * n, 2.2 * n])}
        )
        for n in (1, 2)
    )
    comparison = Comparison("a", "b", 1, "t", points)
    assert comparison_picture_bytes(comparison) == comparison_picture_bytes(comparison)


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
