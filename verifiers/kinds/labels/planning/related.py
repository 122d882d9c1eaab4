"""Runs of related queries, as production asks them: the interface of what makes them.

Noise that depends on earlier queries shows only where related queries follow each other and their
labels are hard to predict. So leads are chosen at which too little noise shows soonest.
"""

from collections.abc import Callable
from typing import Protocol

from .....reference import Histogram

LESS = (0.5, 0.25, 0.7)
"""Factors of the claimed noise scale that related queries should show."""

CAMPS = (0.55, 0.61, 0.65, 0.7)
"""Shares of the votes that the leader of two camps has."""

Runs = list[Histogram]


class Related(Protocol):
    """Makes runs: each method gives a list of about `size` related histograms (c,)."""

    def any(self, size: int) -> Runs:
        """Unrelated histograms."""

    def one_leader(self, size: int) -> Runs:
        """Different histograms, all led by one class."""

    def near(self, size: int) -> Runs:
        """Near-duplicates: each differs by a few votes from the one before."""

    def missing(self, size: int) -> Runs:
        """Fewer votes than there are teachers, where the target serves such totals."""

    def two_camps(self, size: int) -> Runs:
        """More than half of the votes for one class, the rest for one other."""

    def few_votes(self, size: int) -> Runs:
        """Few votes, nearly all for one class."""

    def high_count(self, size: int) -> Runs:
        """A leader with nearly as many votes as there are teachers, of a total that is larger."""

    def sure(self, size: int) -> Runs:
        """Unanimous histograms, or nearly so."""

    def telling_among_sure(self) -> Histogram:
        """A histogram with a label hard to predict, if possible despite a high consensus."""


RUNS: tuple[tuple[Callable[[Related, int], Runs], int], ...] = (
    (lambda related, size: related.any(size), 5),
    (lambda related, size: related.one_leader(size), 9),
    (lambda related, size: related.near(size), 8),
    (lambda related, size: related.missing(size), 7),
    (lambda related, size: related.two_camps(size), 2),
    (lambda related, size: related.few_votes(size), 3),
    (lambda related, size: related.high_count(size), 9),
)
"""Ways to make a run, and how many of every 50 runs use each; the rest repeat earlier queries."""
