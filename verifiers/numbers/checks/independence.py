"""`independence`: coordinates, releases and calls have noise that says nothing of each other."""

import math
from itertools import combinations

import numpy as np

from ....reference.arrays import Matrix, Vector
from ...checks.base import Finding
from ..asked import Draws
from ..claim import NumbersClaim
from ..evidence.copula import (
    COMMON_WAGERS,
    CORRELATIONS,
    PAIR_WAGERS,
    CopulaEvidence,
    common_gains,
    common_shares,
    folded,
    pair_gains,
    scores,
)
from ..evidence.lagged import LaggedPairs
from ..plan import NumbersPlan
from .base import Weighed

_PAIRED = 10  # coordinates of which every pair is a wager of its own
_WANTED, _FEWEST = 2_000, 200
_SEEN = 0.1  # a correlation that shows in as many as are wanted

_COMMON, _SIZES = "a part that all numbers of a release share", "sizes that they share"
_BESIDE, _BESIDE_SIZES = "neighbouring coordinates", "the sizes of neighbouring coordinates"
_BEFORE = {
    1: "a release and the one before",
    2: "a release and the second before",
    4: "a release and the fourth before",
    8: "a release and the eighth before",
}
_SHARED = "numbers of a release share noise: one draw, or one key of a generator, serves several"
_CANCELS = "noise is taken from some numbers of a release as it is given to others"
_LATER = "the noise of a release is made of that of earlier ones"

_WAYS = 2
"""Of pairing neighbours: (0, 1), (2, 3), ... and (1, 2), (3, 4), ..."""


class Independence(Weighed):
    """Copulas of neighbours, of single pairs, and of a common part; signed, and by size alone."""

    id = "independence"

    def __init__(self, claim: NumbersClaim, plan: NumbersPlan, seed: int) -> None:
        super().__init__(claim, plan)
        self._wanted = max(_FEWEST, math.ceil(plan.share * _WANTED))
        width = plan.coordinates.size
        places = np.unique(np.linspace(0, width - 1, min(width, _PAIRED)).astype(int))
        self._pairs = list(combinations([int(p) for p in places], 2))
        whole = [*_BEFORE.values()] + ([_BESIDE, _BESIDE_SIZES] if width > 1 else [])
        self.kinds = {name: CopulaEvidence(PAIR_WAGERS, _WAYS) for name in whole}
        if width > 1:
            self.kinds |= {name: CopulaEvidence(COMMON_WAGERS) for name in (_COMMON, _SIZES)}
        self.pairs = {pair: CopulaEvidence(PAIR_WAGERS) for pair in self._pairs}
        self._lagged = {
            lag: [LaggedPairs(lag, way * lag) for way in range(_WAYS)] for lag in _BEFORE
        }

    def observe(self, draws: Draws) -> None:
        """See `NumberCheck.observe`."""
        u = draws.placed.uniform
        z, size = scores(u), folded(u)
        for lag, ways in self._lagged.items():
            for way, pairs in enumerate(ways):
                self.kinds[_BEFORE[lag]].observe(pair_gains(*pairs.of(z)), way)
        if u.shape[1] > 1:
            for name, found in ((_BESIDE, z), (_BESIDE_SIZES, size)):
                for way in range(_WAYS):
                    self.kinds[name].observe(_beside(found[:, way:]), way)
            self.kinds[_COMMON].observe(common_gains(z))
            self.kinds[_SIZES].observe(common_gains(size))
        for (one, other), evidence in self.pairs.items():
            evidence.observe(pair_gains(z[:, one], z[:, other]))
        self.draws += u.size

    @property
    def log_e_value(self) -> float:
        """See `NumberCheck.log_e_value`: half of the wager is on kinds, half on single pairs."""
        kinds = [e.log_e_value - math.log(len(self.kinds)) for e in self.kinds.values()]
        found = float(np.logaddexp.reduce(kinds))
        if not self.pairs:
            return found
        pairs = [e.log_e_value - math.log(len(self.pairs)) for e in self.pairs.values()]
        return float(np.logaddexp(found, np.logaddexp.reduce(pairs))) - math.log(2.0)

    def shortfall(self) -> int:
        """See `NumberCheck.shortfall`."""
        return max(0, self._wanted * min(self.plan.coordinates.size, _PAIRED) - self.draws)

    def violation(self) -> Finding:
        """See `NumberCheck.violation`."""
        kind = max(self.kinds, key=lambda name: self.kinds[name].log_e_value)
        found, where = self.kinds[kind], kind
        if self.pairs:
            pair = max(self.pairs, key=lambda p: self.pairs[p].log_e_value)
            if self.pairs[pair].log_e_value > found.log_e_value:
                found = self.pairs[pair]
                one, other = (self.plan.coordinates[k] for k in pair)
                where = f"coordinates {one} and {other}"
        if where in (_COMMON, _SIZES):
            together = common_shares(self.plan.coordinates.size)[found.best] > 0
            told = "" if together else ", with opposite signs: they cancel in their sum"
            cause = _SHARED if together else _CANCELS
        else:
            told = f", a correlation of about {CORRELATIONS[found.best]:g}"
            cause = _LATER if where in _BEFORE.values() else _SHARED
        odds = float(found.gains.max())
        message = f"noise is not independent: {where}{told}"
        return Finding(message, cause, cause=cause, log_odds=odds)

    def silence(self) -> Finding:
        """See `NumberCheck.silence`."""
        seen = _SEEN * math.sqrt(_WANTED / self._wanted)
        return Finding(
            f"{self.draws:,} draws depend neither on their neighbours nor on releases before; "
            f"a correlation of {seen:.2g} over all of them would have been seen"
        )


def _beside(found: Matrix) -> Vector:
    """Log-ratios of columns (n, k) in pairs: the first two, the next two, and so on."""
    even = 2 * (found.shape[1] // 2)
    return pair_gains(found[:, 0:even:2].ravel(), found[:, 1:even:2].ravel())
