"""NAS parallel benchmarks (chapter 4, section 2), as skeletons."""

from __future__ import annotations

from contend.studies.claims import about, at_least, at_most, claim
from contend.studies.evidence import Evidence

BASELINES = "thesis, table 4.6 and 4.2.2"
CHANGES = "thesis, 4.2.2"
SKELETON = "a skeleton: messages and amounts of work are the benchmark's, times of computation are a model"
# Iterations of whole benchmarks, as the skeletons count them.
STEPS = {"CG": {"B": 75 * 26, "C": 75 * 26, "D": 100 * 26}, "LU": {"B": 250, "C": 250, "D": 300}}


def seconds(e: Evidence, benchmark: str, problem_class: str, processes: int = 1) -> float:
    """The whole benchmark."""
    rate = e.rate(f"nas_{benchmark.lower()}", problem_class=problem_class, processes_per_os_process=processes)
    return STEPS[benchmark][problem_class] / rate


def gain(e: Evidence, benchmark: str, problem_class: str) -> float:
    """Time of plain MPI over that of the best number of processes above one, minus 1, in percent."""
    scenario = f"nas_{benchmark.lower()}"
    curve = e.curve(scenario, "processes_per_os_process", problem_class=problem_class)
    return 100 * (max(rate for p, rate in curve.items() if p > 1) / curve[1] - 1)


@claim(
    "cg-c",
    source=BASELINES,
    statement="CG of class C on plain MPI: 9.17 s",
    expected=about(9.17, 0.15, "s"),
    calibrated=True,
)
def cg_c(e: Evidence) -> float:
    return seconds(e, "CG", "C")


@claim(
    "cg-b",
    source=BASELINES,
    statement="CG of class B on plain MPI: 3.92 s",
    expected=about(3.92, 0.15, "s"),
    remark=SKELETON,
)
def cg_b(e: Evidence) -> float:
    return seconds(e, "CG", "B")


@claim(
    "cg-d",
    source=BASELINES,
    statement="CG of class D on plain MPI: 229.5 s",
    expected=about(229.5, 0.15, "s"),
    remark=SKELETON,
)
def cg_d(e: Evidence) -> float:
    return seconds(e, "CG", "D")


@claim(
    "lu-c",
    source=BASELINES,
    statement="LU of class C on plain MPI: 18 s",
    expected=about(18, 0.15, "s"),
    calibrated=True,
)
def lu_c(e: Evidence) -> float:
    return seconds(e, "LU", "C")


@claim(
    "lu-d",
    source=BASELINES,
    statement="LU of class D on plain MPI: 336 s",
    expected=about(336, 0.15, "s"),
    remark=SKELETON,
)
def lu_d(e: Evidence) -> float:
    return seconds(e, "LU", "D")


@claim(
    "bt-d-gains",
    source=CHANGES,
    statement="BT D gains by more processes than cores: tens of percent",
    expected=at_least(10, "%"),
    remark=SKELETON,
)
def bt_d_gains(e: Evidence) -> float:
    return gain(e, "BT", "D")


@claim(
    "mg-d-gains",
    source=CHANGES,
    statement="MG D gains by more processes than cores: tens of percent",
    expected=at_least(10, "%"),
    remark=SKELETON,
)
def mg_d_gains(e: Evidence) -> float:
    return gain(e, "MG", "D")


@claim(
    "lu-loses",
    source=CHANGES,
    statement="LU loses by more processes than cores (class C)",
    expected=at_most(0, "%"),
    remark=SKELETON,
)
def lu_loses(e: Evidence) -> float:
    return gain(e, "LU", "C")


@claim(
    "short-runs-lose",
    source=CHANGES,
    statement="short runs lose: MG B with 16 processes in an OS process",
    expected=at_most(0, "%"),
    remark=SKELETON,
)
def short_runs_lose(e: Evidence) -> float:
    curve = e.curve("nas_mg", "processes_per_os_process", problem_class="B")
    return 100 * (curve[16] / curve[1] - 1)


@claim(
    "gain-grows-with-class",
    source=CHANGES,
    statement="the gain grows with the class: MG D above MG B",
    expected=at_least(1, "percentage points"),
    remark=SKELETON,
)
def gain_grows(e: Evidence) -> float:
    return gain(e, "MG", "D") - gain(e, "MG", "B")
