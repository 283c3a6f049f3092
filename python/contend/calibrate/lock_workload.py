"""What contend-locks measured, in the words of a scenario's workload."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from contend.common.errors import InputError
from contend.common.nearest import proposal

if TYPE_CHECKING:
    from contend.common.jsontypes import JsonObject

# The kind of workload that the program says it measured.
LOCKS = "locks"
# All that the program does between attempts: one PAUSE, 140 cycles since Skylake (vendor's optimisation manual), at
# 3.5 GHz.
_PAUSE = "40 ns"
# The program's locks (validation/native/locks), and what a scenario calls them.
_CALLED: dict[str, JsonObject] = {
    "mutex": {"lock": "pthread-mutex"},
    "spin": {"lock": "tas"},
    "ttas": {"lock": "ttas"},
    "ticket": {"lock": "ticket"},
    "mcs": {"lock": "mcs"},
    "trylock": {"lock": "pthread-mutex", "operation": "try-lock", "retry": _PAUSE},
}
_SECTION, _OUTSIDE, _SECONDS = "critical_section_ns", "outside_ns", "seconds"


def lock_workload(measured: JsonObject, *, most_s: float | None = None) -> JsonObject:
    """The workload of a scenario for one measured point.

    All threads go on until the time is over, as in the program. What the lock guards is on one line there.

    Args:
        measured: The program's parameters: "lock", "threads", "critical_section_ns", "outside_ns" and "seconds".
        most_s: The longest run, in seconds; as long as the program's if not given.

    Raises:
        InputError: The lock is none that a scenario has, or the point does not say how long it was measured.
    """
    rest: dict[str, Any] = dict(measured)
    name = rest.pop("lock", "mutex")
    if name not in _CALLED:
        hint = proposal(name, _CALLED)
        raise InputError(f"no scenario has the lock {name!r}; there are: {', '.join(_CALLED)}{hint}")
    seconds = rest.pop(_SECONDS, None)
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not seconds > 0:
        raise InputError(f"a lock's workload has {_SECONDS}={seconds!r}; allowed: a positive number")
    length = float(seconds) if most_s is None else min(float(seconds), most_s)
    times = {"section": rest.pop(_SECTION, 0), "delay": rest.pop(_OUTSIDE, 0)}
    return (
        rest
        | _CALLED[name]
        | {key: f"{value} ns" for key, value in times.items()}
        | {"kind": "lock", "lines": 1, "stop": "trial", "trial": f"{max(1, round(length * 1e9))} ns"}
        | {"acquisitions": 1, "warmup_acquisitions": 0}
    )
