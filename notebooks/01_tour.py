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
# Two pairs move a little more than one; from there on, more threads move *fewer* messages. Where does their time go?

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
# Is a difference real? `compare` runs both sides with the same random numbers, and gives intervals and a verdict. Three
# instances in place of one:

# %%
three = quick.with_({"library.instances.count": 3, "library.instances.assignment": "dedicated"})
few = contend.compare(quick, three, replications=10).frame()
few.select("pairs", "ratio", "ratio_ci95_low", "ratio_ci95_high", "b_is")

# %% [markdown]
# And twenty:

# %%
many = contend.compare(quick, more, replications=10).frame()
many.select("pairs", "ratio", "ratio_ci95_low", "ratio_ci95_high", "b_is")

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
three_over_one, twenty_over_one = ({row["pairs"]: row for row in frame.to_dicts()} for frame in (few, many))
for pairs in (4, 8, 12, 16, 20):
    assert three_over_one[pairs]["b_is"] == ("undecided" if pairs == 20 else "faster")
    assert 1.05 < three_over_one[pairs]["ratio"] < 1.16
    assert 0.88 < twenty_over_one[pairs]["ratio"] < 1.07 and twenty_over_one[pairs]["b_is"] != "faster"
for pairs in (1, 2):
    assert 0.75 < twenty_over_one[pairs]["ratio"] < 0.85
one, _, concurrently = (
    {row["pairs"]: row["message_rate"] for row in run.frame().to_dicts()} for run in designs.values()
)
assert 1.05 < one[2] / one[1] < 1.2 and one[2] > one[8] > one[12] > one[16] > one[20]
assert all(concurrently[pairs] < 0.9 * one[pairs] for pairs in (2, 4, 8, 12, 16, 20))

# %% [markdown]
# ## What to take home
#
# - **A second and a third instance bring a tenth, and more of them no more.** From 4 pairs on three move about a tenth
#   more messages than one (`compare`; at 20 pairs ten replications leave that open); the map, whose two replications leave much open, shows no number that is clearly
#   better. Twenty bring nothing at any number of pairs, and with one and two pairs they cost a fifth: progress has to
#   look into every one of them.
# - **More threads still move fewer messages.** After the senders' locks the next limit is the receiver: one thread at a time makes
#   progress and matches.
# - **Do not turn on concurrent progress alone.** With one communicator the receivers then queue for the matching lock,
#   and from two pairs on the rate falls below that of a single instance.
#
# What helps instead is the subject of [02_study](02_study.ipynb) and [03_design_variants](03_design_variants.ipynb).
