"""Simulates the numbers that prices are fitted to, for many sets of prices at a time."""

from __future__ import annotations

import json
import math
import statistics
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from contend.common.errors import ContendError
from contend.studyfit.description import with_prices

if TYPE_CHECKING:
    from collections.abc import Sequence

    from contend.common.jsontypes import JsonObject
    from contend.engine.runner import Engine
    from contend.scenarios.resolution import Point
    from contend.studyfit.description import StudyFit


class Trials:
    """Sets of prices as places: for each price how many standard deviations it is from what is expected of it."""

    def __init__(self, study: StudyFit, engine: Engine, jobs: int) -> None:
        self._study = study
        self._engine = engine
        self._pool = ThreadPoolExecutor(max_workers=jobs, thread_name_prefix="fit")
        # Several targets are numbers of one point.
        self._points: list[Point] = []
        for target in study.targets:
            if target.point not in self._points:
                self._points.append(target.point)

    def predictions(self, places: Sequence[Sequence[float]], replications: Sequence[int]) -> list[tuple[float, ...]]:
        """What each target comes out at in each place: the mean of the replications, NaN where one fails."""
        moved = [[with_prices(point, self._study.values(place)) for point in self._points] for place in places]
        running = [
            [[self._pool.submit(self._run, point, replication) for replication in replications] for point in points]
            for points in moved
        ]
        predictions = []
        for points in running:
            results = [[run.result() for run in runs] for runs in points]
            predictions.append(
                tuple(
                    statistics.fmean(
                        math.nan if result is None else target.read(result)
                        for result in results[self._points.index(target.point)]
                    )
                    for target in self._study.targets
                )
            )
        return predictions

    def close(self) -> None:
        """Ends its threads."""
        self._pool.shutdown(cancel_futures=True)

    def _run(self, point: Point, replication: int) -> JsonObject | None:
        try:
            result: JsonObject = json.loads(self._engine.run_point(point, replication, trace_hash=False))
        except ContendError:  # prices with which no run ends
            return None
        return result
