"""Roundings that a claim does not have: which are looked for, where, and what a pass says of them.

Catches: the claimed rounding accused; two roundings of one law told apart by name; a plan that
leaves out the histogram that shows one, or asks it beyond the budget.
"""

import numpy as np
import pytest

from dpassay.reference import Gaussian, NoisyArgmax, probabilities
from dpassay.verifiers.claims.claim import ClaimError
from dpassay.verifiers.evidence.power import small_ratios_to_see
from dpassay.verifiers.kinds.labels.planning.planner import make_plan
from dpassay.verifiers.kinds.labels.planning.rounding_faults import (
    rounding_faults,
    unclaimed_roundings,
)
from dpassay.verifiers.kinds.labels.planning.streams import Role
from dpassay.verifiers.kinds.labels.planning.telling import roundings_not_excluded
from dpassay.verifiers.kinds.reading import parse_claim


def claimed(noise="gaussian:5", **gate):
    name = {"g": "gnmax", "l": "lnmax", "e": "report-noisy-max"}[noise[0]]
    tables = {"name": name, "noise": noise, "classes": 4, "teachers": 100}
    return parse_claim({"mechanism": tables, "gate": gate})


@pytest.mark.parametrize(
    ("noise", "roundings"),
    [
        ("gaussian:5", ["cut or floor or round", "cut-noise"]),
        ("gaussian:5;floor", [None, "cut-noise"]),
        ("gaussian:5;cut-noise", [None, "cut or floor or round"]),
        ("exponential:2;round", [None, "cut or floor or cut-noise"]),
        ("gaussian:100", []),
    ],
)
def test_roundings_of_one_law_are_named_together_and_the_claimed_one_is_none(
    noise, roundings
) -> None:
    found = [fault.note for fault in unclaimed_roundings(claimed(noise).mechanism)]
    assert [note.fields["rounding"] for note in found] == roundings
    assert {note.code for note in found} <= {"rounding-differs"}


def test_the_last_of_equal_counts_is_the_mirrored_law() -> None:
    votes = np.array([[30.0, 28, 29, 13]])
    faults = rounding_faults(claimed().mechanism)
    cut_last = {"rounding": "cut or floor or round", "tie": "last"}
    last = next(fault for fault in faults if fault.note.fields == cut_last)
    mirrored = probabilities(votes[0, ::-1], Gaussian(5.0).rounded("cut"))[::-1]
    assert last.law(votes)[0] == pytest.approx(mirrored, rel=1e-12)


@pytest.mark.slow("over half a second")
def test_a_plan_asks_what_shows_a_rounding_as_often_as_it_takes() -> None:
    plan = make_plan(claimed(max_queries=10**6), 3)
    asked = {stream.histogram: 0 for stream in plan.streams}
    for stream in plan.streams:
        asked[stream.histogram] += stream.queries
    assert plan.roundings
    assert all(asked[one.histogram] >= one.queries for one in plan.roundings)
    assert roundings_not_excluded(plan) is None
    few = make_plan(claimed(max_queries=20_000), 3)
    left = roundings_not_excluded(few)
    assert left is not None
    assert left.code == "rounding-not-excluded"
    assert left.fields["roundings"] == len(few.roundings)
    assert left.fields["queries"] == few.roundings[0].queries
    assert left.fields["moves"] == few.roundings[0].moves
    assert not few.of(Role.ROUNDED)


def test_so_many_labels_show_a_small_fault_with_probability_99_percent() -> None:
    """Null: at most 1 % of 2,000 runs miss; 42 or more misses have probability 1e-6."""
    votes, noise = np.array([26.0, 25, 25, 24]), Gaussian(4.0)
    law = np.log(probabilities(votes, noise.rounded("cut")))
    log_q = np.log(probabilities(votes, noise))
    labels = small_ratios_to_see(law, log_q, 20.0)
    counts = np.random.default_rng(5).multinomial(labels, np.exp(law), size=2000)
    misses = int((counts @ (law - log_q) < 20.0).sum())
    assert 3 < misses < 42


@pytest.mark.parametrize("rounding", ["round", "floor", "cut", "cut-noise"])
@pytest.mark.slow("over half a second")
def test_claimed_laws_are_asked_under_one_numbering(rounding) -> None:
    """A rotated or permuted histogram has another law where the first of equal counts wins."""
    plan = make_plan(claimed(f"gaussian:5;{rounding}"), 3)
    assert all(stream.rotated == 0 and stream.relabel is None for stream in plan.streams)
    assert ("shift-invariance" in plan.compared_streams) is (rounding != "cut")
    mechanism = NoisyArgmax(Gaussian(5.0).rounded(rounding))
    assert plan.log_q == pytest.approx(mechanism.log_probabilities(plan.histograms))


def test_a_threshold_has_no_rounding() -> None:
    tables = {"name": "confident-gnmax", "noise": "gaussian:5;cut", "classes": 4, "teachers": 100}
    screen = {"threshold": 50.0, "threshold_noise": "gaussian:9;cut"}
    with pytest.raises(ClaimError, match=r"threshold_noise .*without a"):
        parse_claim({"mechanism": tables | screen})
    claim = parse_claim({"mechanism": tables | screen | {"threshold_noise": "gaussian:9"}})
    assert str(claim.mechanism.mechanism().noise) == "gaussian:5;cut"
