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
# # Explore design variants
#
# *How many instances do I need, and is concurrent progress worth it before matching is parallel?*
#
# Four knobs of the library, on a node with 20 cores and 20 pairs of threads: the number of instances, how threads get one, who makes
# progress, and how matching is done. All combinations, then: which matter, and where does the bottleneck move?

# %%
import polars as pl
from IPython.display import display

import contend

base = contend.load("fig5_2b").with_(
    {
        "workload.pairs": 20,
        "workload.window": 64,
        "workload.iterations": 1,
        "run.replications": 3,
        "library.instances.assignment": "dedicated",
    }
)
knobs = {
    "library.instances.count": [1, 2, 5, 10, 20],
    "library.instances.assignment": ["round-robin", "dedicated"],
    "library.progress.engine": ["ownership", "concurrent", "per-target"],
    "workload.communicator_per_pair": [False, True],
}

# %% [markdown]
# 60 designs. `sweep` runs them on all cores; run the cell again, and they come from the store.

# %%
designs = contend.sweep(base, knobs)
frame = designs.frame()
frame.select(*designs.points[0].parameters, "message_rate").sort("message_rate", descending=True).head(8)

# %% [markdown]
# ## Which knob matters?
#
# The range of the mean rate over the values of each knob, all else varied:

# %%
names = list(designs.points[0].parameters)
effect = [
    {"knob": name, "lowest mean": rates.min(), "highest mean": rates.max(), "factor": rates.max() / rates.min()}
    for name in names
    for rates in [frame.group_by(name).agg(pl.col("message_rate").mean())["message_rate"]]
]
pl.DataFrame(effect).sort("factor", descending=True)

# %% [markdown]
# Two knobs dominate, but that hides how they work together. With one communicator for all, and with one for each pair:

# %%
shared = designs.select(assignment="dedicated", communicator_per_pair=False)
contend.plots.heat_map(shared, x="instances", y="engine", title="one communicator")

# %%
own = designs.select(assignment="dedicated", communicator_per_pair=True)
contend.plots.heat_map(own, x="instances", y="engine", title="a communicator for each pair")

# %% [markdown]
# ## Where does the bottleneck move?
#
# Of the time in which threads do something or wait for a lock (sleeping, polling idly and barriers left out), the largest part at each step
# from the simplest design to the best:

# %%
steps = {
    "one instance": {"instances": 1, "engine": "ownership", "communicator_per_pair": False},
    "+ 20 instances": {"instances": 20, "engine": "ownership", "communicator_per_pair": False},
    "+ concurrent progress": {"instances": 20, "engine": "concurrent", "communicator_per_pair": False},
    "+ concurrent matching": {"instances": 20, "engine": "concurrent", "communicator_per_pair": True},
}
idle = ["blocked", "barrier", "poll_idle"]
rows = []
for step, wanted in steps.items():
    results = designs.select(assignment="dedicated", **wanted)
    busy = results.times().filter(~pl.col("category").is_in(idle)).sort("time_ns", descending=True)
    first = busy.row(0, named=True)
    rows.append(
        {
            "step": step,
            "message rate": results.points[0].message_rate.mean,
            "busiest": f"{first['role']}: {first['category']}",
            "share of busy time": first["time_ns"] / busy["time_ns"].sum(),
        }
    )
pl.DataFrame(rows)

# %% [markdown]
# What is each cost worth at those four designs? A *virtual speed-up* simulates the point again with one cost removed: the exact effect, not
# an estimate from shares of time.

# %%
worth = []
for step, wanted in steps.items():
    scenario = base.with_(
        {
            "library.instances.count": wanted["instances"],
            "library.progress.engine": wanted["engine"],
            "workload.communicator_per_pair": wanted["communicator_per_pair"],
            "run.replications": 1,
        }
    )
    best = contend.explain(scenario.with_({"workload.window": 32})).speedup_frame().filter(pl.col("group")).head(3)
    worth += [
        {"step": step, "cost": row["cost"], "times the rate if it were free": row["removed"]} for row in best.to_dicts()
    ]
with pl.Config(tbl_rows=12):
    display(pl.DataFrame(worth))

# %% [markdown]
# ## Matching engines and locks
#
# Is there a way without new communicators? Other matching engines, and other locks, for one communicator:

# %%
engines = contend.sweep(
    base.with_({"library.instances.count": 20}),
    {
        "library.matching.engine": ["ob1", "list", "hash-bins", "vector"],
        "library.matching.lock": ["pthread-mutex", "ticket", "mcs", "ttas"],
    },
    skip_invalid=True,
)
contend.plots.heat_map(engines, x="engine", y="lock", title="20 instances, concurrent progress, one communicator")

# %% [markdown]
# ## How many instances?
#
# The fewest that reach 95 % of the best rate, by the number of pairs (concurrent progress, a communicator for each pair):

# %%
counts = contend.sweep(
    base.with_({"workload.communicator_per_pair": True}),
    {"workload.pairs": [1, 2, 4, 8, 12, 16, 20], "library.instances.count": [1, 2, 3, 4, 6, 8, 12, 16, 20]},
)
contend.plots.heat_map(counts, x="pairs", y="instances")

# %%
counts.frame().filter(pl.col("message_rate") >= 0.95 * pl.col("message_rate").max().over("pairs")).group_by(
    "pairs", maintain_order=True
).agg(pl.col("instances").min().alias("instances needed"))

# %% [markdown]
# What the last part says is checked here, so that it stays true when models change:

# %%
for count in (1, 2, 5, 10, 20):
    slow, fast = (
        shared.point(instances=count, engine=engine).message_rate.mean for engine in ("concurrent", "ownership")
    )
    assert slow < fast
assert (
    own.point(instances=20, engine="concurrent").message_rate.mean
    > 3 * own.point(instances=20, engine="ownership").message_rate.mean
)
assert shared.point(instances=5, engine="ownership").message_rate.mean > 0.95 * shared.frame()["message_rate"].max()
fair = engines.point(engine="hash-bins", lock="ticket").message_rate.mean
assert 1.2 < fair / engines.point(engine="list", lock="pthread-mutex").message_rate.mean < 1.5

# %% [markdown]
# ## What to take home
#
# For 20 pairs of threads on a node with 20 cores:
#
# - **First make matching parallel**, with a communicator for each thread. Without it no other knob does much; with it concurrent progress
#   has the largest effect.
# - **Concurrent progress is not worth it before that**: with one communicator it is slower than serial progress at any number of
#   instances. After it, it is worth a factor of several.
# - **Instances: one for each thread, dedicated**, once matching is parallel: fewer cost at any number of threads. With one communicator five
#   are plenty.
# - **The bottleneck moves** from the senders' instance lock, to the receiver's progress and matching, to the matching lock, and finally to the
#   library's own code, sleeping threads and cache lines that travel between cores. At the best design no lock is left to mend.
# - **If new communicators are out of the question**, hash bins under a fair queue lock (MCS or ticket) get the most out of one matching
#   domain; that is a third more than the list under a mutex, and far from what parallel matching gives.
