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
# Three knobs matter, the way in which threads get their instance little. But that hides how they work together. With
# one communicator for all, and with one for each pair:

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
    best = contend.explain(scenario, groups_only=True).speedup_frame().filter(pl.col("group")).head(3)
    worth += [
        {"step": step, "cost": row["cost"], "times the rate if it were free": row["removed"]} for row in best.to_dicts()
    ]
with pl.Config(tbl_rows=12, fmt_str_lengths=40):
    display(pl.DataFrame(worth))

# %% [markdown]
# ## Matching engines and locks
#
# Is there a way without new communicators? Other matching engines, and other locks, for one communicator:

# %%
plan = {
    "library.matching.engine": ["ob1", "list", "hash-bins", "vector"],
    "library.matching.lock": ["pthread-mutex", "ticket", "mcs", "ttas"],
}
engines = contend.sweep(base.with_({"library.instances.count": 20}), plan, skip_invalid=True)
contend.plots.heat_map(engines, x="engine", y="lock", title="20 instances, concurrent progress, one communicator")

# %% [markdown]
# And with what was best above for one communicator, five instances and serial progress:

# %%
serial = base.with_({"library.instances.count": 5, "library.progress.engine": "ownership"})
engines_serial = contend.sweep(serial, plan, skip_invalid=True)
contend.plots.heat_map(engines_serial, x="engine", y="lock", title="5 instances, serial progress, one communicator")

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
def rate(results, **wanted):
    """The message rate of one design."""
    return results.point(**wanted).message_rate.mean


factor = {row["knob"]: row["factor"] for row in effect}
assert factor.pop("assignment") < 1.4 and min(factor.values()) > 1.8

for count in (1, 2, 5, 10, 20):
    assert rate(shared, instances=count, engine="concurrent") < rate(shared, instances=count, engine="ownership")
simplest = rate(shared, instances=1, engine="ownership")
assert 1.2 < frame.filter(~pl.col("communicator_per_pair"))["message_rate"].max() / simplest < 1.4
assert rate(shared, instances=5, engine="ownership") > 0.95 * shared.frame()["message_rate"].max()

alone = rate(own, instances=1, engine="ownership")
assert 1.3 < rate(own, instances=20, engine="ownership") / alone < 1.7
assert rate(own, instances=1, engine="concurrent") / alone < 0.6
assert 4.5 < rate(own, instances=20, engine="concurrent") / alone < 6.5
for count, least in ((5, 1.7), (10, 2.4), (20, 3.1)):
    gain = rate(own, instances=count, engine="concurrent") / rate(own, instances=count, engine="ownership")
    assert least < gain < least + 0.8
needed = counts.frame().filter(pl.col("message_rate") >= 0.95 * pl.col("message_rate").max().over("pairs"))
assert dict(needed.group_by("pairs").agg(pl.col("instances").min()).rows()) == {n: n for n in (1, 2, 4, 8, 12, 16, 20)}

busiest = [row["busiest"] for row in rows]
assert busiest == ["sender: lock_wait", "receiver: lock_wait", "receiver: lock_wait", "receiver: line_transfer"]
dearest = {step: [row["cost"] for row in worth if row["step"] == step] for step in steps}
assert dearest["+ 20 instances"][0] == "all of matching"
assert {"cache line transfers", "all of matching"} < set(dearest["+ concurrent progress"])
assert dearest["+ concurrent matching"][:2] == ["all of the caches", "cache line transfers"]
caches = next(row for row in worth if row["step"] == "+ concurrent matching")
assert 1.5 < caches["times the rate if it were free"] < 1.85
waiting = busy.filter(pl.col("category") == "lock_wait")["time_ns"].sum() / busy["time_ns"].sum()
assert waiting < 0.15  # at the best design, the last of the steps

list_mutex = rate(engines, engine="list", lock="pthread-mutex")
for lock in ("ticket", "mcs", "ttas"):
    assert 1.4 < rate(engines, engine="hash-bins", lock=lock) / list_mutex < 2
    assert rate(engines, engine="list", lock=lock) / list_mutex < 1.2
assert 1.05 < rate(engines, engine="hash-bins", lock="pthread-mutex") / list_mutex < 1.3
best = engines_serial.frame()["message_rate"].max()
assert 1.25 < best / rate(engines_serial, engine="list", lock="pthread-mutex") < 1.55
assert engines.frame()["message_rate"].max() < best < designs.frame()["message_rate"].max() / 4

# %% [markdown]
# ## What to take home
#
# For 20 pairs of threads on a node with 20 cores:
#
# - **First make matching parallel**, with a communicator for each thread. Without it instances and progress together
#   bring a third at most. With it instances bring half as much again, concurrent progress with one instance takes more
#   than half away, and both together are worth a factor of five.
# - **Concurrent progress is not worth it before that**: with one communicator it is slower than serial progress at any
#   number of instances. After it, it is worth a factor of two with five instances and of more than three with twenty.
# - **Instances: one for each thread, dedicated**, once matching is parallel: fewer cost at any number of threads. With one communicator five
#   are plenty.
# - **The bottleneck moves** from the senders' instance lock, to the receiver's matching, to the matching lock and the
#   cache lines that travel with it, and finally to the cache lines alone: the best design would move two thirds more
#   messages if the caches cost nothing. There no lock is left to mend.
# - **If new communicators are out of the question**, take hash bins *and* a lock that spins. With concurrent progress
#   they are worth 1.5 to 1.8 times the list under a mutex; another lock alone gains next to nothing there, hash bins
#   alone a sixth. The most that one matching domain gives is with serial progress and few instances, two fifths more
#   than the list under a mutex, and far from what parallel matching gives.
