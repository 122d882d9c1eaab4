"""Histograms in runs that are related as the queries of production are: where runs come from.

Noise that depends on what was asked before shows only where related queries follow each other and
their labels are hard to predict. So leads are chosen on which less noise shows soonest.
"""

from collections.abc import Callable
from typing import Protocol

from .....reference import Histogram

LESS = (0.5, 0.25, 0.7)
"""Factors of the claimed scale that related queries should show."""

CAMPS = (0.55, 0.61, 0.65, 0.7)
"""Of the votes, what the leader of two camps has."""

Runs = list[Histogram]


class Related(Protocol):
    """Runs of histograms (c,); each method gives as many as asked for, or nearly so."""

    def any(self, size: int) -> Runs:
        """Unrelated ones."""

    def one_leader(self, size: int) -> Runs:
        """Different ones, all led by one class."""

    def near(self, size: int) -> Runs:
        """Each some votes from the one before."""

    def missing(self, size: int) -> Runs:
        """With fewer votes than there are teachers, where the target serves these."""

    def two_camps(self, size: int) -> Runs:
        """Led by more than half of the votes, the rest for one other class."""

    def few_votes(self, size: int) -> Runs:
        """With few votes, nearly all for one class."""

    def high_count(self, size: int) -> Runs:
        """Led by nearly as many votes as there are teachers, out of many more."""

    def sure(self, size: int) -> Runs:
        """Unanimous, or nearly."""

    def telling_among_sure(self) -> Histogram:
        """One whose label is hard to predict, of a high share of the votes where there is one."""


RUNS: tuple[tuple[Callable[[Related, int], Runs], int], ...] = (
    (lambda related, size: related.any(size), 5),
    (lambda related, size: related.one_leader(size), 9),
    (lambda related, size: related.near(size), 8),
    (lambda related, size: related.missing(size), 7),
    (lambda related, size: related.two_camps(size), 2),
    (lambda related, size: related.few_votes(size), 3),
    (lambda related, size: related.high_count(size), 9),
)
"""Ways to make a run, and how many of 50 runs are made so; the others repeat earlier queries."""
