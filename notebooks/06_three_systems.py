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
# # Three systems: channels, partitions, coroutines
#
# *Many things on a node want to communicate at the same time. What should the library give them?*
#
# Three studies gave three answers: **channels** of their own for threads that talk to different neighbours (multichannel MPICH2 on Blue
# Gene/P, EuroMPI 2010), **partitions** for threads that fill one buffer together (Parallel Computing 108, 2021), and **coroutines** for more
# MPI processes than cores (fine-grain MPI, thesis, 2013). Each is a composition of the same models, on the machine of its study.

# %%
import polars as pl

import contend

# %% [markdown]
# ## Channels: threads with neighbours of their own
#
# Each thread of a process exchanges empty messages with a process on another node. The default stack has one lock around everything; the new
# one picks a channel by the two ranks, and a channel's lock guards its FIFOs and the queues of its sources.

# %%
quick = {"workload.iterations": 60, "run.replications": 3}
stacks = {
    "default stack: one lock": contend.run(contend.load("smp_default").with_(quick)),
    "a channel for each neighbour": contend.run(contend.load("smp_channels").with_(quick)),
}
contend.plots.rate(stacks, title="neighbour message rate of one Blue Gene/P node", study=False)

# %% [markdown]
# One lock makes every added thread a loss. Channels scale, though not perfectly: where does the time of four threads go?

# %%
names = list(stacks)
budget = pl.concat(
    results.select(threads=4).times().filter(pl.col("role") == "sender").with_columns(pl.lit(name).alias("stack"))
    for name, results in stacks.items()
)
shares = budget.with_columns((pl.col("time_ns") / pl.col("time_ns").sum().over("stack")).alias("share"))
shares.filter(pl.col("share") > 0.03).pivot(on="stack", index="category", values="share").sort(
    names[1], descending=True
)

# %% [markdown]
# `line_transfer` is what is left to fight for when no lock is: words that all threads write. The one that matters is the reference count
# of the communicator, which every request takes and drops. Without it:

# %%
channels = contend.load("smp_channels").with_(quick)
scaling = []
for what, counted in {"with reference counts": True, "without": False}.items():
    rates = contend.run(channels.with_({"library.reference_counts": counted}))
    one, four = rates.point(threads=1).message_rate.mean, rates.point(threads=4).message_rate.mean
    scaling.append(
        {"communicator": what, "1 thread": one, "4 threads": four, "share of perfect scaling": four / one / 4}
    )
pl.DataFrame(scaling)

# %% [markdown]
# ## Partitions: threads that fill one buffer
#
# 64 threads compute for 10 ms, each fills its part of a buffer, and one is 4 % late. What counts is how soon the buffer is at the other side
# once the last thread has finished: the *perceived* bandwidth, which can be far above that of the wire, because what is ready early can
# travel while the late thread computes.

# %%
sizes = ["64 KiB", "256 KiB", "1 MiB", "2 MiB", "4 MiB", "8 MiB", "16 MiB", "64 MiB"]
late = {"workload.compute_time": "10 ms", "workload.noise_pct": 4.0, "workload.iterations": 2, "run.replications": 1}


def perceived(scenario, **changes):
    return contend.run(contend.load(scenario).with_({**late, **changes}).over({"workload.buffer_size": sizes}))


designs = {
    "one message at the end": perceived("send_single"),
    "a message for each thread": perceived("send_multi"),
    "partitions as messages": perceived("send_persistent"),
    "partitions as puts": perceived("send_rma"),
    "ready partitions together": perceived("send_aggregating"),
}
contend.plots.rate(designs, x="buffer_size", title="64 threads, one of them 0.4 ms late", study=False)

# %%
best = [
    {"design": name, "highest (MiB/s)": row["perceived_bandwidth"], "at": row["buffer_size"]}
    for name, results in designs.items()
    for row in [results.frame().sort("perceived_bandwidth", descending=True).row(0, named=True)]
]
pl.DataFrame(best).sort("highest (MiB/s)", descending=True)

# %% [markdown]
# The peak is where the early data just fits into the delay: 0.4 ms at 11.4 GB/s are 4.5 MB. A thread that is later
# moves it to the right, and makes it higher:

# %%
noise = contend.run(
    contend.load("send_rma")
    .with_({**late})
    .over({"workload.buffer_size": sizes, "workload.noise_pct": [4.0, 8.0, 16.0]})
)
noise.frame().sort("perceived_bandwidth", descending=True).group_by("noise_pct", maintain_order=True).agg(
    pl.col("buffer_size").first().alias("peak at"), pl.col("perceived_bandwidth").first().alias("height (MiB/s)")
).sort("noise_pct")

# %% [markdown]
# ## Coroutines: more processes than cores
#
# An OS process runs many MPI processes as coroutines. A message between two of them is one copy and no lock; a switch costs 0.13 us instead of
# the 6.85 us of the operating system. Half a message of a ping-pong between two processes:

# %%
message = {"workload.message_size": "2 B", "run.replications": 1, "workload.iterations": 40}
places = {
    "in one OS process, coroutines": contend.load("table4_1").with_(message),
    "in two OS processes, a core each": contend.load("table4_1_os").with_(
        {**message, "machine.topology.cores_per_socket": 4}
    ),
    "in two OS processes that share a core": contend.load("table4_1_os").with_(
        {**message, "machine.topology.cores_per_socket": 1}
    ),
}
pl.DataFrame(
    [
        {"two processes": where, "2 B message (us)": 1e6 / contend.run(scenario).points[0].message_rate.mean}
        for where, scenario in places.items()
    ]
)

# %% [markdown]
# That makes processes cheap enough to choose their number for the caches. Cannon's product of two matrices with 2048 rows, by three nested
# loops on 8 cores, with more and more processes (and so smaller and smaller blocks) in each of 8 OS processes:

# %%
products = contend.run(
    contend.load("table4_4")
    .with_({"workload.matrix_size": 2048})
    .over({"workload.processes_per_os_process": [2, 8, 32, 128, 512]})
)
products.frame().select("processes_per_os_process", (1 / pl.col("message_rate")).alias("one product (s)"))

# %% [markdown]
# But everybody who waits is on the run queue. A barrier costs in proportion to the processes of an OS process, and a token that goes against the
# order of the queue waits for a whole round at every hop. One hop:

# %%
ring = contend.run(
    contend.load("ring")
    .with_({"workload.iterations": 2, "run.replications": 1, "library.coroutines.scheduler": "round-robin"})
    .over({"workload.processes_per_os_process": [16, 64, 256], "workload.direction": ["forward", "backward"]})
)
ring.frame().with_columns((1e6 / pl.col("message_rate")).alias("one hop (us)")).pivot(
    on="direction", index="processes_per_os_process", values="one hop (us)"
)

# %% [markdown]
# And a million of them?

# %%
million = contend.run(contend.load("scale_distributed").with_({"workload.operation": "barrier"}))
million.frame().select("processes", (1e3 / pl.col("message_rate")).alias("barrier (ms)"), "memory_per_process_bytes")

# %% [markdown]
# ## What to take home
#
# - **Threads that talk to different neighbours: give each a channel of its own, all the way down.** One lock makes two threads slower than one,
#   and more of them no faster. A channel for each neighbour has more to do for a single thread (a third of its rate), and is ahead from two
#   threads on, three times at four.
# - **Then look for words that all threads write.** With the locks gone, the communicator's reference count alone takes a seventh of perfect
#   scaling. Counters in shared objects are what to ask a library for next.
# - **Threads that fill one buffer: use partitions if one of them is late by about the time that the buffer takes on the wire.** Then the
#   perceived bandwidth is up to twice that of the wire; for much larger buffers every design has the bandwidth of the wire, for much smaller ones all that counts
#   is how long the threads take to meet. Partitions that the library starts only when somebody waits gain nothing at all.
# - **Let ready partitions leave together, with a notification in place of a flush**: half as much again at the peak, which comes at twice the
#   buffer, and never worse from a megabyte on.
# - **More tasks than cores: coroutines, not processes of the operating system.** A message between coroutines costs a third more than
#   one between two cores that share memory, and a fifteenth of one between processes that share a core. Choose their number for the caches (128 in each
#   OS process here, 2.4 times as fast as 2), not for the number of cores.
# - **Mind who waits.** With round robin everybody who waits is switched to: a token that runs against the order of the queue pays a round for each
#   hop. Communicate in rank order, or let the scheduler block.
#
# The first and the third system's absolute numbers rest on few published ones: [what holds and what misses](../docs/validation.md) of each study is
# listed claim by claim.
