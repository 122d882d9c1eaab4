"""`floating-point`: the low bits of a release do not reveal what the noise should hide."""

from collections.abc import Sequence

import numpy as np

from .....reference.arrays import Matrix
from ....findings.excluded import Excluded
from ....findings.finding import Finding, Outcome
from ....findings.note import Fields, Note
from ....findings.verdict import Verdict
from ....run.checks import Reason
from ....run.phase import Phase
from ..claim import NumbersClaim
from ..evidence.low_bits import bit_events, grid_events
from ..evidence.two_events import Hits
from ..planning.pairs import NumberPair, low_pairs, off_grid_pairs
from .pair_check import PairCheck, PairEvents, PairEvidence, beyond, levels, of_pair, power

_OFF_GRID = Note("sums-off-grid", "noise on a grid is added to exact numbers that lie off it")


class LowBits(PairEvents):
    """Wagers that low bits tell two exact numbers apart more than the claimed noise allows."""

    def __init__(self, claim: NumbersClaim, pair: NumberPair) -> None:
        scale = claim.mechanism.aggregation.noise.family.scale
        self.events = bit_events(pair.exact, scale)
        if pair.off_grid:
            self.events = grid_events(pair.exact, scale)
        super().__init__(len(self.events), levels(claim, pair))

    def hits(self, here: Matrix, there: Matrix) -> tuple[Hits, Hits]:
        """Every number is a draw."""
        sides = []
        for released in (here, there):
            numbers = released.ravel()
            sides.append(np.stack([event.test(numbers) for event in self.events], axis=1))
        first = np.array([event.first for event in self.events])
        return np.where(first, *sides), np.where(first, *sides[::-1])


class FloatingPoint(PairCheck):
    """Pairs of exact numbers around which floats are spaced differently, or that lie on no grid."""

    id = "floating-point"
    phase = Phase.OWN
    draws = 5_000
    cause = Note("low-bits-tell", "noise is drawn and added in floating point")

    @classmethod
    def not_applicable_to(cls, claim: NumbersClaim) -> Reason:
        noise = claim.mechanism.aggregation.noise
        if noise.family.whole:
            return Note("no-low-bits", f"{noise.family} is whole: its releases have no low bits")
        if noise.grid:
            message = f"{noise} is claimed to be rounded: noise-law holds releases to that grid"
            return Note("no-low-bits", message)
        return None

    def made(self) -> list[NumberPair]:
        pairs = low_pairs(self.claim.mechanism, self.plan.coordinates)
        if self.claim.mechanism.floating_point == "exact":
            pairs += off_grid_pairs(self.claim.mechanism, self.plan.coordinates)
        return pairs

    def evidence(self, pair: NumberPair) -> LowBits:
        return LowBits(self.claim, pair)

    def fail_finding(self, pair: NumberPair, evidence: PairEvidence) -> Outcome:
        """A warning where the claim has ideal arithmetic."""
        assert isinstance(evidence, LowBits)
        place, level = evidence.best
        event = evidence.events[place]
        often, rarely = evidence.rates(place)
        inputs = pair.exact if event.first else pair.exact[::-1]
        message = (
            f"low bits tell {pair.exact[0]:g} from {pair.exact[1]:g}: {event.name} in "
            f"{often:.2%} of the releases of {inputs[0]:g} and {rarely:.2%} of those of "
            f"{inputs[1]:g}: {beyond(level, evidence.pairs)}"
        )
        if self.claim.mechanism.floating_point == "exact":
            cause = self.cause_of(pair)
            seen = of_pair(often, rarely, level, evidence.pairs)
            found = Finding.caused(message, cause, event=event.name, **seen)
            return Outcome(Verdict.FAIL, found, self.queries)
        warning = f'{self.id}: {message}; floating_point = "exact" would make this a failure'
        allowed = f'allowed, since the claim has floating_point = "ideal": {message}'
        rates: Fields = {"event": event.name, "often": often, "rarely": rarely}
        noted = Note("low-bits-allowed", warning, rates)
        found = Finding(allowed, self.cause.message, warnings=(noted,))
        return Outcome(Verdict.PASS, found, self.queries)

    def passed(
        self, found: list[tuple[NumberPair, PairEvidence]], excludes: Sequence[Excluded]
    ) -> str:
        pair, evidence = found[0]
        message = f"low bits were not seen to tell {pair.name} apart, in {evidence.pairs:,} pairs: "
        return message + power(excludes or super().excluded_by([pair]))

    def excluded_by(self, pairs: Sequence[NumberPair]) -> tuple[Excluded, ...]:
        """Nothing where low bits that tell are allowed."""
        exact = self.claim.mechanism.floating_point == "exact"
        return super().excluded_by(pairs) if exact else ()

    def cause_of(self, pair: NumberPair) -> Note:
        return _OFF_GRID if pair.off_grid else self.cause
