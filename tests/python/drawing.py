"""Scenarios drawn at random from the schema: any kind of workload, any parts of a design, any values of a machine.

What the schema comes to have later is drawn as well, from that day on.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from fakes import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Json = dict[str, Any]
Strategy = st.SearchStrategy[Any]

SCHEMA: Json = json.loads((REPOSITORY / "schemas" / "scenario.schema.json").read_text())
WORKLOADS: list[str] = SCHEMA["properties"]["workload"]["properties"]["kind"]["enum"]
DESIGNS = sorted(path.stem for path in (REPOSITORY / "libraries").glob("*.json"))

_MACHINES = ("alembert", "alembert", "trinitite-haswell", "trinitite-knl", "bluegene-p", "xc40-haswell")
_OF_PROGRAMS = ("fg-mpi", "mpich2-nemesis")
# No larger than what is simulated in an instant. What is not named is at most 6.
_MOST = {
    "window": 24, "acquisitions": 30, "warmup_acquisitions": 10, "operations": 20, "iterations": 3,
    "warmup_iterations": 1, "requests": 40, "complete": 3, "numbers": 60, "matrix_size": 64, "looks_before": 20,
    "send_queue_depth": 64, "flow_control_window": 40, "adaptive_spins": 100, "queue_slots": 40, "global_every": 300,
    "offload_capacity": 60, "processes_per_os_process": 4, "os_processes_per_node": 4, "nodes": 4,
}  # fmt: skip
_SIZES = ("0 B", "1 B", "8 B", "200 B", "1 KiB", "5000 B", "64 KiB", "1 MiB")
_TIMES = ("0 ns", "40 ns", "1 us", "15 us")
# A run of these ends soon, or is one that nobody would wait for.
_RUN = {"replications": 1, "steps_without_operation": 20_000_000, "steps_per_operation": 10_000}


def _leaves(schema: Json, path: str) -> Iterator[tuple[str, Json]]:
    """The values of a section, each with its path and the schema of its plain form."""
    for key, inner in schema["properties"].items():
        here = f"{path}.{key}"
        if "properties" in inner:
            yield from _leaves(inner, here)
        else:
            plain = inner.get("anyOf", [inner])[0]
            yield here, plain | {"type": plain["$ref"].rpartition("/")[2]} if "$ref" in plain else plain


def _value(path: str, schema: Json) -> Strategy:
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    match schema["type"].removeprefix("measured_"):
        case "boolean":
            return st.booleans()
        case "integer":
            least, most = int(schema["minimum"]), _MOST.get(path.rpartition(".")[2], 6)
            return st.integers(least, max(least, min(int(schema["maximum"]), most)))
        case "number":
            allowed = [x for x in (0.0, 0.5, 1.0, 3.0, 1e9) if schema["minimum"] <= x <= schema["maximum"]]
            return st.sampled_from(allowed)
        case kind:
            return st.sampled_from({"size": _SIZES, "time": _TIMES}[kind])


def _values(schema: Json, path: str, wanted: Callable[[str, Json], bool]) -> dict[str, Strategy]:
    return {at: _value(at, of) for at, of in _leaves(schema, path) if wanted(at, of)}


def _sections(profile: str) -> set[str]:
    document = json.loads((REPOSITORY / "calibration" / "profiles" / f"{profile}.json").read_text())
    return set(document.get("machine", document))


def _is_no_text(path: str, schema: Json) -> bool:
    return schema.get("type") != "string" and not path.endswith(".kind")


def _is_no_price(path: str, schema: Json) -> bool:
    """Times and bandwidths of a machine stay its profile's, and so does its size."""
    return not path.startswith("machine.topology") and (
        "enum" in schema or schema["type"].removeprefix("measured_") in ("boolean", "integer", "size")
    )


def _of_machine(profile: str) -> dict[str, Strategy]:
    sections = _sections(profile)
    return _values(
        SCHEMA["properties"]["machine"], "machine", lambda at, of: at.split(".")[1] in sections and _is_no_price(at, of)
    )


_OF_DESIGNS = _values(SCHEMA["properties"]["library"], "library", lambda at, of: "enum" in of or _is_no_text(at, of))
_OF_PLACES = _values(SCHEMA["properties"]["placement"], "placement", _is_no_text)
_OF_MACHINES = {name: _of_machine(name) for name in (*_MACHINES, "vm-2core", "x5550-10gige")}
_OF_WORKLOADS = {kind: _values(SCHEMA["$defs"][f"workload_{kind}"], "workload", _is_no_text) for kind in WORKLOADS}
_AMOUNTS = {
    kind: [path for path, of in _leaves(SCHEMA["$defs"][f"workload_{kind}"], "workload") if of.get("type") == "integer"]
    for kind in WORKLOADS
}


@st.composite
def _some(draw: st.DrawFn, values: dict[str, Strategy], most: int) -> Json:
    """A few of the values."""
    paths = draw(st.lists(st.sampled_from(sorted(values)), max_size=most, unique=True))
    return {path: draw(values[path]) for path in paths}


def _transport(design: str) -> str:
    """What a design's messages go through."""
    found: Json = {}
    while design and "kind" not in found:
        document = json.loads((REPOSITORY / "libraries" / f"{design}.json").read_text())
        found, design = document["library"].get("transport", {}), document.get("extends", "")
    kind = found.get("kind", "interface")
    return str(kind["value"] if isinstance(kind, dict) else kind)


_DESIGNS_BY_TRANSPORT = {
    transport: [design for design in DESIGNS if _transport(design) == transport and design not in _OF_PROGRAMS]
    for transport in ("interface", "shared-memory", "tcp")
}


@st.composite
def _places(draw: st.DrawFn, kind: str) -> Json:
    """A machine, a design and where its threads run, such as usually go together."""
    if "workload.processes_per_os_process" in _OF_WORKLOADS[kind]:
        return {"machine.profile": "x5550-10gige", "library.preset": draw(st.sampled_from(_OF_PROGRAMS))}
    transport = draw(st.sampled_from(sorted(_DESIGNS_BY_TRANSPORT)))
    design = {"library.preset": draw(st.sampled_from(_DESIGNS_BY_TRANSPORT[transport]))}
    if transport == "interface":
        return design | {"machine.profile": draw(st.sampled_from(_MACHINES))}
    threads = draw(st.sampled_from(("one-per-core", "floating", "pinned", "pinned-by-process")))
    cores = {"machine.topology.cores_per_socket": 16 if threads == "one-per-core" else 2}
    return design | cores | {"machine.profile": "vm-2core", "placement.threads": threads, "placement.hosts": 1}


@st.composite
def scenarios(draw: st.DrawFn) -> Json:
    """A scenario, as its file would have it. What is drawn need not go together: the loader may refuse it."""
    kind = draw(st.sampled_from(WORKLOADS))
    values = _OF_WORKLOADS[kind]
    changes: Json = {"workload.kind": kind} | draw(_places(kind))
    # Amounts have defaults that take long to simulate: they are always drawn.
    changes |= {path: draw(value) for path, value in values.items() if path in _AMOUNTS[kind]}
    changes |= draw(_some(values, 4)) | draw(_some(_OF_DESIGNS, 6)) | draw(_some(_OF_PLACES, 1))
    changes |= draw(_some(_OF_MACHINES[changes["machine.profile"]], 2))
    for path in ("senders", "receivers") if changes.get("workload.pattern", "pairwise") == "pairwise" else ("pairs",):
        if kind == "multirate":
            del changes[f"workload.{path}"]
    # Without any noise dates are equal that never are, and who comes first then is nobody's business.
    changes["machine.noise"] = draw(st.sampled_from(("5 ns", "30 ns")))
    scenario: Json = {
        "schema_version": 1,
        "name": "drawn",
        "fabric": {"latency": draw(st.sampled_from(("300 ns", "20 us"))), "bandwidth": "10 GB/s"},
        "run": _RUN | {"seed": draw(st.integers(1, 1000))},
    }
    for path, value in changes.items():
        *sections, key = path.split(".")
        inside = scenario
        for section in sections:
            inside = inside.setdefault(section, {})
        inside[key] = value
    return scenario
