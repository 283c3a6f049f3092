# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Calibrate your machine
#
# A prediction is worth what its machine profile is worth. A profile has some tens of physical parameters: prices of cache-line transfers,
# futex calls, steps of the network interface. Each should come from a measurement that isolates it. This notebook shows how far one gets
# with what is there today:
#
# 1. which parameters matter for a question, so that one knows what to measure;
# 2. how well measured rates pin a parameter down, tried where the truth is known;
# 3. how predictions compare with what was measured.
#
# There is no command that fits a whole profile to measurements yet. `contend measure` collects them (`docs/measuring.md`).

# %%
import json
from pathlib import Path

import polars as pl

import contend

base = contend.load("fig5_2a_base").with_({"workload.iterations": 1, "run.replications": 2})

# %% [markdown]
# ## 1. What matters
#
# The profile `alembert` says of each value where it comes from and how uncertain it is:

# %%
profile = base.frame().filter(pl.col("origin").str.starts_with("profile"))
profile.with_columns(pl.col("origin").str.extract(r"\((\w+)").alias("basis")).group_by("basis").len().sort("len")

# %% [markdown]
# Virtual speed-ups rank them for one question, here the rate at 8 pairs. A cost that changes nothing when removed need not be known well.

# %%
ranking = contend.explain(base.at(pairs=8), replications=3).speedup_frame()
single = ranking.filter(~pl.col("group")).select("cost", "value", "halved", "removed", "what")
single.head(8)

# %%
small = single.filter((pl.col("removed") - 1).abs() < 0.02)
f"{small.height} of {single.height} costs change the rate by less than 2 % even when they are free"

# %% [markdown]
# ## 2. Can a rate tell a parameter?
#
# A trial where the truth is known: a "machine" whose futex wake-up latency and send cost differ from the profile. Its rates at a few numbers
# of pairs play the measurement. Then a Latin hypercube over both parameters: which points give these rates?

# %%
pairs = [1, 2, 4, 8, 16]
truth = {"machine.futex.wake_latency": "6 us", "machine.software.send_call": "500 ns"}
machine = base.with_({**truth, "run.seed": 7, "sweep.workload.pairs": pairs})
measured = contend.run(machine, replications=5).frame().select("pairs", pl.col("message_rate").alias("measured"))
measured

# %%
plan = contend.LatinHypercube(
    {
        "machine.futex.wake_latency": contend.Range("1 us", "40 us", log=True),
        "machine.software.send_call": contend.Range("100 ns", "2 us", log=True),
    },
    samples=120,
)
cloud = contend.sweep(base.with_({"sweep.workload.pairs": pairs}), plan).frame()
misfit = (
    cloud.join(measured, on="pairs")
    .with_columns(((pl.col("message_rate") / pl.col("measured")).log() ** 2).alias("square"))
    .group_by("wake_latency", "send_call")
    .agg((pl.col("square").mean() ** 0.5).alias("misfit"))
    .sort("misfit")
)
misfit.head(6)

# %% [markdown]
# The ten best points against all: how far does each parameter still range?

# %%
def spread(frame):
    """Largest over smallest value."""
    return [frame[name].max() / frame[name].min() for name in ("wake_latency", "send_call")]


pl.DataFrame(
    {
        "parameter": ["futex.wake_latency (s)", "software.send_call (s)"],
        "truth": [6e-6, 500e-9],
        "best": [misfit["wake_latency"][0], misfit["send_call"][0]],
        "range before": spread(misfit),
        "range of the ten best": spread(misfit.head(10)),
    }
)

# %%
fit = misfit.row(0, named=True)
fitted = base.with_(
    {
        "machine.futex.wake_latency": f"{fit['wake_latency'] * 1e9:.3f} ns",
        "machine.software.send_call": f"{fit['send_call'] * 1e9:.3f} ns",
        "sweep.workload.pairs": [1, 2, 3, 4, 6, 8, 10, 12, 16, 20],
    }
)
check = contend.run(machine.with_({"sweep.workload.pairs": [1, 2, 3, 4, 6, 8, 10, 12, 16, 20]}), replications=5)
contend.plots.rate({"the machine": check, "fitted to 1, 2, 4, 8, 16 pairs": contend.run(fitted, replications=5)}, title="a trial where the truth is known")

# %% [markdown]
# ## 3. Predictions and measurements
#
# Numbers that the study reports for its own machine, and what the shipped profile predicts at a short run. Some of them were targets of
# the profile's calibration: those say nothing about its predictions and are marked so.

# %%
study = json.loads(Path("../validation/dissertation/study.json").read_text())["points"]
rows = []
for point in study:
    if "message_rate" not in point or any(isinstance(value, list) for value in point["parameters"].values()):
        continue
    name = point["scenarios"][0]
    scenario = contend.load(name)
    scenario = scenario.at(**point["parameters"]).with_({"workload.iterations": 2, "run.replications": 3})
    rate = contend.run(scenario).points[0].message_rate
    rows.append(
        {
            "scenario": name,
            "group": "target of calibration" if point.get("calibrated") else "not used for it",
            "measured": point["message_rate"],
            "predicted": rate.mean,
            "predicted_low": rate.low,
            "predicted_high": rate.high,
        }
    )
comparison = pl.DataFrame(rows)
comparison

# %%
contend.plots.measured_against_predicted(comparison, title="the study's numbers")

# %% [markdown]
# Datasets that `contend measure` wrote are in `validation/data`, a folder for each machine. What is there now:

# %%
datasets = sorted(Path("../validation/data").glob("*/*.json"))
[path.relative_to("../validation/data").as_posix() for path in datasets] or "none yet"

# %%
for path in datasets[:3]:
    dataset = json.loads(path.read_text())
    points = [
        {**point["parameters"], "median": pl.Series(point["message_rate"]["samples"]).median()}
        for point in dataset.get("points", [])
        if point.get("message_rate", {}).get("samples")
    ]
    if points:
        display(dataset["dataset"], pl.DataFrame(points, infer_schema_length=None).head(8))

# %% [markdown]
# ## What to take home
#
# CONCLUSION
