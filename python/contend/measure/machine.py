"""The fingerprint of a machine: what a measurement depends on and a reader of the dataset wants to know."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import platform
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

if TYPE_CHECKING:
    from contend.common.jsontypes import JsonObject

_CPU = Path("/sys/devices/system/cpu")
_TIMEOUT_S = 10


def _read(path: Path) -> str | None:
    with contextlib.suppress(OSError, UnicodeDecodeError):
        return path.read_text(encoding="utf-8").strip()
    return None


def _cpu_fields() -> dict[str, str]:
    """The first processor of /proc/cpuinfo."""
    first = (_read(Path("/proc/cpuinfo")) or "").split("\n\n")[0]
    pairs = (line.split(":", 1) for line in first.splitlines() if ":" in line)
    return {name.strip(): value.strip() for name, value in pairs}


def _cpus() -> JsonObject:
    """Socket and core of each processor by its number, as far as the system says: its numbering follows no rule."""
    places: JsonObject = {}
    for folder in _CPU.glob("cpu[0-9]*/topology"):
        package, core = _read(folder / "physical_package_id") or "", _read(folder / "core_id") or ""
        if package.isdecimal() and core.isdecimal():  # -1: not known
            places[folder.parent.name.removeprefix("cpu")] = {"socket": int(package), "core": int(core)}
    return dict(sorted(places.items(), key=lambda item: int(item[0])))


def _topology() -> JsonObject:
    packages: set[str] = set()
    cores: set[tuple[str, str]] = set()
    threads = 0
    for folder in _CPU.glob("cpu[0-9]*/topology"):
        package, core = _read(folder / "physical_package_id") or "0", _read(folder / "core_id") or "0"
        packages.add(package)
        cores.add((package, core))
        threads += 1
    nodes = len(list(Path("/sys/devices/system/node").glob("node[0-9]*")))
    return {
        "sockets": len(packages) or 1,
        "cores": len(cores) or threads,
        "hardware_threads": threads,
        "numa_nodes": nodes,
    }


def _caches() -> JsonObject:
    """Size of each cache of the first core and which processors share it."""
    found = {}
    for folder in sorted((_CPU / "cpu0/cache").glob("index*")):
        kind = {"Data": "d", "Instruction": "i"}.get(_read(folder / "type") or "", "")
        found[f"L{_read(folder / 'level')}{kind}"] = {
            "size": _read(folder / "size"), "shared_by": _read(folder / "shared_cpu_list"),
        }  # fmt: skip
    return found


def _virtual(*, is_guest: bool) -> str:
    """What kind of virtual machine or container this is, where a tool says so; else whether it is a virtual machine."""
    if shutil.which("systemd-detect-virt"):
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            answer = subprocess.run(
                ["systemd-detect-virt"], capture_output=True, text=True, check=False, timeout=_TIMEOUT_S
            )
            if answer.stdout.strip():
                return answer.stdout.strip()
    return "yes" if is_guest else "no"


def _installed_gib(total_bytes: int) -> int:
    """About the memory that is built in: what a kernel says lacks what it keeps for itself, a few percent by version.

    Up to the next of 4, 5, 6 and 7 times a power of two GiB, as modules come.
    """
    gib = total_bytes / 2**30
    step: int = 2 ** max(0, math.ceil(math.log2(gib)) - 3)
    return math.ceil(gib / step) * step


def _compiler() -> str:
    for name in (os.environ.get("CXX", ""), "c++", "g++"):
        if name and (path := shutil.which(name)):
            with contextlib.suppress(OSError, subprocess.TimeoutExpired):
                answer = subprocess.run(
                    [path, "--version"], capture_output=True, text=True, check=False, timeout=_TIMEOUT_S
                )
                return answer.stdout.splitlines()[0] if answer.stdout else ""
    return ""


def _governor() -> str:
    governors = {_read(path) for path in _CPU.glob("cpu[0-9]*/cpufreq/scaling_governor")}
    return ", ".join(sorted(entry for entry in governors if entry)) or "unknown"


def _bracketed(path: str) -> str | None:
    """The chosen one of a file such as `always [madvise] never`."""
    match = re.search(r"\[(\w+)\]", _read(Path(path)) or "")
    return match.group(1) if match else None


def _network_devices() -> list[JsonObject]:
    """Network interfaces by kind; no addresses, no names of hosts."""
    devices = []
    for folder in sorted(Path("/sys/class/net").glob("*")):
        if folder.name != "lo" and not folder.name.startswith(("veth", "docker", "br-")):
            driver = folder / "device/driver"
            devices.append({"name": folder.name, "mtu": _read(folder / "mtu"),
                            "driver": driver.resolve().name if driver.exists() else "virtual"})  # fmt: skip
    devices += [{"name": folder.name, "driver": "infiniband"} for folder in Path("/sys/class/infiniband").glob("*")]
    return devices


def fingerprint() -> JsonObject:
    """The machine as it is now, and an `id` over what other kernels and installed tools do not change."""
    fields = _cpu_fields()
    is_guest = "hypervisor" in fields.get("flags", "").split()
    memory = psutil.virtual_memory().total
    lasting = {
        "cpu": fields.get("model name") or platform.processor() or platform.machine(),
        "cpu_model": " ".join(
            f"{name} {fields[name]}" for name in ("cpu family", "model", "stepping") if name in fields
        ),
        "architecture": platform.machine(),
        "topology": _topology(),
        "caches": _caches(),
    }
    now = {
        "virtual": _virtual(is_guest=is_guest),
        "memory_bytes": memory,
        "memory": f"{memory / 2**30:.1f} GiB",
        "cores": len(os.sched_getaffinity(0)),
        "cpus": _cpus(),
        "kernel": platform.release(),
        "governor": _governor(),
        "turbo": {"0": "on", "1": "off"}.get(_read(_CPU / "intel_pstate/no_turbo") or "", "unknown"),
        "clock_source": _read(Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")),
        "transparent_hugepage": _bracketed("/sys/kernel/mm/transparent_hugepage/enabled"),
        "cpu_quota": _read(Path("/sys/fs/cgroup/cpu.max")),
        "mitigations": {path.name: _read(path) for path in sorted((_CPU / "vulnerabilities").glob("*"))},
        "network": _network_devices(),
        "libc": " ".join(platform.libc_ver()),
        "compiler": _compiler(),
    }
    hashed = lasting | {"is_guest": is_guest, "installed_gib": _installed_gib(memory)}
    digest = hashlib.sha256(json.dumps(hashed, sort_keys=True).encode()).hexdigest()[:12]
    return {"id": digest, **lasting, **now}
