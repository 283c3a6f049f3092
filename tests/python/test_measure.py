"""The course of a campaign, with a fake benchmark: spread, things that go wrong, budget, datasets."""

import json
import re
import resource
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from contend.common.errors import ContendError, InputError
from contend.datasets.spread import spread
from contend.measure.campaign import campaigns_directory, load_campaign, parse_campaign, preset_names, schema
from contend.measure.dataset import dataset_bytes, datasets
from contend.measure.journal import Journal
from contend.measure.load import Load, Mark, Monitor
from contend.measure.plan import expand, plan_hash
from contend.measure.report import picture_bytes, table
from contend.measure.runner import Job, Outcome, Record, launch
from contend.measure.session import Session, check_header, header
from contend.measure.transports import TRANSPORTS
from measuring import MACHINE, SOURCES, FakeWorkshop, Silent, campaign, measure


@pytest.fixture(autouse=True)
def _quiet_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests run on busy machines: what they say of marks they make themselves."""
    monkeypatch.setattr(Load, "marks", lambda self, fastest: [])


def found(wanted: Any, path: Path) -> dict[str, Any]:
    ending, entries = measure(wanted, path)
    return datasets(entries, ending.courses, ending.skipped, "0" * 16)


def test_a_campaign_gives_a_dataset_for_each_library_transport_and_experiment(tmp_path: Path) -> None:
    wanted = campaign(
        [
            {"name": "shared", "libraries": ["openmpi-5", "mpich-5"], "sweep": {"pairs": [1, 2]}},
            {"name": "other", "transports": ["shm", "tcp"], "workload": {"pairs": 3}},
        ]
    )
    result = found(wanted, tmp_path / "journal.jsonl")
    assert sorted(result) == [
        "mpich-5_shm_shared",
        "openmpi-5_shm_other",
        "openmpi-5_shm_shared",
        "openmpi-5_tcp_other",
    ]
    dataset = result["openmpi-5_shm_shared"]
    assert dataset["machine"] == MACHINE
    assert dataset["transport"] == "shm"
    assert dataset["workload"]["window"] == 16
    assert "pairs" not in dataset["workload"]
    assert [point["parameters"] for point in dataset["points"]] == [{"pairs": 1}, {"pairs": 2}]
    for point in dataset["points"]:
        rate = point["message_rate"]
        assert len(rate["samples"]) == len(rate["clean"]) == len(rate["launch"]) == 12
        assert rate["unit"] == "msg/s"
        assert rate["iqr"][0] <= rate["median"] <= rate["iqr"][1]
        assert rate["median_ci95"][0] <= rate["median"] <= rate["median_ci95"][1]
        assert point["counters"]["messages_sent"] == 3 * 100 * point["parameters"]["pairs"]
        assert point["counters"]["oos_in_queue_max"] == point["parameters"]["pairs"]
        commands = [dataset["launches"][place]["command"] for place in set(rate["launch"])]
        assert len(commands) == 3
        assert all(f"--pairs={point['parameters']['pairs']}" in command for command in commands)
    assert json.loads(dataset_bytes(dataset)) == dataset
    assert set(picture_bytes(result)) == {"png", "svg"}
    assert table(dataset).row_count == 2


@pytest.mark.parametrize(
    ("behave", "outcome", "detail"),
    [
        ("crash", "crashed", "SIGSEGV"),
        ("deadlock", "timed out", "no end within 1 s"),
        ("fail", "failed", "no route to host"),
        ("unsupported", "unsupported", "the library lacks threads"),
    ],
)
def test_what_goes_wrong_is_a_result_and_stops_nothing(behave: str, outcome: str, detail: str, tmp_path: Path) -> None:
    wanted = campaign(
        [{"name": "bad", "workload": {"behave": behave}}, {"name": "good", "workload": {"pairs": 2}}],
        effort={"timeout_s": 1},
    )
    ending, entries = measure(wanted, tmp_path / "journal.jsonl")
    assert ending.is_complete
    outcomes = {course.cell.experiment.name: [e["outcome"] for e in course.entries] for course in ending.courses}
    assert outcomes == {"bad": [outcome] * 2, "good": ["ok"] * 3}
    dataset = datasets(entries, ending.courses, ending.skipped, "")["openmpi-5_shm_bad"]
    (point,) = dataset["points"]
    assert point["message_rate"]["samples"] == []
    assert point["outcome"] == outcome
    assert point["outcomes"] == {outcome: 2}
    assert detail in dataset["launches"][0]["detail"]
    assert table(dataset).row_count == 1


def test_a_point_without_a_sample_has_the_parameters_of_the_others(tmp_path: Path) -> None:
    wanted = campaign([{"name": "a", "workload": {"pairs": 2}, "sweep": {"behave": ["well", "crash"]}}])
    points = found(wanted, tmp_path / "journal.jsonl")["openmpi-5_shm_a"]["points"]
    assert [point["parameters"] for point in points] == [
        {"behave": "well", "pairs": 2}, {"behave": "crash", "pairs": 2},
    ]  # fmt: skip
    assert [point["outcome"] for point in points] == ["ok", "crashed"]


def test_what_cannot_be_launched_is_said_with_its_reason(tmp_path: Path) -> None:
    ending, entries = measure(
        campaign([{"name": "a", "sweep": {"behave": ["well", "impossible"]}}]), tmp_path / "journal.jsonl"
    )
    assert list(ending.skipped.values()) == ["there is no such transport"]
    dataset = datasets(entries, ending.courses, ending.skipped, "")["openmpi-5_shm_a"]
    assert dataset["not_measured"] == [{"parameters": {"behave": "impossible"}, "reason": "there is no such transport"}]
    assert len(dataset["points"]) == 1


def test_a_library_that_never_starts_is_given_up_after_two_launches(tmp_path: Path) -> None:
    wanted = campaign([{"name": "a", "workload": {"behave": "fail"}, "sweep": {"pairs": [1, 2, 3, 4, 5]}}])
    ending, _ = measure(wanted, tmp_path / "journal.jsonl")
    assert sum(ending.outcomes().values()) == 2
    assert len(ending.skipped) >= 3


def test_launches_go_on_until_the_spread_is_known(tmp_path: Path) -> None:
    wanted = campaign(
        [{"name": "calm", "workload": {"spread": 0.001}}, {"name": "wild", "workload": {"spread": 0.9}}],
        effort={"launches": 2, "launches_max": 7, "precision_pct": 2},
    )
    ending, _ = measure(wanted, tmp_path / "journal.jsonl")
    counts = {course.cell.experiment.name: len(course.entries) for course in ending.courses}
    assert counts["calm"] == 2
    assert counts["wild"] == 7


def test_marked_launches_do_not_count_but_not_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Load, "marks", lambda self, fastest: ["foreign load"])
    ending, entries = measure(campaign([{"name": "a"}]), tmp_path / "journal.jsonl")
    assert len(ending.courses[0].entries) == 6
    (point,) = datasets(entries, ending.courses, {}, "")["openmpi-5_shm_a"]["points"]
    assert point["message_rate"]["spread_of"] == "all"
    assert not any(point["message_rate"]["clean"])


def test_rounds_are_shuffled_by_the_seed(tmp_path: Path) -> None:
    def order(seed: int, name: str) -> list[str]:
        wanted = campaign([{"name": "a", "sweep": {"pairs": list(range(1, 7))}}], seed=seed, effort={"launches": 2})
        return [e["cell"] for e in measure(wanted, tmp_path / name)[1] if e["type"] == "launch"]

    first = order(1, "1")
    assert order(1, "2") == first
    assert order(2, "3") != first
    assert first[:6] != first[6:12]
    assert sorted(first[:6]) == sorted(first[6:12]), "every cell once in a round"


def test_a_cell_that_often_crashes_is_launched_more_often(tmp_path: Path) -> None:
    """When the budget ends, all cells are to be about equally well known."""
    wanted = campaign([{"name": "a", "sweep": {"pairs": [1, 2]}}], effort={"launches": 8, "launches_max": 8})
    cells = expand(wanted)
    launches: list[str] = []

    def start(job: Job) -> Record:
        record = launch(job)
        launches.append(next(word for word in job.command if word.startswith("--pairs")))
        crashes = launches[-1] == "--pairs=2" and launches.count("--pairs=2") % 2 == 1
        return replace(record, outcome=Outcome.crashed, document=None) if crashes else record

    with Journal(tmp_path / "journal.jsonl") as journal:
        journal.append(header(wanted, cells, MACHINE, SOURCES))
        Session(wanted, cells, FakeWorkshop(), journal, started=time.monotonic(), start=start).run(Silent())
    # It crashes every other time: three launches for two of the other.
    assert launches[:10].count("--pairs=2") == 6


def test_the_budget_ends_a_campaign_and_all_cells_have_about_as_much(tmp_path: Path) -> None:
    wanted = campaign(
        [{"name": "a", "workload": {"sleep": 0.3}, "sweep": {"pairs": [1, 2]}}],
        budget_s=6, effort={"launches": 50, "launches_max": 50, "target_s": 0.01},
    )  # fmt: skip
    watcher = Silent()
    ending, _ = measure(wanted, tmp_path / "journal.jsonl", watcher)
    counts = [len(course.entries) for course in ending.courses]
    assert not ending.is_complete
    assert max(counts) - min(counts) <= 1
    assert 1 <= min(counts) < 20
    assert ending.elapsed_s < 7
    assert [shown[0] for shown in watcher.shown] == [*range(sum(counts)), sum(counts)]
    assert all(left <= 6 for *_, left, _ in watcher.shown)


def test_a_journal_of_another_campaign_or_machine_is_refused() -> None:
    def of(sources: str = SOURCES, machine: str = "box", seed: int = 1, **experiment: Any) -> dict[str, Any]:
        wanted = campaign([{"name": "a", **experiment}], seed=seed)
        return json.loads(json.dumps(header(wanted, expand(wanted), {"id": machine}, sources)))

    check_header(of(), of())
    check_header(of(), of(effort={"launches": 2, "precision_pct": 1, "timeout_s": 9}))
    for other, message in (
        (of(workload={"pairs": 2}), "plan differs"),
        (of(benchmark="rma"), "plan differs"),
        (of(effort={"repetitions": 9}), "repetitions of a differs: 4 there, 9 now"),
        (of(effort={"target_s": 2}), "target_s of a differs: 0.15 there, 2.0 now"),
        (of(sources="1" * 16), f"source of the benchmark programs differs: {SOURCES} there, {'1' * 16} now"),
        (of(seed=2), "seed differs: 1 there, 2 now"),
        (of(machine="other"), "of another machine"),
    ):
        with pytest.raises(ContendError, match=message):
            check_header(of(), other)


def test_a_campaign_does_not_go_on_with_another_library(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    first, more = (campaign([{"name": "a"}], effort={"launches": n, "launches_max": n}) for n in (1, 2))
    measure(first, path, library="1.0")
    before = path.read_bytes()
    with pytest.raises(ContendError, match=r"openmpi-5 differs: fake 1.0 \(openmpi-5\) there, fake 1.1"):
        measure(more, path, library="1.1")
    assert path.read_bytes() == before
    ending, _ = measure(more, path, library="")
    assert list(ending.skipped.values()) == ["the library is not there"]
    ending, entries = measure(more, path, library="1.0")
    assert len(ending.courses[0].entries) == 2
    assert [entry["library"]["version"] for entry in entries if entry["type"] == "library"] == ["1.0"]


def test_a_library_that_comes_later_is_the_one_of_the_record(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    wanted = campaign([{"name": "a"}])
    measure(wanted, path, library="")
    assert found(wanted, path)["openmpi-5_shm_a"]["library"]["version"] == "1"


def test_marks_tell_foreign_load_steal_throttling_and_a_slow_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    assert Load(0.01, 0.0, 0.0, 1e-3, 0).marks(1e-3) == []
    assert Load(0.5, 0.0, 0.0, 1e-3, 0).marks(1e-3) == [Mark.foreign_load]
    assert Load(0.0, 0.1, 0.0, 1e-3, 0).marks(1e-3) == [Mark.steal]
    assert Load(0.0, 0.0, 1.0, 1e-3, 0).marks(1e-3) == [Mark.busy_before]
    assert Load(0.0, 0.0, 0.0, 1e-3, 3).marks(1e-3) == [Mark.throttled]
    assert Load(0.0, 0.0, 0.0, 2e-3, 0).marks(1e-3) == [Mark.slow_clock]


def test_the_monitor_sees_what_others_do_and_not_what_the_launch_did(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    burn = "import time\nuntil = time.monotonic() + {}\nwhile time.monotonic() < until: pass"
    others = psutil.cpu_count() or 1
    monitor = Monitor()
    monitor.start()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    subprocess.run([sys.executable, "-c", burn.format(0.5)], check=True)
    mine = monitor.stop()
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before.ru_utime
    own_cores = used / (time.monotonic() - began)
    foreign = [subprocess.Popen([sys.executable, "-c", burn.format(30)]) for _ in range(others)]
    try:
        monitor.start()
        time.sleep(0.5)
        theirs = monitor.stop()
    finally:
        for process in foreign:
            process.kill()
            process.wait()
    assert theirs.foreign_cores > 0.6 * others
    assert theirs.busy_before_cores > 0.3 * others
    # The test machine may be busy besides, but not with more than the launch left over.
    assert mine.foreign_cores < others - own_cores + 0.2
    assert Mark.foreign_load in theirs.marks(theirs.reference_s)


def test_fewer_than_five_samples_tell_no_interval() -> None:
    few, enough = spread([[1.0], [1.1], [1.2], [1.3]]), spread([[1.0, 1.1], [1.2, 1.3], [1.4]])
    assert few is not None
    assert enough is not None
    assert few.ci95 is None
    assert enough.ci95 is not None


def test_the_interval_takes_launches_as_the_independent_units() -> None:
    within = spread([[1.0, 1.01, 0.99, 1.0], [1.0, 1.02, 0.98, 1.0], [1.0, 1.01, 0.99, 1.0]])
    between = spread([[1.0, 1.0, 1.0, 1.0], [2.0, 2.0, 2.0, 2.0], [3.0, 3.0, 3.0, 3.0]])
    assert within is not None
    assert within.precision is not None
    assert between is not None
    assert between.precision is not None
    assert within.precision < 0.02
    assert between.precision > 0.2
    assert spread([]) is None
    single = spread([[5.0]])
    assert single is not None
    assert (single.median, single.cov, single.ci95) == (5.0, None, None)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"colour": "red"}, '/colour: unknown key "colour"; allowed: name, description, budget_s'),
        ({"experiments": []}, "/experiments: found []; allowed: list should have at least 1 item"),
        ({"budget_s": -1}, "/budget_s: found -1; allowed: greater than 0"),
        ({"experiments": [{"name": "a", "benchmark": "multirate"}]}, "needs libraries and transports"),
        ({"experiments": [{"name": "a", "benchmark": "locks", "libraries": ["mpich-5"]}]}, "uses no MPI"),
        ({"experiments": [{"name": "../a", "benchmark": "locks"}]}, "/experiments/0/name: found"),
        ({"experiments": [{"name": "a", "benchmark": "lock"}]}, "did you mean 'locks'?"),
        ({"experiments": [{"name": "a", "benchmark": "locks", "sweep": {"threads": []}}]}, "threads: has no values"),
        ({"experiments": [{"name": "a", "benchmark": "locks", "workload": {"repetitions": 2}}]}, "campaign's effort"),
        ({"experiments": [{"name": "a", "benchmark": "locks"}] * 2}, "/experiments/1/name: found experiment 'a' again"),
        ({"effort": {"launches": 5, "launches_max": 2}}, "less than launches"),
        (
            {"experiments": [{"name": "a", "benchmark": "rma", "libraries": ["mpich-9"], "transports": ["tcp"]}]},
            '/experiments/0/libraries/0: found "mpich-9"; allowed: openmpi-5',
        ),
        (
            {"experiments": [{"name": "a", "benchmark": "rma", "libraries": ["mpich-5"], "transports": ["tcp"],
                              "netem": "delay 1ms"}]},
            "netem needs transports over veth",
        ),
        (
            {"experiments": [{"name": "a", "benchmark": "rma", "libraries": ["mpich-5"], "transports": ["tcp"],
                              "options": {"speed": 9}}]},
            "/experiments/0/options/speed: unknown key",
        ),
    ],
)  # fmt: skip
def test_wrong_campaigns_are_refused_with_the_place(change: dict[str, Any], message: str) -> None:
    good = {"name": "a", "description": "", "budget_s": 9, "experiments": [{"name": "a", "benchmark": "locks"}]}
    parse_campaign(json.dumps(good), "file.json")
    with pytest.raises(InputError, match=r"^file\.json") as caught:
        parse_campaign(json.dumps(good | change), "file.json")
    assert message in str(caught.value)


def test_a_mode_that_multirate_does_not_have_is_refused() -> None:
    with pytest.raises(InputError, match="no mode 'fibre'"):
        expand(campaign([{"name": "a", "workload": {"mode": "fibre"}}]))


def test_shipped_campaigns_are_valid_and_the_published_schema_is_theirs() -> None:
    from jsonschema import Draft202012Validator

    published = json.loads((campaigns_directory().parent / "campaign.schema.json").read_text())
    assert published == schema(), "renew it: ./contend measure --schema > validation/campaign.schema.json"
    Draft202012Validator.check_schema(published)
    assert {"quick", "standard", "full"} <= set(preset_names())
    for name in preset_names():
        cells = expand(load_campaign(name))
        assert len({cell.key for cell in cells}) == len(cells)
        assert len(plan_hash(cells)) == 16
        assert {cell.transport for cell in cells} <= {*TRANSPORTS, "none"}
        Draft202012Validator(published).validate(json.loads((campaigns_directory() / f"{name}.json").read_text()))


def test_committed_datasets_are_whole_and_carry_no_paths_of_a_machine() -> None:
    for path in (campaigns_directory().parent / "data").glob("*/*.json"):
        text = path.read_text()
        dataset = json.loads(text)
        assert path.stem == dataset["dataset"], path
        assert {"machine", "library", "transport", "workload", "points", "launches", "campaign"} <= dataset.keys(), path
        assert not re.search(r"/(root|home|tmp|work)/", text), path
        for point in dataset["points"]:
            for value in point.values():
                if isinstance(value, dict) and "samples" in value:
                    assert len(value["samples"]) == len(value["launch"]) == len(value["clean"]), path
                    assert all(place < len(dataset["launches"]) for place in value["launch"]), path
