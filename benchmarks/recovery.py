# ruff: noqa: INP001 - a program, not a package
"""Synthetic recovery in many trials: .venv/bin/python benchmarks/recovery.py --trials 20.

Prints a line for each trial and the sum as JSON; --json FILE writes it. See contend.calibrate.recovery. With
--json validation/recovery/results.json it is what './contend validate accuracy' has in docs/accuracy.md.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path

from contend.calibrate.recovery import STANDARD, Recovered, coverage, run_trial
from contend.engine.runner import default_jobs, make_engine
from contend.profiles.catalogs import PROFILES


def main() -> None:
    """Runs the trials."""
    parser = argparse.ArgumentParser(description="Does a calibration give known parameters back?")
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--first", type=int, default=1, help="seed of the first trial")
    parser.add_argument("--profile", default="alembert", help="base profile")
    parser.add_argument("-j", "--jobs", type=int, default=default_jobs())
    parser.add_argument("--json", type=Path, help="write the sum there")
    options = parser.parse_args()
    _, profile = PROFILES.load(options.profile)
    engine = make_engine("contend")
    trials: list[list[Recovered]] = []
    for seed in range(options.first, options.first + options.trials):
        begin = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="contend-recovery-") as folder:
            recovered, found = run_trial(STANDARD, profile, Path(folder), engine, seed=seed, jobs=options.jobs)
        trials.append(recovered)
        words = [f"{one.name}: {one.verdict}{_mark(one)}" for one in recovered]
        print(f"trial {seed} ({time.monotonic() - begin:.0f} s): {'; '.join(words)}", flush=True)
        for part in found.parts:
            if part.refused:
                print(f"  no posterior: {part.refused}", flush=True)
    text = json.dumps({"profile": options.profile, "first": options.first, **coverage(trials)}, indent=2)
    print(text)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(text + "\n", encoding="utf-8")


def _mark(one: Recovered) -> str:
    if one.interval is None:
        return ""
    low, high = one.interval
    return f" {'covers' if one.is_covered else 'MISSES'} {one.truth:.3g} ({low:.3g} .. {high:.3g})"


if __name__ == "__main__":
    main()
