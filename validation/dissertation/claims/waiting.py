"""Waiting, testing and helping threads (chapter 4).

The study's programs for this chapter are not known in detail. Two are simulated, and both are judged by the same
statements: Multirate as in chapter 5 (window 128), and one message at a time ("blocking"). Nor is it known which code
the legacy wait was: the study's words (a lock around progress), and what Open MPI did until 1.10 (a lock around the
state of all requests) are both compared (docs/decisions/0008-waiting.md).
"""

from __future__ import annotations

from contend.studies.claims import Claim, about, at_least, at_most, between, claim
from contend.studies.evidence import Evidence

SOURCE = "dissertation ch. 4, thread synchronisation"
LEGACY = "legacy-wait"
REQUEST_LOCK = "request-lock"
SYNC = "sync"
PRESETS = {
    "shm": {
        LEGACY: "ob1-shared-memory-legacy-wait",
        REQUEST_LOCK: "ob1-shared-memory-request-lock",
        SYNC: "ob1-shared-memory",
    },
    "ib": {LEGACY: "ob1-openib-legacy-wait", REQUEST_LOCK: "ob1-openib-request-lock", SYNC: "ob1-openib"},
    "one-core": {LEGACY: "ob1-legacy-wait", SYNC: "ob1-base"},  # over openib: more polls than a run may simulate
}
TRANSPORTS = {"shm": "fig4_wait_shared_memory", "ib": "fig4_wait_infiniband"}
PROGRAMS = {"": "window 128", "_blocking": "one message at a time"}
GAINS = {"shm": (5, 9, "in shared memory"), "ib": (2, 3, "over InfiniBand")}
SPINS = (
    "the owner of progress polls through its slices, and a woken thread has to wait for the scheduler's granularity "
    "(4 ms on this machine's kernel): both waits lose time, the legacy one more of it"
)
NOTHING = "fig4_query_nothing_complete"
SOME = "fig4_query_some_complete"
CALLS = "fig4_wait_calls"
PARSEC = "fig4_parsec_ping_pong"
PACK = "fig4_parallel_pack"
TASK = "fig4_matching_task"


def gains(e: Evidence, scenario: str, transport: str, before: str = LEGACY) -> dict[int, float]:
    """Rate with sync objects over rate with the wait before them, by pairs of threads."""
    presets = PRESETS[transport]
    legacy = e.curve(scenario, "pairs", preset=presets[before])
    return {pairs: rate / legacy[pairs] for pairs, rate in e.curve(scenario, "pairs", preset=presets[SYNC]).items()}


def _gain(transport: str, program: str) -> Claim:
    low, high, words = GAINS[transport]

    @claim(
        f"wait-gain-{transport}{program.replace('_', '-')}",
        source=SOURCE,
        statement=f"20 threads: sync objects over the legacy wait {words}, {PROGRAMS[program]}",
        expected=between(low, high, "x"),
    )
    def gain(e: Evidence) -> float:
        return gains(e, TRANSPORTS[transport] + program, transport)[20]

    return gain


def _gain_over_request_lock(transport: str, program: str) -> Claim:
    low, high, words = GAINS[transport]

    @claim(
        f"wait-gain-request-lock-{transport}{program.replace('_', '-')}",
        source=SOURCE,
        statement=f"20 threads: sync objects over the wait of Open MPI 1.10 {words}, {PROGRAMS[program]}",
        expected=between(low, high, "x"),
        remark="added with that wait, when its prediction was known; the study's words are judged by the claim "
        "without it",
    )
    def gain(e: Evidence) -> float:
        return gains(e, TRANSPORTS[transport] + program, transport, REQUEST_LOCK)[20]

    return gain


def _single_fastest(transport: str, program: str) -> Claim:
    @claim(
        f"wait-single-fastest-{transport}{program.replace('_', '-')}",
        source=SOURCE,
        statement=f"a single thread beats many, with sync objects too: best rate of 2 to 20 threads over that of one, "
        f"{'shared memory' if transport == 'shm' else 'InfiniBand'}, {PROGRAMS[program]}",
        expected=at_most(1.0, "x of 1 thread"),
    )
    def single(e: Evidence) -> float:
        curve = e.curve(TRANSPORTS[transport] + program, "pairs", preset=PRESETS[transport][SYNC])
        return max(rate for pairs, rate in curve.items() if pairs > 1) / curve[1]

    return single


def _grows(transport: str, program: str) -> Claim:
    @claim(
        f"wait-gain-everywhere-{transport}{program.replace('_', '-')}",
        source=SOURCE,
        statement=f"sync objects never lose to the legacy wait: least gain of 1 to 20 threads, "
        f"{'shared memory' if transport == 'shm' else 'InfiniBand'}, {PROGRAMS[program]}",
        expected=at_least(1.0, "x"),
    )
    def least(e: Evidence) -> float:
        return min(gains(e, TRANSPORTS[transport] + program, transport).values())

    return least


shm_gain = _gain("shm", "")
shm_gain_blocking = _gain("shm", "_blocking")
ib_gain = _gain("ib", "")
ib_gain_blocking = _gain("ib", "_blocking")
shm_gain_request_lock = _gain_over_request_lock("shm", "")
shm_gain_request_lock_blocking = _gain_over_request_lock("shm", "_blocking")
ib_gain_request_lock = _gain_over_request_lock("ib", "")
ib_gain_request_lock_blocking = _gain_over_request_lock("ib", "_blocking")
shm_single = _single_fastest("shm", "")
shm_single_blocking = _single_fastest("shm", "_blocking")
ib_single = _single_fastest("ib", "")
ib_single_blocking = _single_fastest("ib", "_blocking")
shm_least = _grows("shm", "")
shm_least_blocking = _grows("shm", "_blocking")
ib_least = _grows("ib", "")
ib_least_blocking = _grows("ib", "_blocking")


YIELDS = (
    "Open MPI yields when idle on an oversubscribed node, which two processes with one core are; the study names no "
    "option, but says that useless context switches go away: without yielding neither wait makes many (next claims)"
)
ONE_CORE_SHM = TRANSPORTS["shm"] + "_one_core"
ONE_CORE_IB = TRANSPORTS["ib"] + "_one_core"
CORE_PER_PROCESS = TRANSPORTS["shm"] + "_core_per_process"


def _one_core_gain(e: Evidence, scenario: str, transport: str, **parameters: bool | int) -> float:
    legacy, sync = (
        e.rate(scenario, pairs=20, preset=PRESETS[transport][wait], **parameters) for wait in (LEGACY, SYNC)
    )
    return sync / legacy


def _one_core_shm(window: int, name: str, words: str) -> Claim:
    @claim(
        f"wait-gain-one-core-shm{name}",
        source=SOURCE,
        statement="20 threads of each process on one core: sync objects over the legacy wait in shared memory, "
        f"{words} (the study: up to 250 times)",
        expected=at_least(50, "x"),
        remark=YIELDS,
    )
    def gain(e: Evidence) -> float:
        return _one_core_gain(e, ONE_CORE_SHM, "shm", window=window)

    return gain


one_core_shm = _one_core_shm(128, "", PROGRAMS[""])
one_core_shm_blocking = _one_core_shm(1, "-blocking", PROGRAMS["_blocking"])


@claim(
    "wait-gain-one-core-ib",
    source=SOURCE,
    statement="20 threads of a process on one core that yield when idle: sync objects over the legacy wait over "
    "InfiniBand, one message at a time (the study: up to 60 times)",
    expected=at_least(12, "x"),
    remark="one process per node is not oversubscribed by the launcher's count, though Open MPI 2.x took it for that "
    "when it mapped by node; the next claim has both waits poll on",
)
def one_core_ib(e: Evidence) -> float:
    return _one_core_gain(e, ONE_CORE_IB, "one-core", yield_when_idle=True)


@claim(
    "wait-gain-one-core-ib-polling",
    source=SOURCE,
    statement="the same over InfiniBand without yielding",
    expected=at_least(12, "x"),
    remark=SPINS,
)
def one_core_ib_polling(e: Evidence) -> float:
    return _one_core_gain(e, ONE_CORE_IB, "one-core", yield_when_idle=False)


@claim(
    "wait-gain-core-per-process-shm-polling",
    source=SOURCE,
    statement="20 threads of a process on one core, each process on its own, without yielding: sync objects over the "
    "legacy wait in shared memory, one message at a time (the study: up to 250 times)",
    expected=at_least(50, "x"),
    remark=SPINS,
)
def core_per_process_shm(e: Evidence) -> float:
    return _one_core_gain(e, CORE_PER_PROCESS, "shm")


@claim(
    "wait-context-switches-one-core",
    source=SOURCE,
    statement="only useful context switches remain: switches of the legacy wait over those of sync objects, 20 threads "
    "of each process on one core, shared memory, window 128",
    expected=at_least(2, "x"),
    remark="the study has no number: most of them were useless; added with its prediction known",
)
def one_core_switches(e: Evidence) -> float:
    legacy, sync = (
        e.counter(ONE_CORE_SHM, "context_switches", pairs=20, window=128, preset=PRESETS["shm"][wait])
        for wait in (LEGACY, SYNC)
    )
    return legacy / sync


@claim(
    "wait-gain-ib-falls",
    source=SOURCE,
    statement="over InfiniBand the gain falls slightly with more threads: 20 against the best, window 128",
    expected=between(0.6, 1.0, "x of the best"),
)
def ib_gain_falls(e: Evidence) -> float:
    values = gains(e, TRANSPORTS["ib"], "ib")
    return values[20] / max(values.values())


def _time(e: Evidence, scenario: str, **parameters: object) -> float:
    return e.value(scenario, lambda result: result["time_per_operation_s"], **parameters)  # type: ignore[arg-type]


@claim(
    "query-constant",
    source=SOURCE,
    statement="nothing complete: a query of a sync object takes as long with 4096 requests as with one",
    expected=between(0.95, 1.05, "x"),
)
def query_constant(e: Evidence) -> float:
    return _time(e, NOTHING, call="sync-query", requests=4096) / _time(e, NOTHING, call="sync-query", requests=1)


@claim(
    "testsome-linear",
    source=SOURCE,
    statement="nothing complete: MPI_Testsome is linear in the number of requests, added time of 4096 over that of "
    "1024",
    expected=between(3.0, 6.0, "x"),
)
def testsome_linear(e: Evidence) -> float:
    one, some, many = (_time(e, NOTHING, call="testsome", requests=n) for n in (1, 1024, 4096))
    return (many - one) / (some - one)


@claim(
    "query-gain-nothing-complete",
    source=SOURCE,
    statement="nothing complete: a query is several times faster than MPI_Testsome over 4096 requests",
    expected=at_least(3.0, "x"),
)
def query_gain(e: Evidence) -> float:
    return _time(e, NOTHING, call="testsome", requests=4096) / _time(e, NOTHING, call="sync-query", requests=4096)


@claim(
    "query-gain-vanishes",
    source=SOURCE,
    statement="the gain vanishes as most requests are complete: MPI_Testsome over a query, 1024 of 1024 complete",
    expected=between(0.7, 1.3, "x"),
)
def query_gain_vanishes(e: Evidence) -> float:
    return _time(e, SOME, call="testsome", complete=1024) / _time(e, SOME, call="sync-query-bulk", complete=1024)


@claim(
    "waitsome-pays-attach",
    source=SOURCE,
    statement="MPI_Waitsome pays for attaching and detaching in every call: over MPI_Testsome, 1 of 1024 complete",
    expected=at_least(1.5, "x"),
    remark="what is complete before the call is found while attaching; the rest is attached and detached all the same",
)
def waitsome_pays(e: Evidence) -> float:
    return _time(e, CALLS, call="waitsome", requests=1024) / _time(e, CALLS, call="testsome", requests=1024)


def _parsec(index: int, size: str, percent: float) -> Claim:
    @claim(
        f"parsec-ping-pong-{size.replace(' ', '')}",
        source=SOURCE,
        statement=f"PaRSEC ping-pong with sync objects instead of MPI_Testsome, {size}: +{percent} %",
        expected=about(percent, 0.5, "%"),
        remark="the runtime's own work per message is not known, and set to nothing here: it would lower the gain",
    )
    def gain(e: Evidence) -> float:
        exact = e.axis(PARSEC, "message_size")[index]
        times = [
            _time(e, PARSEC, completion=completion, message_size=exact)
            for completion in ("testsome", "sync-query-bulk")
        ]
        return 100 * (times[0] / times[1] - 1)

    return gain


parsec_400 = _parsec(0, "400 B", 13.73)
parsec_4k = _parsec(1, "4 KB", 7.15)
parsec_40k = _parsec(2, "40 KB", 3.1)
parsec_400k = _parsec(3, "400 KB", 2.55)


@claim(
    "parsec-gain-falls",
    source=SOURCE,
    statement="the gain of a sync object in a ping-pong falls with the size: 400 B over 400 KB",
    expected=at_least(1.5, "x"),
)
def parsec_falls(e: Evidence) -> float:
    return parsec_400.compute(e) / parsec_400k.compute(e)


def pack_gain(e: Evidence, index: int, helpers: int) -> float:
    """Time of a pack without helpers over that with them."""
    size = e.axis(PACK, "message_size")[index]
    return _time(e, PACK, helpers=0, message_size=size) / _time(e, PACK, helpers=helpers, message_size=size)


@claim(
    "pack-nothing-below-100k",
    source=SOURCE,
    statement="parallel pack of a vector type gains above 100 KB: nothing at 10 KB, 19 helpers",
    expected=between(0.9, 1.1, "x"),
)
def pack_small(e: Evidence) -> float:
    return pack_gain(e, 1, 19)


@claim(
    "pack-gains-above-100k",
    source=SOURCE,
    statement="parallel pack of a vector type gains above 100 KB: 1 MB, 19 helpers",
    expected=at_least(1.2, "x"),
)
def pack_medium(e: Evidence) -> float:
    return pack_gain(e, 3, 19)


@claim(
    "pack-most-near-10m",
    source=SOURCE,
    statement="parallel pack gains most near 10 MB: its gain over that of the best other size, 19 helpers",
    expected=at_least(1.0, "x"),
)
def pack_most(e: Evidence) -> float:
    values = [pack_gain(e, index, 19) for index in range(len(e.axis(PACK, "message_size")))]
    return values[4] / max(values[:4] + values[5:])


@claim(
    "matching-task-helps",
    source=SOURCE,
    statement="with a communicator per pair, threads that take the matching of messages gain: rate over that of "
    "sleeping threads, 20 pairs",
    expected=at_least(1.0, "x"),
    remark="the study describes matching as a use of the thread pool; this page has no number of it",
)
def matching_task(e: Evidence) -> float:
    taken, asleep = (
        e.rate(TASK, pairs=20, preset=design, communicator_per_pair=True)
        for design in ("threads take matching", "threads sleep")
    )
    return taken / asleep
