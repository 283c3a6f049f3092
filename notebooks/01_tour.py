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
# # A tour in five minutes
#
# `contend` predicts how fast a multithreaded MPI library moves messages, and why. A *scenario* names a machine, a network, a library
# design and a workload; `contend` simulates every thread, lock, queue and network context of the library in virtual time.
#
# The question of this tour: **on a node with 20 cores, what does a second and a third network instance buy, and what then?**

# %%
import contend

# %% [markdown]
# ## A scenario
#
# This one is shipped: pairs of threads exchange empty messages through Open MPI's original design, one network instance for all threads.

# %%
base = contend.load("fig5_2a_base")
base

# %% [markdown]
# Every value can be looked up, with where it comes from:

# %%
base["machine.futex.wake_latency"], base.origin("machine.futex.wake_latency")

# %% [markdown]
# A scenario never changes; `with_` gives another one, and checks it at once. A name that is nearly right is answered with the one meant:

# %%
try:
    base.with_({"workload.pears": 4})
except contend.InputError as error:
    print(error)

# %% [markdown]
# ## Run it
#
# Three replications and few iterations are enough for a tour. Results are Polars data frames, units beside them.

# %%
quick = base.with_({"workload.iterations": 2, "run.replications": 3, "sweep.workload.pairs": [1, 2, 4, 8, 12, 16, 20]})
results = contend.run(quick)
results.frame().select("pairs", "message_rate", "message_rate_ci95_low", "message_rate_ci95_high", "out_of_sequence")

# %%
results.units["message_rate"]

# %%
contend.plots.rate(results)

# %% [markdown]
# More threads move *fewer* messages. Where does their time go?

# %%
contend.plots.time_budget(results)

# %% [markdown]
# Senders wait for locks; receivers sleep until somebody makes progress for them. The next cell asks who waits for whom at 20 pairs.

# %%
explanation = contend.explain(quick.at(pairs=20), speedups=False)
explanation.lock_frame().select("name", "acquisitions", "contended", "wait_ns", "held").head(4)

# %% [markdown]
# ## Another design
#
# More instances, one dedicated to each thread as far as they go; and the design that also lets every waiting thread make progress.

# %%
more = quick.with_({"library.instances.count": 20, "library.instances.assignment": "dedicated"})
concurrent = quick.with_({"library.preset": "ob1-cri", "library.instances.count": 20})
designs = {
    "one instance": results,
    "20 instances": contend.run(more),
    "20, concurrent progress": contend.run(concurrent),
}
contend.plots.rate(designs, title="fig5_2a_base and two variants", study=False)

# %% [markdown]
# Is a difference real? `compare` runs both sides with the same random numbers, and gives intervals and a verdict:

# %%
contest = contend.compare(quick, more, replications=5).frame()
contest.select("pairs", "ratio", "ratio_ci95_low", "ratio_ci95_high", "b_is")

# %% [markdown]
# ## Many points
#
# `sweep` takes a grid, a Latin hypercube or a list of points, uses all cores, and keeps every result: run the cell again and nothing is
# simulated twice.

# %%
grid = contend.sweep(
    more.with_({"run.replications": 2, "workload.iterations": 1}),
    {"workload.pairs": [1, 4, 8, 12, 16, 20], "library.instances.count": [1, 2, 3, 4, 8, 20]},
)
contend.plots.heat_map(grid, x="pairs", y="instances")

# %% [markdown]
# The namesakes in `contend.plots.interactive` are charts to zoom and point at:

# %%
contend.plots.interactive.rate(grid)

# %% [markdown]
# And for a look at a few microseconds in all detail: who holds which lock, and who waits.

# %%
contend.plots.lock_timeline(contend.timeline(quick.at(pairs=8), length_us=30), most=3)

# %% [markdown]
# What the last part says is checked here, so that it stays true when models change:

# %%
by_pairs = {row["pairs"]: row for row in contest.to_dicts()}
assert by_pairs[2]["b_is"] == "slower" and by_pairs[8]["b_is"] == "faster"
assert by_pairs[20]["ratio_ci95_low"] > 1 and by_pairs[20]["ratio"] < 1.25
gain = grid.point(pairs=20, instances=3).message_rate.mean / grid.point(pairs=20, instances=1).message_rate.mean
assert 1.2 < gain < 1.4

# %% [markdown]
# ## What to take home
#
# - **One instance is a bottleneck from about 8 pairs on; two or three more bring all that more of them can.** At 20 pairs three give a fifth
#   to a third more messages (the map, whose two replications leave much open), twenty about a tenth (`compare`). With one and two pairs they cost: progress has to look into every
#   one of them.
# - **More threads still move fewer messages.** After the senders' locks the next limit is the receiver: one thread at a time makes
#   progress and matches.
# - **Do not turn on concurrent progress alone.** With one communicator the receivers then queue for the matching lock, and the rate falls
#   below that of a single instance.
#
# What helps instead is the subject of [02_study](02_study.ipynb) and [03_design_variants](03_design_variants.ipynb).
