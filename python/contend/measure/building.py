"""Builds the benchmark programs against a library, in the cache folder; again only when a source changed."""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import subprocess
from typing import TYPE_CHECKING

from contend.common.errors import ContendError
from contend.common.paths import cache_directory, require_repository
from contend.measure.libraries import SYSTEM_KEYS, Family
from contend.measure.locking import locked
from contend.measure.runner import clean_environment

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from contend.measure.libraries import Installation

_TIMEOUT_S = 900


def sources() -> Path:
    """Folder of the programs' sources."""
    return require_repository("measure") / "validation/native"


@functools.cache
def source_hash() -> str:
    """A hash over the programs' sources, for the record."""
    digest = hashlib.sha256()
    for path in sorted(sources().rglob("*")):
        if path.is_file() and path.suffix in {".cpp", ".hpp", ".txt", ".cmake"} and "tests" not in path.parts:
            digest.update(str(path.relative_to(sources())).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def build(installation: Installation, program: str, say: Callable[[str], None]) -> Path:
    """Builds a program against a library; returns its path.

    Raises:
        ContendError: The build failed; the message has the end of the compiler's output and where the whole of it is.
    """
    # Programs know where their library is, and two installations of a system may be of one version.
    origin = f"{sources()}\0{installation.compiler}" if installation.key in SYSTEM_KEYS else str(sources())
    place = hashlib.sha256(origin.encode()).hexdigest()[:8]
    folder = cache_directory() / "build" / f"{installation.key}-{installation.version or 'system'}-{place}"
    built, stamp = folder / "bin" / program, folder / f"{program}.stamp"

    def is_built() -> bool:
        return built.is_file() and _text(stamp) == source_hash()

    if not is_built():
        with locked(folder, say):
            if not is_built():  # nor has another campaign built it meanwhile
                _build(installation, program, folder, say)
    return built


def _build(installation: Installation, program: str, folder: Path, say: Callable[[str], None]) -> None:
    """Configures and builds; the stamp comes last."""
    folder.mkdir(parents=True, exist_ok=True)
    stamp = folder / f"{program}.stamp"
    stamp.unlink(missing_ok=True)
    library = "" if installation.family is Family.none else f" for {installation.family} {installation.version}"
    say(f"building {program}{library}")
    configure = ["cmake", "-S", str(sources()), "-B", str(folder), "-DCMAKE_BUILD_TYPE=Release"]
    if shutil.which("ninja"):
        configure += ["-G", "Ninja"]
    if installation.family is Family.none:
        configure.append("-DCONTEND_NATIVE_MPI=OFF")
    else:
        configure.append(f"-DCMAKE_CXX_COMPILER={installation.compiler}")
    configured = folder / "configured.stamp"
    if _text(configured) != source_hash():
        # What other sources found out about the library does not hold for these.
        (folder / "CMakeCache.txt").unlink(missing_ok=True)
    jobs = os.environ.get("CONTEND_JOBS") or str(os.cpu_count() or 1)
    log = folder / f"{program}.log"
    with log.open("wb") as stream:
        for step in (configure, ["cmake", "--build", str(folder), "-j", jobs, "--target", program]):
            try:
                done = subprocess.run(step, stdin=subprocess.DEVNULL, stdout=stream, stderr=subprocess.STDOUT,
                                      check=False, timeout=_TIMEOUT_S,
                                      env=clean_environment(installation.environment))  # fmt: skip
            except (OSError, subprocess.TimeoutExpired) as error:
                raise ContendError(f"building {program} for {installation.key} failed: {error}") from error
            if done.returncode != 0:
                stream.flush()
                end = _text(log).splitlines()[-12:]
                raise ContendError(
                    f"building {program} for {installation.key} failed (all of it: {log}):\n" + "\n".join(end)
                )
    for path in (configured, stamp):
        path.write_text(source_hash(), encoding="utf-8")


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
