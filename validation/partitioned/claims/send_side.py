"""Send side: perceived bandwidth by buffer size (Parallel Computing 108, 2021)."""

from __future__ import annotations

from contend.studies.claims import Claim, about, at_least, at_most, between, claim
from contend.studies.evidence import Evidence

SOURCE = "Parallel Computing 108 (2021), send side"
CASES = {"10-4": ("10 ms", 4.0), "10-10": ("10 ms", 10.0), "100-4": ("100 ms", 4.0), "100-10": ("100 ms", 10.0)}
LARGEST_OF_THE_STUDY = "64 MiB"
MEBIBYTES = {"KiB": 1 / 1024, "MiB": 1.0}


def mebibytes(size: str) -> float:
    """A size as it stands in a scenario, in MiB."""
    number, unit = size.split()
    return float(number) * MEBIBYTES[unit]


def perceived(e: Evidence, scenario: str, case: str, size: str, **more: str) -> float:
    """Perceived bandwidth in MiB/s."""
    compute, noise = CASES[case]
    return e.value(
        scenario,
        lambda result: result["perceived_bandwidth"],
        buffer_size=size,
        compute_time=compute,
        noise_pct=noise,
        **more,
    )


def curve(e: Evidence, scenario: str, case: str, *, up_to: str | None = None, **more: str) -> dict[float, float]:
    """Perceived bandwidth by buffer size in MiB; without a limit all sizes, to 256 MiB."""
    sizes = [size for size in e.axis(scenario, "buffer_size") if up_to is None or mebibytes(size) <= mebibytes(up_to)]
    return {mebibytes(size): perceived(e, scenario, case, size, **more) for size in sizes}


def best(rates: dict[float, float]) -> float:
    """The buffer size with the highest perceived bandwidth."""
    return max(rates, key=rates.__getitem__)


def _peak(
    design: str, case: str, size: float, height: float, *, calibrated: bool = False, remark: str = ""
) -> tuple[Claim, Claim]:
    scenario = f"send_{design}"

    @claim(
        f"{design}-{case}-best",
        source=SOURCE,
        statement=f"{design}, {' ms / '.join(case.split('-'))} %: the best buffer is {size:g} MiB, within one "
        "power of two",
        expected=between(size / 2, size * 2, "MiB"),
        remark=remark,
    )
    def where(e: Evidence) -> float:
        return best(curve(e, scenario, case, up_to=LARGEST_OF_THE_STUDY))

    @claim(
        f"{design}-{case}-height",
        source=SOURCE,
        statement=f"{design}, {' ms / '.join(case.split('-'))} %: the peak is {height:,.0f} MiB/s, within 20 %",
        expected=about(height, 0.2, "MiB/s"),
        calibrated=calibrated,
        remark="the wake-up time of the profile was chosen for this height" if calibrated else "",
    )
    def how_high(e: Evidence) -> float:
        return max(curve(e, scenario, case, up_to=LARGEST_OF_THE_STUDY).values())

    return where, how_high


rma_10_4_where, rma_10_4_height = _peak("rma", "10-4", 4, 13_372)
rma_10_10_where, rma_10_10_height = _peak("rma", "10-10", 8, 29_367, calibrated=True)
persistent_10_4_where, persistent_10_4_height = _peak(
    "persistent",
    "10-4",
    16,
    9_058,
    remark="the curve is flat from 32 MiB on: less is sent early than in the study",
)


@claim(
    "persistent-10-4-at-16",
    source=SOURCE,
    statement="persistent, 10 ms / 4 %: 9,058 MiB/s at 16 MiB, within 15 %",
    expected=about(9_058, 0.15, "MiB/s"),
)
def persistent_at_16(e: Evidence) -> float:
    """At the study's buffer size, wherever our own peak is."""
    return perceived(e, "send_persistent", "10-4", "16 MiB")


def _no_peak_inside(case: str) -> Claim:
    @claim(
        f"persistent-{case}-no-peak",
        source=SOURCE,
        statement=f"persistent, 100 ms / {case.split('-')[1]} %: no peak inside the range, the best buffer is the "
        "largest",
        expected=at_least(mebibytes(LARGEST_OF_THE_STUDY), "MiB"),
    )
    def rises(e: Evidence) -> float:
        return best(curve(e, "send_persistent", case, up_to=LARGEST_OF_THE_STUDY))

    return rises


no_peak_100_4 = _no_peak_inside("100-4")
no_peak_100_10 = _no_peak_inside("100-10")


@claim(
    "mailbox-takes-the-peak",
    source=SOURCE,
    statement="with room for every announcement the persistent design would have a peak inside the range at 100 ms / "
    "4 %, which the study does not see: its highest rate over that of the largest buffer",
    expected=at_least(1.5, "x"),
    remark="what the mailbox does: the study's libraries are not named",
)
def room_has_a_peak(e: Evidence) -> float:
    """Unlimited messages under way: the machine's interface has no window of its own."""
    rates = curve(e, "rendezvous_protocol", "100-4", up_to=LARGEST_OF_THE_STUDY, rendezvous="get", kind="grants")
    return max(rates.values()) / rates[mebibytes(LARGEST_OF_THE_STUDY)]


@claim(
    "rma-peak-grows-with-delay",
    source=SOURCE,
    statement="one-sided design, 10 ms: 2.5 times the delay moves the best buffer up",
    expected=at_least(2, "x"),
)
def peak_moves(e: Evidence) -> float:
    """Best buffer at 10 % over that at 4 %."""
    of = {case: best(curve(e, "send_rma", case)) for case in ("10-4", "10-10")}
    return of["10-10"] / of["10-4"]


def _early_fits(case: str, delay_s: float) -> Claim:
    @claim(
        f"rma-{case}-just-fits",
        source=SOURCE,
        statement=f"one-sided design, {' ms / '.join(case.split('-'))} %: at the best buffer the early data fit "
        "into the delay at the "
        "plain bandwidth, and those of twice the buffer do not: time of the early data over the delay",
        expected=between(0.5, 1.1, "x of the delay"),
    )
    def fits(e: Evidence) -> float:
        plain = max(curve(e, "send_single", case).values())
        return best(curve(e, "send_rma", case)) * 63 / 64 / plain / delay_s

    return fits


fits_10_4 = _early_fits("10-4", 0.4e-3)
fits_10_10 = _early_fits("10-10", 1e-3)
fits_100_4 = _early_fits("100-4", 4e-3)
fits_100_10 = _early_fits("100-10", 10e-3)


def _converges(design: str) -> Claim:
    @claim(
        f"{design}-converges",
        source=SOURCE,
        statement=f"{design}: larger buffers converge to the plain bandwidth, 256 MiB at 10 ms / 4 % over one message",
        expected=between(0.85, 1.15, "x"),
    )
    def converges(e: Evidence) -> float:
        return perceived(e, f"send_{design}", "10-4", "256 MiB") / perceived(e, "send_single", "10-4", "256 MiB")

    return converges


rma_converges = _converges("rma")
persistent_converges = _converges("persistent")


@claim(
    "rma-above-single",
    source=SOURCE,
    statement="one-sided design: at its peak it is above one message after the join, at each compute time and "
    "noise (lowest ratio)",
    expected=at_least(1.5, "x"),
)
def above_single(e: Evidence) -> float:
    """The least of the four ratios."""
    ratios = []
    for case in CASES:
        rates = curve(e, "send_rma", case)
        ratios.append(max(rates.values()) / curve(e, "send_single", case)[best(rates)])
    return min(ratios)


@claim(
    "rma-above-persistent-at-peak",
    source=SOURCE,
    statement="10 ms / 4 %: the one-sided design's peak is above the persistent one's (13,372 against 9,058 MiB/s)",
    expected=between(1.18, 1.77, "x"),
)
def rma_above_persistent(e: Evidence) -> float:
    """Peak over peak."""
    up_to = LARGEST_OF_THE_STUDY
    return max(curve(e, "send_rma", "10-4", up_to=up_to).values()) / max(
        curve(e, "send_persistent", "10-4", up_to=up_to).values()
    )


@claim(
    "single-ignores-noise",
    source=SOURCE,
    statement="one message after the join: who is late makes no difference, 100 ms / 10 % over 10 ms / 4 % at 16 MiB",
    expected=between(0.97, 1.03, "x"),
)
def single_ignores_noise(e: Evidence) -> float:
    """Nothing is sent early."""
    return perceived(e, "send_single", "100-10", "16 MiB") / perceived(e, "send_single", "10-4", "16 MiB")


def _operations(id_: str, scenario: str, counter: str, expected: int, what: str) -> Claim:
    @claim(
        id_,
        source="Parallel Computing 108 (2021), design of the one-sided library",
        statement=what,
        expected=between(expected - 0.5, expected + 0.5, "per iteration"),
    )
    def count(e: Evidence) -> float:
        iterations = 5  # 1 for warm-up
        return e.counter(scenario, counter, buffer_size="4 MiB", compute_time="10 ms", noise_pct=4.0) / iterations

    return count


one_flag_puts = _operations(
    "rma-one-flag-puts", "send_rma", "puts", 65, "64 partitions, 1 flag: 64 puts of data and one of a flag"
)
one_flag_flushes = _operations("rma-one-flag-flushes", "send_rma", "flushes", 2, "64 partitions, 1 flag: two flushes")
many_flags_puts = _operations(
    "rma-64-flags-puts", "receive_rma", "puts", 128, "64 partitions, 64 flags: 64 puts of data and of flags"
)
many_flags_flushes = _operations(
    "rma-64-flags-flushes", "receive_rma", "flushes", 128, "64 partitions, 64 flags: 128 flushes"
)


@claim(
    "small-buffers-cost-the-join",
    source=SOURCE,
    statement="64 KiB: no design is far from any other, because the join takes longer than the data (one-sided "
    "over one message, 10 ms / 4 %)",
    expected=at_most(2, "x"),
)
def small_are_equal(e: Evidence) -> float:
    """Where nothing is to be gained."""
    return perceived(e, "send_rma", "10-4", "64 KiB") / perceived(e, "send_single", "10-4", "64 KiB")
