"""Runs of related queries, as production asks them: of any votes, or of a claim's inputs alone.

Noise that depends on earlier queries shows only where related queries follow each other and their
labels are hard to predict. So leads are chosen at which too little noise shows soonest.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from .....reference import Histogram
from ..mechanism import LabelsMechanism
from .laws import divergences, log_laws

Histograms = list[Histogram]

_LESS = (0.5, 0.25, 0.7)  # factors of the claimed noise scale that related queries should show
_CAMPS = (0.55, 0.61, 0.65, 0.7)  # shares of the votes that the leader of two camps has
_MOVED = (1, 2, 2, 4, 4, 8, 16, 30)  # votes by which near-duplicates differ, drawn uniformly
_SUPPORTS = 12  # sizes of support at most, thinned out above ten
_LEADS_TRIED = 40
_HIGH_COUNT = 0.85  # of the teachers
_FEW = (0.25, 0.4)  # of the teachers: votes of the leader where the total is small
_MISSING = (0.7, 0.98)  # range of totals, as a share of the teachers, where some are missing
_SURE_SHARE = 0.9  # of the votes, from which an input counts as one of high consensus
_NEAR = 16  # votes by which given inputs may differ and still count as near-duplicates


@lru_cache(maxsize=16)  # for other plans of the mechanism
def _telling_leads(claim: LabelsMechanism) -> dict[int, list[int]]:
    """For each size of support, the lead at which each factor of `_LESS` shows soonest."""
    found, total, most = {}, claim.teachers, min(claim.classes, claim.teachers)
    supports = np.arange(2, most + 1) if most >= 3 else np.array([most])
    if most > _SUPPORTS:
        supports = np.unique(np.geomspace(2, most, _SUPPORTS).round().astype(np.int64))
    for support in supports.tolist():
        tried = np.zeros(1, dtype=np.int64)
        if support > 1:
            tried = np.unique(np.linspace(0, total - support, _LEADS_TRIED).astype(np.int64))
        votes = np.array([_even(claim.classes, total, support, lead) for lead in tried.tolist()])
        log_q = log_laws(claim, votes)
        laws = (log_laws(claim, votes, factor) for factor in _LESS)
        found[support] = [int(tried[int(np.argmax(divergences(law, log_q)))]) for law in laws]
    return found


def _even(classes: int, total: int, support: int, lead: int) -> Histogram:
    """A histogram where class 0 leads by about `lead` votes and the others are even."""
    votes = np.zeros(classes, dtype=np.int64)
    votes[:support] = (total - lead) // support
    votes[0] += total - votes.sum()
    return votes


def one_leader(claim: LabelsMechanism) -> NDArray[np.int64]:
    """Histograms (b, c) of the claimed teachers: even ones, and those that show too little noise.

    Class 0 leads, and the classes with votes below it are even.
    """
    leads = {support: {0, *found} for support, found in _telling_leads(claim).items()}
    votes = [
        _even(claim.classes, claim.teachers, support, lead)
        for support, found in leads.items()
        for lead in sorted(found)
    ]
    return np.array(votes)


class RelatedRuns:
    """Makes runs: each method gives a list of about `size` related histograms (c,).

    These are of any histograms of the claimed teachers.
    """

    def __init__(self, claim: LabelsMechanism, rng: np.random.Generator) -> None:
        self.claim, self.rng = claim, rng
        self._leads = _telling_leads(claim)
        self._supports = np.array(list(self._leads))

    def of_each_kind(self) -> Sequence[tuple[int, Callable[[int], Histograms]]]:
        """The kinds of runs, and how many of every 50 runs are of each; the rest repeat queries."""
        return (
            (5, self.any),
            (9, self.one_leader),
            (8, self.near),
            (7, self.missing),
            (2, self.two_camps),
            (3, self.few_votes),
            (9, self.high_count),
        )

    def _one(self, total: int, support: int, lead: int, leader: int | None = None) -> Histogram:
        """A histogram with this lead over one runner-up, the others at or below it; shuffled."""
        support = max(1, min(support, total))
        lead = max(0, min(lead, total - support))
        votes = _even(self.claim.classes, total, support, lead)
        if support > 2:
            spread = float(self.rng.choice((0.0, 0.25, 0.5)))
            less = (votes[2:support] * spread * self.rng.random(support - 2)).astype(np.int64)
            votes[2:support] -= less
            votes[1] += less.sum() // 2
            votes[0] += less.sum() - less.sum() // 2
        order = self.rng.permutation(self.claim.classes)
        if leader is not None:
            at = int(np.flatnonzero(order == 0)[0])
            order[at], order[leader] = order[leader], 0
        return votes[order]

    def _telling(self, total: int | None = None, leader: int | None = None) -> Histogram:
        """A histogram on which too little noise shows soon."""
        support = int(self.rng.choice(self._supports))
        lead = int(self.rng.choice(self._leads[support]))
        return self._one(self.claim.teachers if total is None else total, support, lead, leader)

    def any(self, size: int) -> Histograms:
        """Unrelated histograms."""
        return [self._telling() for _ in range(size)]

    def one_leader(self, size: int) -> Histograms:
        """Different histograms, all led by one class."""
        leader = int(self.rng.integers(self.claim.classes))
        return [self._telling(leader=leader) for _ in range(size)]

    def near(self, size: int) -> Histograms:
        """Near-duplicates, a few votes apart, half of them from a near tie: copies show there."""
        support = int(self.rng.choice(self._supports))
        lead = int(self.rng.choice((0, *self._leads[support][:1])))
        found = [self._one(self.claim.teachers, support, lead)]
        while len(found) < size:
            found.append(self._moved(found[-1], int(self.rng.choice(_MOVED))))
        return found

    def _moved(self, histogram: Histogram, votes: int) -> Histogram:
        """The histogram with up to `votes` votes moved between two classes that both have some."""
        held = np.flatnonzero(histogram)
        giver = int(self.rng.choice(held))
        takers = held[held != giver] if held.size > 1 else np.arange(histogram.size)
        taker = int(self.rng.choice(takers))
        moved = histogram.copy()
        votes = min(votes, int(moved[giver]) - (1 if moved[giver] > 1 else 0))
        moved[giver] -= votes
        moved[taker] += votes
        return moved

    def two_camps(self, size: int) -> Histograms:
        """More than half of the votes for one class, the rest for one other."""
        teachers = self.claim.teachers
        leader = round(float(self.rng.choice(_CAMPS)) * teachers)
        votes = np.zeros(self.claim.classes, dtype=np.int64)
        votes[:2] = leader, teachers - leader
        return [votes[self.rng.permutation(votes.size)] for _ in range(size)]

    def sure(self, size: int) -> Histograms:
        """Unanimous histograms, or nearly so."""
        return [self._one(self.claim.teachers, 1, 0) for _ in range(size)]

    def missing(self, size: int) -> Histograms:
        """Fewer votes than there are teachers, where the target serves such totals."""
        return self.any(size)

    def few_votes(self, size: int) -> Histograms:
        """Few votes, nearly all for one class, where the target serves such totals."""
        return self.two_camps(size)

    def high_count(self, size: int) -> Histograms:
        """A leader with votes of nearly all teachers, of a larger total where that is served."""
        return self.two_camps(size)

    def telling_among_sure(self) -> Histogram:
        """A histogram with a label hard to predict, if possible despite a high consensus."""
        return self.any(1)[0]


class RunsOfAnyTotal(RelatedRuns):
    """Runs where the target serves totals other than the claimed teachers too."""

    def missing(self, size: int) -> Histograms:
        shares = self.rng.uniform(*_MISSING, size)
        return [self._telling(max(1, round(share * self.claim.teachers))) for share in shares]

    def few_votes(self, size: int) -> Histograms:
        return [self._few_votes() for _ in range(size)]

    def _few_votes(self) -> Histogram:
        """A small total, nearly all for one class, whose lead is still within the noise."""
        support = int(self._supports[-1])
        lead = int(self.rng.choice(self._leads[support][:2]))
        least = max(1, round(float(self.rng.choice(_FEW)) * self.claim.teachers))
        return self._one(max(least, lead + support // 2), support, max(lead, round(0.8 * least)))

    def high_count(self, size: int) -> Histograms:
        """A leader with votes of nearly all teachers, but a total so large that noise decides.

        Votes lie on many classes, where too little noise shows sooner.
        """
        found, leader = [], round(_HIGH_COUNT * self.claim.teachers)
        for _ in range(size):
            support = int(self.rng.choice(self._supports[self._supports.size // 2 :]))
            lead = self._leads[support][0]
            total = leader + (support - 1) * max(0, leader - lead)
            found.append(self._one(total, support, lead))
        return found

    def telling_among_sure(self) -> Histogram:
        return self._few_votes() if self.rng.random() < 0.8 else self._telling()


class RunsOfGiven(RelatedRuns):
    """Runs chosen from given histograms (n, c), n > 0, in the order of their file, each once."""

    def __init__(
        self, claim: LabelsMechanism, given: Sequence[Sequence[int]], rng: np.random.Generator
    ) -> None:
        self.rng = rng
        votes = self.histograms = np.array(list(dict.fromkeys(map(tuple, given))), dtype=np.int64)
        # nats by which half the claimed noise differs from the claim on each
        self._tells = divergences(log_laws(claim, votes, _LESS[0]), log_laws(claim, votes))
        self._leaders = votes.argmax(-1)
        self._shares = votes.max(-1) / votes.sum(-1)

    def _some(self, size: int, where: NDArray[np.bool_]) -> Histograms:
        """`size` of the histograms where `where` (n,) holds (all where none does), the telling."""
        weights = np.where(where, self._tells + self._tells.mean() / 4.0 + 1e-12, 0.0)
        if not where.any():
            weights = np.ones(where.size)
        chosen = self.rng.choice(where.size, size, p=weights / weights.sum())
        return [self.histograms[i] for i in chosen]

    def any(self, size: int) -> Histograms:
        return self._some(size, np.ones(len(self.histograms), dtype=bool))

    def one_leader(self, size: int) -> Histograms:
        leader = int(self.any(1)[0].argmax())
        return self._some(size, self._leaders == leader)

    def near(self, size: int) -> Histograms:
        """The nearest inputs, whatever their distance, where none are near."""
        first = self.any(1)[0]
        distance = np.abs(self.histograms - first).sum(-1) // 2
        nearest = np.argsort(distance, kind="stable")
        close = nearest[distance[nearest] <= _NEAR]
        chosen = (close if close.size > 1 else nearest[:2])[: 2 * size]
        return [first, *(self.histograms[i] for i in self.rng.choice(chosen, size - 1))]

    def two_camps(self, size: int) -> Histograms:
        """Inputs whose leader has a large share, whatever the rest."""
        least = float(self.rng.choice(_CAMPS))
        return self._some(size, self._shares >= least)

    def sure(self, size: int) -> Histograms:
        """The surest tenth, where none is nearly unanimous."""
        least = min(_SURE_SHARE, float(np.quantile(self._shares, 0.9)))
        chosen = self.rng.choice(np.flatnonzero(self._shares >= least), size)
        return [self.histograms[i] for i in chosen]
