"""Likelihood, emulator and sampler of a calibration, by problems whose answer is known."""

import math
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from scipy import stats

from contend.calibrate.emulator import Emulator
from contend.calibrate.likelihood import DEGREES_OF_FREEDOM, log_likelihood, log_prior, misfit
from contend.calibrate.posterior import NotConvergedError, Posterior, sample, split_rhat
from contend.calibrate.problem import Parameter, Problem


def test_the_likelihood_is_students() -> None:
    predicted, measured = np.array([[0.1, -0.2], [0.0, 0.0]]), np.array([0.0, 0.1])
    noise, width = np.array([0.03, 0.04]), np.array([0.05, 0.1])
    expected = [
        sum(
            stats.t.logpdf(p - m, DEGREES_OF_FREEDOM, scale=math.hypot(n, w))
            for p, m, n in zip(row, measured, noise, strict=True)
        )
        for row, w in zip(predicted, width, strict=True)
    ]
    assert log_likelihood(predicted, measured, noise, width) == pytest.approx(expected)


def test_the_prior_of_the_discrepancy_is_students_with_a_scale_of_ten_percent() -> None:
    widths = np.array([0.001, 0.05, 0.1, 0.4, 2.0])
    expected = stats.t.logpdf(widths, DEGREES_OF_FREEDOM, scale=0.1)
    assert log_prior(widths) - log_prior(widths[:1]) == pytest.approx(expected - expected[0])


def test_a_failed_simulation_is_the_worst_fit() -> None:
    failed = log_likelihood(np.array([[np.nan]]), np.array([0.0]), np.array([0.03]), np.array([0.05]))
    far = log_likelihood(np.array([[3.0]]), np.array([0.0]), np.array([0.03]), np.array([0.05]))
    assert failed[0] < far[0]
    assert np.isfinite(failed[0])


def test_the_misfit_is_taken_at_the_likeliest_discrepancy() -> None:
    measured, noise = np.zeros(8), np.full(8, 0.02)
    near, far = misfit(np.array([np.full(8, 0.02), np.full(8, 1.0)]), measured, noise)
    assert near < far
    widths = np.geomspace(1e-3, 3, 400)
    rows = np.tile(np.full(8, 1.0), (400, 1))
    best = float((log_likelihood(rows, measured, noise, widths) + log_prior(widths)).max())
    assert far == pytest.approx(-best, abs=0.1)


def test_positions_are_logarithms_of_values() -> None:
    parameter = Parameter("machine.software.receive_call", "machine", "time", 1e-7, 1e-5, 1e-6)
    assert parameter.at(0.5) == pytest.approx(1e-6)
    assert parameter.position(1e-6) == pytest.approx(0.5)
    assert (parameter.at(-1.0), parameter.at(2.0)) == (pytest.approx(1e-7), pytest.approx(1e-5))
    assert parameter.name == "software.receive_call"
    assert Parameter("fabric.latency", "a/tcp", "time", 1e-7, 1e-5, 1e-6).name == "fabric.latency@a/tcp"


def fake_problem(dimensions: int, targets: int) -> Problem:
    """As much of a problem as the sampler looks at."""
    parameters = [Parameter(f"machine.x.p{i}", "machine", "time", 1e-9, 1e-6, 1e-8) for i in range(dimensions)]
    fakes = [SimpleNamespace(point=SimpleNamespace(median=1.0, log_error=0.02), unknowns=()) for _ in range(targets)]
    return Problem(parameters, cast("Any", fakes))


class Line:
    """An emulator that is exact: the first target sees the first parameter only."""

    def __init__(self, targets: int) -> None:
        self.errors = np.zeros(targets)

    def predict(self, places: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        return np.column_stack([4 * (places[:, 0] - 0.4)] + [np.zeros(len(places))] * (len(self.errors) - 1))


def test_the_posterior_of_a_line_is_where_the_data_are() -> None:
    problem = fake_problem(2, 6)
    found = sample(problem, cast("Any", Line(6)), np.full(6, 0.02), np.array([0.5, 0.5]), seed=3)
    low, high = found.interval(0)
    assert low < 0.4 < high
    assert high - low < 0.15
    assert found.spread[0] < 0.2
    assert found.spread[1] > 0.8  # nothing depends on it
    assert found.rhat < 1.05


def test_data_that_say_nothing_leave_the_prior() -> None:
    found = sample(fake_problem(1, 1), cast("Any", Line(1)), np.full(1, 100.0), np.array([0.5]), seed=1)
    assert found.spread[0] == pytest.approx(1.0, abs=0.05)
    # The half of Student's t that is positive has its median where the whole has three quarters.
    assert np.median(found.discrepancy) == pytest.approx(0.1 * stats.t.ppf(0.75, DEGREES_OF_FREEDOM), rel=0.15)


def test_an_emulator_that_is_never_right_tells_nothing() -> None:
    emulator = Line(1)
    emulator.errors = np.full(1, np.inf)
    found = sample(fake_problem(1, 1), cast("Any", emulator), np.full(1, 0.02), np.array([0.4]), seed=1)
    assert found.spread[0] > 0.9


def test_draws_of_the_prior_have_its_spread_and_its_intervals() -> None:
    draws = ((np.arange(1000) + 0.5) / 1000)[:, None]
    found = Posterior(draws, np.full(1000, 0.05), 1, 1.0, 1.0, 0.5)
    assert found.spread == pytest.approx([1.0], abs=1e-3)
    assert found.interval(0) == pytest.approx((0.025, 0.975), abs=1e-3)
    assert found.interval(0, 0.5) == pytest.approx((0.25, 0.75), abs=1e-3)


def test_a_chain_that_has_not_converged_is_refused() -> None:
    problem = fake_problem(12, 6)
    with pytest.raises(NotConvergedError, match="has not converged after 1000 steps"):
        sample(problem, cast("Any", Line(6)), np.full(6, 0.02), np.full(12, 0.5), seed=3, longest=1000)


class Scripted:
    """A sampler in emcee's place: walkers go from -1 to 1 and back, half of them that much higher than the others.

    The first third of the chain, which is not to count, is elsewhere. `times` are the autocorrelation times.
    """

    times: tuple[float, ...] = (1.0, 1.0)
    apart = 0.0

    def __init__(self, walkers: int, *_: Any, **__: Any) -> None:
        self._walkers = walkers
        self._steps = 0
        self.acceptance_fraction = np.full(walkers, 0.25)

    def run_mcmc(self, state: object, steps: int, **_: object) -> object:
        self._steps += steps
        return state

    def get_autocorr_time(self, *, discard: int, tol: float) -> tuple[float, ...]:
        assert discard == self._steps // 3
        assert tol == 0
        return self.times

    def get_chain(self, *, discard: int = 0, thin: int = 1, flat: bool = False) -> np.ndarray[Any, Any]:
        swing = np.where(np.arange(self._steps) % 2, 1.0, -1.0)
        swing[: self._steps // 3] = 9.0
        chain = swing[:, None] + np.where(np.arange(self._walkers) % 2, self.apart, 0.0)
        found = np.repeat(chain[:, :, None], 2, axis=2)[discard::thin]
        return found.reshape(-1, 2) if flat else found


def scripted(monkeypatch: pytest.MonkeyPatch, times: tuple[float, ...], apart: float, longest: int = 3000) -> Posterior:
    """What is made of such a chain."""
    monkeypatch.setattr("emcee.EnsembleSampler", Scripted)
    monkeypatch.setattr(Scripted, "times", times)
    monkeypatch.setattr(Scripted, "apart", apart)
    return sample(fake_problem(1, 1), cast("Any", Line(1)), np.full(1, 1.0), np.array([0.5]), seed=1, longest=longest)


@pytest.mark.parametrize(
    ("times", "steps"),
    [
        ((13.0, 1.0), 1000),  # two thirds of 1000 steps are 51 times that
        ((14.0, 1.0), 2000),  # and 48 times that
        ((1.0, 14.0), 2000),  # the slowest parameter counts
        ((math.nan, 14.0), 2000),
        ((27.0, 1.0), 3000),
    ],
)
def test_a_chain_ends_when_it_is_fifty_autocorrelation_times_long_without_its_beginning(
    times: tuple[float, float], steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert scripted(monkeypatch, times, 0.0).steps == steps


def test_a_chain_that_is_too_short_says_how_short(monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = r"after 1000 steps: autocorrelation time 14 \(wanted: at most 13\), R-hat 0\.999 "
    with pytest.raises(NotConvergedError, match=wanted) as told:
        scripted(monkeypatch, (14.0, 1.0), 0.0, longest=1000)
    assert told.value.draws.shape[1] == 1, "places only, without the discrepancy"
    assert told.value.draws.max() == 1.0, "nothing of the beginning"


def test_chains_whose_walkers_are_apart_have_not_converged_however_long_they_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Within a walker the variance is 1, between walkers that of half the distance: R-hat is about sqrt(1 + 0.31^2).
    assert scripted(monkeypatch, (1.0, 1.0), 0.62).rhat == pytest.approx(math.sqrt(1 + 0.31**2), abs=2e-3)
    with pytest.raises(NotConvergedError, match=r"R-hat 1\.05[34] \(wanted: at most 1\.05\)"):
        scripted(monkeypatch, (1.0, 1.0), 0.66)


def test_draws_are_of_the_chain_without_its_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    found = scripted(monkeypatch, (1.0, 1.0), 0.0)
    assert len(found.draws) == len(found.discrepancy) == 4000
    assert set(found.draws[:, 0]) == {-1.0, 1.0}
    assert set(found.discrepancy) == {math.exp(-1), math.exp(1)}, "the chain has logarithms"
    assert found.acceptance == 0.25


def test_rhat_tells_chains_apart() -> None:
    stream = np.random.default_rng(1)
    same = stream.normal(size=(400, 8, 2))
    assert split_rhat(same) < 1.02
    assert split_rhat(same + np.arange(8)[None, :, None]) > 1.5
    drifting = same + np.linspace(0, 4, 400)[:, None, None]
    assert split_rhat(drifting) > 1.2
    assert split_rhat(same[:2]) == math.inf


def test_rhat_is_that_of_the_halves_of_chains_and_of_the_worst_parameter() -> None:
    chains = np.zeros((4, 2, 2))  # step, chain, parameter
    chains[:, 0, 0], chains[:, 1, 0] = [0, 1, 2, 3], [0, 2, 2, 4]
    chains[:, :, 1] = [[0, 1], [1, 0], [0, 1], [1, 0]]
    # Halves have variances of 1/2, 1/2, 2 and 2, and means of 1/2, 5/2, 1 and 3, whose variance is 17/12.
    assert split_rhat(chains) == pytest.approx(math.sqrt(1 / 2 + (17 / 12) / (5 / 4)))
    assert split_rhat(chains[:, :, 1:]) == pytest.approx(math.sqrt(1 / 2))  # all halves have the same mean


def test_each_target_of_an_emulator_is_trained_where_it_could_be_simulated() -> None:
    problem = fake_problem(1, 3)
    for target in problem.targets:
        target.unknowns = (0,)  # type: ignore[misc] # a stand-in
    places = np.linspace(0, 1, 40)[:, None]
    predictions = np.column_stack([places[:, 0], 2 * places[:, 0], np.full(40, np.nan)])
    predictions[20:, 1] = np.nan
    emulator = Emulator(problem, places, predictions)
    found = emulator.predict(np.array([[0.25]]))
    assert found[0, :2] == pytest.approx([0.25, 0.5], abs=0.01)
    assert np.isnan(found[0, 2])
    errors = emulator.check(places, predictions)
    assert (errors[:2] < 0.01).all()
    assert np.isinf(errors[2])
    posterior = sample(problem, emulator, np.full(3, 0.02), np.array([0.5]), seed=1)
    assert np.isfinite(posterior.draws).all()
