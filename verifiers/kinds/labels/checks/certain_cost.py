"""Lower bounds of the privacy cost of answers to one histogram, below any sound account."""

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, Self

import numpy as np
from flint import arb
from numpy.typing import NDArray

from .....reference import Histogram
from .....reference.accounting.certified import enclosed_event, epsilon_lower
from .....reference.accounting.counting import costliest_count
from .....reference.accounting.neighbourhood import MOVED_VOTE, Neighbourhood
from .....reference.mechanisms import ClaimedMechanism
from .....reference.searches import last_from_zero
from ....run.account import ROUNDING
from ..claim import LabelsClaim

MOST_ANSWERS = 10**7
"""Most answers that are considered, more than any check asks."""

_TIMES = (1, 10, 100, 1_000, 10_000)  # numbers of answers at which the worst neighbour is kept
_LEADERS = 3  # leading classes among which, and the last, votes are moved


Counted = Literal["answers", "queries", "screenings"]


@dataclass(frozen=True)
class CertifiedCost:
    """A test of a histogram against its neighbour `there`: `least` of `times` labels in `labels`.

    epsilon: the lower bound of the cost that it proves, in ball arithmetic; of: what is counted.
    """

    epsilon: float
    times: int
    there: tuple[int, ...]
    labels: tuple[int, ...]
    least: int
    of: Counted = "answers"


@dataclass(frozen=True)
class LikelierLabels:
    """The labels likelier at histogram `here` than at `there`, with both probabilities of them."""

    here: tuple[int, ...]
    there: tuple[int, ...]
    labels: tuple[int, ...]
    at_here: float
    at_there: float

    @classmethod
    def of(
        cls,
        mechanism: ClaimedMechanism,
        here: Histogram,
        there: Histogram,
        *,
        screening: bool = False,
    ) -> Self:
        """Those of a mechanism; screening: whether a refusal, the last outcome, or its absence."""
        p, q = (
            np.exp(mechanism.log_probabilities(votes.astype(np.float64))) for votes in (here, there)
        )
        labels = np.flatnonzero(p > q)
        if screening:
            last = p.size - 1
            labels = np.array([last]) if p[last] > q[last] else np.arange(last)
        at_here, at_there = (float(min(law[labels].sum(), 1.0)) for law in (p, q))
        votes, others, named = (tuple(int(v) for v in each) for each in (here, there, labels))
        return cls(votes, others, named, at_here, at_there)

    def enclosed(self, mechanism: ClaimedMechanism) -> tuple[arb, arb]:
        """Balls around both probabilities."""
        one = enclosed_event(self.here, mechanism, self.labels)
        return one, enclosed_event(self.there, mechanism, self.labels)


class CertainCost:
    """Lower bounds of the epsilon at `delta` of answers to histogram `here` (c,).

    Only in the direction D(Q(here) || Q(there)), as published data-dependent bounds cover no other
    (Papernot et al. 2018, arXiv 1802.08908v1, Theorem 6). neighbourhood: what it is told apart
    from; others: neighbours (c,) that are tried beside those by votes of the leaders; screening:
    whether nothing is looked at but if a query was refused.
    """

    def __init__(
        self,
        mechanism: ClaimedMechanism,
        here: Histogram,
        delta: float,
        neighbourhood: Neighbourhood = MOVED_VOTE,
        others: Iterable[Histogram] = (),
        *,
        screening: bool = False,
    ) -> None:
        self.mechanism, self.here, self.delta = mechanism, here, delta
        moved = neighbourhood.among(here, leading_classes(here, _LEADERS, 1).tolist())
        found = [
            LikelierLabels.of(mechanism, here, other, screening=screening)
            for other in (*others, *moved)
        ]
        self._tried = [event for event in found if event.at_here > event.at_there]

    @cached_property
    def _events(self) -> list[LikelierLabels]:
        """Those that tell most of some number of answers."""
        if not self._tried:
            return []
        costs = [[self._cost(event, times)[1] for times in _TIMES] for event in self._tried]
        return [self._tried[i] for i in np.unique(np.argmax(costs, axis=0))]

    def at(self, delta: float) -> "CertainCost":
        """The cost of the same histogram at another delta, where another neighbour may be worst."""
        other = copy(self)
        other.__dict__.pop("_events", None)
        other.delta = delta
        return other

    def estimate(self, times: int) -> float:
        """Epsilon of `times` answers in floating point, without proof."""
        return max((self._cost(event, times)[1] for event in self._events), default=0.0)

    def certified(self, times: int) -> CertifiedCost | None:
        """A proof of about `estimate`; None where no neighbour can be distinguished."""
        if not self._events:
            return None
        event = max(self._events, key=lambda e: self._cost(e, times)[1])
        least = self._cost(event, times)[0]
        p, q = event.enclosed(self.mechanism)
        epsilon = epsilon_lower(p, q, times, least, self.delta)
        return CertifiedCost(epsilon, times, event.there, event.labels, least)

    def answers_beyond(self, epsilon: float) -> int | None:
        """About the fewest answers that cost more than `epsilon`; None if they are too many."""
        within = last_from_zero(lambda times: self.estimate(times) <= epsilon, MOST_ANSWERS)
        return None if within == MOST_ANSWERS else within + 1

    def _cost(self, event: LikelierLabels, times: int) -> tuple[int, float]:
        return costliest_count(event.at_here, event.at_there, times, self.delta)


Account = tuple[tuple[CertainCost, Counted], ...]
"""What an account must cover, each by itself: costs, and what they are of."""


def accounts_of(claim: LabelsClaim, cost: CertainCost) -> tuple[Account, ...]:
    """The accounts of a histogram that a claim allows; cost: of answers to it.

    Where queries may be refused, an account may charge each for whatever may come of it, or for
    what did come of it, and its screening: either may be the smaller.
    """
    made, near = claim.mechanism.mechanism(), claim.mechanism.neighbourhood
    answers: Account = ((cost, "answers"),)
    if not claim.mechanism.refuses:
        return (answers,)
    if claim.charges == "realised":
        screens = CertainCost(made, cost.here, cost.delta, near, screening=True)
        return ((*answers, (screens, "screenings")),)
    queries: Account = ((CertainCost(made, cost.here, cost.delta, near), "queries"),)
    return (queries,) if claim.charges == "all" else (answers, queries)


@dataclass
class BudgetHistogram:
    """A histogram (c,) that a deployment with a budget is asked, and what came of it.

    accounts: that may be kept of it; limit: about the number of answers that cost more than the
    claim; before: what the account said before the first.
    """

    votes: Histogram
    accounts: tuple[Account, ...]
    limit: int | None
    asked: int = 0
    answered: int = 0
    before: float | None = None

    def times(self, of: Counted) -> int:
        """How many there are of what is counted."""
        return self.answered if of == "answers" else self.asked

    def at(self, delta: float) -> "BudgetHistogram":
        """A copy whose answers cost what they do at another delta."""
        accounts = tuple(
            tuple((cost.at(delta), of) for cost, of in account) for account in self.accounts
        )
        return replace(self, accounts=accounts)

    def costs_more_than(self, epsilon: float) -> CertifiedCost | None:
        """A proof that the answers given cost more than `epsilon`, if there is one.

        Where the claim does not say which account it is, it must be too much for each.
        """
        proofs = []
        for account in self.accounts:
            proof = self._beyond(account, epsilon * ROUNDING)
            if proof is None:
                return None
            proofs.append(proof)
        least = min(proofs, key=lambda proof: proof.epsilon)
        # of several accounts each counts the answers, whatever it charges for them
        return least if len(proofs) == 1 else replace(least, of="answers")

    @property
    def least(self) -> float:
        """What the queries cost by the account that charges least, in floating point."""
        return min(
            max(cost.estimate(self.times(of)) for cost, of in account) for account in self.accounts
        )

    def _beyond(self, account: Account, epsilon: float) -> CertifiedCost | None:
        """A proof that one of the costs that an account covers is more than `epsilon`, if any."""
        for cost, of in account:
            times = self.times(of)
            if times >= 1 and cost.estimate(times) > epsilon:
                proof = cost.certified(times)
                if proof is not None and proof.epsilon > epsilon:
                    return replace(proof, of=of)
        return None


def leading_classes(votes: Histogram, leaders: int, last: int) -> NDArray[np.intp]:
    """The classes (k,) with most votes, and the last ones: all where there are no more."""
    order = np.argsort(-votes, kind="stable")
    if order.size <= leaders + last:
        return order
    return np.concatenate([order[:leaders], order[-last:]])
