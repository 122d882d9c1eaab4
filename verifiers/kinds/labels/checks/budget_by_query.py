"""How many queries of one histogram a budget allows: by the claim, or by analyses."""

import math
from collections.abc import Iterator
from functools import cached_property

from .....reference import Gaussian
from .....reference.accounting.analyses import query_cost
from .....reference.accounting.conversions import ORDERS, most_repeats
from .....reference.accounting.neighbourhood import MOVED_VOTE
from .....reference.accounting.pure import pure_epsilon
from .....reference.accounting.release_costs import release_costs
from .....reference.accounting.rounding import is_of_noisy_counts
from .....reference.arrays import Matrix
from .....reference.numbers import families
from .....reference.searches import last_from_zero
from ....findings.note import Note
from ..claim import LabelsClaim
from .certain_cost import AskedHistogram

_COUNTED = 10**12
_ROUNDING = 1.0 + 1e-9  # relative tolerance: three times 0.1 is 0.3
_CLASSES = 30  # up to which the exact cost is computed


class BudgetByQuery:
    """Compares numbers of answers with the claimed queries, and with what epsilon allows."""

    def __init__(self, claim: LabelsClaim) -> None:
        assert claim.privacy is not None
        self.claim, self.privacy = claim, claim.privacy
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

    def violation(self, kind: AskedHistogram) -> Note | None:
        """The violation by the number of answers to one histogram, if there is one.

        It is one if there are more answers than claimed, and than any analysis allows that a
        correct account may use, data-dependent ones included. None where the mechanism may refuse,
        as refusals are cheaper queries. None for noise but Gaussian noise, nor for two classes:
        compositions of pure costs (Kairouz et al. 2015, arXiv 1311.0776, Theorem 3.3), and of the
        costliest pair of two classes, which is known, allow more than Rényi costs do.
        """
        claimed = self.claim.mechanism
        known = isinstance(claimed.noise.unrounded, Gaussian) and claimed.classes > 2
        if claimed.refuses or not known or kind.answered <= self.privacy.queries:
            return None
        allowed, analysis = max(self._allowed(kind))
        if kind.answered <= allowed:
            return None
        return Note(
            "too-many-answers",
            f"it answered {self._answers(kind)}, more than the claim's queries = "
            f"{self.privacy.queries:,}, and more than the {allowed:,} that epsilon "
            f"{self.privacy.epsilon:g} allows by {analysis}; other analyses tried allow no more",
            {"answers": kind.answered, "queries": self.privacy.queries, "allowed": allowed},
        )

    def warning(self, kind: AskedHistogram) -> Note | None:
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
        if answered == self.sound:
            return "the data-independent analysis allows as many"
        times = f"{answered / self.sound:.2f} times as many"
        return f"the data-independent analysis allows {self.sound:,}, so that it gave {times}"

    def _allowed(self, kind: AskedHistogram) -> Iterator[tuple[int, str]]:
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
        noise, pure = self.claim.mechanism.noise, math.inf
        if not (self.claim.mechanism.refuses or isinstance(noise.unrounded, Gaussian)):
            pure = pure_epsilon(noise, self._neighbourhood)
        return most_repeats(cost, self.privacy.delta, self._epsilon, _COUNTED, pure)

    @property
    def _epsilon(self) -> float:
        return self.privacy.epsilon * _ROUNDING

    def _answers(self, kind: AskedHistogram) -> str:
        return f"{kind.answered:,} queries of {self.claim.named(kind.votes)} alone"
