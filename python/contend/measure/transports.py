"""How each library is told to use a transport, and which knobs it has: launcher options and environment variables.

A transport is named by its road and, where two hosts are wanted, `-veth`: `tcp-veth` is TCP between two network namespaces.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from contend.measure.libraries import Family
from contend.measure.sandbox import DEVICE, FAR, NEAR, REMOTE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from contend.measure.libraries import Installation

VETH = "-veth"

# Roads, and what each means.
ROADS: dict[str, str] = {
    "shm": "the library's shared memory",
    "tcp": "TCP sockets by the library's own code (Open MPI btl/tcp, MPICH 3 nemesis), else OFI's tcp provider",
    "ofi-tcp": "OFI's tcp provider (Open MPI: pml/cm with mtl/ofi)",
    "ucx-tcp": "UCX over TCP",
    "ucx-shm": "UCX over shared memory",
    "uct-tcp": "Open MPI's btl/uct over TCP: the contexts (CRIs) of the study",
    "uct-shm": "Open MPI's btl/uct over POSIX shared memory",
}
TRANSPORTS = (*ROADS, *(road + VETH for road in ROADS if not road.endswith("shm")))

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
    if road not in ROADS or transport not in TRANSPORTS:
        raise UnsupportedError(f"there is no transport '{transport}'")
    steer: dict[Family, Callable[[Installation, str, bool, Mapping[str, object]], Recipe]] = {
        Family.open_mpi: _open_mpi, Family.mpich: _mpich, Family.intel: _intel,
    }  # fmt: skip
    if installation.family not in steer:
        raise UnsupportedError("no MPI library")
    recipe = steer[installation.family](installation, road, needs_veth(transport), options)
    recipe.environment = {**installation.environment, **recipe.environment}
    return recipe


def command(
    installation: Installation, recipe: Recipe, ranks: tuple[int, int], program: list[str], *, far_host: bool
) -> list[str]:
    """The command line of a launch.

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


def _unknown(options: Mapping[str, object], known: set[str], who: str) -> None:
    for name in options:
        if name not in known:
            raise UnsupportedError(f"{who} has no option '{name}'")


def _open_mpi(installation: Installation, road: str, veth: bool, options: Mapping[str, object]) -> Recipe:  # noqa: FBT001
    is_5 = int(installation.version.split(".")[0]) >= 5  # noqa: PLR2004
    _unknown(options, {"yield", "spc"} | ({"contexts", "dedicated", "progress_threads"} if is_5 else set()),
             f"Open MPI {installation.version}")  # fmt: skip
    mca: dict[str, object] = {}
    environment: dict[str, str] = {
        # Containers and namespaces run as root of their own.
        "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }  # fmt: skip
    device = DEVICE if veth else "lo"
    if road == "shm":
        mca = {"pml": "ob1", "btl": "self,sm" if is_5 else "self,vader"}
    elif road == "tcp":
        mca = {"pml": "ob1", "btl": "self,tcp", "btl_tcp_if_include": device}
    elif road == "ofi-tcp":
        if not is_5:
            raise UnsupportedError("Open MPI 4.1's mtl/ofi does not take the tcp provider of this libfabric")
        mca = {"pml": "cm", "mtl": "ofi", "opal_common_ofi_provider_include": "tcp", "mtl_ofi_provider_include": "tcp"}
        environment["FI_TCP_IFACE"] = device
    elif road.startswith("ucx-"):
        mca = {"pml": "ucx", "opal_common_ucx_tls": "any", "opal_common_ucx_devices": "any"}
        environment |= {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": device} if road == "ucx-tcp" else {"UCX_TLS": "posix,self"}
    elif is_5:
        domain = "tcp" if road == "uct-tcp" else "posix"
        mca = {"pml": "ob1", "btl": "self,uct", "btl_uct_memory_domains": domain, "btl_uct_transports": domain}
        if road == "uct-tcp":
            environment["UCX_NET_DEVICES"] = device
    else:
        raise UnsupportedError("btl/uct of Open MPI 4.1 does not work with the UCX of today")
    if ("contexts" in options or "dedicated" in options) and not road.startswith("uct-"):
        raise UnsupportedError("Open MPI has contexts in btl/uct only")
    names = {"contexts": "btl_uct_num_contexts_per_module", "dedicated": "btl_uct_bind_threads_to_contexts",
             "progress_threads": "opal_max_thread_in_progress", "yield": "mpi_yield_when_idle"}  # fmt: skip
    for name, parameter in names.items():
        if name in options:
            mca[parameter] = int(options[name])  # type: ignore[call-overload]
    if options.get("spc"):
        mca["mpi_spc_attach"] = "all"
    if veth:
        # The launcher's own messages must reach the other host too.
        environment["PMIX_MCA_ptl_tcp_if_include"] = DEVICE
    words = ["--bind-to", "none", *(["--map-by", ":OVERSUBSCRIBE"] if is_5 else ["--oversubscribe"])]
    if is_5 and veth:
        words += ["--prtemca", "ptl_tcp_if_include", DEVICE, "--pmixmca", "ptl_tcp_if_include", DEVICE]
    for parameter, value in mca.items():
        words += ["--mca", parameter, str(value)]
    return Recipe(words, environment)


def _mpich(installation: Installation, road: str, veth: bool, options: Mapping[str, object]) -> Recipe:  # noqa: FBT001
    is_ch4 = installation.device == "ch4"
    _unknown(options, {"contexts"} if is_ch4 else set(), f"MPICH {installation.version} ({installation.device})")
    recipe = Recipe()
    environment = recipe.environment
    if "contexts" in options:
        environment["MPIR_CVAR_CH4_NUM_VCIS"] = str(options["contexts"])
    if road == "shm":
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
        environment |= {"MPIR_CVAR_CH4_NETMOD": "ofi", "FI_PROVIDER": "tcp", "FI_TCP_IFACE": device}
    elif road.startswith("ucx-"):
        environment |= {"MPIR_CVAR_CH4_NETMOD": "ucx"}
        environment |= {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": device} if road == "ucx-tcp" else {"UCX_TLS": "posix,self"}
    else:
        raise UnsupportedError("btl/uct is a part of Open MPI")
    return recipe


def _intel(installation: Installation, road: str, veth: bool, options: Mapping[str, object]) -> Recipe:  # noqa: FBT001
    _unknown(options, {"contexts"}, f"Intel MPI {installation.version}")
    # The launcher must not pin: each process may use all cores.
    recipe = Recipe(environment={"I_MPI_PIN": "0"})
    environment = recipe.environment
    if road == "shm":
        environment["I_MPI_FABRICS"] = "shm"
    elif road in {"tcp", "ofi-tcp"}:
        environment |= {"I_MPI_FABRICS": "ofi", "FI_PROVIDER": "tcp", "FI_TCP_IFACE": DEVICE if veth else "lo"}
    else:
        raise UnsupportedError("Intel MPI has shm and OFI only")
    if "contexts" in options:
        if road == "shm":
            raise UnsupportedError("Intel MPI's thread-split needs OFI")
        environment |= {"I_MPI_THREAD_SPLIT": "1", "I_MPI_THREAD_RUNTIME": "generic",
                        "I_MPI_THREAD_MAX": str(options["contexts"])}  # fmt: skip
    return recipe
