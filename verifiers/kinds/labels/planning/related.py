"""Runs of related queries, as production asks them: what kinds there are, and how often.

Noise that depends on earlier queries shows only where related queries follow each other and their
labels are hard to predict. So leads are chosen at which too little noise shows soonest.
"""

from abc import ABC, abstractmethod

from .....reference import Histogram

LESS = (0.5, 0.25, 0.7)
"""Factors of the claimed noise scale that related queries should show."""

CAMPS = (0.55, 0.61, 0.65, 0.7)
"""Shares of the votes that the leader of two camps has."""

Runs = list[Histogram]


class Related(ABC):
    """Makes runs: each method gives a list of about `size` related histograms (c,)."""

    @abstractmethod
    def any(self, size: int) -> Runs:
        """Unrelated histograms."""

    @abstractmethod
    def one_leader(self, size: int) -> Runs:
        """Different histograms, all led by one class."""

    @abstractmethod
    def near(self, size: int) -> Runs:
        """Near-duplicates: each differs by a few votes from the one before."""

    @abstractmethod
    def two_camps(self, size: int) -> Runs:
        """More than half of the votes for one class, the rest for one other."""

    @abstractmethod
    def sure(self, size: int) -> Runs:
        """Unanimous histograms, or nearly so."""

    def missing(self, size: int) -> Runs:
        """Fewer votes than there are teachers, where the target serves such totals."""
        return self.any(size)

    def few_votes(self, size: int) -> Runs:
        """Few votes, nearly all for one class, where the target serves such totals."""
        return self.two_camps(size)

    def high_count(self, size: int) -> Runs:
        """A leader with votes of nearly all teachers, of a larger total where that is served."""
        return self.two_camps(size)

    def telling_among_sure(self) -> Histogram:
        """A histogram with a label hard to predict, if possible despite a high consensus."""
        return self.any(1)[0]


RUNS = {
    "any": 5,
    "one_leader": 9,
    "near": 8,
    "missing": 7,
    "two_camps": 2,
    "few_votes": 3,
    "high_count": 9,
}
"""Methods of `Related`, and how many of every 50 runs use each; the rest repeat earlier queries."""
