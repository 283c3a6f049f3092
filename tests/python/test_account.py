"""The account of published sets: every row has a place in it, and its numbers are those of the runs."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from contend.accuracy.account import (
    FILE,
    PUBLISHED,
    RESULTS,
    TABLE,
    account_files,
    account_json,
    account_sections,
    published_points,
    read_account,
)
from contend.accuracy.comparisons import find_comparison, regenerate
from contend.accuracy.page import accuracy_page
from contend.common.errors import InputError
from contend.datasets.dataset import Dataset
from contend.datasets.reading import read_dataset
from fakes import REPOSITORY
from predicting import result

FOLDER = REPOSITORY / "validation/published"
SHIPPED = find_comparison(REPOSITORY, "published")
SETS: list[dict[str, Any]] = json.loads((FOLDER / FILE).read_text())["sets"]
MEASURED: dict[str, dict[str, Any]] = {one["id"]: one for one in json.loads((FOLDER / PUBLISHED).read_text())}
# A row's value in SI units, by the unit of its set; Slingshot's 31 pairs of nodes are simulated by one.
TO_SI = {
    "million messages/s": lambda row: row["value"] * 1e6,
    "messages/s": lambda row: row["value"],
    "messages/s (aggregate)": lambda row: row["value"] / 31,
    "MB/s": lambda row: row["value"] * 1e6 / row["size_B"],
    "us": lambda row: row["value"] * 1e-6,
    "seconds for 5e6 messages": lambda row: 5e6 / row["value"],
}


def dataset_files_of(run: str) -> list[Path]:
    (one,) = [one for one in SHIPPED.description.runs if one.name == run]
    return sorted(path for pattern in one.datasets for path in FOLDER.glob(pattern))


def datasets_of(part: dict[str, Any]) -> list[Dataset]:
    found = {one.name: one for one in map(read_dataset, dataset_files_of(part["run"]))}
    return [found[name] for name in part["datasets"]]


def size_of(dataset: Dataset, parameters: dict[str, Any]) -> int:
    size = parameters.get("message_size", dataset.workload.get("message_size"))
    return int(str(size).removesuffix(" B"))


def test_every_published_set_is_scored_or_gives_a_price_or_has_a_reason() -> None:
    account = read_account(FOLDER)
    assert account is not None
    assert {one.set for one in account.sets} == set(MEASURED)
    assert {one.set: one.grade for one in account.sets} == {name: one["grade"] for name, one in MEASURED.items()}
    # With those of the lock study they are all that there are.
    locks = json.loads((REPOSITORY / "validation/locks/published.json").read_text())
    assert not {one["id"] for one in locks} & set(MEASURED)


@pytest.mark.parametrize("entry", [one for one in SETS if "scored" in one], ids=lambda entry: entry["set"])
def test_datasets_hold_the_rows_of_their_set(entry: dict[str, Any]) -> None:
    account = read_account(FOLDER)
    assert account is not None
    (one,) = [one for one in account.sets if one.set == entry["set"]]
    published = MEASURED[entry["set"]]
    unit = next(value for name, value in TO_SI.items() if published["unit"].partition(" (unit")[0] == name)
    for part, written in zip(one.scored, entry["scored"], strict=True):
        rows = [published["points"][index] for index in part.of(published["points"])]
        expected = [(row.get("size_B"), unit(row)) for row in rows]
        has_sizes = all(size is not None for size, _ in expected)
        found = [
            (size_of(dataset, point.parameters) if has_sizes else None, point.median)
            for dataset in datasets_of(written)
            for point in dataset.points
        ]
        assert [size for size, _ in sorted(found)] == [size for size, _ in sorted(expected)]
        assert [value for _, value in sorted(found)] == pytest.approx([value for _, value in sorted(expected)])
        assert all(dataset.path.read_text().count(published["source"]) for dataset in datasets_of(written))


@pytest.mark.parametrize("entry", [one for one in SETS if "prices" in one], ids=lambda entry: entry["set"])
def test_prices_name_the_set_that_gives_them(entry: dict[str, Any]) -> None:
    short = entry["set"].partition("-")[0]
    for part in entry["prices"]:
        profile = json.loads((REPOSITORY / f"calibration/profiles/{part['profile']}.json").read_text())
        named = {
            f"{section}.{name}"
            for section, values in profile.items()
            if isinstance(values, dict)
            for name, value in values.items()
            if isinstance(value, dict) and f"published set {short}" in value.get("source", "")
        }
        assert set(part["prices"]) <= named
        # Other sets quote N09 to say which processor they were measured with.
        missing = {name for name in named - set(part["prices"]) if not name.startswith("rdma.")}
        assert not missing


def test_no_scored_point_was_in_a_fit_and_grade_b_is_scored_by_ratios() -> None:
    runs = {one.name: one for one in SHIPPED.description.runs}
    named = {(part["run"], name) for one in SETS for part in one.get("scored", ()) for name in part["datasets"]}
    for one in SETS:
        for part in one.get("scored", ()):
            assert runs[part["run"]].ratios or one["grade"] == "A"
            assert "beside" not in part or runs[part["beside"]].ratios == runs[part["run"]].ratios
    for run in runs:
        found = SHIPPED.result(run)
        assert all(point["held_out"] for point in found["points"])
        assert not found["not_predicted"]
        if not run.endswith("-calls"):
            assert {(run, point["dataset"]) for point in found["points"]} == {one for one in named if one[0] == run}


def test_the_written_account_is_that_of_the_runs() -> None:
    account = read_account(FOLDER)
    assert account is not None
    found = account_json(account, published_points(FOLDER), SHIPPED.profile_and_result)
    for name, content in account_files(found, SHIPPED.description.title).items():
        assert (FOLDER / name).read_bytes() == content, "renew it: ./contend validate comparison published"
    by_name = {one["set"]: one for one in found}
    assert by_name["M04-ghex-ucx-onelock"]["scored"][0]["profile"] == "published/threads-profile"
    assert by_name["N05-sjtu-1pair"]["scored"][0]["profile"] == "alembert"
    assert all(sum(part["points"] for part in one["scored"]) == one["points"] for one in found)


SET = {"set": "S1", "grade": "B",
       "scored": [{"what": "two", "reference": "one", "run": "tcp", "datasets": ["shared"], "rows": [{"config": "a"}]}],
       "prices": [{"profile": "box", "prices": ["nic.post", "nic.gap"], "rows": [{"config": ["b"], "n": 1}]},
                  {"profile": "bag", "prices": ["nic.post", "nic.gap"], "rows": [{"config": "b", "n": 1}]}],
       "not_simulated": [{"why": "no | model", "rows": [{"config": "b", "n": [2, 3]}]}]}  # fmt: skip
POINTS = [{"config": "a", "n": 1}, {"config": "a", "n": 2}] + [{"config": "b", "n": n} for n in (1, 2, 3)]


def written(folder: Path, *sets: dict[str, Any], **published: list[dict[str, Any]]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FILE).write_text(json.dumps({"schema_version": 1, "sets": sets}))
    listed = [{"id": name, "points": points} for name, points in (published or {"S1": POINTS}).items()]
    (folder / PUBLISHED).write_text(json.dumps(listed))
    return folder


def run_with(errors: dict[str, list[float]], *, ratios: bool = True) -> dict[str, Any]:
    points = [{"dataset": name, "abs_error_pct": error} for name, each in errors.items() for error in each]
    return {"points": points, "options": {"ratios": ratios}}


def test_errors_are_those_of_a_set_s_own_datasets(tmp_path: Path) -> None:
    beside = {**SET["scored"][0], "beside": "other"}  # type: ignore[dict-item]
    account = read_account(written(tmp_path, {**SET, "scored": [beside]}))
    assert account is not None
    runs = {"tcp": ("box", run_with({"shared": [1.0, 3.0, 50.0], "another": [99.0]})),
            "other": ("../bag", run_with({"shared": [7.0]}))}  # fmt: skip
    (one,) = account_json(account, {"S1": POINTS}, runs.__getitem__)
    assert (one["points"], one["median_abs_error_pct"], one["p90_abs_error_pct"]) == (3, 3.0, 40.6)
    assert (one["rows_scored"], one["rows"]) == (2, 5)
    assert one["with_another_profile"]["median_abs_error_pct"] == 7.0
    text = "\n".join(account_sections([one]))
    assert "| S1 | B | 2 of 5 | 3 | 3 % | 40.6 % | ratio to one | box |" in text
    assert "| S1 | 1 | 7 % | 7 % | ../bag |" in text
    assert "| S1 | box, bag | `nic.post`, `nic.gap` |" in text
    assert "| S1 | 2 of 5 | no \\| model |" in text
    runs["tcp"] = ("box", run_with({"shared": [2.0]}, ratios=False))
    (one,) = account_json(account, {"S1": POINTS}, runs.__getitem__)
    assert "| absolute values | box |" in "\n".join(account_sections([one]))
    runs["tcp"] = ("box", run_with({"another": [2.0]}))
    with pytest.raises(InputError, match=r"S1: the run 'tcp' predicted no point of 'shared'"):
        account_json(account, {"S1": POINTS}, runs.__getitem__)


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"not_simulated": []}, r"S1: .*'n': 2.* is in no account"),
     ({"not_simulated": [{"why": "x", "rows": [{}]}]}, r"S1: .*'n': 1.* is both used and not simulated"),
     ({"grade": "C"}, "/sets/0/grade"),
     ({"scored": [{**SET["scored"][0], "run": 3}]}, "/sets/0/scored/0/run"),  # type: ignore[dict-item]
     ({"because": "x"}, "because"),
     ({"set": "S2"}, r"S1, S2: expected each set of published.json once")],
)  # fmt: skip
def test_accounts_that_do_not_fit_are_refused(changes: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        read_account(written(tmp_path, {**SET, **changes}))


def test_a_set_is_accounted_for_once(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"/sets: S1: expected each set"):
        read_account(written(tmp_path, SET, SET))
    assert read_account(tmp_path / "elsewhere") is None


def test_a_comparison_writes_its_account_and_the_page_shows_it(tmp_path: Path) -> None:
    folder = written(tmp_path / "validation/here", SET)
    run = {"name": "tcp", "title": "Over TCP", "profile": "box", "datasets": ["*.json"]}
    document = {"schema_version": 1, "title": "Here", "text": "Runs.", "runs": [run]}
    (folder / "comparison.json").write_text(json.dumps(document))
    found = {**result(tmp_path), "options": {"ratios": True}}
    _, files = regenerate(tmp_path, find_comparison(tmp_path, "here"), lambda *_: found, lambda *_: None)
    assert {RESULTS, TABLE} <= {path.name for path in files}
    (one,) = json.loads((folder / RESULTS).read_text())
    assert one["points"] == sum(point["dataset"] == "shared" for point in found["points"])
    assert "| S1 | two | one |" in (folder / TABLE).read_text()
    page = accuracy_page(tmp_path)
    assert "Of 1 sets 1 are scored:" in page
    assert "[by what each set is scored](../validation/here/results.md)" in page
    changed = {**SET, "scored": [{**SET["scored"][0], "run": "shm"}]}  # type: ignore[dict-item]
    shutil.copy(written(tmp_path / "other", changed) / FILE, folder / FILE)
    with pytest.raises(InputError, match="here has no run 'shm'; there are: tcp"):
        regenerate(tmp_path, find_comparison(tmp_path, "here"), lambda *_: found, lambda *_: None)
