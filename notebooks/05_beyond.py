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
# # Beyond the study: what pays on tomorrow's node?
#
# The study ends at 20 cores, one vendor's library, and its network. Here the node has 128 cores, and the library may be MPICH-like with
# virtual communication interfaces (VCIs), match in hardware, or leave communication to a progress thread. All prices are those of
# the study's machine unless said otherwise: what follows is about designs, not about a product.

# %%
import polars as pl
from IPython.display import display

import contend

study = contend.load("fig5_2b").with_({"workload.iterations": 1, "workload.window": 32, "run.replications": 5})

# %% [markdown]
# A scenario is data: take the study's, give it two sockets of 64 cores and enough network contexts. The route is written out in the resolved
# document, so that no platform file has to agree.

# %%
document = {key: value for key, value in study.document.items() if key != "sweep"}
node = contend.load({**document, "name": "128 cores"}).with_(
    {
        "machine.topology.cores_per_socket": 64,
        "machine.nic.max_contexts": 256,
        "library.instances.count": 128,
        "library.instances.assignment": "dedicated",
    }
)
threads = [1, 4, 16, 32, 64, 128]

# %% [markdown]
# ## Libraries of today at 128 threads
#
# Whole library designs, as the presets describe them (`contend preset list`), with as many instances as threads where a design has
# instances at all.

# %%
libraries = {
    "Open MPI, serial progress, one instance": {"library.preset": "ob1-base"},
    "Open MPI, concurrent progress": {"library.preset": "ob1-cri", "library.instances.count": 128},
    "MPICH, global lock": {"library.preset": "ch4-global"},
    "MPICH, a VCI for each communicator": {"library.preset": "ch4-vci", "library.instances.count": 128},
    "MPICH, VCIs by tag": {"library.preset": "ch4-vci-tag", "library.instances.count": 128},
}
shared = {name: contend.run(node.with_(design).over({"workload.pairs": threads})) for name, design in libraries.items()}
contend.plots.rate(shared, title="one communicator for all", study=False)

# %% [markdown]
# The same with a communicator for each pair: what the application has to do so that the library can help.

# %%
separate = {
    name: contend.run(node.with_({**design, "workload.communicator_per_pair": True}).over({"workload.pairs": threads}))
    for name, design in libraries.items()
}
contend.plots.rate(separate, title="a communicator for each pair", study=False)

# %%
at128 = pl.DataFrame(
    [
        {
            "library": name,
            "one communicator": shared[name].point(pairs=128).message_rate.mean,
            "one for each pair": separate[name].point(pairs=128).message_rate.mean,
        }
        for name in libraries
    ]
).with_columns((pl.col("one for each pair") / pl.col("one communicator")).alias("factor"))
at128

# %% [markdown]
# ## Matching in hardware, and a thread for communication
#
# For one communicator, where matching is the limit: let the interface match (tag matching in hardware needs messages in order from
# the transport), or hand all communication to one thread through a queue.

# %%
one = node.with_({"workload.pairs": 64})
variants = {
    "software matching (ob1)": {},
    "hash bins": {"library.matching.engine": "hash-bins"},
    "matching in hardware": {
        "library.matching.engine": "offload",
        "library.matching.ordering": "transport",
        "library.protocol.pending_order": "fifo",
        "library.instances.mapping": "communicator",
    },
    "progress thread": {"library.progress.engine": "offload-thread"},
    "overtaking allowed": {"workload.allow_overtaking": True, "workload.any_tag": True},
}
rows = []
for name, change in variants.items():
    try:
        rate = contend.run(one.with_(change)).points[0].message_rate.mean
        rows.append({"variant": name, "message rate": rate, "remark": ""})
    except contend.ContendError as error:
        rows.append({"variant": name, "message rate": None, "remark": str(error).splitlines()[0]})
pl.DataFrame(rows)

# %% [markdown]
# ## A faster network
#
# Shorter gaps between messages (7 ns to 1 ns, 100 ns to 10 ns for a context), half the latency, twice the bandwidth: which designs notice?

# %%
faster = {
    "machine.nic.nic_gap": "1 ns",
    "machine.nic.context_gap": "10 ns",
    "fabric.latency": "350 ns",
    "fabric.bandwidth": "25 GB/s",
}
gains = []
for name, design in libraries.items():
    for own in (False, True):
        scenario = node.with_({**design, "workload.communicator_per_pair": own, "workload.pairs": 64})
        contest = contend.compare(scenario, scenario.with_(faster), replications=20)
        row = contest.frame().row(0, named=True)
        gains.append(
            {"library": name, "communicators": "64" if own else "1", "gain": row["ratio"], "verdict": row["b_is"]}
        )
pl.DataFrame(gains).sort("gain", descending=True)

# %% [markdown]
# ## What is every price worth, at the best designs?

# %%
best = node.with_(
    {"workload.pairs": 64, "workload.window": 16, "workload.communicator_per_pair": True, "run.replications": 3}
)
explanation = contend.explain(best, groups_only=True)
interfaces = contend.explain(best.with_(libraries["MPICH, a VCI for each communicator"]), groups_only=True)
worth = pl.concat(
    own.speedup_frame()
    .filter(pl.col("group"))
    .select(pl.lit(name).alias("library"), "cost", "halved", "removed")
    .head(3)
    for name, own in (
        ("Open MPI, concurrent progress", explanation),
        ("MPICH, a VCI for each communicator", interfaces),
    )
)
with pl.Config(fmt_str_lengths=40):
    display(worth)

# %%
explanation.stage_frame().sort("busy", descending=True).select("name", "messages", "busy").head(3)

# %% [markdown]
# And the message size: where does the network become the limit?

# %%
sizes = contend.run(
    best.over(
        {
            "workload.message_size": ["64 B", "256 B", "1 KiB", "2 KiB", "4 KiB", "8 KiB"],
            "fabric.bandwidth": ["12.5 GB/s", "25 GB/s", "50 GB/s"],
        }
    )
)
contend.plots.rate(sizes, x="message_size", title="64 threads, a communicator for each pair", study=False)

# %% [markdown]
# What the last part says is checked here, so that it stays true when models change:

# %%
by_tag, vci = "MPICH, VCIs by tag", "MPICH, a VCI for each communicator"
highest = {name: results.frame()["message_rate"].max() for name, results in shared.items()}
assert all(rate < 560e3 for name, rate in highest.items() if name != by_tag) and highest[by_tag] > 1.5e6
scaling = separate[vci].frame().sort("pairs")["message_rate"]
assert scaling.is_sorted() and 40 < scaling[-1] / scaling[0] < 60

assert all(0.95 < row["gain"] < 1.05 for row in gains)
assert explanation.stage_frame()["busy"].max() < 0.03
large = {
    (point.parameters["message_size"], point.parameters["bandwidth"]): point.message_rate.mean for point in sizes.points
}
assert 0.9 < large["1 KiB", "50 GB/s"] / large["1 KiB", "12.5 GB/s"] < 1.1
assert 1.5 < large["8 KiB", "50 GB/s"] / large["8 KiB", "12.5 GB/s"] < 2.2

rates = {row["variant"]: row["message rate"] for row in rows}
software = rates["software matching (ob1)"]
assert 1.05 < rates["hash bins"] / software < 1.25 and 1.1 < rates["matching in hardware"] / software < 1.3
assert 0.3 < rates["progress thread"] / software < 0.43 and 2.7 < rates["overtaking allowed"] / software < 3.5
own = separate["Open MPI, concurrent progress"].point(pairs=64).message_rate.mean
assert 9 < own / software < 12.5

dearest = {library: frame["cost"].to_list() for (library,), frame in worth.group_by("library")}
assert dearest["Open MPI, concurrent progress"][:2] == ["all of the caches", "cache line transfers"]
assert "sleeping and waking" in dearest[vci][:2] and worth.filter(library=vci)["removed"][1] > 2.5
for results in (shared, separate):
    assert results["MPICH, global lock"].frame().sort("pairs")["message_rate"].is_sorted(descending=True)
lock_shared, lock_separate = (results["MPICH, global lock"].point(pairs=128) for results in (shared, separate))
assert lock_separate.message_rate.mean < 0.5 * lock_shared.message_rate.mean

# %% [markdown]
# ## What to take home
#
# On a node with 128 cores, with prices of today's network and caches:
#
# - **Parallel matching pays more than anything that can be bought.** With one communicator, no design but the one that
#   tells threads apart by tag gets past about half a million messages per second, with one thread or with 128. With a
#   communicator for each thread, a virtual interface for each communicator gains up to the last core, to fifty times the
#   rate of one thread.
# - **A faster network alone pays nothing for small messages** in any of these designs: the gains are a few percent
#   up or down, and most intervals include 1. The interfaces are busy for two percent of the
#   time. It pays where payload fills the wire, from some kilobytes on.
# - **A progress thread, hash bins, or matching in hardware do not replace it**: they move one queue to another place.
#   Matching in hardware gives 64 threads in one communicator a fifth more, hash bins a tenth, a progress thread takes
#   two thirds away; parallel matching gives more than ten times as much. Allowing overtaking helps more than any of
#   them, threefold, where the application can do without order.
# - **What limits Open MPI's best design is cache-line transfer between cores**: counters and free lists that all
#   threads of a process touch. A library for 128 threads should keep those per thread; virtual interfaces do. What is
#   left to them are locks at which threads sleep: one sleep lasts as long as some twenty messages.
# - **A global lock gets worse with every thread**, and more so if each has its own communicator: keep processes, not threads, with such
#   a library.
#
# None of this has been measured on such a machine: it says what the models predict when only the number of cores changes. Measure
# (`contend measure`) before you buy.
