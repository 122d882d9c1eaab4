"""`wrap-around`: largest and smallest values are summed whole, of all parties and of each alone."""

import math

import numpy as np

from ....findings.excluded import Excluded
from ....findings.finding import Finding, Outcome
from ....findings.note import Fields, Note
from ....findings.verdict import Verdict
from ....run.checks import RunContext
from ....run.phase import Phase
from ...numbers.planning.asked import Asked
from ...numbers.planning.plan import NumbersPlan
from ..claim import TallyClaim
from ..evidence.shifted import ShiftEvidence
from ..evidence.uncancelled import UNCANCELLED
from ..plan import asked
from .base import RoundsCheck

_ALONE = 16
"""Parties that hold the largest values alone, at most, spread over all."""

_MOST = 40
"""Rounds of an input at most."""

_OF_ALL, _OF_ONE = "modulus-too-small", "party-values-cut"
_BY_EXPECTED = "expected evidence and its spread, of each of these inputs by itself"

_ALL_LARGEST, _ALL_SMALLEST = "all values are the largest", "all values are the smallest"


class WrapAround(RoundsCheck):
    """Wagers that a tally of extreme values lies elsewhere than at their sum.

    A modulus that is too small shows in one round of the largest values; values that a party cuts
    or scales show where it alone has large ones.
    """

    id = "wrap-around"
    phase = Phase.OPENING

    def __init__(self, claim: TallyClaim, plan: NumbersPlan, seed: int) -> None:
        super().__init__(claim, plan, seed)
        of = claim.mechanism.aggregation
        low = np.full((of.parties, of.width), of.lower)
        made = [(_ALL_LARGEST, np.full_like(low, of.upper)), (_ALL_SMALLEST, low)]
        some = min(_ALONE, of.parties)
        for k in sorted({round(place) for place in np.linspace(0, of.parties - 1, some)}):
            alone = low.copy()
            alone[k] = of.upper
            made.append((f"party {k + 1} alone has the largest values", alone))
        self.inputs: list[Asked] = [asked(claim, values, name) for name, values in made]
        self.span = of.upper - of.lower
        farthest = claim.mechanism.modulus // 2
        self.evidence = ShiftEvidence(claim.mechanism.added, len(made), farthest)
        self.seen_from = max(1, math.ceil(self.span / 4))

    @property
    def turns(self) -> int:
        """Rounds of each input: enough to see a quarter of the span, within reason."""
        draws = self.evidence.draws_to_see(self.seen_from, self.log_threshold)
        wanted = min(math.ceil(draws / self.claim.mechanism.width), _MOST)
        return max(1, math.ceil(self.plan.share * wanted))

    @property
    def asks(self) -> int:
        return self.turns * len(self.inputs)

    def conclude(self, context: RunContext) -> Outcome | None:
        for _ in range(self.turns):
            for place, given in enumerate(self.inputs):
                if context.left < 1:
                    context.use_up()
                    return None
                tally = self.ask(context, given).tally
                near = given.exact.astype(np.int64)
                off = (
                    np.array(self.claim.release.unwrapped(tally, near), dtype=np.float64)
                    - given.exact
                )
                self.evidence.observe(place, off)
                if self.evidence.log_e_value >= self.log_threshold:
                    return Outcome(Verdict.FAIL, self._refuted(), self.queries)
        passed = Finding(self._passed(), excludes=self.excluded)
        return Outcome(Verdict.PASS, passed, self.queries)

    def _refuted(self) -> Finding:
        place, shift = self.evidence.likeliest
        given = self.inputs[place]
        way = "above" if shift > 0 else "below"
        message = f"where {given.role}, the tally lies about {abs(shift):,.0f} {way} their sum"
        fields: Fields = {"shift": shift, "input": str(given.role)}
        words = "the modulus, or a limit on the way, is too small for the largest values"
        cause = Note(_OF_ALL, words, fields)
        if given.role not in (_ALL_LARGEST, _ALL_SMALLEST):
            party = given.role.partition(" alone")[0]
            of_party = {**fields, "party": int(party.removeprefix("party "))}
            cause = Note(_OF_ONE, f"values of {party} are cut, or scaled otherwise", of_party)
        if self.evidence.is_anywhere(place):
            parties = self.claim.mechanism.parties
            message = f"where {given.role}, tallies lie anywhere, and not about their sum"
            seen: Fields = {"input": str(given.role), "present": parties, "parties": parties}
            cause = Note(UNCANCELLED, "masks do not cancel, also where all parties stay", seen)
        return Finding.caused(message, cause, self.evidence.log_e_value)

    @property
    def seen(self) -> float | None:
        """How far off the tallies of an input would have been seen to lie; None where nowhere."""
        draws, seen = self.turns * self.claim.mechanism.width, self.seen_from
        while self.evidence.draws_to_see(seen, self.log_threshold) > draws:
            if seen >= self.evidence.farthest:
                return None
            seen = min(2 * seen, self.evidence.farthest)
        return float(seen)

    @property
    def excluded(self) -> tuple[Excluded, ...]:
        """Of inputs in which all parties, or one of them, are extreme."""
        seen, roles = self.seen, [given.role for given in self.inputs]
        draws = self.turns * self.claim.mechanism.width
        return tuple(
            self.entry(code, {"shift": seen}, where, draws * len(where), method=_BY_EXPECTED)
            for code, where in ((_OF_ALL, roles[:2]), (_OF_ONE, roles[2:]))
            if seen is not None
        )

    def _passed(self) -> str:
        shift = "".join(
            f"; {one.size['shift']:,.0f} more or less in one of these inputs would have been seen "
            f"with probability {one.probability:g}"
            for one in self.excluded[:1]
        )
        return (
            "no departure from their sum was seen of the largest and smallest values, of all "
            f"parties and of {len(self.inputs) - 2} of them alone{shift}"
        )
