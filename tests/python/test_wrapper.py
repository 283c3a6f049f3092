"""./contend itself, without setting anything up for real: its tools are replaced by small scripts."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fakes import REPOSITORY

FAKE_PYTHON = r"""#!/bin/sh
# stands for python and for the environment's python
case "$*" in
  *"-m venv"*) mkdir -p "$FAKE_ROOT/.venv/bin"; cp "$0" "$FAKE_ROOT/.venv/bin/python"; echo venv >>"$FAKE_LOG" ;;
  *"-m pip"*installer.lock*)
    echo installer >>"$FAKE_LOG"; sleep "${FAKE_PIP_S:-0}"
    printf '#!/bin/sh\necho uv >>"$FAKE_LOG"; exit "${FAKE_UV_STATUS:-0}"\n' >"$FAKE_ROOT/.venv/bin/uv"
    chmod +x "$FAKE_ROOT/.venv/bin/uv"
    exit "${FAKE_PIP_STATUS:-0}" ;;
  *"-m pip"*) echo pip >>"$FAKE_LOG"; exit "${FAKE_PIP_STATUS:-0}" ;;
  *"-m contend"*) echo "ran: $*" ;;
  *"import ensurepip"*) echo usable ;;
esac
exit 0
"""
FAKE_CMAKE = r"""#!/bin/sh
case "$*" in
  *--preset*)
    mkdir -p "$FAKE_ROOT/build/release"
    touch "$FAKE_ROOT/build/release/build.ninja" "$FAKE_ROOT/build/release/CMakeCache.txt"
    echo configure >>"$FAKE_LOG" ;;
  *--build*)
    echo build >>"$FAKE_LOG"
    test ! -e "$FAKE_ROOT/edit" || {
      rm "$FAKE_ROOT/edit"
      touch "$FAKE_ROOT/build/release/a.o"
      echo >>"$FAKE_ROOT/sim/a.cpp"
    }
    test -z "$FAKE_BUILD_ERROR" || { echo "engine.cpp:1: error: $FAKE_BUILD_ERROR"; exit 1; } ;;
esac
"""


class Checkout:
    """A copy of what ./contend reads, and fake tools."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "checkout"
        self.tools = folder / "tools"
        self.log = folder / "log"
        for name in ("sim", "cmake", "python"):
            (self.root / name).mkdir(parents=True)
        for name in ("contend", "CMakePresets.json", "python/requirements.lock", "python/installer.lock"):
            shutil.copy2(REPOSITORY / name, self.root / name)
        for name in ("CMakeLists.txt", "VERSION", "sim/a.cpp"):
            (self.root / name).touch()
        self.tools.mkdir()
        for name, text in (("python", FAKE_PYTHON), ("cmake", FAKE_CMAKE)):
            (self.tools / name).write_text(text)
            (self.tools / name).chmod(0o755)
        self.environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith("CONTEND_")},
            "PATH": f"{self.tools}:{os.environ['PATH']}",
            "CONTEND_PYTHON": str(self.tools / "python"),
            "FAKE_LOG": str(self.log),
            "FAKE_ROOT": str(self.root),
        }

    def start(self, *arguments: str, program: Path | None = None, **environment: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [str(program or self.root / "contend"), *arguments],
            env={**self.environment, **environment},
            cwd="/",
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def run(self, *arguments: str, program: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
        process = self.start(*arguments, program=program, **environment)
        out, err = process.communicate(timeout=60)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def steps(self) -> list[str]:
        text = self.log.read_text() if self.log.exists() else ""
        self.log.unlink(missing_ok=True)
        return text.split()


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


ALL = ["venv", "installer", "uv", "configure", "build"]


def test_first_use_sets_up_and_second_does_not(checkout: Checkout) -> None:
    first = checkout.run("run", "a b", "--x=*")
    assert (first.returncode, first.stdout) == (0, "ran: -P -m contend run a b --x=*\n"), first.stderr
    assert "contend: building the C++ core" in first.stderr
    assert checkout.steps() == ALL
    second = checkout.run("--version")
    assert (second.stdout, second.stderr) == ("ran: -P -m contend --version\n", "")
    assert checkout.steps() == []


def test_works_through_links(checkout: Checkout, tmp_path: Path) -> None:
    (tmp_path / "one").symlink_to(checkout.root / "contend")
    (tmp_path / "two").symlink_to("one")
    assert checkout.run("x", program=tmp_path / "two").stdout == "ran: -P -m contend x\n"


def test_rebuilds_what_changed(checkout: Checkout) -> None:
    checkout.run()
    checkout.steps()
    future = time.time() + 5
    os.utime(checkout.root / "sim/a.cpp", (future, future))
    checkout.run()
    assert checkout.steps() == ["build"]
    os.utime(checkout.root / "sim/a.cpp", (1, 1))
    with (checkout.root / "python/requirements.lock").open("a") as lock:
        lock.write("# changed\n")
    checkout.run()
    assert checkout.steps() == ALL
    (checkout.root / "sim/b.cpp").touch()
    checkout.run()
    assert checkout.steps() == ["build"]


def test_another_python_is_asked_for(checkout: Checkout) -> None:
    checkout.run()
    checkout.steps()
    other = checkout.tools / "other-python"
    shutil.copy2(checkout.tools / "python", other)
    assert checkout.run(CONTEND_PYTHON=str(other)).returncode == 0
    assert checkout.steps() == ALL
    assert checkout.run(CONTEND_PYTHON="").returncode == 0
    assert checkout.steps() == []
    for no_python in ("/nowhere", "/bin/true", "/bin/echo"):
        assert "is not a Python" in checkout.run(CONTEND_PYTHON=no_python).stderr
        assert checkout.steps() == []
    assert checkout.run(CONTEND_PYTHON="").returncode == 0  # what was there is there still
    assert checkout.steps() == []


def test_a_source_that_changes_during_the_build_is_compiled_again(checkout: Checkout) -> None:
    (checkout.root / "edit").touch()
    assert "building again" in checkout.run().stderr
    assert checkout.steps() == [*ALL, "build"]
    assert not (checkout.root / "build/release/a.o").exists()
    checkout.run()
    assert checkout.steps() == []


def test_failure_shows_the_error_and_the_next_use_tries_again(checkout: Checkout) -> None:
    failed = checkout.run(FAKE_BUILD_ERROR="expected ';'")
    assert failed.returncode == 1
    assert failed.stdout == ""
    assert "engine.cpp:1: error: expected ';'" in failed.stderr
    assert "setup.log" in failed.stderr
    assert "hint:" in failed.stderr
    checkout.steps()
    assert checkout.run().returncode == 0
    assert checkout.steps() == ["build"]


def test_a_half_made_environment_is_made_again(checkout: Checkout) -> None:
    assert checkout.run(FAKE_PIP_STATUS="1").returncode == 1
    assert checkout.steps() == ["venv", "installer", "pip"]
    assert checkout.run().returncode == 0
    assert checkout.steps() == ALL


def test_where_uv_finds_no_index_pip_installs(checkout: Checkout) -> None:
    assert checkout.run(FAKE_UV_STATUS="2").returncode == 0
    assert checkout.steps() == ["venv", "installer", "uv", "pip", "configure", "build"]


def test_killed_in_the_middle(checkout: Checkout) -> None:
    process = checkout.start(FAKE_PIP_S="30")
    deadline = time.monotonic() + 20
    while not (checkout.log.exists() and "installer" in checkout.log.read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    checkout.steps()
    assert checkout.run().returncode == 0
    assert checkout.steps() == ALL


def test_two_at_once_set_up_once(checkout: Checkout) -> None:
    processes = [checkout.start(str(number), FAKE_PIP_S="0.5") for number in range(4)]
    outputs = [process.communicate(timeout=60) for process in processes]
    assert [out for out, _ in outputs] == [f"ran: -P -m contend {number}\n" for number in range(4)]
    assert checkout.steps() == ALL
    assert sum("waiting" in err for _, err in outputs) == 3


def without(checkout: Checkout, tools: set[str], packages: str) -> str:
    """A path on which these tools are not found; Debian's tools, faked, know all packages but those (an sh pattern)."""
    for name, text in {
        "dpkg-query": f"case \"$*\" in {packages}) exit 1;; esac; echo 'ii '",
        "apt-get": 'echo "apt:$*" | tr " " _ >>"$FAKE_LOG"',
        "id": "echo 0",
    }.items():
        (checkout.tools / name).write_text(f"#!/bin/sh\n{text}\n")
        (checkout.tools / name).chmod(0o755)
    links = checkout.root.parent / "bin"
    links.mkdir()
    for folder in os.environ["PATH"].split(":"):
        for tool in Path(folder).glob("*") if Path(folder).is_dir() else ():
            if tool.name not in tools and not (links / tool.name).exists() and os.access(tool, os.X_OK):
                (links / tool.name).symlink_to(tool)
    return f"{checkout.tools}:{links}"


def without_rights(checkout: Checkout) -> None:
    (checkout.tools / "id").write_text("#!/bin/sh\necho 1000\n")
    (checkout.tools / "sudo").write_text("#!/bin/sh\nexit 1\n")
    (checkout.tools / "sudo").chmod(0o755)


def test_installs_missing_packages(checkout: Checkout) -> None:
    path = without(checkout, {"ninja"}, "*ninja-build*")
    assert checkout.run(PATH=path).returncode == 0
    steps = checkout.steps()
    assert steps[0].endswith("_update")
    assert steps[1].endswith("_-y_install_--no-install-recommends_ninja-build")
    assert steps[2:] == ALL
    without_rights(checkout)
    (checkout.root / ".contend/ready").unlink()
    refused = checkout.run(PATH=path)
    assert refused.returncode == 1
    assert "sudo apt-get update && sudo apt-get install ninja-build" in refused.stderr


BROWSERS = {"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chromedriver"}


def test_all_tests_want_a_browser_and_go_on_without(checkout: Checkout) -> None:
    path = without(checkout, BROWSERS, "*chromium*")
    checkout.run(PATH=path)
    checkout.steps()
    for some in (["test", "--cpp-only"], ["test", "-k", "x"], ["test", "--help"], ["run", "x"]):
        assert checkout.run(*some, PATH=path).returncode == 0
        assert checkout.steps() == [], some
    assert checkout.run("test", PATH=path).stdout == "ran: -P -m contend test\n"
    assert checkout.steps()[-1].endswith("_install_--no-install-recommends_chromium-headless-shell_chromium-driver")
    without_rights(checkout)
    refused = checkout.run("test", PATH=path)
    assert (refused.returncode, refused.stdout) == (0, "ran: -P -m contend test\n")
    assert "going on without them" in refused.stderr


@pytest.mark.parametrize("words", [["test", "--sanitize", "asan"], ["test", "--fuzz", "5"], ["test", "--fuzz=5"]])
def test_what_clang_builds_installs_clang_and_no_browser(words: list[str], checkout: Checkout) -> None:
    path = without(checkout, {"clang++-16", *BROWSERS}, "*clang-16*|*chromium*")
    checkout.run(PATH=path)
    checkout.steps()
    assert checkout.run(*words, PATH=path).returncode == 0
    assert checkout.steps()[-1].endswith("_install_--no-install-recommends_clang-16")


def test_completing_sets_nothing_up(checkout: Checkout) -> None:
    before = checkout.run(_CONTEND_COMPLETE="complete_bash")
    assert (before.returncode, before.stdout, before.stderr) == (0, "", "")
    assert checkout.steps() == []
    checkout.run()
    checkout.steps()
    os.utime(checkout.root / "sim/a.cpp", (time.time() + 5,) * 2)
    after = checkout.run("", _CONTEND_COMPLETE="complete_bash")
    assert after.stdout.startswith("ran: -P -m contend")
    assert checkout.steps() == []


def _interrupt_before_python() -> None:
    """Ctrl-C that comes before Python has started, and waits; also where who runs the tests has it ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    os.kill(os.getpid(), signal.SIGINT)


def test_ctrl_c_that_was_held_back_ends_the_program_quietly() -> None:
    words = [sys.executable, "-P", "-m", "contend", "--version"]
    ended = subprocess.run(words, preexec_fn=_interrupt_before_python, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "contend: interrupted\n")


def test_ctrl_c_is_held_back_while_python_starts(checkout: Checkout) -> None:
    python = checkout.root / ".venv/bin/python"
    checkout.run("--version")
    python.write_text(f"#!{sys.executable}\nimport signal\nprint(signal.pthread_sigmask(signal.SIG_BLOCK, []))\n")
    told = checkout.run("--version", CONTEND_NO_SETUP="1")
    assert "SIGINT" in told.stdout, told.stderr


def test_where_env_cannot_hold_signals_back_the_program_runs_all_the_same(checkout: Checkout) -> None:
    (checkout.tools / "env").write_text("#!/bin/sh\nexit 125\n")
    (checkout.tools / "env").chmod(0o755)
    told = checkout.run("--version")
    assert told.stdout == "ran: -P -m contend --version\n", told.stderr
