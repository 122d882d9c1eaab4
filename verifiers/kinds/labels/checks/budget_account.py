"""The epsilon that a deployment says it has spent, beside what its answers certainly cost."""

import math
from dataclasses import dataclass, replace
from itertools import pairwise

from .....reference import BudgetExhausted, Histogram
from ....targets import NotOffered, Refused, Target, TargetError, checked_spent
from .certain_cost import CertainCost, CertifiedCost

_ROUNDING = 1.0 + 1e-9  # relative tolerance of comparisons
_LONG = 10  # answers without a change of the account from which there is a warning
_LEAST_DELTA = 1e-14  # smaller ones are below the precision of accounts in floating point
_RISE, _RISEN = 1.01, 0.02  # relative and absolute errors of accountants by discretised losses


@dataclass
class AskedHistogram:
    """A histogram that a deployment with a budget is asked, with counts of its queries.

    answers: the cost of answers to it; queries: the cost of queries of it, answered or refused,
    where the mechanism may refuse; limit: about the number of answers that cost more than the
    claim; before: the account's epsilon before the first query.
    """

    answers: CertainCost
    queries: CertainCost | None
    limit: int | None
    asked: int = 0
    answered: int = 0
    before: float | None = None

    @property
    def votes(self) -> Histogram:
        """The histogram (c,)."""
        return self.answers.here

    def at(self, delta: float) -> "AskedHistogram":
        """A copy with costs at another delta."""
        queries = None if self.queries is None else self.queries.at(delta)
        return replace(self, answers=self.answers.at(delta), queries=queries)

    def costs_more_than(self, epsilon: float) -> CertifiedCost | None:
        """A proof that the answers given cost more than `epsilon`, if there is one.

        Where queries may be refused, an account may charge queries or only answers. Either may be
        cheaper, so the proof must exceed `epsilon` both ways.
        """
        proofs = []
        counted = [(self.answers, self.answered)]
        if self.queries is not None:
            counted.append((self.queries, self.asked))
        for cost, times in counted:
            if times < 1 or cost.estimate(times) <= epsilon * _ROUNDING:
                return None
            proof = cost.certified(times)
            if proof is None or proof.epsilon <= epsilon * _ROUNDING:
                return None
            proofs.append(proof)
        return min(proofs, key=lambda proof: proof.epsilon)


class Account:
    """Follows `spent(delta)`, which must not fall, exceed the claim, or be less than the cost.

    epsilon, delta: as claimed; lacking: why the target has no account, if it has none.
    """

    lacking = "the target has no spent(delta)"

    def __init__(self, epsilon: float, delta: float) -> None:
        self.epsilon, self.delta = epsilon, delta
        self.start: float | None = None
        self.now: float | None = None
        self._moved = 0  # answers given when it last changed
        self._still = 0  # the most answers without a change

    def open(self, target: Target) -> bool:
        """Reads the account for the first time; False where the target has none."""
        try:
            self.start = self.now = self._read(target)
        except NotOffered as lack:
            self.lacking = str(lack)
        return self.now is not None

    def look(self, target: Target, answered: int) -> str | None:
        """Reads the account after `answered` answers in total; returns how it fell, if it did.

        Raises NotOffered if it turns out only now that it has no epsilon at delta 0.
        """
        if self.now is None:
            return None
        before, after = self.now, self._read(target)
        if after is None:
            return None
        self.now = after
        if after < before / _ROUNDING:
            return f"from {before:.6g} to {after:.6g}"
        if after > before:
            self._moved = answered
        self._still = max(self._still, answered - self._moved)
        return None

    def over_deltas(self, target: Target) -> list[tuple[float, float]]:
        """Pairs (delta, epsilon) at the square root of the claimed delta, at it, and at its square.

        Deltas at which the account says nothing are left out, as the claim is for one. The largest
        comes first, so that queries of others meanwhile do not look like a rise. The square is
        replaced by a larger delta where it is below floating-point precision.
        """
        if self.now is None or self.delta == 0:
            return []
        said = []
        smallest = max(self.delta**2, min(self.delta, _LEAST_DELTA))
        for delta in sorted({self.delta**0.5, self.delta, smallest}, reverse=True):
            try:
                said.append((delta, checked_spent(target.spent(delta), delta)))
            except (NotOffered, Refused, TargetError, BudgetExhausted):
                continue
        return said

    @property
    def exceeds(self) -> bool:
        """Whether the account says more than the claimed epsilon."""
        return self.now is not None and self.now > self.epsilon * _ROUNDING

    def still(self, answered: int) -> str | None:
        """A warning if the account did not change over most of the answers given."""
        if self.now is None or self._still < _LONG or 2 * self._still <= answered:
            return None
        return (
            f"spent said epsilon {self.now:.4g} throughout {self._still:,} of {answered:,} "
            "answers: a budget that is paid in advance, or an account that is not kept"
        )

    @staticmethod
    def rise(said: list[tuple[float, float]]) -> str | None:
        """How epsilon rises with delta, in words, if it does; said: pairs, largest delta first."""
        for (larger, above), (smaller, below) in pairwise(said):
            if above > _RISE * below + _RISEN:
                return (
                    f"epsilon {above:.6g} at delta {larger:g}, and {below:.6g} at delta "
                    f"{smaller:g}: an epsilon that holds at a delta holds at every larger one"
                )
        return None

    def _read(self, target: Target) -> float | None:
        """The account's epsilon. By Rényi divergences there is none at delta 0, or infinity."""
        try:
            found = checked_spent(target.spent(self.delta), self.delta)
        except NotOffered:
            return None
        except TargetError as error:
            if self.delta > 0:
                raise
            raise NotOffered(f"the target has no account at delta 0: {error}") from error
        if self.delta == 0 and found == math.inf:
            raise NotOffered("the target has no account at delta 0: spent(0) is infinite")
        return found
