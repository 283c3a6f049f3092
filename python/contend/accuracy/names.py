"""Words for what a measured point communicates with."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from contend.calibrate.lock_workload import LOCKS
from contend.calibrate.partitioned_points import PARTITIONED
from contend.calibrate.split import merged
from contend.calibrate.waiting_points import WAITING

if TYPE_CHECKING:
    from contend.datasets.dataset import Dataset, MeasuredPoint

_OPTIONS = ("contexts", "dedicated", "progress_threads", "yield")


def design_of(dataset: Dataset, point: MeasuredPoint) -> str:
    """What communicates how: entities, communicators, order, options of the library."""
    known = merged(dataset, point)
    if dataset.kind == "latency":
        return "latency, one sender" if known.get("senders", 1) == 1 else "latency, several senders"
    if dataset.kind == WAITING:
        return str(known.get("call"))
    if dataset.kind == PARTITIONED:
        return str(known.get("method", PARTITIONED))
    if dataset.kind == LOCKS:
        return f"{known.get('lock')}, {known.get('critical_section_ns', 0)} ns inside"
    words = [
        {"process": "processes", "thread": "threads"}.get(str(known.get("mode", "thread")), str(known.get("mode")))
    ]
    if known.get("operation"):
        words.append(str(known["operation"]))
    if known.get("pattern", "pairwise") != "pairwise":
        words.append(str(known["pattern"]))
    if words[0] == "threads" and not known.get("operation"):
        words.append("communicator per pair" if known.get("communicator_per_pair") else "one communicator")
    if known.get("allow_overtaking"):
        words.append("overtaking")
    options = dict(dataset.library.get("options") or {})
    for key, value in point.parameters.items():
        name = key.removeprefix("options.")
        if name in _OPTIONS:
            options[name] = value
    words += [f"{name}={json.dumps(value)}" for name, value in sorted(options.items())]
    return ", ".join(words)
