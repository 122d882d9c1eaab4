"""A role decides all that a plan asks of it; those that a plan has are those counted."""

import numpy as np
import pytest
from claims import gnmax

from dpassay.verifiers.kinds.labels.planning.given_inputs import may_open, opening_histogram
from dpassay.verifiers.kinds.labels.planning.inputs import entropies
from dpassay.verifiers.kinds.labels.planning.laws import divergences, log_laws
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


@pytest.mark.slow("over half a second")
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


@pytest.mark.parametrize(
    ("noise", "classes", "teachers", "told"),
    [
        ("gaussian:40", 10, 250, 0.25),
        ("laplace:20", 10, 250, 0.2),
        ("gaussian:150", 100, 5000, 0.5),
    ],
)
def test_the_first_call_tells_the_scale_and_its_labels_differ(noise, classes, teachers, told):
    """Catches even votes, which have one law whatever the noise, and a winner that is clear.

    told: nats a label that half and twice the noise are away, which a leader above even votes has.
    """
    name = "lnmax" if noise.startswith("laplace") else "gnmax"
    mechanism = gnmax(1, classes, teachers) | {"name": name, "noise": noise}
    claim = parse_claim({"mechanism": mechanism}).mechanism
    votes = opening_histogram(parse_claim({"mechanism": mechanism}))[None]
    log_q = log_laws(claim, votes)
    assert entropies(log_q)[0] >= 1.0
    for factor in (0.5, 2.0):
        assert divergences(log_laws(claim, votes, factor), log_q)[0] >= told


def test_of_two_classes_the_first_call_is_a_tie():
    """No label of two classes has a nat of entropy: catches a call that tells no copy."""
    claim = parse_claim({"mechanism": gnmax(2, 2, 20)})
    assert opening_histogram(claim).tolist() == [10, 10]


@pytest.mark.parametrize(("scale", "classes", "teachers"), [(40, 10, 250), (40, 3, 50)])
def test_a_run_may_open_as_earlier_versions_did(scale, classes, teachers):
    """Even votes of all classes; not a clear winner, of which a copy tells nothing."""
    screen = {"name": "confident-gnmax", "threshold": 0.6 * teachers}
    screen["threshold_noise"] = "gaussian:5"
    claim = parse_claim({"mechanism": gnmax(scale, classes, teachers) | screen})
    plain = parse_claim({"mechanism": gnmax(scale, classes, teachers)})
    even = [teachers // classes] * classes
    even[0] += teachers - sum(even)
    assert may_open(plain, even)
    assert not may_open(plain, [10 * teachers, *[0] * (classes - 1)])
    assert not may_open(claim, even)  # refused for certain
