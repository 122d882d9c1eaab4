"""`independence`: coordinates, releases and calls have noise that says nothing of each other."""

import math
from itertools import combinations

import numpy as np

from ....reference.arrays import Matrix
from ...checks.base import Finding
from ..asked import Draws
from ..claim import NumbersClaim
from ..evidence.copula import (
    COMMON_WAGERS,
    CORRELATIONS,
    PAIR_WAGERS,
    CopulaEvidence,
    common_gains,
    folded,
    pair_gains,
    scores,
)
from ..plan import NumbersPlan
from .base import Weighed

_PAIRED = 10  # coordinates of which every pair is a wager of its own
_WANTED, _FEWEST = 2_000, 200
_SEEN = 0.1  # a correlation that shows in as many as are wanted

_COMMON, _SIZES = "a part that all numbers of a release share", "sizes that they share"
_BESIDE, _BEFORE = "neighbouring coordinates", "a release and the one before"
_BESIDE_SIZES = "the sizes of neighbouring coordinates"


class Independence(Weighed):
    """Copulas of neighbours, of single pairs, and of a common part; signed, and by size alone."""

    id = "independence"

    def __init__(self, claim: NumbersClaim, plan: NumbersPlan, seed: int) -> None:
        super().__init__(claim, plan)
        self._wanted = max(_FEWEST, math.ceil(plan.share * _WANTED))
        width = plan.coordinates.size
        places = np.unique(np.linspace(0, width - 1, min(width, _PAIRED)).astype(int))
        self._pairs = list(combinations([int(p) for p in places], 2))
        whole = [_BEFORE] + ([_BESIDE, _BESIDE_SIZES] if width > 1 else [])
        self.kinds = {name: CopulaEvidence(PAIR_WAGERS) for name in whole}
        if width > 1:
            self.kinds |= {name: CopulaEvidence(COMMON_WAGERS) for name in (_COMMON, _SIZES)}
        self.pairs = {pair: CopulaEvidence(PAIR_WAGERS) for pair in self._pairs}
        self._last: Matrix | None = None

    def observe(self, draws: Draws) -> None:
        """See `NumberCheck.observe`."""
        u = draws.placed.uniform
        z, size = scores(u), folded(u)
        self._observe_releases(z)
        if u.shape[1] > 1:
            # pairs that have no draw in common: (0, 1), (2, 3), ...
            even = 2 * (u.shape[1] // 2)
            for name, found in ((_BESIDE, z), (_BESIDE_SIZES, size)):
                self.kinds[name].observe(
                    pair_gains(found[:, 0:even:2].ravel(), found[:, 1:even:2].ravel())
                )
            self.kinds[_COMMON].observe(common_gains(z))
            self.kinds[_SIZES].observe(common_gains(size))
        for (one, other), evidence in self.pairs.items():
            evidence.observe(pair_gains(z[:, one], z[:, other]))
        self.draws += u.size

    def _observe_releases(self, z: Matrix) -> None:
        """Releases in pairs, the second with the first; one that is left waits for its own."""
        rows = z if self._last is None else np.vstack([self._last, z])
        even = 2 * (len(rows) // 2)
        if even:
            first, second = rows[0:even:2], rows[1:even:2]
            self.kinds[_BEFORE].observe(pair_gains(first.ravel(), second.ravel()))
        self._last = rows[even:] if even < len(rows) else None

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
        told = ""
        if found.gains.size == PAIR_WAGERS:
            told = f", a correlation of about {CORRELATIONS[int(np.argmax(found.gains))]:g}"
        cause = f"noise depends: {where}{told}"
        odds = float(found.gains.max())
        message = f"noise is not independent: {where}{told}"
        return Finding(message, cause, cause=cause, log_odds=odds)

    def silence(self) -> Finding:
        """See `NumberCheck.silence`."""
        seen = _SEEN * math.sqrt(_WANTED / self._wanted)
        return Finding(
            f"{self.draws:,} draws depend neither on their neighbours nor on the release before; "
            f"a correlation of {seen:.2g} over all of them would have been seen"
        )
