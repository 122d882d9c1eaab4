"""Many small steps under the surrogate: what makes one proposal for the exact likelihood.

The steps are drawn for many chains and many steps at once, as none but the exchange of two classes
depends on where a chain is; what a step adds to the surrogate's linear part is then one product of
matrices for all. No step changes how many classes contend, so that of the prior only what depends
on the votes is computed.
"""

import numpy as np
from numpy.typing import NDArray

from ..reference.arrays import Matrix
from .moves import group_change, pair_change, spread_change, swap
from .prior import PriorOfVotes
from .surrogate import Surrogate

Votes = NDArray[np.int64]
Taken = NDArray[np.bool_]
Rows = NDArray[np.intp]

PAIR, GROUP, SPREAD, SWAP = range(4)
_ELEMENTS = 1 << 19  # of the changes that are drawn at once


class Wander:
    """Chains at votes (s, b, c), roles (s, b, c) and concentrations (s,), and their values (s, b).

    start: the surrogate's value where the chains set out.
    """

    def __init__(
        self, surrogate: Surrogate, votes: Votes, contends: Taken, concentration: Matrix
    ) -> None:
        self.surrogate, self.votes, self.contends = surrogate, votes.copy(), contends.copy()
        away = votes - surrogate.centre
        self.tilts, self.distance = surrogate.tilts(away), surrogate.distance(away)
        self.prior = PriorOfVotes(votes, contends, concentration)
        self.value = surrogate.valued(self.tilts, np.square(self.distance), votes)
        self.log_prior = self.prior.value(votes, contends)
        self.start = self.value.copy()

    def run(self, steps: int, order: Rows, spread: Matrix, rng: np.random.Generator) -> None:
        """Takes `steps` steps, which order (b, c) and spread (b, c, c) shape as in `moves`.

        Steps 4 k + 3 in number go through the kinds of moves in a palindrome, so that the way back
        is as likely as the way there.
        """
        shape, anchor = self.votes.shape, self.surrogate.anchor
        total = int(self.votes[0, 0].sum())
        coins = rng.random(steps) < 0.5  # group or spread: taking turns would break the palindrome
        kinds = np.where(np.arange(steps) % 4 == 1, np.where(coins, GROUP, SPREAD), PAIR)
        kinds[3::4] = SWAP
        log_u = np.log(rng.random((steps, *shape[:-1])))
        size = max(1, _ELEMENTS // self.votes.size)
        for first in range(0, steps, size):
            block = kinds[first : first + size]
            change = np.zeros((block.size, *shape), dtype=np.int64)
            for kind in (PAIR, GROUP, SPREAD):
                where = np.flatnonzero(block == kind)
                many = (where.size, *shape)
                if kind == PAIR:
                    change[where] = pair_change(many, total, anchor, rng)
                elif kind == GROUP:
                    change[where] = group_change(many, total, order, rng)
                else:
                    change[where] = spread_change(many, anchor, spread, rng)
            tilts, away = self.surrogate.tilts(change), self.surrogate.distance(change)
            for i, kind in enumerate(block):
                if kind == SWAP:
                    self._exchange(log_u[first + i], rng)
                else:
                    added = [tilt[i] for tilt in tilts]
                    self._try(change[i], added, away[i], None, log_u[first + i])

    def _exchange(self, log_u: Matrix, rng: np.random.Generator) -> None:
        votes, contends = swap(self.votes, self.contends, rng)
        change = votes - self.votes
        self._try(
            change, self.surrogate.tilts(change), self.surrogate.distance(change), contends, log_u
        )

    def _try(
        self,
        change: Votes,
        added: list[Matrix],
        away: Matrix,
        contends: Taken | None,
        log_u: Matrix,
    ) -> None:
        """Metropolis's rule for one step of every chain."""
        votes = self.votes + change
        tilts = [tilt + more for tilt, more in zip(self.tilts, added, strict=True)]
        distance = self.distance + away
        value = self.surrogate.valued(tilts, np.square(distance), votes)
        log_prior = self.prior.value(votes, self.contends if contends is None else contends)
        taken = log_u < (value - self.value) + (log_prior - self.log_prior)
        every = taken[..., None]
        np.copyto(self.votes, votes, where=every)
        np.copyto(self.distance, distance, where=every)
        for old, new in zip(self.tilts, tilts, strict=True):
            np.copyto(old, new, where=every)
        np.copyto(self.value, value, where=taken)
        np.copyto(self.log_prior, log_prior, where=taken)
        if contends is not None:
            np.copyto(self.contends, contends, where=every)
