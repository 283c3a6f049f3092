"""Known parameters come back from data that were simulated with them."""

from pathlib import Path

import pytest

from contend.calibrate.recovery import Recovered, coverage, run_trial
from contend.calibrate.sensitivity import Verdict
from contend.engine.runner import make_engine
from synthetic import SMALL, base


class TestWithTheRealCore:
    pytestmark = pytest.mark.core

    @pytest.mark.slow
    def test_synthetic_recovery_in_small(self, tmp_path: Path) -> None:
        trials = []
        for seed in (1, 2):
            folder = tmp_path / str(seed)
            folder.mkdir()
            recovered, _ = run_trial(SMALL, base(), folder, make_engine("contend"), seed=seed, jobs=2, starts=1)
            trials.append(recovered)
        verdicts = {one.name: one.verdict for one in trials[0]}
        assert verdicts["nic.registration"] is Verdict.unseen
        assert verdicts["software.receive_call"] is Verdict.identified
        found = coverage(trials)
        assert found["known_parameters"] >= 2
        assert found["coverage"] >= 0.5


def test_coverage_counts_known_parameters_only() -> None:
    trial = [
        Recovered("a", Verdict.identified, 1.0, (0.5, 2.0)),
        Recovered("b", Verdict.weak, 3.0, (0.5, 2.0)),
        Recovered("c", Verdict.unseen, 3.0, None),
    ]
    found = coverage([trial, trial])
    assert (found["known_parameters"], found["covered"], found["coverage"]) == (4, 2, 0.5)
    assert found["trials_with_all_covered"] == 0
    assert found["by_parameter"]["c"]["verdicts"] == {"not seen by the data": 2}


def test_a_trial_that_knows_nothing_covers_nothing() -> None:
    known, nothing = [Recovered("a", Verdict.weak, 1.0, (0.5, 2.0))], [Recovered("a", Verdict.unseen, 1.0, None)]
    assert coverage([known, nothing])["trials_with_all_covered"] == 1
