"""What planned numbers rest on, exactly: one miss in a hundred, and what one wager must gain.

Simulation sees no factor of two in a probability of 0.01, nor a nat or two of some twenty.
"""

import math

import numpy as np
import pytest
from scipy.stats import binom, chi2, norm

from dpassay.reference.arrays import Vector
from dpassay.verifiers.evidence import dirichlet, power
from dpassay.verifiers.evidence.dirichlet import split_levels
from dpassay.verifiers.evidence.power import (
    bare_winners_to_see,
    binomial_quantile,
    copies_to_see,
    longest_round,
    pairs_to_see,
    queries_to_see,
    ratios_to_see,
    rises_to_see,
    seeds_drawn,
)
from dpassay.verifiers.evidence.repetition import Recurrence
from dpassay.verifiers.evidence.same_law import SameLawEvidence

TWO_LEVELS = np.log(np.r_[0.5, 0.3, np.full(20, 0.01)])
WANTED = 19.0


def test_frequent_outcomes_alone_pay_for_half_of_the_evidence(monkeypatch) -> None:
    """Where moves among the rare ones would show in any number."""
    monkeypatch.setattr(power, "levels_show", lambda *_: True)
    levels = split_levels(TWO_LEVELS, 0.02)
    assert levels is not None
    half = WANTED + math.log(2.0)
    assert pairs_to_see(TWO_LEVELS, 0.02, WANTED) == pairs_to_see(levels.few, 0.02, half)
    assert queries_to_see(TWO_LEVELS, 0.02, WANTED) == queries_to_see(levels.few, 0.02, half)


def test_evidence_on_two_levels_is_missed_as_one(monkeypatch) -> None:
    """By the mean of two e-values; where both levels count, their variances add."""
    levels, short, by = split_levels(TWO_LEVELS, 0.02), dirichlet._short, list[float]()
    assert levels is not None

    def recorded(n: float, q: Vector, p: Vector, less: float) -> Vector:
        by.append(less)
        return short(n, q, p, less)

    monkeypatch.setattr(dirichlet, "_short", recorded)
    for few, among in ((20.0, 0.0), (5.0, 15.0)):
        monkeypatch.setattr(dirichlet, "level_log_e_values", lambda *_, e=(few, among): e)
        mean = few + np.logaddexp(0.0, among) - math.log(2.0)
        assert dirichlet.levels_show(10_000, levels, mean - 0.01, 2.3)
        assert not dirichlet.levels_show(10_000, levels, mean + 0.01, 2.3)
    apart, together = np.array(by).reshape(-1, 2, 2).transpose(1, 0, 2)
    assert together.sum(1) == pytest.approx(np.hypot(*apart.T))


def test_one_predictor_of_pairs_shows_them_alone(monkeypatch) -> None:
    evidence, asked = SameLawEvidence(2), []
    evidence.gains[0] = 1e3
    monkeypatch.setattr(power, "_pairs", lambda *given: asked.append(given[-1]))
    pairs_to_see(np.log([0.7, 0.3]), 0.02, WANTED)
    assert asked == pytest.approx([WANTED + 1e3 - evidence.log_e_value])


def test_rises_are_missed_by_both_counts_together_once_in_a_hundred(monkeypatch) -> None:
    missed = set()

    def recorded(chance: float, times: int, share: float) -> int:
        missed.add((chance, share))
        return binomial_quantile(chance, times, share)

    monkeypatch.setattr(power, "binomial_quantile", recorded)
    rises_to_see(0.98, 0.02, WANTED)
    assert len(missed) == 2
    assert sum(chance for chance, _ in missed) == pytest.approx(0.01)


@pytest.mark.parametrize("answered", [0.3, 0.9])
def test_bare_winners_come_often_enough(answered) -> None:
    """Each gains log(1 / chance), less a thousandth of the claimed law in the wager."""
    queries, chance = bare_winners_to_see(0.7, answered, WANTED), 0.7
    needed = math.ceil(WANTED / math.log((0.999 + 0.001 * chance) / chance))
    fewer, enough = (binom.sf(needed - 1, n, answered) for n in (queries - 1, queries))
    assert fewer < 0.99 <= enough


def test_ratios_are_seen_by_chernoffs_bound() -> None:
    """The least e^(s w) (sum P^(1-s) Q^s)^n over s of 0.02 to 0.98 is 0.01 at most."""
    p, q = np.array([0.6, 0.4]), np.array([0.5, 0.5])
    n = ratios_to_see(np.log(p), np.log(q), WANTED)
    s = np.arange(0.02, 0.981, 0.02)
    mixed = np.log((p ** (1.0 - s[:, None]) * q ** s[:, None]).sum(1))
    missed = [np.exp(s * WANTED + labels * mixed).min() for labels in (n - 1, n)]
    assert missed[1] <= 0.01 < missed[0]


def test_copies_are_seen_with_a_quarter_of_the_misses_for_their_skewness() -> None:
    """Of four even labels; any of the four wagers may show them."""
    labels, share = 2_000, copies_to_see(np.log(np.full(4, 0.25)), 2_000, WANTED)

    def shows(rate: float) -> bool:
        often = rate + (1.0 - rate) / 4.0
        for wager in (0.999, 0.5, 0.1, 0.02):
            copied, other = math.log(1.0 + 3.0 * wager), math.log(1.0 - wager)
            mean = often * copied + (1.0 - often) * other
            spread = (copied - other) * math.sqrt(labels * often * (1.0 - often))
            if labels * mean - norm.isf(0.0025) * spread >= WANTED:
                return True
        return False

    grid = np.geomspace(0.005, 1.0, 80)
    assert share == pytest.approx(next(rate for rate in grid if shows(rate)))


def test_the_longest_round_of_seeds_pays_for_its_wager() -> None:
    """Of nine starts the last is a copy: of its wager, its chance, one of eight, and misfit."""
    outcomes, labels, turns = 10, 32, 8
    first = Recurrence(np.log(np.full(outcomes, 0.1)))
    gained = labels * math.log(0.001 + 0.999 * outcomes)
    share = math.log(0.7) + math.log(0.3) + turns * math.log(0.7) - math.log(first.gains.size)
    left = gained + share - math.log(turns) - chi2.isf(0.01, outcomes - 1) / 2.0
    found = [
        longest_round(first.log_q, turns + 1, labels, wanted)
        for wanted in (left - 0.01, left + 0.01)
    ]
    assert found[0] == turns > found[1]


@pytest.mark.parametrize("starts", [11, 21])
@pytest.mark.parametrize("again", [1, 2])
def test_seeds_that_are_drawn_come_again_as_often_as_needed(starts: int, again: int) -> None:
    """Of all starts `again` must have a seed that came before: by birthdays, and Stirling's number.

    Catches one that suffices whatever is asked.
    """

    def fewer(values: int) -> float:
        none = math.perm(values, starts)
        one = math.comb(starts, 2) * math.perm(values, starts - 1)
        return float((none + (one if again == 2 else 0)) / values**starts)

    found = seeds_drawn(starts, starts - again)
    assert found > starts - again
    assert fewer(found) <= 0.01 < fewer(found + 1)


def test_as_many_seeds_as_may_be_are_no_more_than_are_asked() -> None:
    assert [seeds_drawn(11, most) for most in (0, 1, 2)] == [0, 1, 2]
