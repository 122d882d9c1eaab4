"""Clear winners, each the least clear one with its chance, and what leaves out the noise there."""

import numpy as np
import pytest
from claims import gnmax
from runs import claimed

from dpassay.reference import log_probabilities
from dpassay.verifiers.evidence.power import bare_winners_to_see
from dpassay.verifiers.kinds.labels.planning.histograms import ladder
from dpassay.verifiers.kinds.labels.planning.planner import make_plan
from dpassay.verifiers.kinds.labels.planning.streams import Role

CLAIMS = [
    gnmax(),
    {"name": "lnmax", "noise": "laplace:20", "classes": 4, "teachers": 250},
    gnmax(20, 4, 2500),
]


@pytest.mark.parametrize("mechanism", CLAIMS, ids=lambda m: f"{m['noise']}-{m['classes']}")
def test_each_rung_is_the_least_clear_winner_that_will_do(mechanism) -> None:
    """By probabilities of the whole ladder of winners, one by one."""
    claim = claimed(**mechanism).mechanism
    rungs = ladder(claim)
    assert len(rungs) == 4
    for rung, chance in zip(rungs, (0.99, 0.997, 0.998, 0.999), strict=True):
        assert rung.instead is (chance == 0.998)
        votes = np.array(rung.histogram)
        assert votes.sum() == claim.teachers
        assert votes[0] - np.sort(votes)[-2] == rung.lead > 0
        assert np.ptp(votes[1:]) <= 1
        law = np.exp(log_probabilities(votes.astype(float), claim.noise))
        assert law[0] == pytest.approx(rung.chance, abs=1e-12)
        assert rung.chance >= chance
        fewer = votes.copy()
        fewer[0] -= 1
        fewer[np.argmin(votes[1:]) + 1] += 1
        assert np.exp(log_probabilities(fewer.astype(float), claim.noise))[0] < chance


def test_no_winner_is_clear_where_noise_is_large() -> None:
    assert ladder(claimed("gaussian:100").mechanism) == ()


@pytest.mark.slow("over half a second")
def test_a_winner_without_noise_shows_after_the_planned_labels() -> None:
    """All labels are the winner's: the wager on that fault then has what refutes, and no sooner.

    Catches labels too few by the leak of the claimed law, or by a weight that is not paid.
    """
    plan = make_plan(claimed(), 0)
    at = next(i for i, one in enumerate(plan.faults) if one.note.fields.get("lead") == 206.5)
    for i, stream in enumerate(plan.streams):
        if stream.role is Role.LADDER:
            winner = int(np.argmax(stream.histogram))
            law = np.exp(plan.log_q[i])
            wanted = 30.0
            n = bare_winners_to_see(float(law[winner]), 1.0, wanted)
            gained = plan.fault_log_ratios[i, at, winner]
            if np.ptp(np.sort(stream.histogram)[-2:]) > 206.5:
                assert n * gained >= wanted > (n - 2) * gained


@pytest.mark.slow("over half a second")
def test_the_ladder_is_no_finer_than_the_claim_asks_and_fits_the_budget() -> None:
    asked, _, instead, _ = (rung.histogram for rung in ladder(claimed().mechanism))
    whole, coarse, dear, dearer = (
        [sorted(s.histogram) for s in make_plan(made, 0).streams if s.role is Role.LADDER]
        for made in (
            claimed(),
            claimed(smallest_effect=0.1),
            claimed(max_queries=192_000),
            claimed(max_queries=179_000),
        )
    )
    assert len(whole) == 3
    assert sorted(instead) not in whole
    assert coarse == [sorted(asked)]
    assert dear == [*whole[:2], sorted(instead)]
    assert 0 < len(dearer) < 3
