"""Receive side: communication time and extra compute time, 64 partitions on both sides."""

from __future__ import annotations

from contend.studies.claims import Claim, at_least, at_most, claim
from contend.studies.evidence import Evidence

SOURCE = "Parallel Computing 108 (2021), receive side"
CASES = {"10-4": ("10 ms", 4.0), "10-10": ("10 ms", 10.0), "100-4": ("100 ms", 4.0), "100-10": ("100 ms", 10.0)}
MAILBOX = (
    "64 announcements find 32 slots, and of those that go early most wait at the receiver for an earlier one that did "
    "not; were all of them to go, both designs would be bound by the wire"
)
SMALL = ("64 KiB", "128 KiB", "256 KiB", "512 KiB")
LARGE = ("16 MiB", "32 MiB", "64 MiB")


def time_of(e: Evidence, design: str, measure: str, case: str, size: str) -> float:
    """A time of the receive side, in seconds."""
    compute, noise = CASES[case]
    return e.value(
        f"receive_{design}",
        lambda result: result[f"{measure}_time_s"],
        buffer_size=size,
        compute_time=compute,
        noise_pct=noise,
    )


def communication(e: Evidence, design: str, case: str, size: str) -> float:
    """From the last Pready to the end of the receiver's wait."""
    return time_of(e, design, "communication", case, size)


def extra_compute(e: Evidence, design: str, case: str, size: str) -> float:
    """From the first partition that has arrived to the end of the receiver's wait."""
    return time_of(e, design, "extra_compute", case, size)


def _several_times(design: str) -> Claim:
    @claim(
        f"receive-{design}-extra-compute",
        source=SOURCE,
        statement=f"{design}: extra compute time can exceed communication time several times over (highest ratio "
        "of all buffers and cases)",
        expected=at_least(3, "x"),
    )
    def several(e: Evidence) -> float:
        sizes = e.axis(f"receive_{design}", "buffer_size")
        return max(
            extra_compute(e, design, case, size) / communication(e, design, case, size)
            for case in CASES
            for size in sizes
        )

    return several


rma_several = _several_times("rma")
persistent_several = _several_times("persistent")


def _loses(case: str) -> Claim:
    @claim(
        f"receive-rma-loses-extra-{case}",
        source=SOURCE,
        statement=f"one-sided design, {' ms / '.join(case.split('-'))} %: extra compute time is lost for large "
        "buffers, because flags queue "
        "behind data: its part of the time from the delay on at 64 MiB over that at 256 KiB",
        expected=at_most(0.7, "x"),
    )
    def loses(e: Evidence) -> float:
        delay = float(CASES[case][0].split()[0]) * 1e-3 * CASES[case][1] / 100

        def share(size: str) -> float:
            whole = delay + communication(e, "rma", case, size)  # since the other threads were ready
            return extra_compute(e, "rma", case, size) / whole

        return share("64 MiB") / share("256 KiB")

    return loses


loses_10_4 = _loses("10-4")
loses_10_10 = _loses("10-10")
loses_100_4 = _loses("100-4")


def _small(case: str) -> Claim:
    @claim(
        f"receive-small-{case}",
        source=SOURCE,
        statement=f"{' ms / '.join(case.split('-'))} %: for small buffers (64 to 512 KiB) the one-sided design "
        "communicates faster: its time over "
        "the persistent one's, highest",
        expected=at_most(1, "x"),
    )
    def faster(e: Evidence) -> float:
        return max(communication(e, "rma", case, size) / communication(e, "persistent", case, size) for size in SMALL)

    return faster


small_10_4 = _small("10-4")
small_10_10 = _small("10-10")
small_100_4 = _small("100-4")
small_100_10 = _small("100-10")


def _large(case: str, *, persistent_wins: bool) -> Claim:
    who = "the persistent" if persistent_wins else "the one-sided"

    @claim(
        f"receive-large-{case}",
        source=SOURCE,
        statement=f"{' ms / '.join(case.split('-'))} %: for large buffers (16 to 64 MiB) {who} design communicates "
        "faster: the one-sided design's "
        "time over the persistent one's, summed",
        expected=at_least(1, "x") if persistent_wins else at_most(1, "x"),
        remark=MAILBOX if persistent_wins else "",
    )
    def faster(e: Evidence) -> float:
        times = {
            design: sum(communication(e, design, case, size) for size in LARGE) for design in ("rma", "persistent")
        }
        return times["rma"] / times["persistent"]

    return faster


large_10_4 = _large("10-4", persistent_wins=True)
large_10_10 = _large("10-10", persistent_wins=True)
large_100_4 = _large("100-4", persistent_wins=True)
large_100_10 = _large("100-10", persistent_wins=False)
