"""A small grid of results to draw pictures of."""

import contend

SMALL = {"workload.iterations": 1, "workload.window": 16, "run.replications": 2}


def a_grid() -> contend.Results:
    """Three numbers of pairs by two numbers of instances."""
    base = contend.load("fig5_2a_base").with_(SMALL)
    return contend.run(base.over({"workload.pairs": [1, 2, 4], "library.instances.count": [1, 2]}))
