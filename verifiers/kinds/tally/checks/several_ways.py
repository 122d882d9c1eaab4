"""Of `recovery`: rounds in which parties leave in several ways at once, and too many leave."""

import math
from collections.abc import Iterator

import numpy as np

from ....evidence.mixture import log_mixture_of
from ....findings.finding import Finding
from ....findings.note import Fields, Note
from ...numbers.planning.asked import Asked
from ..claim import TallyClaim
from ..evidence.mixed import MixedEvidence
from ..evidence.uncancelled import UNCANCELLED
from ..plan import asked, mixed_patterns, patterns_below_quorum

_SHARE = 0.05
"""Of the evidence of `recovery`, that is wagered on the sums of these rounds."""

ONCE_LEFT = "masks do not cancel once a party has left"


def present_of(given: Asked) -> int:
    """How many parties send their values in a round."""
    leaves = np.asarray(given.values[1])
    return int(((leaves == 0) | (leaves == 3)).sum())


class SeveralWays:
    """Rounds of the largest values, and the evidence that a tally is not the sum of those sent.

    mixed: in which some leave before they send, and others after; below: to which one party too few
    sends, so that a tally is a proof.
    """

    def __init__(self, claim: TallyClaim) -> None:
        self.mechanism = mechanism = claim.mechanism
        of = mechanism.aggregation
        largest = max((of.upper, of.lower), key=abs)
        full = np.full((of.parties, of.width), largest)
        self.mixed = [asked(claim, full, *each) for each in mixed_patterns(claim)]
        self.below = [asked(claim, full, *each) for each in patterns_below_quorum(claim)]
        self.sums = MixedEvidence(
            [mechanism.left(present_of(given)) for given in self.mixed],
            [abs(largest) * float((given.values[1] == 3).sum()) for given in self.mixed],
            mechanism.modulus // 2,
        )
        self.share_of_laws = 1.0 - _SHARE if self.mixed else 1.0

    def rounds(self, log_threshold: float) -> int:
        """Of each of the mixed ways, in a pass; log_threshold: what refutes all of the check."""
        return self.sums.rounds(self.mechanism.width, log_threshold - math.log(_SHARE))

    def asked(self, turns: int) -> Iterator[tuple[int | None, Asked]]:
        """The mixed ways by their places, so many times each; then those of too few, once."""
        for _ in range(turns):
            yield from enumerate(self.mixed)
        for given in self.below:
            yield None, given

    def beside(self, log_laws: float) -> float:
        """Natural log of all the evidence; log_laws: of that on the law of the noise."""
        if not self.mixed:
            return log_laws
        logs = np.array([log_laws, self.sums.log_e_value])
        return log_mixture_of(logs, np.log([self.share_of_laws, _SHARE]))

    def tallied(self, given: Asked) -> Finding:
        """What a tally of too few proves."""
        present, mechanism = present_of(given), self.mechanism
        message = (
            f"a round is tallied to which {present} of {mechanism.parties} parties have sent their "
            f"values: where {given.role}; by the claim {mechanism.fewest} must stay"
        )
        fields: Fields = {"present": present, "quorum": mechanism.fewest, "input": str(given.role)}
        cause = "the quorum is not counted once values were sent"
        return Finding.caused(message, Note("tally-below-quorum", cause, fields), math.inf)

    def miscounted(self, log_e_value: float) -> Finding:
        """What the sums of the mixed ways refute."""
        place, shift = self.sums.likeliest
        given = self.mixed[place]
        fields: Fields = {"present": present_of(given), "parties": self.mechanism.parties}
        fields = {**fields, "input": str(given.role)}
        if self.sums.is_anywhere(place):
            message = f"where {given.role}, tallies lie anywhere, and not about their sum"
            return Finding.caused(message, Note(UNCANCELLED, ONCE_LEFT, fields), log_e_value)
        way = "above" if shift > 0 else "below"
        message = f"where {given.role}, the tally lies about {abs(shift):,.0f} {way} their sum"
        cause = "where parties leave in several ways, others are counted than those who have sent"
        fields = {**fields, "shift": shift}
        return Finding.caused(message, Note("dropouts-miscounted", cause, fields), log_e_value)
