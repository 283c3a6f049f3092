"""The store of results that sweeps share: what is found again, and what a damaged file leaves."""

import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import contend
from contend.common.errors import ContendError
from contend.scenarios.resolution import Point
from contend.sweeps import store as stores
from contend.sweeps.store import KeptRuns, ResultStore, StoredRun, count_stored, point_key, run_key
from sweeping import GRID, same

pytestmark = pytest.mark.core


def files_of(folder: Path) -> tuple[Path, Path]:
    """The results and the index of a store that one process wrote."""
    (index,) = folder.rglob("*.index")
    return index.with_suffix(".results"), index


def truncate(path: Path, size: int) -> None:
    """Cuts a file to a size, or so many bytes off it."""
    os.truncate(path, size if size >= 0 else path.stat().st_size + size)


class TestStore:
    def test_nothing_is_simulated_twice(self, small: contend.Scenario) -> None:
        first = contend.sweep(small, GRID)
        again = contend.sweep(small, GRID)
        assert (first.simulated, first.reused) == (12, 0)
        assert (again.simulated, again.reused) == (0, 12)
        assert first.points == again.points
        # More replications and other points add to what is there; a name does not matter, a seed does.
        assert contend.sweep(small, GRID, replications=3).simulated == 6
        assert contend.sweep(small.with_({"name": "other"}), {"workload.pairs": [2, 3]}).simulated == 2
        assert contend.sweep(small.with_({"run.seed": 2}), GRID).simulated == 12

    def test_nothing_follows_a_result_that_was_written_in_part(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Else the places in the index of those after it would be wrong."""
        store = ResultStore(tmp_path)
        keys = [run_key("point", number) for number in range(3)]
        store.put(keys[0], "{}", 1.0)

        def full(file: int, data: bytes) -> None:
            os.write(file, data[:10])
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patched:
            patched.setattr(stores, "_write", full)
            with pytest.raises(ContendError, match="cannot keep a result"):
                store.put(keys[1], "{}", 1.0)
        with pytest.raises(ContendError, match="cannot keep a result"):
            store.put(keys[2], "{}", 1.0)
        store.close()
        store.put(keys[2], "{}", 1.0)  # in files of its own
        store.close()
        again = ResultStore(tmp_path)
        assert again.find(keys).keys() == {keys[0], keys[2]}
        assert again.damaged == 0

    def test_a_run_for_the_hash_of_its_events_is_neither_found_nor_kept(
        self, small: contend.Scenario, tmp_path: Path
    ) -> None:
        asked: list[bool] = []

        class Counting:
            name = "counting"

            def run_point(self, point: Point, replication: int, *, trace_hash: bool) -> str:
                asked.append(trace_hash)
                return "{}"

        point = small.points[0]
        engine: Any = Counting()
        KeptRuns(engine, ResultStore(tmp_path), [point]).run_point(point, 0, trace_hash=False)
        again = KeptRuns(engine, ResultStore(tmp_path), [point])
        for trace_hash in (False, True, True):
            again.run_point(point, 0, trace_hash=trace_hash)
        assert asked == [False, True, True]
        assert count_stored(tmp_path) == 1

    def test_another_core_is_another_result(self, small: contend.Scenario, monkeypatch: pytest.MonkeyPatch) -> None:
        key = point_key(small.points[0])
        monkeypatch.setattr(stores, "fingerprint", lambda: "0.0.0-other")
        assert point_key(small.points[0]) != key

    @pytest.mark.parametrize(
        ("damage", "lost"),
        [
            (lambda results, index: truncate(results, -20), 1),
            (lambda results, index: truncate(results, 0), 12),
            (lambda results, index: results.unlink(), 12),
            (lambda results, index: results.write_bytes(results.read_bytes().replace(b'"result"', b'"Result"', 3)), 3),
            (lambda results, index: results.write_bytes(results.read_bytes().replace(b"\n", b"?", 4)), 0),
        ],
    )
    def test_damaged_results_are_simulated_again(
        self, small: contend.Scenario, tmp_path: Path, damage: Callable[[Path, Path], Any], lost: int
    ) -> None:
        folder = tmp_path / "store"
        first = contend.sweep(small, GRID, store=folder)
        results, index = files_of(folder)
        damage(results, index)
        again = contend.sweep(small, GRID, store=folder)
        assert (again.simulated, again.reused, again.damaged) == (lost, 12 - lost, lost)
        assert same(first, again)
        mended = contend.sweep(small, GRID, store=folder)
        assert (mended.simulated, mended.damaged) == (0, 0)

    @pytest.mark.parametrize(("left", "there"), [(0, 0), (47, 0), (48, 1), (48 * 5 + 7, 5)])
    def test_only_what_the_index_names_is_there(
        self, small: contend.Scenario, tmp_path: Path, left: int, there: int
    ) -> None:
        """Killed between a line and its entry, or in the middle of either."""
        folder = tmp_path / "store"
        contend.sweep(small, GRID, store=folder)
        truncate(files_of(folder)[1], left)
        assert count_stored(folder) == there
        again = contend.sweep(small, GRID, store=folder)
        assert (again.simulated, again.reused, again.damaged) == (12 - there, there, 0)

    def test_a_changed_byte_is_noticed(self, small: contend.Scenario, tmp_path: Path) -> None:
        kept = ResultStore(tmp_path)
        key = run_key(point_key(small.points[0]), 0)
        kept.put(key, '{"message_rate": 1.0}', 0.5)
        assert StoredRun.from_json(kept.find([key])[key]) == StoredRun({"message_rate": 1.0}, 0.5)
        assert kept.find([run_key(key, 1)]) == {}
        results = files_of(tmp_path)[0]
        results.write_bytes(results.read_bytes().replace(b"1.0", b"2.0"))
        assert kept.find([key]) == {}
        assert kept.damaged == 1
        # Written again, by another process: the good one counts.
        other = ResultStore(tmp_path)
        other.put(key, '{"message_rate": 1.0}', 0.5)
        assert key in other.find([key])
        assert other.damaged == 0

    def test_several_at_once_share_a_folder(self, small: contend.Scenario, tmp_path: Path) -> None:
        stores = [ResultStore(tmp_path) for _ in range(3)]
        keys = [run_key(point_key(small.points[0]), number) for number in range(30)]

        def fill(number: int) -> None:
            for key in keys[number * 8 : number * 8 + 14]:  # some by two of them
                stores[number].put(key, json.dumps({"key": key}), 0.5)

        threads = [threading.Thread(target=fill, args=(number,)) for number in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        found = ResultStore(tmp_path).find(keys)
        assert {key: StoredRun.from_json(text).result for key, text in found.items()} == {
            key: {"key": key} for key in keys
        }

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
    def test_no_permission(self, small: contend.Scenario, tmp_path: Path) -> None:
        (tmp_path / "locked").mkdir(mode=0o500)
        with pytest.raises(ContendError, match="permission denied"):
            contend.sweep(small, GRID, store=tmp_path / "locked" / "store")

    def test_a_full_disk(self, small: contend.Scenario, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        calls = 0
        write = os.write

        def full(file: int, data: bytes) -> int:
            nonlocal calls
            calls += 1
            if calls > 10:  # two for each result
                write(file, data[:10])
                raise OSError(28, "No space left on device")
            return write(file, data)

        monkeypatch.setattr(os, "write", full)
        with pytest.raises(ContendError, match="no space left on the device; what was kept before counts"):
            contend.sweep(small, GRID, store=tmp_path / "store", jobs=1)
        monkeypatch.undo()
        assert count_stored(tmp_path / "store") == 5
        again = contend.sweep(small, GRID, store=tmp_path / "store")
        assert (again.simulated, again.reused, again.damaged) == (7, 5, 0)
