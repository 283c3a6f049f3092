"""`contend explain`: groups of prices, and where each price is known from."""

import json
import re
from pathlib import Path

import pytest

import contend
from contend.cli import main
from contend.engine.core import core
from contend.explanations.cost_groups import MECHANISMS, SECTIONS, groups_of, section_of
from contend.explanations.price_bases import PriceBases, PriceBasis
from contend.explanations.speedups import Speedup, changes, coarse
from contend.profiles.catalogs import PROFILES
from explaining import BASE, SMALL

Capture = pytest.CaptureFixture[str]


GROUPED = (
    BASE, "fig5_7_rma_put_haswell", "L01_locks", "ring", "fig4_wait_shared_memory_one_core", "fig4_parallel_pack",
)  # fmt: skip


def test_a_group_has_two_costs_or_more_and_the_first_name_of_those_that_have_the_same() -> None:
    post, doorbell, pause = "machine.nic.post", "machine.nic.doorbell", "machine.locks.pause"
    both = (post, doorbell)  # also all messages at the interface, and all of the network interface
    assert groups_of([*both, pause, "machine.noise", "machine.else"]) == {"posting work requests": both}
    assert groups_of(["machine.new_part.a", "machine.new_part.b"]) == {
        "all of new part": ("machine.new_part.a", "machine.new_part.b")
    }


@pytest.mark.core
class TestTheGroups:
    def test_every_section_with_a_cost_has_a_name(self) -> None:
        every: set[str] = set()
        for name in GROUPED:
            costs = json.loads(core().costs(contend.resolve(name).points[0].config_json))
            every |= {str(cost["path"]) for cost in costs}
        assert {section_of(path) for path in every} == {*SECTIONS, "machine."}
        assert {path for path in every if section_of(path) == "machine."} == {"machine.noise"}
        grouped = {path for paths in groups_of(sorted(every)).values() for path in paths}
        assert every - grouped == {"machine.noise"}  # alone, it is no group
        assert {path for paths in MECHANISMS.values() for path in paths} <= every

    @pytest.mark.parametrize("name", GROUPED)
    def test_what_a_short_budget_simulates_lowers_every_cost(self, name: str) -> None:
        wanted = changes(contend.resolve(name).points[0])
        kept = coarse(wanted)
        assert {path for speedup, _ in kept for path in speedup.paths} == {
            path for speedup, _ in wanted for path in speedup.paths
        }
        assert len(kept) < len(wanted) / 2
        groups = [frozenset(speedup.paths) for speedup, _ in kept]
        assert len(set(groups)) == len(groups)

    def test_the_prices_of_locks_are_a_group(self) -> None:
        locks = "locks: atomics, sleeping, spinning"
        for name in GROUPED:
            priced = json.loads(core().costs(contend.resolve(name).points[0].config_json))
            costs = [cost for cost in priced if not cost["free"]]
            groups = groups_of([str(cost["path"]) for cost in costs])
            assert {"machine.cache.atomic_hit", "machine.locks.pause"} <= set(groups[locks])
            # All that a thread may pay for sleeping and waking up is a part of it, and no transfer of lines is.
            sleeping = {str(cost["path"]) for cost in costs if section_of(cost["path"]) == "machine.futex."}
            assert sleeping <= set(groups[locks])
            assert not [path for path in groups[locks] if "transfer" in path]

    def test_locks_that_cost_half_are_among_the_speed_ups(self) -> None:
        changes = {"workload.acquisitions": 200, "workload.threads": 1, "run.replications": 2}
        point = contend.load("L01_locks").with_(changes)
        frame = contend.explain(point, progress=False).speedup_frame()
        (row,) = frame.filter(cost="locks: atomics, sleeping, spinning").rows(named=True)
        assert row["halved"] > 1.0
        assert row["removed"] > row["halved"]

    def test_one_sided_prices_are_among_the_groups(self) -> None:
        by_name = {speedup.name: speedup for speedup, _ in changes(contend.resolve(GROUPED[1]).points[0])}
        for name in ("one-sided operations at the interface", "all of the network interface", "posting work requests"):
            assert "machine.rdma.store_post" in by_name[name].paths


def _with_profile(folder: Path, **changes: str) -> contend.Scenario:
    """A scenario upon a profile of its own, of which a price is said to be known in another way."""
    _, profile = PROFILES.load("alembert")
    profile["name"] = "mine"
    profile["nic"]["doorbell"] |= changes
    (folder / "mine.json").write_text(json.dumps(profile))
    document = {
        "schema_version": 1, "name": "small",
        "machine": {"profile": str(folder / "mine.json"), "noise": "1 ns"},
        "fabric": {"latency": "1 us", "bandwidth": "100 Gbit/s"},
        "library": {"preset": "ob1-base"},
        "workload": {"kind": "multirate", "pairs": 2, "window": 8, "iterations": 1, "warmup_iterations": 0},
        "run": {"replications": 1},
    }  # fmt: skip
    (folder / "small.json").write_text(json.dumps(document))
    return contend.load(folder / "small.json")


@pytest.mark.core
class TestWhereThePricesAreKnownFrom:
    @pytest.fixture(autouse=True)
    def _own_profiles(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("CONTEND_PROFILES", str(tmp_path))
        monkeypatch.chdir(tmp_path)

    @pytest.mark.parametrize(
        ("changes", "basis", "is_uncertain"),
        [
            ({"basis": "measured", "uncertainty": "±5 %"}, "measured", False),
            ({"basis": "guess", "uncertainty": "±5 %"}, "guess", True),
            ({"basis": "calibrated", "uncertainty": "unknown"}, "calibrated", True),
            ({"basis": "calibrated", "uncertainty": "not estimated: a fit"}, "calibrated", True),
        ],
    )
    def test_a_profile_says_it(
        self, tmp_path: Path, changes: dict[str, str], basis: str, *, is_uncertain: bool
    ) -> None:
        resolved = _with_profile(tmp_path, **changes).resolved
        price = resolved.document["machine"]["nic"]["doorbell"]
        path = "machine.nic.doorbell"
        assert PriceBases(resolved).of(path, price) == PriceBasis(basis, is_uncertain)
        # The scenario with all its values, as results have it, no longer says where they are from.
        again = contend.Scenario(tmp_path / "again.json", (), json.dumps(resolved.document)).resolved
        assert PriceBases(again).of(path, price) == PriceBasis(basis, is_uncertain)
        changed = contend.load(tmp_path / "small.json").with_({path: "3 ns"}).resolved
        assert PriceBases(changed).of(path, "3 ns") == PriceBasis("command line")
        again = contend.Scenario(tmp_path / "again.json", (), json.dumps(changed.document)).resolved
        assert PriceBases(again).of(path, "3 ns") == PriceBasis("scenario")
        swept = contend.load(tmp_path / "small.json").over({path: ["3 ns", "4 ns"]}).resolved
        assert PriceBases(swept).of(path, "4 ns") == PriceBasis("sweep")

    def test_guesses_are_marked_wherever_gains_are_shown(self, tmp_path: Path, capsys: Capture) -> None:
        _with_profile(tmp_path, basis="calibrated", uncertainty="unknown")
        assert main(["explain", "small.json", "--out", "out/small", "--all"]) == 0
        shown = capsys.readouterr().out
        assert re.search(r"^ *nic\.doorbell .* calibrated † ", shown, re.MULTILINE)
        assert re.search(r"^ *software\.wait_call .* guess † ", shown, re.MULTILINE)
        assert re.search(r"^ *cache\.transfer_socket .* measured  ", shown, re.MULTILINE)
        assert re.search(r"^ *noise .* scenario  ", shown, re.MULTILINE)
        assert "a gain is no better known than its price" in " ".join(shown.split())
        written = json.loads(Path("out/small/explain.json").read_text())
        by_name = {entry["name"]: entry for entry in written["speedups"]}
        assert by_name["nic.doorbell"]["known_from"] == {"machine.nic.doorbell": "calibrated"}
        assert by_name["nic.doorbell"]["uncertain"] == ["machine.nic.doorbell"]
        assert by_name["cache.transfer_socket"]["uncertain"] == []
        assert "machine.nic.doorbell" in by_name["all of the network interface"]["uncertain"]
        assert main(["run", "small.json", "--quiet"]) == 0
        assert main(["report", "out/small"]) == 0
        page = Path("out/small/report.html").read_text()
        assert "<td>calibrated †</td>" in page
        assert "<td>guess †</td>" in page
        assert "a gain is no better known than its price" in page
        marks = dict(re.findall(r'"cost":"([^"†]*)( †)?"', page))
        assert len(marks) > 10
        assert all(bool(mark) == bool(by_name[name.rstrip(" *")]["uncertain"]) for name, mark in marks.items())

    def test_the_picture_marks_them(self) -> None:
        from contend.common.statistics import estimate
        from contend.explanations.output import draw

        explanation = contend.explain(contend.load(BASE).with_(SMALL), speedups=False)
        gain = estimate([1.1, 1.2])
        explanation.speedups = [
            Speedup("a", ("machine.a",), "1 ns", "", removed=gain, known_from={"machine.a": "guess"},
                    uncertain=("machine.a",)),
            Speedup("b", ("machine.b",), "1 ns", "", removed=gain, known_from={"machine.b": "measured"}),
        ]  # fmt: skip
        axes = draw(explanation).axes[1]
        assert [tick.get_text() for tick in axes.get_yticklabels()] == ["a †", "b"]
        assert any("no better known than its price" in text.get_text() for text in axes.texts)
        explanation.speedups = explanation.speedups[1:]
        texts = draw(explanation).axes[1].texts
        assert not any("no better known than its price" in text.get_text() for text in texts)


@pytest.mark.core
@pytest.mark.parametrize("sharing", ["flows", "bursts"])
def test_wires_shared_as_flows_are_not_called_idle(sharing: str, tmp_path: Path, capsys: Capture) -> None:
    """A stage of 259 messages that carry megabytes was shown as 0.0 % busy, and as no limit of the rate."""
    is_counted = sharing == "bursts"
    words = ["--set", f"fabric.sharing={sharing}", "--replications", "1", "--no-speedups", "--out", str(tmp_path)]
    assert main(["explain", "partitioned/send_persistent", *words]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert (
        "no stage of the interfaces limits the rate" in shown or "this stage limits the rate" in shown
    ) == is_counted
    assert ("which no stage of the interfaces counts" in shown) == (not is_counted)
    written = json.loads((tmp_path / "explain.json").read_text())
    assert written["counts_large_transfers"] == is_counted
    assert any("flows (fabric.sharing)" in remark for remark in written["remarks"]) == (not is_counted)
