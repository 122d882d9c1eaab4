"""`vote-monotonicity`: votes that lower their class, and a pair that hardly any noise tells."""

import numpy as np
import pytest
from runs import claimed, number

from dpassay.reference import Gaussian, NoisyArgmax
from dpassay.verifiers.kinds.labels.checks.compared_streams import VoteMonotonicity
from dpassay.verifiers.kinds.labels.planning.planner import make_plan


def test_votes_that_lower_their_class_are_told() -> None:
    """Noise that grows with consensus: the leader is rarer once it has gained votes."""
    for growing, refuted in ((True, True), (False, False)):
        check = VoteMonotonicity(make_plan(claimed(), 0))
        rng = np.random.default_rng(8)
        for i in (check.base, check.other):
            stream = check.plan.streams[i]
            scale = 200.0 if growing and i == check.other else 40.0
            labels = NoisyArgmax(Gaussian(scale)).sample(stream.histogram, stream.queries, rng)
            check.observe(i, labels)
        assert check.samples_needed() == 0
        assert (check.log_e_value >= check.log_threshold) is refuted
        if refuted:
            told = check.fail_finding()
            assert told.code == "noise-depends-on-votes"
            assert told.fields["label"] == check.leader
            assert number(told, "first") > number(told, "second")


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(s, marks=pytest.mark.slow("other seeds")) for s in (1, 2, 3))]
)
def test_with_hardly_any_noise_a_tie_is_no_clear_winner(seed) -> None:
    """Votes are all or nothing then: of two leaders that tie, either may be the one that gains."""
    plan = make_plan(claimed("gaussian:0.01"), seed)
    base, raised, _ = plan.compared_streams["vote-monotonicity"]
    leader = VoteMonotonicity(plan).leader
    assert np.exp(plan.log_q[base].max()) > 0.9
    assert plan.log_q[raised, leader] >= plan.log_q[base, leader]
