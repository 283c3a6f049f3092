"""A small sweep, and when two results are the same."""

import contend
from contend.results.frames import points_frame

BASE = "fig5_2a_base"
SMALL = {"workload.pairs": 2, "workload.iterations": 1, "workload.window": 16, "run.replications": 2}
GRID = {"workload.pairs": [1, 2, 4], "library.instances.count": [1, 2]}


def same(one: contend.Results, other: contend.Results) -> bool:
    """Equal but for the time that it took."""
    frames = [points_frame(results.points, results.scenario).drop("wall_s", "events") for results in (one, other)]
    return frames[0].equals(frames[1])
