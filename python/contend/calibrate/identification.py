"""Direct identification: one measurement for one parameter, where a benchmark isolates it.

Every rule is a line of the table `RULES`: which parameter, from which points of which kind of dataset, by which
formula. Rules of one parameter are tried in order until one finds its points. A rule that *isolates* fixes its
parameter; one that only *guides* (its formula contains more of the model than a price) gives the fit a value and a
range to search in.
"""

from __future__ import annotations

import fnmatch
import math
import statistics
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from contend.calibrate.mapping import Scope, scope_key
from contend.calibrate.places import Relation, relation
from contend.calibrate.split import merged
from contend.calibrate.waiting_points import FEW, ISOLATING, MANY, WAITING
from contend.documents import get_path
from contend.errors import InputError
from contend.prices import Price, parse_price
from contend.quantities import parse_quantity

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from contend.datasets import Dataset, MeasuredPoint
    from contend.jsontypes import JsonObject

_NORMAL_95 = 1.959964
# Between the quartiles of a normal distribution, in standard deviations.
_QUARTILES = 1.348980
# Why rules for parts of a machine that a profile may leave out find nothing.
NO_PARAMETER = "the base profile has no such parameter"
# A guided parameter may be wrong by this factor either way.
_GUIDED_FACTOR = 3.0
# What jumps does so by this factor at least.
_STEP = 5.0
# Messages of up to a page take about the same time to send, and so are of one price that is no size's.
_PAGE = 4096
# The least 95 % half-width of an identified value: benchmark and model never mean exactly the same.
_LEAST_UNCERTAINTY = 0.05


@dataclass(frozen=True)
class Reading:
    """A measured time with its standard error, in seconds, and which points it is from."""

    value: float
    error: float
    points: int


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
    how often they are paid); with `over` it is the slope over that parameter of the points instead; with `rate` the
    parameter's number of bytes over the time; with `step` the value of that parameter, in `scale` s, at which the
    time jumps; with `window` the standard deviation of each of an iteration's messages, from the interquartile range of
    the times of iterations; with `deviation` the standard deviation of all samples; with `inverse` what was measured is
    a rate, and its inverse the time. `transports`, `libraries` (with wildcards): for no others. `isolates`: see the
    module. `is_optional`: a base profile that has the section need not have the parameter, which is neutral then.
    """

    path: str
    scope: Scope
    select: Select
    what: str
    minus: tuple[Select, ...] = ()
    costs: Mapping[str, float] = field(default_factory=dict)
    scale: float = 1.0
    over: str | None = None
    rate: str | None = None
    step: str | None = None
    window: bool = False
    deviation: bool = False
    inverse: bool = False
    transports: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ("*",)
    isolates: bool = True
    is_optional: bool = False


def _machine(probe: str, cores: str = "any", **parameters: object) -> Select:
    return Select("machine", {"probe": probe, **parameters}, cores)


def _call(primitive: str, transport: str | None = None, **parameters: object) -> Select:
    return Select("primitives", {"primitive": primitive, **parameters}, transport=transport)


# What a simulated MPI_Irecv that finds nothing pays besides its own code: prices that are known otherwise.
_POSTING = {
    "machine.cache.atomic_hit": 3,
    "machine.matching.attempt": 1,
    "machine.matching.enqueue": 1,
    "machine.noise": 1,
}

# A price of puts is without their bytes: the smallest have next to none.
_PUT = Select("rma-mt", {"threads": 1, "operation": "put"}, small=0)

RULES: tuple[Rule, ...] = (
    Rule("machine.cache.atomic_hit", "machine", _machine("atomic", operation="fetch_add", state="owned"),
         "fetch-and-add on a line that the core owns"),
    Rule("machine.cache.atomic_hit", "machine",
         Select("locks", {"lock": "mutex", "threads": 1, "critical_section_ns": 0, "outside_ns": 0}),
         "half of taking a mutex that nobody else wants and giving it back, which is two atomics and a loop", scale=0.5,
         inverse=True),
    Rule("machine.cache.transfer_smt", "machine", _machine("cache_line", Relation.siblings),
         "a modified line moves between hardware threads of one core, half a round trip of a flag"),
    Rule("machine.cache.transfer_socket", "machine", _machine("cache_line", Relation.same_socket),
         "a modified line moves between cores of one socket, half a round trip of a flag"),
    Rule("machine.cache.transfer_remote", "machine", _machine("cache_line", Relation.other_socket),
         "a modified line moves between sockets, half a round trip of a flag"),
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
    Rule("machine.tcp.contended_send", "machine", _machine("socket", "other core", part="send"),
         "what a send over the loopback device costs more while its receiver polls on another core",
         minus=(_machine("socket", "same core", part="send"),)),
    Rule("machine.tcp.moved_send", "machine", _machine("socket_turns", part="send", moved=True),
         "what a send over the loopback device costs more after one by another core",
         minus=(_machine("socket_turns", part="send", moved=False),), is_optional=True),
    Rule("machine.tcp.moved_receive", "machine", _machine("socket_turns", part="read", moved=True),
         "what a receive over the loopback device costs more after one by another core",
         minus=(_machine("socket_turns", part="read", moved=False),), is_optional=True),
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
         "the spread of the times of iterations with one pair, as that of so many independent sends beside a receiver "
         "that polls", window=True, transports=("tcp", "tcp-veth")),
    Rule("machine.tcp.send_call", "library-transport", _call("isend", message_size=0),
         "what MPI_Isend of 0 bytes costs more than over shared memory, without what the receiver's polling adds to it",
         minus=(_call("isend", "shm", message_size=0),), costs={"machine.tcp.contended_send": 1}, isolates=False),
    Rule("machine.tcp.poll_call", "library-transport", _call("test_empty"),
         "what MPI_Test for which nothing comes costs more than over shared memory",
         minus=(_call("test_empty", "shm"),), isolates=False),
    Rule("machine.tcp.receive_call", "library-transport", _call("message", message_size=0),
         "half of what a message of a stream costs more than over shared memory",
         minus=(_call("message", "shm", message_size=0),), scale=0.5, isolates=False),
    Rule("machine.shared_memory.box_write", "library", _call("message", "shm", message_size=0),
         "a fifth of a message of a stream over shared memory", scale=0.2, isolates=False),
    Rule("machine.shared_memory.box_read", "library", _call("message", "shm", message_size=0),
         "a fifth of a message of a stream over shared memory", scale=0.2, isolates=False),
    Rule("machine.matching.element", "library", _call("match_posted", "shm"),
         "slope of half a ping-pong over the number of receives that a message passes", over="depth"),
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


@dataclass(frozen=True)
class Identified:
    """What a rule found: a value in base units with its 95 % interval, how, and from which datasets."""

    rule: Rule
    scope: str
    value: float
    low: float
    high: float
    kind: str
    datasets: tuple[str, ...]
    points: int

    @property
    def half_width(self) -> float:
        """Half the interval as a share of the value."""
        return max(self.high / self.value, self.value / self.low) - 1


@dataclass(frozen=True)
class Skipped:
    """A rule that gave nothing, and why."""

    rule: Rule
    scope: str
    reason: str


@dataclass
class _Context:
    """What a rule may look at, for one scope."""

    datasets: Sequence[Dataset]
    profile: JsonObject
    known: Mapping[tuple[str, str], Identified]
    library: str | None
    transport: str | None
    machine: str


def identify(datasets: Sequence[Dataset], profile: JsonObject) -> tuple[list[Identified], list[Skipped]]:
    """Applies all rules, in order: a later rule sees what earlier ones found.

    Args:
        datasets: What was measured; other kinds than microbenchmarks are ignored.
        profile: The base profile, for prices that rules subtract.
    """
    found: dict[tuple[str, str], Identified] = {}
    skipped: list[Skipped] = []
    for rule in RULES:
        for scope, context in _contexts(rule, datasets, profile, found):
            try:
                result = _apply(rule, scope, context)
            except InputError as error:
                skipped.append(Skipped(rule, scope, str(error)))
            else:
                found.setdefault((rule.path, scope), result)
    return list(found.values()), skipped


def _contexts(
    rule: Rule, datasets: Sequence[Dataset], profile: JsonObject, known: Mapping[tuple[str, str], Identified]
) -> list[tuple[str, _Context]]:
    """One for each scope that has datasets of the rule's kind."""
    machines = {dataset.machine_id for dataset in datasets}
    machine = next(iter(machines)) if len(machines) == 1 else ""
    contexts: dict[str, _Context] = {}
    for dataset in datasets:
        of_rule = any(fnmatch.fnmatchcase(dataset.library_key, pattern) for pattern in rule.libraries)
        of_rule = of_rule and (not rule.transports or dataset.transport in rule.transports)
        if dataset.kind == rule.select.kind and of_rule:
            library = None if rule.scope in {"machine", "transport"} else dataset.library_key
            transport = None if rule.scope in {"machine", "library"} else dataset.transport
            scope = scope_key(rule.scope, dataset)
            contexts.setdefault(scope, _Context(datasets, profile, known, library, transport, machine))
    return list(contexts.items())


def _apply(rule: Rule, scope: str, context: _Context) -> Identified:
    if not _has_place(rule, context.profile):
        raise InputError(NO_PARAMETER)
    if not context.machine:
        raise InputError("the datasets are of several machines")
    used: set[str] = set()
    if rule.step is not None:
        below, above, count = _step(rule, context, used)
        low, high = rule.scale * below, rule.scale * above
        return Identified(rule, scope, math.sqrt(low * high), low, high, "time", tuple(sorted(used)), count)
    reading = _reading(rule, context, used)
    for cost, times in rule.costs.items():
        reading = Reading(reading.value - times * _price(cost, scope, context), reading.error, reading.points)
    value, kind = rule.scale * reading.value, "time"
    error = rule.scale * reading.error
    if rule.rate is not None:
        size = float(rule.select.parameters[rule.rate])
        value, error, kind = size / reading.value, size / reading.value**2 * reading.error, "rate"
    if value <= 0:
        raise InputError(f"the formula gives {value:.3g}: what it subtracts is not in what was measured")
    spread = max(_NORMAL_95 * error / value, _LEAST_UNCERTAINTY)
    factor = 1 + spread if rule.isolates else max(1 + spread, _GUIDED_FACTOR)
    return Identified(rule, scope, value, value / factor, value * factor, kind, tuple(sorted(used)), reading.points)


def _has_place(rule: Rule, profile: JsonObject) -> bool:
    """Whether a profile has the parameter of a rule, or the section of one that it may leave out."""
    if not rule.path.startswith("machine."):
        return True
    path = rule.path.removeprefix("machine.")
    return get_path(profile, path.rpartition(".")[0] if rule.is_optional else path) is not None


def _reading(rule: Rule, context: _Context, used: set[str]) -> Reading:
    """What a rule reads in the points, before costs and scale."""
    if rule.window:
        return _spread_of_messages(rule, context, used)
    if rule.deviation:
        return _deviation(rule, context, used)
    if rule.over is not None:
        return _slope(rule, context, used)
    reading = _read(rule.select, rule, context, used)
    if rule.inverse:
        reading = Reading(1 / reading.value, reading.error / reading.value**2, reading.points)
    for one in rule.minus:
        other = _read(one, rule, context, used)
        reading = Reading(reading.value - other.value, math.hypot(reading.error, other.error), reading.points)
    return reading


def _price(path: str, scope: str, context: _Context) -> float:
    for one in (scope, "machine"):
        if (path, one) in context.known:
            return context.known[path, one].value
    entry = get_path(context.profile, path.removeprefix("machine."))
    if entry is None:
        return 0.0  # nothing is paid for what the machine does not have
    price: Price = parse_price(entry["value"])
    return price.value


def _points(select: Select, rule: Rule, context: _Context, used: set[str]) -> list[tuple[Dataset, MeasuredPoint]]:
    transport = select.transport or (context.transport if rule.scope != "library" else None)
    points = []
    for dataset in context.datasets:
        of_library = context.library is None or dataset.library_key == context.library
        of_transport = select.kind in {"machine", "locks"} or transport is None or dataset.transport == transport
        if dataset.kind != select.kind or not of_library or not of_transport:
            continue
        for point in dataset.points:
            told = merged(dataset, point)
            wanted = all(told.get(name) == value for name, value in select.parameters.items())
            if wanted and point.spread is not None and _fits_cores(select.cores, dataset, point):
                points.append((dataset, point))
    if select.small is not None and points:
        sizes = [_message_size(dataset, point) for dataset, point in points]
        largest = max(select.small, min(sizes))
        points = [one for one, size in zip(points, sizes, strict=True) if size <= largest]
    used.update(dataset.name for dataset, _ in points)
    return points


def _message_size(dataset: Dataset, point: MeasuredPoint) -> float:
    """Bytes of a point's messages; infinite where it does not say them."""
    size = merged(dataset, point).get("message_size")
    if isinstance(size, int):
        return size
    found = parse_quantity(size)
    return math.inf if found is None else found.value


def _read(select: Select, rule: Rule, context: _Context, used: set[str]) -> Reading:
    """The median over all points that fit. Its error: that of the points, or how much points differ if that is more."""
    points = _points(select, rule, context, used)
    if not points:
        wanted = " ".join(f"{name}={value}" for name, value in select.parameters.items())
        over = f" over {select.transport}" if select.transport else ""
        between = f" between {select.cores}" if select.cores in set(Relation) else ""
        raise InputError(f"nothing was measured of {select.kind} {wanted}{over}{between}")
    values = [point.median for _, point in points]
    value = statistics.median(values)
    own = statistics.fmean(point.log_error for _, point in points) * value / math.sqrt(len(points))
    among = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0
    return Reading(value, max(own, among), len(points))


def _spread_of_messages(rule: Rule, context: _Context, used: set[str]) -> Reading:
    """The median over all points, as in `_read`."""
    found = []
    for dataset, point in _points(rule.select, rule, context, used):
        window = merged(dataset, point).get("window")
        if isinstance(window, int) and window > 0 and point.iteration_range_s is not None:
            found.append(point.iteration_range_s / _QUARTILES / math.sqrt(window))
    if not found:
        raise InputError("no times of iterations were measured")
    among = statistics.stdev(found) / math.sqrt(len(found)) if len(found) > 1 else found[0] / 2
    return Reading(statistics.median(found), among, len(found))


def _deviation(rule: Rule, context: _Context, used: set[str]) -> Reading:
    """The standard deviation of the samples of all points together."""
    samples = [sample for _, point in _points(rule.select, rule, context, used) for sample in point.samples]
    if len(samples) < 2 or not (value := statistics.stdev(samples)) > 0:  # noqa: PLR2004 - of one there is none
        raise InputError("a standard deviation needs samples that differ")
    return Reading(value, value / math.sqrt(2 * (len(samples) - 1)), len(samples))


def _step(rule: Rule, context: _Context, used: set[str]) -> tuple[float, float, int]:
    """Between which two values of a parameter the time jumps over the middle, in logarithms, of its extremes.

    Values from there on may fall back (a timer interrupt may come at once); those before it may not.
    """
    points = _points(rule.select, rule, context, used)
    times: dict[float, list[float]] = {}
    for _, point in points:
        at = point.parameters.get(str(rule.step))
        if isinstance(at, int | float):
            times.setdefault(float(at), []).append(point.median)
    medians = [(at, statistics.median(found)) for at, found in sorted(times.items())]
    if len(medians) < 2:  # noqa: PLR2004 - as the comment says
        raise InputError(f"a step over {rule.step} needs two values of it")
    least, most = min(time for _, time in medians), max(time for _, time in medians)
    if most < _STEP * least:
        raise InputError(f"there is no step over {rule.step}: {least:.3g} to {most:.3g} s")
    middle = math.sqrt(least * most)
    first = next(index for index, (_, time) in enumerate(medians) if time > middle)
    if first == 0:
        raise InputError(f"the step over {rule.step} is below its smallest value")
    return medians[first - 1][0], medians[first][0], len(points)


def _slope(rule: Rule, context: _Context, used: set[str]) -> Reading:
    """The least-squares slope of the medians over a parameter, weighted by their errors."""
    points = _points(rule.select, rule, context, used)
    x = [point.parameters.get(str(rule.over)) for _, point in points]
    at = [float(value) for value in x if isinstance(value, int | float)]
    if len(set(at)) < 2 or len(at) != len(points):  # noqa: PLR2004 - as the comment says
        raise InputError(f"a slope over {rule.over} needs two values of it")
    y = [point.median for _, point in points]
    weights = [1 / (point.log_error * point.median) ** 2 for _, point in points]
    total = sum(weights)
    mean_x = sum(w * a for w, a in zip(weights, at, strict=True)) / total
    mean_y = sum(w * b for w, b in zip(weights, y, strict=True)) / total
    spread = sum(w * (a - mean_x) ** 2 for w, a in zip(weights, at, strict=True))
    slope = sum(w * (a - mean_x) * (b - mean_y) for w, a, b in zip(weights, at, y, strict=True)) / spread
    return Reading(slope, 1 / math.sqrt(spread), len(points))


def _fits_cores(wanted: str, dataset: Dataset, point: MeasuredPoint) -> bool:
    """Whether a pair of processors is of a kind; one whose place is not known is of no kind of places."""
    if wanted == "any":
        return True
    source, target = point.parameters.get("from_core"), point.parameters.get("to_core")
    if not isinstance(source, int) or not isinstance(target, int):
        return False
    if wanted in {"same core", "other core"}:
        return (source == target) == (wanted == "same core")
    return source != target and relation(dataset.machine, source, target) == wanted
