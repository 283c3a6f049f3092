"""What direct identification reads: a line for each way to a parameter.

Every rule says which parameter, from which points of which kind of dataset, by which formula. Rules of one parameter
are tried in order until one finds its points. A rule that *isolates* fixes its parameter; one that only *guides* (its
formula contains more of the model than a price) gives the fit a value and a range to search in.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from contend.calibrate.places import Relation
from contend.calibrate.slow_cores import PROBE, SHARE, SLOWDOWN
from contend.calibrate.waiting_points import FEW, ISOLATING, MANY, WAITING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from contend.calibrate.mapping import Scope

# Messages of up to a page take about the same time to send, and so are of one price that is no size's.
_PAGE = 4096


@dataclass(frozen=True)
class Select:
    """Points of a dataset: those with these parameters. `cores`: which pairs; `transport`: another dataset.

    `small`: of several message sizes those up to so many bytes, or the smallest where all are larger.
    """

    kind: str
    parameters: dict[str, Any]
    cores: str = "any"
    transport: str | None = None
    small: int | None = None


@dataclass(frozen=True)
class Rule:
    """One line of the table.

    The value is `scale` times (the reading of `select`, minus those of `minus`, minus `costs`: other parameters with
    how often they are paid, which may be a parameter as well); with `over` it is the slope over that parameter of the
    points instead; with `rate` the parameter's number of bytes over the time; with `step` the value of that parameter,
    in `scale` s, at which the time jumps; with `window` the standard deviation of each of an iteration's messages, from
    the interquartile range of the times of iterations; with `share_of` the reading over that of those points, 1 at
    most; with `deviation` the standard deviation of all samples; with `inverse` what was measured is a rate, and its
    inverse the time; with `states` what the times of each point in each launch say of slow cores
    (contend.calibrate.slow_cores). `least`: where the formula gives less, it is this, or up to the upper end of what
    was measured. `transports`, `libraries` (with wildcards): for no others. `isolates`: see the module. `is_optional`:
    a base profile that has the section need not have the parameter, which is neutral then; `opens_section`: nor need it
    have the section. `is_substitute`: only where no probe of the machine says it; where one does, it is no unknown of
    any library either.
    """

    path: str
    scope: Scope
    select: Select
    what: str
    minus: tuple[Select, ...] = ()
    costs: Mapping[str, float | str] = field(default_factory=dict)
    scale: float = 1.0
    over: str | None = None
    rate: str | None = None
    step: str | None = None
    window: bool = False
    share_of: Select | None = None
    least: float | None = None
    deviation: bool = False
    inverse: bool = False
    transports: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ("*",)
    isolates: bool = True
    is_optional: bool = False
    opens_section: bool = False
    is_substitute: bool = False
    states: Literal["share", "slowdown"] | None = None


def _machine(probe: str, cores: str = "any", **parameters: object) -> Select:
    return Select("machine", {"probe": probe, **parameters}, cores)


def _call(primitive: str, transport: str | None = None, **parameters: object) -> Select:
    return Select("primitives", {"primitive": primitive, **parameters}, transport=transport)


def _share_of_send(path: str, share: float) -> Rule:
    """For machines that were measured before there was a probe for it: what it is of a send elsewhere.

    There: a virtual machine with two cores that move a cache line in 0.19 us, Linux 6.18, whose sends cost 3.2 us.
    """
    what = f"{share:g} of a send over the loopback device whose receiver is on the same core, as on another machine"
    select = _machine("socket", "same core", part="send")
    return Rule(path, "machine", select, what, scale=share, isolates=False, is_optional=True)


# What a simulated MPI_Irecv that finds nothing pays besides its own code: prices that are known otherwise.
_POSTING = {
    "machine.cache.atomic_hit": 3,
    "machine.matching.attempt": 1,
    "machine.matching.enqueue": 1,
    "machine.noise": 1,
}

# What differences of measured times cannot tell from nothing.
_LEAST_COST = 5e-8
# Standard deviation of what is an exponential delay half of the times and nothing else, over that delay's mean.
_SPREAD_OF_HALF = math.sqrt(0.75)

# What the kernel does on the way of a message over a socket that is answered, but for polls.
_WAY_OF_ANSWERS: dict[str, float | str] = {
    "machine.tcp.send_call": "machine.tcp.arrival_share",
    "machine.tcp.returned_send": 1,
    "machine.tcp.acknowledging_send": 1,
    "machine.tcp.receive_call": 1,
    "machine.tcp.receive_packet": 1,
}

# A price of puts is without their bytes: the smallest have next to none.
_PUT = Select("rma-mt", {"threads": 1, "operation": "put"}, small=0)

RULES: tuple[Rule, ...] = (
    Rule("machine.cache.atomic_hit", "machine", _machine("atomic", operation="fetch_add", state="owned"),
         "fetch-and-add on a line that the core owns"),
    Rule("machine.cache.atomic_hit", "machine",
         Select("locks", {"lock": "mutex", "threads": 1, "critical_section_ns": 0, "outside_ns": 0}),
         "half of taking a mutex that nobody else wants and giving it back, which is two atomics and a loop", scale=0.5,
         inverse=True, isolates=False),
    Rule("machine.cache.transfer_smt", "machine", _machine("cache_line", Relation.siblings),
         "a modified line moves between hardware threads of one core, half a round trip of a flag"),
    Rule("machine.cache.transfer_socket", "machine", _machine("cache_line", Relation.same_socket),
         "a modified line moves between cores of one socket, half a round trip of a flag"),
    Rule("machine.cache.transfer_remote", "machine", _machine("cache_line", Relation.other_socket),
         "a modified line moves between sockets, half a round trip of a flag"),
    Rule(SHARE, "machine", _machine(PROBE),
         "which share of cores switches slowly between two threads", states="share", opens_section=True),
    Rule(SLOWDOWN, "machine", _machine(PROBE),
         "how much longer a switch between two threads takes on slow cores than on quick ones", states="slowdown",
         opens_section=True),
    Rule("machine.futex.wake_call", "machine", _machine("futex_wake", "other core", part="call"),
         "FUTEX_WAKE of a sleeper on another core"),
    Rule("machine.futex.wake_jitter", "machine", _machine("futex_wake", "other core", part="spread"),
         "the spread of wake-ups of sleepers on other cores, as an exponential delay's (ln 3 of its mean between "
         "quartiles)",
         scale=1 / math.log(3)),
    Rule("machine.futex.wake_jitter", "machine", _machine("futex_wake", "other core", part="wakeup"),
         "by how much samples of wake-ups of sleepers on other cores differ (standard deviation)", deviation=True,
         isolates=False),
    Rule("machine.futex.wake_latency", "machine", _machine("futex_wake", "other core", part="wakeup"),
         "from the end of the call that wakes until the sleeper on another core runs, without the median of the jitter",
         minus=(_machine("futex_wake", "other core", part="call"),), costs={"machine.futex.wake_jitter": math.log(2)}),
    Rule("machine.futex.wait_call", "machine", _machine("context_switch"),
         "a switch over a futex on one core, without the call that wakes",
         minus=(_machine("futex_wake", "same core", part="call"),)),
    Rule("machine.futex.empty_wake_call", "machine", _machine("futex_calls", part="wake", same_word=False, threads=1),
         "FUTEX_WAKE that finds nobody asleep, of one thread, without the delay that each call has on top",
         costs={"machine.futex.call_jitter": 1}),
    Rule("machine.futex.empty_wake_call", "machine", _machine("yield", threads=1),
         "a system call that finds nothing to do (sched_yield, alone on the core)"),
    Rule("machine.futex.vain_call", "machine", _machine("futex_calls", part="wait", same_word=False, threads=1),
         "FUTEX_WAIT that finds its word changed, of one thread, without the delay that each call has on top",
         costs={"machine.futex.call_jitter": 1}, is_optional=True),
    Rule("machine.futex.bucket_move", "machine", _machine("futex_calls", part="wait", same_word=True, threads=2),
         "what FUTEX_WAIT costs more while another core calls it on the same word",
         minus=(_machine("futex_calls", part="wait", same_word=False, threads=1),), is_optional=True),
    *(
        Rule("machine.futex.bucket_turn", "machine",
             _machine("futex_calls", part="wait", same_word=True, threads=threads),
             f"from one FUTEX_WAIT to the next of {threads} threads on one word", scale=1 / threads, is_optional=True)
        for threads in (16, 8, 4)
    ),
    Rule("machine.scheduler.context_switch", "machine", _machine("yield", threads=2),
         "sched_yield from one thread to the next on a core, without the call",
         minus=(_machine("yield", threads=1),)),
    Rule("machine.scheduler.short_sleep", "machine", _machine("busy_wake", "other core"),
         "the sleep after which a thread waits for a timer interrupt when it wakes up where another one computes",
         step="slept_us", scale=1e-6),
    Rule("machine.futex.yield_call", "machine", _machine("yield", threads=1),
         "sched_yield alone on the core"),
    Rule("machine.software.copy_bandwidth", "machine", _machine("memcpy", message_size=4096, memory="cold"),
         "copy of 4 KiB that no cache of the core holds", rate="message_size"),
    Rule("machine.tcp.send_call", "machine", _machine("socket", "same core", part="send"),
         "a send over the loopback device whose receiver is on the same core and reads afterwards"),
    Rule("machine.tcp.poll_event", "machine", _machine("socket_polls", state="ready"),
         "asking the kernel about a socket that has data, which an empty one has not",
         minus=(_machine("socket_polls", state="empty"),), is_optional=True),
    _share_of_send("machine.tcp.poll_event", 0.1),
    Rule("machine.tcp.returned_send", "machine", _machine("socket_turns", part="send", moved=False),
         "what a send over the loopback device costs more where a thread on another core read the last one",
         minus=(_machine("socket", "same core", part="send"),), least=_LEAST_COST, is_optional=True),
    _share_of_send("machine.tcp.returned_send", 0.26),
    Rule("machine.tcp.acknowledging_send", "machine", _machine("socket_answers", part="send"),
         "what a send over the loopback device costs more that answers, and so acknowledges, what another core sent",
         minus=(_machine("socket_turns", part="send", moved=False),), least=_LEAST_COST, is_optional=True),
    _share_of_send("machine.tcp.acknowledging_send", 0.19),
    Rule("machine.tcp.arrival_share", "machine", _machine("socket_answers", part="arrival"),
         "when a message that is answered is in the other socket, without what its send costs more than one on the "
         "receiver's core, and without the poll that reports it, as a part of such a send",
         costs={"machine.tcp.poll_event": 1, "machine.tcp.returned_send": 1, "machine.tcp.acknowledging_send": 1},
         share_of=_machine("socket", "same core", part="send"), is_optional=True),
    Rule("machine.tcp.contended_send", "machine", _machine("socket", "other core", part="send"),
         "what a send over the loopback device costs more while its receiver reads and acknowledges on another core",
         minus=(_machine("socket", "same core", part="send"),)),
    Rule("machine.tcp.receive_packet", "machine", _machine("socket", "same core", part="read"),
         "a message of 128 that a receive over the loopback device takes together", is_optional=True),
    Rule("machine.tcp.receive_call", "machine", _machine("socket_answers", part="read"),
         "a receive over the loopback device of what a thread on another core answers, which acknowledges nothing",
         costs={"machine.tcp.receive_packet": 1}),
    _share_of_send("machine.tcp.receive_call", 0.19),
    Rule("machine.tcp.acknowledge", "machine", _machine("socket", "other core", part="read"),
         "a receive over the loopback device of what a thread on another core sends meanwhile, which acknowledges each "
         "packet, without call and packet", costs={"machine.tcp.receive_call": 1, "machine.tcp.receive_packet": 1},
         is_optional=True),
    Rule("machine.tcp.moved_send", "machine", _machine("socket_turns", part="send", moved=True),
         "what a send over the loopback device costs more after one by another core",
         minus=(_machine("socket_turns", part="send", moved=False),), is_optional=True),
    Rule("machine.tcp.moved_receive", "machine", _machine("socket_turns", part="read", moved=True),
         "what a receive over the loopback device costs more after one by another core",
         minus=(_machine("socket_turns", part="read", moved=False),), is_optional=True),
    Rule("machine.tcp.queued_send_call", "machine", _machine("socket_queue", part="send"),
         "a send over the loopback device that joins those that wait because the congestion window is full",
         is_optional=True),
    # Prices of the library's calls, from one thread with nobody else. How a call's time is shared among its parts is
    # the model's reading of it, so that these guide the fit.
    Rule("machine.software.receive_call", "library", _call("irecv", "shm"),
         "half of an MPI_Irecv that finds nothing, without its three atomics, the queue and noise",
         costs=_POSTING, scale=0.5, isolates=False),
    Rule("machine.software.request_allocate", "library", _call("irecv", "shm"),
         "the other half of what receive_call is half of", costs=_POSTING, scale=0.5, isolates=False),
    Rule("machine.software.send_call", "library", _call("isend", "shm", message_size=0),
         "MPI_Isend of 0 bytes over shared memory, without its three atomics, the writing of the message and noise",
         costs={"machine.cache.atomic_hit": 3, "machine.shared_memory.box_write": 1, "machine.noise": 1},
         isolates=False),
    Rule("machine.software.deliver", "library", _call("message", "shm", message_size=0),
         "a quarter of a message of a stream over shared memory", scale=0.25, isolates=False),
    Rule("machine.software.complete", "library", _call("message", "shm", message_size=0),
         "a quarter of a message of a stream over shared memory", scale=0.25, isolates=False),
    Rule("machine.software.progress_call", "library", _call("test_empty", "shm"),
         "half of an MPI_Test for which nothing comes, over shared memory", scale=0.5, isolates=False),
    Rule("machine.nic.post", "library-transport", _call("isend", message_size=0),
         "what MPI_Isend of 0 bytes costs more than over shared memory",
         minus=(_call("isend", "shm", message_size=0),), isolates=False),
    Rule("machine.nic.empty_poll", "library-transport", _call("test_empty"),
         "what MPI_Test for which nothing comes costs more than over shared memory",
         minus=(_call("test_empty", "shm"),), isolates=False),
    Rule("machine.nic.completion", "library-transport", _call("message", message_size=0),
         "half of what a message of a stream costs more than over shared memory",
         minus=(_call("message", "shm", message_size=0),), scale=0.5, isolates=False),
    Rule("machine.tcp.contended_send", "library-transport", Select("multirate", {"pairs": 1}, small=_PAGE),
         "the spread of the times of iterations with one pair, as that of so many sends of which the receiver "
         "acknowledges every second one, with what each costs more beside it", scale=1 / _SPREAD_OF_HALF,
         costs={"machine.tcp.returned_send": -_SPREAD_OF_HALF}, window=True, transports=("tcp", "tcp-veth"),
         is_substitute=True),
    Rule("machine.tcp.send_call", "library-transport", _call("isend", message_size=0),
         "what MPI_Isend of 0 bytes costs more than over shared memory, without what the receiver adds to it, which "
         "acknowledges every second one",
         minus=(_call("isend", "shm", message_size=0),),
         costs={"machine.tcp.contended_send": 0.5, "machine.tcp.returned_send": 0.5}, isolates=False),
    Rule("machine.tcp.poll_call", "library-transport", _call("test_empty"),
         "what MPI_Test for which nothing comes costs more than over shared memory",
         minus=(_call("test_empty", "shm"),), isolates=False),
    *(
        Rule("machine.tcp.dispatch", "library-transport", _call("latency", message_size=0),
             "what half a ping-pong of 0 bytes costs more than over shared memory, without the calls of the kernel, "
             f"of which polls that report something: {polls}",
             minus=(_call("latency", "shm", message_size=0),), costs=_WAY_OF_ANSWERS | {
                 "machine.tcp.poll_call": polls - 0.5, "machine.tcp.poll_event": polls,
             }, transports=("tcp",), libraries=(libraries,), least=_LEAST_COST, isolates=False)
        for libraries, polls in (("openmpi-*", 2), ("mpich-*", 1))
    ),
    Rule("machine.tcp.acknowledge", "library-transport", _call("message", message_size=0),
         "what a message of a stream costs more than over shared memory, of which a receiver that acknowledges every "
         "second one has half, without two calls and packets",
         minus=(_call("message", "shm", message_size=0),),
         costs={"machine.tcp.receive_call": 2, "machine.tcp.receive_packet": 2}, isolates=False, is_substitute=True),
    Rule("machine.shared_memory.box_write", "library", _call("message", "shm", message_size=0),
         "a fifth of a message of a stream over shared memory", scale=0.2, isolates=False),
    Rule("machine.shared_memory.box_read", "library", _call("message", "shm", message_size=0),
         "a fifth of a message of a stream over shared memory", scale=0.2, isolates=False),
    Rule("machine.matching.element", "library", _call("match_posted", "shm"),
         "slope of half a ping-pong over the number of receives that a message passes", over="depth"),
    # How runs begin. What exponential delays have in the model has a median of ln 2 of their mean.
    Rule("machine.scheduler.thread_create", "machine", _call("team_begin", part="create"),
         "processor time that the first thread of a process takes to create another one", is_optional=True),
    Rule("machine.scheduler.thread_begin", "machine", _call("team_begin", part="first_call"),
         "processor time of a new thread until it could make its first call, as an exponential delay's",
         scale=1 / math.log(2), is_optional=True),
    # Prices of a call over many requests.
    Rule("machine.waiting.clock", "machine", _machine("clock", clock="steady_clock"), "one reading of the clock",
         is_optional=True),
    *(
        Rule("machine.waiting.handle", "library", Select(WAITING, one.handles[0]),
             f"what a call over {MANY} requests takes more than one over a single one where it looks at one of them",
             minus=(Select(WAITING, one.handles[1]),), scale=1 / MANY, libraries=one.libraries, is_optional=True)
        for one in ISOLATING
    ),
    *(
        Rule("machine.waiting.check", "library", Select(WAITING, one.looks[0]),
             f"what MPI_Testsome takes more for {MANY} requests of which none is complete than for {FEW}, a look, "
             "without the handles",
             minus=(Select(WAITING, one.looks[1]),), costs={"machine.waiting.handle": MANY - FEW},
             scale=1 / (MANY - FEW) / one.looks_each, libraries=one.libraries)
        for one in ISOLATING
    ),
    # An MPI_Put by the calling thread, a thousandth of a flush included.
    Rule("machine.software.one_sided_call", "library-transport", _PUT,
         "an MPI_Put of one thread over shared memory, without the lock around it and noise",
         costs={"machine.cache.atomic_hit": 2, "machine.noise": 1}, inverse=True, transports=("shm",),
         libraries=("mpich-*",)),
    Rule("machine.software.one_sided_call", "library-transport", _PUT,
         "an MPI_Put of one thread over shared memory, without noise", costs={"machine.noise": 1},
         inverse=True, transports=("shm",)),
    Rule("fabric.latency", "library-transport", _call("latency", message_size=0),
         "half a ping-pong of 0 bytes, without the calls of both sides",
         minus=(_call("isend", message_size=0), _call("irecv")), isolates=False),
)  # fmt: skip

# What no library's own calls need to say where a probe of the machine does.
SUBSTITUTED = frozenset(rule.path for rule in RULES if rule.is_substitute)
