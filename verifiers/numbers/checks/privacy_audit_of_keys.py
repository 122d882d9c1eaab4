"""`privacy-audit` of keys: in which order they stand in a reply tells no more than is claimed."""

import math

import numpy as np

from ....reference.accounting.adjacency import Adjacency
from ....reference.arrays import Matrix
from ...checks.base import Finding, Outcome
from ...checks.spec import NO_PRIVACY
from ...findings.verdict import Verdict
from ..claim import NumbersClaim
from ..evidence.two_events import Hits, Level, TwoEvents, both_ways
from ..pairs import Pair
from .pair_check import PairCheck, PairEvidence, power

_SCALES = 30.0  # above the threshold: such a key is always released
_CAUSE = "keys are released in an order that their exact counts decide"


class KeysPrivacyAudit(PairCheck):
    """Two keys far above the threshold, one record apart: which of them stands first.

    The order of noisy counts is as private as the counts; that of exact ones is not private at all.
    The null is that one release keeps to the claimed epsilon and delta, whatever the mechanism.
    """

    id = "privacy-audit"
    draws = 2_000

    @staticmethod
    def lacks(claim: NumbersClaim) -> str | None:
        """Why it does not apply to a claim."""
        if claim.mechanism.width == 1:
            return "a single key has no order"
        return NO_PRIVACY if claim.privacy is None else None

    def made(self) -> list[Pair]:
        """See `PairCheck.made`: whichever key stands first of equals, one pair turns them."""
        keys = self.claim.mechanism.keys
        often = math.ceil(max(keys.threshold, 1.0) + _SCALES * self.noise.family.scale)
        equal, more = (often, often), (often + 1, often)
        if keys.adjacency is Adjacency.REPLACE_ONE:
            return [self._pair(more, more[::-1])]
        return [self._pair(equal, more), self._pair(equal, more[::-1])]

    def _pair(self, here: tuple[int, int], there: tuple[int, int]) -> Pair:
        """Of inputs in which two keys, chosen by the run's seed, have these counts."""
        width = self.claim.mechanism.width
        places = np.random.default_rng([self.seed, 2]).choice(width, 2, replace=False)
        made = []
        for counts in (here, there):
            values = np.zeros(width, dtype=np.int64)
            values[places] = counts
            made.append(values)
        one, other = (
            f"counts of {a} and {b} in keys {places[0]} and {places[1]}" for a, b in (here, there)
        )
        return Pair((one, other), made[0], made[1], (0.0, 1.0), places, np.zeros(2))

    def pairs_of(self, pair: Pair) -> int:
        """See `PairCheck.pairs_of`: a release is a draw."""
        return self.releases(pair)

    def releases(self, pair: Pair) -> int:
        """See `PairCheck.releases`."""
        return self.most(self.wanted)

    def evidence(self, pair: Pair) -> "OrderEvidence":
        """See `PairCheck.evidence`."""
        privacy = self.claim.privacy
        assert privacy is not None, "a check of claims with [privacy]"
        return OrderEvidence(Level(privacy.epsilon, privacy.delta))

    def violation(self, pair: Pair, evidence: PairEvidence) -> Outcome:
        """See `PairCheck.violation`."""
        assert isinstance(evidence, OrderEvidence)
        here, there = evidence.rates
        first, second = pair.coordinates
        message = (
            f"key {first} stands before key {second} in {here:.2%} of the releases of "
            f"{pair.said[0]}, and in {there:.2%} of those of its neighbour, {pair.said[1]}: the "
            f"claimed {evidence.level} does not allow that of one release "
            f"({evidence.pairs:,} pairs)"
        )
        return Outcome(Verdict.FAIL, Finding(message, _CAUSE, cause=_CAUSE), self.queries)

    def silence(self, found: list[tuple[Pair, PairEvidence]]) -> Outcome:
        """See `PairCheck.silence`."""
        _, evidence = found[0]
        assert isinstance(evidence, OrderEvidence)
        share = evidence.share_needed(self.log_threshold, evidence.pairs)
        message = (
            f"the order of two keys in {evidence.pairs:,} releases of neighbours does not "
            f"contradict {evidence.level}; {power(share)}"
        )
        return Outcome(Verdict.PASS, Finding(message), self.queries)


class OrderEvidence:
    """Wagers on which of two keys stands first, in either direction. level: claimed."""

    def __init__(self, level: Level) -> None:
        self.level, self._events = level, TwoEvents(2, (level,))

    @property
    def pairs(self) -> int:
        """Pairs of releases that were seen."""
        return self._events.pairs

    @property
    def log_e_value(self) -> float:
        """See `PairEvidence.log_e_value`."""
        return self._events.log_e_value

    @property
    def rates(self) -> tuple[float, float]:
        """How often the first key stood before the second, of either input."""
        return self._events.rates(0)

    def observe(self, here: Matrix, there: Matrix) -> None:
        """See `PairEvidence.observe`: places (n, 2) in the reply, 0 where a key is not in it."""
        self._events.observe(*both_ways(_first(here), _first(there)))

    def share_needed(self, log_threshold: float, pairs: int) -> float:
        """See `PairEvidence.share_needed`."""
        return self._events.share_needed(log_threshold, pairs)


def _first(places: Matrix) -> Hits:
    """Whether (n, 1) the first of two keys stands before the second."""
    both = (places > 0).all(axis=1)
    return np.asarray((both & (places[:, 0] < places[:, 1]))[:, None])
