"""`clipping`: a record beyond all bounds moves a release by the sensitivity at most."""

import numpy as np

from ....reference.arrays import Matrix
from ...checks.base import Finding, Outcome
from ...error_budget import log_threshold
from ...findings.verdict import Verdict
from ...targets import Refused
from ..claim import NumbersClaim
from ..evidence.moved import MovedTooFar
from ..neighbours import Neighbour, neighbours
from ..plan import NumbersPlan
from ..shares import SHARES
from ..standing import NumbersStanding

_RELEASES = 40  # of each altered input


class Clipping:
    """Asks inputs with one altered record each; refusing one that cannot be clipped is right."""

    id = "clipping"

    def __init__(self, claim: NumbersClaim, plan: NumbersPlan, seed: int) -> None:
        self.claim, self.plan, self.seed = claim, plan, seed
        self.noise = claim.mechanism.aggregation.noise
        self.asked = list(neighbours(claim, seed))
        threshold = log_threshold(SHARES[self.id], claim.gate.false_alarm)
        self.log_threshold = threshold + float(np.log(len(self.asked)))  # each has its own wager

    def conclude(self, standing: NumbersStanding) -> Outcome | None:
        """What it comes to; None where the budget does not hold what it would ask."""
        queries, refused = 0, []
        for neighbour in self.asked:
            if standing.left < _RELEASES:
                standing.use_up()
                return None
            try:
                released = self._released(standing, neighbour)
            except Refused as refusal:
                refused.append(f"{neighbour.name} is refused: {refusal}")
                continue
            queries += _RELEASES
            found = self._judged(neighbour, released)
            if found is not None:
                return Outcome(Verdict.FAIL, found, queries)
        warning = "; ".join(refused) if refused else None
        message = (
            f"{len(self.asked) - len(refused)} records at and beyond the bounds move no coordinate "
            f"further than {self.asked[0].allowed:g}, by all that {queries:,} releases show"
        )
        return Outcome(Verdict.PASS, Finding(message, warning=warning), queries)

    def _released(self, standing: NumbersStanding, neighbour: Neighbour) -> Matrix:
        reply = standing.target.ask(neighbour.values, _RELEASES)
        standing.spend(_RELEASES)
        found = self.claim.release.shaped(reply, neighbour.values, _RELEASES)
        return np.asarray(found[:, self.plan.coordinates])

    def _judged(self, neighbour: Neighbour, released: Matrix) -> Finding | None:
        """The violation, if it is one."""
        finite = np.isfinite(released)
        if not finite.all():
            value = released[~finite][0]
            return Finding(
                f"{neighbour.name} makes the release {value}: no noise hides that it is there",
                "records are not clipped before they are summed",
                cause="records are not clipped",
            )
        exact = neighbour.exact[self.plan.coordinates]
        evidence = MovedTooFar(self.noise, exact.size)
        half = self.noise.half_width(released)
        evidence.observe(released, exact, neighbour.allowed, half)
        if evidence.log_e_value < self.log_threshold:
            return None
        place, sign = evidence.worst
        moved = sign * float(np.median(released[:, place] - exact[place]))
        return Finding(
            f"{neighbour.name} moves coordinate {self.plan.coordinates[place]} by about "
            f"{moved:.3g}, and the claim allows {neighbour.allowed:g}",
            "records are not clipped as claimed before they are summed",
            cause="records are not clipped as claimed",
        )
