"""Runs of related queries, chosen from the only inputs that a deployment answers."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..mechanism import LabelsMechanism
from .faults import divergences
from .related import CAMPS, LESS, Related, Runs

_SURE_SHARE = 0.9  # of the votes, from which an input counts as one of high consensus
_NEAR = 16  # votes by which given inputs may differ and still count as near-duplicates


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
        """See `Related.any`."""
        return self._some(size, np.ones(len(self.histograms), dtype=bool))

    def one_leader(self, size: int) -> Runs:
        """See `Related.one_leader`."""
        leader = int(self.any(1)[0].argmax())
        return self._some(size, self._leaders == leader)

    def near(self, size: int) -> Runs:
        """See `Related.near`; the nearest inputs, whatever their distance, where none are near."""
        first = self.any(1)[0]
        distance = np.abs(self.histograms - first).sum(-1) // 2
        nearest = np.argsort(distance, kind="stable")
        close = nearest[distance[nearest] <= _NEAR]
        chosen = (close if close.size > 1 else nearest[:2])[: 2 * size]
        return [first, *(self.histograms[i] for i in self.rng.choice(chosen, size - 1))]

    def two_camps(self, size: int) -> Runs:
        """See `Related.two_camps`: inputs whose leader has a large share, whatever the rest."""
        least = float(self.rng.choice(CAMPS))
        return self._some(size, self._shares >= least)

    def sure(self, size: int) -> Runs:
        """See `Related.sure`; the surest tenth, where none is nearly unanimous."""
        least = min(_SURE_SHARE, float(np.quantile(self._shares, 0.9)))
        chosen = self.rng.choice(np.flatnonzero(self._shares >= least), size)
        return [self.histograms[i] for i in chosen]
