"""What a profile says of a fit: parameters, points, search, emulator, posterior, thread counts left out."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from contend.calibrate import edges
from contend.calibrate.parts import errors_pct
from contend.calibrate.posterior_rounds import GOOD_EMULATOR, emulator_shares
from contend.profiles.prices import exact_price

if TYPE_CHECKING:
    from contend.calibrate.discrepancy import Discrepancies, Discrepancy
    from contend.calibrate.parts import Part
    from contend.calibrate.problem import Parameter, Vector
    from contend.common.jsontypes import JsonObject


def part_json(part: Part, draws: int, seed: int) -> JsonObject:
    """One fit, as a profile's section `calibration` lists it under `fits`.

    Args:
        part: The fit.
        draws: How many draws of its posterior are kept.
        seed: Which these are.
    """
    errors = errors_pct(part)
    known = errors[np.isfinite(errors)]
    document: JsonObject = {
        "parameters": [_parameter_json(parameter) for parameter in part.problem.parameters],
        "fitted": [part.problem.parameters[index].name for index in part.kept],
        "fitted_to": _fitted_to(part),
        "set_back_to_base": list(part.reset),
        "at_edge_of_range": {
            parameter.name: end for i, parameter in enumerate(part.problem.parameters) if (end := edges.edge(part, i))
        },
        "outside_of_interval95": [
            parameter.name for i, parameter in enumerate(part.problem.parameters) if edges.is_outside(part, i)
        ],
        "points": [
            {
                "dataset": target.dataset.name,
                "parameters": target.point.parameters,
                "measured": target.point.median,
                "fitted": _finite(np.exp(part.predictions[index])),
                **({"slow_cores_pct": round(math.expm1(target.offset) * 100, 2)} if target.offset else {}),
                "error_pct": _finite(errors[index], 2),
                "noise_pct": round(float(np.expm1(part.noise[index])) * 100, 2),
            }
            for index, target in enumerate(part.problem.targets)
        ],
        "error_pct": {
            "median": _finite(np.median(known), 2) if len(known) else None,
            "p90": _finite(np.quantile(known, 0.9), 2) if len(known) else None,
        },
        "identifiability": [sight.to_json() for sight in part.sights],
    }
    if part.fit is not None:
        document["search"] = {
            "method": "CMA-ES",
            "starts": [
                {
                    "misfit": round(start.misfit, 4),
                    "checked": round(start.checked, 4),
                    "places": start.places,
                    "ended": start.reason,
                }
                for start in part.fit.starts
            ],
        }
    if part.emulator_errors is not None:
        document["emulator"] = _emulator_json(part, part.emulator_errors)
    document["posterior"] = _posterior_json(part, draws, seed)
    if part.folds:
        document["cross_validation"] = folds_json(part)
    return document


def _emulator_json(part: Part, errors: Vector) -> JsonObject:
    """How good the emulator is, and at which points it is worse than it has to be in the median."""
    shares = emulator_shares(errors, part.noise)
    return {
        "method": "Gaussian process upon a linear trend",
        "training_places": part.training_places,
        "error_pct": {
            "median": _finite(np.expm1(np.median(errors)) * 100, 2),
            "largest": _finite(np.expm1(errors.max()) * 100, 2),
        },
        "imprecise_at": [
            {
                "dataset": target.dataset.name,
                "parameters": target.point.parameters,
                "of_noise_and_discrepancy": _finite(share, 2),
            }
            for target, share in zip(part.problem.targets, shares, strict=True)
            if share > GOOD_EMULATOR
        ],
    }


def _fitted_to(part: Part) -> list[JsonObject]:
    """Libraries and transports that a part has points of: to them all of its parameters apply."""
    found = {(target.dataset.library_key, target.dataset.transport) for target in part.problem.targets}
    return [{"library": library, "transport": transport} for library, transport in sorted(found)]


def folds_json(part: Part) -> JsonObject:
    """The fits without a thread count: where they ended, and what they say of the points that they did not see."""
    parameters = [part.problem.parameters[index] for index in part.kept]
    return {
        "method": "each thread count is left out once; the fit to the others knows nothing of the whole one",
        "parameters": [parameter.name for parameter in parameters],
        "folds": [
            {
                "left_out": fold.threads,
                "place": [exact_price(p.at(float(x)), p.kind) for p, x in zip(parameters, fold.place, strict=True)],
                "points": [
                    {
                        "dataset": one.target.dataset.name,
                        "parameters": one.target.point.parameters,
                        "log_residual": round(one.value, 4) if math.isfinite(one.value) else None,
                        "noise": round(one.noise, 4),
                    }
                    for one in fold.residuals
                ],
            }
            for fold in part.folds
        ],
    }


def discrepancies_json(found: Discrepancies) -> JsonObject:
    """The scale of the discrepancy of each library and transport, as a profile has it."""
    return {
        "what": "how far off the model is where it was not fitted, as the scale of a Student's t distribution (4 "
        "degrees of freedom) of logarithms: from residuals of thread counts that were left out",
        "pooling": "one scale for each library and transport; their logarithms are normal about a common one",
        "groups": [
            {"library": library, "transport": transport} | _discrepancy_json(one)
            for (library, transport), one in found.groups.items()
        ],
        "others": _discrepancy_json(found.others),
    }


def _discrepancy_json(one: Discrepancy) -> JsonObject:
    return {
        "points": one.points,
        "median": _significant(one.median),
        "interval95": [_significant(end) for end in one.interval],
        "draws": [_significant(draw) for draw in one.draws],
    }


def _parameter_json(parameter: Parameter) -> JsonObject:
    return {
        "name": parameter.name,
        "path": parameter.path,
        "scope": parameter.scope,
        "prior_range": [parameter.text(parameter.low), parameter.text(parameter.high)],
        "base": parameter.text(parameter.base),
    }


def _posterior_json(part: Part, draws: int, seed: int) -> JsonObject:
    """The posterior with some of its draws, from which `contend validate` makes intervals."""
    found = part.posterior
    if found is None:
        return {"refused": part.refused}
    stream = np.random.default_rng(seed)
    chosen = stream.choice(len(found.draws), min(draws, len(found.draws)), replace=False)
    parameters = [part.problem.parameters[index] for index in part.kept]
    return {
        "method": "emcee on the emulator",
        "steps": found.steps,
        "autocorrelation_time": round(found.autocorrelation, 1),
        "rhat": round(found.rhat, 4),
        "acceptance": round(found.acceptance, 3),
        "discrepancy": {
            "median": _significant(float(np.median(found.discrepancy))),
            "interval95": [_significant(float(x)) for x in np.quantile(found.discrepancy, [0.025, 0.975])],
        },
        "parameters": [parameter.name for parameter in parameters],
        "draws": [
            [exact_price(p.at(float(found.draws[row, i])), p.kind) for i, p in enumerate(parameters)] for row in chosen
        ],
        "discrepancy_draws": [_significant(float(found.discrepancy[row])) for row in chosen],
    }


def _finite(value: float, digits: int | None = None) -> float | None:
    """A number for JSON; None where a simulation that failed left none."""
    if not math.isfinite(value):
        return None
    return float(value) if digits is None else round(float(value), digits)


def _significant(value: float) -> float:
    return float(f"{value:.4g}") if math.isfinite(value) else 0.0
