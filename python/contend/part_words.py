"""What the parts of designs are, in a line each: words for the names that the core has registered.

Workloads are not here: the schema of scenarios has a sentence about each. docs/models.md says more about
all of them, and after which source they are made.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Kind:
    """One kind of parts.

    Attributes:
        what: One of them, in words.
        paths: The values of a scenario that name one, the most used first.
        about: What each is, by its name. One that somebody has added need not be there.
    """

    what: str
    paths: tuple[str, ...]
    about: dict[str, str] = field(default_factory=dict)


KINDS = {
    "locks": Kind(
        "lock",
        (
            "library.instances.lock",
            "library.matching.lock",
            "library.progress.lock",
            "library.transport.lock",
            "library.one_sided.update_lock",
            "workload.lock",
        ),
        {
            "adaptive": "spins for a number of attempts that it learns, then sleeps (glibc's adaptive mutex)",
            "clh": "first come, first served; each spins on the line of the one before",
            "distributed-mutex": "a queue whose last is served first; the holder may run others' critical sections "
            "(folly's DistributedMutex)",
            "flat-combining": "a thread of its own runs the critical sections that others leave in records (folly)",
            "flat-combining-pooled": "flat-combining with a record from a pool for each request",
            "mcs": "first come, first served; each spins on a line of its own",
            "mutex3": "pthread-mutex whose waiters sleep without touching the word again (Drepper's mutex 3)",
            "parking-lot": "a byte; spins ten rounds, then sleeps in a queue outside the lock (Rust's parking_lot)",
            "priority": "who works goes before who polls: two tickets, and a third between the classes",
            "pthread-mutex": "a futex word, no spinning; running threads may pass sleeping ones (glibc)",
            "queued-mutex": "a queue under a pthread-mutex; each sleeps on a condition variable of its own",
            "queued-spinlock": "one waiter spins on the word, further ones queue as in mcs (Linux)",
            "shared-mutex": "taken for writing only: spins, then yields, then sleeps (folly's SharedMutex)",
            "tas": "every attempt is an atomic operation that takes the line",
            "tas-bit": "tas whose release is an atomic operation as well (folly's PicoSpinLock)",
            "ticket": "first come, first served; all spin on one line",
            "ticket-blocking": "ticket whose waiters all sleep on one condition variable",
            "ticket-yield": "ticket that yields the core after every look",
            "ttas": "looks until the lock is free, then takes the line; random back-off if wanted",
            "ttas-eager": "ttas that tries to take the lock before its first look",
            "ttas-futex": "ttas for a fixed number of looks, then sleeps (folly's MicroLock)",
            "ttas-yield": "ttas that yields the core after every look",
        },
    ),
    "matching": Kind(
        "matching engine",
        ("library.matching.engine",),
        {
            "hash-bins": "bins by communicator, source and tag, and a list of wildcards, in posting order",
            "list": "one list of posted receives, one of unexpected messages (MPICH)",
            "ob1": "per communicator a list for each source and one for any source (Open MPI)",
            "offload": "the interface holds a bounded list and matches before software sees the message",
            "per-source": "queues for each source, one for wildcards and the receives that wait behind them",
            "vector": "queues packed in blocks, of which a block is compared at a time",
        },
    ),
    "progress": Kind(
        "progress engine",
        ("library.progress.engine",),
        {
            "concurrent": "all waiting threads poll, each its own instance first, by try-lock",
            "every-nth": "a thread polls the instances of its own requests, the others every n-th time",
            "offload-thread": "one thread on a core of its own does all the work; commands reach it through a queue",
            "ownership": "one waiting thread polls for all, the others sleep (Open MPI 4 and 5)",
            "per-target": "a thread polls what its own requests need, everything every n-th time (MPICH ch4)",
            "request-lock": "all waiting threads poll, and one lock guards the state of all requests "
            "(Open MPI until 1.10)",
            "serial-blocking": "waiting threads queue for the progress lock",
            "serial-try-lock": "a thread that does not get the progress lock goes back to its requests",
        },
    ),
    "assignments": Kind(
        "assignment of instances",
        ("library.instances.assignment",),
        {
            "dedicated": "a thread keeps the instance that it got at its first use",
            "round-robin": "every operation takes the next instance, from a counter that all threads share",
        },
    ),
    "notifications": Kind(
        "way to learn of completions",
        ("library.waiting.notification",),
        {
            "request-flags": "a waiting thread reads the flag of each of its requests",
            "sync-object": "a counter on one line for all requests of a wait",
        },
    ),
    "idling": Kind(
        "way to idle while others make progress",
        ("library.waiting.idle",),
        {
            "guarded-sleep": "on a condition variable, with a mutex that the waking thread holds",
            "sleep": "on a futex",
            "spin": "looks at the counter of its requests again and again",
            "steal": "takes tasks of others: pieces of a pack, matching of messages",
        },
    ),
    "transports": Kind(
        "transport",
        ("library.transport.kind",),
        {
            "interface": "contexts of a network interface (InfiniBand, Aries)",
            "shared-memory": "fast boxes and queues in memory of one host",
            "tcp": "TCP sockets, on one host or between two",
        },
    ),
    "window_paths": Kind(
        "way of one-sided operations",
        ("library.one_sided.path",),
        {
            "interface": "the network interfaces carry them out",
            "memory": "the calling thread copies in memory that processes of a host share",
            "messages": "messages that the target's library carries out and answers",
        },
    ),
    "partitioned": Kind(
        "design of partitioned communication",
        ("library.partitioned.engine",),
        {
            "aggregating": "partitions that are ready at about the same time leave as one put with a notification",
            "persistent": "a message for each send partition (MPIPCL)",
            "rma": "a put for each send partition, and flags that say that they have arrived",
            "whole-buffer": "one message, after the last partition is ready (MPICH)",
        },
    ),
    "buffer_transfers": Kind(
        "way of transferring a buffer that threads fill",
        ("workload.method",),
        {
            "multi-send": "an MPI_Isend of each partition, by its thread",
            "partitioned": "partitioned communication, by the library's design of it",
            "persistent": "a message for each partition by persistent requests, which its thread starts",
            "single-send": "one message, after all threads have filled their partitions",
        },
    ),
    "schedulers": Kind(
        "scheduler of coroutine processes",
        ("library.coroutines.scheduler",),
        {
            "block": "a process that waits leaves the run queue until what it waits for puts it back",
            "round-robin": "every process that waits is switched to and looks, in turns",
        },
    ),
    "process_queues": Kind(
        "queues of coroutine processes",
        ("library.coroutines.queues",),
        {
            "array-by-receiver": "queues of receives and messages for each process",
            "single-list": "one for all processes of an OS process",
        },
    ),
    "workloads": Kind("kind of workload", ("workload.kind",)),
}
