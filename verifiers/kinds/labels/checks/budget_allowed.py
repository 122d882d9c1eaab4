"""How many queries of one histogram a budget allows: by the claim, by analyses, by readings.

A claim may be read to mean that a query is charged for its noise, whatever the votes, or for these
votes; and that refused queries are charged as others, or for their screening alone.
"""

import math
from collections.abc import Iterator
from functools import cached_property

import numpy as np
from flint import arb

from .....reference import ConfidentGNMax, Gaussian, Laplace, NoisyArgmax
from .....reference.accounting.analyses import Charging, query_cost, release_costs
from .....reference.accounting.conversions import ORDERS, best_epsilon, most_repeats
from .....reference.accounting.gnmax import is_of_noisy_counts
from .....reference.accounting.neighbourhood import MOVED_VOTE
from .....reference.accounting.pure import pure_epsilon
from .....reference.arrays import Matrix
from .....reference.numbers import Move, NumberNoise, families
from .....reference.numbers.certified import CertifiedPair, gaussian_epsilon
from .....reference.searches import last_from_zero
from ....findings.finding import Finding
from ....findings.note import Note
from ....run.account import ROUNDING
from ..claim import LabelsClaim
from .certain_cost import BudgetHistogram

_COUNTED = 10**12
_CLASSES = 30  # up to which the exact cost is computed
_CONVERSIONS = 1.05  # of published epsilons, which tighter conversions may lie below


class BudgetAllowed:
    """Compares numbers of answers with the claimed queries, and with what epsilon allows."""

    def __init__(self, claim: LabelsClaim) -> None:
        self.claim, self.privacy = claim, claim.private
        self._neighbourhood = claim.mechanism.neighbourhood

    @cached_property
    def sound(self) -> int:
        """Answers that the data-independent analysis allows, for any votes."""
        test, answer = release_costs(
            self.claim.mechanism.mechanism(),
            ORDERS,
            self._neighbourhood,
            teachers=self.claim.mechanism.teachers,
        )
        return self._repeats(test + answer)

    @cached_property
    def exactly_gaussian(self) -> int:
        """Answers that the exact cost of Gaussian noise allows, for any votes; 0 for other noise.

        A moved vote moves the counts by sqrt(2), a vote more or less by 1, and k answers' counts by
        sqrt(k) times that: one Gaussian mechanism (Balle and Wang 2018, arXiv 1805.06530v2, Theorem
        8).
        """
        noise, delta = self.claim.mechanism.noise, self.privacy.delta
        gaussian = isinstance(noise.unrounded, Gaussian) and is_of_noisy_counts(noise)
        if self.claim.mechanism.refuses or not gaussian or not delta:
            return 0
        family, epsilon = families.Gaussian(noise.scale), self._epsilon
        squared = self._neighbourhood.squared

        def fits(k: int) -> bool:
            return k == 0 or family.move_delta(math.sqrt(squared * k), epsilon) <= delta

        return last_from_zero(fits, _COUNTED)

    @property
    def allowances(self) -> set[int]:
        """Queries that one account may allow: as claimed, or by an analysis for any votes."""
        return {self.privacy.queries, self.sound, self.exactly_gaussian}

    def violation(self, kind: BudgetHistogram) -> Finding | None:
        """The violation by the number of answers to one histogram, if there is one.

        More than claimed, and than any analysis allows that a correct account may use. None where
        the mechanism may refuse, as refusals are cheaper; nor for noise but Gaussian noise, nor for
        two classes, as compositions of pure costs (Kairouz et al. 2015, arXiv 1311.0776, Theorem
        3.3) and the costliest pair of two classes allow more than Rényi costs do.
        """
        claimed = self.claim.mechanism
        known = isinstance(claimed.noise.unrounded, Gaussian) and claimed.classes > 2
        if claimed.refuses or not known or kind.answered <= self.privacy.queries:
            return None
        allowed, analysis = max(self._allowed(kind))
        if kind.answered <= allowed:
            return None
        moved = self._neighbourhood == MOVED_VOTE
        half = " (half, as if a moved vote changed one count?)" if moved else ""
        return Finding(
            f"it answered {self._answers(kind)}, more than the claim's queries = "
            f"{self.privacy.queries:,}, and more than the {allowed:,} that epsilon "
            f"{self.privacy.epsilon:g} allows by {analysis}; other analyses tried allow no more",
            f"answers are charged less than they cost by the published analyses{half}, or they are "
            "not counted",
            code="too-many-answers",
            fields={
                "answers": kind.answered,
                "queries": self.privacy.queries,
                "allowed": allowed,
            },
        )

    def warning(self, kind: BudgetHistogram) -> Note | None:
        """A warning about the number of answers to one histogram, if it is large but no fault."""
        allowed = max(self.sound, self.exactly_gaussian)
        if kind.answered > self.privacy.queries:
            most, than = self.privacy.queries, f"the claim's queries = {self.privacy.queries:,}"
        elif kind.answered > allowed:
            most, than = allowed, f"the {allowed:,} that analyses allow whatever the votes"
        else:
            return None
        message = f"it answered {self._answers(kind)}, more than {than}"
        return Note("many-answers", message, {"answers": kind.answered, "allowed": most})

    def factor(self, answered: int) -> str:
        """How `answered` compares with what the data-independent analysis allows, in words."""
        if not self.sound:
            return "the data-independent analysis allows none"
        allows = f"the data-independent analysis allows {self.sound:,}"
        return f"{allows}, and it gave {answered / self.sound:.2f} times as many"

    def _allowed(self, kind: BudgetHistogram) -> Iterator[tuple[int, str]]:
        """For each analysis that a correct account may use: answers that it allows, its name."""
        mechanism, votes = self.claim.mechanism.mechanism(), kind.votes
        yield self.sound, "the data-independent analysis"
        yield self.exactly_gaussian, "the exact cost of Gaussian noise"
        near = self._neighbourhood
        cost = query_cost(votes, mechanism, ORDERS, "data-dependent", neighbourhood=near)
        yield self._repeats(cost), "the data-dependent analysis of these votes"
        if votes.size <= _CLASSES:
            # of several votes one is moved, which allows no fewer answers: all are too many to try
            one = near if near.votes == 1 else MOVED_VOTE
            exact = query_cost(votes, mechanism, ORDERS, "exact", neighbourhood=one)
            yield self._repeats(exact), "the exact Rényi cost of these votes"

    def _repeats(self, cost: Matrix) -> int:
        """How many times a Rényi cost at `ORDERS`, or the pure cost, fits the claim."""
        pure = pure_epsilon(self.claim.mechanism.noise, self._neighbourhood)
        return most_repeats(cost, self.privacy.delta, self._epsilon, _COUNTED, pure)

    @property
    def _epsilon(self) -> float:
        return self.privacy.epsilon * ROUNDING

    def _answers(self, kind: BudgetHistogram) -> str:
        return f"{kind.answered:,} queries of {self.claim.named(kind.votes)} alone"


def above_one_reading(claim: LabelsClaim, kind: BudgetHistogram) -> Note | None:
    """A warning where queries of one histogram cost too much by one reading, and not by another.

    They are more than the claim's `queries`, where it counts them, and certainly cost too much by
    the strictest reading that it leaves open. None where this cannot be shown, as of noise whose
    counts have no known cost.
    """
    if claim.mechanism.classes == 2 and not claim.mechanism.refuses:
        return None  # the labels' own cost is known, and counts cost more
    counted = claim.charges != "realised"
    if counted and kind.asked <= claim.private.queries:
        return None
    epsilon = claim.private.epsilon * ROUNDING
    readings = list(_whatever_the_votes(claim, kind))
    if not readings or readings[0][1] <= epsilon or _covered(claim, kind):
        return None
    strictest, cost = readings[0]
    votes = ("where these votes alone are charged", kind.least)
    other, other_cost = next((r for r in readings if r[1] <= epsilon), votes)
    queries, named = claim.private.queries, claim.named(kind.votes)
    than = f", more than the claim's queries = {queries:,}" if counted else ""
    answers = f" and answered {kind.answered:,}" if claim.mechanism.refuses else ""
    return Note(
        "above-one-reading",
        f"it took {kind.asked:,} queries of {named} alone{answers}{than}. {strictest} they "
        f"are charged epsilon {cost:.4g} or more (certified, for the noisy counts), "
        f"above {claim.private.epsilon:g}; {other} no more than {other_cost:.4g} is "
        "shown, which is within: that the labels cost more than claimed is not proved",
        {
            "queries": kind.asked,
            "answers": kind.answered,
            "cost": cost,
            "other_cost": other_cost,
            "epsilon": claim.private.epsilon,
        },
    )


def _whatever_the_votes(claim: LabelsClaim, kind: BudgetHistogram) -> Iterator[tuple[str, float]]:
    """The readings by which votes do not matter, the strictest first, with certain costs."""
    if not claim.mechanism.refuses:
        epsilon = _of_noise(claim, 0, kind.answered)
        if epsilon is not None:
            yield "By the noise, whatever the votes,", epsilon
        return
    if claim.charges != "realised":
        words = "With refused queries charged as others, whatever the votes,"
        yield words, _of_noise(claim, kind.asked, kind.asked) or 0.0
    if claim.charges in (None, "realised"):
        words = "with refused queries charged their screening alone"
        words = words if claim.charges is None else f"{words.capitalize()}, whatever the votes,"
        yield words, _of_noise(claim, kind.asked, kind.answered) or 0.0


def _of_noise(claim: LabelsClaim, screenings: int, answers: int) -> float | None:
    """Epsilon that so many noisy largest counts and noisy counts certainly cost together.

    None where it is not known, as of counts whose noise is cut before it is added.
    """
    mechanism, near = claim.mechanism.mechanism(), claim.mechanism.neighbourhood
    noise, delta, squared = mechanism.noise.unrounded, claim.private.delta, arb(0)
    if isinstance(mechanism, ConfidentGNMax):
        squared = arb(near.votes) ** 2 * screenings / arb(mechanism.threshold_noise.scale) ** 2
    elif not (isinstance(mechanism, NoisyArgmax) and is_of_noisy_counts(mechanism.noise)):
        return None
    if isinstance(noise, Gaussian):
        if is_of_noisy_counts(mechanism.noise):
            squared += arb(near.squared) * answers / arb(noise.scale) ** 2
        return gaussian_epsilon(squared.sqrt(), delta)
    if isinstance(noise, Laplace) and near.votes == 1:
        counts = NumberNoise(families.Laplace(noise.scale))
        return CertifiedPair(counts, Move(1.0, near.counts)).epsilon_lower(answers, delta)
    return None


def _covered(claim: LabelsClaim, kind: BudgetHistogram) -> bool:
    """Whether the published analysis of these votes allows the queries."""
    if claim.charges == "data-independent":
        return False
    mechanism, near = claim.mechanism.mechanism(), claim.mechanism.neighbourhood
    charging: Charging = "realised" if claim.charges == "realised" else "all"

    def cost(orders: Matrix) -> Matrix:
        both, refused = np.array([kind.votes, kind.votes]), [False, True]
        costs = query_cost(
            both,
            mechanism,
            orders,
            "data-dependent",
            neighbourhood=near,
            charging=charging,
            refused=refused,
        )
        total = kind.answered * costs[0] + (kind.asked - kind.answered) * costs[1]
        return np.asarray(total)

    found = best_epsilon(cost, claim.private.delta).epsilon
    return found <= _CONVERSIONS * claim.private.epsilon
