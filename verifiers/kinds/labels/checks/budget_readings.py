"""Queries that one reading of a claim's budget allows, and another does not.

A claim may mean that a query is charged for its noise, whatever the votes, or for these votes; and
that refused queries are charged as others, or for their screening alone.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from flint import arb

from .....reference import ConfidentGNMax, Gaussian, Laplace, NoisyArgmax
from .....reference.accounting.analyses import query_cost
from .....reference.accounting.confident import Charging
from .....reference.accounting.conversions import best_epsilon
from .....reference.accounting.rounding import is_of_noisy_counts
from .....reference.arrays import Matrix
from .....reference.numbers import Move, NumberNoise, families
from .....reference.numbers.certified import CertifiedPair, gaussian_epsilon
from ....findings.note import Note
from ....run.account import ROUNDING
from ..claim import LabelsClaim
from .certain_cost import AskedHistogram

_CONVERSIONS = 1.05  # of published epsilons, which tighter conversions may lie below


@dataclass(frozen=True)
class _Reading:
    """What is charged, in words, and the epsilon that it comes to."""

    words: str
    epsilon: float


def above_one_reading(claim: LabelsClaim, kind: AskedHistogram) -> Note | None:
    """A warning where queries of one histogram cost too much by one reading, and not by another.

    They are more than the claim's `queries`, where it counts them. By the strictest reading that it
    leaves open they cost more than claimed, for certain: in ball arithmetic, and by the published
    data-dependent analysis too. None where this cannot be shown, as of noise whose counts have no
    known cost.
    """
    assert claim.privacy is not None
    if claim.mechanism.classes == 2 and not claim.mechanism.refuses:
        return None  # the labels' own cost is known, and counts cost more
    counted = claim.charges != "realised"
    if counted and kind.asked <= claim.privacy.queries:
        return None
    epsilon = claim.privacy.epsilon * ROUNDING
    readings = list(_whatever_the_votes(claim, kind))
    if not readings or readings[0].epsilon <= epsilon or _covered(claim, kind):
        return None
    strictest = readings[0]
    votes = _Reading("where these votes alone are charged", kind.least)
    other = next((r for r in readings if r.epsilon <= epsilon), votes)
    queries, named = claim.privacy.queries, claim.named(kind.votes)
    than = f", more than the claim's queries = {queries:,}" if counted else ""
    answers = f" and answered {kind.answered:,}" if claim.mechanism.refuses else ""
    return Note(
        "above-one-reading",
        f"it took {kind.asked:,} queries of {named} alone{answers}{than}. {strictest.words} they "
        f"are charged epsilon {strictest.epsilon:.4g} or more (certified, for the noisy counts), "
        f"above {claim.privacy.epsilon:g}; {other.words} no more than {other.epsilon:.4g} is "
        "shown, which is within: that the labels cost more than claimed is not proved",
        {
            "queries": kind.asked,
            "answers": kind.answered,
            "cost": strictest.epsilon,
            "other_cost": other.epsilon,
            "epsilon": claim.privacy.epsilon,
        },
    )


def _whatever_the_votes(claim: LabelsClaim, kind: AskedHistogram) -> Iterator[_Reading]:
    """The readings by which votes do not matter, the strictest first, with certain costs."""
    mechanism = claim.mechanism.mechanism()
    if not isinstance(mechanism, ConfidentGNMax):
        epsilon = _of_counts(claim, kind.answered)
        if epsilon is not None:
            yield _Reading("By the noise, whatever the votes,", epsilon)
        return
    if claim.charges != "realised":
        words = "With refused queries charged as others, whatever the votes,"
        yield _Reading(words, _of_screens(claim, kind.asked, kind.asked))
    if claim.charges in (None, "realised"):
        words = "with refused queries charged their screening alone"
        words = words if claim.charges is None else f"{words.capitalize()}, whatever the votes,"
        yield _Reading(words, _of_screens(claim, kind.asked, kind.answered))


def _of_counts(claim: LabelsClaim, answers: int) -> float | None:
    """Epsilon that so many releases of the noisy counts certainly cost; None if it is not known."""
    mechanism, near = claim.mechanism.mechanism(), claim.mechanism.neighbourhood
    if not (isinstance(mechanism, NoisyArgmax) and is_of_noisy_counts(mechanism.noise)):
        return None
    delta = claim.privacy.delta if claim.privacy else 0.0
    noise = mechanism.noise.unrounded
    if isinstance(noise, Gaussian):
        return gaussian_epsilon((arb(near.squared) * answers).sqrt() / arb(noise.scale), delta)
    if isinstance(noise, Laplace) and near.votes == 1:
        counts = NumberNoise(families.Laplace(noise.scale))
        return CertifiedPair(counts, Move(1.0, near.counts)).epsilon_lower(answers, delta)
    return None


def _of_screens(claim: LabelsClaim, screenings: int, answers: int) -> float:
    """Epsilon that so many noisy largest counts and noisy counts certainly cost together."""
    mechanism, near = claim.mechanism.mechanism(), claim.mechanism.neighbourhood
    assert isinstance(mechanism, ConfidentGNMax)
    assert claim.privacy is not None
    screen, noise = mechanism.threshold_noise.scale, mechanism.noise.unrounded.scale
    counts = arb(near.squared) * answers if is_of_noisy_counts(mechanism.noise) else arb(0)
    squared = arb(near.votes) ** 2 * screenings / arb(screen) ** 2 + counts / arb(noise) ** 2
    return gaussian_epsilon(squared.sqrt(), claim.privacy.delta)


def _covered(claim: LabelsClaim, kind: AskedHistogram) -> bool:
    """Whether the published analysis of these votes allows the queries."""
    if claim.charges == "data-independent":
        return False
    assert claim.privacy is not None
    mechanism, near = claim.mechanism.mechanism(), claim.mechanism.neighbourhood
    charging: Charging = "realised" if claim.charges == "realised" else "all"

    def cost(orders: Matrix) -> Matrix:
        parts = [(False, kind.answered), (True, kind.asked - kind.answered)]
        costs = [
            times
            * query_cost(
                kind.votes,
                mechanism,
                orders,
                "data-dependent",
                neighbourhood=near,
                charging=charging,
                refused=refused,
            )
            for refused, times in parts
            if times
        ]
        return np.asarray(np.sum(costs, axis=0))

    found = best_epsilon(cost, claim.privacy.delta).epsilon
    return found <= _CONVERSIONS * claim.privacy.epsilon
