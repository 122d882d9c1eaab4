"""Runs of related queries: of any histograms, or of the only ones that a deployment answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .....reference import Histogram
from ..mechanism import LabelsMechanism
from .faults import divergences
from .related import CAMPS, LESS, Related, Runs

_MOVED = (1, 2, 2, 4, 4, 8, 16, 30)
"""Votes by which near-duplicates differ, drawn uniformly from this list."""

_SUPPORTS = 12  # sizes of support at most, thinned out above ten
_LEADS_TRIED = 40
_HIGH_COUNT = 0.85  # of the teachers
_FEW = (0.25, 0.4)  # of the teachers: votes of the leader where the total is small
_MISSING = (0.7, 0.98)  # range of totals, as a share of the teachers, where some are missing
_SURE_SHARE = 0.9  # of the votes, from which an input counts as one of high consensus
_NEAR = 16  # votes by which given inputs may differ and still count as near-duplicates


@dataclass(frozen=True)
class Made(Related):
    """Runs of any histograms that a claim allows.

    other_totals: whether the target serves totals other than the claimed teachers.
    """

    claim: LabelsMechanism
    rng: np.random.Generator
    other_totals: bool

    @cached_property
    def _supports(self) -> NDArray[np.int64]:
        most = min(self.claim.classes, self.claim.teachers)
        if most < 3:
            return np.array([most], dtype=np.int64)
        if most <= _SUPPORTS:
            return np.arange(2, most + 1)
        return np.unique(np.geomspace(2, most, _SUPPORTS).round().astype(np.int64))

    @cached_property
    def _leads(self) -> dict[int, list[int]]:
        """For each size of support, the lead at which each noise factor of `LESS` shows soonest."""
        return {int(k): self._telling_leads(int(k)) for k in self._supports}

    def _telling_leads(self, support: int) -> list[int]:
        total, tried = self.claim.teachers, np.zeros(1, dtype=np.int64)
        if support > 1:
            tried = np.unique(np.linspace(0, total - support, _LEADS_TRIED).astype(np.int64))
        votes = np.array([self._even(total, support, int(lead)) for lead in tried], dtype=float)
        claimed = self.claim.mechanism()
        log_q = np.asarray(claimed.log_probabilities(votes))
        best = []
        for factor in LESS:
            less = self.claim.mechanism(self.claim.noise.times(factor))
            law = np.asarray(less.log_probabilities(votes))
            best.append(int(tried[int(np.argmax(divergences(law, log_q)))]))
        return best

    def _even(self, total: int, support: int, lead: int) -> Histogram:
        """A histogram where class 0 leads by about `lead` votes and the others are even."""
        votes = np.zeros(self.claim.classes, dtype=np.int64)
        each = (total - lead) // support
        votes[:support] = each
        votes[0] = total - each * (support - 1)
        return votes

    def _one(self, total: int, support: int, lead: int, leader: int | None = None) -> Histogram:
        """A histogram with this lead over one runner-up, the others at or below it; shuffled."""
        support = max(1, min(support, total))
        lead = max(0, min(lead, total - support))
        votes = self._even(total, support, lead)
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
        total = self.claim.teachers if total is None else total
        return self._one(total, support, lead, leader)

    def any(self, size: int) -> Runs:
        return [self._telling() for _ in range(size)]

    def one_leader(self, size: int) -> Runs:
        leader = int(self.rng.integers(self.claim.classes))
        return [self._telling(leader=leader) for _ in range(size)]

    def near(self, size: int) -> Runs:
        """Half of them from a near tie, where copies show soonest."""
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

    def missing(self, size: int) -> Runs:
        if not self.other_totals:
            return super().missing(size)
        shares = self.rng.uniform(*_MISSING, size)
        return [self._telling(max(1, round(share * self.claim.teachers))) for share in shares]

    def two_camps(self, size: int) -> Runs:
        teachers = self.claim.teachers
        leader = round(float(self.rng.choice(CAMPS)) * teachers)
        votes = np.zeros(self.claim.classes, dtype=np.int64)
        votes[:2] = leader, teachers - leader
        return [votes[self.rng.permutation(votes.size)] for _ in range(size)]

    def few_votes(self, size: int) -> Runs:
        if not self.other_totals:
            return super().few_votes(size)
        return [self._few_votes() for _ in range(size)]

    def high_count(self, size: int) -> Runs:
        if not self.other_totals:
            return super().high_count(size)
        return [self._high_count() for _ in range(size)]

    def _high_count(self) -> Histogram:
        """A leader with votes of nearly all teachers, but a total so large that noise decides.

        Votes lie on many classes, where too little noise shows sooner.
        """
        support = int(self.rng.choice(self._supports[self._supports.size // 2 :]))
        lead = self._leads[support][0]
        leader = round(_HIGH_COUNT * self.claim.teachers)
        return self._one(leader + (support - 1) * max(0, leader - lead), support, lead)

    def _few_votes(self) -> Histogram:
        """A small total, nearly all for one class, whose lead is still within the noise."""
        support = int(self._supports[-1])
        lead = int(self.rng.choice(self._leads[support][:2]))
        least = max(1, round(float(self.rng.choice(_FEW)) * self.claim.teachers))
        return self._one(max(least, lead + support // 2), support, max(lead, round(0.8 * least)))

    def sure(self, size: int) -> Runs:
        return [self._one(self.claim.teachers, 1, 0) for _ in range(size)]

    def telling_among_sure(self) -> Histogram:
        few = self.other_totals and self.rng.random() < 0.8
        return self._few_votes() if few else self._telling()


@dataclass(frozen=True)
class Given(Related):
    """Runs chosen from given histograms (n, c), n > 0, in the order of their file.

    tells: divergence (n,), in nats, of half the claimed noise from the claim on each.
    """

    histograms: NDArray[np.int64]
    tells: NDArray[np.float64]
    rng: np.random.Generator

    @classmethod
    def of(
        cls, claim: LabelsMechanism, histograms: Sequence[Sequence[int]], rng: np.random.Generator
    ) -> "Given":
        """Made from `histograms`, of which duplicates are dropped."""
        votes = np.array(list(dict.fromkeys(map(tuple, histograms))), dtype=np.int64)
        log_q = np.asarray(claim.mechanism().log_probabilities(votes.astype(float)))
        half = claim.mechanism(claim.noise.times(LESS[0]))
        law = np.asarray(half.log_probabilities(votes.astype(float)))
        return cls(votes, divergences(law, log_q), rng)

    @cached_property
    def _leaders(self) -> NDArray[np.int64]:
        return np.asarray(self.histograms.argmax(-1))

    @cached_property
    def _shares(self) -> NDArray[np.float64]:
        return np.asarray(self.histograms.max(-1) / self.histograms.sum(-1))

    def _some(self, size: int, where: NDArray[np.bool_]) -> Runs:
        """`size` of the histograms where `where` (n,) holds (all where none does), by `tells`."""
        weights = np.where(where, self.tells + self.tells.mean() / 4.0 + 1e-12, 0.0)
        if not where.any():
            weights = np.ones(where.size)
        chosen = self.rng.choice(where.size, size, p=weights / weights.sum())
        return [self.histograms[i] for i in chosen]

    def any(self, size: int) -> Runs:
        return self._some(size, np.ones(len(self.histograms), dtype=bool))

    def one_leader(self, size: int) -> Runs:
        leader = int(self.any(1)[0].argmax())
        return self._some(size, self._leaders == leader)

    def near(self, size: int) -> Runs:
        """The nearest inputs, whatever their distance, where none are near."""
        first = self.any(1)[0]
        distance = np.abs(self.histograms - first).sum(-1) // 2
        nearest = np.argsort(distance, kind="stable")
        close = nearest[distance[nearest] <= _NEAR]
        chosen = (close if close.size > 1 else nearest[:2])[: 2 * size]
        return [first, *(self.histograms[i] for i in self.rng.choice(chosen, size - 1))]

    def two_camps(self, size: int) -> Runs:
        """Inputs whose leader has a large share, whatever the rest."""
        least = float(self.rng.choice(CAMPS))
        return self._some(size, self._shares >= least)

    def sure(self, size: int) -> Runs:
        """The surest tenth, where none is nearly unanimous."""
        least = min(_SURE_SHARE, float(np.quantile(self._shares, 0.9)))
        chosen = self.rng.choice(np.flatnonzero(self._shares >= least), size)
        return [self.histograms[i] for i in chosen]
