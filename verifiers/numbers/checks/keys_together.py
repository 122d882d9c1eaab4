"""`independence` and `fresh-noise` of keys: whether one is released says nothing of another."""

import numpy as np
from numpy.typing import NDArray

from ....reference.arrays import Vector
from ...checks.base import Finding
from ..asked import Batch, Draws
from ..claim import NumbersClaim
from ..evidence.released import claimed_law
from ..evidence.released_together import TogetherEvidence, tells
from ..opening import NumbersOpening
from ..plan import NumbersPlan
from .base import Weighed

_WANTED = 20_000  # pairs that can tell


class KeysTogether(Weighed):
    """What both checks share: pairs of draws, and the words for them. Subclasses pair."""

    pairs: str
    cause: str

    def __init__(self, claim: NumbersClaim, plan: NumbersPlan, seed: int) -> None:
        super().__init__(claim, plan)
        self._law = claimed_law(claim.mechanism.keys)
        self.evidence = [TogetherEvidence()]
        telling = [tells(self._rates(asked.exact)).sum() for asked in plan.inputs]
        self._wanted = _WANTED if max(telling) > 1 else 0  # noise may be too small to tell

    def _rates(self, counts: Vector) -> Vector:
        return np.exp(self._law(counts)[0])

    def observe(self, draws: Draws) -> None:
        """See `NumberCheck.observe`."""
        for batch in draws.batches:
            self.pair(batch, batch.releases > 0, self._rates(batch.asked.exact))
            self.draws += batch.releases.size

    def pair(self, batch: Batch, there: NDArray[np.bool_], rates: Vector) -> None:
        """Adds the pairs of a batch: whether keys were released (n, k), and their rates (k,)."""
        raise NotImplementedError

    @property
    def log_e_value(self) -> float:
        """See `NumberCheck.log_e_value`: the average over kinds of pairs."""
        logs = [found.log_e_value for found in self.evidence]
        return float(np.logaddexp.reduce(logs) - np.log(len(logs)))

    def shortfall(self) -> int:
        """See `NumberCheck.shortfall`."""
        return max(0, self._wanted - self.evidence[0].telling)

    def violation(self) -> Finding:
        """See `NumberCheck.violation`."""
        found = max(self.evidence, key=lambda evidence: evidence.log_e_value)
        message = f"{self.pairs} tell of each other: a correlation of about {found.best:g}"
        return Finding(message, self.cause, cause=self.cause)

    def silence(self) -> Finding:
        """See `NumberCheck.silence`."""
        return Finding(
            f"{self.evidence[0].telling:,} pairs of {self.pairs} say nothing of each other; a "
            "correlation of 0.1 would have been seen"
        )


class KeysIndependence(KeysTogether):
    """Neighbouring keys of one release: (0, 1), (2, 3), ..."""

    id = "independence"
    pairs = "neighbouring keys"
    cause = "one draw of noise serves several keys"

    def pair(self, batch: Batch, there: NDArray[np.bool_], rates: Vector) -> None:
        """See `KeysTogether.pair`."""
        even = 2 * (rates.size // 2)
        self.evidence[0].observe(
            there[:, 0:even:2], there[:, 1:even:2], rates[0:even:2], rates[1:even:2]
        )


class KeysFreshNoise(KeysTogether):
    """A key in a release and the next, in first releases of two calls, and in those of two runs."""

    id = "fresh-noise"
    pairs = "a key's releases, one after the other,"
    cause = "noise is drawn once for several releases, or every call, or start, begins alike"

    def __init__(self, claim: NumbersClaim, plan: NumbersPlan, seed: int) -> None:
        super().__init__(claim, plan, seed)
        self.evidence += [TogetherEvidence(), TogetherEvidence()]
        self._waiting: dict[str, NDArray[np.bool_]] = {}

    def compare(self, earlier: NumbersOpening, now: NumbersOpening) -> None:
        """Takes the first releases of an earlier life, and those of the same calls in this one."""
        before, after = earlier.as_releases > 0, now.as_releases > 0
        rows, rates = min(len(before), len(after)), self._rates(np.array(now.exact))
        self.evidence[-1].observe(before[:rows], after[:rows], rates, rates)

    def pair(self, batch: Batch, there: NDArray[np.bool_], rates: Vector) -> None:
        """See `KeysTogether.pair`."""
        even = 2 * (len(there) // 2)
        self.evidence[0].observe(there[0:even:2], there[1:even:2], rates, rates)
        before = self._waiting.pop(batch.asked.role, None)
        if before is None:
            self._waiting[batch.asked.role] = there[:1].copy()
        else:
            self.evidence[1].observe(before, there[:1], rates, rates)
