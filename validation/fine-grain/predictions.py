"""Numbers of the thesis that were kept back when the model was built.

NAME is what the model says, and NAME_ci95 its statistical interval: next to nothing, the model has hardly any chance.
NAME_range is what we believe the measurement to be in, with 90 %: the model's number with the uncertainty of the prices
that no visible number identifies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from contend.studies.claims import Given

if TYPE_CHECKING:
    from contend.common.jsontypes import JsonObject
    from contend.studies.evidence import Evidence

BETWEEN = ["1 KiB", "2 KiB", "4 KiB", "16 KiB", "32 KiB"]
ABOVE = ["256 KiB", "512 KiB", "1 MiB", "4 MiB"]
PROCESSES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]
SIZES = [4096, 6144, 8192]
NODES_OF_RECORD_ROUNDS = 10  # of dissemination among 540 nodes


def _range(values: list[float], low: float, high: float) -> Given:
    return Given([[value * low, value * high] for value in values])


def _with_range(name: str, values: list[float], low: float, high: float) -> JsonObject:
    return {name: values, f"{name}_range": _range(values, low, high)}


def _us(e: Evidence, scenario: str, **parameters: object) -> float:
    return 1e6 / e.rate(scenario, **parameters)  # type: ignore[arg-type]


def _messages(e: Evidence) -> JsonObject:
    own = [_us(e, "table4_1", message_size=size) for size in BETWEEN]
    layered = [_us(e, "table4_1_layered", message_size=size) for size in BETWEEN]
    above = [_us(e, "table4_1", message_size=size) for size in ABOVE]
    flat = _us(e, "zero_copy", message_size="2 B", transfer="zero-copy")
    overhead = [
        flat
        + _us(e, "table4_1_library", message_size=size, library_lines=64)
        - _us(e, "table4_1_library", message_size=size, library_lines=0)
        for size in ABOVE
    ]
    # Where the two lines t = a + n b cross, from their ends.
    small, large = ["2 B", 2], ["32 KiB", 32768]
    ends = {
        scenario: (_us(e, scenario, message_size=small[0]), _us(e, scenario, message_size=large[0]))
        for scenario in ("table4_1", "table4_1_layered")
    }
    slopes = {name: (far - near) / (large[1] - small[1]) for name, (near, far) in ends.items()}  # type: ignore[operator]
    crossing = (ends["table4_1"][0] - ends["table4_1_layered"][0]) / (slopes["table4_1_layered"] - slopes["table4_1"])
    return {
        "sizes": Given(BETWEEN),
        **_with_range("message_us", own, 0.9, 1.1),
        **_with_range("layered_us", layered, 0.75, 1.25),
        **_with_range("crossing_bytes", [crossing], 0.5, 2.0),
        "sizes_above": Given(ABOVE),
        **_with_range("message_above_us", above, 0.8, 1.6),
        **_with_range("overhead_above_us", overhead, 0.3, 3.0),
        **_with_range("zero_copy_us", [_us(e, "zero_copy", message_size="1 MiB", transfer="zero-copy")], 0.7, 1.3),
    }


def _barriers(e: Evidence) -> JsonObject:
    def times(os_processes: int, nodes: int) -> list[float]:
        return [
            _us(e, "table4_2", processes_per_os_process=p, os_processes_per_node=os_processes, nodes=nodes)
            for p in PROCESSES
        ]

    layered = [1, 2, 4, 8, 16, 32, 64, 128, 256]
    return {
        "processes": Given(PROCESSES),
        **_with_range("os_process_us", times(1, 1), 0.8, 1.3),
        **_with_range("node_us", times(8, 1), 0.75, 1.4),
        **_with_range("nodes_16_us", times(8, 16), 0.6, 1.8),
        "layered_processes": Given(layered),
        **_with_range("layered_us", [_us(e, "barrier_layered", processes_per_os_process=p) for p in layered], 0.3, 3.0),
    }


def _best(e: Evidence, scenario: str, size: int) -> tuple[int, float]:
    found = {
        p: 1 / e.rate(scenario, matrix_size=size, processes_per_os_process=p)
        for p in e.axis(scenario, "processes_per_os_process")
    }
    best = min(found, key=lambda p: found[p])
    return best, found[best]


def _products(e: Evidence) -> JsonObject:
    loops = [_best(e, "table4_4", size) for size in SIZES]
    kernel = [_best(e, "table4_5", size) for size in SIZES]
    plain = [1 / e.rate("table4_4_mpi", matrix_size=size) for size in SIZES]
    nfg = [2, 8, 32, 128]
    return {
        "sizes": Given(SIZES),
        "loops_best_processes": Given([p for p, _ in loops]),
        **_with_range("loops_best_s", [time for _, time in loops], 0.8, 1.3),
        **_with_range("loops_plain_s", plain, 0.7, 1.5),
        "kernel_best_processes": Given([p for p, _ in kernel]),
        **_with_range("kernel_best_s", [time for _, time in kernel], 0.8, 1.3),
        "kernel_processes": Given(nfg),
        **{
            key: value
            for size in SIZES
            for key, value in _with_range(
                f"kernel_{size}_s",
                [1 / e.rate("table4_5", matrix_size=size, processes_per_os_process=p) for p in nfg],
                0.8,
                1.3,
            ).items()
        },
    }


def _gains(e: Evidence) -> JsonObject:
    tree: JsonObject = {"classes": Given(["B", "C", "D"])}
    for name in ("bt", "cg", "lu", "mg"):
        gains = []
        for problem_class in ("B", "C", "D"):
            curve = e.curve(f"nas_{name}", "processes_per_os_process", problem_class=problem_class)
            gains.append(100 * (max(rate for p, rate in curve.items() if p > 1) / curve[1] - 1))
        tree[f"{name}_best_gain_percent"] = gains
        tree[f"{name}_best_gain_percent_range"] = Given([[gain - 15, gain + 25] for gain in gains])
    return tree


def _waitany(e: Evidence) -> JsonObject:
    processes = e.axis("waitany", "processes_per_os_process")
    ratios = [
        e.rate("waitany", receivers="processes", processes_per_os_process=p)
        / e.rate("waitany", receivers="waitany", processes_per_os_process=p)
        for p in processes
    ]
    return {"processes": Given(processes), **_with_range("waitany_over_processes", ratios, 0.6, 1.7)}


def _record(e: Evidence) -> JsonObject:
    """[16000; 12; 540]: each round among nodes adds as much as the last one that is simulated."""

    def time(operation: str, nodes: int) -> float:
        return 1 / e.rate("record", operation=operation, nodes=nodes)

    def extrapolated(operation: str) -> float:
        step = (time(operation, 16) - time(operation, 4)) / 2
        return time(operation, 16) + (NODES_OF_RECORD_ROUNDS - 4) * step

    return {
        **_with_range("barrier_s", [extrapolated("barrier")], 0.3, 3.0),
        **_with_range("pi_s", [extrapolated("pi")], 0.2, 5.0),
    }


def predictions(e: Evidence) -> JsonObject:
    """The contents of predictions.json."""
    return {
        "fine-grain": {
            "messages": _messages(e),
            "barriers": _barriers(e),
            "matrix_products": _products(e),
            "nas": _gains(e),
            "waitany": _waitany(e),
            "hundred_million_processes": _record(e),
        }
    }
