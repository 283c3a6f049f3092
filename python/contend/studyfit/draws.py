"""What statements and predictions come out at over draws of the prices, and not only for the most probable ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from contend.common.statistics import Central, central
from contend.studies.claims import HOLDS, Drawn, Given, Scaled, contents, judge
from contend.studies.evidence import Evidence
from contend.studyfit.posterior import widening

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from contend.common.jsontypes import JsonObject
    from contend.engine.runner import Engine
    from contend.studies.claims import Claim
    from contend.studyfit.description import StudyFit
    from contend.studyfit.posterior import Posterior
    from contend.sweeps.store import ResultStore

# How often the error of a model is drawn for each draw of the prices.
_ERRORS = 400


@dataclass(frozen=True)
class Draws:
    """Access to the scenarios of a study on each draw of the prices: a single run of each point.

    Attributes:
        study: What was fitted.
        posterior: The draws.
        scenarios: The folder of the scenarios.
        engine: What simulates them.
        jobs: Simulations at once.
        store: Where results are kept.
        overrides: Dotted path and value, for all scenarios; of a price, too, whatever was drawn.
    """

    study: StudyFit
    posterior: Posterior
    scenarios: Path
    engine: Engine
    jobs: int
    store: ResultStore
    overrides: Sequence[tuple[str, str]] = ()

    def __len__(self) -> int:
        return len(self.posterior.draws)

    def are_for(self, item: Claim) -> bool:
        """Whether a claim is judged with them: the fit says so, because each draw simulates all that a claim needs."""
        return item.id.startswith(self.study.over_draws)

    def evidence(self) -> Iterator[Evidence]:
        """One draw after the other. What a draw has been asked for is forgotten with it."""
        for draw in self.posterior.draws:
            prices = [(f"machine.{path}", str(value)) for path, value in draw.items()]
            yield Evidence(
                self.scenarios,
                self.engine,
                jobs=self.jobs,
                store=self.store,
                overrides=[("run.replications", "1"), *prices, *self.overrides],
            )


def judge_over(
    claims: Sequence[Claim], draws: Draws, progress: Callable[[float], None] = lambda _: None
) -> dict[str, Drawn]:
    """The numbers of claims over all draws, by their ids.

    A claim that no draw has a number for is left out; a draw that has none does not hold.

    Args:
        claims: What to compute.
        draws: The prices.
        progress: Called with the number of claims that were computed, of `len(claims) * len(draws)`.

    Raises:
        ContendError: As `contend.studies.claims.judge`.
        InterruptedRunError: Ctrl-C.
    """
    found: dict[str, list[float]] = {}
    held = dict.fromkeys([item.id for item in claims], 0)
    for evidence in draws.evidence():
        for item in judge(claims, evidence, lambda _: progress(1)):
            held[item.claim.id] += item.verdict == HOLDS
            if item.predicted is not None:
                found.setdefault(item.claim.id, []).append(item.predicted)
    return {name: Drawn(central(values), held[name] / len(draws), len(draws)) for name, values in found.items()}


def predict_over(file: Path, draws: Draws, progress: Callable[[float], None] = lambda _: None) -> JsonObject:
    """What a file of predictions computes, over all draws and with the error that the model has where it was fitted.

    A list that says which of the fitted numbers it is like (`Scaled`) is predicted with the error that those have: each
    draw's number is given normal errors of their spread, times the `widening` of this measure. Each list
    of numbers has the medians, and a sibling NAME_ci95 with the central 95 %.

    Args:
        file: predictions.py of a study.
        draws: The prices.
        progress: Called with the number of draws that were looked at.

    Raises:
        InputError: The file has no function `predictions`.
        ContendError: A number cannot be computed.
    """
    trees = []
    for evidence in draws.evidence():
        trees.append(contents(file, evidence))
        progress(1)
    stream = np.random.default_rng(1)
    spreads = {target.measure: (target.spread, target.absolute) for target in draws.study.targets}
    widths = widening(draws.study, draws.posterior)

    def over_draws(entries: Sequence[list[float] | Scaled], index: int) -> Central:
        one = entries[0]
        if not isinstance(one, Scaled):
            return central([values[index] for values in entries])  # type: ignore[index]
        values = np.array([entry.values[index] / entry.scale for entry in entries])  # type: ignore[union-attr]
        spread, absolute = spreads.get(one.measure, (0.0, True))
        width = spread * widths.get(one.measure, 1.0)
        errors = stream.normal(0.0, width, (_ERRORS, len(values)))
        spoilt = values + errors if absolute else values * np.exp(errors)
        return central(np.clip(spoilt, 0.0, one.most).ravel() * one.scale)

    def complete(nodes: list[JsonObject]) -> JsonObject:
        done: JsonObject = {}
        for key, entry in nodes[0].items():
            entries = [node[key] for node in nodes]
            if isinstance(entry, dict):
                done[key] = complete(entries)
            elif isinstance(entry, list | Scaled):
                count = len(entry.values if isinstance(entry, Scaled) else entry)
                known = [over_draws(entries, index) for index in range(count)]
                done[key] = [number.median for number in known]
                done[f"{key}_ci95"] = [[number.low, number.high] for number in known]
            else:
                done[key] = entry.values if isinstance(entry, Given) else entry
        return done

    return complete(trees)
