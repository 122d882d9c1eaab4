"""What a deployment says it has spent, look by look, while it is asked."""

import math
from itertools import pairwise

from ...reference import BudgetExhausted
from ..findings.note import Note
from ..targets import NotOffered, Refused, Target, TargetError, checked_spent

ROUNDING = 1.0 + 1e-9
"""Of figures that are compared with a claim or with each other."""

_LONG = 10  # answers over which an account may stand still unremarked
_LEAST_DELTA = 1e-14  # below, accounts in floating point have no digits left
_RISE, _RISEN = 1.01, 0.02  # that accountants of discretised losses may be off by, share and sum


class TargetAccount:
    """Follows `spent(delta)`: it must not fall, exceed the claim, or say less than answers cost.

    lacking: why there is none to follow, where that is so.
    """

    lacking = "the target has no spent(delta)"

    def __init__(self, epsilon: float, delta: float) -> None:
        self.epsilon, self.delta = epsilon, delta
        self.start: float | None = None
        self.now: float | None = None
        self._moved = 0  # answers given when it last moved
        self._still = 0  # the most answers over which it stood still

    def open(self, target: Target) -> bool:
        """The first look; False where the target has no account."""
        try:
            self.start = self.now = self._read(target)
        except NotOffered as lack:
            self.lacking = str(lack)
        return self.now is not None

    def look(self, target: Target, answered: int) -> str | None:
        """Reads it after so many answers in all; what is wrong with it, if anything.

        Raises NotOffered where only now it turns out to have no epsilon at a delta of 0.
        """
        if self.now is None:
            return None
        before, after = self.now, self._read(target)
        if after is None:
            return None
        self.now = after
        if after < before / ROUNDING:
            return f"from {before:.6g} to {after:.6g}"
        if after > before:
            self._moved = answered
        self._still = max(self._still, answered - self._moved)
        return None

    def over_deltas(self, target: Target) -> list[tuple[float, float]]:
        """What it says at the root of the claimed delta, at that delta and at its square.

        None of a delta at which it says nothing: it was claimed for one. From the largest on, so
        that what others ask meanwhile does not look like a rise. A claimed delta for which floating
        point has no digits is itself the smallest.
        """
        if self.now is None or self.delta == 0:
            return []
        spent = []
        smallest = max(self.delta**2, min(self.delta, _LEAST_DELTA))
        for delta in sorted({self.delta**0.5, self.delta, smallest}, reverse=True):
            try:
                spent.append((delta, checked_spent(target.spent(delta), delta)))
            except (NotOffered, Refused, TargetError, BudgetExhausted):
                continue
        return spent

    @property
    def exceeds(self) -> bool:
        """Whether it says more than the claim."""
        return self.now is not None and self.now > self.epsilon * ROUNDING

    def still(self, answered: int) -> Note | None:
        """A warning, where it stood still over most of the answers given."""
        if self.now is None or self._still < _LONG or 2 * self._still <= answered:
            return None
        return Note(
            "account-stands-still",
            f"spent said epsilon {self.now:.4g} throughout {self._still:,} of {answered:,} "
            "answers: a budget that is paid in advance, or an account that is not kept",
            {"spent": self.now, "still": self._still, "answers": answered},
        )

    @staticmethod
    def rise(spent: list[tuple[float, float]]) -> str | None:
        """How it rises with delta, in words, if it does; spent: from the largest delta on."""
        for (larger, above), (smaller, below) in pairwise(spent):
            if above > _RISE * below + _RISEN:
                return (
                    f"epsilon {above:.6g} at delta {larger:g}, and {below:.6g} at delta "
                    f"{smaller:g}: an epsilon that holds at a delta holds at every larger one"
                )
        return None

    def _read(self, target: Target) -> float | None:
        """Those of Rényi divergences have no epsilon at delta 0: some raise, some say infinity."""
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
