"""A role decides all that a plan asks of it; those that a plan has are those counted."""

import numpy as np
import pytest
from claims import gnmax

from dpassay.verifiers.kinds.labels.planning.plan import Plan
from dpassay.verifiers.kinds.labels.planning.planner import make_plan
from dpassay.verifiers.kinds.labels.planning.streams import Role, Stream, Traits, anchors
from dpassay.verifiers.kinds.labels.planning.traffic import Traffic
from dpassay.verifiers.kinds.reading import parse_claim

GNMAX = gnmax()


def plan(other_totals=True, **mechanism):
    claim = parse_claim({"mechanism": GNMAX | mechanism, "gate": {"smallest_effect": 0.2}})
    return make_plan(claim, 0, other_totals, ((200, 50, *[0] * 8),))


def test_a_role_is_an_anchor_only_where_it_says_so() -> None:
    """Catches a default, by which a new role would become an anchor unseen."""
    assert not Traits("new").anchor
    assert len({role.kind for role in Role}) == len(Role)


@pytest.mark.slow("over half a second")
@pytest.mark.parametrize("other_totals", [True, False])
def test_the_anchors_counted_are_those_planned(other_totals) -> None:
    made = plan(other_totals)
    planned = [stream.role for stream in made.streams if stream.is_anchor]
    assert sorted(role.kind for role in planned) == sorted(r.kind for r in anchors(other_totals))
    assert len(planned) == (9 if other_totals else 7)


@pytest.mark.slow("over half a second")
def test_neighbours_are_two_streams_of_one_role() -> None:
    made = plan()
    assert [pair.role for pair in made.pairs] == [Role.PAIR, Role.EVEN]
    for pair in made.pairs:
        assert made.of(pair.role) == list(pair.streams)
    assert plan(caching=True).pairs == ()


def test_streams_that_tell_the_scale_come_first() -> None:
    claim, votes = plan().claim, tuple(range(10))
    traffic = Traffic(claim.mechanism, 0, 0)
    streams = (Stream(Role.EXPLORER, votes, 1), Stream(Role.PROBE, votes, 1))
    with pytest.raises(ValueError, match="come before"):
        Plan(claim, streams, (), {}, (), traffic)
    assert Plan(claim, streams[::-1], (), {}, (), traffic).deep == 1


@pytest.mark.slow("over half a second")
def test_a_refusal_is_no_clear_winner() -> None:
    """Twins are compared by their answers: catches a base that is refused 99 times in 100."""
    screen = {"name": "confident-gnmax", "threshold": 200.0, "threshold_noise": "gaussian:50"}
    made = make_plan(parse_claim({"mechanism": GNMAX | screen}), 9)
    base = made.compared_streams["shift-invariance"].base
    assert np.exp(made.log_q[base, -1]) < 0.1
