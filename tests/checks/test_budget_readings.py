"""Queries that cost too much by one reading of a claim, and not by another."""

import math
from dataclasses import replace

import numpy as np
import pytest
from runs import claimed

from dpassay.reference.accounting.adjacency import Adjacency
from dpassay.reference.numbers import NoisyHistogram, NumberNoise, families
from dpassay.reference.numbers.costs import epsilon_bracket
from dpassay.reference.numbers.moves import move_epsilon
from dpassay.verifiers.kinds.labels.checks.budget_allowed import above_one_reading
from dpassay.verifiers.kinds.labels.checks.budget_enforcement import LabelsBudgetEnforcement
from dpassay.verifiers.kinds.labels.checks.budget_histograms import costliest
from dpassay.verifiers.kinds.reading import parse_claim

PRIVACY = {"epsilon": 2.65, "delta": 1e-5, "queries": 100}
GNMAX = claimed("gaussian:40", classes=4, teachers=100, privacy=PRIVACY)
LAPLACE = families.Laplace(4.0)
LITTLE = PRIVACY | {"epsilon": 5.0, "queries": 1}
LNMAX = claimed("laplace:4", "lnmax", classes=4, teachers=20, privacy=LITTLE)


def confident(charges=None, queries=100):
    """A claim whose screen moves by 1 / 150, and whose answers by sqrt(2) / 40."""
    mechanism = {"name": "confident-gnmax", "noise": "gaussian:40", "classes": 4, "teachers": 100}
    mechanism |= {"threshold": 50.0, "threshold_noise": "gaussian:150"}
    tables = {"mechanism": mechanism, "privacy": PRIVACY | {"queries": queries}}
    return parse_claim(tables | ({"accountant": {"charges": charges}} if charges else {}))


def warned(claim, asked, answered=None):
    """The warning after so many queries of the costliest histogram, and answers to them."""
    kind = LabelsBudgetEnforcement(claim)._one(*costliest(claim))
    answered = asked if answered is None else answered
    return above_one_reading(claim, replace(kind, asked=asked, answered=answered))


def gaussian(asked, answered, screen=0.0):
    """Epsilon of screenings and answers together: one Gaussian mechanism (Balle, Wang 2018)."""
    squared = asked * screen**2 + answered * 2 / 1600
    return move_epsilon(families.Gaussian(1.0), math.sqrt(squared), 1e-5)


def most(cost):
    """The most queries within epsilon 2.65."""
    return next(k for k in range(1, 10_000) if cost(k + 1) > 2.65)


@pytest.mark.slow("over half a second")
def test_answers_of_gnmax_are_held_to_the_exact_cost_of_its_noise() -> None:
    """A sound account gives 332 answers: a limit by Renyi costs, 287, would accuse it."""
    allowed = most(lambda k: gaussian(k, k))
    assert allowed == 332
    assert warned(GNMAX, allowed) is None
    found = warned(GNMAX, allowed + 1)
    assert found.code == "above-one-reading"
    fields = dict(found.fields)
    assert fields["cost"] == pytest.approx(gaussian(allowed + 1, allowed + 1), rel=1e-6)
    assert fields["other_cost"] < fields["epsilon"] == 2.65 < fields["cost"]
    assert (fields["queries"], fields["answers"]) == (allowed + 1, allowed + 1)


@pytest.mark.slow("over half a second")
def test_answers_of_lnmax_are_held_to_the_loss_distribution_of_its_noise() -> None:
    """dp-accounting brackets the cost: nothing below is accused, and what lies above is.

    Sound accounts by loss distributions give 12 answers, where pure costs allow 10.
    """
    counts = NoisyHistogram(NumberNoise(LAPLACE), cells=4, adjacency=Adjacency.REPLACE_ONE)
    allowed = 12
    assert epsilon_bracket(counts, 1e-5, allowed).high <= 5.0
    assert epsilon_bracket(counts, 1e-5, allowed + 1).low > 5.0
    assert warned(LNMAX, allowed) is None
    assert warned(LNMAX, allowed + 2).code == "above-one-reading"


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("charges", [None, "all", "data-independent", "realised"])
def test_refused_queries_are_charged_as_the_claim_says(charges) -> None:
    """Half are refused. Catches a reading that counts answers alone, by which 500 queries pass
    under "all", and one that charges refused queries in full, by which "realised" fails at 300."""
    made = confident(charges)
    in_full = most(lambda k: gaussian(k, k, 1 / 150))
    realised = most(lambda k: gaussian(k, k // 2, 1 / 150))
    limit = realised if charges == "realised" else in_full
    assert in_full < 330 < 500 < realised
    assert warned(made, limit, limit // 2) is None
    found = warned(made, limit + 2, limit // 2 + 1)
    assert found.code == "above-one-reading"
    assert found.fields["other_cost"] < 2.65 < found.fields["cost"]
    if charges is None:  # the claim leaves open which it is
        other = gaussian(limit + 2, limit // 2 + 1, 1 / 150)
        assert found.fields["other_cost"] == pytest.approx(other, rel=1e-6)


def test_a_claim_of_so_many_queries_is_taken_at_its_word() -> None:
    """It is on its own page that a claim of too many queries is refuted, by a proof."""
    made = confident(queries=500)
    assert warned(made, 500, 250) is None
    assert warned(made, 501, 250) is not None


@pytest.mark.parametrize("noise", ["gumbel:20", "exponential:20"])
def test_where_counts_have_no_known_cost_nothing_is_said(noise) -> None:
    """Bounded range allows Gumbel noise four times as many answers as its pure cost."""
    made = claimed(noise, "report-noisy-max", classes=4, teachers=100, privacy=PRIVACY)
    assert warned(made, costliest(made)[1] - 1) is None


@pytest.mark.slow("over half a second")
def test_votes_that_cost_less_by_the_published_analysis_are_within() -> None:
    """A data-dependent account of a clear lead: its answers are none of its faults."""
    made = claimed("gaussian:10", classes=4, teachers=100, privacy=PRIVACY)
    check = LabelsBudgetEnforcement(made)
    lead = check._one(costliest(made)[0], None)
    clear = replace(lead, asked=101, answered=101)
    assert above_one_reading(made, clear) is not None
    assert above_one_reading(made, replace(clear, votes=np.array([100, 0, 0, 0]))) is None
