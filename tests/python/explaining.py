"""A design to be explained, and how to make it small."""

BASE = "fig5_2a_base"
SMALL = {
    "run.replications": 2, "workload.iterations": 2, "workload.warmup_iterations": 1, "workload.window": 16,
    "workload.pairs": 4,
}  # fmt: skip
