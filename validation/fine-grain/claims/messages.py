"""Messages and switches inside an OS process (chapter 4, section 1)."""

from __future__ import annotations

from contend.studies.claims import about, at_least, at_most, between, claim
from contend.studies.evidence import Evidence

TABLE = "table4_1"
LAYERED = "table4_1_layered"
SOURCE = "thesis, table 4.1"
GB = 8.8e9


def microseconds(e: Evidence, scenario: str, **parameters: object) -> float:
    """Time of one operation."""
    return 1e6 / e.rate(scenario, **parameters)  # type: ignore[arg-type]


def back_end(e: Evidence, name: str) -> float:
    return microseconds(e, "back_ends", backend=name)


@claim(
    "switch-portable",
    source="thesis, 4.1.1: 0.13 us and 0.81 us",
    statement="a message costs 0.68 us more with the portable coroutine library: one switch a message",
    expected=about(0.68, 0.15, "us"),
)
def switch_portable(e: Evidence) -> float:
    return back_end(e, "portable") - back_end(e, "light")


@claim(
    "switch-os",
    source="thesis, 4.1.1: 0.13 us and 6.85 us",
    statement="a message costs 6.72 us more when the operating system switches",
    expected=about(6.72, 0.15, "us"),
)
def switch_os(e: Evidence) -> float:
    return back_end(e, "os") - back_end(e, "light")


@claim(
    "oversubscribed-pair",
    source="thesis, 4.1.1: switch of the operating system 6.85 us",
    statement="two plain processes that share a core need the switch of the operating system for every message",
    expected=at_least(6.85, "us"),
)
def oversubscribed_pair(e: Evidence) -> float:
    return microseconds(e, "table4_1_os", message_size="2 B", cores_per_socket=1)


@claim(
    "message-2-B",
    source=SOURCE,
    statement="a co-located message of 2 B takes 0.47 us",
    expected=about(0.47, 0.15, "us"),
    calibrated=True,
)
def message_2(e: Evidence) -> float:
    return microseconds(e, TABLE, message_size="2 B")


@claim(
    "message-8-KB",
    source=SOURCE,
    statement="a co-located message of 8 KB takes 1.4 us",
    expected=about(1.4, 0.15, "us"),
    calibrated=True,
)
def message_8k(e: Evidence) -> float:
    return microseconds(e, TABLE, message_size="8 KiB")


@claim(
    "message-64-KB",
    source=SOURCE,
    statement="a co-located message of 64 KB takes 7.9 us",
    expected=about(7.9, 0.15, "us"),
    calibrated=True,
)
def message_64k(e: Evidence) -> float:
    return microseconds(e, TABLE, message_size="64 KiB")


@claim(
    "overhead-flat",
    source="thesis, 4.1.2: 0.43 us mean, sd 0.065, 2 B to 128 KB",
    statement="message minus copy, at 128 KB: 0.43 us",
    expected=about(0.43, 0.15, "us"),
    calibrated=True,
    remark="the profile's beginning of a copy was solved from this number at small sizes",
)
def overhead_flat(e: Evidence) -> float:
    copy_start = 0.04
    return microseconds(e, TABLE, message_size="128 KiB") - 131072 / GB * 1e6 - copy_start


@claim(
    "no-rendezvous-inside",
    source="thesis, 3.2",
    statement="co-located messages of any size are not announced: none at 4 MB",
    expected=at_most(0, "messages"),
)
def no_rendezvous_inside(e: Evidence) -> float:
    return e.counter(TABLE, "messages_announced", message_size="4 MiB")


@claim(
    "zero-copy-flat",
    source="thesis, 4.1.2: independent of size",
    statement="zero copy: 1 MB costs what 2 B cost",
    expected=between(0.99, 1.01, "x"),
)
def zero_copy_flat(e: Evidence) -> float:
    def time(size: str) -> float:
        return microseconds(e, "zero_copy", message_size=size, transfer="zero-copy")

    return time("1 MiB") / time("2 B")


@claim(
    "zero-copy-one-sided",
    source="thesis, 3.3: table of modes",
    statement="where one side only hands its buffer over, 1 MB is copied: as dear as the plain call",
    expected=between(0.95, 1.05, "x"),
)
def zero_copy_one_sided(e: Evidence) -> float:
    def time(transfer: str) -> float:
        return microseconds(e, "zero_copy", message_size="1 MiB", transfer=transfer)

    return time("zero-copy-send") / time("copy")


@claim(
    "layered-2-B",
    source=SOURCE,
    statement="layered runtime, 2 B: 0.32 us",
    expected=about(0.32, 0.15, "us"),
    calibrated=True,
)
def layered_2(e: Evidence) -> float:
    return microseconds(e, LAYERED, message_size="2 B")


@claim(
    "layered-8-KB",
    source=SOURCE,
    statement="layered runtime, 8 KB: 3.6 us",
    expected=about(3.6, 0.15, "us"),
    calibrated=True,
)
def layered_8k(e: Evidence) -> float:
    return microseconds(e, LAYERED, message_size="8 KiB")


@claim(
    "layered-smallest",
    source=SOURCE,
    statement="the layered runtime is faster for the smallest messages",
    expected=at_most(0.9, "x"),
    calibrated=True,
)
def layered_smallest(e: Evidence) -> float:
    return layered_2.compute(e) / message_2.compute(e)


@claim(
    "layered-large",
    source=SOURCE,
    statement="and slower for large ones: at 32 KB by half or more",
    expected=at_least(1.5, "x"),
)
def layered_large(e: Evidence) -> float:
    return microseconds(e, LAYERED, message_size="32 KiB") / microseconds(e, TABLE, message_size="32 KiB")
