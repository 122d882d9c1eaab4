"""Wagers on copies that begin late, or whose share is learned from earlier draws."""

import math

import numpy as np
from numpy.typing import NDArray

from .....reference.arrays import Vector
from ....evidence.mixture import log_mixture_of
from .copies import SHARES, CopyEvidence

STARTS = (0, 1 << 8, 1 << 10, 1 << 12, 1 << 14, 1 << 16)
_TELLING = math.log(4.0)  # what a copy gains at least, of those that a share is learned from


class LateCopies:
    """A mixture of wagers on copies that begin after 0, 256, ... 65,536 draws (`STARTS`).

    Until noise comes again a wager only loses, and that has to be won back by as many copies.
    """

    def __init__(self) -> None:
        self._since = [CopyEvidence() for _ in STARTS]

    def observe(self, matched: NDArray[np.bool_], log_chance: Vector) -> None:
        """See `CopyEvidence.observe`."""
        seen = self.draws
        for start, evidence in zip(STARTS, self._since, strict=True):
            skip = min(max(0, start - seen), matched.size)
            evidence.observe(matched[skip:], log_chance[int(matched[:skip].sum()) :])

    @property
    def draws(self) -> int:
        """Draws seen."""
        return self._since[0].draws

    @property
    def matches(self) -> int:
        """Copies seen."""
        return self._since[0].matches

    @property
    def log_ratios(self) -> Vector:
        """Log-ratio of each wager (starts times shares,)."""
        return np.concatenate([evidence.log_ratios for evidence in self._since])

    @property
    def log_e_value(self) -> float:
        """Expectation at most 1 where each draw is fresh."""
        return log_mixture_of(self.log_ratios, self.log_weights)

    @property
    def log_weights(self) -> Vector:
        """Log of the weight of each wager."""
        wagers = len(STARTS) * SHARES.size
        return np.full(wagers, -math.log(wagers))


class LearnedCopies(LateCopies):
    """Copies that begin late; half of the wager is on the share of copies among earlier draws.

    honest: about the share of draws that match by chance. Draws may be put into groups before they
    are seen, and each group has a share of its own.
    """

    def __init__(self, honest: float = 0.0) -> None:
        super().__init__()
        self._honest, self.learned = honest, 0.0
        self._seen: dict[int, tuple[int, int]] = {}

    def observe(
        self,
        matched: NDArray[np.bool_],
        log_chance: Vector,
        groups: NDArray[np.int64] | None = None,
    ) -> None:
        """See `CopyEvidence.observe`; groups (n,): one for all by default."""
        super().observe(matched, log_chance)
        groups = np.zeros(matched.size, dtype=np.int64) if groups is None else groups
        chance = np.zeros(matched.size)
        chance[matched] = log_chance
        for group in np.unique(groups).tolist():
            self._learn(group, matched[groups == group], chance[groups == group])

    def _learn(self, group: int, matched: NDArray[np.bool_], chance: Vector) -> None:
        """Each draw is wagered on with the share of the draws before it."""
        draws, copies = self._seen.get(group, (0, 0))
        telling = matched & (chance < (-_TELLING if not self._honest else 0.0))
        before = copies + np.cumsum(telling) - telling
        trials = draws + np.arange(matched.size)
        share = (before + 0.5 - self._honest * trials) / (trials + 1.0)
        share = np.clip(share, 0.5 / (trials + 1.0), 0.999)
        missed = np.log1p(-share)
        gains = np.where(matched, np.logaddexp(missed, np.log(share) - chance), missed)
        self.learned += float(gains.sum())
        self._seen[group] = (draws + matched.size, copies + int(telling.sum()))

    @property
    def log_ratios(self) -> Vector:
        """Log-ratio of each wager, that on the learned share last."""
        return np.append(super().log_ratios, self.learned)

    @property
    def log_weights(self) -> Vector:
        """Log of the weight of each wager."""
        each = np.full(len(STARTS) * SHARES.size, -math.log(2.0 * len(STARTS) * SHARES.size))
        return np.append(each, -math.log(2.0))
