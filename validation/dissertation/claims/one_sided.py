"""One-sided communication: RMA-MT on Trinitite (section 5.4.6)."""

from __future__ import annotations

from contend.studies.claims import Claim, at_least, at_most, between, claim
from contend.studies.evidence import Evidence

SOURCE = "dissertation section 5.4.6"
SMALL = "1 B"
MEDIUM = "1 KiB"
LARGE = "16 KiB"
BYTES = {SMALL: 1, MEDIUM: 1024, LARGE: 16384}
# Haswell: 32 cores and instances, the study's figure; KNL: 72 instances, up to 64 threads.
FIGURES = {"haswell": ("fig5_7_rma_put_haswell", 32), "knl": ("fig5_8_rma_put_knl", 64)}
WIRE = 12.5e9  # 100 Gbit/s


def curve(e: Evidence, machine: str, design: str, size: str = SMALL) -> dict[int, float]:
    """Put rates by threads; design: "" (single instance), "_round_robin", "_dedicated"."""
    return e.curve(FIGURES[machine][0] + design, "threads", message_size=size)


def _single_falls(machine: str) -> Claim:
    threads = FIGURES[machine][1]

    @claim(
        f"rma-{machine}-single-falls",
        source=SOURCE,
        statement=f"{machine}: with a single instance the put rate falls with threads, {threads} against 1",
        expected=at_most(0.9, "x of 1 thread"),
    )
    def falls(e: Evidence) -> float:
        rates = curve(e, machine, "")
        return rates[threads] / rates[1]

    return falls


def _single_falls_from_peak(machine: str) -> Claim:
    threads = FIGURES[machine][1]

    @claim(
        f"rma-{machine}-single-falls-from-peak",
        source=SOURCE,
        statement=f"{machine}: with a single instance more threads than it takes to keep its lock busy lower the rate, "
        f"{threads} threads against the best number of them",
        expected=at_most(0.9, "x of the best"),
    )
    def falls(e: Evidence) -> float:
        rates = curve(e, machine, "")
        return rates[threads] / max(rates.values())

    return falls


def _round_robin_better(machine: str) -> Claim:
    threads = FIGURES[machine][1]

    @claim(
        f"rma-{machine}-round-robin-better",
        source=SOURCE,
        statement=f"{machine}: round-robin instances are faster than a single one at {threads} threads",
        expected=at_least(1.1, "x"),
    )
    def better(e: Evidence) -> float:
        return curve(e, machine, "_round_robin")[threads] / curve(e, machine, "")[threads]

    return better


def _dedicated_best(machine: str) -> Claim:
    threads = FIGURES[machine][1]

    @claim(
        f"rma-{machine}-dedicated-best",
        source=SOURCE,
        statement=f"{machine}: dedicated instances are faster than round-robin ones at {threads} threads",
        expected=at_least(1.1, "x"),
    )
    def best(e: Evidence) -> float:
        return curve(e, machine, "_dedicated")[threads] / curve(e, machine, "_round_robin")[threads]

    return best


def _efficiency(machine: str) -> Claim:
    @claim(
        f"rma-{machine}-dedicated-efficiency",
        source=SOURCE,
        statement=f"{machine}: dedicated instances scale almost perfectly to 32 threads",
        expected=at_least(0.90, "of 32 times 1 thread"),
    )
    def efficiency(e: Evidence) -> float:
        rates = curve(e, machine, "_dedicated")
        return rates[32] / (32 * rates[1])

    return efficiency


def _gain(machine: str) -> Claim:
    @claim(
        f"rma-{machine}-up-to-200",
        source=SOURCE,
        statement=f"{machine}: dedicated instances reach up to 200 times the single instance (any threads and size)",
        expected=between(100, 300, "x"),
    )
    def gain(e: Evidence) -> float:
        scenario = FIGURES[machine][0]
        return max(
            rate / curve(e, machine, "", size)[threads]
            for size in e.axis(scenario, "message_size")
            for threads, rate in curve(e, machine, "_dedicated", size).items()
        )

    return gain


def _wire(machine: str) -> Claim:
    threads = FIGURES[machine][1]

    @claim(
        f"rma-{machine}-near-the-wire",
        source=SOURCE,
        statement=f"{machine}: dedicated instances come close to the ceiling of the wire ({LARGE}, {threads} threads)",
        expected=between(0.8, 1.0, "of 12.5 GB/s"),
    )
    def near(e: Evidence) -> float:
        return curve(e, machine, "_dedicated", LARGE)[threads] * BYTES[LARGE] / WIRE

    return near


haswell_single_falls = _single_falls("haswell")
haswell_single_falls_from_peak = _single_falls_from_peak("haswell")
haswell_round_robin_better = _round_robin_better("haswell")
haswell_dedicated_best = _dedicated_best("haswell")
haswell_efficiency = _efficiency("haswell")
haswell_gain = _gain("haswell")
haswell_wire = _wire("haswell")
knl_single_falls = _single_falls("knl")
knl_single_falls_from_peak = _single_falls_from_peak("knl")
knl_round_robin_better = _round_robin_better("knl")
knl_dedicated_best = _dedicated_best("knl")
knl_efficiency = _efficiency("knl")
knl_gain = _gain("knl")
knl_wire = _wire("knl")


@claim(
    "rma-concurrent-progress-adds-nothing",
    source=SOURCE,
    statement="concurrent progress adds nothing: largest change of the put rate, dedicated instances",
    expected=at_most(5.0, "%"),
    remark="true by construction: in the model a flush polls the instances itself, whatever the progress engine",
)
def concurrent_progress(e: Evidence) -> float:
    concurrent, serial = (
        e.curve("fig5_7_rma_progress", "threads", engine=engine) for engine in ("concurrent", "ownership")
    )
    return max(100 * abs(rate / serial[threads] - 1) for threads, rate in concurrent.items())


def _fence(size: str) -> Claim:
    @claim(
        f"rma-fence-funnels-{BYTES[size]}",
        source=SOURCE,
        statement=f"fence funnels through one thread: its rate against flush, 32 threads, dedicated instances, {size}",
        expected=at_most(0.9, "x"),
    )
    def fence(e: Evidence) -> float:
        at = {"threads": 32, "message_size": size}
        scenario = "fig5_7_rma_synchronisation"
        return e.rate(scenario, synchronisation="fence", **at) / e.rate(scenario, synchronisation="flush", **at)

    return fence


fence_small = _fence(SMALL)
fence_medium = _fence(MEDIUM)
