"""A benchmark program that needs no MPI: prints a document, or goes wrong as it is told."""

import json
import os
import random
import signal
import subprocess
import sys
import time


def main() -> int:
    options = dict(word.removeprefix("--").split("=", 1) for word in sys.argv[1:])
    behaviour = options.get("behave", "well")
    pairs = int(options.get("pairs", "1"))
    if behaviour == "deadlock":
        # A child that ignores polite signals and leaves the process group, as launchers' daemons do.
        subprocess.Popen(
            [sys.executable, "-c", "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(1000)",
             options.get("token", "")],
            start_new_session=True,
        )  # fmt: skip
        time.sleep(1000)
    if behaviour == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if behaviour == "unsupported":
        print("contend-fake: error 3: the library lacks threads", file=sys.stderr)
        return 3
    if behaviour == "fail":
        print("contend-fake: error 1: no route to host", file=sys.stderr)
        return 1
    time.sleep(float(options.get("sleep", "0")))
    chance = random.Random(os.getpid())
    spread = float(options.get("spread", "0.01"))
    samples = [1000.0 * pairs * chance.uniform(1 - spread, 1 + spread) for _ in range(int(options["repetitions"]))]
    document = {
        "program": "contend-multirate", "format": 1,
        "library": {"name": "fake", "version": "1", "text": "fake 1", "thread_level": "multiple"},
        "workload": {"kind": "multirate", "pairs": pairs, "window": 16, "message_size": "0 B"},
        "points": [{"parameters": {"pairs": pairs}, "message_rate": {"samples": samples, "unit": "msg/s"},
                    "counters": {"messages_sent": 100 * pairs, "oos_in_queue_max": pairs}}],
        "wall_s": 0.01,
    }  # fmt: skip
    print("a line of the library")
    print(json.dumps(document))
    return 0


if __name__ == "__main__":
    sys.exit(main())
